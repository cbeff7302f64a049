/* SPDX-License-Identifier: LGPL-2.1-or-later
 * events.c: the automation events of a slot. */
#include "events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A ring. */
struct TfxEvents
{
  size_t first, n;
  size_t room; /* a power of two */
  TfxEvent *events;
  double *numbers; /* of all events */
};

TfxEvent *
tfx_events_get (const TfxSlot *slot, size_t i)
{
  TfxEvents *e = slot->events;

  return e && i < e->n ? &e->events[(e->first + i) & (e->room - 1)] : NULL;
}

TfxEvent *
tfx_events_last (const TfxSlot *slot)
{
  return slot->events ? tfx_events_get (slot, slot->events->n - 1) : NULL;
}

static void
clear_event (const TfxSlot *slot, TfxEvent *event)
{
  tfx_stage_drop_values (slot->stage, &event->values);
  tfx_stage_unref (&event->stage);
}

/* ---- room -------------------------------------------------------------------------- */

int
tfx_events_reserve (TfxSlot *slot, size_t n, size_t most_bytes)
{
  const size_t n_numbers =
      slot->stage->kind->unit ? 0
      : slot->n_sos > 0
          ? slot->n_sos * (sizeof (TfxSos) + sizeof (TfxSvf)) / sizeof (double)
          : 1;
  TfxEvents *e = slot->events;
  size_t room = 2;
  TfxEvent *events;
  double *numbers;

  while (room < n && room < 2 * TFX_EVENTS_MAX)
    room *= 2;
  if (room * n_numbers * sizeof (double) > most_bytes || (e && room <= e->room))
    return 0;
  if (!e)
    e = slot->events = calloc (1, sizeof *e);
  if (!e)
    return -ENOMEM;
  events = calloc (room, sizeof *events);
  numbers = calloc (room * n_numbers + 1, sizeof *numbers);
  if (!events || !numbers) {
    free (events);
    free (numbers);
    return -ENOMEM;
  }
  for (size_t i = 0; i < room; i++) {
    if (i < e->n) {
      events[i] = *tfx_events_get (slot, i);
      memcpy (numbers + i * n_numbers, events[i].numbers,
          n_numbers * sizeof *numbers);
    }
    events[i].numbers = numbers + i * n_numbers;
  }
  free (e->events);
  free (e->numbers);
  e->events = events;
  e->numbers = numbers;
  e->first = 0;
  e->room = room;
  return 0;
}

void
tfx_events_free (TfxSlot *slot)
{
  while (tfx_events_get (slot, 0))
    tfx_events_remove_first (slot);
  if (slot->events) {
    free (slot->events->events);
    free (slot->events->numbers);
  }
  free (slot->events);
  slot->events = NULL;
}

/* ---- events ------------------------------------------------------------------------ */

/* A unit prepares the values now, so that nothing fails when they are due. */
static int
fill (const TfxSlot *slot, TfxStage *stage, const TfxUnitSpec *spec,
    TfxEvent *event)
{
  const size_t n = slot->n_sos;
  void *values;
  const int ret = tfx_stage_prepare_values (stage, slot->unit, spec, &values);

  if (ret < 0)
    return ret;
  clear_event (slot, event);
  if (stage->kind->unit) {
    event->stage = tfx_stage_ref (stage);
    event->values = values;
  } else if (slot->sos) {
    event->has_shapes = stage->u.sections.has_shapes;
    memcpy (event->numbers, stage->u.sections.sos, n * sizeof (TfxSos));
    if (event->has_shapes)
      memcpy ((TfxSos *)event->numbers + n, stage->u.sections.shapes,
          n * sizeof (TfxSvf));
  } else {
    *event->numbers = stage->u.gain;
  }
  return 0;
}

int
tfx_events_append (TfxSlot *slot, TfxStage *stage, const TfxUnitSpec *spec,
    uint64_t start, size_t n_frames)
{
  TfxEvent *event = tfx_events_last (slot);
  const bool is_more = !event || event->start != start;
  const size_t n = slot->events ? slot->events->n : 0;
  int ret = 0;

  if (is_more && n >= TFX_EVENTS_MAX)
    return -ENOBUFS;
  if (is_more && n >= (slot->events ? slot->events->room : 0))
    ret = tfx_events_reserve (slot, n + 1 < 16 ? 16 : 2 * n, SIZE_MAX);
  if (ret < 0)
    return ret;
  if (is_more) {
    slot->events->n++;
    event = tfx_events_last (slot);
  }
  ret = fill (slot, stage, spec, event);
  if (ret < 0) {
    slot->events->n -= is_more;
    return ret;
  }
  event->start = start;
  event->n_frames = n_frames;
  event->is_set = false;
  return 0;
}

int
tfx_events_prepend (TfxSlot *slot, TfxStage *stage, uint64_t start,
    size_t n_frames)
{
  TfxEvents *e;
  int ret = 0;

  while (tfx_events_get (slot, 0) && tfx_events_get (slot, 0)->start <= start)
    tfx_events_remove_first (slot);
  e = slot->events;
  if (!e || e->n == e->room)
    ret = tfx_events_reserve (slot, e ? 2 * e->room : 2, SIZE_MAX);
  e = slot->events;
  if (ret < 0 || e->n == e->room)
    return ret < 0 ? ret : -ENOBUFS;
  e->first = (e->first + e->room - 1) & (e->room - 1);
  e->n++;
  tfx_events_get (slot, 0)->start = start;
  tfx_events_get (slot, 0)->n_frames = n_frames;
  tfx_events_get (slot, 0)->is_set = true;
  return fill (slot, stage, NULL, tfx_events_get (slot, 0));
}

void
tfx_events_remove_first (TfxSlot *slot)
{
  TfxEvents *e = slot->events;

  clear_event (slot, tfx_events_get (slot, 0));
  e->first = (e->first + 1) & (e->room - 1);
  e->n--;
}

void
tfx_events_cut (TfxSlot *slot, uint64_t frame)
{
  while (tfx_events_last (slot) && tfx_events_last (slot)->start > frame) {
    clear_event (slot, tfx_events_last (slot));
    slot->events->n--;
  }
}

TfxSlotValues
tfx_event_values (const TfxSlot *slot, const TfxEvent *event)
{
  const TfxSos *sos = (const TfxSos *)event->numbers;

  if (!slot->sos)
    return (TfxSlotValues){ NULL, NULL, *event->numbers };
  return (TfxSlotValues){ sos,
    event->has_shapes ? (const TfxSvf *)(sos + slot->n_sos) : NULL, 1.0 };
}

const TfxEvent *
tfx_events_waiting (const TfxSlot *slot)
{
  const TfxEvent *event = tfx_events_get (slot, 0);

  return event && event->is_set ? event : NULL;
}

void
tfx_events_remake (TfxSlot *slot, const TfxUnitSpec *spec)
{
  TfxEvent *event;

  for (size_t i = 0; (event = tfx_events_get (slot, i)); i++) {
    tfx_stage_drop_values (slot->stage, &event->values);
    if (tfx_stage_prepare_values (event->stage, slot->unit, spec,
            &event->values) < 0)
      event->values = NULL;
  }
}

void
tfx_events_move (TfxSlot *slot, TfxSlot *from, const TfxUnitSpec *spec)
{
  TfxEvents *events = slot->events;

  slot->events = from->events;
  from->events = events;
  if (slot->unit)
    tfx_events_remake (slot, spec);
}
