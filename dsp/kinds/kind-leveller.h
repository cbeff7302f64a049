/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-leveller.h: how the CPU runs a gain that is found cell by cell, for its
 * kind. */
#ifndef TFX_KIND_LEVELLER_H
#define TFX_KIND_LEVELLER_H

#include <float.h>

#include "core/kind.h"

extern const TfxUnitKind tfx_leveller_unit;

/* Frames by which the output is late. */
static inline size_t
tfx_leveller_delay (const TfxLeveller *l)
{
  return l->n_ahead * l->n_cell;
}

/* How much lower it aims, so that rounding lets nothing out above the target.  (A mean
 * of n gains may be above them by n roundings.) */
static inline double
tfx_leveller_headroom (const TfxLeveller *l, bool is_double)
{
  return 1.0 -
         (is_double ? (4.0 + (double)l->n_smooth) * DBL_EPSILON : FLT_EPSILON);
}

/* Where the stream is, and the gain in dB that loudness asks for. */
typedef struct TfxLevellerPlace
{
  double in_cell, n_over; /* frames; cells, up to n_ahead + 1 */
  double gain_db;
  double has_numbers; /* 0: the numbers that move are left as they are */
} TfxLevellerPlace;

/* What a state is made of, one behind the other. */
typedef struct TfxLevellerState
{
  unsigned n_levels; /* gains of the stream */
  size_t n_sums, n_heard;
  TfxLevellerPlace *place;
  double *numbers; /* a TfxNumbers */
  double *gains;   /* at both ends of a cell: [2][n_levels] */
  double *past;    /* [delay][n_channels], the oldest first */
  /* [n_heard]: of leveller-cells.h, n_sums first, or loudness.h. */
  double *heard;
} TfxLevellerState;

/* state NULL: the counts alone. */
TfxLevellerState tfx_leveller_state (const TfxLeveller *leveller,
    unsigned n_channels, double *state);

/* Doubles of a state, of so many channels. */
size_t
tfx_leveller_state_size (const TfxLeveller *leveller, unsigned n_channels);

#endif
