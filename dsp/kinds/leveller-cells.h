/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller-cells.h: what gain the cells of a stream ask for; see TfxLeveller. */
#ifndef TFX_LEVELLER_CELLS_H
#define TFX_LEVELLER_CELLS_H

#include "cpu/dynamics.h"

/* What moves; factors. */
typedef struct TfxCellsAim
{
  double target, max_gain, release;
} TfxCellsAim;

typedef struct TfxCells TfxCells;

/* At rest; for parts of up to most_frames frames.  0 or -ENOMEM. */
int
tfx_cells_new (const TfxLeveller *leveller, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames, TfxCells **cells);
void tfx_cells_free (TfxCells **cells);
void tfx_cells_reset (TfxCells *cells);

/* What has been heard, as numbers; gains of 0 or less become 1:
 *   sums of the cell that has begun, which its measure lacks:
 *     [TFX_DYNAMICS_ROWS][n_levels]
 *   cells that are over
 *   of each gain the measure of the cell that has begun, of how many, and the gains
 *     that were asked for and held last: [n_levels][TFX_CELLS_LEVEL]
 *   of the last cells, by their number: measures and of how many,
 *     [2][n_window][n_levels], and gains that were held, [n_smooth][n_levels]
 *   the last samples: [n_channels][TFX_TRUE_PEAK_TAPS - 1] */
#define TFX_CELLS_LEVEL 4
size_t tfx_cells_n_sums (const TfxLeveller *leveller, unsigned n_channels);
size_t tfx_cells_n_numbers (const TfxLeveller *leveller, unsigned n_channels);
void tfx_cells_get_numbers (const TfxCells *cells, double *numbers);
void tfx_cells_set_numbers (TfxCells *cells, const double *numbers);
/* Those at rest. */
void tfx_cells_rest (const TfxLeveller *leveller, unsigned n_channels,
    double *numbers);

/* The next part, frame after frame. */
void tfx_cells_hear (TfxCells *cells, const double *samples, size_t n_frames);
/* Of its frames, which must be there still, the next ones, which belong to a cell from
 * frame `first` of it on. */
void tfx_cells_add (TfxCells *cells, size_t first, size_t n_frames);
/* The cell is over: gains[1 or n_channels]. */
void tfx_cells_end (TfxCells *cells, const TfxCellsAim *aim, double *gains);

#endif
