/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-limits_tmpl.c: the kernels of a limiter, one build for each
 * instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

#include <string.h>

/* ---- the largest of a window -------------------------------------------------- */

/* Whether whole frames of so many channels fill a vector.  The largest of some is
 * the same in any order, so that there are no groups to be kept. */
INLINE bool
fills_vector (unsigned n_channels)
{
  return n_channels < W && (n_channels & (n_channels - 1)) == 0;
}

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
find_frame_targets (const double *x, const double *rest, double *targets,
    size_t n, const double *thresholds, const bool is_each, double *most,
    const unsigned C)
{
  V threshold = v_set1 (*thresholds);
  V all = spread_frame (v_load_f64 (most), 0, C);
  size_t i = 0;

  for (; i + W <= n; i += W) {
    V v = v_abs (v_load_f64 (x + i));

    v = v_max (v, shift_up (v, C));
    if (2 * C < W)
      v = v_max (v, shift_up (v, 2 * C));
    if (4 * C < W)
      v = v_max (v, shift_up (v, 4 * C));
    if (is_each)
      threshold = v_load_f64 (thresholds + i);
    v_store_f64 (targets + i,
        v_divide (threshold,
            v_max (v_max (v_load_f64 (rest + i), v), v_max (all, threshold))));
    all = v_max (all, spread_frame (v, W - C, C));
  }
  v_store_f64 (most, all);
  for (; i < n; i++) {
    const double a = __builtin_fabs (x[i]);
    const double t = thresholds[is_each ? i : 0];
    double *m = &most[i % C], peak;

    *m = a > *m ? a : *m;
    peak = rest[i] > *m ? rest[i] : *m;
    targets[i] = v_divide (v_set1 (t), v_set1 (peak > t ? peak : t))[0];
  }
}

/* Channels in the lanes, as in detect_channels. */
INLINE void
find_channel_targets (const double *x, const double *rest, double *targets,
    size_t n_frames, unsigned n_channels, const double *thresholds,
    const bool is_each, double *most)
{
  V threshold = v_set1 (*thresholds);
  V all = v_load_f64 (most);

  for (size_t i = 0; i < n_frames; i++) {
    const size_t at = i * n_channels;

    if (is_each)
      threshold = v_load_f64 (thresholds + at);
    all = v_max (v_abs (v_load_f64 (x + at)), all);
    v_store_f64 (targets + at,
        v_divide (threshold,
            v_max (v_max (v_load_f64 (rest + at), all), threshold)));
  }
  v_store_f64 (most, all);
}

INLINE void
find_targets_of (const double *x, const double *rest, double *targets,
    size_t n_frames, unsigned n_channels, const double *thresholds,
    const bool is_each, double *most)
{
  const unsigned n_full = n_channels / W * W;

  if (fills_vector (n_channels)) {
    if (n_channels == 1)
      find_frame_targets (x, rest, targets, n_frames, thresholds, is_each, most,
          1);
    else if (n_channels == 2)
      find_frame_targets (x, rest, targets, 2 * n_frames, thresholds, is_each,
          most, 2 % W);
    else
      find_frame_targets (x, rest, targets, 4 * n_frames, thresholds, is_each,
          most, 4 % W);
    return;
  }
  if (n_full < n_channels)
    find_channel_targets (x + n_full, rest + n_full, targets + n_full, n_frames,
        n_channels, thresholds + (is_each ? n_full : 0), is_each,
        most + n_full);
  for (unsigned c = 0; c < n_full; c += W)
    find_channel_targets (x + c, rest + c, targets + c, n_frames, n_channels,
        thresholds + (is_each ? c : 0), is_each, most + c);
}

static void
find_targets (const double *x, const double *rest, double *targets,
    size_t n_frames, unsigned n_channels, const double *thresholds,
    bool is_each, double *most)
{
  if (is_each)
    find_targets_of (x, rest, targets, n_frames, n_channels, thresholds, true,
        most);
  else
    find_targets_of (x, rest, targets, n_frames, n_channels, thresholds, false,
        most);
}

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

/* Channels in the first lanes.  What is put behind the last one is of the frame that
 * is done, as far as it is not of other channels. */
INLINE void
find_channel_rest (const double *x, double *rest, size_t n_frames,
    unsigned n_channels, unsigned n_lanes)
{
  V all = v_set1 (0.0), row = all;

  for (size_t i = n_frames; i-- > 0;) {
    all = v_max (v_abs (v_load_f64 (x + i * n_channels)), all);
    row = n_lanes == W ? all : join_lanes (all, row, n_lanes);
    v_store_f64 (rest + i * n_channels, row);
  }
}

static void
find_rest (const double *x, double *rest, size_t n_frames, unsigned n_channels)
{
  const unsigned n_full = n_channels / W * W;

  if (fills_vector (n_channels)) {
    if (n_channels == 1)
      find_frame_rest (x, rest, n_frames, 1);
    else if (n_channels == 2)
      find_frame_rest (x, rest, 2 * n_frames, 2 % W);
    else
      find_frame_rest (x, rest, 4 * n_frames, 4 % W);
    return;
  }
  /* Those of a vector that is not full come first, as others overwrite what they leave
   * behind the last one. */
  if (n_full < n_channels)
    find_channel_rest (x + n_full, rest + n_full, n_frames, n_channels,
        n_channels - n_full);
  for (unsigned c = 0; c < n_full; c += W)
    find_channel_rest (x + c, rest + c, n_frames, n_channels, W);
}

/* ---- gains -------------------------------------------------------------------- */

/* One channel, or each of two: W frames in the lanes. */
INLINE bool
has_frames (unsigned n_channels)
{
  return n_channels == 1 || (n_channels == 2 && W > 2);
}

static unsigned
limit_frames (unsigned n_channels)
{
  return has_frames (n_channels) ? W : 1;
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

/* How a gain goes to its targets: down or up. */
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

/* The first lane that goes down where is_down is false, or up where it is true; W:
 * there is none. */
INLINE unsigned
find_turn (V targets, V gains, V before, bool is_down)
{
  const V from = v_shift_in (gains, before, 1);
  const unsigned all = (1u << W) - 1;
  const unsigned down = v_signs ((VBits)(targets < from));
  const unsigned turned = is_down ? down ^ all : down;

  return turned ? (unsigned)__builtin_ctz (turned) : W;
}

/* The frames of a group from number `first` on, one by one. */
INLINE void
go_on (const double *targets, double *gains, unsigned first,
    const TfxLimits *limits)
{
  for (unsigned k = first; k < W; k++) {
    const double before = gains[k - 1], target = targets[k];
    const double a = target < before ? limits->attack[0] : limits->release[0];

    gains[k] = multiply_add (a, before, (1.0 - a) * target);
  }
}

/* A group of one channel.  As long as it goes down, or up, its frames are a scan;
 * from where it turns on they come one by one.  What comes out does not depend on
 * *is_down, which the group before has left. */
INLINE V
follow_group (const double *targets, double *gains, V before, const Way ways[2],
    const TfxLimits *limits, bool *is_down)
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
  go_on (targets, gains, turn, limits);
  return v_load_f64 (gains);
}

static void
follow_channel (const double *targets, double *gains, size_t n_frames,
    const TfxLimits *limits, double *state, double *end)
{
  const Way ways[] = { way_of (limits->release), way_of (limits->attack) };
  V before = v_set1 (*state);
  bool is_down = false;
  size_t i = 0;

  for (; i + W <= n_frames; i += W)
    before = v_repeat (follow_group (targets + i, gains + i, before, ways,
                           limits, &is_down),
        W - 1, 1);
  *state = *end = before[0];
  if (i < n_frames) {
    follow_group (targets + i, gains + i, before, ways, limits, &is_down);
    *end = gains[n_frames - 1];
  }
}

/* Frames of two channels that are taken apart at a time. */
#define PAIRS 64

/* x[2][PAIRS + W] = of n pairs the first ones, and the second ones. */
INLINE void
split_pairs (const double *pairs, double x[2][PAIRS + W], size_t n)
{
  const VBits even = 2 * (VBits){ V_LANES };

  for (size_t i = 0; i < n; i += W) {
    const bool is_half = 2 * i + W >= 2 * n;
    const V a = v_load_f64 (pairs + 2 * i);
    const V b = is_half ? a : v_load_f64 (pairs + 2 * i + W);

    v_store_f64 (x[0] + i, tfx_shuffle2 (a, b, even));
    v_store_f64 (x[1] + i, tfx_shuffle2 (a, b, even + 1));
  }
}

INLINE void
join_pairs (double *pairs, double x[2][PAIRS + W], size_t n)
{
  const VBits lanes = { V_LANES };
  const VBits turns = lanes / 2 + (lanes & 1) * W;

  for (size_t i = 0; i < n; i += W) {
    const V a = v_load_f64 (x[0] + i), b = v_load_f64 (x[1] + i);

    v_store_f64 (pairs + 2 * i, tfx_shuffle2 (a, b, turns));
    if (2 * i + W < 2 * n)
      v_store_f64 (pairs + 2 * i + W, tfx_shuffle2 (a, b, turns + W / 2));
  }
}

/* Two channels, one after the other, which do not wait as long as both side by side. */
static void
follow_pairs (const double *targets, double *gains, size_t n_frames,
    const TfxLimits *limits, double *state, double *end)
{
  for (size_t i = 0, n; i < n_frames; i += n) {
    double x[2][PAIRS + W], y[2][PAIRS + W];

    n = n_frames - i < PAIRS ? n_frames - i : PAIRS;
    split_pairs (targets + 2 * i, x, n);
    for (unsigned c = 0; c < 2; c++)
      follow_channel (x[c], y[c], n, limits, state + c, end + c);
    join_pairs (gains + 2 * i, y, n);
  }
}

/* Of the two lines through the target the lower one, as an attack is shorter
 * than a release; or else the upper one.  Channels in the lanes. */
INLINE void
follow_lanes (const double *targets, double *gains, size_t n_frames,
    unsigned n_channels, const TfxLimits *limits, double *state,
    const bool is_lower)
{
  const V attack = v_set1 (limits->attack[0]);
  const V release = v_set1 (limits->release[0]);
  const V to_attack = v_set1 (1.0 - limits->attack[0]);
  const V to_release = v_set1 (1.0 - limits->release[0]);
  V gain = v_load_f64 (state);

  for (size_t i = 0; i < n_frames; i++) {
    const V target = v_load_f64 (targets + i * n_channels);
    const V down = v_fma (attack, gain, to_attack * target);
    const V up = v_fma (release, gain, to_release * target);

    gain = is_lower ? v_min (down, up) : v_max (down, up);
    v_store_f64 (gains + i * n_channels, gain);
  }
  v_store_f64 (state, gain);
}

INLINE void
follow_channels (const double *targets, double *gains, size_t n_frames,
    unsigned n_channels, const TfxLimits *limits, double *state,
    const bool is_lower)
{
  const unsigned n_full = n_channels / W * W;

  if (n_full < n_channels)
    follow_lanes (targets + n_full, gains + n_full, n_frames, n_channels,
        limits, state + n_full, is_lower);
  for (unsigned c = 0; c < n_full; c += W)
    follow_lanes (targets + c, gains + c, n_frames, n_channels, limits,
        state + c, is_lower);
}

static void
follow (const double *targets, double *gains, size_t n_frames,
    unsigned n_channels, const TfxLimits *limits, double *state, double *end)
{
  if (n_channels == 1) {
    follow_channel (targets, gains, n_frames, limits, state, end);
    return;
  }
  if (has_frames (n_channels)) {
    follow_pairs (targets, gains, n_frames, limits, state, end);
    return;
  }
  if (limits->attack[0] <= limits->release[0])
    follow_channels (targets, gains, n_frames, n_channels, limits, state, true);
  else
    follow_channels (targets, gains, n_frames, n_channels, limits, state,
        false);
  memcpy (end, state, n_channels * sizeof *end);
}

static double
limit (const double *x, double *y, const double *gains, size_t n_frames,
    unsigned width, double most)
{
  const V high = v_set1 (most), low = v_set1 (-most);
  const size_t n = n_frames * width;
  const unsigned rest = width % W;
  V least = v_set1 (1.0);
  double lowest = 1.0;
  size_t i = 0;

  for (; width <= 2 && i + W <= n; i += W) {
    const V gain =
        width == 1 ? v_load_f64 (gains + i) : load_twice (gains + i / 2);

    least = v_min (least, gain);
    v_store_f64 (y + i, v_max (v_min (v_load_f64 (x + i) * gain, high), low));
  }
  for (unsigned k = 0; k < W; k++)
    lowest = least[k] < lowest ? least[k] : lowest;
  for (size_t f = i / width; f < n_frames; f++) {
    const V gain = v_set1 (gains[f]);

    lowest = gains[f] < lowest ? gains[f] : lowest;
    for (i = f * width; i + W <= (f + 1) * width; i += W)
      v_store_f64 (y + i, v_max (v_min (v_load_f64 (x + i) * gain, high), low));
    if (rest > 0)
      v_store_row_f64 (y + i,
          v_max (v_min (v_load_f64 (x + i) * gain, high), low), W, rest);
  }
  return lowest;
}

/* find_targets, follow and limit in one, channels in the first lanes: what waits for
 * the frame before stands beside what does not. */
INLINE V
limit_lanes (const double *x, const double *rest, const double *late, double *y,
    size_t n_frames, unsigned n_channels, const TfxLimits *limits, double *most,
    double *state, double high, const bool is_lower)
{
  const V threshold = v_set1 (limits->threshold);
  const V attack = v_set1 (limits->attack[0]);
  const V release = v_set1 (limits->release[0]);
  const V to_attack = v_set1 (1.0 - limits->attack[0]);
  const V to_release = v_set1 (1.0 - limits->release[0]);
  const V ceiling = v_set1 (high), ground = v_set1 (-high);
  V all = v_load_f64 (most), gain = v_load_f64 (state), least = v_set1 (1.0);

  for (size_t i = 0; i < n_frames; i++) {
    const size_t at = i * n_channels;
    V target, down, up;

    all = v_max (v_abs (v_load_f64 (x + at)), all);
    target = v_divide (threshold,
        v_max (v_max (v_load_f64 (rest + at), all), threshold));
    down = v_fma (attack, gain, to_attack * target);
    up = v_fma (release, gain, to_release * target);
    gain = is_lower ? v_min (down, up) : v_max (down, up);
    least = v_min (least, gain);
    v_store_f64 (y + at,
        v_max (v_min (v_load_f64 (late + at) * gain, ceiling), ground));
  }
  v_store_f64 (most, all);
  v_store_f64 (state, gain);
  return least;
}

static bool
limits_lanes (unsigned n_channels)
{
  return !fills_vector (n_channels);
}

static double
limit_channels (const double *x, const double *rest, const double *late,
    double *y, size_t n_frames, unsigned n_channels, const TfxLimits *limits,
    double *most, double *state, double high)
{
  const bool is_lower = limits->attack[0] <= limits->release[0];
  const unsigned n_odd = n_channels % W;
  double lowest = 1.0;

  for (unsigned k = 0, n; k < n_channels; k += n) {
    /* (Those that do not fill a vector first.) */
    const unsigned c = k < n_odd ? n_channels - n_odd : k - n_odd;
    V least;

    n = k < n_odd ? n_odd : W;
    if (is_lower)
      least = limit_lanes (x + c, rest + c, late + c, y + c, n_frames,
          n_channels, limits, most + c, state + c, high, true);
    else
      least = limit_lanes (x + c, rest + c, late + c, y + c, n_frames,
          n_channels, limits, most + c, state + c, high, false);
    for (unsigned i = 0; i < n; i++)
      lowest = least[i] < lowest ? least[i] : lowest;
  }
  return lowest;
}
