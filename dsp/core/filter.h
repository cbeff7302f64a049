/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter.h: what a filter is made of, for the plans that run it. */
#ifndef TFX_FILTER_H
#define TFX_FILTER_H

#include <pthread.h>

#include "slot.h"

struct TfxFilter
{
  unsigned refs; /* atomic */
  pthread_mutex_t lock;
  TfxFilterSpec spec;
  const char *kernel; /* of the CPU plan that ran it last; NULL: none did */
  TfxSlots slots;
  /* The setting that comes in when what changes now is over, see prepare.h; no places:
   * there is none. */
  TfxSlots next;

  uint64_t n_run;      /* frames since rest */
  bool is_changing;    /* there may be something for tfx_change_* to do */
  bool wants_compile;  /* a plan that is compiled now gets further */
  uint64_t serial;     /* other slots: plans of before cannot be run */
  uint64_t n_values;   /* times that those of sections or gains changed */
  uint64_t n_settings; /* times that a unit's stage changed */
  /* The plan whose engine has the state in its own form; NULL: it lies in the
   * slots. */
  TfxPlan *holder;
};

static inline bool
tfx_filter_has_next (const TfxFilter *f)
{
  return f->next.entries != NULL;
}

/* What it is set to. */
static inline const TfxSlots *
tfx_filter_target (const TfxFilter *f)
{
  return tfx_filter_has_next (f) ? &f->next : &f->slots;
}

static inline TfxSlotSpec
tfx_filter_slot_spec (const TfxFilter *f)
{
  return (TfxSlotSpec){ f->spec, f->kernel };
}

#endif
