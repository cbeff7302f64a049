/* SPDX-License-Identifier: LGPL-2.1-or-later
 * probe.c: a few small blocks through one kind of kernel, against the CPU; for
 * mutate.py.
 *
 *   ptx_probe cascade|fft|fir     exits with 0 if all samples are right */
#include "chains.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_BLOCKS 2
/* More than a tile of any kernel, and no more than keeps the cut of a FIR for blocks of
 * EXPECTED frames. */
#define N_FRAMES 5000
#define EXPECTED 1300
#define MAX_CHANNELS 2

static TfxChain *
make_chain (const char *kind)
{
  bool is_direct = strcmp (kind, "fir") == 0;
  /* Several pieces; several partitions, of 1024 taps: then the first pass is not of
   * radix 8. */
  size_t n_taps = is_direct ? 600 : 3000;
  double *taps = test_cuda_noise (n_taps);
  const double *kernels[] = { taps };
  TfxChain *chain;
  TfxSos sos[2];

  if (strcmp (kind, "cascade") == 0) {
    test_cuda_random (sos, 2);
    chain = test_cuda_chain (tfx_stage_new_id (), sos, 2);
  } else {
    chain = test_cuda_chain_of (tfx_stage_new_fir (tfx_stage_new_id (), kernels,
        1, n_taps, is_direct ? TFX_FIR_DIRECT : TFX_FIR_FFT));
  }
  free (taps);
  return chain;
}

static const char *kind;

static void
test_probe (void)
{
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);

  /* One channel has a warp to itself, several share a block. */
  for (unsigned n = 1; n <= MAX_CHANNELS; n++) {
    const TfxFilterSpec spec = { RATE, n, TFX_SAMPLE_F64, EXPECTED };
    CudaPair p =
        cuda_pair_new_for (make_chain (kind), &spec, N_BLOCKS * N_FRAMES, cuda);

    for (unsigned i = 0; i < N_BLOCKS; i++) {
      cuda_pair_here (&p, i * N_FRAMES, N_FRAMES, 0);
      cuda_pair_there (&p, i * N_FRAMES, N_FRAMES);
    }
    tap_check (cuda_pair_agrees (&p, 1e-11),
        "%s, %u channels: returns %d, is %g off", kind, n, p.ret,
        cuda_pair_distance (&p));
    cuda_pair_free (&p);
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
