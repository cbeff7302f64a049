/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-vec.c: gains that follow the level of the signal; compiled once for
 * each instruction set. */
#include "dynamics.h"
#include "vec.h"

#include <string.h>

#define INLINE static inline __attribute__ ((always_inline))
#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define STRING2(a) #a
#define STRING(a) STRING2 (a)

/* ---- vectors ---------------------------------------------------------------- */

INLINE V
v_max (V a, V b)
{
#if defined(__AVX512F__)
  return _mm512_max_pd (a, b);
#elif defined(__AVX2__)
  return _mm256_max_pd (a, b);
#elif defined(__aarch64__)
  return vmaxq_f64 (a, b);
#else
  return v_select (v_mask (a > b), a, b);
#endif
}

INLINE V
v_min (V a, V b)
{
#if defined(__AVX512F__)
  return _mm512_min_pd (a, b);
#elif defined(__AVX2__)
  return _mm256_min_pd (a, b);
#elif defined(__aarch64__)
  return vminq_f64 (a, b);
#else
  return v_select (v_mask (a < b), a, b);
#endif
}

INLINE V
v_sqrt (V a)
{
#if defined(__AVX512F__)
  return _mm512_sqrt_pd (a);
#elif defined(__AVX2__)
  return _mm256_sqrt_pd (a);
#elif defined(__aarch64__)
  return vsqrtq_f64 (a);
#else
  return (V){ __builtin_sqrt (a[0]), __builtin_sqrt (a[1]) };
#endif
}

INLINE VBits
v_bits1 (int64_t a)
{
  const VBits zero = { 0 };

  return zero + a;
}

INLINE V
v_abs (V a)
{
  return (V)((VBits)a & v_bits1 (INT64_MAX));
}

typedef uint64_t VWords __attribute__ ((vector_size (8 * W), may_alias));

/* log2 of what is normal and above 0.  With m in [root 1/2, root 2) and
 * s = (m - 1) / (m + 1) it is s times a polynomial in s^2, 4e-10 off at the most. */
INLINE V
v_log2 (V a)
{
  const VBits one = v_bits1 (0x3ff0000000000000);
  const VWords e =
      (VWords)((VBits)a + (one - v_bits1 (0x3fe6a09e667f3bcd))) >> 52;
  const V m = (V)((VBits)a - ((VBits)(e << 52) - one));
  /* e + 2^52, less 2^52 and what an exponent has too much. */
  const V n =
      (V)((VBits)e | v_bits1 (0x4330000000000000)) - v_set1 (0x1p52 + 1023.0);
  const V s = (m - v_set1 (1.0)) / (m + v_set1 (1.0)), z = s * s;
  V p = v_set1 (0.4317176994771338);

  p = v_fma (p, z, v_set1 (0.5767151859448492));
  p = v_fma (p, z, v_set1 (0.9617988388027638));
  p = v_fma (p, z, v_set1 (2.8853900798033356));
  return v_fma (p, s, n);
}

/* 2^a, a from -1000 to 1000: a polynomial for what a whole number leaves, 3e-9
 * off at the most (-170 dB), exact for 0. */
INLINE V
v_exp2 (V a)
{
  const V round = v_set1 (0x1.8p52);
  const V t = a + round, r = a - (t - round);
  V p = v_set1 (0.0001546144469856913);

  p = v_fma (p, r, v_set1 (0.0013400428177615838));
  p = v_fma (p, r, v_set1 (0.009618056678524637));
  p = v_fma (p, r, v_set1 (0.05550327226670302));
  p = v_fma (p, r, v_set1 (0.24022650922288757));
  p = v_fma (p, r, v_set1 (0.6931472067028326));
  p = v_fma (p, r, v_set1 (1.0));
  return (V)((VBits)p + ((VBits)t << 52));
}

/* ---- samples and doubles ----------------------------------------------------- */

/* What is not finite becomes 0, and its bits in *bad are set. */
INLINE V
clean (V a, VBits *bad)
{
  const VBits is_bad = ~(VBits)(a - a == v_set1 (0.0));

  *bad |= is_bad;
  return (V)((VBits)a & ~is_bad);
}

INLINE size_t
any_bits (VBits bits)
{
  int64_t all = 0;

  for (unsigned i = 0; i < W; i++)
    all |= bits[i];
  return all != 0;
}

static size_t
load_f32 (double *x, const void *from, size_t n)
{
  const float *samples = from;
  VBits bad = { 0 };
  size_t i = 0, n_bad = 0;

  for (; i + W <= n; i += W)
    v_store_f64 (x + i, clean (v_load_f32 (samples + i), &bad));
  for (; i < n; i++) {
    const bool is_finite = samples[i] - samples[i] == 0.0f;

    x[i] = is_finite ? samples[i] : 0.0;
    n_bad += !is_finite;
  }
  return n_bad + any_bits (bad);
}

static size_t
load_f64 (double *x, const void *from, size_t n)
{
  const double *samples = from;
  VBits bad = { 0 };
  size_t i = 0, n_bad = 0;

  for (; i + W <= n; i += W)
    v_store_f64 (x + i, clean (v_load_f64 (samples + i), &bad));
  for (; i < n; i++) {
    const bool is_finite = samples[i] - samples[i] == 0.0;

    x[i] = is_finite ? samples[i] : 0.0;
    n_bad += !is_finite;
  }
  return n_bad + any_bits (bad);
}

static void
store_f32 (void *to, const double *x, size_t n)
{
  float *samples = to;
  size_t i = 0;

  for (; i + W <= n; i += W)
    v_store_f32 (samples + i, v_load_f64 (x + i));
  for (; i < n; i++)
    samples[i] = (float)x[i];
}

static void
store_f64 (void *to, const double *x, size_t n)
{
  memcpy (to, x, n * sizeof *x);
}

/* ---- levels --------------------------------------------------------------------- */

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

INLINE void
detect_frames (const double *x, double *level, size_t n_frames,
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
    v_store_f64 (level + i, now.out);
    before.held = v_repeat (now.held, W - C, C);
    before.out = v_repeat (now.out, W - C, C);
    before.square = is_rms ? v_repeat (now.square, W - C, C) : now.square;
  }
  store_group (&before, state, stride, 0, C);
  if (i < n) {
    now = detect_group (v_load_f64 (x + i), &before, b, attack, release, C,
        is_rms);
    v_store_f64 (level + i, now.out);
    store_group (&now, end, stride, (n - i) / C - 1, C);
  } else {
    store_group (&before, end, stride, 0, C);
  }
}

/* Channels in the lanes, from number c on.  What lies behind the last channel is
 * of the next frame, and what is put there comes to be overwritten. */
INLINE void
detect_channels (const double *x, double *level, size_t n_frames,
    unsigned n_channels, unsigned c, const TfxBallistics *b, double *state,
    const bool is_rms)
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
    v_store_f64 (level + i * n_channels + c, out);
  }
  v_store_f64 (state + TFX_LEVEL_HELD * stride + c, held);
  v_store_f64 (state + TFX_LEVEL_OUT * stride + c, out);
  v_store_f64 (state + TFX_LEVEL_SQUARE * stride + c, square);
}

INLINE void
detect_any (const double *x, double *level, size_t n_frames,
    unsigned n_channels, const TfxBallistics *b, double *state, double *end,
    const bool is_rms)
{
  const unsigned n_full = n_channels / W * W;

  if (n_channels < W && n_channels == 1) {
    detect_frames (x, level, n_frames, b, state, end, 1, is_rms);
    return;
  }
  if (2 < W && n_channels == 2) {
    detect_frames (x, level, n_frames, b, state, end, 2 < W ? 2 : 1, is_rms);
    return;
  }
  /* Those of a vector that is not full come first: see detect_channels. */
  if (n_full < n_channels)
    detect_channels (x, level, n_frames, n_channels, n_full, b, state, is_rms);
  for (unsigned c = 0; c < n_full; c += W)
    detect_channels (x, level, n_frames, n_channels, c, b, state, is_rms);
  memcpy (end, state,
      TFX_N_LEVELS * tfx_dynamics_stride (n_channels) * sizeof *end);
}

static void
detect (const double *x, double *level, size_t n_frames, unsigned n_channels,
    const TfxBallistics *b, double *state, double *end)
{
  if (b->is_rms)
    detect_any (x, level, n_frames, n_channels, b, state, end, true);
  else
    detect_any (x, level, n_frames, n_channels, b, state, end, false);
}

/* ---- gains ----------------------------------------------------------------------- */

typedef struct Curve
{
  V sign, offset, slope, half, knee, per_knee, floor, makeup;
} Curve;

INLINE V
gain_of (V level, const Curve *c, V *lowest)
{
  const V zero = v_set1 (0.0);
  const V over = v_fma (c->sign,
      v_log2 (v_max (level, v_set1 (TFX_LEVEL_LOWEST))), c->offset);
  const V q = v_min (v_max (over + c->half, zero), c->knee);
  const V h = v_fma (q * q, c->per_knee, v_max (over - c->half, zero));
  const V reduction = v_max (c->slope * h, c->floor);

  *lowest = v_min (*lowest, reduction);
  return v_exp2 (reduction + c->makeup);
}

/* y[n] = the gains of level[n], or x[n] times these; either may be level.  The
 * lowest reduction in each lane goes to *lowest. */
INLINE void
run_curve (const double *level, const double *x, double *y, size_t n,
    const Curve *c, V *lowest, const bool is_product)
{
  size_t i = 0;

  for (; i + W <= n; i += W) {
    V gain = gain_of (v_load_f64 (level + i), c, lowest);

    if (is_product)
      gain *= v_load_f64 (x + i);
    v_store_f64 (y + i, gain);
  }
  if (i < n) {
    double rest[W];

    for (unsigned k = 0; k < W; k++)
      rest[k] = level[i + k < n ? i + k : n - 1];
    v_store_f64 (rest, gain_of (v_load_f64 (rest), c, lowest));
    for (unsigned k = 0; i + k < n; k++)
      y[i + k] = is_product ? rest[k] * x[i + k] : rest[k];
  }
}

static double
apply (double *level, double *x, size_t n_frames, unsigned width,
    const TfxGainCurve *curve)
{
  const Curve c = { v_set1 (curve->sign),
    v_set1 (-curve->sign * curve->threshold), v_set1 (curve->slope),
    v_set1 (curve->half_knee), v_set1 (2.0 * curve->half_knee),
    v_set1 (curve->per_knee), v_set1 (curve->floor), v_set1 (curve->makeup) };
  V all = v_set1 (0.0);
  double lowest = 0.0;

  if (width == 1) {
    run_curve (level, x, x, n_frames, &c, &all, true);
  } else {
    run_curve (level, NULL, level, n_frames, &c, &all, false);
    for (size_t i = 0; i < n_frames; i++, x += width) {
      for (unsigned k = 0; k < width; k++)
        x[k] *= level[i];
    }
  }
  for (unsigned k = 0; k < W; k++)
    lowest = all[k] < lowest ? all[k] : lowest;
  return lowest;
}

/* ---- limits ------------------------------------------------------------------------ */

static void
find_levels (const double *x, double *levels, size_t n)
{
  size_t i = 0;

  for (; i + W <= n; i += W)
    v_store_f64 (levels + i, v_abs (v_load_f64 (x + i)));
  for (; i < n; i++)
    levels[i] = __builtin_fabs (x[i]);
}

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

  return __builtin_shuffle (v_set1 (0.0), v, lanes + (int64_t)(W - n));
}

INLINE V
shift_down (V v, const unsigned n)
{
  const VBits lanes = { V_LANES };

  return __builtin_shuffle (v, v_set1 (0.0), lanes + (int64_t)n);
}

/* The frame that begins with lane `first`, in all frames. */
INLINE V
spread_frame (V v, const unsigned first, const unsigned C)
{
  const VBits lanes = { V_LANES };

  return __builtin_shuffle (v, (lanes & (int64_t)(C - 1)) + (int64_t)first);
}

/* Frames in the lanes. */
INLINE void
find_frame_peaks (const double *levels, const double *rest, double *peaks,
    size_t n, double *most, const unsigned C)
{
  V all = { 0 };
  size_t i = 0;

  for (unsigned k = 0; k < W; k++)
    all[k] = most[k % C];
  for (; i + W <= n; i += W) {
    V v = v_load_f64 (levels + i);

    v = v_max (v, shift_up (v, C));
    if (2 * C < W)
      v = v_max (v, shift_up (v, 2 * C));
    if (4 * C < W)
      v = v_max (v, shift_up (v, 4 * C));
    v = v_max (v, all);
    all = spread_frame (v, W - C, C);
    v_store_f64 (peaks + i, v_max (v_load_f64 (rest + i), v));
  }
  for (unsigned k = 0; k < C; k++)
    most[k] = all[k];
  for (; i < n; i++) {
    double *m = &most[i % C];

    *m = levels[i] > *m ? levels[i] : *m;
    peaks[i] = rest[i] > *m ? rest[i] : *m;
  }
}

/* Channels in the lanes, as in detect_channels. */
INLINE void
find_channel_peaks (const double *levels, const double *rest, double *peaks,
    size_t n_frames, unsigned n_channels, double *most)
{
  V all = v_load_f64 (most);

  for (size_t i = 0; i < n_frames; i++) {
    const size_t at = i * n_channels;

    all = v_max (v_load_f64 (levels + at), all);
    v_store_f64 (peaks + at, v_max (v_load_f64 (rest + at), all));
  }
  v_store_f64 (most, all);
}

static void
find_peaks (const double *levels, const double *rest, double *peaks,
    size_t n_frames, unsigned n_channels, double *most)
{
  const unsigned n_full = n_channels / W * W;

  if (fills_vector (n_channels)) {
    if (n_channels == 1)
      find_frame_peaks (levels, rest, peaks, n_frames, most, 1);
    else if (n_channels == 2)
      find_frame_peaks (levels, rest, peaks, 2 * n_frames, most, 2 % W);
    else
      find_frame_peaks (levels, rest, peaks, 4 * n_frames, most, 4 % W);
    return;
  }
  if (n_full < n_channels)
    find_channel_peaks (levels + n_full, rest + n_full, peaks + n_full,
        n_frames, n_channels, most + n_full);
  for (unsigned c = 0; c < n_full; c += W)
    find_channel_peaks (levels + c, rest + c, peaks + c, n_frames, n_channels,
        most + c);
}

INLINE void
find_frame_rest (double *rest, size_t n, const unsigned C)
{
  const size_t n_whole = n / W * W;
  V all = v_set1 (0.0);

  for (size_t i = n; i-- > n_whole + C;)
    rest[i - C] = rest[i] > rest[i - C] ? rest[i] : rest[i - C];
  for (unsigned k = 0; n_whole < n && k < W; k++)
    all[k] = rest[n_whole + k % C];
  for (size_t i = n_whole; i >= W; i -= W) {
    V v = v_load_f64 (rest + i - W);

    v = v_max (v, shift_down (v, C));
    if (2 * C < W)
      v = v_max (v, shift_down (v, 2 * C));
    if (4 * C < W)
      v = v_max (v, shift_down (v, 4 * C));
    v = v_max (v, all);
    all = spread_frame (v, 0, C);
    v_store_f64 (rest + i - W, v);
  }
}

/* Channels in the lanes: of those that fill them alone, as what is put behind the
 * last one would be of a frame that is done. */
INLINE void
find_channel_rest (double *rest, size_t n_frames, unsigned n_channels)
{
  V all = v_set1 (0.0);

  for (size_t i = n_frames; i-- > 0;) {
    all = v_max (v_load_f64 (rest + i * n_channels), all);
    v_store_f64 (rest + i * n_channels, all);
  }
}

static void
find_rest (double *rest, size_t n_frames, unsigned n_channels)
{
  const unsigned n_full = n_channels / W * W;

  if (fills_vector (n_channels)) {
    if (n_channels == 1)
      find_frame_rest (rest, n_frames, 1);
    else if (n_channels == 2)
      find_frame_rest (rest, 2 * n_frames, 2 % W);
    else
      find_frame_rest (rest, 4 * n_frames, 4 % W);
    return;
  }
  for (unsigned c = 0; c < n_full; c += W)
    find_channel_rest (rest + c, n_frames, n_channels);
  for (unsigned c = n_full; c < n_channels; c++) {
    for (size_t i = n_frames; i-- > 1;) {
      const double next = rest[i * n_channels + c];
      double *at = &rest[(i - 1) * n_channels + c];

      *at = next > *at ? next : *at;
    }
  }
}

/* past[n] = samples, which become what stood `ahead` further on. */
static void
exchange (double *past, double *samples, size_t n, size_t ahead)
{
  size_t i = 0;

  for (; i + W <= n; i += W) {
    const V out = v_load_f64 (past + i + ahead);

    v_store_f64 (past + i, v_load_f64 (samples + i));
    v_store_f64 (samples + i, out);
  }
  for (; i < n; i++) {
    const double out = past[i + ahead];

    past[i] = samples[i];
    samples[i] = out;
  }
}

/* Of the two lines through the target the lower one, as an attack is shorter
 * than a release; or else the upper one.  Channels in the lanes. */
INLINE V
follow_targets (const double *targets, double *gains, size_t n_frames,
    unsigned n_channels, const TfxLimits *limits, double *last,
    const bool is_lower)
{
  const V attack = v_set1 (limits->attack), release = v_set1 (limits->release);
  const V to_attack = v_set1 (1.0 - limits->attack);
  const V to_release = v_set1 (1.0 - limits->release);
  V gain = v_load_f64 (last), least = v_set1 (1.0);

  for (size_t i = 0; i < n_frames; i++) {
    const V target = v_load_f64 (targets + i * n_channels);
    const V down = v_fma (attack, gain, to_attack * target);
    const V up = v_fma (release, gain, to_release * target);

    gain = is_lower ? v_min (down, up) : v_max (down, up);
    least = v_min (least, gain);
    v_store_f64 (gains + i * n_channels, gain);
  }
  v_store_f64 (last, gain);
  return least;
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

/* One channel: vectors at each frame would overlap. */
INLINE double
follow_channel (const double *targets, double *gains, size_t n_frames,
    const TfxLimits *limits, double *last, const bool is_lower)
{
  const double attack = limits->attack, release = limits->release;
  const double to_attack = 1.0 - attack, to_release = 1.0 - release;
  double gain = *last, least = 1.0;

  for (size_t i = 0; i < n_frames; i++) {
    const double down = multiply_add (attack, gain, to_attack * targets[i]);
    const double up = multiply_add (release, gain, to_release * targets[i]);

    if (is_lower)
      gain = down < up ? down : up;
    else
      gain = down > up ? down : up;
    least = gain < least ? gain : least;
    gains[i] = gain;
  }
  *last = gain;
  return least;
}

INLINE double
follow_all (const double *targets, double *gains, size_t n_frames,
    unsigned n_channels, const TfxLimits *limits, double *last,
    const bool is_lower)
{
  const unsigned n_full = n_channels / W * W;
  double least = 1.0;
  V part;

  if (n_channels == 1)
    return follow_channel (targets, gains, n_frames, limits, last, is_lower);
  if (n_full < n_channels) {
    part = follow_targets (targets + n_full, gains + n_full, n_frames,
        n_channels, limits, last + n_full, is_lower);
    for (unsigned k = 0; k < n_channels - n_full; k++)
      least = part[k] < least ? part[k] : least;
  }
  for (unsigned c = 0; c < n_full; c += W) {
    part = follow_targets (targets + c, gains + c, n_frames, n_channels, limits,
        last + c, is_lower);
    for (unsigned k = 0; k < W; k++)
      least = part[k] < least ? part[k] : least;
  }
  return least;
}

static double
find_gains (double *peaks, double *gains, size_t n_frames, unsigned n_channels,
    const TfxLimits *limits, double *last)
{
  const V threshold = v_set1 (limits->threshold), one = v_set1 (1.0);

  /* What is below the threshold asks for 1, and is at least above 0 so. */
  for (size_t i = 0; i < n_frames * n_channels; i += W) {
    const V peak = v_max (v_load_f64 (peaks + i), threshold);

    v_store_f64 (peaks + i, v_min (threshold / peak, one));
  }
  if (limits->attack <= limits->release)
    return follow_all (peaks, gains, n_frames, n_channels, limits, last, true);
  return follow_all (peaks, gains, n_frames, n_channels, limits, last, false);
}

static void
limit (double *x, const double *gain, size_t n_frames, unsigned width,
    double most)
{
  const V high = v_set1 (most), low = v_set1 (-most);
  size_t i = 0;

  for (; width == 1 && i + W <= n_frames; i += W)
    v_store_f64 (x + i,
        v_max (v_min (v_load_f64 (x + i) * v_load_f64 (gain + i), high), low));
  for (; i < n_frames; i++) {
    for (unsigned c = 0; c < width; c++) {
      const double y = x[i * width + c] * gain[i];

      x[i * width + c] = y > most ? most : y < -most ? -most : y;
    }
  }
}

const TfxDynamicsKernels CAT (tfx_dynamics, ISA) = {
  .name = STRING (ISA),
  .group_frames = group_frames,
  .load = { load_f32, load_f64 },
  .store = { store_f32, store_f64 },
  .detect = detect,
  .apply = apply,
  .find_levels = find_levels,
  .find_peaks = find_peaks,
  .find_rest = find_rest,
  .exchange = exchange,
  .find_gains = find_gains,
  .limit = limit,
};
