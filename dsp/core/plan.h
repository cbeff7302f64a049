/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plan.h: a row of filters, compiled, as the backends see it. */
#ifndef TFX_PLAN_H
#define TFX_PLAN_H

#include <pthread.h>

#include "stage.h"

typedef enum
{
  TFX_STEP_CASCADE, /* sos[n_sos]; n_sos may be 0 */
  TFX_STEP_FIR,     /* stage */
  TFX_STEP_UNIT,    /* stage, of a kind that not every device supports */
  TFX_STEP_SUM,     /* branches[n_branches] */
  TFX_STEP_SPLIT,   /* branches, each for some of the channels */
  TFX_STEP_FADE     /* from the first of two branches to the second */
} TfxStepKind;

struct TfxSlot;
struct TfxFade;
struct TfxUnitKind;

typedef struct TfxStep TfxStep;

/* Steps in series; without any it is the identity. */
typedef struct TfxSteps
{
  size_t n;
  TfxStep *steps;
} TfxSteps;

/* A backend runs y = gain * step (x). */
struct TfxStep
{
  TfxPlan *plan;
  TfxStepKind kind;
  size_t index; /* among all steps of the plan, those of branches included */
  double gain;
  size_t n_sos;
  TfxSos *sos;     /* into TfxPlan.sos */
  TfxStage *stage; /* a reference; of units and splits */
  size_t n_branches;
  TfxSteps *branches;
  /* Its slots: sections and gains of a cascade, in order; or the slot of a unit. */
  struct TfxPlanPart *parts;
  size_t n_parts;
  bool is_alone;  /* the compiler adds no slot to it */
  bool is_moving; /* its values may change within a run, see step.h */
  bool is_apart;  /* the slots have its state, not the engine */
  double
      tail; /* product of the gains after the last section; for the compiler */
  /* On the CPU. */
  void *unit;
  const struct TfxUnitKind *unit_kind;
  const struct TfxFade *fade; /* TFX_STEP_FADE */
};

/* A slot in a step. */
typedef struct TfxPlanPart
{
  TfxStep *step;
  struct TfxSlot *slot;
  size_t filter;           /* index of its filter */
  size_t first_sos, n_sos; /* within the step; cascades only */
  /* Doubles per channel: s1, s2 of each section; or the last inputs, the newest at the
   * end: n_taps - 1 of a FIR, the longest delay of a delay line. */
  size_t state_size;
} TfxPlanPart;

struct TfxPlan
{
  const TfxBackend *backend;
  unsigned n_channels;
  TfxSample sample;    /* the precision of FIRs */
  size_t block_frames; /* 0: not known */
  size_t run_frames;   /* of the last block; 0: none yet */
  size_t n_filters;
  TfxFilter **filters;        /* references */
  struct TfxPlanKnown *known; /* [n_filters] */

  /* The result of the compiler. */
  struct TfxEngine *engine;
  TfxSteps top;
  size_t n_all_steps, n_parts, n_sos, n_chain_stages;
  TfxPlanPart *parts;
  TfxSos *sos;
  double *scratch; /* the largest state of a stage, for devices */
  bool is_stale;   /* it has to be compiled again */
  bool is_moving;  /* a step is */
  /* The same compiled with every reserved slot as a separate step, swapped in when one of
   * them becomes automated; NULL if there is none. */
  TfxPlan *spare;

  pthread_mutex_t lock; /* for taking a filter's state from the engine */
  size_t n_done;        /* frames of the last run */
  uint64_t n_dispatches, n_recoveries;
  TfxStats freed; /* counts of freed engines */
};

/* The version of a filter that the engine has; see TfxFilter. */
typedef struct TfxPlanKnown
{
  uint64_t serial, n_values, n_settings;
} TfxPlanKnown;

#endif
