/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cost.h: estimates the time of a plan on a card from counts.
 *
 * The counts are those of `ptx_counts` (docs/dev/benchmarks-gpu.md), which has a test
 * that they are still true. */
#ifndef TFX_CUDA_COST_H
#define TFX_CUDA_COST_H

#include "card.h"
#include "core/backend.h"

/* The cost of a step. */
typedef struct TfxCost
{
  /* For a sample.  Instructions of threads: all that are issued, those of the
   * arithmetic (of doubles, or of floats), and those of integers. */
  double issued, arithmetic, integer;
  double passes; /* over the banks of shared memory, a warp's for each 32nd */
  double cached; /* bytes from and to the second-level cache beyond those: */
  double bytes;  /* of device memory */
  double serial; /* instructions one after the other, whatever the block */
  TfxReal real;  /* its arithmetic */
  unsigned n_launches;
} TfxCost;

/* Of a step in blocks of n_frames of its plan's type, without its branches. */
TfxCost tfx_cost_step (const TfxCudaCard *card, const TfxStep *step,
    unsigned n_channels, size_t n_frames);

#endif
