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

static int
reserve (TfxPlan *plan)
{
  size_t n_sos = 0, n_slots = 0, largest = 0;

  for (size_t i = 0; i < plan->n_filters; i++) {
    TfxWalk walk = tfx_walk (&plan->filters[i]->slots);
    const TfxSlot *slot;

    while ((slot = tfx_walk_slot (&walk))) {
      const size_t size = tfx_stage_state_size (slot->stage);

      n_slots++;
      n_sos += slot->n_sos;
      largest = size > largest ? size : largest;
    }
  }
  plan->parts = calloc (n_slots + 1, sizeof *plan->parts);
  plan->sos = calloc (n_sos + 1, sizeof *plan->sos);
  if (!plan->backend->uses_units)
    plan->scratch =
        calloc (largest + 1, plan->n_channels * sizeof *plan->scratch);
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

/* Room for n steps. */
static int
make_list (TfxSteps *list, size_t n)
{
  list->steps = calloc (n + 1, sizeof *list->steps);
  return list->steps ? 0 : -ENOMEM;
}

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

/* Adds a section or a gain to the last cascade, or to a new one if it is a separate step. */
static void
add_cascade (Compiler *c, TfxSteps *list, TfxSlot *slot)
{
  const double gain = slot->sos ? 1.0 : slot->gain;
  const bool is_apart =
      (slot->is_automated || (c->is_cut && slot->is_reserved)) &&
      c->plan->backend->update_step;
  TfxStep *step = list->n > 0 ? &list->steps[list->n - 1] : NULL;

  if (!step || step->kind != TFX_STEP_CASCADE || step->is_alone || is_apart ||
      !is_foldable (gain) || !is_foldable (step->tail * gain)) {
    step = add_step (c, list, TFX_STEP_CASCADE);
    step->sos = c->plan->sos + c->plan->n_sos;
    step->is_alone = is_apart || !is_foldable (gain);
  }
  add_part (c, step, slot);
  step->tail = slot->n_sos > 0 ? 1.0 : step->tail * gain;
  step->n_sos += slot->n_sos;
  c->plan->n_sos += slot->n_sos;
}

static int
add_unit (Compiler *c, TfxSteps *list, TfxSlot *slot)
{
  TfxSlotSpec spec = tfx_filter_slot_spec (c->plan->filters[c->filter]);
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
add_slot (Compiler *c, TfxSteps *list, TfxSlot *slot)
{
  TfxStep *step;
  int ret = 0;

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
  step->branches = calloc (slot->n_branches, sizeof *step->branches);
  if (!step->branches)
    return -ENOMEM;
  step->n_branches = slot->n_branches;
  for (size_t b = 0; ret == 0 && b < slot->n_branches; b++) {
    const TfxSlots *slots = &slot->branches[b];

    ret = make_list (&step->branches[b], slots->n);
    if (ret == 0)
      ret = add_slots (c, &step->branches[b], slots);
  }
  return ret;
}

/* The old and the new slot of an entry, each with room for a step. */
static int
add_fade (Compiler *c, TfxSteps *list, const TfxSlotEntry *entry)
{
  TfxSlot *const slots[2] = { entry->old, entry->slot };
  TfxStep *step;
  int ret = 0;

  if (!c->plan->backend->update_step)
    return -ENOTSUP;
  step = add_step (c, list, TFX_STEP_FADE);
  step->fade = entry->fade;
  c->plan->is_fading = true;
  step->branches = calloc (2, sizeof *step->branches);
  if (!step->branches)
    return -ENOMEM;
  step->n_branches = 2;
  for (int k = 0; ret == 0 && k < 2; k++) {
    ret = make_list (&step->branches[k], 1);
    if (ret == 0)
      ret = add_slot (c, &step->branches[k], slots[k]);
  }
  return ret;
}

/* Slots in series, to a list with room for them. */
static int
add_slots (Compiler *c, TfxSteps *list, const TfxSlots *slots)
{
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < slots->n; i++) {
    const TfxSlotEntry *entry = &slots->entries[i];

    if (entry->phase == TFX_SLOT_CATCHING_UP)
      ret = add_slot (c, list, entry->old);
    else if (entry->phase == TFX_SLOT_WAITING ||
             (entry->phase == TFX_SLOT_FADING &&
                 entry->fade->done < entry->fade->length))
      ret = add_fade (c, list, entry);
    else
      ret = add_slot (c, list, entry->slot);
  }
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
  if (ret == 0)
    ret = make_list (&plan->top, n_entries);
  for (; ret == 0 && c.filter < plan->n_filters; c.filter++)
    ret = add_slots (&c, &plan->top, &plan->filters[c.filter]->slots);
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
  plan->is_fading = false;
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

void
tfx_compile_set_values (TfxPlan *plan)
{
  for (size_t i = 0; i < plan->n_parts; i++) {
    TfxStep *step = plan->parts[i].step;

    if (step->parts != &plan->parts[i])
      continue;
    if (step->kind == TFX_STEP_CASCADE) {
      tfx_compile_set_step (plan, step);
    } else if (step->stage != step->parts->slot->stage) {
      tfx_stage_unref (&step->stage);
      step->stage = tfx_stage_ref (step->parts->slot->stage);
    }
  }
}
