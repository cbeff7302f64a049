/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-limits_tmpl.c: the kernels of a limiter, one build for each
 * instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

#include <string.h>

/* Whether the lanes are frames: of one level, or of each of two. */
INLINE bool
has_frames (unsigned n_levels)
{
  return n_levels == 1 || (n_levels == 2 && W > 2);
}

static unsigned
limit_frames (unsigned n_levels)
{
  return has_frames (n_levels) ? W : 1;
}

/* ---- suffix maxima ------------------------------------------------------------ */

/* Lane i of v: that of lane i - n, or i + n; 0 from outside. */
INLINE V
shift_up (V v, const unsigned n)
{
  const VBits lanes = { V_LANES };

  return tfx_shuffle2 (v_set1 (0.0), v, lanes + (int64_t)(W - n));
}

INLINE V
shift_down (V v, const unsigned n)
{
  const VBits lanes = { V_LANES };

  return tfx_shuffle2 (v, v_set1 (0.0), lanes + (int64_t)n);
}

/* The frame that begins with lane `first`, in all frames. */
INLINE V
spread_frame (V v, const unsigned first, const unsigned C)
{
  const VBits lanes = { V_LANES };

  return tfx_shuffle (v, (lanes & (int64_t)(C - 1)) + (int64_t)first);
}

/* Frames in the lanes; n numbers. */
INLINE void
find_frame_rest (const double *x, double *rest, size_t n, const unsigned C)
{
  const size_t n_whole = n / W * W;
  double last[W] = { 0 };
  V all;

  for (size_t i = n; i-- > n_whole;) {
    const double a = __builtin_fabs (x[i]);
    double *m = &last[i % C];

    *m = a > *m ? a : *m;
    rest[i] = *m;
  }
  all = spread_frame (v_load_f64 (last), 0, C);
  for (size_t i = n_whole; i >= W; i -= W) {
    V v = v_abs (v_load_f64 (x + i - W));

    v = v_max (v, shift_down (v, C));
    if (2 * C < W)
      v = v_max (v, shift_down (v, 2 * C));
    if (4 * C < W)
      v = v_max (v, shift_down (v, 4 * C));
    v_store_f64 (rest + i - W, v_max (v, all));
    all = v_max (all, spread_frame (v, 0, C));
  }
}

/* The first n lanes of v, then those of next. */
INLINE V
join_lanes (V v, V next, unsigned n)
{
#if W == 2
  return n == 2 ? v : (V){ v[0], next[0] };
#else
  const VBits lanes = { V_LANES };

  return v_select (v_lanes (0, n), v, tfx_shuffle (next, lanes - n));
#endif
}

/* Channels in the lanes.  Vectors that are not full come first: they overwrite the start
 * of the later frame with what is already there, or with other channels' numbers, which
 * full vectors write again. */
static void
find_rest (const double *x, double *rest, size_t n_frames, unsigned n_channels)
{
  const unsigned n_odd = n_channels % W;

  if (n_channels == 1) {
    find_frame_rest (x, rest, n_frames, 1);
    return;
  }
  if (has_frames (n_channels)) {
    find_frame_rest (x, rest, 2 * n_frames, 2 % W);
    return;
  }
  for (unsigned k = 0, n; k < n_channels; k += n) {
    const unsigned c = k < n_odd ? n_channels - n_odd : k - n_odd;
    V all = v_set1 (0.0), row = all;

    n = k < n_odd ? n_odd : W;
    for (size_t i = n_frames; i-- > 0;) {
      all = v_max (v_abs (v_load_f64 (x + i * n_channels + c)), all);
      row = n == W ? all : join_lanes (all, row, n);
      v_store_f64 (rest + i * n_channels + c, row);
    }
  }
}

/* ---- one level, or two: frames in the lanes ------------------------------------- */

INLINE void
find_targets (const TfxLimit *p, const unsigned C)
{
  const size_t n = p->n_frames * C;
  V threshold = v_set1 (*p->thresholds);
  V all = spread_frame (v_load_f64 (p->most), 0, C);
  size_t i = 0;

  for (; i + W <= n; i += W) {
    V v = v_abs (v_load_f64 (p->heard + i));

    v = v_max (v, shift_up (v, C));
    if (2 * C < W)
      v = v_max (v, shift_up (v, 2 * C));
    if (4 * C < W)
      v = v_max (v, shift_up (v, 4 * C));
    if (p->is_changing)
      threshold = v_load_f64 (p->thresholds + i);
    v_store_f64 (p->targets + i,
        v_divide (threshold, v_max (v_max (v_load_f64 (p->rest + i), v),
                                 v_max (all, threshold))));
    all = v_max (all, spread_frame (v, W - C, C));
  }
  v_store_f64 (p->most, all);
  for (; i < n; i++) {
    const double a = __builtin_fabs (p->heard[i]);
    const double t = p->thresholds[p->is_changing ? i : 0];
    double *m = &p->most[i % C], peak;

    *m = a > *m ? a : *m;
    peak = p->rest[i] > *m ? p->rest[i] : *m;
    p->targets[i] = v_divide (v_set1 (t), v_set1 (peak > t ? peak : t))[0];
  }
}

INLINE double
multiply_add (double a, double b, double c)
{
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma (a, b, c);
#else
  return a * b + c;
#endif
}

/* A gain that falls, or rises. */
typedef struct Way
{
  const double *powers;
  V ramp, to;
} Way;

INLINE Way
way_of (const double *powers)
{
  return (Way){ powers, v_load_f64 (powers), v_set1 (1.0 - powers[0]) };
}

INLINE V
go (V targets, V before, const Way *w)
{
  return scan_sum (w->to * targets, w->powers, w->ramp, before, 1);
}

/* The first lane whose direction is not is_down; W: there is none. */
INLINE unsigned
find_turn (V targets, V gains, V before, bool is_down)
{
  const V from = v_shift_in (gains, before, 1);
  const unsigned all = (1u << W) - 1;
  const unsigned down = v_signs ((VBits)(targets < from));
  const unsigned turned = is_down ? down ^ all : down;

  return turned ? (unsigned)__builtin_ctz (turned) : W;
}

/* A group of one level.  While the gain falls, or rises, the frames are a scan; after a
 * turn they run one by one.  The result does not depend on *is_down, the direction of the
 * group before. */
INLINE V
follow_group (const double *targets, double *gains, V before, const Way ways[2],
    const TfxLimit *p, bool *is_down)
{
  const V t = v_load_f64 (targets);
  V g = *is_down ? go (t, before, &ways[1]) : go (t, before, &ways[0]);
  unsigned turn = find_turn (t, g, before, *is_down);

  if (turn == 0) {
    *is_down = !*is_down;
    g = *is_down ? go (t, before, &ways[1]) : go (t, before, &ways[0]);
    turn = find_turn (t, g, before, *is_down);
  }
  v_store_f64 (gains, g);
  if (turn == W)
    return g;
  for (unsigned k = turn; k < W; k++) {
    const double last = gains[k - 1], target = targets[k];
    const double a = target < last ? p->attack[0] : p->release[0];

    gains[k] = multiply_add (a, last, (1.0 - a) * target);
  }
  return v_load_f64 (gains);
}

static void
follow_level (const double *targets, double *gains, size_t n_frames,
    const TfxLimit *p, double *state, double *end)
{
  const Way ways[] = { way_of (p->release), way_of (p->attack) };
  V before = v_set1 (*state);
  bool is_down = false;
  size_t i = 0;

  for (; i + W <= n_frames; i += W)
    before = v_repeat (follow_group (targets + i, gains + i, before, ways, p,
                           &is_down),
        W - 1, 1);
  *state = *end = before[0];
  if (i < n_frames) {
    follow_group (targets + i, gains + i, before, ways, p, &is_down);
    *end = gains[n_frames - 1];
  }
}

/* Frames of two levels that are split at a time. */
#define PAIRS 64

/* Two levels one after the other, which wait less than both side by side. */
static void
follow_pairs (const double *targets, double *gains, size_t n_frames,
    const TfxLimit *p)
{
  const VBits lanes = { V_LANES }, even = 2 * lanes;
  const VBits turns = lanes / 2 + (lanes & 1) * W;

  for (size_t i = 0, n; i < n_frames;
       i += n, targets += 2 * n, gains += 2 * n) {
    double x[2][PAIRS + W], y[2][PAIRS + W];

    n = n_frames - i < PAIRS ? n_frames - i : PAIRS;
    for (size_t k = 0; k < n; k += W) {
      const bool is_half = 2 * k + W >= 2 * n;
      const V a = v_load_f64 (targets + 2 * k);
      const V b = is_half ? a : v_load_f64 (targets + 2 * k + W);

      v_store_f64 (x[0] + k, tfx_shuffle2 (a, b, even));
      v_store_f64 (x[1] + k, tfx_shuffle2 (a, b, even + 1));
    }
    for (unsigned c = 0; c < 2; c++)
      follow_level (x[c], y[c], n, p, p->state + c, p->end + c);
    for (size_t k = 0; k < n; k += W) {
      const V a = v_load_f64 (y[0] + k), b = v_load_f64 (y[1] + k);

      v_store_f64 (gains + 2 * k, tfx_shuffle2 (a, b, turns));
      if (2 * k + W < 2 * n)
        v_store_f64 (gains + 2 * k + W, tfx_shuffle2 (a, b, turns + W / 2));
    }
  }
}

INLINE V
clip_to (V v, V high)
{
  return v_max (v_min (v, high), -high);
}

/* y = late times the gains.  Numbers fill the lanes if each has its gain, or its pair;
 * else the channels of a frame do. */
INLINE V
apply_gains (const TfxLimit *p, const bool is_pair)
{
  const unsigned width = is_pair ? p->n_channels : 1, rest = width % W;
  const size_t n = p->n_frames * p->n_channels;
  V least = v_set1 (1.0), high = v_set1 (*p->ceilings);
  size_t i = 0;

  for (; width <= 2 && i + W <= n; i += W) {
    const V gain =
        is_pair ? load_twice (p->gains + i / 2) : v_load_f64 (p->gains + i);

    if (p->is_changing)
      high = is_pair ? load_twice (p->ceilings + i / 2)
                     : v_load_f64 (p->ceilings + i);
    least = v_min (least, gain);
    v_store_f64 (p->y + i, clip_to (v_load_f64 (p->late + i) * gain, high));
  }
  for (size_t f = i / width; f < n / width; f++) {
    const V gain = v_set1 (p->gains[f]);

    if (p->is_changing)
      high = v_set1 (p->ceilings[f]);
    least = v_min (least, gain);
    for (i = f * width; i + W <= (f + 1) * width; i += W)
      v_store_f64 (p->y + i, clip_to (v_load_f64 (p->late + i) * gain, high));
    if (rest > 0)
      v_store_row_f64 (p->y + i,
          clip_to (v_load_f64 (p->late + i) * gain, high), W, rest);
  }
  return least;
}

/* ---- several levels: channels in the lanes --------------------------------------- */

/* All in one pass, so that steps that wait for the last frame overlap with the others.
 * Of the two lines through the target the gain is the lower one, as an attack is shorter
 * than a release; or else the upper one. */
INLINE V
limit_lanes (const TfxLimit *p, unsigned c, const bool is_lower,
    const bool is_changing)
{
  const V attack = v_set1 (p->attack[0]),
          to_attack = v_set1 (1.0 - p->attack[0]);
  const V release = v_set1 (p->release[0]);
  const V to_release = v_set1 (1.0 - p->release[0]);
  V threshold = v_set1 (*p->thresholds), high = v_set1 (*p->ceilings);
  V all = v_load_f64 (p->most + c), gain = v_load_f64 (p->state + c);
  V least = v_set1 (1.0);

  for (size_t at = c; at < p->n_frames * p->n_levels; at += p->n_levels) {
    V target, down, up;

    if (is_changing) {
      threshold = v_load_f64 (p->thresholds + at);
      high = v_load_f64 (p->ceilings + at);
    }
    all = v_max (v_abs (v_load_f64 (p->heard + at)), all);
    target = v_divide (threshold,
        v_max (v_max (v_load_f64 (p->rest + at), all), threshold));
    down = v_fma (attack, gain, to_attack * target);
    up = v_fma (release, gain, to_release * target);
    gain = is_lower ? v_min (down, up) : v_max (down, up);
    least = v_min (least, gain);
    v_store_f64 (p->y + at, clip_to (v_load_f64 (p->late + at) * gain, high));
  }
  v_store_f64 (p->most + c, all);
  v_store_f64 (p->state + c, gain);
  return least;
}

/* ---- all of it -------------------------------------------------------------------- */

INLINE double
find_lowest (V least, unsigned n)
{
  double lowest = 1.0;

  for (unsigned i = 0; i < n; i++)
    lowest = least[i] < lowest ? least[i] : lowest;
  return lowest;
}

/* The lanes after the last channel overwrite the next frame, so they come first. */
static double
limit_channels (const TfxLimit *p)
{
  const bool is_lower = p->attack[0] <= p->release[0];
  const unsigned n_odd = p->n_levels % W;
  double lowest = 1.0;

  for (unsigned k = 0, n; k < p->n_levels; k += n) {
    const unsigned c = k < n_odd ? p->n_levels - n_odd : k - n_odd;
    V least;
    double low;

    n = k < n_odd ? n_odd : W;
    if (p->is_changing)
      least = is_lower ? limit_lanes (p, c, true, true)
                       : limit_lanes (p, c, false, true);
    else
      least = is_lower ? limit_lanes (p, c, true, false)
                       : limit_lanes (p, c, false, false);
    low = find_lowest (least, n);
    lowest = low < lowest ? low : lowest;
  }
  memcpy (p->end, p->state, p->n_levels * sizeof *p->end);
  return lowest;
}

static double
limit (const TfxLimit *p)
{
  const size_t n_before = p->n_begun * p->n_levels;
  const double *targets = p->targets - n_before;
  double *gains = p->gains - n_before;
  const size_t n_all = p->n_begun + p->n_frames;

  if (!has_frames (p->n_levels))
    return limit_channels (p);
  if (p->n_levels == 1) {
    find_targets (p, 1);
    follow_level (targets, gains, n_all, p, p->state, p->end);
  } else {
    find_targets (p, 2 % W);
    follow_pairs (targets, gains, n_all, p);
  }
  return find_lowest (p->n_levels < p->n_channels ? apply_gains (p, true)
                                                  : apply_gains (p, false),
      W);
}
