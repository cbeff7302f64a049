/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter-format.c: a running filter gets another sample type or block length. */
#include <errno.h>
#include <stdlib.h>

#include "borrow.h"
#include "events.h"
#include "prepare.h"

typedef struct Format
{
  TfxSlotSpec spec;
  size_t n_state; /* doubles of the largest state */
  double *state;
  int ret;
} Format;

/* Makes a unit for the format beside the one in use, unless that takes any. */
static void
make_spare (TfxSlot *slot, Format *format)
{
  const TfxUnitKind *kind = slot->stage->kind->unit;
  const TfxUnitSpec spec = tfx_slot_unit_spec (&format->spec, slot->n_channels);
  const size_t n = tfx_stage_state_size (slot->stage) * slot->n_channels;

  if (format->ret == 0)
    format->ret = tfx_slot_check (slot, slot->stage, &format->spec.filter);
  if (format->ret < 0 || !slot->unit || slot->spare || !kind->is_for_format)
    return;
  format->ret = kind->make (slot->stage, &spec, &slot->spare);
  format->n_state = n > format->n_state ? n : format->n_state;
}

/* The spare unit takes over from the old one, or is freed. */
static void
use_spare (TfxSlot *slot, Format *format)
{
  const TfxUnitKind *kind = slot->stage->kind->unit;
  const TfxUnitSpec spec = tfx_slot_unit_spec (&format->spec, slot->n_channels);
  const size_t n = tfx_stage_state_size (slot->stage) * slot->n_channels;
  void *unit = slot->spare, *old = slot->unit;

  slot->spare = NULL;
  if (unit && format->ret < 0)
    kind->free (unit);
  if (!old || format->ret < 0)
    return;
  if (unit) {
    slot->unit = unit;
    if (!kind->succeed || !kind->is_changing (old) ||
        !kind->succeed (unit, old, n)) {
      kind->get_state (old, format->state);
      kind->set_state (unit, format->state);
      kind->free (old);
    }
    tfx_events_remake (slot, &spec);
  }
  if (kind->set_sample)
    kind->set_sample (slot->unit, format->spec.filter.sample);
}

int
tfx_filter_set_format (TfxFilter *f, TfxSample sample, size_t block_frames)
{
  Format format = { .spec = tfx_filter_slot_spec (f) };
  const TfxSlots *lists[2] = { &f->slots, &f->next };
  TfxSlotEntry *entry;
  TfxSlot *slot;
  TfxWalk walk;

  if ((unsigned)sample > TFX_SAMPLE_F64)
    return -EINVAL;
  if (f->spec.sample == sample && f->spec.block_frames == block_frames)
    return 0;
  format.spec.filter.sample = sample;
  format.spec.filter.block_frames = block_frames;
  tfx_borrow_from_device (f);
  /* Both have the slots that stay; it does not matter. */
  for (int i = 0; i < 2; i++) {
    for (walk = tfx_walk (lists[i]); (slot = tfx_walk_slot (&walk));)
      make_spare (slot, &format);
  }
  format.state = calloc (format.n_state + 1, sizeof *format.state);
  if (format.ret == 0 && !format.state)
    format.ret = -ENOMEM;
  for (int i = 0; i < 2; i++) {
    for (walk = tfx_walk (lists[i]); (slot = tfx_walk_slot (&walk));)
      use_spare (slot, &format);
  }
  free (format.state);
  if (format.ret < 0)
    return format.ret;
  tfx_prepare_remake_values (&f->next, &format.spec);
  /* All history is there, and none is taken over step by step any more. */
  for (walk = tfx_walk (&f->slots); (entry = tfx_walk_entry (&walk));) {
    if (entry->phase != TFX_SLOT_CATCHING_UP)
      continue;
    entry->phase = TFX_SLOT_WAITING;
    f->wants_compile = true;
  }
  f->spec = format.spec.filter;
  f->serial++;
  return 0;
}
