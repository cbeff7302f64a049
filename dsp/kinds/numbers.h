/* SPDX-License-Identifier: LGPL-2.1-or-later
 * numbers.h: a few numbers that units go by, and how they get to others: frame by
 * frame, one change after the other, of which the last that waits counts. */
#ifndef TFX_NUMBERS_H
#define TFX_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "design/weight.h"

#define TFX_NUMBERS_MAX 8

/* What they are by a setting. */
typedef struct TfxNumberSet
{
  double n[TFX_NUMBERS_MAX];
} TfxNumberSet;

typedef struct TfxNumbers
{
  double now[TFX_NUMBERS_MAX]; /* at the next frame */
  double from[TFX_NUMBERS_MAX], to[TFX_NUMBERS_MAX], waiting[TFX_NUMBERS_MAX];
  size_t done, length; /* frames of the change; length 0: there is none */
  size_t waiting_length;
  TfxWeight weight, waiting_weight;
} TfxNumbers;

void
tfx_numbers_init (TfxNumbers *numbers, const double values[TFX_NUMBERS_MAX]);

/* Goes there over n_frames, when the change that is under way is over; 0: at
 * once, and all changes are over. */
void tfx_numbers_set (TfxNumbers *numbers, const double values[TFX_NUMBERS_MAX],
    size_t n_frames, TfxWeight weight);

/* To the next frame; only while there is a change. */
void tfx_numbers_step (TfxNumbers *numbers);

/* All changes are over. */
void tfx_numbers_finish (TfxNumbers *numbers);

static inline bool
tfx_numbers_are_moving (const TfxNumbers *numbers)
{
  return numbers->length > 0;
}

#endif
