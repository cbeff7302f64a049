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

/* What has been heard, as numbers; gains of 0 or less become 1:
 *   cells that are over
 *   of each gain the measure of the cell that has begun, of how many, and the gains
 *     that were asked for and held last: [n_levels][TFX_CELLS_LEVEL]
 *   of the last cells, by their number: measures and of how many,
 *     [2][n_window][n_levels], and gains that were held, [n_smooth][n_levels]
 *   the last samples: [n_channels][TFX_TRUE_PEAK_TAPS - 1] */
#define TFX_CELLS_LEVEL 4
size_t tfx_cells_n_numbers (const TfxLeveller *leveller, unsigned n_channels);
void tfx_cells_get_numbers (const TfxCells *cells, double *numbers);
void tfx_cells_set_numbers (TfxCells *cells, const double *numbers);

/* Frames of the cell that has begun; room for as many samples. */
void tfx_cells_add (TfxCells *cells, const double *samples, double *room,
    size_t n_frames);
/* It is over: gains[1 or n_channels]. */
void tfx_cells_end (TfxCells *cells, const TfxCellsAim *aim, double *gains);

#endif
