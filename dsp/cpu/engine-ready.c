/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-ready.c: long FIRs that are made ready before an engine needs them,
 * in another thread: their spectra, and the memory of a convolver. */
#include "engine-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What hangs on a stage. */
typedef struct Ready
{
  TfxConvolverSpec spec; /* what for; without the taps */
  TfxConvolverTaps *taps;
  TfxConvolver *spare; /* atomic; at rest, for who comes first */
} Ready;

static void
ready_free (void *data)
{
  Ready *ready = data;

  tfx_convolver_free (&ready->spare);
  tfx_convolver_taps_unref (&ready->taps);
  free (ready);
}

TfxConvolverSpec
tfx_engine_fir_spec (const TfxPlan *plan, const TfxStep *s)
{
  const TfxKernels *kernels = plan->backend->data;
  const TfxStage *stage = s->stage;
  const size_t chunk = tfx_engine_chunk_frames (plan);
  TfxConvolverSpec spec = { .taps = stage->u.fir.taps,
    .gain = s->gain,
    .n_taps = stage->u.fir.n_taps,
    .n_front = stage->u.fir.n_front,
    .n_back = stage->u.fir.n_back,
    .n_kernels = stage->u.fir.n_kernels,
    .n_channels = plan->n_channels,
    .precision = plan->sample,
    .method = stage->u.fir.method,
    .block_frames = plan->block_frames,
    .kernel = kernels->name };

  if (!tfx_engine_runs_whole_blocks (plan) &&
      (spec.block_frames == 0 || spec.block_frames > chunk))
    spec.block_frames = chunk;
  return spec;
}

double
tfx_engine_fir_cost (const TfxPlan *plan, const TfxFirShape *shape)
{
  const TfxKernels *kernels = plan->backend->data;
  const TfxConvolverSpec spec = { .gain = 1.0,
    .n_taps = shape->n_taps,
    .n_front = shape->n_front,
    .n_back = shape->n_back,
    .n_kernels = shape->n_kernels,
    .n_channels = plan->n_channels,
    .precision = plan->sample,
    .method = shape->method,
    .block_frames = plan->block_frames,
    .kernel = kernels->name };

  return tfx_convolver_cost (&spec);
}

/* What was made ready for a step; NULL if there is nothing, or for another
 * plan. */
static Ready *
find_ready (const TfxPlan *plan, const TfxStep *s)
{
  const TfxConvolverSpec spec = tfx_engine_fir_spec (plan, s);
  Ready *ready = __atomic_load_n (&s->stage->ready, __ATOMIC_ACQUIRE);

  if (!ready || s->stage->ready_free != ready_free ||
      ready->spec.gain != spec.gain ||
      ready->spec.n_channels != spec.n_channels ||
      ready->spec.precision != spec.precision ||
      ready->spec.block_frames != spec.block_frames ||
      strcmp (ready->spec.kernel, spec.kernel) != 0)
    return NULL;
  return ready;
}

TfxConvolverTaps *
tfx_engine_ready_taps (const TfxPlan *plan, const TfxStep *s)
{
  const Ready *ready = find_ready (plan, s);

  return ready ? tfx_convolver_taps_ref (ready->taps) : NULL;
}

TfxConvolver *
tfx_engine_ready_convolver (const TfxPlan *plan, const TfxStep *s)
{
  Ready *ready = find_ready (plan, s);
  TfxConvolver *none = NULL, *spare = NULL;

  if (ready)
    __atomic_exchange (&ready->spare, &none, &spare, __ATOMIC_ACQ_REL);
  return spare;
}

static int
prepare_step (const TfxPlan *plan, const TfxStep *s)
{
  TfxStage *stage = s->stage;
  Ready *ready, *none = NULL;
  int ret;

  if (stage->u.fir.n_taps < TFX_ENGINE_LONG_TAPS ||
      __atomic_load_n (&stage->ready, __ATOMIC_ACQUIRE))
    return 0;
  ready = calloc (1, sizeof *ready);
  if (!ready)
    return -ENOMEM;
  ready->spec = tfx_engine_fir_spec (plan, s);
  ret = tfx_convolver_taps_new (&ready->spec, &ready->taps);
  ready->spec.taps = NULL;
  if (ret == 0)
    ret = tfx_convolver_new (ready->taps, &ready->spare);
  if (ret < 0) {
    ready_free (ready);
    return ret;
  }
  stage->ready_free = ready_free;
  /* Another thread may have been faster. */
  if (!__atomic_compare_exchange_n (&stage->ready, (void **)&none, ready, false,
          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    ready_free (ready);
  return 0;
}

static int
prepare_steps (const TfxPlan *plan, const TfxSteps *list)
{
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    if (s->kind == TFX_STEP_FIR)
      ret = prepare_step (plan, s);
    for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
      ret = prepare_steps (plan, &s->branches[k]);
  }
  return ret;
}

int
tfx_engine_prepare (const TfxPlan *plan)
{
  return prepare_steps (plan, &plan->top);
}

static bool
is_any_ready (const TfxPlan *plan, const TfxSteps *list)
{
  bool is_ready = false;

  for (size_t i = 0; !is_ready && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    if (s->kind == TFX_STEP_FIR) {
      const Ready *ready = find_ready (plan, s);
      is_ready = ready && __atomic_load_n (&ready->spare, __ATOMIC_ACQUIRE);
    }
    for (size_t k = 0; !is_ready && k < s->n_branches; k++)
      is_ready = is_any_ready (plan, &s->branches[k]);
  }
  return is_ready;
}

bool
tfx_engine_is_prepared (const TfxPlan *plan)
{
  return is_any_ready (plan, &plan->top);
}

/* ---- the past of another engine --------------------------------------------- */

static TfxConvolver *
fir_of (TfxEngine *e, size_t stage)
{
  return e->nodes[e->plan->stages[stage].step->index].fir;
}

size_t
tfx_engine_follow_frames (const TfxPlan *plan)
{
  return tfx_convolver_follow_frames (
      tfx_engine_runs_whole_blocks (plan) ? plan->block_frames : 0);
}

bool
tfx_engine_follow_start (TfxEngine *e, size_t stage, TfxEngine *from,
    size_t from_stage)
{
  TfxConvolver *fir = fir_of (e, stage), *leader = fir_of (from, from_stage);

  return fir && leader && tfx_convolver_follow_start (fir, leader);
}

int
tfx_engine_follow (TfxEngine *e, size_t stage, TfxEngine *from,
    size_t from_stage, size_t n_frames)
{
  TfxConvolver *fir = fir_of (e, stage), *leader = fir_of (from, from_stage);

  if (!fir || !leader || !tfx_convolver_is_following (fir))
    return -ENOTSUP;
  return tfx_convolver_follow (fir, leader, n_frames) == 0;
}
