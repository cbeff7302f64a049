/* SPDX-License-Identifier: LGPL-2.1-or-later
 * borrow.c: the state of a filter, from its slots to an engine and back. */
#include "borrow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

/* Gains, clips and mixes have no state. */
static bool
has_state (const TfxPlanPart *part)
{
  const TfxUnitKind *kind = part->slot->stage->kind->unit;

  return part->n_sos > 0 || (kind && kind->set_state);
}

/* Whether the engine has the state of a part, rather than its unit. */
static bool
is_in_engine (const TfxPlan *plan, const TfxPlanPart *part)
{
  return !plan->backend->uses_units || !part->slot->stage->kind->unit;
}

/* Reads the state from the device that has it. */
static void
read_resident (TfxSlot *slot)
{
  TfxResident *resident = slot->resident;

  if (!resident)
    return;
  resident->read (resident, slot->unit ? resident->room : slot->state);
  if (slot->unit)
    slot->stage->kind->unit->set_state (slot->unit, resident->room);
  tfx_slot_drop_resident (slot);
}

/* Returns the state from the engine to the slot; or, if it may, leaves it on the device. */
static void
get_part (TfxPlan *plan, const TfxPlanPart *part, bool may_stay)
{
  TfxSlot *slot = part->slot;

  if (!has_state (part) || !is_in_engine (plan, part) || part->step->is_apart)
    return;
  if (may_stay) {
    tfx_slot_drop_resident (slot);
    if (plan->backend->keep_state)
      slot->resident = plan->backend->keep_state (plan->engine, part);
    if (slot->resident && slot->unit) {
      slot->resident->room =
          calloc (part->state_size + 1, slot->n_channels * sizeof (double));
      if (!slot->resident->room)
        tfx_slot_drop_resident (slot);
    }
    if (slot->resident)
      return;
  }
  if (!slot->unit) {
    plan->backend->get_state (plan->engine, part, slot->state);
    return;
  }
  plan->backend->get_state (plan->engine, part, plan->scratch);
  slot->stage->kind->unit->set_state (slot->unit, plan->scratch);
}

/* The slot keeps a copy: in its unit, in its state or as a resident. */
static int
set_part (TfxPlan *plan, const TfxPlanPart *part)
{
  TfxSlot *slot = part->slot;

  if (!has_state (part))
    return 0;
  if (!is_in_engine (plan, part)) {
    read_resident (slot);
    return 0;
  }
  if (slot->resident && plan->backend->take_state &&
      plan->backend->take_state (plan->engine, part, slot->resident))
    return 0;
  read_resident (slot);
  if (!slot->unit)
    return plan->backend->set_state (plan->engine, part, slot->state);
  slot->stage->kind->unit->get_state (slot->unit, plan->scratch);
  return plan->backend->set_state (plan->engine, part, plan->scratch);
}

static void
give_back (TfxFilter *f, bool may_stay)
{
  TfxPlan *plan = f->holder;

  if (!plan)
    return;
  pthread_mutex_lock (&plan->lock);
  for (size_t i = 0; i < plan->n_parts; i++) {
    if (plan->filters[plan->parts[i].filter] == f)
      get_part (plan, &plan->parts[i], may_stay);
  }
  pthread_mutex_unlock (&plan->lock);
  f->holder = NULL;
}

void
tfx_borrow_give_back (TfxFilter *f)
{
  give_back (f, true);
}

void
tfx_borrow_from_device (TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlot *slot;

  if (f->holder && !f->holder->backend->uses_units)
    give_back (f, false);
  while ((slot = tfx_walk_slot (&walk)))
    read_resident (slot);
}

int
tfx_borrow_load (TfxPlan *plan)
{
  int ret = 0;

  for (size_t i = 0; i < plan->n_parts; i++) {
    if (has_state (&plan->parts[i]))
      plan->parts[i].step->is_apart = false;
  }
  for (size_t i = 0; ret == 0 && i < plan->n_parts; i++)
    ret = set_part (plan, &plan->parts[i]);
  if (ret < 0)
    return ret;
  for (size_t i = 0; i < plan->n_parts; i++) {
    const TfxPlanPart *part = &plan->parts[i];

    if (has_state (part))
      tfx_slot_drop_resident (part->slot);
    part->step->is_apart = part->step->is_apart ||
                           (has_state (part) && part->slot->ramp.is_entered);
  }
  for (size_t i = 0; i < plan->n_filters; i++)
    plan->filters[i]->holder = plan;
  return 0;
}

void
tfx_borrow_get_step (TfxPlan *plan, TfxStep *step)
{
  for (size_t i = 0; i < step->n_parts; i++)
    get_part (plan, &step->parts[i], false);
  step->is_apart = true;
}

void
tfx_borrow_set_step (TfxPlan *plan, TfxStep *step)
{
  step->is_apart = false;
  for (size_t i = 0; i < step->n_parts; i++)
    set_part (plan, &step->parts[i]);
}

/* The slots of a step that is apart have its state. */
double
tfx_borrow_peak (const TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxPlan *plan = f->holder;
  TfxSlot *slot;
  double peak = 0.0;

  while (!plan && (slot = tfx_walk_slot (&walk))) {
    read_resident (slot);
    peak = fmax (peak, tfx_slot_peak (slot));
  }
  if (!plan)
    return peak;
  pthread_mutex_lock (&plan->lock);
  peak = plan->backend->state_peak (plan->engine);
  pthread_mutex_unlock (&plan->lock);
  for (size_t i = 0; i < plan->n_parts; i++) {
    const TfxPlanPart *part = &plan->parts[i];

    if (plan->filters[part->filter] != f ||
        (is_in_engine (plan, part) && !part->step->is_apart))
      continue;
    read_resident (part->slot);
    peak = fmax (peak, tfx_slot_peak (part->slot));
  }
  return peak;
}
