/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-levels_tmpl.c: the levels of signals, and the gains that they ask for,
 * one build for each instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

#include <string.h>

/* Frames in the lanes: W / C frames of C channels.  v_shift_in and v_repeat support one and
 * two channels at all widths. */
static unsigned
group_frames (unsigned n_channels)
{
  return n_channels < W && n_channels <= 2 ? W / n_channels : 1;
}

/* The powers of the frames of a group, C times each. */
INLINE V
spread (const double *powers, const unsigned C)
{
  V v = { 0 };

  for (unsigned i = 0; i < W; i++)
    v[i] = powers[i / C];
  return v;
}

/* Each frame gets a^k of the one k before it, all at once; then a^(k+1) of the
 * one before the group. */
INLINE V
scan_sum (V v, const double *a, V ramp, V before, const unsigned C)
{
  const V zero = v_set1 (0.0);

  v = v_fma (v_set1 (a[0]), v_shift_in (v, zero, C), v);
  if (2 * C < W)
    v = v_fma (v_set1 (a[1]), v_shift_in (v, zero, 2 * C), v);
  if (4 * C < W)
    v = v_fma (v_set1 (a[3]), v_shift_in (v, zero, 4 * C), v);
  return v_fma (ramp, before, v);
}

INLINE V
scan_max (V v, const double *a, V ramp, V before, const unsigned C)
{
  const V zero = v_set1 (0.0);

  v = v_max (v, v_set1 (a[0]) * v_shift_in (v, zero, C));
  if (2 * C < W)
    v = v_max (v, v_set1 (a[1]) * v_shift_in (v, zero, 2 * C));
  if (4 * C < W)
    v = v_max (v, v_set1 (a[3]) * v_shift_in (v, zero, 4 * C));
  return v_max (v, ramp * before);
}

/* Levels of a group, and before it of the last frame, in all frames. */
typedef struct Group
{
  V held, out, square;
} Group;

INLINE Group
detect_group (V x, const Group *before, const TfxBallistics *b, V attack,
    V release, const unsigned C, const bool is_rms)
{
  const V rest = v_set1 (1.0 - b->attack[0]);
  Group now = { .square = before->square };
  V r = v_abs (x);

  if (is_rms) {
    r = v_min (r * r, v_set1 (TFX_LEVEL_MOST_SQUARE));
    now.square = scan_sum (rest * r, b->attack, attack, before->square, C);
    r = v_sqrt (now.square);
  }
  now.held = scan_max (r, b->release, release, before->held, C);
  now.out = scan_sum (rest * now.held, b->attack, attack, before->out, C);
  return now;
}

/* ---- gains ----------------------------------------------------------------------- */

/* A slope that takes 4e-8 of gain out of the shorter logarithm at the most. */
#define GENTLE_SLOPE -100.0

/* Of a TfxGainCurve, with h in octaves of the reduction: over and the knee are times
 * the slope. */
typedef struct Curve
{
  VLog over;
  V least, knee, per_knee, deepest;
  VPower gain;
} Curve;

/* h, of over and half the knee. */
INLINE double
bend (double p, double knee, double per_knee)
{
  const double q = p < knee ? p : knee;

  return p + q * (q * per_knee - 1.0);
}

/* Levels below TFX_LEVEL_LOWEST get its gain, which is the least reduction or the largest. */
INLINE Curve
curve_of (const TfxGainCurve *c, const bool is_exact)
{
  const double s = -c->slope;
  const double knee = s * 2.0 * c->half_knee;
  const double per_knee = s > 0.0 ? c->per_knee / s : 0.0;
  const double offset = s * (c->half_knee - c->sign * c->threshold);
  const double lowest =
      s * c->sign * __builtin_log2 (TFX_LEVEL_LOWEST) + offset;
  const double end = lowest > 0.0 ? lowest : 0.0;
  const bool is_downward = c->sign < 0.0;
  double deepest = -c->floor;

  if (is_downward && bend (end, knee, per_knee) < deepest)
    deepest = bend (end, knee, per_knee);
  return (Curve){ v_log_of (s * c->sign, offset, is_exact),
    v_set1 (is_downward ? 0.0 : end), v_set1 (knee), v_set1 (per_knee),
    v_set1 (deepest), v_power_of (__builtin_exp2 (c->makeup)) };
}

/* With p = over and half the knee, if that is above 0, and q as much of it as is in
 * the knee. */
INLINE VSide
gain_of (VSide level, const Curve *c, V *largest, const bool is_exact,
    const unsigned n_side)
{
  VSide p = v_log (level, &c->over, is_exact, n_side), q, h;

  EACH p.v[k] = v_max (p.v[k], c->least);
  EACH q.v[k] = v_min (p.v[k], c->knee);
  EACH h.v[k] = v_fma (q.v[k], c->per_knee, v_set1 (-1.0));
  EACH h.v[k] = v_min (v_fma (h.v[k], q.v[k], p.v[k]), c->deepest);
  EACH *largest = v_max (*largest, h.v[k]);
  return v_power (h, &c->gain, is_exact, n_side);
}

INLINE V
one_gain_of (V level, const Curve *c, V *largest, const bool is_exact)
{
  return gain_of (v_repeat_side (level, 1), c, largest, is_exact, 1).v[0];
}

/* y[n] = the gain of each level, times x[n] if x is not NULL; y may be the levels. */
INLINE void
find_gains (const double *x, const double *levels, double *y, size_t n,
    const Curve *curve, V *largest, const bool is_exact)
{
  const unsigned n_side = N_SIDE;
  double rest[W];
  size_t i = 0;

  for (; i + N_SIDE * W <= n; i += N_SIDE * W) {
    VSide side;

    EACH side.v[k] = v_load_f64 (levels + i + k * W);
    side = gain_of (side, curve, largest, is_exact, n_side);
    EACH v_store_f64 (y + i + k * W,
        x ? (V)(side.v[k] * v_load_f64 (x + i + k * W)) : side.v[k]);
  }
  for (; i + W <= n; i += W) {
    const V gain =
        one_gain_of (v_load_f64 (levels + i), curve, largest, is_exact);

    v_store_f64 (y + i, x ? (V)(gain * v_load_f64 (x + i)) : gain);
  }
  if (i == n)
    return;
  for (unsigned k = 0; k < W; k++)
    rest[k] = levels[i + k < n ? i + k : n - 1];
  v_store_f64 (rest, one_gain_of (v_load_f64 (rest), curve, largest, is_exact));
  for (unsigned k = 0; i + k < n; k++)
    y[i + k] = x ? rest[k] * x[i + k] : rest[k];
}

/* ---- all of it ------------------------------------------------------------------- */

INLINE Group
load_group (const double *state, size_t stride, const unsigned C)
{
  const double *held = state + TFX_LEVEL_HELD * stride;
  const double *out = state + TFX_LEVEL_OUT * stride;
  const double *square = state + TFX_LEVEL_SQUARE * stride;

  return (Group){ v_repeat (v_load_f64 (held), 0, C),
    v_repeat (v_load_f64 (out), 0, C), v_repeat (v_load_f64 (square), 0, C) };
}

/* Stores the levels of a frame of the group. */
INLINE void
store_group (const Group *g, double *state, size_t stride, size_t frame,
    const unsigned C)
{
  for (unsigned c = 0; c < C; c++) {
    state[TFX_LEVEL_HELD * stride + c] = g->held[frame * C + c];
    state[TFX_LEVEL_OUT * stride + c] = g->out[frame * C + c];
    state[TFX_LEVEL_SQUARE * stride + c] = g->square[frame * C + c];
  }
}

/* Writes the levels to y. */
INLINE void
detect_frames (const double *x, double *y, size_t n_frames,
    const TfxBallistics *b, double *state, double *end, const unsigned C,
    const bool is_rms)
{
  const size_t stride = tfx_dynamics_stride (C), n = n_frames * C;
  const V attack = spread (b->attack, C), release = spread (b->release, C);
  Group before = load_group (state, stride, C), now;
  size_t i = 0;

  for (; i + W <= n; i += W) {
    now = detect_group (v_load_f64 (x + i), &before, b, attack, release, C,
        is_rms);
    v_store_f64 (y + i, now.out);
    before.held = v_repeat (now.held, W - C, C);
    before.out = v_repeat (now.out, W - C, C);
    before.square = is_rms ? v_repeat (now.square, W - C, C) : now.square;
  }
  store_group (&before, state, stride, 0, C);
  if (i < n) {
    now = detect_group (v_load_f64 (x + i), &before, b, attack, release, C,
        is_rms);
    v_store_f64 (y + i, now.out);
    store_group (&now, end, stride, (n - i) / C - 1, C);
  } else {
    store_group (&before, end, stride, 0, C);
  }
}

/* Channels in the lanes, from number c on. */
INLINE Group
load_lanes (const double *state, size_t stride, unsigned c)
{
  return (Group){ v_load_f64 (state + TFX_LEVEL_HELD * stride + c),
    v_load_f64 (state + TFX_LEVEL_OUT * stride + c),
    v_load_f64 (state + TFX_LEVEL_SQUARE * stride + c) };
}

INLINE void
store_lanes (const Group *g, double *state, size_t stride, unsigned c)
{
  v_store_f64 (state + TFX_LEVEL_HELD * stride + c, g->held);
  v_store_f64 (state + TFX_LEVEL_OUT * stride + c, g->out);
  v_store_f64 (state + TFX_LEVEL_SQUARE * stride + c, g->square);
}

INLINE void
detect_frame (V x, Group *g, const TfxBallistics *b, const bool is_rms)
{
  const V attack = v_set1 (b->attack[0]), release = v_set1 (b->release[0]);
  V r = v_abs (x);

  if (is_rms) {
    r = v_min (r * r, v_set1 (TFX_LEVEL_MOST_SQUARE));
    g->square = v_fma (attack, g->square - r, r);
    r = v_sqrt_soon (g->square);
  }
  g->held = v_max (r, release * g->held);
  g->out = v_fma (attack, g->out - g->held, g->held);
}

/* Lanes after the last channel read the next frame, and overwrite it in y. */
INLINE void
detect_lanes (const double *x, double *y, size_t n_frames, unsigned n_channels,
    unsigned c, const TfxBallistics *b, double *state, const bool is_rms)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  Group g = load_lanes (state, stride, c);

  for (size_t i = 0; i < n_frames; i++) {
    detect_frame (v_load_f64 (x + i * n_channels + c), &g, b, is_rms);
    v_store_f64 (y + i * n_channels + c, g.out);
  }
  store_lanes (&g, state, stride, c);
}

/* If the channels fill all vectors: gains too, whose computation does not wait for the
 * last frame. */
INLINE void
run_lanes (const double *x, double *y, size_t n_frames, unsigned n_channels,
    unsigned c, const TfxBallistics *b, const Curve *curve, double *state,
    V *largest, const bool is_rms, const bool is_exact)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const unsigned n_side = N_SIDE;
  Group g = load_lanes (state, stride, c);
  size_t i = 0;

  x += c;
  y += c;
  for (; i + N_SIDE <= n_frames; i += N_SIDE) {
    VSide side, in;

    EACH
    {
      in.v[k] = v_load_f64 (x + (i + k) * n_channels);
      detect_frame (in.v[k], &g, b, is_rms);
      side.v[k] = g.out;
    }
    side = gain_of (side, curve, largest, is_exact, n_side);
    EACH v_store_f64 (y + (i + k) * n_channels, side.v[k] * in.v[k]);
  }
  for (; i < n_frames; i++) {
    const V in = v_load_f64 (x + i * n_channels);

    detect_frame (in, &g, b, is_rms);
    v_store_f64 (y + i * n_channels,
        one_gain_of (g.out, curve, largest, is_exact) * in);
  }
  store_lanes (&g, state, stride, c);
}

/* Levels first, then gains; both at once for one curve if the channels fill all vectors. */
INLINE V
run_all (const double *x, double *y, double *y_to, size_t n_frames,
    unsigned n_channels, bool is_product, const TfxBallistics *b,
    const TfxGainCurve curves[2], double *state, double *end, const bool is_rms,
    const bool is_exact)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const unsigned n_full = n_channels / W * W, n_odd = n_channels % W;
  const bool is_fused = n_odd == 0 && is_product && !y_to;
  const Curve curve = curve_of (&curves[0], is_exact);
  const double *factors = is_product ? x : NULL;
  V largest = v_set1 (0.0);

  if (n_channels == 1) {
    detect_frames (x, y, n_frames, b, state, end, 1, is_rms);
  } else if (2 < W && n_channels == 2) {
    detect_frames (x, y, n_frames, b, state, end, 2 < W ? 2 : 1, is_rms);
  } else {
    /* A vector that is not full comes first: see detect_lanes. */
    if (n_odd > 0)
      detect_lanes (x, y, n_frames, n_channels, n_full, b, state, is_rms);
    for (unsigned c = 0; c < n_full; c += W) {
      if (is_fused)
        run_lanes (x, y, n_frames, n_channels, c, b, &curve, state, &largest,
            is_rms, is_exact);
      else
        detect_lanes (x, y, n_frames, n_channels, c, b, state, is_rms);
    }
    memcpy (end, state, TFX_N_LEVELS * stride * sizeof *end);
  }
  if (y_to) {
    const Curve to = curve_of (&curves[1], is_exact);

    find_gains (factors, y, y_to, n_frames * n_channels, &to, &largest,
        is_exact);
  }
  if (!is_fused)
    find_gains (factors, y, y, n_frames * n_channels, &curve, &largest,
        is_exact);
  return largest;
}

static double
run (const double *x, double *y, double *y_to, size_t n_frames,
    unsigned n_channels, bool is_product, const TfxBallistics *b,
    const TfxGainCurve curves[2], bool is_f32, double *state, double *end)
{
  const bool is_exact = !is_f32 || curves[0].slope < GENTLE_SLOPE ||
                        (y_to && curves[1].slope < GENTLE_SLOPE);
  double most = 0.0;
  V largest;

  if (is_exact && b->is_rms)
    largest = run_all (x, y, y_to, n_frames, n_channels, is_product, b, curves,
        state, end, true, true);
  else if (is_exact)
    largest = run_all (x, y, y_to, n_frames, n_channels, is_product, b, curves,
        state, end, false, true);
  else if (b->is_rms)
    largest = run_all (x, y, y_to, n_frames, n_channels, is_product, b, curves,
        state, end, true, false);
  else
    largest = run_all (x, y, y_to, n_frames, n_channels, is_product, b, curves,
        state, end, false, false);
  for (unsigned k = 0; k < W; k++)
    most = largest[k] > most ? largest[k] : most;
  return -most;
}
