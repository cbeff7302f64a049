/* SPDX-License-Identifier: LGPL-2.1-or-later
 * values.c: a slot gets other values of the same structure. */
#include "values.h"

static void
take_values (TfxFilter *f, TfxSlot *slot, TfxStage *stage, void *prepared,
    unsigned n_cells)
{
  const bool was_active = slot->is_active;

  if (stage->kind->step == TFX_STEP_CASCADE) {
    const TfxSlotValues values = tfx_slot_values (stage);

    tfx_slot_glide (slot, &values, n_cells, f->n_run);
    f->n_values += n_cells == 0;
  } else {
    if (slot->unit)
      stage->kind->unit->set_values (slot->unit, prepared,
          n_cells > 0 ? tfx_slot_fade_frames (&f->spec) : 0, TFX_WEIGHT_SMOOTH);
    tfx_stage_ref (stage);
    tfx_stage_unref (&slot->stage);
    slot->stage = stage;
    slot->is_active = slot->is_active || !tfx_stage_is_identity (stage);
    f->n_settings++;
  }
  f->wants_compile = f->wants_compile || (slot->is_active && !was_active);
  f->is_changing = f->is_changing || n_cells > 0;
}

void
tfx_values_take (TfxFilter *f, TfxSlot *slot, TfxStage *stage, void *values)
{
  take_values (f, slot, stage, values, tfx_slot_fade_cells (&f->spec));
}

int
tfx_values_set (TfxFilter *f, TfxSlot *slot, TfxStage *stage, unsigned n_cells)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  void *values = NULL;
  int ret = 0;

  if (tfx_slot_has_values (slot, stage))
    return 0;
  if (slot->unit)
    ret = stage->kind->unit->prepare_values (slot->unit, stage, &unit, &values);
  if (ret == 0)
    take_values (f, slot, stage, values, n_cells);
  return ret;
}
