/* SPDX-License-Identifier: LGPL-2.1-or-later
 * backend.h: a row of filters, compiled, as a backend sees it; and the backend's table of
 * functions.
 *
 * An engine runs a plan, and has the state that the plan has borrowed from its filters.
 * One thread uses it at a time.  Blocks fit the plan. */
#ifndef TFX_BACKEND_H
#define TFX_BACKEND_H

#include <pthread.h>

#include "kind.h"

/* ---- plans ----------------------------------------------------------------- */

struct TfxSlot;
struct TfxFade;

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
  const TfxUnitKind *unit_kind;
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
  bool is_fading;  /* it has cross-fades, and so no spare */
  bool is_moving;  /* a step is */
  /* The same compiled with every reserved slot as a separate step, swapped in when one of
   * them becomes automated; NULL if there is none. */
  TfxPlan *spare;
  /* The plan that tfx_plan_switch() left, for another backend; NULL if there is none. */
  TfxPlan *other;

  pthread_mutex_t lock; /* for taking a filter's state from the engine */
  size_t n_done;        /* frames of the last run */
  TfxFlight *flights;   /* started, and not finished */
  uint64_t n_dispatches, n_recoveries;
  TfxStats freed; /* counts of freed engines and other plans */
};

/* The version of a filter that the engine has; see TfxFilter. */
typedef struct TfxPlanKnown
{
  uint64_t serial, n_values, n_settings;
} TfxPlanKnown;

/* ---- backends -------------------------------------------------------------- */

typedef struct TfxEngine TfxEngine;

/* The state of a stage in a device's memory while no engine has it.  The stage's slot owns
 * it. */
typedef struct TfxResident TfxResident;

/* The head of a backend's own structure. */
struct TfxResident
{
  const void *device; /* the data of its backend */
  double *room;       /* for borrow.c, if the slot has a unit */

  /* state[n_channels][state size], as of TfxBackend.get_state. */
  void (*read) (TfxResident *resident, double *state);
  void (*free) (TfxResident *resident);
};

struct TfxBackend
{
  const char *name;   /* "cpu" */
  const char *kernel; /* the variant, such as "avx512" */
  const void *data;   /* private */

  /* See tfx_plan_is_in_progress(); NULL: never. */
  bool (*is_busy) (const TfxBackend *backend);

  /* An engine at rest.  The plan outlives it.  0 or negative errno. */
  int (*engine_new) (const TfxPlan *plan, TfxEngine **engine);
  void (*engine_free) (TfxEngine *engine);

  /* Filters in to out: the same shape and type, in place or apart.
   * Allocates nothing.  Returns how many times a channel was cleared because
   * its state was not finite, or a negative errno. */
  int (*run) (TfxEngine *engine, const TfxBlock *in, const TfxBlock *out);

  /* As run, of a block that finish waits for; the frames that stand and the parts
   * that do not yet are counted in flight, also by engine_free.  NULL: there is
   * run alone. */
  int (*start) (TfxEngine *engine, const TfxBlock *in, const TfxBlock *out,
      TfxFlight *flight);
  int (*finish) (TfxEngine *engine, TfxFlight *flight);

  /* After a run that failed: how many of its frames stand all the same; the
   * state is the one behind them.  NULL: none. */
  size_t (*n_done) (const TfxEngine *engine);

  /* Takes other values of its plan, of the same structure.  The state of
   * sections is undefined until it is set; FIRs and delay lines keep theirs.
   * 0, or negative errno: nothing has changed. */
  int (*update) (TfxEngine *engine, const TfxPlan *plan);

  /* The state of a part of the plan as double[n_channels][state size], in
   * the form that tfx.h describes.  set_state returns 0, or negative errno if the
   * engine cannot take it; the caller then keeps the state. */
  void (*get_state) (TfxEngine *engine, const TfxPlanPart *part, double *state);
  int (*set_state) (TfxEngine *engine, const TfxPlanPart *part,
      const double *state);

  /* Takes the state of a part out of the engine, to stay on the device; NULL:
   * it cannot be, so it is asked for with get_state.  And brings it to an engine,
   * which has a copy then; false: it cannot be.  NULL: state lies on the host. */
  TfxResident *(*keep_state) (TfxEngine *engine, const TfxPlanPart *part);
  bool (*take_state) (TfxEngine *engine, const TfxPlanPart *part,
      TfxResident *resident);

  /* The largest magnitude in the state; 0 is rest. */
  double (*state_peak) (const TfxEngine *engine);

  /* Adds the engine's own counts (launches, transfers) to stats. */
  void (*add_stats) (const TfxEngine *engine, TfxStats *stats);

  /* Whether FIRs and delay lines run as the units of their slots, which keep
   * their state: get_state and set_state are not for them. */
  bool uses_units;
  /* Else, whether it runs a stage of TFX_STEP_UNIT. */
  bool (*can_run) (const TfxStage *stage);

  /* Takes the values of one step of sections; their state is undefined until it
   * is set.  Cannot fail.  NULL: neither that nor TFX_STEP_FADE can be run. */
  void (*update_step) (TfxEngine *engine, const TfxStep *step);

  /* A block of more samples than this is run in parts; 0: any will do. */
  size_t max_samples;
};

#endif
