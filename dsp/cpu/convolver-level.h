/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-level.h: the partitions of one size, see convolver-grid.c. */
#ifndef TFX_CONVOLVER_LEVEL_H
#define TFX_CONVOLVER_LEVEL_H

#include "convolver-private.h"

/* Where the work of a level for one side stands, in its current block. */
typedef struct TfxLevelWork
{
  size_t n_done; /* steps */
  double cost_done;
} TfxLevelWork;

typedef struct TfxLevel
{
  size_t number; /* 0 is the head */
  size_t size, n_parts, first;
  size_t n_slots; /* spectra that are kept: partitions and one more */
  size_t batch;   /* leaves of a step back */
  void *spectra;  /* T[n_channels][leaf][n_slots][64] */
  void *re, *im;  /* T[size]: the steps' scratch */
  /* T[2 of the cross-fade pair][2][n_channels][size]: the output for this and the next block;
   * level 0 has only this one's, of all partitions but the first */
  void *output;
  uint64_t period;                      /* the number of the current block */
  size_t n_steps_forward, n_steps_back; /* for each channel */
  double cost_pass, cost_forward, cost_back; /* of a step */
  double cost_all_forward, cost_all_back;    /* of all channels */
  TfxLevelWork forward, back[2];
} TfxLevel;

static inline size_t
tfx_level_divide_up (size_t a, size_t b)
{
  return (a + b - 1) / b;
}

/* The input from frame `time` on; up to the end of a block of any level. */
static inline void *
tfx_level_past (const TfxConvolver *c, unsigned channel, uint64_t time)
{
  return tfx_convolver_at (c, c->past,
      channel * c->past_length + time % c->past_length);
}

/* Takes the arrays of level `number` from the arena, and sets its numbers. */
void tfx_level_place (const TfxConvolver *c, TfxLevel *l, size_t number,
    TfxArena *arena);

/* At rest, in the block that starts at `time`. */
void tfx_level_reset (const TfxConvolver *c, TfxLevel *l, uint64_t time);

/* The first tile of X_k; the other leaves are n_slots tiles apart. */
void *tfx_level_spectrum (const TfxConvolver *c, const TfxLevel *l,
    unsigned channel, uint64_t k);

/* What the level adds to the output in block k. */
void *tfx_level_output (const TfxConvolver *c, const TfxLevel *l, unsigned side,
    unsigned channel, uint64_t k);

/* sum_p H_p X_(newest - p) for p from skip on, p < n_parts */
TfxTileSum tfx_level_sum (const TfxConvolver *c, const TfxLevel *l,
    unsigned side, unsigned channel, uint64_t newest, size_t skip);

/* Computes the output in the current block at once, for a level that is not
 * the head; scratch is T[size].  Its work for the next block starts anew. */
void
tfx_level_prime (TfxConvolver *c, TfxLevel *l, unsigned side, void *scratch);

/* `passed` frames of the level's current block are over, or all of them: does
 * what is due.  At its end the next block is the current one. */
void tfx_level_advance (TfxConvolver *c, TfxLevel *l, size_t passed);

#endif
