/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compile.c: the slots of a row of filters become the steps of a plan.
 *
 * Adjacent sections become one cascade, also those of several filters.  A gain is folded
 * into the next sections or, at the end of a cascade, into its gain, unless the product
 * would leave the range of a double.  Slots that have been an identity since rest are
 * omitted.  An automated slot is a separate step. */
#include "compile.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "design/sos.h"

/* ---- room ------------------------------------------------------- */

typedef struct Count
{
  size_t n_sos, n_slots, largest;
} Count;

static void
count_slot (TfxSlot *slot, void *data)
{
  Count *count = data;
  const size_t size = tfx_stage_state_size (slot->stage);

  count->n_slots++;
  count->n_sos += slot->n_sos;
  count->largest = size > count->largest ? size : count->largest;
}

static int
reserve (TfxPlan *plan)
{
  Count count = { 0, 0, 0 };

  for (size_t i = 0; i < plan->n_filters; i++)
    tfx_slots_each (&plan->filters[i]->slots, count_slot, &count);
  plan->parts = calloc (count.n_slots + 1, sizeof *plan->parts);
  plan->sos = calloc (count.n_sos + 1, sizeof *plan->sos);
  if (!plan->backend->uses_units)
    plan->scratch =
        calloc (count.largest + 1, plan->n_channels * sizeof *plan->scratch);
  if (!plan->parts || !plan->sos ||
      (!plan->backend->uses_units && !plan->scratch))
    return -ENOMEM;
  return 0;
}

/* ---- steps ------------------------------------------------------------------------ */

/* The plan, and the filter whose slots are added. */
typedef struct Compiler
{
  TfxPlan *plan;
  size_t filter;
  bool is_cut; /* at reserved slots */
} Compiler;

static int add_slots (Compiler *c, TfxSteps *list, const TfxSlots *slots);

static TfxStep *
add_step (Compiler *c, TfxSteps *list, TfxStepKind kind)
{
  TfxStep *step = &list->steps[list->n++];

  step->kind = kind;
  step->index = c->plan->n_all_steps++;
  step->gain = step->tail = 1.0;
  step->plan = c->plan;
  return step;
}

static void
add_part (Compiler *c, TfxStep *step, TfxSlot *slot)
{
  TfxPlan *plan = c->plan;

  step->parts = step->parts ? step->parts : plan->parts + plan->n_parts;
  plan->parts[plan->n_parts++] = (TfxPlanPart){ step, slot, c->filter,
    step->n_sos, slot->n_sos, tfx_stage_state_size (slot->stage) };
  step->n_parts++;
}

/* Products of gains and coefficients stay within the range of a double. */
static bool
is_foldable (double gain)
{
  return gain == 0.0 || (fabs (gain) > 1e-60 && fabs (gain) < 1e60);
}

/* The cascade for a section or a gain; a new one if the slot is automated. */
static TfxStep *
open_cascade (Compiler *c, TfxSteps *list, const TfxSlot *slot, double gain)
{
  TfxStep *last = list->n > 0 ? &list->steps[list->n - 1] : NULL;
  const bool is_apart =
      (slot->is_automated || (c->is_cut && slot->is_reserved)) &&
      c->plan->backend->update_step;
  TfxStep *step;

  if (last && last->kind == TFX_STEP_CASCADE && !last->is_alone && !is_apart &&
      is_foldable (gain) && is_foldable (last->tail * gain))
    return last;
  step = add_step (c, list, TFX_STEP_CASCADE);
  step->sos = c->plan->sos + c->plan->n_sos;
  step->is_alone = is_apart || !is_foldable (gain);
  return step;
}

static void
add_cascade (Compiler *c, TfxSteps *list, TfxSlot *slot)
{
  const double gain = slot->sos ? 1.0 : slot->gain;
  TfxStep *step = open_cascade (c, list, slot, gain);

  add_part (c, step, slot);
  step->tail = slot->n_sos > 0 ? 1.0 : step->tail * gain;
  step->n_sos += slot->n_sos;
  c->plan->n_sos += slot->n_sos;
}

static int
add_unit (Compiler *c, TfxSteps *list, TfxSlot *slot)
{
  TfxFilter *f = c->plan->filters[c->filter];
  TfxSlotSpec spec = tfx_filter_slot_spec (f);
  TfxStep *step;
  int ret;

  if (!c->plan->backend->uses_units)
    spec.kernel = NULL;
  ret = tfx_slot_make_room (slot, &spec);
  if (ret < 0)
    return ret;
  step = add_step (c, list, slot->stage->kind->step);
  step->stage = tfx_stage_ref (slot->stage);
  if (c->plan->backend->uses_units) {
    step->unit = slot->unit;
    step->unit_kind = slot->stage->kind->unit;
  }
  add_part (c, step, slot);
  return 0;
}

static int
make_branches (TfxStep *step, size_t n)
{
  step->branches = calloc (n, sizeof *step->branches);
  step->n_branches = step->branches ? n : 0;
  return step->branches ? 0 : -ENOMEM;
}

static int
add_slot (Compiler *c, TfxSteps *list, TfxSlot *slot)
{
  TfxStep *step;
  int ret;

  if (!slot || !slot->is_active)
    return 0;
  if (slot->stage->kind->unit)
    return add_unit (c, list, slot);
  if (slot->stage->kind->step == TFX_STEP_CASCADE) {
    add_cascade (c, list, slot);
    return 0;
  }
  step = add_step (c, list, slot->stage->kind->step);
  if (step->kind == TFX_STEP_SPLIT)
    step->stage = tfx_stage_ref (slot->stage);
  ret = make_branches (step, slot->n_branches);
  for (size_t b = 0; ret == 0 && b < slot->n_branches; b++)
    ret = add_slots (c, &step->branches[b], &slot->branches[b]);
  return ret;
}

/* The old and the new slot of an entry, each with room for a step. */
static int
add_fade (Compiler *c, TfxSteps *list, const TfxSlotEntry *entry)
{
  TfxSlot *const slots[2] = { entry->old, entry->slot };
  TfxStep *step = add_step (c, list, TFX_STEP_FADE);
  int ret = make_branches (step, 2);

  step->fade = entry->fade;
  for (int k = 0; ret == 0 && k < 2; k++) {
    step->branches[k].steps = calloc (1, sizeof (TfxStep));
    ret = step->branches[k].steps ? add_slot (c, &step->branches[k], slots[k])
                                  : -ENOMEM;
  }
  return ret;
}

static int
add_entry (Compiler *c, TfxSteps *list, const TfxSlotEntry *entry)
{
  switch (entry->phase) {
    case TFX_SLOT_CATCHING_UP:
      return add_slot (c, list, entry->old);
    case TFX_SLOT_WAITING:
      return add_fade (c, list, entry);
    case TFX_SLOT_FADING:
      if (entry->fade->done < entry->fade->length)
        return add_fade (c, list, entry);
      break;
    case TFX_SLOT_STEADY:
      break;
  }
  return add_slot (c, list, entry->slot);
}

/* The steps of a branch. */
static int
add_slots (Compiler *c, TfxSteps *list, const TfxSlots *slots)
{
  int ret = 0;

  list->steps = calloc (slots->n + 1, sizeof *list->steps);
  if (!list->steps)
    return -ENOMEM;
  for (size_t i = 0; ret == 0 && i < slots->n; i++)
    ret = add_entry (c, list, &slots->entries[i]);
  return ret;
}

int
tfx_compile_steps (TfxPlan *plan, bool is_cut)
{
  Compiler c = { plan, 0, is_cut };
  size_t n_entries = 0;
  int ret = reserve (plan);

  for (size_t i = 0; i < plan->n_filters; i++) {
    n_entries += plan->filters[i]->slots.n;
    plan->n_chain_stages += plan->filters[i]->slots.n_stages;
  }
  plan->top.steps = calloc (n_entries + 1, sizeof *plan->top.steps);
  if (!plan->top.steps)
    ret = -ENOMEM;
  for (; ret == 0 && c.filter < plan->n_filters; c.filter++) {
    const TfxSlots *slots = &plan->filters[c.filter]->slots;

    for (size_t i = 0; ret == 0 && i < slots->n; i++)
      ret = add_entry (&c, &plan->top, &slots->entries[i]);
  }
  if (ret == 0)
    tfx_compile_set_values (plan);
  return ret;
}

/* ---- freeing ---------------------------------------------------------------------- */

static void
clear_list (TfxSteps *list)
{
  for (size_t i = 0; i < list->n; i++) {
    TfxStep *s = &list->steps[i];

    tfx_stage_unref (&s->stage);
    for (size_t k = 0; k < s->n_branches; k++)
      clear_list (&s->branches[k]);
    free (s->branches);
  }
  free (list->steps);
  *list = (TfxSteps){ 0, NULL };
}

void
tfx_compile_clear (TfxPlan *plan)
{
  clear_list (&plan->top);
  free (plan->parts);
  free (plan->sos);
  free (plan->scratch);
  plan->parts = NULL;
  plan->sos = NULL;
  plan->scratch = NULL;
  plan->n_parts = plan->n_sos = plan->n_all_steps = 0;
  plan->n_chain_stages = 0;
}

/* ---- values ------------------------------------------------------------------------- */

/* Keeps a product of gains finite: 0 times infinity is NaN. */
static double
limit (double gain)
{
  return gain > DBL_MAX ? DBL_MAX : gain < -DBL_MAX ? -DBL_MAX : gain;
}

void
tfx_compile_set_step (TfxPlan *plan, TfxStep *step)
{
  double gain = 1.0;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const TfxSlot *slot = part->slot;
    TfxSos *sos = step->sos + part->first_sos;

    if (!slot->sos) {
      gain = limit (gain * slot->gain);
      /* It cannot be folded any more. */
      if (!step->is_alone && !is_foldable (gain)) {
        gain = fabs (gain) < 1.0 ? 0.0 : gain;
        plan->is_stale = true;
      }
      continue;
    }
    memcpy (sos, slot->sos, slot->n_sos * sizeof *sos);
    if (slot->n_sos == 0 || gain == 1.0)
      continue;
    tfx_sos_scale (&sos[0], gain);
    gain = 1.0;
  }
  step->gain = gain;
}

static void
each_step (TfxPlan *plan, TfxSteps *list, TfxStepFunction f, void *data)
{
  for (size_t i = 0; i < list->n; i++) {
    f (plan, &list->steps[i], data);
    for (size_t k = 0; k < list->steps[i].n_branches; k++)
      each_step (plan, &list->steps[i].branches[k], f, data);
  }
}

void
tfx_compile_each (TfxPlan *plan, TfxStepFunction f, void *data)
{
  each_step (plan, &plan->top, f, data);
}

static void
set_values (TfxPlan *plan, TfxStep *step, void *data)
{
  if (step->kind == TFX_STEP_CASCADE) {
    tfx_compile_set_step (plan, step);
  } else if (step->n_parts > 0 && step->stage != step->parts->slot->stage) {
    tfx_stage_unref (&step->stage);
    step->stage = tfx_stage_ref (step->parts->slot->stage);
  }
}

void
tfx_compile_set_values (TfxPlan *plan)
{
  tfx_compile_each (plan, set_values, NULL);
}
