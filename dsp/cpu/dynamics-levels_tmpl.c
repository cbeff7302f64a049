/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-levels_tmpl.c: the levels of signals, and the gains that they ask for,
 * one build for each instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

#include <string.h>

/* Frames in the lanes: C channels of W / C frames.  Two and one suit v_shift_in
 * and v_repeat of all widths. */
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
    now.square =
        scan_sum (rest * (r * r), b->attack, attack, before->square, C);
    r = v_sqrt (now.square);
  }
  now.held = scan_max (r, b->release, release, before->held, C);
  now.out = scan_sum (rest * now.held, b->attack, attack, before->out, C);
  return now;
}

/* ---- gains ----------------------------------------------------------------------- */

/* Of a TfxGainCurve, with h in octaves of the reduction: over, the knee and what the
 * knee is beyond are times the slope. */
typedef struct Curve
{
  VLog over;
  V knee, per_knee, deepest;
  VPower gain;
} Curve;

INLINE Curve
curve_of (const TfxGainCurve *c)
{
  const double s = -c->slope;

  return (Curve){ v_log_of (s * c->sign,
                      s * (c->half_knee - c->sign * c->threshold)),
    v_set1 (s * 2.0 * c->half_knee), v_set1 (s > 0.0 ? c->per_knee / s : 0.0),
    v_set1 (-c->floor), v_power_of (__builtin_exp2 (c->makeup)) };
}

/* With p = over and half the knee, if that is above 0: what is beyond the knee of it
 * is p - q. */
INLINE VSide
gain_of (VSide level, const Curve *c, V *largest)
{
  VSide p, q, h;

  EACH p.v[k] = v_max (level.v[k], v_set1 (TFX_LEVEL_LOWEST));
  p = v_log (p, &c->over);
  EACH p.v[k] = v_max (p.v[k], v_set1 (0.0));
  EACH q.v[k] = v_min (p.v[k], c->knee);
  EACH h.v[k] = v_fma (q.v[k] * q.v[k], c->per_knee, p.v[k] - q.v[k]);
  EACH h.v[k] = v_min (h.v[k], c->deepest);
  EACH *largest = v_max (*largest, h.v[k]);
  return v_power (h, &c->gain);
}

/* The same over N_SIDE * W numbers: y = the gain of y, times x if that is not NULL. */
INLINE void
make_gains (const double *x, double *y, const Curve *curve, V *largest)
{
  VSide made;

  EACH made.v[k] = v_load_f64 (y + k * W);
  made = gain_of (made, curve, largest);
  EACH v_store_f64 (y + k * W,
      x ? (V)(made.v[k] * v_load_f64 (x + k * W)) : made.v[k]);
}

/* y[n] = the gain of the level in y, times x[n] if x is not NULL.  Returns h. */
INLINE V
find_gains (const double *x, double *y, size_t n,
    const TfxGainCurve *gain_curve)
{
  const Curve curve = curve_of (gain_curve);
  V largest = v_set1 (0.0);
  size_t i = 0;

  for (; i + N_SIDE * W <= n; i += N_SIDE * W)
    make_gains (x ? x + i : NULL, y + i, &curve, &largest);
  if (i < n) {
    double rest[N_SIDE * W];

    for (unsigned k = 0; k < N_SIDE * W; k++)
      rest[k] = y[i + k < n ? i + k : n - 1];
    make_gains (NULL, rest, &curve, &largest);
    for (unsigned k = 0; i + k < n; k++)
      y[i + k] = x ? rest[k] * x[i + k] : rest[k];
  }
  return largest;
}

/* ---- all of it ------------------------------------------------------------------- */

INLINE Group
load_group (const double *state, size_t stride, const unsigned C)
{
  Group g;

  for (unsigned i = 0; i < W; i++) {
    g.held[i] = state[TFX_LEVEL_HELD * stride + i % C];
    g.out[i] = state[TFX_LEVEL_OUT * stride + i % C];
    g.square[i] = state[TFX_LEVEL_SQUARE * stride + i % C];
  }
  return g;
}

/* Of frame `frame` of the group. */
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

/* Levels to y. */
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

/* Channels in the lanes, from number c on.  What lies behind the last channel is of
 * the next frame, and what is put there comes to be overwritten. */
INLINE void
detect_lanes (const double *x, double *y, size_t n_frames, unsigned n_channels,
    unsigned c, const TfxBallistics *b, double *state, const bool is_rms)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const V attack = v_set1 (b->attack[0]), release = v_set1 (b->release[0]);
  const V rest = v_set1 (1.0 - b->attack[0]);
  V held = v_load_f64 (state + TFX_LEVEL_HELD * stride + c);
  V out = v_load_f64 (state + TFX_LEVEL_OUT * stride + c);
  V square = v_load_f64 (state + TFX_LEVEL_SQUARE * stride + c);

  for (size_t i = 0; i < n_frames; i++) {
    V r = v_abs (v_load_f64 (x + i * n_channels + c));

    if (is_rms) {
      square = v_fma (attack, square, rest * (r * r));
      r = v_sqrt (square);
    }
    held = v_max (r, release * held);
    out = v_fma (attack, out, rest * held);
    v_store_f64 (y + i * n_channels + c, out);
  }
  v_store_f64 (state + TFX_LEVEL_HELD * stride + c, held);
  v_store_f64 (state + TFX_LEVEL_OUT * stride + c, out);
  v_store_f64 (state + TFX_LEVEL_SQUARE * stride + c, square);
}

INLINE void
detect (const double *x, double *y, size_t n_frames, unsigned n_channels,
    const TfxBallistics *b, double *state, double *end, const bool is_rms)
{
  const unsigned n_full = n_channels / W * W;

  if (n_channels == 1) {
    detect_frames (x, y, n_frames, b, state, end, 1, is_rms);
    return;
  }
  if (2 < W && n_channels == 2) {
    detect_frames (x, y, n_frames, b, state, end, 2 < W ? 2 : 1, is_rms);
    return;
  }
  /* Those of a vector that is not full come first: see detect_lanes. */
  if (n_full < n_channels)
    detect_lanes (x, y, n_frames, n_channels, n_full, b, state, is_rms);
  for (unsigned c = 0; c < n_full; c += W)
    detect_lanes (x, y, n_frames, n_channels, c, b, state, is_rms);
  memcpy (end, state,
      TFX_N_LEVELS * tfx_dynamics_stride (n_channels) * sizeof *end);
}

static double
run (const double *x, double *y, size_t n_frames, unsigned n_channels,
    bool is_product, const TfxBallistics *b, const TfxGainCurve *curve,
    double *state, double *end)
{
  double most = 0.0;
  V largest;

  if (b->is_rms)
    detect (x, y, n_frames, n_channels, b, state, end, true);
  else
    detect (x, y, n_frames, n_channels, b, state, end, false);
  if (is_product)
    largest = find_gains (x, y, n_frames * n_channels, curve);
  else
    largest = find_gains (NULL, y, n_frames, curve);
  for (unsigned k = 0; k < W; k++)
    most = largest[k] > most ? largest[k] : most;
  return -most;
}
