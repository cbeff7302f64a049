/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gain-blocks.h: the gains that the blocks of a stream need; see TfxAgc. */
#ifndef TFX_GAIN_BLOCKS_H
#define TFX_GAIN_BLOCKS_H

#include "cpu/dynamics.h"

/* Factors. */
typedef struct TfxGainAim
{
  double target, max_gain, release;
} TfxGainAim;

typedef struct TfxGainBlocks TfxGainBlocks;

/* At rest; for parts of up to most_frames frames.  0 or -ENOMEM. */
int tfx_gain_blocks_new (const TfxAgc *agc, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames, TfxGainBlocks **blocks);
void tfx_gain_blocks_free (TfxGainBlocks **blocks);
void tfx_gain_blocks_reset (TfxGainBlocks *blocks);

/* Loads the next part, interleaved. */
void tfx_gain_blocks_load (TfxGainBlocks *blocks, const double *samples,
    size_t n_frames);
/* Measures the next frames of the part, which must still exist: frames of a block from
 * frame `first` of it on. */
void tfx_gain_blocks_add (TfxGainBlocks *blocks, size_t first, size_t n_frames);
/* Ends the block: gains[1 or n_channels]. */
void tfx_gain_blocks_end (TfxGainBlocks *blocks, const TfxGainAim *aim,
    double *gains);

#endif
