/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft-cut.c: see fft-cut.h. */
#include "fft-cut.h"

#include <math.h>

#include "kernels/args.h"

/* Transforms up to this are for blocks of any length. */
#define MIN_LONG_LOG2 9

/* Floats of a sector of global memory, which one access fetches. */
#define SECTOR 8

/* In multiply-adds of the direct form, for a number and a pass of radix 2, both ways,
 * with its share of the other costs of a tile; and for a number and a partition.  In double
 * as an H200 takes, where both forms of 100 taps are as fast in long blocks (without
 * units for products of matrices transforms would win earlier); in pairs of
 * floats as counted on PTX (`ptx_counts fir fft`): a pass takes 104 instructions, where a
 * multiply-add takes 13.6. */
static const struct
{
  double pass, product;
} costs[] = {
  [TFX_REAL_DOUBLE] = { 20.0, 40.0 },
  [TFX_REAL_TWOFOLD] = { 7.6, 9.2 },
};

size_t
tfx_cuda_fft_partitions (size_t n_taps, unsigned log2)
{
  return (n_taps + ((size_t)1 << log2) - 1) >> log2;
}

/* Without spectra that are kept between tiles: all frames whose past is in the
 * transform, rounded down to whole sectors of memory. */
unsigned
tfx_cuda_fft_out (size_t n_taps, unsigned log2)
{
  const size_t size = (size_t)1 << log2;

  return tfx_cuda_fft_partitions (n_taps, log2) > 1
             ? (unsigned)size
             : (unsigned)((2 * size - n_taps + 1) / SECTOR * SECTOR);
}

double
tfx_cuda_fft_work (size_t n_taps, size_t n_frames, unsigned log2,
    double *n_partitions)
{
  const double n_out = tfx_cuda_fft_out (n_taps, log2);
  double n_tiles;

  *n_partitions = (double)tfx_cuda_fft_partitions (n_taps, log2);
  /* Blocks begin anywhere in a tile, or a tile begins with them. */
  n_tiles = *n_partitions > 1.0 ? 1.0 + ((double)n_frames - 1.0) / n_out
                                : ceil ((double)n_frames / n_out);
  return n_tiles * ldexp (1.0, (int)log2) / (double)n_frames;
}

double
tfx_cuda_fft_cost (TfxReal real, size_t n_taps, size_t n_frames, unsigned log2)
{
  double n_partitions;
  double work = tfx_cuda_fft_work (n_taps, n_frames, log2, &n_partitions);

  return work *
         (costs[real].pass * log2 + costs[real].product * (n_partitions - 1.0));
}

/* Of a tile that is longer than the block most is made again with the next one. */
static bool
is_short_enough (unsigned log2, size_t n_frames)
{
  return log2 <= MIN_LONG_LOG2 || (size_t)1 << log2 <= n_frames;
}

unsigned
tfx_cuda_fft_choose (TfxReal real, size_t n_taps, size_t n_frames,
    size_t shared)
{
  unsigned best = TFX_FFT_MIN_LOG2;

  for (unsigned log2 = best + 1; log2 <= TFX_FFT_MAX_LOG2; log2++) {
    if (TFX_FFT_SHARED (log2) <= shared && is_short_enough (log2, n_frames) &&
        tfx_cuda_fft_cost (real, n_taps, n_frames, log2) <
            tfx_cuda_fft_cost (real, n_taps, n_frames, best))
      best = log2;
  }
  return best;
}

TfxFirMethod
tfx_cuda_fft_method (TfxFirMethod asked, TfxReal real, size_t n_taps,
    size_t n_frames, unsigned log2)
{
  if (asked != TFX_FIR_AUTO)
    return asked;
  return tfx_cuda_fft_cost (real, n_taps, n_frames, log2) < (double)n_taps
             ? TFX_FIR_FFT
             : TFX_FIR_DIRECT;
}
