/* SPDX-License-Identifier: LGPL-2.1-or-later
 * samples.h: blocks as doubles, frame after frame, and back. */
#ifndef TFX_SAMPLES_H
#define TFX_SAMPLES_H

#include "cpu/dynamics.h"

/* Samples of a part, so that it stays in the cache; and its frames. */
#define TFX_SAMPLES_PART 1024

static inline size_t
tfx_samples_part_frames (unsigned n_channels)
{
  return n_channels < TFX_SAMPLES_PART ? TFX_SAMPLES_PART / n_channels : 1;
}

/* How many of them are not finite, at least; these become 0. */
size_t tfx_samples_load (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    double *samples);
void tfx_samples_store (const TfxDynamicsKernels *kernels,
    const double *samples, const TfxBlock *out);

/* Whether both are floats, frame after frame, and all that come in are finite. */
bool tfx_samples_are_floats (const TfxDynamicsKernels *kernels,
    const TfxBlock *in, const TfxBlock *out);

/* Runs a block in parts of at most part_frames: each is loaded into samples, taken by
 * run (data, its frames, the type of out), and what that leaves in result, which may be
 * samples, is stored.  1 if there were samples that are not finite, else 0. */
int tfx_samples_run (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    const TfxBlock *out, double *samples, const double *result,
    size_t part_frames,
    void (*run) (void *data, size_t n_frames, TfxSample type), void *data);

#endif
