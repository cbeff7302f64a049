/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.h: kinds of stage that a device runs with all of their state, each by one
 * kernel, a FIR by one of several. A kind is one file with a table; no other code
 * depends on the kind of a unit. */
#ifndef TFX_CUDA_UNIT_H
#define TFX_CUDA_UNIT_H

#include "cost.h"
#include "kernels/args.h"
#include "core/kind.h"
#include "module.h"
#include "state.h"
#include "kernels/unit-args.h"

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

/* The base of each unit. */
typedef struct TfxCudaUnit
{
  const TfxCudaUnitKind *kind;
  TfxCudaStream *stream;
  unsigned n_channels;
  const TfxStage *stage; /* with its values, */
  double gain;           /* and behind it */
  bool is_changed;       /* one of them changed; cleared after an upload */
  TfxCudaState state;    /* make() sets its lengths */
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
  /* True if it reads each sample once, by a thread of its own. */
  bool reads_once;

  /* Sets up a unit at rest, whose memory is zero after its base; NULL if that is
   * enough. (These functions, up to copy_state, do what units.h does not.) */
  int (*make) (void *unit, const TfxStage *stage);
  /* Frees a unit, also after make() failed. NULL: nothing to free. */
  void (*clear) (void *unit);
  /* The unit has a new stage of the same structure, or a new gain. NULL: nothing to
   * do. */
  void (*set_stage) (void *unit);

  /* prepare() loads kernels and allocates memory for blocks of n_frames; run()
   * launches once. The new state counts from commit() on, or abandon() drops it;
   * both may be NULL. */
  int (*prepare) (void *unit, bool is_double, size_t n_frames);
  int (*run) (void *unit, const TfxUnitRun *run);
  void (*commit) (void *unit);
  void (*abandon) (void *unit);

  /* The state of another unit for such a stage is copied on the stream.  NULL: nothing
   * has to be done. */
  int (*copy_state) (void *unit, const void *from);
  /* In the form of the CPU's unit.  NULL: that of state.h. */
  int (*get_state) (void *unit, double *state);
  int (*set_state) (void *unit, const double *state);
  /* The largest magnitude in such a state; 0: at rest.  NULL: of all numbers. */
  double (*state_peak) (const void *unit, const double *state);

  /* The counts of a launch: see cost.h.  cost has the bytes that it reads and
   * writes.  NULL: cost.c has them. */
  void (*cost) (const TfxStage *stage, unsigned n_channels, size_t n_frames,
      TfxCost *cost);
};

/* The kernel, once it is wanted: *kernel is all zero before.  0 or a negative
 * errno. */
int
tfx_cuda_unit_load (TfxCudaStream *stream, const char *name, TfxKernel *kernel);

/* The beginning of a kernel's arguments. */
TfxKernelRun tfx_cuda_unit_args (const TfxUnitRun *run, unsigned n_channels);

/* For kernels that take point by point: whether neighbouring threads take
 * neighbouring channels; and a launch. */
bool tfx_cuda_unit_is_by_channel (const TfxKernelBlock *block);
int tfx_cuda_unit_run_points (TfxCudaStream *stream, const TfxKernel *kernel,
    size_t n_samples, void *args);

extern const TfxCudaUnitKind tfx_cuda_clip;
extern const TfxCudaUnitKind tfx_cuda_delay;
extern const TfxCudaUnitKind tfx_cuda_dynamics;
extern const TfxCudaUnitKind tfx_cuda_fir;
extern const TfxCudaUnitKind tfx_cuda_limiter;
extern const TfxCudaUnitKind tfx_cuda_mix;
extern const TfxCudaUnitKind tfx_cuda_reverb;

/* The powers of a, by which kernels decay a value over many frames. */
TfxDecay tfx_cuda_unit_decay (double a);

#endif
