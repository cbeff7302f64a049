/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fircase.c: see fircase.h.
 */
#include "fircase.h"
#include "common.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the case ------------------------------------------------------------ */

static void
fill_noise (double *values, size_t n)
{
  float *noise = test_alloc (n * sizeof *noise);

  test_noise_f32 (noise, n);
  for (size_t i = 0; i < n; i++)
    values[i] = noise[i];
  free (noise);
}

static void
fill_taps (FirKind kind, double *taps, size_t n)
{
  const TfxFirDesign design = { TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 0.0, n,
    2000.0, 0.0 };

  if (kind == FIR_LOW_PASS) {
    if (tfx_fir_design (&design, 48000.0, taps)) {
      printf ("Bail out! no low-pass of %zu taps\n", n);
      exit (1);
    }
  } else {
    fill_noise (taps, n);
  }
  for (size_t i = 0; i < n; i++) {
    if (kind == FIR_DECAY)
      taps[i] *= pow (10.0, -3.0 * (double)i / (double)n);
    taps[i] = (float)taps[i];
  }
}

static int
compare_points (const void *a, const void *b)
{
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return x < y ? -1 : x > y;
}

static void
choose_points (FirCase *c)
{
  for (size_t i = 0; i < c->n_points; i++)
    c->points[i] = i < 8 && i < c->n_frames
                       ? c->n_frames - 1 - i
                       : (size_t)tap_random_uniform (0.0, (double)c->n_frames);
  qsort (c->points, c->n_points, sizeof *c->points, compare_points);
}

/* y[n] = sum_k taps[k] x[n - k].  Products of two floats are exact in double;
 * the sum is in long double. */
static long double
exact_output (const double *taps, size_t n_taps, const double *x, size_t n)
{
  const size_t last = n + 1 < n_taps ? n + 1 : n_taps;
  long double sum = 0.0L;

  for (size_t k = 0; k < last; k++)
    sum += taps[k] * x[n - k];
  return sum;
}

/* The kernel from an input to an output, or -1. */
static int
find_kernel (const FirCase *c, unsigned out, unsigned in)
{
  if (c->matrix)
    return c->matrix[out * c->n_channels + in];
  return out != in ? -1 : c->n_kernels == 1 ? 0 : (int)out;
}

FirCase *
fir_case_new (FirKind kind, size_t n_taps, unsigned n_kernels,
    unsigned n_channels, size_t n_frames, size_t n_points)
{
  return fir_case_new_matrix (kind, n_taps, n_kernels, n_channels, NULL,
      n_frames, n_points);
}

FirCase *
fir_case_new_matrix (FirKind kind, size_t n_taps, unsigned n_kernels,
    unsigned n_channels, const int *matrix, size_t n_frames, size_t n_points)
{
  FirCase *c = test_alloc (sizeof *c);

  c->n_taps = n_taps;
  c->n_frames = n_frames;
  c->n_channels = n_channels;
  c->n_kernels = n_kernels;
  c->matrix = matrix;
  c->n_points = n_points < n_frames ? n_points : n_frames;
  c->taps = test_alloc (n_kernels * n_taps * sizeof *c->taps);
  c->signal = test_alloc (n_channels * n_frames * sizeof *c->signal);
  c->points = test_alloc (c->n_points * sizeof *c->points);
  c->values = test_alloc (n_channels * c->n_points * sizeof *c->values);
  for (unsigned k = 0; k < n_kernels; k++)
    fill_taps (kind, c->taps + k * n_taps, n_taps);
  fill_noise (c->signal, n_channels * n_frames);
  choose_points (c);
  for (size_t i = 0; i < n_channels * c->n_points; i++)
    c->values[i] = 0.0L;
  for (unsigned pair = 0; pair < n_channels * n_channels; pair++) {
    const unsigned out = pair / n_channels, in = pair % n_channels;
    const int kernel = find_kernel (c, out, in);

    for (size_t i = 0; i < c->n_points && kernel >= 0; i++)
      c->values[out * c->n_points + i] +=
          exact_output (c->taps + (size_t)kernel * n_taps, n_taps,
              c->signal + in * n_frames, c->points[i]);
  }
  return c;
}

void
fir_case_free (FirCase **c)
{
  free ((*c)->taps);
  free ((*c)->signal);
  free ((*c)->points);
  free ((*c)->values);
  free (*c);
  *c = NULL;
}

/* ---- convolvers ---------------------------------------------------------- */

size_t
fir_kernels (const char **names)
{
  size_t n = 0;

  for (size_t i = 0; i < TEST_N_KERNELS; i++) {
    if (tfx_cpu_backend_for (test_kernels[i]))
      names[n++] = test_kernels[i];
  }
  return n;
}

TfxConvolverSpec
fir_case_spec (const FirCase *c, TfxSample precision, TfxFirMethod method,
    size_t block_frames)
{
  const char *names[TEST_N_KERNELS];
  const size_t n = fir_kernels (names);

  return (TfxConvolverSpec){
    .taps = c->taps,
    .n_taps = c->n_taps,
    .n_kernels = c->n_kernels,
    .n_channels = c->n_channels,
    .matrix = c->matrix,
    .precision = precision,
    .method = method,
    .block_frames = block_frames,
    .kernel = names[n - 1],
  };
}

TfxConvolverTaps *
fir_taps_new (const TfxConvolverSpec *spec)
{
  TfxConvolverTaps *taps;
  const int result = tfx_convolver_taps_new (spec, &taps);

  if (result) {
    printf ("Bail out! tfx_convolver_taps_new: %s\n", strerror (-result));
    exit (1);
  }
  return taps;
}

TfxConvolver *
fir_convolver_of (TfxConvolverTaps *taps)
{
  TfxConvolver *convolver;
  const int result = tfx_convolver_new (taps, &convolver);

  if (result) {
    printf ("Bail out! tfx_convolver_new: %s\n", strerror (-result));
    exit (1);
  }
  return convolver;
}

TfxConvolver *
fir_convolver_new (const TfxConvolverSpec *spec)
{
  TfxConvolverTaps *taps = fir_taps_new (spec);
  TfxConvolver *convolver = fir_convolver_of (taps);

  tfx_convolver_taps_unref (&taps);
  return convolver;
}

/* ---- running ------------------------------------------------------------- */

size_t fir_split_frames;

size_t
fir_split_one (size_t n_left)
{
  return n_left % 16384 > 4096 ? n_left % 16384 - 4096 : 1;
}

size_t
fir_split_all (size_t n_left)
{
  return n_left;
}

size_t
fir_split_random (size_t n_left)
{
  const size_t n = (size_t)exp (tap_random_uniform (0.0, log (4000.0)));
  return n < n_left ? n : n_left;
}

size_t
fir_split_fixed (size_t n_left)
{
  return fir_split_frames < n_left ? fir_split_frames : n_left;
}

static double
get_sample (const TfxBlock *b, size_t frame, unsigned channel)
{
  const ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  return b->type == TFX_SAMPLE_F32 ? (double)((float *)b->data)[at]
                                   : ((double *)b->data)[at];
}

static void
set_sample (const TfxBlock *b, size_t frame, unsigned channel, double value)
{
  const ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  if (b->type == TFX_SAMPLE_F32)
    ((float *)b->data)[at] = (float)value;
  else
    ((double *)b->data)[at] = value;
}

void
fir_case_run (const FirCase *c, TfxConvolver *convolver, TfxSample type,
    FirSplit split, size_t first, size_t n, double *out)
{
  double *data = test_alloc (n * c->n_channels * sizeof *data);
  TfxBlock all = tfx_block_interleaved (data, type, c->n_channels, n);

  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < c->n_channels; k++)
      set_sample (&all, i, k, c->signal[k * c->n_frames + first + i]);
  }
  for (size_t i = 0, n_piece; i < n; i += n_piece) {
    TfxBlock piece = all;
    const size_t at = i * c->n_channels;

    n_piece = split (n - i);
    piece.n_frames = n_piece;
    piece.data = type == TFX_SAMPLE_F32 ? (void *)((float *)all.data + at)
                                        : (void *)((double *)all.data + at);
    tfx_convolver_run (convolver, &piece, &piece);
  }
  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < c->n_channels; k++)
      out[k * c->n_frames + first + i] = get_sample (&all, i, k);
  }
  free (data);
}

double
fir_case_error_db (const FirCase *c, const double *out, size_t from)
{
  long double error = 0.0L, power = 0.0L;

  for (unsigned k = 0; k < c->n_channels; k++) {
    for (size_t i = 0; i < c->n_points; i++) {
      const long double exact = c->values[k * c->n_points + i];
      const long double e = out[k * c->n_frames + c->points[i]] - exact;
      if (c->points[i] < from)
        continue;
      error += e * e;
      power += exact * exact;
    }
  }
  /* A NaN must not pass for a small error. */
  if (isnan ((double)error) || power == 0.0L)
    return INFINITY;
  return error > 0.0L ? 10.0 * log10 ((double)(error / power)) : -999.0;
}

double
fir_bound_db (TfxFirMethod method, TfxSample type)
{
  if (type == TFX_SAMPLE_F64)
    return -240.0;
  return method == TFX_FIR_DIRECT ? -148.0 : -128.0;
}
