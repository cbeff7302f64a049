/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-delay.c: a delay line on the CPU, and how it goes to other taps. */
#include <errno.h>
#include <stdlib.h>

#include "core/block.h"
#include "kind-delay.h"
#include "unit.h"
#include "cpu/delay.h"

/* The line, and the stages whose taps it has: those that are heard, those that
 * it goes to, and those that wait for that. */
typedef struct Unit
{
  TfxDelay *line;
  TfxStage *now, *next, *waiting;
  size_t waiting_frames;
  TfxWeight waiting_weight;
} Unit;

static void
unit_free (void *data)
{
  Unit *u = data;

  tfx_delay_free (&u->line);
  tfx_stage_unref (&u->now);
  tfx_stage_unref (&u->next);
  tfx_stage_unref (&u->waiting);
  free (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  if (tfx_delay_new (spec->kernel, spec->n_channels, stage->u.delay.longest,
          &u->line) < 0) {
    free (u);
    return -ENOMEM;
  }
  u->now = tfx_stage_ref (stage);
  tfx_delay_set_taps (u->line, stage->u.delay.direct, stage->u.delay.taps,
      stage->u.delay.n_taps, 0, TFX_WEIGHT_SMOOTH);
  *unit = u;
  return 0;
}

static void
start_fade (Unit *u, TfxStage *stage, size_t fade_frames, TfxWeight weight)
{
  u->next = stage;
  tfx_delay_set_taps (u->line, stage->u.delay.direct, stage->u.delay.taps,
      stage->u.delay.n_taps, fade_frames, weight);
}

/* A fade that has ended: what was heard is let go of. */
static void
look_after_fade (Unit *u)
{
  if (!u->next || tfx_delay_is_fading (u->line))
    return;
  tfx_stage_unref (&u->now);
  u->now = u->next;
  u->next = NULL;
  if (u->waiting) {
    TfxStage *stage = u->waiting;
    u->waiting = NULL;
    start_fade (u, stage, u->waiting_frames, u->waiting_weight);
  }
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to;

    n = in->n_frames - i;
    if (u->waiting && n > tfx_delay_fade_left (u->line))
      n = tfx_delay_fade_left (u->line);
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    tfx_delay_run (u->line, &from, &to);
    look_after_fade (u);
  }
  return 0;
}

static void
unit_set_values (void *data, void *values, size_t fade_frames, TfxWeight weight)
{
  Unit *u = data;

  if (u->next && fade_frames > 0) {
    tfx_stage_unref (&u->waiting);
    u->waiting = values;
    u->waiting_frames = fade_frames;
    u->waiting_weight = weight;
    return;
  }
  tfx_stage_unref (&u->waiting);
  tfx_stage_unref (&u->next);
  start_fade (u, values, fade_frames, weight);
  look_after_fade (u);
}

static bool
unit_is_changing (const void *data)
{
  const Unit *u = data;

  return u->next != NULL;
}

static void
unit_reset (void *data)
{
  Unit *u = data;

  tfx_delay_reset (u->line);
  if (u->waiting) {
    tfx_stage_unref (&u->next);
    u->next = u->waiting;
    u->waiting = NULL;
  }
  if (u->next)
    start_fade (u, u->next, 0, TFX_WEIGHT_SMOOTH);
  look_after_fade (u);
}

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;

  return tfx_delay_state_peak (u->line);
}

static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;

  tfx_delay_get_state (u->line, state);
}

static void
unit_set_state (void *data, const double *state)
{
  const Unit *u = data;

  tfx_delay_set_state (u->line, state);
}

static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  const Unit *u = data, *from = source;

  tfx_delay_seed (u->line, from->line);
  return 0;
}

const TfxUnitKind tfx_delay_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = tfx_unit_keep_stage,
  .set_values = unit_set_values,
  .drop_values = tfx_unit_drop_stage,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up = unit_catch_up,
};
