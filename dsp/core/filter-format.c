/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter-format.c: a filter goes on with other samples. */
#include <errno.h>
#include <stdlib.h>

#include "borrow.h"
#include "prepare.h"
#include "events.h"

/* Units of another format, made ready beside the ones in use. */
typedef struct Format
{
  TfxFilter *filter;
  TfxSlotSpec spec;
  void **units;
  size_t n, at;
  double *state; /* room for the largest */
  size_t largest;
  int ret;
} Format;

/* Others go on as they are, and so do numbers of theirs that move. */
static bool
is_remade (const TfxSlot *slot)
{
  return slot->unit && slot->stage->kind->unit->is_for_format;
}

static void
count_unit (TfxSlot *slot, void *data)
{
  Format *format = data;
  const size_t size = tfx_stage_state_size (slot->stage);

  TfxFilterSpec spec = format->spec.filter;

  spec.n_channels = slot->n_channels;
  if (slot->stage->kind->check && format->ret == 0)
    format->ret = slot->stage->kind->check (slot->stage, &spec);
  if (!is_remade (slot))
    return;
  format->n++;
  format->largest = size > format->largest ? size : format->largest;
}

static void
make_unit (TfxSlot *slot, void *data)
{
  Format *format = data;
  const TfxUnitSpec spec = tfx_slot_unit_spec (&format->spec, slot->n_channels);

  if (!is_remade (slot) || format->ret < 0)
    return;
  format->ret = slot->stage->kind->unit->make (slot->stage, &spec,
      &format->units[format->at++]);
}

/* Takes over from the old unit; what is left of that. */
static void *
take_over (const Format *format, const TfxSlot *slot, void *unit, void *old)
{
  const TfxUnitKind *kind = slot->stage->kind->unit;
  const size_t n_state = tfx_stage_state_size (slot->stage) * slot->n_channels;

  if (kind->succeed && kind->is_changing (old) &&
      kind->succeed (unit, old, n_state))
    return NULL;
  kind->get_state (old, format->state);
  kind->set_state (unit, format->state);
  return old;
}

static void
swap_unit (TfxSlot *slot, void *data)
{
  Format *format = data;
  const TfxUnitKind *kind = slot->stage->kind->unit;
  const TfxUnitSpec spec = tfx_slot_unit_spec (&format->spec, slot->n_channels);
  void *unit;

  if (!is_remade (slot))
    return;
  unit = format->units[format->at++];
  if (format->ret == 0) {
    void *old = take_over (format, slot, unit, slot->unit);

    slot->unit = unit;
    unit = old;
    tfx_events_remake (slot, &spec);
  }
  if (unit)
    kind->free (unit);
}

static void
set_sample (TfxSlot *slot, void *data)
{
  const TfxUnitKind *kind = slot->stage->kind->unit;

  if (slot->unit && kind->set_sample)
    kind->set_sample (slot->unit, *(const TfxSample *)data);
}

/* The past is there, and none is taken over step by step any more. */
static void
stop_catching_up (TfxPlaces *list, TfxFilter *f)
{
  for (size_t i = 0; i < list->n; i++) {
    TfxPlace *p = &list->places[i];

    if (p->phase == TFX_PLACE_CATCHING_UP) {
      p->phase = TFX_PLACE_WAITING;
      f->wants_compile = true;
    }
    for (size_t b = 0; p->slot && b < p->slot->n_branches; b++)
      stop_catching_up (&p->slot->branches[b], f);
  }
}

/* All of them, or none. */
static void
remake_units (Format *format)
{
  TfxPlaces *list = &format->filter->places, *next = &format->filter->next;

  format->units = calloc (format->n, sizeof *format->units);
  format->state = calloc (format->largest + 1,
      format->spec.filter.n_channels * sizeof (double));
  if (!format->units || !format->state) {
    format->ret = -ENOMEM;
  } else {
    tfx_slots_each (list, make_unit, format);
    tfx_prepare_each (next, make_unit, format);
    format->at = 0;
    tfx_slots_each (list, swap_unit, format);
    tfx_prepare_each (next, swap_unit, format);
    if (format->ret == 0)
      tfx_prepare_remake_values (next, &format->spec);
  }
  free (format->units);
  free (format->state);
}

int
tfx_filter_set_format (TfxFilter *f, TfxSample sample, size_t block_frames)
{
  Format format = { .filter = f, .spec = tfx_filter_slot_spec (f) };

  if ((unsigned)sample > TFX_SAMPLE_F64)
    return -EINVAL;
  if (f->spec.sample == sample && f->spec.block_frames == block_frames)
    return 0;
  format.spec.filter.sample = sample;
  format.spec.filter.block_frames = block_frames;
  tfx_slots_each (&f->places, count_unit, &format);
  tfx_prepare_each (&f->next, count_unit, &format);
  if (format.ret < 0)
    return format.ret;
  tfx_borrow_from_device (f);
  if (format.n > 0)
    remake_units (&format);
  if (format.ret < 0)
    return format.ret;
  tfx_slots_each (&f->places, set_sample, &sample);
  stop_catching_up (&f->places, f);
  f->spec = format.spec.filter;
  f->serial++;
  return 0;
}
