/* SPDX-License-Identifier: LGPL-2.1-or-later
 * slot.h: where a filter keeps one of its stages: the values that are in force,
 * and the state.
 *
 * The state of sections is double[n_channels][n_sos][2] as in tfx.h, without
 * regard to any gain around them; an engine may have it in its own form.  That
 * of a FIR or a delay line lies in its unit, which every plan on the CPU uses in
 * place; what a device gives back before there is a unit lies in `state`. */
#ifndef TFX_SLOT_H
#define TFX_SLOT_H

#include "kind.h"

typedef struct TfxPlaces TfxPlaces;
typedef struct TfxQueue TfxQueue;

typedef struct TfxSlot
{
  TfxStage *stage; /* a reference; what sections and gains are set to may have
                    * moved on from its values */
  bool is_joined;  /* several of the chain's in one */
  /* Plans leave it out as long as it has been an identity since rest. */
  bool is_active;

  /* Sections and gains: in force, and the ends of a glide. */
  size_t n_sos;
  TfxSos *sos, *from, *to;
  double gain, gain_from, gain_to;
  unsigned glide_step, n_glide_steps; /* 0: none */
  uint64_t next_step; /* the frame of the filter where the next one is due */
  TfxQueue *queue;    /* see queue.h; NULL: there has been none */

  double *state;
  void *unit;
  /* What it goes to when the change that is being made ready succeeds. */
  TfxStage *new_stage;
  void *new_values;

  size_t n_branches; /* sums */
  TfxPlaces *branches;
} TfxSlot;

/* How far a cross-fade has come. */
typedef struct TfxFade
{
  size_t done, length;
} TfxFade;

typedef enum
{
  TFX_PLACE_STEADY,
  TFX_PLACE_CATCHING_UP, /* `old` runs alone while `slot` gets its past */
  TFX_PLACE_WAITING,     /* for a plan that cross-fades it */
  TFX_PLACE_FADING       /* plans do */
} TfxPlacePhase;

/* A place in a row of stages. */
typedef struct TfxPlace
{
  TfxSlot *slot; /* NULL: the stage goes */
  TfxSlot *old;  /* what is faded out; NULL: the input as it is */
  TfxFade *fade; /* NULL: steady */
  TfxPlacePhase phase;
  bool has_past; /* `slot` has caught up */
  bool is_new;   /* `slot` belongs to the change that is being made ready */
} TfxPlace;

/* Places in series; and those of a change that is being made ready. */
struct TfxPlaces
{
  size_t n, n_next;
  TfxPlace *places, *next;
  bool is_structural; /* the change */
};

/* What slots are made for. */
typedef struct TfxSlotSpec
{
  TfxFilterSpec filter;
  const char *kernel; /* units are made for it at once; NULL: by a plan */
} TfxSlotSpec;

/* At rest, with the values of the stage.  0 or negative errno. */
int tfx_slot_new (TfxStage *stage, const TfxSlotSpec *spec, TfxSlot **slot);
void tfx_slot_free (TfxSlot **slot);
/* The slots of a chain. */
int
tfx_slots_new (const TfxChain *chain, const TfxSlotSpec *spec, TfxPlaces *list);
void tfx_slots_clear (TfxPlaces *list);

/* Units where there are none yet, or (kernel == NULL) room for what a device
 * gives back.  0 or -ENOMEM. */
int tfx_slot_make_room (TfxSlot *slot, const TfxSlotSpec *spec);

TfxUnitSpec tfx_slot_unit_spec (const TfxSlotSpec *spec);

/* Whether it can get the values of a stage without another structure. */
bool
tfx_slot_can_take (const TfxSlot *slot, const TfxStage *stage, bool has_run);
/* Whether it has them, or goes there. */
bool tfx_slot_has_values (const TfxSlot *slot, const TfxStage *stage);

/* Entries of a queue: two seconds and more. */
#define TFX_QUEUE_MAX 4096

/* Sections and gains: goes to the values of a stage in n_steps points of the
 * grid, from frame `now` on; 0: at once, at rest.  True if plans have left it
 * out up to now. */
bool tfx_slot_glide (TfxSlot *slot, const TfxStage *stage, unsigned n_steps,
    uint64_t now);
/* The same in one point, or as what is left of a glide that is under way. */
void tfx_slot_follow (TfxSlot *slot, const TfxStage *stage, uint64_t now);
/* The next point: the state is mapped to the new values. */
void tfx_slot_step (TfxSlot *slot, unsigned n_channels);

/* To rest. */
void tfx_slot_reset (TfxSlot *slot, unsigned n_channels);
/* The largest magnitude of what the slot itself holds. */
double tfx_slot_peak (const TfxSlot *slot, unsigned n_channels);

/* The place of a stage, within sums too; NULL if there is none. */
TfxPlace *tfx_slots_find (TfxPlaces *list, uint64_t id);

/* Calls f for every slot of the list, those of branches and those that fade out
 * included. */
typedef void (*TfxSlotFunction) (TfxSlot *slot, void *data);
void tfx_slots_each (const TfxPlaces *list, TfxSlotFunction f, void *data);

#endif
