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

static uint64_t
now_of (const TfxPlanPart *part, size_t first)
{
  return part->step->plan->filters[part->filter]->n_run + first;
}

void
tfx_step_mark_moving (TfxPlan *plan)
{
  plan->is_moving = false;
  for (size_t i = 0; i < plan->n_parts; i++)
    plan->parts[i].step->is_moving = false;
  for (size_t i = 0; i < plan->n_parts; i++) {
    if (find_next (plan->parts[i].slot, 0) != UINT64_MAX)
      plan->parts[i].step->is_moving = plan->is_moving = true;
  }
}

size_t
tfx_step_run_ramps (TfxStep *step, size_t first, size_t n_left, bool *is_apart)
{
  const TfxPlanPart *const end = step->parts + step->n_parts;
  TfxPlan *plan = step->plan;
  bool has_begun = false;
  size_t n = n_left;

  /* A ramp that runs or ends here takes its state from the slot, or returns it there. */
  for (const TfxPlanPart *part = step->parts; part < end; part++)
    has_begun =
        has_begun || (part->slot->ramp.n_cells > 0 &&
                         now_of (part, first) >= part->slot->ramp.first);
  if (has_begun && !step->is_apart)
    tfx_borrow_get_step (plan, step);

  *is_apart = false;
  for (const TfxPlanPart *part = step->parts; part < end; part++) {
    const uint64_t now = now_of (part, first);
    TfxFilter *f = plan->filters[part->filter];
    TfxSlot *slot = part->slot;
    uint64_t next;

    if (slot->ramp.n_cells > 0 && now >= tfx_ramp_end (slot))
      plan->known[part->filter].n_values = ++f->n_values;
    if (tfx_automation_next (slot) <= now)
      tfx_automation_take (f, slot, now);
    tfx_ramp_update (slot, now);
    *is_apart = *is_apart || tfx_ramp_is_on (slot, now);
    next = find_next (slot, now);
    n = next - now < n ? (size_t)(next - now) : n;
  }
  if (*is_apart && !step->is_apart)
    tfx_borrow_get_step (plan, step);
  for (const TfxPlanPart *part = step->parts; part < end; part++) {
    if (tfx_ramp_is_on (part->slot, now_of (part, first)) &&
        !part->slot->ramp.is_entered)
      tfx_ramp_enter (part->slot);
  }
  if (!*is_apart && step->is_apart) {
    tfx_compile_set_step (plan, step);
    plan->backend->update_step (plan->engine, step);
    tfx_borrow_set_step (plan, step);
  }
  return n;
}

/* To the end of the ramps that run, and of the events that follow without a gap. */
size_t
tfx_step_count_apart (const TfxStep *step, size_t first, size_t n_left)
{
  size_t n = 0;

  for (size_t i = 0; i < step->n_parts; i++) {
    const uint64_t now = now_of (&step->parts[i], first);
    const TfxSlot *slot = step->parts[i].slot;
    const TfxEvent *event;
    uint64_t end = tfx_ramp_end (slot);

    if (!tfx_ramp_is_on (slot, now))
      continue;
    for (size_t k = 0; (event = tfx_events_get (slot, k)); k++) {
      if (event->start != end)
        break;
      end += TFX_GRID_FRAMES;
    }
    n = end - now > n ? (size_t)(end - now) : n;
  }
  return n < n_left ? n : n_left;
}

size_t
tfx_step_run_events (TfxStep *step, size_t first, size_t n_left)
{
  const uint64_t now = now_of (step->parts, first);
  TfxSlot *slot = step->parts->slot;
  uint64_t next = tfx_automation_next (slot);

  if (next <= now) {
    tfx_automation_take (step->plan->filters[step->parts->filter], slot, now);
    next = tfx_automation_next (slot);
  }
  return next - now < n_left ? (size_t)(next - now) : n_left;
}
