/* SPDX-License-Identifier: LGPL-2.1-or-later
 * change.c: a change of a running filter, from its first frame to its last.
 *
 * A place whose stage gets another structure has two slots: the old one, and
 * the new one that is faded in.  It waits until a plan has been compiled that
 * runs both, and is over when one has been compiled without the old one; both
 * happen at fixed frames, so that the output does not depend on how the stream
 * is split. */
#include "change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "automation.h"
#include "motion.h"
#include "prepare.h"

/* Calls f for every list, those of branches included. */
typedef void (*ListFunction) (TfxPlaces *list, void *data);

static void
each_list (TfxPlaces *list, ListFunction f, void *data)
{
  for (size_t i = 0; i < list->n; i++) {
    TfxSlot *slots[2] = { list->places[i].slot, list->places[i].old };

    for (int k = 0; k < 2; k++) {
      for (size_t b = 0; slots[k] && b < slots[k]->n_branches; b++)
        each_list (&slots[k]->branches[b], f, data);
    }
  }
  f (list, data);
}

/* ---- frames go by --------------------------------------------------------------- */

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

static const TfxUnitKind *
unit_of (const TfxPlace *place)
{
  return place->slot->stage->kind->unit;
}

typedef struct Search
{
  const TfxFilter *filter;
  size_t n; /* frames */
} Search;

static void
search_list (TfxPlaces *list, void *data)
{
  Search *s = data;

  for (size_t i = 0; i < list->n; i++) {
    const TfxPlace *p = &list->places[i];

    if (p->phase == TFX_PLACE_FADING && p->fade->done < p->fade->length)
      s->n = least (s->n, tfx_fade_frames (p->fade));
    if (p->phase == TFX_PLACE_CATCHING_UP && unit_of (p)->catch_up_frames)
      s->n = least (s->n,
          unit_of (p)->catch_up_frames (s->filter->spec.block_frames));
  }
}

size_t
tfx_change_frames (const TfxFilter *f)
{
  Search s = { f, SIZE_MAX };

  if (f->is_changing) {
    each_list ((TfxPlaces *)&f->places, search_list, &s);
    s.n = least (s.n, tfx_automation_wake_frames (f));
  }
  return s.n;
}

/* What may still be under way. */
typedef struct Look
{
  bool is_changing, is_fading, is_waiting, wants_compile;
  size_t n_frames;
} Look;

static void
look_at_slot (TfxSlot *slot, void *data)
{
  Look *look = data;

  if (slot->motion.n_cells > 0 || tfx_events_get (slot, 0) ||
      (slot->unit && slot->stage->kind->unit->is_changing (slot->unit)))
    look->is_changing = true;
}

static void
advance_list (TfxPlaces *list, void *data)
{
  Look *look = data;

  for (size_t i = 0; i < list->n; i++) {
    TfxPlace *p = &list->places[i];

    look->is_changing = look->is_changing || p->phase != TFX_PLACE_STEADY;
    if (p->phase == TFX_PLACE_FADING) {
      p->fade->done += least (look->n_frames, p->fade->length - p->fade->done);
      look->wants_compile =
          look->wants_compile || p->fade->done == p->fade->length;
    }
    if (p->phase == TFX_PLACE_CATCHING_UP &&
        unit_of (p)->catch_up (p->slot->unit, p->old->unit, look->n_frames) ==
            0) {
      p->phase = TFX_PLACE_WAITING;
      p->has_past = true;
      look->wants_compile = true;
    }
  }
}

void
tfx_change_go_on (TfxFilter *f, size_t n_frames)
{
  Look look = { .is_changing = tfx_filter_has_next (f), .n_frames = n_frames };

  each_list (&f->places, advance_list, &look);
  tfx_slots_each (&f->places, tfx_automation_step, f);
  tfx_slots_each (&f->places, look_at_slot, &look);
  f->is_changing = look.is_changing;
  f->wants_compile = f->wants_compile || look.wants_compile;
}

/* ---- cross-fades begin and end ---------------------------------------------------- */

/* A new slot gets what it can use of the state of the old one.  (What it holds back is
 * in a unit.) */
static void
seed_slot (TfxSlot *to, const TfxSlot *from)
{
  const TfxUnitKind *kind = to->stage->kind->unit;

  if (to->stage->kind != from->stage->kind ||
      to->n_channels != from->n_channels)
    return;
  if (kind && to->unit && from->unit && kind->catch_up &&
      (!kind->catch_up_start || kind->catch_up_start (to->unit, from->unit)))
    kind->catch_up (to->unit, from->unit, SIZE_MAX);
  /* Sections with other values begin at rest. */
  if (to->sos && to->n_sos == from->n_sos && from->motion.n_cells == 0 &&
      memcmp (to->sos, from->sos, to->n_sos * sizeof *to->sos) == 0)
    memcpy (to->state, from->state,
        2 * to->n_sos * to->n_channels * sizeof *to->state);
}

/* A slot within the new one is seeded once: a unit that has caught up goes on from
 * there. */
typedef struct Seed
{
  TfxSlot *to;
  bool is_seeded;
} Seed;

static void
seed_from (TfxSlot *from, void *data)
{
  Seed *seed = data;

  if (seed->is_seeded || from->stage->id != seed->to->stage->id)
    return;
  seed->is_seeded = true;
  seed_slot (seed->to, from);
}

static void
seed_by_id (TfxSlot *to, void *data)
{
  const TfxSlot *from = data;
  Seed seed = { to, false };

  for (size_t b = 0; b < from->n_branches; b++)
    tfx_slots_each (&from->branches[b], seed_from, &seed);
}

static void
seed_all (TfxSlot *to, TfxSlot *from)
{
  seed_slot (to, from);
  for (size_t b = 0; b < to->n_branches; b++)
    tfx_slots_each (&to->branches[b], seed_by_id, from);
}

static void
end_fade (TfxPlace *p)
{
  tfx_slot_free (&p->old);
  free (p->fade);
  p->fade = NULL;
  p->phase = TFX_PLACE_STEADY;
  p->has_past = false;
}

/* Places that nothing is in any more. */
static void
remove_empty (TfxPlaces *list)
{
  size_t n = 0;

  for (size_t i = 0; i < list->n; i++) {
    if (list->places[i].slot || list->places[i].old)
      list->places[n++] = list->places[i];
  }
  list->n = n;
}

/* A part of a block costs a FIR with a long past almost as much as all of it: its
 * cross-fade goes on to the end of a block, if that makes it at most three times as
 * long. */
static size_t
fade_to_end_of_block (const TfxFilter *f, size_t n_frames)
{
  const size_t n_block = f->spec.block_frames;
  const size_t over = n_block > 0 ? (f->n_run + n_frames) % n_block : 0;
  const size_t n_whole = n_frames + (over > 0 ? n_block - over : 0);

  return n_whole <= 3 * n_frames ? n_whole : n_frames;
}

/* A delay line, a FIR, a reverb: it puts out again what it has heard. */
static void
look_for_echo (TfxSlot *slot, void *data)
{
  const TfxKind *kind = slot->stage->kind;
  bool *has_echo = data;

  *has_echo = *has_echo || (kind->unit && kind->response &&
                               tfx_stage_state_size (slot->stage) > 0);
}

static bool
begins_with_edge (const TfxPlace *p)
{
  bool has_echo = false;

  if (!p->slot || p->has_past || tfx_slot_is_successor (p->slot, p->old))
    return false;
  tfx_slot_each (p->slot, look_for_echo, &has_echo);
  return has_echo;
}

/* What looks ahead is run for as long as it puts out nothing, unless it has got the past
 * of the old one; and for as long as its input rises. */
static size_t
find_lead (const TfxPlace *p, bool rises)
{
  const size_t latency = p->slot ? tfx_stage_latency (p->slot->stage) : 0;

  if (latency == 0 || p->has_past ||
      (tfx_slot_is_successor (p->slot, p->old) && p->slot->unit &&
          p->old->unit))
    return 0;
  return latency + (rises ? p->fade->length : 0);
}

typedef struct Settling
{
  TfxFilter *filter;
  size_t lead; /* of what begins now: all of it is heard together */
  size_t rise; /* for as long its input does */
} Settling;

static void
seed_list (TfxPlaces *list, void *data)
{
  Settling *s = data;

  for (size_t i = 0; i < list->n; i++) {
    TfxPlace *p = &list->places[i];
    size_t lead;

    if (p->phase != TFX_PLACE_WAITING)
      continue;
    if (!p->has_past && tfx_slot_is_successor (p->slot, p->old))
      seed_all (p->slot, p->old);
    p->fade->rises = begins_with_edge (p);
    lead = find_lead (p, p->fade->rises);
    s->lead = lead > s->lead ? lead : s->lead;
    if (p->fade->rises && p->fade->length > s->rise)
      s->rise = p->fade->length;
  }
}

static void
settle_list (TfxPlaces *list, void *data)
{
  const Settling *s = data;
  TfxFilter *f = s->filter;

  for (size_t i = 0; i < list->n; i++) {
    TfxPlace *p = &list->places[i];

    if (p->phase == TFX_PLACE_FADING && p->fade->done >= p->fade->length) {
      end_fade (p);
      f->serial++;
    } else if (p->phase == TFX_PLACE_WAITING) {
      p->fade->lead = s->lead;
      p->fade->length += s->lead;
      if (p->has_past)
        p->fade->length = fade_to_end_of_block (f, p->fade->length);
      p->phase = TFX_PLACE_FADING;
      f->serial++;
    }
  }
  remove_empty (list);
}

void
tfx_change_settle (TfxFilter *f)
{
  Settling s = { f, 0, 0 };

  if (!f->wants_compile)
    return;
  f->wants_compile = false;
  f->serial++;
  each_list (&f->places, seed_list, &s);
  /* What is not heard from the first frame on has risen when it is, or it would be faded
   * in twice. */
  if (s.lead > 0 && s.lead < s.rise)
    s.lead = s.rise;
  each_list (&f->places, settle_list, &s);
  tfx_change_advance (f, 0);
}

static void
finish_list (TfxPlaces *list, void *data)
{
  TfxFilter *f = data;

  for (size_t i = 0; i < list->n; i++) {
    if (list->places[i].phase != TFX_PLACE_STEADY) {
      end_fade (&list->places[i]);
      f->serial++;
    }
  }
  remove_empty (list);
}

/* ---- another setting ------------------------------------------------------------- */

static void
look_for_phase (TfxPlaces *list, void *data)
{
  Look *look = data;

  for (size_t i = 0; i < list->n; i++) {
    const TfxPlacePhase phase = list->places[i].phase;

    look->is_fading = look->is_fading || phase == TFX_PLACE_FADING;
    look->is_waiting = look->is_waiting || phase == TFX_PLACE_WAITING;
    look->is_changing = look->is_changing || phase != TFX_PLACE_STEADY;
  }
}

/* What no plan has been compiled for is taken back. */
static void
revoke_list (TfxPlaces *list, void *data)
{
  for (size_t i = 0; i < list->n; i++) {
    TfxPlace *p = &list->places[i];

    if (p->phase != TFX_PLACE_WAITING && p->phase != TFX_PLACE_CATCHING_UP)
      continue;
    tfx_slot_free (&p->slot);
    p->slot = p->old;
    p->old = NULL;
    end_fade (p);
  }
  remove_empty (list);
}

/* ---- a prepared setting comes into force -------------------------------------------- */

/* Whether a unit begins to take over the history of the old one. */
static bool
starts_catching_up (const TfxPlace *p)
{
  const TfxUnitKind *unit = unit_of (p);

  return !unit->catch_up_start ||
         unit->catch_up_start (p->slot->unit, p->old->unit);
}

/* What goes stays as it is: its curve leads what replaces it. */
static void
stop_following (TfxSlot *slot, void *data)
{
  const TfxFilter *f = data;
  const uint64_t point = tfx_automation_point (slot->stage, f->n_run);
  const size_t n_grid = tfx_stage_grid_frames (slot->stage);

  tfx_events_cut (slot, point < n_grid ? 0 : point - n_grid);
}

/* The values that are due when it comes in. */
static void
begin_following (TfxSlot *slot, void *data)
{
  const TfxFilter *f = data;

  tfx_automation_finish (data, slot,
      tfx_automation_point (slot->stage, f->n_run));
}

/* The place as it is now of one that stays; NULL: the stage has gone. */
static const TfxPlace *
find_place (const TfxPlaces *list, const TfxPlace *next)
{
  for (size_t i = 0; i < list->n; i++) {
    const TfxPlace *p = &list->places[i];

    if (next->slot ? p->slot == next->slot : !p->slot && p->old == next->old)
      return p;
  }
  return NULL;
}

static void commit_list (TfxFilter *f, TfxPlaces *list, TfxPlaces *next);

static void
commit_kept (TfxFilter *f, const TfxPlaces *list, TfxPlace *p)
{
  const TfxPlace *now = find_place (list, p);
  TfxPlace next = *p;

  *p = now ? *now : (TfxPlace){ NULL };
  if (!p->slot)
    return;
  p->slot->is_joined = next.is_joined;
  if (next.stage)
    tfx_automation_set_prepared (f, p->slot, next.stage, next.values);
  tfx_stage_unref (&next.stage);
  for (size_t b = 0; next.branches && b < p->slot->n_branches; b++)
    commit_list (f, &p->slot->branches[b], &next.branches[b]);
  free (next.branches);
}

static void
commit_list (TfxFilter *f, TfxPlaces *list, TfxPlaces *next)
{
  for (size_t i = 0; i < next->n; i++) {
    TfxPlace *p = &next->places[i];

    if (!p->is_new) {
      commit_kept (f, list, p);
      continue;
    }
    p->is_new = false;
    if (p->phase == TFX_PLACE_CATCHING_UP && !starts_catching_up (p))
      p->phase = TFX_PLACE_WAITING;
    if (p->old)
      tfx_slot_each (p->old, stop_following, f);
    if (p->slot)
      tfx_slot_each (p->slot, begin_following, f);
  }
  free (list->places);
  *list = *next;
  *next = (TfxPlaces){ 0 };
  remove_empty (list);
}

static void
commit (TfxFilter *f, TfxPlaces *next)
{
  Look look = { .n_frames = 0 };

  commit_list (f, &f->places, next);
  f->is_changing = true;
  each_list (&f->places, look_for_phase, &look);
  f->wants_compile = f->wants_compile || look.is_waiting;
}

/* Events of slots that come in go on in others of the same structure that come in in their
 * place. */
static void
adopt_events (TfxSlot *slot, void *data)
{
  TfxFilter *f = data;
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  const TfxPlace *p = tfx_slots_find (&f->next, slot->stage->id);
  const TfxPlace *now = tfx_slots_find (&f->places, slot->stage->id);

  if (p && !(now && now->slot == p->slot) &&
      tfx_slot_can_take (p->slot, slot->stage, false))
    tfx_events_move (slot, p->slot, &unit);
}

static void
set_next (TfxFilter *f, const TfxPlaces *next)
{
  if (next)
    tfx_prepare_each (next, adopt_events, f);
  tfx_prepare_clear (&f->next);
  if (next)
    f->next = *next;
}

/* Another setting comes into force now; or when the cross-fades are over.  What has not
 * begun is reverted first. */
static int
begin (TfxFilter *f, TfxChain *chain, bool may_move_times)
{
  Look look = { .n_frames = 0 };
  TfxPrepared prepared;
  int ret;

  each_list (&f->places, look_for_phase, &look);
  ret = tfx_prepare_chain (f, chain, look.is_changing && !look.is_fading,
      &prepared);
  if (ret == 0 && prepared.moves_times && !may_move_times) {
    tfx_prepare_clear (&prepared.next);
    ret = -ENOTSUP;
  }
  if (ret < 0)
    return ret;
  if (prepared.is_structural && look.is_fading) {
    set_next (f, &prepared.next);
    f->is_changing = true;
    return 0;
  }
  if (prepared.is_reverted)
    each_list (&f->places, revoke_list, NULL);
  set_next (f, NULL);
  commit (f, &prepared.next);
  return 0;
}

int
tfx_change_begin (TfxFilter *f, TfxChain *chain)
{
  return begin (f, chain, false);
}

void
tfx_change_begin_next (TfxFilter *f)
{
  Look look = { .n_frames = 0 };

  if (!tfx_filter_has_next (f))
    return;
  each_list (&f->places, look_for_phase, &look);
  if (!look.is_changing)
    commit (f, &f->next);
}

void
tfx_change_finish (TfxFilter *f)
{
  each_list (&f->places, finish_list, f);
  if (tfx_filter_has_next (f)) {
    commit (f, &f->next);
    each_list (&f->places, finish_list, f);
  }
  f->is_changing = false;
}

/* ---- at once ----------------------------------------------------------------- */

typedef struct Switch
{
  TfxSlotSpec spec;
  int ret;
} Switch;

/* Room for the past, where a device has given it back and there are no units. */
static void
make_room_list (TfxPlaces *list, void *data)
{
  Switch *s = data;

  for (size_t i = 0; i < list->n; i++) {
    const TfxPlace *p = &list->places[i];

    if (s->ret == 0 && p->phase != TFX_PLACE_STEADY &&
        tfx_slot_is_successor (p->slot, p->old) && p->old->stage->kind->unit &&
        !p->old->unit)
      s->ret = tfx_slot_make_room (p->slot, &s->spec);
  }
}

/* The last inputs of each channel, the newest last. */
static void
seed_state (TfxSlot *to, const TfxSlot *from)
{
  const size_t n_to = tfx_stage_state_size (to->stage);
  const size_t n_from = tfx_stage_state_size (from->stage);
  const size_t n = least (n_to, n_from);

  for (unsigned c = 0; c < to->n_channels; c++)
    memcpy (to->state + c * n_to + n_to - n,
        from->state + c * n_from + n_from - n, n * sizeof *to->state);
}

static void
switch_list (TfxPlaces *list, void *data)
{
  for (size_t i = 0; i < list->n; i++) {
    TfxPlace *p = &list->places[i];

    if (p->phase == TFX_PLACE_STEADY)
      continue;
    if (tfx_slot_is_successor (p->slot, p->old)) {
      if (p->old->stage->kind->unit && p->slot->state && p->old->state)
        seed_state (p->slot, p->old);
      else
        seed_slot (p->slot, p->old);
    }
    end_fade (p);
  }
  remove_empty (list);
}

int
tfx_change_at_once (TfxFilter *f, TfxChain *chain)
{
  Switch s = { tfx_filter_slot_spec (f), 0 };

  if (f->is_changing)
    return -EBUSY;
  s.ret = begin (f, chain, true);
  if (s.ret < 0)
    return s.ret;
  each_list (&f->places, make_room_list, &s);
  each_list (&f->places, s.ret < 0 ? revoke_list : switch_list, &s);
  f->wants_compile = false;
  f->serial++;
  tfx_change_advance (f, 0);
  return s.ret;
}
