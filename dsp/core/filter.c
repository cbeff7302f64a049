/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter.c: one running filter: its settings and the state of its stages. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "block.h"
#include "borrow.h"
#include "branches.h"
#include "change.h"
#include "automation.h"
#include "prepare.h"

/* ---- life ---------------------------------------------------------------------- */

int
tfx_filter_new (TfxChain *chain, const TfxFilterSpec *spec, TfxFilter **out)
{
  TfxSlotSpec slots;
  TfxFilter *f;
  int ret;

  *out = NULL;
  if (!(spec->rate_hz > 0.0) || !isfinite (spec->rate_hz) ||
      spec->n_channels < 1 || spec->n_channels > TFX_MAX_CHANNELS ||
      (unsigned)spec->sample > TFX_SAMPLE_F64)
    return -EINVAL;
  f = calloc (1, sizeof *f);
  if (!f)
    return -ENOMEM;
  f->refs = 1;
  f->spec = *spec;
  slots = tfx_filter_slot_spec (f);
  ret = tfx_slots_new (chain, &slots, &f->slots);
  if (ret < 0) {
    tfx_joins_begin (&f->joins);
    tfx_joins_trim (&f->joins);
    free (f);
    return ret;
  }
  pthread_mutex_init (&f->lock, NULL);
  *out = f;
  return 0;
}

TfxFilter *
tfx_filter_ref (TfxFilter *f)
{
  __atomic_add_fetch (&f->refs, 1, __ATOMIC_RELAXED);
  return f;
}

TfxRetired *
tfx_filter_take_retired (TfxFilter *f)
{
  if (!__atomic_load_n (&f->retired, __ATOMIC_RELAXED))
    return NULL;
  return __atomic_exchange_n (&f->retired, NULL, __ATOMIC_ACQUIRE);
}

void
tfx_retired_free (TfxRetired **retired)
{
  TfxSlot *next;

  for (TfxSlot *slot = *retired; slot; slot = next) {
    next = slot->next_retired;
    tfx_slot_free (&slot);
  }
  *retired = NULL;
}

static void
free_retired (TfxFilter *f)
{
  TfxRetired *retired = tfx_filter_take_retired (f);

  tfx_retired_free (&retired);
}

void
tfx_filter_unref (TfxFilter **filter)
{
  TfxFilter *f = *filter;

  *filter = NULL;
  if (!f || __atomic_sub_fetch (&f->refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  free_retired (f);
  tfx_prepare_clear (&f->next);
  tfx_slots_clear (&f->slots);
  tfx_joins_begin (&f->joins);
  tfx_joins_trim (&f->joins);
  pthread_mutex_destroy (&f->lock);
  free (f);
}

/* ---- lock ---------------------------------------------------------------------- */

void
tfx_filter_lock (TfxFilter *f)
{
  pthread_mutex_lock (&f->lock);
}

void
tfx_filter_unlock (TfxFilter *f)
{
  pthread_mutex_unlock (&f->lock);
}

/* In the order of their addresses. */
void
tfx_filter_lock_all (TfxFilter *const *filters, size_t n)
{
  uintptr_t last = 0;

  if (n == 1) {
    tfx_filter_lock (filters[0]);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    TfxFilter *next = NULL;

    for (size_t k = 0; k < n; k++) {
      const uintptr_t at = (uintptr_t)filters[k];
      if (at > last && (!next || at < (uintptr_t)next))
        next = filters[k];
    }
    if (!next)
      return;
    tfx_filter_lock (next);
    last = (uintptr_t)next;
  }
}

void
tfx_filter_unlock_all (TfxFilter *const *filters, size_t n)
{
  for (size_t i = n; i-- > 0;)
    tfx_filter_unlock (filters[i]);
}

/* ---- another setting ------------------------------------------------------------- */

/* At rest all slots are replaced. */
static int
set_at_rest (TfxFilter *f, const TfxChain *chain)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  TfxSlots slots;
  int ret = tfx_slots_new (chain, &spec, &slots);

  if (ret < 0)
    return ret;
  tfx_slots_clear (&f->slots);
  f->slots = slots;
  f->holder = NULL;
  f->serial++;
  f->is_changing = f->wants_compile = false;
  return 0;
}

/* Only the CPU runs changes. */
static int
take_from_device (TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlotSpec spec;
  TfxSlot *slot;
  int ret = 0;

  tfx_borrow_from_device (f);
  spec = tfx_filter_slot_spec (f);
  while ((slot = tfx_walk_slot (&walk))) {
    if (slot->stage->kind->unit && !spec.kernel)
      spec.kernel = slot->stage->kind->unit->get_kernel ();
    if (ret == 0 && slot->stage->kind->unit && slot->state)
      ret = tfx_slot_make_room (slot, &spec);
  }
  f->kernel = spec.kernel;
  return ret;
}

static int
set_chain (TfxFilter *f, TfxChain *chain, bool at_once)
{
  int ret = 0;

  free_retired (f);
  tfx_joins_begin (&f->joins);
  if (f->n_run == 0) {
    ret = set_at_rest (f, chain);
  } else {
    ret = take_from_device (f);
    if (at_once)
      tfx_borrow_give_back (f);
    if (ret == 0)
      ret =
          at_once ? tfx_change_at_once (f, chain) : tfx_change_begin (f, chain);
  }
  if (ret == 0)
    tfx_joins_trim (&f->joins);
  return ret;
}

int
tfx_filter_set_chain (TfxFilter *f, TfxChain *chain)
{
  return set_chain (f, chain, false);
}

int
tfx_filter_set_chain_at_once (TfxFilter *f, TfxChain *chain)
{
  return set_chain (f, chain, true);
}

/* Replaces a slot at rest. */
static int
replace_at_rest (TfxFilter *f, TfxSlotEntry *entry, TfxStage *stage)
{
  TfxSlotSpec spec = tfx_filter_slot_spec (f);
  TfxSlot *slot;
  int ret;

  spec.filter.n_channels = entry->slot->n_channels;
  ret = tfx_slot_new (stage, &spec, &slot);

  if (ret < 0)
    return ret;
  tfx_slot_free (&entry->slot);
  entry->slot = slot;
  f->holder = NULL;
  f->serial++;
  return 0;
}

/* The values of a stage of the same structure.  -ENOENT: it is of another one. */
static int
set_values (TfxFilter *f, TfxSlot *slot, TfxStage *stage, unsigned n_cells)
{
  if (tfx_branches_are_in (stage) ||
      !tfx_slot_can_take (slot, stage, n_cells > 0))
    return -ENOENT;
  return tfx_automation_set (f, slot, stage, n_cells);
}

/* Sets the current or next chain with another structure of a stage. */
static int
replace_stage (TfxFilter *f, TfxStage *stage)
{
  TfxChain *chain;
  int ret = tfx_slots_get_chain (tfx_filter_target (f), stage, &chain);

  free_retired (f);
  if (ret == 0)
    ret = tfx_change_begin (f, chain);
  tfx_chain_unref (&chain);
  return ret;
}

/* A stage may be both in the current and in the next setting. */
int
tfx_filter_set_stage (TfxFilter *f, TfxStage *stage)
{
  const unsigned n_cells = f->n_run > 0 ? tfx_slot_fade_cells (&f->spec) : 0;
  TfxSlotEntry *now = tfx_slots_find (&f->slots, stage->id);
  TfxSlotEntry *next = tfx_slots_find (&f->next, stage->id);
  TfxSlotEntry *any = now ? now : next;
  const bool stays = now && next && now->slot == next->slot;
  int ret;

  if (!any || any->slot->is_joined)
    return -ENOENT;
  ret = tfx_slot_check (any->slot, stage, &f->spec);
  if (ret == 0 && n_cells > 0)
    ret = take_from_device (f);
  if (ret < 0)
    return ret;

  ret = -ENOENT;
  if (next && !stays)
    ret = set_values (f, next->slot, stage, 0);
  if (now && (ret == 0 || !next || stays)) {
    const int now_ret = set_values (f, now->slot, stage, n_cells);

    ret = ret == 0 ? 0 : now_ret;
  }
  if (stays && ret == 0)
    tfx_prepare_drop_values (next);
  if (ret != -ENOENT)
    return ret;
  if (n_cells == 0)
    return replace_at_rest (f, now, stage);
  /* The next setting removes it. */
  return now && !next && tfx_filter_has_next (f) ? 0 : replace_stage (f, stage);
}

/* ---- state ------------------------------------------------------------------------ */

void
tfx_filter_reset (TfxFilter *f)
{
  TfxWalk walk;
  TfxSlot *slot;

  tfx_change_finish (f);
  f->holder = NULL;
  for (walk = tfx_walk (&f->slots); (slot = tfx_walk_slot (&walk));) {
    tfx_automation_finish (f, slot, UINT64_MAX);
    f->n_values += slot->ramp.n_cells > 0;
    tfx_slot_reset (slot);
  }
  f->n_run = 0;
}

bool
tfx_filter_is_identity (const TfxFilter *f)
{
  if (f->is_changing)
    return false;
  for (size_t i = 0; i < f->slots.n; i++) {
    const TfxSlotEntry *p = &f->slots.entries[i];

    if (p->phase != TFX_SLOT_STEADY ||
        (p->slot->is_active &&
            (p->slot->stage->kind != &tfx_kind_gain || p->slot->gain != 1.0)))
      return false;
  }
  return true;
}

/* A ramp has state too; a unit ends its ramp only while it runs. */
bool
tfx_filter_is_silent (const TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  const TfxSlot *slot;

  while ((slot = tfx_walk_slot (&walk))) {
    if (slot->ramp.n_cells > 0 ||
        (slot->unit && (tfx_events_get (slot, 0) ||
                           slot->stage->kind->unit->is_changing (slot->unit))))
      return false;
  }
  return tfx_borrow_peak (f) <= TFX_SILENCE;
}

bool
tfx_filter_is_changing (const TfxFilter *f)
{
  return f->is_changing;
}

int
tfx_filter_read (TfxFilter *f, uint64_t id, TfxReadings *readings)
{
  const TfxSlotEntry *entry = tfx_slots_find (&f->slots, id);
  const TfxSlot *slot = entry ? entry->slot : NULL;

  if (!slot || !slot->unit || !slot->stage->kind->unit->read ||
      slot->resident || (f->holder && !f->holder->backend->uses_units))
    return -ENOENT;
  *readings = (TfxReadings){ 0 };
  slot->stage->kind->unit->read (slot->unit, readings);
  return 0;
}

/* Adds the latencies up to the stage with that id, and returns true; or all. */
static bool
add_latency (const TfxSlots *list, uint64_t id, size_t *n_frames)
{
  for (size_t i = 0; i < list->n; i++) {
    const TfxSlotEntry *p = &list->entries[i];

    if (!p->slot)
      continue;
    for (size_t b = 0; b < p->slot->n_branches; b++) {
      size_t n = *n_frames;

      if (add_latency (tfx_slot_entry_branch (p, b), id, &n)) {
        *n_frames = n;
        return true;
      }
    }
    *n_frames += tfx_stage_latency (p->stage ? p->stage : p->slot->stage);
    if (p->slot->stage->id == id)
      return true;
  }
  return false;
}

size_t
tfx_filter_latency_at (const TfxFilter *f, uint64_t id)
{
  size_t n_frames = 0;

  add_latency (tfx_filter_target (f), id, &n_frames);
  return n_frames;
}

int
tfx_filter_get_chain (const TfxFilter *f, TfxChain **chain)
{
  return tfx_slots_get_chain (tfx_filter_target (f), NULL, chain);
}

bool
tfx_filter_runs_on (const TfxFilter *f, const TfxBackend *backend)
{
  TfxWalk walk = tfx_walk (&f->slots);
  const TfxSlot *slot;

  while (!backend->uses_units && (slot = tfx_walk_slot (&walk))) {
    if (slot->is_active && slot->stage->kind->unit &&
        !backend->can_run (slot->stage))
      return false;
  }
  return true;
}

uint64_t
tfx_filter_n_frames (const TfxFilter *f)
{
  return f->n_run;
}
