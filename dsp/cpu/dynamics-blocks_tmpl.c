/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-blocks_tmpl.c: the kernels of AGC and of loudness meters, one build
 * for each instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

/* ---- between samples ------------------------------------------------------------ */

/* Vectors of points side by side. */
#define N_POINTS 4
_Static_assert(N_POINTS *W <= TFX_TRUE_PEAK_SLACK, "there is slack for a tile");

static void
find_true_peaks (const TfxTruePeak *t, const double *line, double *peaks,
    size_t n, unsigned n_channels)
{
  const ptrdiff_t step = n_channels;
  const ptrdiff_t last = (TFX_TRUE_PEAK_TAPS - 1) * step;

  for (size_t i = 0; i < n; i += N_POINTS * W) {
    const double *x = line + i;
    V middle[N_POINTS], even[N_POINTS], odd[N_POINTS];

#pragma GCC unroll 4
    for (unsigned p = 0; p < N_POINTS; p++)
      middle[p] = even[p] = odd[p] = v_set1 (0.0);
    for (ptrdiff_t k = 0; k < TFX_TRUE_PEAK_SIDE; k++) {
      const V m = v_set1 (t->middle[k]);
      const V e = v_set1 (t->even[k]), o = v_set1 (t->odd[k]);

#pragma GCC unroll 4
      for (unsigned p = 0; p < N_POINTS; p++) {
        /* Not once more for each use: what begins within a line of the cache is two. */
        const V old = v_load_once (x + p * W + k * step);
        const V new = v_load_once (x + p * W + (last - k * step));
        const V sum = old + new;

        middle[p] = v_fma (m, sum, middle[p]);
        even[p] = v_fma (e, sum, even[p]);
        odd[p] = v_fma (o, old - new, odd[p]);
      }
    }
#pragma GCC unroll 4
    for (unsigned p = 0; p < N_POINTS; p++) {
      const V sides = v_abs (even[p]) + v_abs (odd[p]);
      const V at = v_abs (v_load_f64 (x + p * W + last));

      v_store_f64 (peaks + i + p * W,
          v_max (v_max (v_abs (middle[p]), sides), at));
    }
  }
}

/* ---- magnitudes and sums --------------------------------------------------------- */

/* The largest of v and most over all lanes of each of C channels. */
INLINE void
fold_most (V v, double *most, const unsigned C)
{
  const VBits lanes = { V_LANES };

#pragma GCC unroll 4
  for (unsigned n = W / 2; n >= C; n /= 2)
    v = v_max (v, tfx_shuffle (v, lanes ^ (int64_t)n));
  for (unsigned c = 0; c < C; c++)
    most[c] = v[c] > most[c] ? v[c] : most[c];
}

/* Frames in the lanes; n numbers. */
INLINE void
find_frames_most (const double *x, size_t n, double *most, const unsigned C)
{
  V a = v_set1 (0.0), b = a, c = a, d = a;
  size_t i = 0;

  for (; i + 4 * W <= n; i += 4 * W) {
    a = v_max (v_abs (v_load_f64 (x + i)), a);
    b = v_max (v_abs (v_load_f64 (x + i + W)), b);
    c = v_max (v_abs (v_load_f64 (x + i + 2 * W)), c);
    d = v_max (v_abs (v_load_f64 (x + i + 3 * W)), d);
  }
  for (; i + W <= n; i += W)
    a = v_max (v_abs (v_load_f64 (x + i)), a);
  fold_most (v_max (v_max (a, b), v_max (c, d)), most, C);
  for (; i < n; i++) {
    const double m = __builtin_fabs (x[i]);

    most[i % C] = m > most[i % C] ? m : most[i % C];
  }
}

/* Channels in the lanes; lanes after the last channel are ignored. */
INLINE void
find_channels_most (const double *x, size_t n_frames, unsigned n_channels,
    double *most, unsigned n_lanes)
{
  V a = v_set1 (0.0), b = a;
  size_t i = 0;

  for (; i + 2 <= n_frames; i += 2) {
    a = v_max (v_abs (v_load_f64 (x + i * n_channels)), a);
    b = v_max (v_abs (v_load_f64 (x + (i + 1) * n_channels)), b);
  }
  if (i < n_frames)
    a = v_max (v_abs (v_load_f64 (x + i * n_channels)), a);
  a = v_max (a, b);
  for (unsigned c = 0; c < n_lanes; c++)
    most[c] = a[c] > most[c] ? a[c] : most[c];
}

static void
find_most (const double *x, size_t n_frames, unsigned n_channels, double *most)
{
  if (n_channels == 1) {
    find_frames_most (x, n_frames, most, 1);
  } else if (n_channels == 2) {
    find_frames_most (x, 2 * n_frames, most, 2);
  } else {
    for (unsigned c = 0; c < n_channels; c += W)
      find_channels_most (x + c, n_frames, n_channels, most + c,
          n_channels - c < W ? n_channels - c : W);
  }
}

static void
add_up (const double *x, size_t n_frames, unsigned n_channels, size_t first,
    double *sums)
{
  const size_t n_rows = TFX_DYNAMICS_ROWS * (size_t)n_channels;
  const size_t n = n_frames * n_channels;
  size_t at = first % TFX_DYNAMICS_ROWS * n_channels;

  for (size_t i = 0, end; i < n; at = 0) {
    end = n_rows - at < n - i ? i + n_rows - at : n;
    for (; i + W <= end; i += W, at += W)
      v_store_f64 (sums + at, v_load_f64 (sums + at) + v_load_f64 (x + i));
    for (; i < end; i++, at++)
      sums[at] += x[i];
  }
}

/* ---- loudness ------------------------------------------------------------------- */

/* A section whose output is not fed back:
 *   y = b0 x + s1;  s1' = (b1 - a1 b0) x - a1 s1 + s2;  s2' = (b2 - a2 b0) x - a2 s1 */
typedef struct Weight
{
  V b0, c1, c2, a1, a2;
} Weight;

INLINE Weight
weight_of (const TfxSos *s)
{
  return (Weight){ v_set1 (s->b0), v_set1 (s->b1 - s->a1 * s->b0),
    v_set1 (s->b2 - s->a2 * s->b0), v_set1 (s->a1), v_set1 (s->a2) };
}

INLINE V
weigh_frame (const Weight *w, V x, V *s1, V *s2)
{
  const V y = v_fma (w->b0, x, *s1);
  const V ahead = v_fma (w->c1, x, *s2);

  *s2 = v_fnma (w->a2, *s1, w->c2 * x);
  *s1 = v_fnma (w->a1, *s1, ahead);
  return y;
}

/* Channels in the lanes; lanes after the last channel are kept as they are. */
static void
weigh (const double *x, size_t n_frames, unsigned n_channels,
    const TfxSos sections[2], double *state)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const Weight first = weight_of (&sections[0]);
  const Weight second = weight_of (&sections[1]);

  for (unsigned c = 0; c < n_channels; c += W) {
    double *lanes = state + c;
    V power = v_load_f64 (lanes);
    V a1 = v_load_f64 (lanes + stride), a2 = v_load_f64 (lanes + 2 * stride);
    V b1 = v_load_f64 (lanes + 3 * stride);
    V b2 = v_load_f64 (lanes + 4 * stride);

    for (size_t i = 0; i < n_frames; i++) {
      const V in = v_load_f64 (x + i * n_channels + c);
      const V between = weigh_frame (&first, in, &a1, &a2);
      const V out = weigh_frame (&second, between, &b1, &b2);

      power = v_fma (out, out, power);
    }
    v_store_f64 (lanes, power);
    v_store_f64 (lanes + stride, a1);
    v_store_f64 (lanes + 2 * stride, a2);
    v_store_f64 (lanes + 3 * stride, b1);
    v_store_f64 (lanes + 4 * stride, b2);
  }
}

/* ---- gains ---------------------------------------------------------------------- */

INLINE void
swap_sample (double *x, double *past, double gain)
{
  const double late = *past;

  *past = *x;
  *x = late * gain;
}

INLINE void
swap_samples (double *x, double *past, V gain)
{
  const V late = v_load_f64 (past);

  v_store_f64 (past, v_load_f64 (x));
  v_store_f64 (x, late * gain);
}

/* One gain for all channels: n numbers of frames side by side.  The frame of number j is
 * (j + 0.5) / n_channels - 0.5, rounded, which is never near to the middle of two; so
 * rounds the sum with what has no room for a fraction. */
INLINE void
swap_linked (double *x, double *past, size_t n, unsigned n_channels,
    const TfxRamp *r)
{
  const V round = v_set1 (6755399441055744.0); /* 1.5 2^52 */
  const V scale = v_set1 (1.0 / n_channels), half = v_set1 (0.5);
  const V per_frame = v_set1 (r->per_frame), from = v_set1 (r->from[0]);
  const V by = v_set1 (r->to[0]) - from;
  const double first = (double)(r->first + 1);
  V at = (V){ V_LANES } + half;
  size_t i = 0;

  for (; i < n; i += W, at += (double)W) {
    const V frame = ((at * scale - half) + round) - round;
    const V gain = (frame + first) * per_frame * by + from;

    if (i + W <= n) {
      swap_samples (x + i, past + i, gain);
      continue;
    }
    for (unsigned k = 0; i + k < n; k++)
      swap_sample (x + i + k, past + i + k, gain[k]);
  }
}

/* Two channels in turns; n numbers. */
INLINE void
swap_pairs (double *x, double *past, size_t n, const TfxRamp *r)
{
  const VBits lanes = { V_LANES };
  const VBits turns = lanes + (lanes & 1) * W;
  const V per_frame = v_set1 (r->per_frame);
  const V from = tfx_shuffle2 (v_set1 (r->from[0]), v_set1 (r->from[1]), turns);
  const V to = tfx_shuffle2 (v_set1 (r->to[0]), v_set1 (r->to[1]), turns);
  const V by = to - from;
  V at = __builtin_convertvector(lanes / 2, V) + (double)(r->first + 1);
  size_t i = 0;

  for (; i + W <= n; i += W, at += (double)(W / 2))
    swap_samples (x + i, past + i, at * per_frame * by + from);
  at = at * per_frame * by + from;
  for (unsigned k = 0; i < n; i++, k++)
    swap_sample (x + i, past + i, at[k]);
}

/* Each its own; n channels from number `first` on in the lanes. */
INLINE void
swap_lanes (double *x, double *past, size_t n_frames, unsigned n_channels,
    const TfxRamp *r, unsigned first, unsigned n)
{
  const V per_frame = v_set1 (r->per_frame),
          from = v_load_f64 (r->from + first);
  const V by = v_load_f64 (r->to + first) - from;
  V at = v_set1 ((double)(r->first + 1));

  x += first;
  past += first;
  for (size_t i = 0; i < n_frames; i++, x += n_channels, past += n_channels) {
    const V late = v_load_f64 (past);

    v_store_row_f64 (past, v_load_f64 (x), W, n);
    v_store_row_f64 (x, late * (at * per_frame * by + from), W, n);
    at += 1.0;
  }
}

INLINE void
swap_channels (double *x, double *past, size_t n_frames, unsigned n_channels,
    const TfxRamp *r)
{
  const unsigned n_full = n_channels / W * W;

  for (unsigned c = 0; c < n_full; c += W)
    swap_lanes (x, past, n_frames, n_channels, r, c, W);
  if (n_full < n_channels)
    swap_lanes (x, past, n_frames, n_channels, r, n_full, n_channels - n_full);
}

static void
swap_ramp (double *x, double *past, size_t n_frames, unsigned n_channels,
    const TfxRamp *r)
{
  if (r->n_levels == 1)
    swap_linked (x, past, n_frames * n_channels, n_channels, r);
  else if (n_channels == 2)
    swap_pairs (x, past, 2 * n_frames, r);
  else
    swap_channels (x, past, n_frames, n_channels, r);
}
