/* SPDX-License-Identifier: LGPL-2.1-or-later
 * slot.h: the current values and the state of one stage of a filter.
 *
 * Sections have their state in `state`, double[n_channels][n_sos][2] as in tfx.h, with
 * no gain folded in; while a plan holds the filter, its engine has that state.  All other
 * kinds have it in their unit, which every plan on the CPU runs.  If a device returns
 * state before there is a unit, it is in `state`.  If `resident` is set, a device has the
 * state, and `state` and the unit are out of date. */
#ifndef TFX_SLOT_H
#define TFX_SLOT_H

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

/* A slot at rest with the values of the stage.  0 or negative errno. */
int tfx_slot_new (TfxStage *stage, const TfxSlotSpec *spec, TfxSlot **slot);
void tfx_slot_free (TfxSlot **slot);
/* The slots of a chain. */
int
tfx_slots_new (const TfxChain *chain, const TfxSlotSpec *spec, TfxSlots *list);
void tfx_slots_clear (TfxSlots *list);

/* Frees the state on a device. */
void tfx_slot_drop_resident (TfxSlot *slot);

/* Makes the unit, or (kernel == NULL) room for the state that a device returns.  0 or
 * -ENOMEM. */
int tfx_slot_make_room (TfxSlot *slot, const TfxSlotSpec *spec);

TfxUnitSpec tfx_slot_unit_spec (const TfxSlotSpec *spec, unsigned n_channels);

/* The same for a branch of a stage. */
TfxSlotSpec tfx_slot_branch_spec (const TfxSlotSpec *spec,
    const TfxStage *stage, size_t branch);

/* Whether the samples and channels suit a stage: see TfxKind.check. */
int tfx_slot_check (const TfxSlot *slot, const TfxStage *stage,
    const TfxFilterSpec *filter);

/* Whether the slot can take the values of a stage, which then has the same structure. */
bool
tfx_slot_can_take (const TfxSlot *slot, const TfxStage *stage, bool has_run);
/* Whether it has these values, or ramps to them. */
bool tfx_slot_has_values (const TfxSlot *slot, const TfxStage *stage);

/* Whether it is another structure of the same stage, whose history it can use. */
static inline bool
tfx_slot_is_successor (const TfxSlot *slot, const TfxSlot *old)
{
  return slot && old && slot->stage->id == old->stage->id &&
         slot->stage->kind == old->stage->kind;
}

/* Values of sections (shapes may be NULL) or of a gain (sos is NULL). */
typedef struct TfxSlotValues
{
  const TfxSos *sos;
  const TfxSvf *shapes;
  double gain;
} TfxSlotValues;

/* Those of a stage; they point into it. */
TfxSlotValues tfx_slot_values (const TfxStage *stage);

/* The end of the ramp, or the event that waits for its end. */
TfxSlotValues tfx_slot_target (const TfxSlot *slot);
/* Whether these are the values of a stage. */
bool tfx_slot_are_values (const TfxSlot *slot, const TfxSlotValues *values,
    const TfxStage *stage);

/* Whether the slot has no effect with these values. */
bool tfx_slot_is_identity (const TfxSlot *slot, const TfxSlotValues *values);

/* Begins a ramp of sections or a gain, see tfx_ramp_set().  Returns true if plans have
 * omitted the slot. */
bool tfx_slot_glide (TfxSlot *slot, const TfxSlotValues *values,
    unsigned n_cells, uint64_t now);

/* To rest. */
void tfx_slot_reset (TfxSlot *slot);
/* The largest magnitude in the state that the slot has. */
double tfx_slot_peak (const TfxSlot *slot);

/* The entry of a stage, also in a branch; NULL if there is none. */
TfxSlotEntry *tfx_slots_find (const TfxSlots *list, uint64_t id);

/* The chain that the slots are set to.  `stage`, unless NULL, replaces the one with its id.
 * 0; -ENOENT: there is no such stage; -ENOMEM. */
int
tfx_slots_get_chain (const TfxSlots *list, TfxStage *stage, TfxChain **chain);

/* A walk over the entries of a list and of all branches, also those that fade out; the entries
 * of branches come before the entry that has them. */
typedef struct TfxWalk
{
  struct
  {
    const TfxSlots *list;
    size_t entry, branch;
    int slot; /* the next one of the entry, of two */
  } at[TFX_SUM_MAX_DEPTH + 1];
  int depth;
} TfxWalk;

static inline TfxWalk
tfx_walk (const TfxSlots *list)
{
  TfxWalk walk;

  walk.at[0].list = list;
  walk.at[0].entry = walk.at[0].branch = 0;
  walk.at[0].slot = walk.depth = 0;
  return walk;
}

/* The next entry; or the next slot of one; NULL: the walk is over. */
TfxSlotEntry *tfx_walk_entry (TfxWalk *walk);
TfxSlot *tfx_walk_slot (TfxWalk *walk);

#endif
