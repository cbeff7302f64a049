/* SPDX-License-Identifier: LGPL-2.1-or-later
 * borrow.c: the state of a filter, from its slots to an engine and back. */
#include "borrow.h"

#include <string.h>

#include "backend.h"

/* Whether the engine has the state of a stage, rather than its unit. */
static bool
is_in_engine (const TfxPlan *plan, const TfxPlanStage *entry)
{
  return !plan->backend->uses_units || !entry->slot->stage->kind->unit;
}

static void
get_entry (TfxPlan *plan, size_t i)
{
  const TfxPlanStage *entry = &plan->stages[i];
  TfxSlot *slot = entry->slot;

  if (!is_in_engine (plan, entry) || entry->step->is_apart)
    return;
  if (!slot->unit) {
    plan->backend->get_state (plan->engine, i, slot->state);
    return;
  }
  plan->backend->get_state (plan->engine, i, plan->scratch);
  slot->stage->kind->unit->set_state (slot->unit, plan->scratch);
}

static void
set_entry (TfxPlan *plan, size_t i)
{
  const TfxPlanStage *entry = &plan->stages[i];
  TfxSlot *slot = entry->slot;

  if (!is_in_engine (plan, entry))
    return;
  if (!slot->unit) {
    plan->backend->set_state (plan->engine, i, slot->state);
    return;
  }
  slot->stage->kind->unit->get_state (slot->unit, plan->scratch);
  plan->backend->set_state (plan->engine, i, plan->scratch);
}

void
tfx_borrow_give_back (TfxFilter *f)
{
  TfxPlan *plan = f->holder;

  if (!plan)
    return;
  pthread_mutex_lock (&plan->lock);
  for (size_t i = 0; i < plan->n_stages; i++) {
    if (plan->filters[plan->stages[i].filter] == f)
      get_entry (plan, i);
  }
  pthread_mutex_unlock (&plan->lock);
  f->holder = NULL;
}

void
tfx_borrow_from_device (TfxFilter *f)
{
  if (f->holder && !f->holder->backend->uses_units)
    tfx_borrow_give_back (f);
}

void
tfx_borrow_load (TfxPlan *plan)
{
  for (size_t i = 0; i < plan->n_stages; i++)
    plan->stages[i].step->is_apart = false;
  for (size_t i = 0; i < plan->n_stages; i++) {
    const TfxPlanStage *entry = &plan->stages[i];

    set_entry (plan, i);
    entry->step->is_apart =
        entry->step->is_apart || entry->slot->motion.is_entered;
  }
  for (size_t i = 0; i < plan->n_filters; i++)
    plan->filters[i]->holder = plan;
}

void
tfx_borrow_get_step (TfxPlan *plan, TfxStep *step)
{
  for (size_t i = 0; i < plan->n_stages; i++) {
    if (plan->stages[i].step == step)
      get_entry (plan, i);
  }
  step->is_apart = true;
}

void
tfx_borrow_set_step (TfxPlan *plan, TfxStep *step)
{
  step->is_apart = false;
  for (size_t i = 0; i < plan->n_stages; i++) {
    if (plan->stages[i].step == step)
      set_entry (plan, i);
  }
}

double
tfx_borrow_engine_peak (const TfxFilter *f)
{
  TfxPlan *plan = f->holder;
  double peak;

  if (!plan)
    return 0.0;
  pthread_mutex_lock (&plan->lock);
  peak = plan->backend->state_peak (plan->engine);
  pthread_mutex_unlock (&plan->lock);
  return peak;
}

double
tfx_borrow_slot_peak (const TfxFilter *f, const TfxSlot *slot)
{
  const bool is_unit = slot->stage->kind->unit != NULL;

  /* It is in the engine. */
  if (f->holder && !(is_unit && f->holder->backend->uses_units))
    return 0.0;
  return tfx_slot_peak (slot);
}
