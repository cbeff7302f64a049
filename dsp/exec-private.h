/* SPDX-License-Identifier: LGPL-2.1-or-later
 * exec-private.h: what the files of the executor share. */
#ifndef TFX_EXEC_PRIVATE_H
#define TFX_EXEC_PRIVATE_H

#include "backend.h"

/* Frames of a cross-fade that are mixed at a time. */
#define TFX_EXEC_FADE_CHUNK 256
#define TFX_EXEC_MAX_RETIRED 3

/* An engine and the plan that it runs. */
typedef struct Run
{
  TfxPlan *plan;
  TfxEngine *engine;
} Run;

struct TfxExec
{
  Run current;
  Run fading; /* what a running cross-fade comes from */
  Run next;   /* what takes over when it has ended */
  Run coming; /* what takes over when it has got the state of current */
  /* Faded out, or replaced; freed when memory may be freed.  Between two times
   * that a plan is set these are the one that was coming, one that a cross-fade
   * comes from, and the one that the next comes from. */
  Run retired[TFX_EXEC_MAX_RETIRED];
  unsigned n_retired;
  bool is_coming; /* it has begun to */
  size_t fade_frames, fade_position, next_fade_frames, coming_fade_frames;
  double *fade_scratch; /* TFX_EXEC_FADE_CHUNK frames of all channels */
  double *state;        /* room for the largest state of a stage, twice */
  size_t state_room;    /* doubles in each half */
  uint64_t n_dispatches, n_recoveries;
  size_t n_done;  /* frames of the last run */
  TfxStats freed; /* the counts of engines that are gone */
};

/* ---- exec.c ---------------------------------------------------------------- */

int tfx_exec_init_run (Run *run, TfxPlan *plan);
void tfx_exec_free_run (Run *run);
/* The same, and its counts stay. */
void tfx_exec_clear_run (TfxExec *exec, Run *run);
void tfx_exec_free_retired (TfxExec *exec);

/* ---- the state of stages (exec-state.c) ------------------------------------- */

#define TFX_EXEC_ALL_STAGES 0 /* in place of an id */

/* Room for the state of any stage of both plans.  0 or -ENOMEM. */
int tfx_exec_state_reserve (TfxExec *exec, const TfxPlan *a, const TfxPlan *b);

/* The state of a cascade's stage from one set of coefficients to another. */
void tfx_exec_state_map_sections (const TfxPlanStage *from,
    const TfxPlanStage *to, unsigned n_channels, double *state);

/* Whether the state of the second can follow that of the first. */
bool tfx_exec_state_is_leader (const TfxPlanStage *a, const TfxPlanStage *b);

/* The state of every stage that both plans have, or of the one with that id,
 * from one engine to the other. */
void
tfx_exec_state_hand_over (TfxExec *exec, const Run *from, Run *to, uint64_t id);

/* ---- from one plan to another (exec-change.c) -------------------------------- */

/* A cross-fade is over, and what waits for it is dropped. */
void tfx_exec_change_end (TfxExec *exec);

/* `run` takes over from what is current, at once or in a cross-fade. */
void tfx_exec_change_take_over (TfxExec *exec, Run *run, size_t fade_frames);

/* What is coming begins to follow; it has, after n frames: whether all of the
 * state is there. */
void tfx_exec_change_start (TfxExec *exec);
bool tfx_exec_change_follow (TfxExec *exec, size_t n);

#endif
