/* SPDX-License-Identifier: LGPL-2.1-or-later
 * step.c: steps whose values move while a plan runs. */
#include "step.h"

#include "backend.h"
#include "borrow.h"
#include "compile.h"
#include "automation.h"
#include "ramp.h"

/* The next frame where a ramp of the slot begins or ends. */
static uint64_t
find_next (const TfxSlot *slot, uint64_t now)
{
  const uint64_t entry = tfx_automation_next (slot);
  const uint64_t next = tfx_ramp_next (slot, now);

  return next < entry ? next : entry;
}

static void
mark_step (TfxPlan *plan, TfxStep *step, void *data)
{
  step->is_moving = false;
  for (size_t i = 0; i < step->n_parts; i++)
    step->is_moving =
        step->is_moving || find_next (step->parts[i].slot, 0) != UINT64_MAX;
  plan->is_moving = plan->is_moving || step->is_moving;
}

void
tfx_step_mark_moving (TfxPlan *plan)
{
  plan->is_moving = false;
  tfx_compile_each (plan, mark_step, NULL);
}

/* Takes the events and ends the ramps that are due at frame `first`.  Returns how many frames
 * come before the next change. */
static size_t
update_parts (TfxStep *step, size_t first, size_t n_left, bool *is_moving)
{
  TfxPlan *plan = step->plan;
  size_t n = n_left;

  *is_moving = false;
  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    TfxFilter *f = plan->filters[part->filter];
    const uint64_t now = f->n_run + first;
    TfxSlot *slot = part->slot;
    uint64_t next;

    if (slot->ramp.n_cells > 0 && now >= tfx_ramp_end (slot))
      plan->known[part->filter].n_values = ++f->n_values;
    if (tfx_automation_next (slot) <= now)
      tfx_automation_take (f, slot, now);
    tfx_ramp_update (slot, now);
    *is_moving = *is_moving || tfx_ramp_is_on (slot, now);
    next = find_next (slot, now);
    n = next - now < n ? (size_t)(next - now) : n;
  }
  return n;
}

/* Whether a ramp runs or ends here. */
static bool
has_begun (const TfxStep *step, size_t first)
{
  bool found = false;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const uint64_t now = step->plan->filters[part->filter]->n_run + first;

    found = found ||
            (part->slot->ramp.n_cells > 0 && now >= part->slot->ramp.first);
  }
  return found;
}

/* Ramps that run take the state of their slots. */
static void
enter_ramps (TfxStep *step, size_t first)
{
  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const uint64_t now = step->plan->filters[part->filter]->n_run + first;

    if (tfx_ramp_is_on (part->slot, now) && !part->slot->ramp.is_entered)
      tfx_ramp_enter (part->slot);
  }
}

/* Moves state and values from the slots to the engine. */
static void
enter_engine (TfxStep *step)
{
  TfxPlan *plan = step->plan;

  tfx_compile_set_step (plan, step);
  plan->backend->update_step (plan->engine, step);
  tfx_borrow_set_step (plan, step);
}

size_t
tfx_step_run_ramps (TfxStep *step, size_t first, size_t n_left, bool *is_apart)
{
  size_t n;

  if (!step->is_apart && has_begun (step, first))
    tfx_borrow_get_step (step->plan, step);
  n = update_parts (step, first, n_left, is_apart);
  if (*is_apart && !step->is_apart)
    tfx_borrow_get_step (step->plan, step);
  if (*is_apart)
    enter_ramps (step, first);
  else if (step->is_apart)
    enter_engine (step);
  return n;
}

/* The end of the ramp that runs at frame `now`, and of the events that follow without a
 * gap. */
static uint64_t
find_end (const TfxSlot *slot, uint64_t now)
{
  uint64_t end = tfx_ramp_end (slot);

  if (!tfx_ramp_is_on (slot, now))
    return now;
  for (size_t i = 0;
       tfx_events_get (slot, i) && tfx_events_get (slot, i)->start == end; i++)
    end += TFX_GRID_FRAMES;
  return end;
}

size_t
tfx_step_count_apart (const TfxStep *step, size_t first, size_t n_left)
{
  size_t n = 0;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const uint64_t now = step->plan->filters[part->filter]->n_run + first;
    const uint64_t end = find_end (part->slot, now);

    n = end - now > n ? (size_t)(end - now) : n;
  }
  return n < n_left ? n : n_left;
}

size_t
tfx_step_run_events (TfxStep *step, size_t first, size_t n_left)
{
  TfxFilter *f = step->plan->filters[step->parts->filter];
  TfxSlot *slot = step->parts->slot;
  const uint64_t now = f->n_run + first;
  uint64_t next = tfx_automation_next (slot);

  if (next <= now) {
    tfx_automation_take (f, slot, now);
    next = tfx_automation_next (slot);
  }
  return next - now < n_left ? (size_t)(next - now) : n_left;
}
