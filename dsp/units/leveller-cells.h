/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller-cells.h: what gain the cells of a stream ask for; see TfxLeveller. */
#ifndef TFX_LEVELLER_CELLS_H
#define TFX_LEVELLER_CELLS_H

#include "../tfx.h"

/* What moves; factors. */
typedef struct TfxCellsAim
{
  double target, max_gain, release;
} TfxCellsAim;

/* In one piece of memory, of that size, without pointers: it may be copied. */
typedef struct TfxCells TfxCells;

size_t tfx_cells_size (const TfxLeveller *leveller, unsigned n_channels);
void tfx_cells_init (TfxCells *cells, const TfxLeveller *leveller,
    unsigned n_channels);

/* Frames of the cell that has begun; room for as many samples. */
void tfx_cells_add (TfxCells *cells, const double *samples, double *room,
    size_t n_frames);
/* It is over: gains[1 or n_channels]. */
void tfx_cells_end (TfxCells *cells, const TfxCellsAim *aim, double *gains);

#endif
