/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter.h: the structure of a filter. */
#ifndef TFX_FILTER_H
#define TFX_FILTER_H

#include <pthread.h>

#include "slot.h"

/* How a plan makes automated slots separate steps. */
typedef enum
{
  TFX_CUT_NONE,
  TFX_CUT_SPARE, /* without allocation, if it has a spare: see TfxPlan */
  TFX_CUT_ANEW   /* compiled for the slots that are automated */
} TfxCut;

struct TfxFilter
{
  unsigned refs; /* atomic */
  pthread_mutex_t lock;
  TfxFilterSpec spec;
  const char *kernel; /* of the last CPU plan, or NULL */
  TfxSlots slots;
  /* The setting that waits for the end of the current changes, see prepare.h; without
   * entries there is none. */
  TfxSlots next;
  TfxJoins joins;
  /* Slots that a change replaced, until tfx_filter_take_retired(); atomic. */
  TfxSlot *retired;

  uint64_t n_run;     /* frames since rest */
  bool is_changing;   /* tfx_change_*() may have something to do */
  bool wants_compile; /* a change waits for a compiled plan */
  TfxCut wants_cut;   /* so do automated slots, unless they are steps already */
  uint64_t serial; /* version of the slots; a plan for another one cannot run */
  uint64_t n_values;   /* version of the values of sections and gains */
  uint64_t n_settings; /* version of the stages of units */
  /* The plan whose engine has the state; NULL: the slots have it. */
  TfxPlan *holder;
};

static inline bool
tfx_filter_has_next (const TfxFilter *f)
{
  return f->next.entries != NULL;
}

/* The setting, current or next. */
static inline const TfxSlots *
tfx_filter_target (const TfxFilter *f)
{
  return tfx_filter_has_next (f) ? &f->next : &f->slots;
}

static inline TfxSlotSpec
tfx_filter_slot_spec (const TfxFilter *f)
{
  return (TfxSlotSpec){ f->spec, f->kernel, (TfxJoins *)&f->joins };
}

#endif
