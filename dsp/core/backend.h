/* SPDX-License-Identifier: LGPL-2.1-or-later
 * backend.h: the table of functions of a backend.
 *
 * An engine runs a plan, and has the state that the plan has borrowed from its filters.
 * One thread uses it at a time.  Blocks fit the plan. */
#ifndef TFX_BACKEND_H
#define TFX_BACKEND_H

#include "plan.h"
#include "resident.h"

typedef struct TfxEngine TfxEngine;

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
