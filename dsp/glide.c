/* SPDX-License-Identifier: LGPL-2.1-or-later
 * glide.c: sections and gains whose values move while a plan runs. */
#include "glide.h"

#include "backend.h"
#include "borrow.h"
#include "compile.h"
#include "follow.h"

/* The frame where the values of a slot are next to change. */
static uint64_t
find_next (const TfxSlot *slot)
{
  const uint64_t entry = tfx_follow_next (slot);

  return slot->n_glide_steps > 0 && slot->next_step < entry ? slot->next_step
                                                            : entry;
}

static void
mark_step (TfxPlan *plan, TfxStep *step, void *data)
{
  step->is_moving = false;
  for (size_t i = 0; i < step->n_parts; i++)
    step->is_moving =
        step->is_moving || find_next (step->parts[i].slot) != UINT64_MAX;
  if (step->slot)
    step->is_moving = tfx_follow_next (step->slot) != UINT64_MAX;
  plan->is_moving = plan->is_moving || step->is_moving;
}

void
tfx_glide_mark (TfxPlan *plan)
{
  plan->is_moving = false;
  tfx_compile_each (plan, mark_step, NULL);
}

/* How many frames come before the next point; 0: it is here. */
static size_t
count_frames (const TfxStep *step, size_t first, size_t n_left)
{
  size_t n = n_left;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const uint64_t at = step->plan->filters[part->filter]->n_run + first;
    const uint64_t next = find_next (part->slot);

    if (next < at + n)
      n = next > at ? (size_t)(next - at) : 0;
  }
  return n;
}

/* The values that are due; other plans do not have them. */
static void
step_parts (TfxStep *step, size_t first)
{
  TfxPlan *plan = step->plan;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    TfxFilter *f = plan->filters[part->filter];
    TfxSlot *slot = part->slot;

    if (tfx_follow_next (slot) <= f->n_run + first)
      tfx_follow_take (f, slot, f->n_run + first);
    if (slot->n_glide_steps == 0 || slot->next_step != f->n_run + first)
      continue;
    tfx_slot_step (slot, plan->n_channels);
    plan->known[part->filter].n_values = ++f->n_values;
  }
}

size_t
tfx_glide_run (TfxStep *step, size_t first, size_t n_left)
{
  TfxPlan *plan = step->plan;
  const size_t n = count_frames (step, first, n_left);

  if (n > 0)
    return n;
  tfx_borrow_get_step (plan, step);
  step_parts (step, first);
  tfx_compile_set_step (plan, step);
  plan->backend->update_step (plan->engine, step);
  tfx_borrow_set_step (plan, step);
  return count_frames (step, first, n_left);
}
