/* SPDX-License-Identifier: LGPL-2.1-or-later
 * values.c: a slot gets other values of the same structure. */
#include "values.h"

/* The unit, if there is one, goes to slot->new_values. */
static void
take_values (TfxFilter *f, TfxSlot *slot, TfxStage *stage, unsigned n_cells)
{
  const TfxUnitKind *kind = stage->kind->unit;
  const bool was_active = slot->is_active;

  if (stage->kind->step == TFX_STEP_CASCADE) {
    const TfxSlotValues values = tfx_slot_values (stage);

    tfx_slot_glide (slot, &values, n_cells, f->n_run);
    f->n_values += n_cells == 0;
  } else {
    if (slot->unit)
      kind->set_values (slot->unit, slot->new_values,
          n_cells > 0 ? tfx_slot_fade_frames (&f->spec) : 0, TFX_WEIGHT_SMOOTH);
    slot->new_values = NULL;
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
tfx_values_take (TfxFilter *f, TfxSlot *slot, TfxStage *stage)
{
  take_values (f, slot, stage, tfx_slot_fade_cells (&f->spec));
}

int
tfx_values_set (TfxFilter *f, TfxSlot *slot, TfxStage *stage, unsigned n_cells)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  int ret = 0;

  if (tfx_slot_has_values (slot, stage))
    return 0;
  if (slot->unit)
    ret = stage->kind->unit->prepare_values (slot->unit, stage, &unit,
        &slot->new_values);
  if (ret == 0)
    take_values (f, slot, stage, n_cells);
  return ret;
}
