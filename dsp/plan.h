/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plan.h: a compiled chain, as the backends see it. */
#ifndef TFX_PLAN_H
#define TFX_PLAN_H

#include "tfx.h"

typedef enum
{
  /* y = gain * cascade (x); n_sos may be 0. */
  TFX_STEP_CASCADE
} TfxStepKind;

/* What a backend runs in one go. */
typedef struct TfxStep
{
  TfxStepKind kind;
  double gain;
  size_t n_sos;
  TfxSos *sos; /* into TfxPlan.sos */
} TfxStep;

/* Where the state of a stage lies in the steps. */
typedef struct TfxPlanStage
{
  uint64_t id;
  size_t step;
  size_t first_sos, n_sos; /* within the step */
} TfxPlanStage;

struct TfxPlan
{
  unsigned refs; /* atomic */
  double rate_hz;
  unsigned n_channels;
  const TfxBackend *backend;
  size_t n_chain_stages; /* of the chain it was compiled from */
  size_t n_steps, n_stages, n_sos;
  TfxStep *steps;
  TfxPlanStage *stages; /* those that have state */
  TfxSos *sos;
};

/* True if both consist of the same stages in the same steps, so that they
 * differ in values alone. */
bool tfx_plan_same_structure (const TfxPlan *a, const TfxPlan *b);

/* True if they differ in nothing. */
bool tfx_plan_same_values (const TfxPlan *a, const TfxPlan *b);

/* The number of doubles per channel that the state of a stage takes:
 * s1, s2 of each of its sections. */
static inline size_t
tfx_plan_state_size (const TfxPlan *plan, size_t stage)
{
  return 2 * plan->stages[stage].n_sos;
}

#endif
