/* SPDX-License-Identifier: LGPL-2.1-or-later
 * slot.h: where a filter keeps one of its stages: the values that are in force,
 * and the state.
 *
 * The state of sections is double[n_channels][n_sos][2] as in tfx.h, without
 * regard to any gain around them; an engine may have it in its own form.  That
 * of a FIR or a delay line lies in its unit, which every plan on the CPU uses in
 * entry; what a device gives back before there is a unit lies in `state`.  What
 * stays on a device lies in `resident`, and neither of these counts then. */
#ifndef TFX_SLOT_H
#define TFX_SLOT_H

#include "kind.h"

typedef struct TfxSlots TfxSlots;
typedef struct TfxEvents TfxEvents;

/* g, k, low, band, high: see svf.h. */
#define TFX_RAMP_VALUES 5

/* Where values are on their way from those in force to others; see ramp.h. */
typedef struct TfxRamp
{
  unsigned n_cells; /* of TFX_GRID_FRAMES; 0: nothing moves */
  uint64_t first;   /* the frame of the filter where it begins */
  bool is_curve;    /* set for one cell */
  bool is_fade;     /* of sections; else they glide */
  bool is_entered;  /* its state is in force, in place of the slot's */
  unsigned n_fade_cells;
  struct TfxSvf *from, *to; /* [n_sos], the ends of a glide */
  /* [TFX_RAMP_VALUES][n_sos]: at the first frame of a cell, and how they go on,
   * g and k by a factor, the others by a difference; and what a kernel makes of
   * them for the frames of the cell. */
  double *values, *rates, *coef;
  uint64_t cell; /* the first frame of that one; UINT64_MAX: none yet */
  /* A glide: the integrators m[n_sos][n_channels], l[n_sos][n_channels]; a
   * cross-fade: s1, s2 of the new sections, [n_channels][n_sos][2]. */
  double *state;
  void *room; /* to be freed */
} TfxRamp;

typedef struct TfxSlot
{
  TfxStage *stage; /* a reference; what sections and gains are set to may have
                    * moved on from its values */
  unsigned n_channels; /* that it runs */
  bool is_joined;      /* several of the chain's in one */
  /* Plans leave it out as long as it has been an identity since rest. */
  bool is_active;
  /* Under automation: plans run it as a step of its own, so that the sections around
   * it stay in their kernels. */
  bool is_automated;

  /* Sections and gains: in force, or what a motion comes from; and what it goes to. */
  size_t n_sos;
  TfxSos *sos, *to;
  double gain, gain_to;
  TfxRamp ramp;
  TfxEvents *events; /* see events.h; NULL: there has been none */

  double *state;
  void *unit;
  void *spare; /* a unit for another format, while one is set */
  struct TfxResident *resident; /* or NULL */

  size_t n_branches; /* sums */
  TfxSlots *branches;
} TfxSlot;

/* How far a cross-fade has come. */
typedef struct TfxFade
{
  size_t done, length;
  /* Of these frames, in which what comes in is run and not heard: what looks ahead puts
   * out nothing before. */
  size_t lead;
  /* What comes in begins at rest and would put out later, when it is heard alone, the
   * edge that its input begins with: that rises as it is faded in. */
  bool rises;
} TfxFade;

/* Frames up to its end, or that of the lead. */
static inline size_t
tfx_fade_frames (const TfxFade *fade)
{
  return (fade->done < fade->lead ? fade->lead : fade->length) - fade->done;
}

typedef enum
{
  TFX_SLOT_STEADY,
  TFX_SLOT_CATCHING_UP, /* `old` runs alone while `slot` gets its past */
  TFX_SLOT_WAITING,     /* for a plan that cross-fades it */
  TFX_SLOT_FADING       /* plans do */
} TfxSlotPhase;

/* A place in a row of stages. */
typedef struct TfxSlotEntry
{
  TfxSlot *slot; /* NULL: the stage goes */
  TfxSlot *old;  /* what is faded out; NULL: the input as it is */
  TfxFade *fade; /* NULL: steady */
  TfxSlotPhase phase;
  bool has_past; /* `slot` has caught up */

  /* In a prepared list, see prepare.h. */
  bool is_new; /* `slot` and `fade` belong to it; else: */
  bool is_joined;
  TfxStage *stage;    /* what `slot` is to be set to, or NULL: it stays */
  void *values;       /* these, prepared by its unit */
  TfxSlots *branches; /* [n_branches] */
} TfxSlotEntry;

/* Places in series. */
struct TfxSlots
{
  size_t n;
  TfxSlotEntry *entries;
  size_t n_stages; /* of the chain */
};

/* Those of a branch: prepared, or as they are. */
static inline TfxSlots *
tfx_slot_entry_branch (const TfxSlotEntry *entry, size_t branch)
{
  return &(entry->branches ? entry->branches : entry->slot->branches)[branch];
}

/* What slots are made for. */
typedef struct TfxSlotSpec
{
  TfxFilterSpec filter;
  const char *kernel; /* units are made for it at once; NULL: by a plan */
} TfxSlotSpec;

/* How long a change takes. */
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

/* At rest, with the values of the stage.  0 or negative errno. */
int tfx_slot_new (TfxStage *stage, const TfxSlotSpec *spec, TfxSlot **slot);
void tfx_slot_free (TfxSlot **slot);
/* The slots of a chain. */
int
tfx_slots_new (const TfxChain *chain, const TfxSlotSpec *spec, TfxSlots *list);
void tfx_slots_clear (TfxSlots *list);

/* What a device has of its state is of no use any more. */
void tfx_slot_drop_resident (TfxSlot *slot);

/* Units where there are none yet, or (kernel == NULL) room for what a device
 * gives back.  0 or -ENOMEM. */
int tfx_slot_make_room (TfxSlot *slot, const TfxSlotSpec *spec);

TfxUnitSpec tfx_slot_unit_spec (const TfxSlotSpec *spec, unsigned n_channels);

/* That of a branch of a stage. */
TfxSlotSpec tfx_slot_branch_spec (const TfxSlotSpec *spec,
    const TfxStage *stage, size_t branch);

/* Whether the samples and channels suit a stage: see TfxKind.check. */
int tfx_slot_check (const TfxSlot *slot, const TfxStage *stage,
    const TfxFilterSpec *filter);

/* Whether it can get the values of a stage without another structure. */
bool
tfx_slot_can_take (const TfxSlot *slot, const TfxStage *stage, bool has_run);
/* Whether it has them, or goes there. */
bool tfx_slot_has_values (const TfxSlot *slot, const TfxStage *stage);

/* Whether it is another structure of the same filter, whose past is its own. */
static inline bool
tfx_slot_is_successor (const TfxSlot *slot, const TfxSlot *old)
{
  return slot && old && slot->stage->id == old->stage->id &&
         slot->stage->kind == old->stage->kind;
}

/* What sections (shapes: NULL if there are none) or a gain (sos: NULL) can have. */
typedef struct TfxSlotValues
{
  const TfxSos *sos;
  const TfxSvf *shapes;
  double gain;
} TfxSlotValues;

/* Those of a stage, as long as it is there. */
TfxSlotValues tfx_slot_values (const TfxStage *stage);

/* What sections and gains are set to: the end of the ramp, or what waits for that. */
TfxSlotValues tfx_slot_target (const TfxSlot *slot);
/* Whether these are the values of a stage. */
bool tfx_slot_are_values (const TfxSlot *slot, const TfxSlotValues *values,
    const TfxStage *stage);

/* Whether with these values the slot does nothing. */
bool tfx_slot_is_identity (const TfxSlot *slot, const TfxSlotValues *values);

/* Sections and gains: goes to other values, see tfx_ramp_set().  True if plans
 * have left it out up to now. */
bool tfx_slot_glide (TfxSlot *slot, const TfxSlotValues *values,
    unsigned n_cells, uint64_t now);

/* To rest. */
void tfx_slot_reset (TfxSlot *slot);
/* The largest magnitude of what the slot itself holds. */
double tfx_slot_peak (const TfxSlot *slot);

/* The place of a stage, within sums too; NULL if there is none. */
TfxSlotEntry *tfx_slots_find (const TfxSlots *list, uint64_t id);

/* The chain that the slots are set to; with a stage in place of the one with its id, unless
 * that is NULL.  0; -ENOENT: there is none; -ENOMEM. */
int
tfx_slots_get_chain (const TfxSlots *list, TfxStage *stage, TfxChain **chain);

/* Calls f for the slot and those of its branches; for every slot of the list, those that
 * fade out included. */
typedef void (*TfxSlotFunction) (TfxSlot *slot, void *data);
void tfx_slot_each (TfxSlot *slot, TfxSlotFunction f, void *data);
void tfx_slots_each (const TfxSlots *list, TfxSlotFunction f, void *data);

#endif
