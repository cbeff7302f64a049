/* SPDX-License-Identifier: LGPL-2.1-or-later
 * match.c: the slots of a running filter against the stages of another chain.
 *
 * A stage is found by its id, in order; what is not found in order goes, and
 * others come in its place.  What looks ahead may also come in the place of what looks
 * as far: the frames keep their times.  Branches of a sum are matched one by one. */
#include "match.h"

#include <errno.h>
#include <stdlib.h>

#include "join.h"
#include "queue.h"
#include "values.h"

typedef struct Match
{
  TfxSlotSpec spec;
  bool is_structural;
  bool moves_times; /* a place would become more or less late */
} Match;

static int prepare_list (Match *m, TfxPlaces *list, const TfxChain *chain);

/* ---- making ready ------------------------------------------------------------------ */

static size_t
find_latency (const TfxSlot *slot)
{
  return slot ? tfx_stage_latency (slot->stage) : 0;
}

/* A place where `slot` takes over from `old`; either may be NULL. */
static int
add_fade (Match *m, TfxPlaces *list, TfxSlot *slot, TfxSlot *old)
{
  TfxPlace *p = &list->next[list->n_next++];

  *p = (TfxPlace){ .slot = slot,
    .old = old,
    .phase = TFX_PLACE_WAITING,
    .is_new = true };
  m->is_structural = true;
  m->moves_times = m->moves_times || find_latency (slot) != find_latency (old);
  p->fade = calloc (1, sizeof *p->fade);
  if (!p->fade)
    return -ENOMEM;
  p->fade->length = tfx_slot_fade_frames (&m->spec.filter);
  return 0;
}

/* Whether the past of the old slot is taken over step by step. */
static bool
is_gradual (const Match *m, const TfxSlot *slot, const TfxSlot *old,
    bool is_prepared)
{
  return is_prepared && slot->unit && old->unit &&
         tfx_slot_is_successor (slot, old);
}

/* Another structure in place of the old one; or (old == NULL) a stage that
 * comes. */
static int
replace_slot (Match *m, TfxPlaces *list, TfxStage *stage, bool is_joined,
    TfxSlot *old)
{
  const TfxUnitKind *kind = stage->kind->unit;
  const TfxUnitSpec unit =
      tfx_slot_unit_spec (&m->spec, m->spec.filter.n_channels);
  const bool is_prepared = kind && unit.kernel && kind->is_prepared &&
                           kind->is_prepared (stage, &unit);
  TfxSlot *slot;
  int ret = tfx_slot_new (stage, &m->spec, &slot);

  if (ret < 0)
    return ret;
  slot->is_joined = is_joined;
  if (!old && !slot->is_active) {
    list->next[list->n_next++] = (TfxPlace){ .slot = slot, .is_new = true };
    return 0;
  }
  ret = add_fade (m, list, slot, old);
  if (old && is_gradual (m, slot, old, is_prepared))
    list->next[list->n_next - 1].phase = TFX_PLACE_CATCHING_UP;
  return ret;
}

/* What is within it has the branch's channels. */
static int
prepare_branch (Match *m, TfxSlot *slot, const TfxStage *stage, size_t branch)
{
  const TfxSlotSpec all = m->spec;
  int ret;

  m->spec = tfx_slot_branch_spec (&all, stage, branch);
  ret =
      prepare_list (m, &slot->branches[branch], stage->u.sum.branches[branch]);
  m->spec = all;
  return ret;
}

/* The slot stays, and gets other values. */
static int
keep_slot (Match *m, TfxSlot *slot, TfxStage *stage, bool is_joined)
{
  const TfxUnitKind *kind = stage->kind->unit;
  const TfxUnitSpec unit =
      tfx_slot_unit_spec (&m->spec, m->spec.filter.n_channels);
  int ret = 0;

  slot->is_joined = is_joined;
  for (size_t b = 0; ret == 0 && b < slot->n_branches; b++)
    ret = prepare_branch (m, slot, stage, b);
  if (ret < 0 ||
      (slot->stage->id == stage->id && tfx_slot_has_values (slot, stage)))
    return ret;
  if (slot->unit)
    ret = kind->prepare_values (slot->unit, stage, &unit, &slot->new_values);
  if (ret == 0)
    slot->new_stage = tfx_stage_ref (stage);
  return ret;
}

static int
pair (Match *m, TfxPlaces *list, const TfxPlace *place, TfxStage *stage,
    bool is_joined)
{
  if (tfx_slot_can_take (place->slot, stage, true)) {
    list->next[list->n_next++] = *place;
    return keep_slot (m, place->slot, stage, is_joined);
  }
  if (place->phase == TFX_PLACE_STEADY)
    return replace_slot (m, list, stage, is_joined, place->slot);
  m->is_structural = true; /* not now */
  list->next[list->n_next++] = *place;
  return 0;
}

/* A place whose stage is not there any more. */
static int
leave (Match *m, TfxPlaces *list, const TfxPlace *place)
{
  if (place->slot && place->phase == TFX_PLACE_STEADY)
    return add_fade (m, list, NULL, place->slot);
  m->is_structural = m->is_structural || place->slot;
  list->next[list->n_next++] = *place;
  return 0;
}

static size_t
find_id (const TfxPlaces *list, size_t first, uint64_t id)
{
  while (first < list->n && (!list->places[first].slot ||
                                list->places[first].slot->stage->id != id))
    first++;
  return first;
}

/* Where the stage goes on: in its own place, or in that of what is as late. */
static size_t
find_stage (const TfxPlaces *list, size_t first, const TfxStage *stage)
{
  const size_t latency = tfx_stage_latency (stage);
  const size_t found = find_id (list, first, stage->id);

  if (found < list->n || latency == 0)
    return found;
  while (first < list->n && find_latency (list->places[first].slot) != latency)
    first++;
  return first;
}

/* What lies between stages that stay: places [at, at_end) go, stages [first, end)
 * come, each in the place of one that goes as long as there are any.  So both hear
 * the same input; one after the other they would let it through. */
static int
replace_places (Match *m, TfxPlaces *list, size_t at, size_t at_end,
    const TfxJoined *joined, size_t first, size_t end)
{
  int ret = 0;

  for (; ret == 0 && (first < end || at < at_end); at++) {
    TfxPlace *p = at < at_end ? &list->places[at] : NULL;
    TfxSlot *old = p && p->phase == TFX_PLACE_STEADY ? p->slot : NULL;

    if (p && (!old || first == end)) {
      ret = leave (m, list, p);
      continue;
    }
    ret = replace_slot (m, list, joined->stages[first],
        joined->are_joined[first], old);
    first++;
  }
  return ret;
}

static int
match_stages (Match *m, TfxPlaces *list, const TfxJoined *joined)
{
  size_t at = 0, first = 0;
  int ret = 0;

  for (size_t j = 0; ret == 0 && j < joined->n; j++) {
    TfxStage *stage = joined->stages[j];
    const size_t found = find_stage (list, at, stage);

    if (found == list->n)
      continue;
    ret = replace_places (m, list, at, found, joined, first, j);
    if (ret == 0)
      ret = pair (m, list, &list->places[found], stage, joined->are_joined[j]);
    at = found + 1;
    first = j + 1;
  }
  return ret < 0
             ? ret
             : replace_places (m, list, at, list->n, joined, first, joined->n);
}

static int
prepare_list (Match *m, TfxPlaces *list, const TfxChain *chain)
{
  TfxJoined joined;
  int ret = tfx_join_stages (chain, &m->spec.filter, &joined);

  if (ret < 0)
    return ret;
  list->n_next = 0;
  list->next = calloc (list->n + joined.n + 1, sizeof *list->next);
  ret = list->next ? match_stages (m, list, &joined) : -ENOMEM;
  tfx_join_clear (&joined);
  return ret;
}

int
tfx_match_prepare (TfxFilter *f, const TfxChain *chain, bool *is_structural,
    bool *moves_times)
{
  Match m = { .spec = tfx_filter_slot_spec (f) };
  int ret = prepare_list (&m, &f->places, chain);

  *is_structural = m.is_structural;
  *moves_times = m.moves_times;
  return ret;
}

/* ---- and then ------------------------------------------------------------------------ */

static void
abort_slot (TfxSlot *slot)
{
  if (slot->new_values)
    slot->stage->kind->unit->drop_values (slot->new_values);
  slot->new_values = NULL;
  tfx_stage_unref (&slot->new_stage);
  for (size_t b = 0; b < slot->n_branches; b++)
    tfx_match_abort (&slot->branches[b]);
}

void
tfx_match_abort (TfxPlaces *list)
{
  for (size_t i = 0; i < list->n_next; i++) {
    TfxPlace *p = &list->next[i];

    if (!p->is_new)
      continue;
    tfx_slot_free (&p->slot);
    free (p->fade);
  }
  free (list->next);
  list->next = NULL;
  list->n_next = 0;
  for (size_t i = 0; i < list->n; i++) {
    if (list->places[i].slot)
      abort_slot (list->places[i].slot);
  }
}

static void
commit_slot (TfxFilter *f, TfxSlot *slot)
{
  TfxStage *stage = slot->new_stage;

  slot->new_stage = NULL;
  if (stage)
    tfx_values_take (f, slot, stage);
  tfx_stage_unref (&stage);
  for (size_t b = 0; b < slot->n_branches; b++)
    tfx_match_commit (f, &slot->branches[b]);
}

/* Whether it begins to catch up. */
static bool
starts (const TfxPlace *p)
{
  const TfxUnitKind *unit = p->slot->stage->kind->unit;

  return !unit->catch_up_start ||
         unit->catch_up_start (p->slot->unit, p->old->unit);
}

/* What goes stays as it is: who follows a curve leads what comes. */
static void
stop_following (TfxSlot *slot, void *data)
{
  const TfxFilter *f = data;

  tfx_queue_cut (slot, tfx_queue_point (slot->stage, f->n_run));
}

void
tfx_match_commit (TfxFilter *f, TfxPlaces *list)
{
  if (!list->next)
    return;
  for (size_t i = 0; i < list->n_next; i++) {
    TfxPlace *p = &list->next[i];

    if (p->slot && !p->is_new)
      commit_slot (f, p->slot);
    if (p->is_new && p->phase == TFX_PLACE_CATCHING_UP && !starts (p))
      p->phase = TFX_PLACE_WAITING;
    if (p->is_new && p->old)
      tfx_slot_each (p->old, stop_following, f);
    p->is_new = false;
  }
  free (list->places);
  list->places = list->next;
  list->n = list->n_next;
  list->next = NULL;
  list->n_next = 0;
}
