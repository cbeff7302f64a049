/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy_tmpl.c: samples times a gain, sums of samples, what is not finite, and
 * fades, in one pass; compiled for each instruction set, whose vectors are those of
 * vec.h.  OP(name) the names; without vectors V_NONE is defined. */

static inline __attribute__ ((always_inline)) void
OP (scale_type) (char *out, const char *in, size_t n, double gain,
    const bool to_f32, const bool from_f32)
{
  const size_t in_size = from_f32 ? sizeof (float) : sizeof (double);
  const size_t out_size = to_f32 ? sizeof (float) : sizeof (double);
  size_t i = 0;

#ifndef V_NONE
  const V g = v_set1 (gain);

#pragma GCC unroll 4
  for (; i + W <= n; i += W) {
    const void *x = in + i * in_size;
    void *y = out + i * out_size;
    const V a = v_mul (g, from_f32 ? v_load_f32 (x) : v_load_f64 (x));

    if (to_f32)
      v_store_f32 (y, a);
    else
      v_store_f64 (y, a);
  }
#endif
  for (; i < n; i++) {
    const void *x = in + i * in_size;
    void *y = out + i * out_size;
    const double a = gain * (from_f32 ? *(const float *)x : *(const double *)x);

    if (to_f32)
      *(float *)y = (float)a;
    else
      *(double *)y = a;
  }
}

#if !defined(V_NONE) && V_HAS_FMA
/* By a gain of two floats, which are it to 2^-47: a third of the operations that doubles
 * take.  Both have its sign and neither is 0, so that what is infinite stays so. */
static void
OP (scale_floats) (float *out, const float *in, size_t n, double gain)
{
  const float near = (float)gain;
  const float high = fabs (near) > fabs (gain) ? nextafterf (near, 0.0f) : near;
  const float low = near == gain ? high * 0x1p-60f : (float)(gain - high);
  size_t i = 0;

  if (!(fabs (gain) > 0x1p-60 && fabs (gain) < 0x1p60)) {
    OP (scale_type) ((char *)out, (const char *)in, n, gain, true, true);
    return;
  }
  for (; i + 2 * W <= n; i += 2 * W) {
    const VManyFloats x = *(const VManyFloats *)(in + i);

    *(VManyFloats *)(out + i) =
        v_fma_floats (x, high - (VManyFloats){ 0 }, x * low);
  }
  for (; i < n; i++)
    out[i] = __builtin_fmaf (in[i], high, in[i] * low);
}
#else
static void
OP (scale_floats) (float *out, const float *in, size_t n, double gain)
{
  OP (scale_type) ((char *)out, (const char *)in, n, gain, true, true);
}
#endif

static void
OP (scale) (void *out, TfxSample to, const void *in, TfxSample from, size_t n,
    double gain)
{
  if (to == TFX_SAMPLE_F32 && from == TFX_SAMPLE_F32)
    OP (scale_floats) (out, in, n, gain);
  else if (to == TFX_SAMPLE_F32)
    OP (scale_type) (out, in, n, gain, true, false);
  else if (from == TFX_SAMPLE_F32)
    OP (scale_type) (out, in, n, gain, false, true);
  else
    OP (scale_type) (out, in, n, gain, false, false);
}

static void
OP (add) (double *sum, const double *x, size_t n)
{
  size_t i = 0;

#ifndef V_NONE
#pragma GCC unroll 4
  for (; i + W <= n; i += W)
    v_store_f64 (sum + i, v_add (v_load_f64 (sum + i), v_load_f64 (x + i)));
#endif
  for (; i < n; i++)
    sum[i] += x[i];
}

static inline __attribute__ ((always_inline)) void
OP (clean_type) (double *out, const void *in, size_t n, const bool from_f32)
{
  const float *f32 = in;
  const double *f64 = in;
  size_t i = 0;

#ifndef V_NONE
#pragma GCC unroll 4
  for (; i + W <= n; i += W)
    v_store_f64 (out + i,
        v_finite (from_f32 ? v_load_f32 (f32 + i) : v_load_f64 (f64 + i)));
#endif
  for (; i < n; i++) {
    const double v = from_f32 ? f32[i] : f64[i];

    out[i] = v - v == 0.0 ? v : 0.0;
  }
}

static void
OP (clean) (double *out, const void *in, TfxSample from, size_t n)
{
  if (from == TFX_SAMPLE_F32)
    OP (clean_type) (out, in, n, true);
  else
    OP (clean_type) (out, in, n, false);
}

static inline __attribute__ ((always_inline)) void
OP (sum_rows) (void *out, const bool to_f32, const double *const *rows,
    const double *gains, const unsigned n_rows, size_t n)
{
  const double *row[TFX_SUM_MAX_ROWS];
  float *f32 = out;
  double *f64 = out;
  size_t i = 0;

#pragma GCC unroll 5
  for (unsigned k = 0; k < n_rows; k++)
    row[k] = rows[k];
#ifndef V_NONE
  {
    V g[TFX_SUM_MAX_ROWS];

#pragma GCC unroll 5
    for (unsigned k = 0; k < n_rows; k++)
      g[k] = v_set1 (gains[k]);
#pragma GCC unroll 2
    for (; i + W <= n; i += W) {
      V sum = v_mul (g[0], v_load_f64 (row[0] + i));

#pragma GCC unroll 5
      for (unsigned k = 1; k < n_rows; k++)
        sum = v_add (sum, v_mul (g[k], v_load_f64 (row[k] + i)));
      if (to_f32)
        v_store_f32 (f32 + i, sum);
      else
        v_store_f64 (f64 + i, sum);
    }
  }
#endif
  for (; i < n; i++) {
    double sum = gains[0] * row[0][i];

#pragma GCC unroll 5
    for (unsigned k = 1; k < n_rows; k++)
      sum += gains[k] * row[k][i];
    if (to_f32)
      f32[i] = (float)sum;
    else
      f64[i] = sum;
  }
}

static void
OP (sum) (void *out, TfxSample to, const double *const *rows,
    const double *gains, unsigned n_rows, size_t n)
{
  const bool to_f32 = to == TFX_SAMPLE_F32;

  switch (n_rows) {
    case 1:
      OP (sum_rows) (out, to_f32, rows, gains, 1, n);
      break;
    case 2:
      OP (sum_rows) (out, to_f32, rows, gains, 2, n);
      break;
    case 3:
      OP (sum_rows) (out, to_f32, rows, gains, 3, n);
      break;
    case 4:
      OP (sum_rows) (out, to_f32, rows, gains, 4, n);
      break;
    default:
      OP (sum_rows) (out, to_f32, rows, gains, 5, n);
      break;
  }
}

/* Frames whose weights are made at a time: a multiple of W. */
#define FADE_FRAMES 32

/* As tfx_weight_at() has them. */
static inline void
OP (make_weights) (double *w, TfxWeight weight, size_t done, size_t length)
{
#ifdef V_NONE
  for (size_t i = 0; i < FADE_FRAMES; i++)
    w[i] = tfx_weight_at (weight, done + i + 1, length);
#else
  const V one = v_set1 (1.0), end = v_set1 ((double)length);
  V at = v_set1 ((double)(done + 1)) + (V){ V_LANES };

  for (size_t i = 0; i < FADE_FRAMES; i += W, at += v_set1 (W)) {
    V t = v_select (v_mask (at < end), at / end, one);

    if (weight == TFX_WEIGHT_SMOOTH)
      t = t * t * t * (10.0 + t * (6.0 * t - 15.0));
    v_store_f64 (w + i, t);
  }
#endif
}

static void
OP (fade) (double *x, const double *y, size_t n_frames, unsigned n_channels,
    TfxWeight weight, size_t done, size_t length)
{
  double w[FADE_FRAMES];

  for (size_t i = 0, n; i < n_frames; i += n) {
    n = n_frames - i < FADE_FRAMES ? n_frames - i : FADE_FRAMES;
    OP (make_weights) (w, weight, done + i, length);
    if (n_channels == 1) {
#pragma GCC ivdep
      for (size_t k = 0; k < n; k++)
        x[k] += w[k] * (y[k] - x[k]);
    } else if (n_channels == 2) {
#pragma GCC ivdep
      for (size_t k = 0; k < n; k++) {
        x[2 * k] += w[k] * (y[2 * k] - x[2 * k]);
        x[2 * k + 1] += w[k] * (y[2 * k + 1] - x[2 * k + 1]);
      }
    } else {
      for (size_t k = 0; k < n; k++) {
#pragma GCC ivdep
        for (size_t c = k * n_channels; c < (k + 1) * n_channels; c++)
          x[c] += w[k] * (y[c] - x[c]);
      }
    }
    x += n * n_channels;
    y += n * n_channels;
  }
}

static inline __attribute__ ((always_inline)) void
OP (ramp_type) (char *out, const char *in, size_t n_frames, unsigned n_channels,
    const double *gains, const bool to_f32, const bool from_f32)
{
  const size_t in_size = from_f32 ? sizeof (float) : sizeof (double);
  const size_t out_size = to_f32 ? sizeof (float) : sizeof (double);
  size_t i = 0;

#ifndef V_NONE
  /* A vector has several frames. */
  if (W % n_channels == 0 && W > n_channels) {
    const VBits first = { V_LANES };
    const VBits lanes = first / (int64_t)n_channels;
    const size_t n_vector = W / n_channels;

    for (; i + n_vector <= n_frames; i += n_vector) {
      const void *x = in + i * n_channels * in_size;
      void *y = out + i * n_channels * out_size;
      const V a = v_mul (tfx_shuffle (v_load_f64 (gains + i), lanes),
          from_f32 ? v_load_f32 (x) : v_load_f64 (x));

      if (to_f32)
        v_store_f32 (y, a);
      else
        v_store_f64 (y, a);
    }
  }
#endif
  for (; i < n_frames; i++)
    OP (scale_type)
  (out + i * n_channels * out_size, in + i * n_channels * in_size, n_channels,
      gains[i], to_f32, from_f32);
}

static void
OP (ramp) (void *out, TfxSample to, const void *in, TfxSample from,
    size_t n_frames, unsigned n_channels, const double *gains)
{
  const bool to_f32 = to == TFX_SAMPLE_F32;

  if (from == TFX_SAMPLE_F32)
    OP (ramp_type) (out, in, n_frames, n_channels, gains, to_f32, true);
  else
    OP (ramp_type) (out, in, n_frames, n_channels, gains, to_f32, false);
}
