/* SPDX-License-Identifier: LGPL-2.1-or-later
 * backend.h: what a backend gives to the executor.
 *
 * An engine is a plan made ready to run, and its state.  It belongs to one
 * thread at a time; the executor never runs it with a block that does not fit
 * its plan. */
#ifndef TFX_BACKEND_H
#define TFX_BACKEND_H

#include "plan.h"

typedef struct TfxEngine TfxEngine;

struct TfxBackend
{
  const char *name;   /* "cpu" */
  const char *kernel; /* the variant, such as "avx512" */
  const void *data;   /* the backend's own */

  /* An engine at rest.  The plan outlives it.  0 or negative errno. */
  int (*engine_new) (const TfxPlan *plan, TfxEngine **engine);
  void (*engine_free) (TfxEngine *engine);

  /* Filters in to out: the same shape and type, in place or apart.
   * Allocates nothing.  Returns how many times a channel was cleared because
   * its state was not finite, or a negative errno. */
  int (*run) (TfxEngine *engine, const TfxBlock *in, const TfxBlock *out);

  /* Takes the values of a plan of the same structure.  The state of sections
   * is undefined until it is set; FIRs and delay lines keep theirs, and go
   * over to a new kernel in a short cross-fade.  0, or -ENOMEM: it then runs
   * on as it was. */
  int (*update) (TfxEngine *engine, const TfxPlan *plan);

  /* The state of a stage of the plan as double[n_channels][state size], in
   * the form that tfx.h describes. */
  void (*get_state) (TfxEngine *engine, size_t stage, double *state);
  void (*set_state) (TfxEngine *engine, size_t stage, const double *state);

  /* Like run with an input of zeros, after the end of the stream. */
  int (*drain) (TfxEngine *engine, const TfxBlock *out);

  /* The output frames of a stage of the plan, or (stage = SIZE_MAX) of the
   * whole, that are still to be dropped for its delay. */
  size_t (*get_skip) (const TfxEngine *engine, size_t stage);
  void (*set_skip) (TfxEngine *engine, size_t stage, size_t skip);

  /* All state to zero. */
  void (*reset) (TfxEngine *engine);

  /* The largest magnitude in the state; 0 is rest. */
  double (*state_peak) (const TfxEngine *engine);

  /* Adds the engine's own counts (launches, transfers) to stats. */
  void (*add_stats) (const TfxEngine *engine, TfxStats *stats);

  /* What a FIR costs for each frame and channel in the plan, in some unit.
   * NULL: all are taken to cost the same. */
  double (*fir_cost) (const TfxPlan *plan, const TfxFirShape *shape);

  /* The rest may be NULL, all of it. */

  /* Makes ready what takes long in engine_new() for that plan, and leaves it on
   * the stages.  Any thread.  0 or negative errno. */
  int (*prepare) (const TfxPlan *plan);

  /* Whether there is anything of that for a new engine. */
  bool (*is_prepared) (const TfxPlan *plan);

  /* A stage of an engine at rest takes over the state of a stage of another
   * one, a little with each block: see tfx_convolver_follow().  start: whether
   * that can be done.  follow: after that has run n_frames, at most
   * follow_frames() since the last call; 1 if the state is there, 0 if it is
   * not yet, negative if the stage does not follow. */
  size_t (*follow_frames) (const TfxPlan *plan);
  bool (*follow_start) (TfxEngine *engine, size_t stage, TfxEngine *from,
      size_t from_stage);
  int (*follow) (TfxEngine *engine, size_t stage, TfxEngine *from,
      size_t from_stage, size_t n_frames);

  /* Whether FIRs and delay lines run as the units of their slots, which keep
   * their state: get_state and set_state are not for them. */
  bool uses_units;

  /* Takes the values of one step of sections; their state is undefined until it
   * is set.  Cannot fail.  NULL: neither that nor TFX_STEP_FADE can be run. */
  void (*update_step) (TfxEngine *engine, const TfxStep *step);
};

#endif
