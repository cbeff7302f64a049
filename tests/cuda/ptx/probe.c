/* SPDX-License-Identifier: LGPL-2.1-or-later
 * probe.c: a few small blocks through one kind of kernel, against the CPU; for
 * mutate.py.
 *
 *   ptx_probe cascade|fft|fir     exits with 0 if all samples are right */
#include "chains.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_BLOCKS 2
/* More than a tile of any kernel, and no more than keeps the cut of a FIR for blocks of
 * EXPECTED frames. */
#define N_FRAMES 5000
#define EXPECTED 1300
#define MAX_CHANNELS 2
#define N_SAMPLES (MAX_CHANNELS * N_BLOCKS * N_FRAMES)

static TfxStage *
make_stage (const char *kind)
{
  bool is_direct = strcmp (kind, "fir") == 0;
  /* Several pieces; several partitions, of 1024 taps: then the first pass is not of
   * radix 8. */
  size_t n_taps = is_direct ? 600 : 3000;
  double *taps = test_cuda_noise (n_taps);
  const double *kernels[] = { taps };
  TfxStage *stage;
  TfxSos sos[2];

  if (strcmp (kind, "cascade") == 0) {
    test_cuda_random (sos, 2);
    stage = tfx_stage_new_sections (tfx_stage_new_id (), sos, 2);
  } else {
    stage = tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps,
        is_direct ? TFX_FIR_DIRECT : TFX_FIR_FFT);
  }
  free (taps);
  return stage;
}

static int
run (TfxChain *chain, const TfxBackend *backend, unsigned n_channels,
    double *samples)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F64,
    .block_frames = EXPECTED };
  CudaRow *row = cuda_row_new_for (chain, &spec, backend);
  int ret = row ? 0 : -1;

  for (unsigned i = 0; ret == 0 && i < N_BLOCKS; i++)
    ret = cuda_row_f64 (row, samples + i * N_FRAMES * n_channels, n_channels,
        N_FRAMES);
  if (ret == 0 && row->n_by_cpu > 0 && backend != tfx_cpu_backend_for ("c"))
    ret = -1;
  cuda_row_free (&row);
  return ret;
}

static const char *kind;

static void
test_probe (void)
{
  static double here[N_SAMPLES], there[N_SAMPLES];
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);

  /* One channel has a warp to itself, several share a block. */
  for (unsigned n = 1; n <= MAX_CHANNELS; n++) {
    TfxChain *chain = tfx_chain_new ();
    size_t n_samples = n * N_BLOCKS * N_FRAMES, n_wrong = 0;
    double peak = 0;
    int ret;

    test_noise_f64 (here, n_samples);
    memcpy (there, here, sizeof here);
    test_cuda_append (&chain, make_stage (kind));
    ret = run (chain, tfx_cuda_backend (cuda), n, here);
    if (ret == 0)
      ret = run (chain, tfx_cpu_backend_for ("c"), n, there);
    for (size_t i = 0; i < n_samples; i++)
      peak = fmax (peak, fabs (there[i]));
    for (size_t i = 0; i < n_samples; i++)
      n_wrong += !(fabs (here[i] - there[i]) <= 1e-11 * peak);
    tfx_chain_unref (&chain);
    tap_check (ret == 0 && n_wrong == 0,
        "%s, %u channels: returns %d, %zu samples are wrong", kind, n, ret,
        n_wrong);
  }
  tfx_cuda_unref (&cuda);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = { { "kernel", test_probe }, { NULL, NULL } };

  if (argc != 2) {
    fprintf (stderr, "usage: ptx_probe cascade|fft|fir\n");
    return 2;
  }
  kind = argv[1];
  return tap_main (1, argv, tests);
}
