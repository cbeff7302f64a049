/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-layout.h: the form in which a FIR filter costs least. */
#ifndef TFX_CONVOLVER_LAYOUT_H
#define TFX_CONVOLVER_LAYOUT_H

#include "convolver-ops.h"
#include "convolver.h"

typedef enum
{
  TFX_CONVOLVER_DIRECT,
  TFX_CONVOLVER_BLOCK,
  TFX_CONVOLVER_PARTITIONED
} TfxConvolverForm;

#define TFX_CONVOLVER_MAX_LEVELS 6
/* Frames that are worked on at a time; longer blocks are cut. */
#define TFX_CONVOLVER_MAX_SEGMENT ((size_t)16384)
#define TFX_CONVOLVER_MAX_LEVEL_BITS 17 /* partitions up to 2^17 taps */

/* block: a transform of `size`, which gives 2 size - n_taps + 1 frames.
 * partitioned: n_parts partitions of size taps from tap `first` on. */
typedef struct TfxConvolverLevel
{
  size_t size, n_parts, first;
  double cost; /* block: ns for the transform, one channel */
} TfxConvolverLevel;

/* block: the levels are sizes to choose from for each call, the largest first.
 * partitioned: level 0 is the head, first = 0, whose blocks are transformed
 * as they come.  first = 2 size for every other level: its blocks have as long
 * as they are to be worked on. */
typedef struct TfxConvolverLayout
{
  TfxConvolverForm form;
  size_t n_levels;
  TfxConvolverLevel levels[TFX_CONVOLVER_MAX_LEVELS];
  double cost; /* ns for a frame of one channel */
} TfxConvolverLayout;

/* Looks at one of the layouts, and returns the cost from which on others are of
 * no interest any more. */
typedef double (
    *TfxConvolverLayoutVisit) (void *data, const TfxConvolverLayout *layout);

/* All layouts for a spec, its taps aside. */
void tfx_convolver_layout_visit (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayoutVisit function,
    void *data);

/* The one that costs least. */
void tfx_convolver_layout_choose (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayout *layout);

/* ns for a frame that is transformed with a window of `size` frames more. */
double
tfx_convolver_layout_forward_cost (const TfxConvolverCost *cost, size_t size);

/* ns for a call of n_frames by the direct form. */
double tfx_convolver_layout_direct_cost (const TfxConvolverCost *cost,
    size_t n_taps, size_t n_frames);

/* ns for a leaf of a transform of `size`, one way. */
double
tfx_convolver_layout_leaf_cost (const TfxConvolverCost *cost, size_t size);

/* ns for a transform of `size` there, and back after one product. */
double
tfx_convolver_layout_step_cost (const TfxConvolverCost *cost, size_t size);

/* block: ns for n frames of one channel by what costs least, n_taps computed;
 * which level is the first then (n_levels: direct) and how many frames it gives. */
double tfx_convolver_layout_plan (const TfxConvolverLayout *layout,
    const TfxConvolverCost *cost, size_t n_taps, bool is_fft_asked, size_t n,
    size_t *level, size_t *n_done);

bool tfx_convolver_layout_is_equal (const TfxConvolverLayout *a,
    const TfxConvolverLayout *b);

#endif
