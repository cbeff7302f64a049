/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-private.h: what an engine is made of, for engine*.c and the
 * table in tfx-cuda.c. */
#ifndef TFX_CUDA_ENGINE_PRIVATE_H
#define TFX_CUDA_ENGINE_PRIVATE_H

#include "cascade.h"
#include "engine.h"
#include "transfer.h"
#include "window.h"

/* Samples that are run at a time. */
#define TFX_MAX_SAMPLES ((size_t)1 << 28)

/* Steps in series. */
typedef struct List
{
  TfxCudaWindow *copy; /* of no steps at all */
  size_t between;      /* the first of two buffers; of two steps or more */
} List;

/* What a step of the plan has at run time, by its index. */
typedef struct Node
{
  TfxCudaCascade *cascade;
  TfxCudaWindow *window;
  List *branches;    /* sums */
  size_t sum_buffer; /* sums */
} Node;

struct TfxEngine
{
  TfxCuda *cuda;
  const TfxPlan *plan;
  size_t n_nodes;
  Node *nodes;
  List top;
  TfxCudaWindow *copier; /* y = x */
  TfxBuffer *buffers;    /* each a block of doubles */
  size_t n_buffers, copy_buffer;

  /* Two, so that one is filled while the other is on its way. */
  TfxTransfer in[2], out;
  CUevent in_moved[2], done;
  bool in_is_moving[2]; /* a run has not waited for its end */
  unsigned next_in;

  TfxPinned cleared; /* byte[n_channels]: the device clears a state */
  bool has_run, double_arithmetic; /* of the last run */
  uint64_t n_launches, n_uploads, n_downloads;
};

/* A gain alone behind a FIR or a delay line is part of that: it has no node.
 * True for the last step that has one. */
bool tfx_cuda_engine_is_folded (const TfxSteps *list, size_t i);
bool tfx_cuda_engine_is_last (const TfxSteps *list, size_t i);

/* Room between steps for blocks of n_frames.  The context is current. */
int tfx_cuda_engine_reserve (TfxEngine *engine, size_t n_frames);

/* As in TfxBackend, whose functions they are.  What cannot be had of a state is
 * zero, or infinite, and the state lost. */
int
tfx_cuda_engine_new (TfxCuda *cuda, const TfxPlan *plan, TfxEngine **engine);
void tfx_cuda_engine_free (TfxEngine **engine);
int tfx_cuda_engine_update (TfxEngine *engine, const TfxPlan *plan);
void tfx_cuda_engine_reset (TfxEngine *engine);
void tfx_cuda_engine_add_stats (const TfxEngine *engine, TfxStats *stats);

int tfx_cuda_engine_run (TfxEngine *engine, const TfxBlock *in,
    const TfxBlock *out);

void tfx_cuda_engine_get_state (TfxEngine *engine, size_t stage, double *state);
void tfx_cuda_engine_set_state (TfxEngine *engine, size_t stage,
    const double *state);
double tfx_cuda_engine_state_peak (const TfxEngine *engine);

#endif
