/* SPDX-License-Identifier: LGPL-2.1-or-later
 * positions.h: positions of channels. */
#ifndef TFX_POSITIONS_H
#define TFX_POSITIONS_H

#include "tfx.h"

/* The channels at some positions, and the positions of some channels, as bits. */
uint64_t tfx_positions_find_channels (uint64_t positions, uint64_t wanted);
uint64_t tfx_positions_of_channels (uint64_t positions, uint64_t channels);

/* A set without the keys, and their number. */
static inline uint64_t
tfx_positions_named (uint64_t positions)
{
  return positions & (TFX_POSITIONS_KEYS (1) - 1);
}

static inline unsigned
tfx_positions_n_keys (uint64_t positions)
{
  return (unsigned)(positions >> 32);
}

/* The weight of a channel's power in loudness, ITU-R BS.1770-5, annex 3; 1 for a
 * channel without a position. */
double tfx_positions_weight (uint64_t positions, unsigned channel);

/* The direction of a channel in degrees, to the left and up, as in ITU-R BS.2051: of
 * the surround channels those of 5.1 are at 110 degrees, those of 7.1 at 90 and 135.
 * LFE is at the front.  false: the channel has no position. */
bool tfx_positions_find_direction (uint64_t positions, unsigned channel,
    double *azimuth, double *elevation, bool *is_lfe);

#endif
