/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.h: kinds of stage that a device runs with all of their state, each by one
 * kernel, or a FIR by one of several.  A kind is one file, which has its table;
 * nothing else asks of what kind a unit is. */
#ifndef TFX_CUDA_UNIT_H
#define TFX_CUDA_UNIT_H

#include "cost.h"
#include "kernels/args.h"
#include "core/kind.h"
#include "module.h"
#include "pair.h"
#include "past.h"

/* A block for a unit, or a cascade: out = gain (unit (in)) + sum, in device memory.
 * sum.data may be 0. */
typedef struct TfxUnitRun
{
  TfxKernelBlock in, out, sum;
  size_t n_frames;
  bool is_double;      /* the stream */
  CUdeviceptr cleared; /* bytes [n_channels] that the device can write */
} TfxUnitRun;

typedef struct TfxCudaUnitKind TfxCudaUnitKind;

/* What each unit begins with. */
typedef struct TfxCudaUnit
{
  const TfxCudaUnitKind *kind;
  TfxCudaQueue *queue;
  unsigned n_channels;
  const TfxStage *stage; /* with its values, */
  double gain;           /* and behind it */
  bool is_changed;       /* one of these; who has taken them clears it */
  /* What it remembers, by their lengths, which make sets: the last inputs, and
   * numbers. */
  TfxCudaPast past;
  TfxCudaPair numbers;
} TfxCudaUnit;

/* The context is current in all calls.  0 or a negative errno. */
struct TfxCudaUnitKind
{
  const TfxKind *kind;
  size_t size; /* of a unit, in bytes */

  /* Whether there is device code for such a stage; NULL: for all of the kind. */
  bool (*can_run) (const TfxStage *stage);
  /* True if in and out must not overlap. */
  bool is_apart;

  /* At rest, of one that is all zero behind its beginning; NULL: it is that.  (What is
   * done here, and by the others up to copy_state, is beside what units.h does.) */
  int (*make) (void *unit, const TfxStage *stage);
  /* Also of one that could not be made.  NULL: nothing has to be freed. */
  void (*clear) (void *unit);
  /* The unit has got a stage of the same structure, and a gain.  NULL: nothing has to
   * be done. */
  void (*set_stage) (void *unit);

  /* Kernels and memory for blocks of n_frames; and behind that one launch.  The state
   * after it counts from commit on; or it is abandoned.  NULL, these two: nothing has
   * to be done. */
  int (*prepare) (void *unit, bool is_double, size_t n_frames);
  int (*run) (void *unit, const TfxUnitRun *run);
  void (*commit) (void *unit);
  void (*abandon) (void *unit);

  /* The state of another unit for such a stage is copied on the queue.  NULL: nothing
   * has to be done. */
  int (*copy_state) (void *unit, const void *from);
  /* In the form of the CPU's unit.  NULL: that is the past, or the numbers. */
  int (*get_state) (void *unit, double *state);
  int (*set_state) (void *unit, const double *state);
  double (*state_peak) (void *unit);

  /* The counts of a launch: see cost.h.  cost has the bytes that it reads and
   * writes.  NULL: cost.c has them. */
  void (*cost) (const TfxStage *stage, unsigned n_channels, size_t n_frames,
      TfxCost *cost);
};

/* The kernel, once it is wanted: *kernel is all zero before.  0 or a negative
 * errno. */
int
tfx_cuda_unit_load (TfxCudaQueue *queue, const char *name, TfxKernel *kernel);

/* For kernels that take point by point: whether neighbouring threads take
 * neighbouring channels; and a launch. */
bool tfx_cuda_unit_is_by_channel (const TfxKernelBlock *block);
int tfx_cuda_unit_run_points (TfxCudaQueue *queue, const TfxKernel *kernel,
    size_t n_samples, void *args);

extern const TfxCudaUnitKind tfx_cuda_clip;
extern const TfxCudaUnitKind tfx_cuda_delay;
extern const TfxCudaUnitKind tfx_cuda_dynamics;
extern const TfxCudaUnitKind tfx_cuda_fir;
extern const TfxCudaUnitKind tfx_cuda_limiter;
extern const TfxCudaUnitKind tfx_cuda_mix;
extern const TfxCudaUnitKind tfx_cuda_reverb;

#endif
