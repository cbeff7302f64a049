/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-private.h: the structure of an engine, for engine*.c and the table in
 * tfx-cuda.c. */
#ifndef TFX_CUDA_ENGINE_PRIVATE_H
#define TFX_CUDA_ENGINE_PRIVATE_H

#include "cascade.h"
#include "copy.h"
#include "engine.h"
#include "transfer.h"
#include "unit.h"

/* Most samples of a run. */
#define TFX_MAX_SAMPLES ((size_t)1 << 28)

/* Samples of a part. The transfer of 4 or 8 MB takes about 300 us, so that the cost
 * of launches is small beside it. */
#define TFX_PART_SAMPLES ((size_t)1 << 20)

/* Parts in flight at a time: one is uploaded, one filtered, one downloaded. */
#define TFX_N_PARTS 3

/* Steps in series. */
typedef struct List
{
  unsigned n_channels;
  double gain;    /* of no steps at all, which are a copy */
  size_t between; /* the first of two buffers; of two steps or more */
} List;

/* The run-time data of a step of the plan, by its index. */
typedef struct Node
{
  TfxCudaCascade *cascade;
  TfxCudaUnit *unit; /* or NULL */
  unsigned n_channels;
  List *branches;    /* sums, splits */
  size_t sum_buffer; /* sums */
  /* Splits: of two buffers the first, if channels are not evenly spaced; those of
   * no branch, and their gain. */
  size_t gather_buffer;
  TfxCudaChannels rest;
  double gain;
} Node;

/* A part of a block in flight. Its buffers are free again once `done` has been
 * waited for. */
typedef struct Part
{
  TfxTransfer in, out;
  CUevent uploaded, ran, done;
  TfxPinned cleared; /* byte[n_channels]: the device clears a state */
  bool is_busy;      /* done has been recorded, and not been waited for */
  bool has_output;   /* for the host: */
  TfxBlock output;
  TfxFlight *flight; /* of its block, which counts it */
} Part;

struct TfxEngine
{
  TfxCuda *cuda;
  const TfxPlan *plan;
  size_t n_nodes;
  Node *nodes;
  List top;
  TfxCudaCopy copy;
  TfxBuffer *buffers; /* each a block of doubles */
  size_t n_buffers, copy_buffer;
  bool has_splits; /* each branch puts its channels out by itself */

  /* The stream of the kernels: that of the device, or, between host buffers, one of
   * this engine, so that engines do not wait for each other. */
  TfxCudaStream stream;
  CUstream own, up, down; /* up, down: once there are parts */
  Part parts[TFX_N_PARTS];
  unsigned next;       /* part */
  size_t part_samples; /* TFX_PART_SAMPLES; tests set others */
  TfxFlight whole;     /* the last block that was run, not started */
  CUdeviceptr cleared; /* of the part that is being put on the stream */
  int n_cleared;       /* channels, since the last run said so */

  uint64_t usual_ns;               /* of the last wait for a part */
  bool has_run, double_arithmetic; /* of the last run */
  uint64_t n_uploads, n_downloads;
};

/* A gain after a FIR, a delay line or a unit is folded into it and has no node.
 * is_last(): true for the last step with a node. */
bool tfx_cuda_engine_is_folded (const TfxSteps *list, size_t i);
bool tfx_cuda_engine_is_last (const TfxSteps *list, size_t i);

/* Whether the kernel of the first step reads each sample once, with many loads in
 * flight: so that it can read the host's memory across the bus. */
bool tfx_cuda_engine_reads_once (const TfxPlan *plan);

/* Allocates the intermediate buffers for blocks of n_frames. The context is
 * current. */
int tfx_cuda_engine_reserve (TfxEngine *engine, size_t n_frames);

/* Waits for all streams of the engine. 0 or -EIO. */
int tfx_cuda_engine_drain (const TfxEngine *engine);

/* Frames of a part; places: the memory of input and output. */
size_t tfx_cuda_engine_part_frames (const TfxEngine *engine, TfxCudaPlace in,
    TfxCudaPlace out);

/* Puts the steps on the stream; commit() makes the new state valid, abandon() drops
 * it after a failure. 0 or a negative errno. */
int tfx_cuda_engine_run_steps (TfxEngine *engine, const TfxKernelBlock *in,
    const TfxKernelBlock *out, size_t n_frames);
void tfx_cuda_engine_commit (TfxEngine *engine);
void tfx_cuda_engine_abandon (TfxEngine *engine);

/* These functions implement TfxBackend. A state that cannot be read is set to zero,
 * or to infinity, and is lost. */
int
tfx_cuda_engine_new (TfxCuda *cuda, const TfxPlan *plan, TfxEngine **engine);
void tfx_cuda_engine_free (TfxEngine **engine);
int tfx_cuda_engine_update (TfxEngine *engine, const TfxPlan *plan);
void tfx_cuda_engine_add_stats (const TfxEngine *engine, TfxStats *stats);

int tfx_cuda_engine_run (TfxEngine *engine, const TfxBlock *in,
    const TfxBlock *out);
int tfx_cuda_engine_start (TfxEngine *engine, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight);
int tfx_cuda_engine_finish (TfxEngine *engine, TfxFlight *flight);
/* Finishes the flights that the device still completes. */
void tfx_cuda_engine_finish_flights (TfxEngine *engine);
size_t tfx_cuda_engine_n_done (const TfxEngine *engine);

void tfx_cuda_engine_get_state (TfxEngine *engine, const TfxPlanPart *part,
    double *state);
int tfx_cuda_engine_set_state (TfxEngine *engine, const TfxPlanPart *part,
    const double *state);
double tfx_cuda_engine_state_peak (const TfxEngine *engine);

/* The caller holds the device, and sets free. */
TfxResident *
tfx_cuda_engine_keep_state (TfxEngine *engine, const TfxPlanPart *part);
bool tfx_cuda_engine_take_state (TfxEngine *engine, const TfxPlanPart *part,
    TfxResident *resident);
void tfx_cuda_engine_free_resident (TfxResident *resident);

#endif
