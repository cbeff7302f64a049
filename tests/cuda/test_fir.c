/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir.c: FIRs of the backend "cuda" against exact sums. */
#include "chains.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

/* ---- FIR ---------------------------------------------------------------------------- */

/* y[n] = sum of kernel[k] x[n - k], exactly enough. */
static void
convolve (const double *kernel, size_t n_taps, const double *in, double *out,
    unsigned n_channels, unsigned channel, size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++) {
    long double sum = 0;
    for (size_t k = 0; k < n_taps && k <= i; k++)
      sum += (long double)kernel[k] * in[(i - k) * n_channels + channel];
    out[i * n_channels + channel] = (double)sum;
  }
}

static void
check_fir (TapMany *many, size_t n_taps, bool per_channel, TfxSample type,
    unsigned piece)
{
  const unsigned n_channels = 3;
  const size_t n_frames = piece == 1 ? 100 : 2500;
  double *kernels[3], *in = test_cuda_noise (n_frames * n_channels);
  double *expected = test_alloc (n_frames * n_channels * sizeof *expected);
  double *out = test_alloc (n_frames * n_channels * sizeof *out);
  float *floats = test_alloc (n_frames * n_channels * sizeof *floats);
  TfxChain *chain = tfx_chain_new ();
  CudaRow *row;
  size_t done = 0;
  int ret = 0;
  double error = NAN;

  for (unsigned c = 0; c < n_channels; c++)
    kernels[c] = test_cuda_noise (n_taps);
  for (size_t i = 0; i < n_frames * n_channels; i++)
    in[i] = floats[i] = (float)in[i];
  for (unsigned c = 0; c < n_channels; c++)
    convolve (kernels[per_channel ? c : 0], n_taps, in, expected, n_channels, c,
        n_frames);
  test_cuda_append (&chain,
      tfx_stage_new_fir (tfx_stage_new_id (), (const double *const *)kernels,
          per_channel ? n_channels : 1, n_taps, TFX_FIR_DIRECT));
  row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
  memcpy (out, in, n_frames * n_channels * sizeof *out);
  while (row && ret == 0 && done < n_frames) {
    size_t n = n_frames - done < piece ? n_frames - done : piece;
    ret = type == TFX_SAMPLE_F32
              ? cuda_row_f32 (row, floats + done * n_channels, n_channels, n)
              : cuda_row_f64 (row, out + done * n_channels, n_channels, n);
    done += n;
  }
  for (size_t i = 0; type == TFX_SAMPLE_F32 && i < n_frames * n_channels; i++)
    out[i] = floats[i];
  if (row && ret == 0)
    error = test_cuda_distance (out, expected, n_frames * n_channels);
  /* Half a unit of the largest float, or -240 dB. */
  tap_many_check (many, error < (type == TFX_SAMPLE_F32 ? 6e-8 : 1e-12),
      "%zu taps, %s, type %d, blocks of %u: %g", n_taps,
      per_channel ? "each channel its own" : "one kernel", (int)type, piece,
      error);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  for (unsigned c = 0; c < n_channels; c++)
    free (kernels[c]);
  free (in);
  free (expected);
  free (out);
  free (floats);
}

static void
test_firs (void)
{
  static const size_t taps[] = { 1, 2, 3, 8, 21, 101, 128, 129, 511, 1500 };
  static const unsigned pieces[] = { 1, 37, 1024, 2500 };
  static const char *const devices[] = { TEST_CUDA_DOUBLE, TEST_CUDA_TWOFOLD };
  TapMany many = tap_many ("FIRs against exact sums");

  for (size_t d = 0; d < N_OF (devices); d++) {
    TfxCuda *first = cuda;

    cuda = test_cuda_new (devices[d]);
    for (size_t i = 0; i < N_OF (taps) * N_OF (pieces);
         i += part_is_wanted () ? 9 : 1)
      check_fir (&many, taps[i / 4], i % 3 == 0,
          d == 0 && i % 2 ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32, pieces[i % 4]);
    tfx_cuda_unref (&cuda);
    cuda = first;
  }
  tap_many_end (&many);
}

/* A FIR before a cascade, followed by silence: the output has the whole
 * convolution, including the block where the silence begins. */
static void
test_tail (void)
{
  const size_t n_taps = 65, n_frames = 1000, total = 1064;
  double *kernel = test_cuda_noise (n_taps), *in = test_cuda_noise (total);
  double expected[1064], out[1064];
  const double *const kernels[] = { kernel };
  TfxChain *chain = tfx_chain_new ();
  TfxSos sos[2];
  CudaRow *row;
  int ret;

  test_cuda_equaliser (sos, 2);
  for (size_t i = n_frames; i < total; i++)
    in[i] = 0;
  convolve (kernel, n_taps, in, expected, 1, 0, total);
  test_run_f64 (sos, 2, expected, expected, total, NULL);

  test_cuda_append (&chain, tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1,
                                n_taps, TFX_FIR_DIRECT));
  test_cuda_append (&chain,
      tfx_stage_new_sections (tfx_stage_new_id (), sos, 2));
  row = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));
  memcpy (out, in, sizeof out);
  ret = cuda_row_f64 (row, out, 1, 10);
  for (size_t done = 10; ret == 0 && done < total; done += 34)
    ret = cuda_row_f64 (row, out + done, 1, 34);
  tap_check (ret == 0 && test_cuda_distance (out, expected, total) < 1e-12,
      "a FIR and a cascade, to the end: %g",
      test_cuda_distance (out, expected, total));
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (kernel);
  free (in);
}

/* A FIR, alone or added to its input. */
static TfxChain *
fir_chain (uint64_t id, uint64_t sum_id, const double *taps, size_t n_taps,
    TfxFirMethod method, bool in_sum)
{
  const double *const kernels[] = { taps };
  TfxChain *chain = tfx_chain_new (), *sum = tfx_chain_new ();
  TfxChain *const branches[] = { sum, chain };

  test_cuda_append (&chain, tfx_stage_new_fir (id, kernels, 1, n_taps, method));
  if (in_sum) {
    TfxChain *both[] = { branches[0], chain };
    TfxStage *stage = tfx_stage_new_sum (sum_id, both, 2);

    tfx_chain_unref (&chain);
    chain = tfx_chain_new ();
    test_cuda_append (&chain, stage);
  }
  tfx_chain_unref (&sum);
  return chain;
}

/* New taps while it runs: from one filter to the other without a jump. */
static void
check_fir_change (TfxFirMethod method, TfxSample type, bool in_sum)
{
  const size_t fade = (size_t)(RATE / 100), n = 256;
  const double a[] = { 1, 0.5 }, b[] = { -1, 0.25 };
  uint64_t id = tfx_stage_new_id (), sum_id = tfx_stage_new_id ();
  TfxChain *ca = fir_chain (id, sum_id, a, 2, method, in_sum);
  TfxChain *cb = fir_chain (id, sum_id, b, 2, method, in_sum);
  CudaRow *row = cuda_row_new (ca, 1, tfx_cuda_backend (cuda));
  double *x = test_cuda_noise (n * 8), *y = test_alloc (n * 8 * sizeof *y);
  double worst = 0;
  int ret = row ? 0 : -1;

  memcpy (y, x, n * 8 * sizeof *y);
  /* The filter is for doubles; the blocks may have floats. */
  for (size_t i = 0; ret == 0 && i < 8; i++) {
    float floats[256];

    if (i == 2)
      ret = cuda_row_set_chain (row, cb);
    for (size_t k = 0; k < n; k++)
      floats[k] = (float)y[i * n + k];
    if (ret == 0)
      ret = type == TFX_SAMPLE_F32 ? cuda_row_f32 (row, floats, 1, n)
                                   : cuda_row_f64 (row, y + i * n, 1, n);
    for (size_t k = 0; type == TFX_SAMPLE_F32 && k < n; k++)
      y[i * n + k] = floats[k];
  }
  for (size_t i = 1; i < n * 8; i++) {
    double old = a[0] * x[i] + a[1] * x[i - 1];
    double new = b[0] * x[i] + b[1] * x[i - 1];
    double t = i < 2 * n ? 0 : (double)(i + 1 - 2 * n) / (double)fade;
    double w = t < 1 ? 1 - t * t * t * (10 + t * (6 * t - 15)) : 0;
    double want = (in_sum ? x[i] : 0) + (w > 0 ? new + w *(old - new) : new);
    worst = fmax (worst, fabs (y[i] - want));
  }
  tap_check (ret == 0 && worst < (type == TFX_SAMPLE_F32 ? 1e-6 : 1e-12),
      "new taps come in a cross-fade, %s, type %d%s: %g",
      method == TFX_FIR_FFT ? "by transforms" : "directly", (int)type,
      in_sum ? ", in a sum" : "", worst);
  cuda_row_free (&row);
  tfx_chain_unref (&ca);
  tfx_chain_unref (&cb);
  free (x);
  free (y);
}

static void
test_fir_change (void)
{
  for (unsigned i = 0; i < 8; i++)
    check_fir_change (i & 1 ? TFX_FIR_FFT : TFX_FIR_DIRECT,
        i & 2 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64, i & 4);
}

static const TapTest tests[] = {
  { "firs", test_firs },
  { "tail", test_tail },
  { "fir-change", test_fir_change },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, tests, TEST_CUDA_DOUBLE, &cuda);
}
