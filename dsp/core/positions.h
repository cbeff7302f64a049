/* SPDX-License-Identifier: LGPL-2.1-or-later
 * positions.h: positions of channels. */
#ifndef TFX_POSITIONS_H
#define TFX_POSITIONS_H

#include "tfx.h"

/* The channels at some positions, and the positions of some channels, as bits. */
uint64_t tfx_positions_find_channels (uint64_t positions, uint64_t wanted);
uint64_t tfx_positions_of_channels (uint64_t positions, uint64_t channels);

/* The weight of a channel's power in loudness, ITU-R BS.1770-5, annex 3; 1 for a
 * channel without a position. */
double tfx_positions_weight (uint64_t positions, unsigned channel);

#endif
