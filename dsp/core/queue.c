/* SPDX-License-Identifier: LGPL-2.1-or-later
 * queue.c: values that a slot is to have at points of the grid that are still to
 * come. */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

/* A ring. */
struct TfxQueue
{
  size_t first, n;
  size_t room;     /* a power of two */
  size_t n_values; /* of each entry: sections and their shapes; gains */
  TfxQueueEntry *entries;
  double *values; /* [room][n_values] */
};

static size_t
index_of (const TfxQueue *q, size_t i)
{
  return (q->first + i) & (q->room - 1);
}

static TfxQueueEntry *
entry_at (TfxQueue *q, size_t i)
{
  return &q->entries[index_of (q, i)];
}

static double *
values_at (TfxQueue *q, size_t i)
{
  return q->values + index_of (q, i) * q->n_values;
}

static void
clear_entry (const TfxSlot *slot, TfxQueueEntry *e)
{
  if (e->values)
    slot->stage->kind->unit->drop_values (e->values);
  e->values = NULL;
  tfx_stage_unref (&e->stage);
}

static int
make_queue (TfxSlot *slot)
{
  if (slot->queue)
    return 0;
  slot->queue = calloc (1, sizeof *slot->queue);
  if (!slot->queue)
    return -ENOMEM;
  if (!slot->stage->kind->unit)
    slot->queue->n_values =
        slot->sos ? slot->n_sos * (sizeof (TfxSos) + sizeof (TfxSvf)) /
                        sizeof (double)
                  : 1;
  return 0;
}

/* A power of two. */
static int
set_room (TfxQueue *q, size_t room)
{
  TfxQueueEntry *entries;
  double *values;

  entries = calloc (room, sizeof *entries);
  values = calloc (room * q->n_values + 1, sizeof *values);
  if (!entries || !values) {
    free (entries);
    free (values);
    return -ENOMEM;
  }
  for (size_t i = 0; i < q->n; i++) {
    entries[i] = *entry_at (q, i);
    memcpy (values + i * q->n_values, values_at (q, i),
        q->n_values * sizeof *values);
  }
  free (q->entries);
  free (q->values);
  q->entries = entries;
  q->values = values;
  q->first = 0;
  q->room = room;
  return 0;
}

/* For one more; twice as many as there were, so that there soon are enough. */
static int
make_room (TfxQueue *q)
{
  if (q->n < q->room)
    return 0;
  if (q->room >= TFX_QUEUE_MAX)
    return -ENOBUFS;
  return set_room (q, q->room ? 2 * q->room : FIRST_ROOM);
}

int
tfx_queue_reserve (TfxSlot *slot, size_t n, size_t most_bytes)
{
  int ret = make_queue (slot);
  size_t room = FIRST_ROOM;

  while (room < n && room < TFX_QUEUE_MAX)
    room *= 2;
  if (ret < 0 || room <= slot->queue->room ||
      room * slot->queue->n_values * sizeof (double) > most_bytes)
    return ret;
  return set_room (slot->queue, room);
}

/* A unit makes its values ready now, so that nothing fails when they are due. */
static int
fill_unit (const TfxSlot *slot, TfxStage *stage, const TfxUnitSpec *spec,
    TfxQueueEntry *e)
{
  void *values = NULL;
  int ret = 0;

  if (slot->unit)
    ret = stage->kind->unit->prepare_values (slot->unit, stage, spec, &values);
  if (ret < 0)
    return ret;
  clear_entry (slot, e);
  e->stage = tfx_stage_ref (stage);
  e->values = values;
  return 0;
}

static void
fill_sections (const TfxSlot *slot, const TfxStage *stage, TfxQueueEntry *e,
    double *values)
{
  const size_t n = slot->n_sos;

  memcpy (values, stage->u.sections.sos, n * sizeof (TfxSos));
  e->has_shapes = stage->u.sections.has_shapes;
  if (e->has_shapes)
    memcpy (values + n * sizeof (TfxSos) / sizeof (double),
        stage->u.sections.shapes, n * sizeof (TfxSvf));
}

int
tfx_queue_add (TfxSlot *slot, TfxStage *stage, const TfxUnitSpec *spec,
    uint64_t frame)
{
  int ret = make_queue (slot);
  TfxQueue *q = slot->queue;
  size_t at;

  if (ret < 0)
    return ret;
  at = q->n > 0 && entry_at (q, q->n - 1)->frame == frame ? q->n - 1 : q->n;
  ret = at == q->n ? make_room (q) : 0;
  if (ret < 0)
    return ret;
  if (stage->kind->unit)
    ret = fill_unit (slot, stage, spec, entry_at (q, at));
  else if (slot->sos)
    fill_sections (slot, stage, entry_at (q, at), values_at (q, at));
  else
    *values_at (q, at) = stage->u.gain;
  if (ret < 0)
    return ret;
  entry_at (q, at)->frame = frame;
  q->n = at + 1;
  return 0;
}

void
tfx_queue_remake (TfxSlot *slot, const TfxUnitSpec *spec)
{
  const TfxUnitKind *kind = slot->stage->kind->unit;

  for (size_t i = 0; slot->queue && i < slot->queue->n; i++) {
    TfxQueueEntry *e = entry_at (slot->queue, i);

    kind->drop_values (e->values);
    e->values = NULL;
    if (kind->prepare_values (slot->unit, e->stage, spec, &e->values) < 0)
      e->values = NULL;
  }
}

void
tfx_queue_move (TfxSlot *slot, TfxSlot *from, const TfxUnitSpec *spec)
{
  TfxQueue *queue = slot->queue;

  slot->queue = from->queue;
  from->queue = queue;
  if (slot->unit)
    tfx_queue_remake (slot, spec);
}

TfxQueueEntry *
tfx_queue_first (const TfxSlot *slot)
{
  return slot->queue && slot->queue->n > 0 ? entry_at (slot->queue, 0) : NULL;
}

TfxSlotValues
tfx_queue_first_values (const TfxSlot *slot)
{
  const double *values = values_at (slot->queue, 0);
  const TfxSos *sos = (const TfxSos *)values;

  if (!slot->sos)
    return (TfxSlotValues){ NULL, NULL, *values };
  return (TfxSlotValues){ sos,
    entry_at (slot->queue, 0)->has_shapes ? (const TfxSvf *)(sos + slot->n_sos)
                                          : NULL,
    1.0 };
}

void
tfx_queue_remove_first (TfxSlot *slot)
{
  TfxQueue *q = slot->queue;

  clear_entry (slot, entry_at (q, 0));
  q->first = index_of (q, 1);
  q->n--;
}

uint64_t
tfx_queue_start (const TfxSlot *slot, size_t i)
{
  uint64_t frame, n;

  if (!slot->queue || i >= slot->queue->n)
    return UINT64_MAX;
  frame = entry_at (slot->queue, i)->frame;
  n = tfx_stage_grid_frames (slot->stage);
  return frame < n ? 0 : frame - n;
}

uint64_t
tfx_queue_end (const TfxSlot *slot)
{
  TfxQueue *q = slot->queue;

  return q && q->n > 0 ? entry_at (q, q->n - 1)->frame : 0;
}

void
tfx_queue_cut (TfxSlot *slot, uint64_t frame)
{
  while (tfx_queue_end (slot) > frame)
    clear_entry (slot, entry_at (slot->queue, --slot->queue->n));
}

void
tfx_queue_free (TfxSlot *slot)
{
  while (tfx_queue_first (slot))
    tfx_queue_remove_first (slot);
  if (slot->queue) {
    free (slot->queue->entries);
    free (slot->queue->values);
  }
  free (slot->queue);
  slot->queue = NULL;
}

bool
tfx_queue_ends_with (const TfxSlot *slot, const TfxStage *stage)
{
  const size_t last = slot->queue ? slot->queue->n - 1 : 0;
  const double *values;

  if (!tfx_queue_first (slot))
    return false;
  if (stage->kind->unit)
    return tfx_stage_is_same (entry_at (slot->queue, last)->stage, stage);
  values = values_at (slot->queue, last);
  if (!slot->sos)
    return *values == stage->u.gain;
  return memcmp (values, stage->u.sections.sos,
             slot->n_sos * sizeof *slot->sos) == 0;
}
