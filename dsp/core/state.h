/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state.h: a filter, its slots, and their events and ramps.
 *
 * A slot has the current values and the state of one stage.
 *
 * Sections have their state in `state`, double[n_channels][n_sos][2] as in tfx.h, with
 * no gain folded in; while a plan holds the filter, its engine has that state.  All other
 * kinds have it in their unit, which every plan on the CPU runs.  If a device returns
 * state before there is a unit, it is in `state`.  If `resident` is set, a device has the
 * state, and `state` and the unit are out of date. */
#ifndef TFX_STATE_H
#define TFX_STATE_H

#include <pthread.h>

#include "kind.h"

typedef struct TfxSlots TfxSlots;
typedef struct TfxEvents TfxEvents;

/* g, k, low, band, high: see svf.h. */
#define TFX_RAMP_VALUES 5

/* A parameter ramp of sections or a gain; see ramp.h. */
typedef struct TfxRamp
{
  unsigned n_cells; /* length in cells of TFX_GRID_FRAMES; 0: there is none */
  uint64_t first;   /* the filter's frame where it begins */
  bool is_curve;    /* an automation event of one cell */
  bool is_fade; /* sections are cross-faded; else they are swept as filters */
  bool is_entered; /* the state is here, not in the slot */
  unsigned n_fade_cells;
  struct TfxSvf *from, *to; /* [n_sos], the ends of a sweep */
  /* [TFX_RAMP_VALUES][n_sos]: the values at the first frame of a cell; their change per
   * frame, a factor for g and k and a difference for the others; and the coefficients of
   * the cell's frames, in the form of the kernel. */
  double *values, *rates, *coef;
  uint64_t cell; /* first frame of that cell; UINT64_MAX: none yet */
  /* A sweep: the integrators m[n_sos][n_channels], l[n_sos][n_channels]; a
   * cross-fade: s1, s2 of the new sections, [n_channels][n_sos][2]. */
  double *state;
  void *room; /* owns from and to */
} TfxRamp;

typedef struct TfxSlot
{
  TfxStage *stage; /* a reference; sections and gains may have newer values */
  unsigned n_channels;
  bool is_joined; /* several stages of the chain run as this one */
  bool is_active; /* false: an identity since rest, which plans omit */
  /* Under automation: plans that are compiled run it as a separate step, so that the
   * sections around it stay in their kernels. */
  bool is_automated;
  bool is_reserved; /* by tfx_filter_reserve() */

  /* Sections and gains: the current values, or the start of the ramp; and its end. */
  size_t n_sos;
  TfxSos *sos, *to;
  double gain, gain_to;
  TfxRamp ramp;
  TfxEvents *events; /* or NULL */

  double *state;
  void *unit;
  void *spare; /* a unit for another format, while one is set */
  struct TfxResident *resident; /* or NULL */

  size_t n_branches; /* sums and splits */
  TfxSlots *branches;

  struct TfxSlot *next_retired; /* see TfxFilter */
} TfxSlot;

/* A cross-fade, in frames. */
typedef struct TfxFade
{
  size_t done, length;
  /* The first frames of the length, in which the new slot runs unheard, to fill its
   * look-ahead. */
  size_t lead;
  /* The input of the new slot is faded in, so that it repeats no edge later. */
  bool rises;
} TfxFade;

/* Frames to the end of the cross-fade or of its lead. */
static inline size_t
tfx_fade_frames (const TfxFade *fade)
{
  return (fade->done < fade->lead ? fade->lead : fade->length) - fade->done;
}

typedef enum
{
  TFX_SLOT_STEADY,
  TFX_SLOT_CATCHING_UP, /* `old` runs alone while `slot` warms up */
  TFX_SLOT_WAITING,     /* for a plan with the cross-fade */
  TFX_SLOT_FADING       /* plans cross-fade */
} TfxSlotPhase;

/* A stage of a filter, or the change from one to another. */
typedef struct TfxSlotEntry
{
  TfxSlot *slot; /* NULL: the stage is removed */
  TfxSlot *old;  /* fades out; NULL: none, the input fades out */
  TfxFade *fade; /* NULL: steady */
  TfxSlotPhase phase;
  bool has_past; /* `slot` has warmed up */

  /* Only in a prepared list, see prepare.h. */
  bool is_new; /* the list owns `slot` and `fade`; else: */
  bool is_joined;
  TfxStage *stage;    /* the new values of `slot`, or NULL */
  void *values;       /* the same, prepared by its unit */
  TfxSlots *branches; /* [n_branches] */
} TfxSlotEntry;

/* Stages in series. */
struct TfxSlots
{
  size_t n;
  TfxSlotEntry *entries;
  size_t n_stages; /* of the chain */
};

/* The stages of a branch, prepared if the entry is. */
static inline TfxSlots *
tfx_slot_entry_branch (const TfxSlotEntry *entry, size_t branch)
{
  return &(entry->branches ? entry->branches : entry->slot->branches)[branch];
}

/* The stream that slots are made for. */
typedef struct TfxSlotSpec
{
  TfxFilterSpec filter;
  const char *kernel; /* of the units; NULL: a plan makes them */
  TfxJoins *joins;    /* or NULL */
} TfxSlotSpec;

/* The length of cross-fades and of ramps that an application sets. */
#define TFX_CHANGE_SECONDS 0.01

static inline size_t
tfx_slot_fade_frames (const TfxFilterSpec *spec)
{
  const double n = spec->rate_hz * TFX_CHANGE_SECONDS;

  return n < 1.0 ? 1 : n > 1e9 ? 1000000000 : (size_t)n;
}

/* The same in cells of the grid. */
static inline unsigned
tfx_slot_fade_cells (const TfxFilterSpec *spec)
{
  return (unsigned)((tfx_slot_fade_frames (spec) + TFX_GRID_FRAMES - 1) /
                    TFX_GRID_FRAMES);
}

/* Values of sections (shapes may be NULL) or of a gain (sos is NULL). */
typedef struct TfxSlotValues
{
  const TfxSos *sos;
  const TfxSvf *shapes;
  double gain;
} TfxSlotValues;

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
