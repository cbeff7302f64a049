/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-channels_tmpl.c: kernels of gains for all channels and of mixes, one build for each
 * instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

/* ---- samples -------------------------------------------------------------------- */

INLINE V
load_samples (const void *x, size_t i, const bool is_f32)
{
  return is_f32 ? v_load_f32 ((const float *)x + i)
                : v_load_f64 ((const double *)x + i);
}

INLINE void
store_samples (void *y, size_t i, V v, const bool is_f32)
{
  if (is_f32)
    v_store_f32 ((float *)y + i, v);
  else
    v_store_f64 ((double *)y + i, v);
}

INLINE double
get_sample (const void *x, size_t i, const bool is_f32)
{
  return is_f32 ? ((const float *)x)[i] : ((const double *)x)[i];
}

INLINE void
set_sample (void *y, size_t i, double v, const bool is_f32)
{
  if (is_f32)
    ((float *)y)[i] = (float)v;
  else
    ((double *)y)[i] = v;
}

static bool
are_finite (const float *x, size_t n)
{
  const VFloats none = { 0 };
  VFloats sum = none, other = none;
  size_t i = 0;
  float rest = 0.0f;

  for (; i + 2 * W <= n; i += 2 * W) {
    sum += *(const VFloats *)(x + i) * none;
    other += *(const VFloats *)(x + i + W) * none;
  }
  for (; i < n; i++)
    rest += x[i] * 0.0f;
  return rest == 0.0f && !is_bad (v_widen (sum + other));
}

/* ---- gains -------------------------------------------------------------------- */

/* Of two channels: the gains of W / 2 frames, each twice. */
INLINE V
load_twice (const double *gains)
{
  V v = { 0 };

  for (unsigned k = 0; k < W; k++)
    v[k] = gains[k / 2];
  return v;
}

static void
multiply (double *x, const double *gains, size_t n_frames, unsigned width)
{
  const unsigned rest = width % W;
  size_t i = 0;

  for (; width == 2 && i + W <= 2 * n_frames; i += W)
    v_store_f64 (x + i, v_load_f64 (x + i) * load_twice (gains + i / 2));
  for (size_t f = i / width; f < n_frames; f++) {
    for (i = f * width; i + W <= (f + 1) * width; i += W)
      v_store_f64 (x + i, v_load_f64 (x + i) * v_set1 (gains[f]));
    if (rest > 0)
      v_store_row_f64 (x + i, v_load_f64 (x + i) * v_set1 (gains[f]), W, rest);
  }
}

/* The largest magnitude of two channels: W frames. */
INLINE V
link_pairs (const double *x)
{
  const VBits even = 2 * (VBits){ V_LANES };
  const V a = v_abs (v_load_f64 (x)), b = v_abs (v_load_f64 (x + W));

  return v_max (tfx_shuffle2 (a, b, even), tfx_shuffle2 (a, b, even + 1));
}

/* The largest of all lanes. */
INLINE double
largest (V v)
{
  const VBits lanes = { V_LANES };

  if (W > 4)
    v = v_max (v, tfx_shuffle (v, lanes ^ 4));
  if (W > 2)
    v = v_max (v, tfx_shuffle (v, lanes ^ 2));
  return v_max (v, tfx_shuffle (v, lanes ^ 1))[0];
}

static void
link (const double *x, double *most, size_t n_frames, unsigned n_channels)
{
  const V none = v_set1 (0.0);
  const VMask rest = v_lanes (0, n_channels % W);
  size_t i = 0;

  for (; n_channels == 2 && i + W <= n_frames; i += W)
    v_store_f64 (most + i, link_pairs (x + 2 * i));
  for (; i < n_frames; i++) {
    const double *row = x + i * n_channels, *end = row + n_channels;
    V all = none;

    for (; row + W <= end; row += W)
      all = v_max (all, v_abs (v_load_f64 (row)));
    if (row < end)
      all = v_max (all, v_select (rest, v_abs (v_load_f64 (row)), none));
    most[i] = largest (all);
  }
}

static void
clip (double *x, size_t n, double gain)
{
  const V g = v_set1 (gain), one = v_set1 (1.0), low = v_set1 (-1.0);
  size_t i = 0;

  for (; i + W <= n; i += W)
    v_store_f64 (x + i, v_min (v_max (g * v_load_f64 (x + i), low), one));
  for (; i < n; i++) {
    const double y = gain * x[i], above = y < -1.0 ? -1.0 : y;

    x[i] = above > 1.0 ? 1.0 : above;
  }
}

/* ---- mixes -------------------------------------------------------------------- */

/* Two channels: the same channel's part, and the other one's. */
INLINE void
mix_pairs (const void *x, void *y, size_t n, const double *columns,
    size_t stride, const bool is_f32)
{
  const VBits lanes = { V_LANES };
  const V left = v_set1 (columns[0]), right = v_set1 (columns[stride + 1]);
  const V to_left = v_set1 (columns[stride]), to_right = v_set1 (columns[1]);
  const VBits turns = lanes + (lanes & 1) * W;
  const V own = tfx_shuffle2 (left, right, turns);
  const V other = tfx_shuffle2 (to_left, to_right, turns);
  size_t i = 0;

  for (; i + W <= n; i += W) {
    const V v = load_samples (x, i, is_f32);

    store_samples (y, i, own * v + other * tfx_shuffle (v, lanes ^ 1), is_f32);
  }
  for (; i < n; i += 2) {
    const double a = get_sample (x, i, is_f32);
    const double b = get_sample (x, i + 1, is_f32);

    set_sample (y, i, columns[0] * a + columns[stride] * b, is_f32);
    set_sample (y, i + 1, columns[stride + 1] * b + columns[1] * a, is_f32);
  }
}

static void
mix_floats (const float *x, float *y, size_t n_frames, const double *columns)
{
  mix_pairs (x, y, 2 * n_frames, columns, tfx_dynamics_stride (2), true);
}

/* Channels that come out in the lanes. */
static void
mix (const double *x, double *y, size_t n_frames, unsigned n_channels,
    unsigned n_heard, const double *columns)
{
  const size_t stride = tfx_dynamics_stride (n_channels);

  if (n_channels == 2) {
    mix_pairs (x, y, 2 * n_frames, columns, stride, false);
    return;
  }
  for (size_t i = 0; i < n_frames; i++, x += n_channels, y += n_channels) {
    for (unsigned c = 0; c < n_channels; c += W) {
      const double *column = columns + c;
      V even = v_set1 (0.0), odd = even;
      unsigned k = 0;

      for (; k + 2 <= n_heard; k += 2, column += 2 * stride) {
        even = v_fma (v_set1 (x[k]), v_load_f64 (column), even);
        odd = v_fma (v_set1 (x[k + 1]), v_load_f64 (column + stride), odd);
      }
      if (k < n_heard)
        even = v_fma (v_set1 (x[k]), v_load_f64 (column), even);
      v_store_f64 (y + c, even + odd);
    }
  }
}
