/* SPDX-License-Identifier: LGPL-2.1-or-later
 * changes.h: what it takes to change a long FIR while samples flow. */
#ifndef CHANGES_H
#define CHANGES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ChangeTimes
{
  double mean;     /* ns, of a block without a change */
  double worst;    /* of the blocks from the change on, until it is done */
  double set;      /* of the call that sets the plan */
  double prepare;  /* of what another thread does before */
  size_t n_blocks; /* until it is done */
} ChangeTimes;

/* From one kernel of n_taps to another, in blocks of n_frames of float.  False
 * if memory is short. */
bool changes_measure (const char *kernel, size_t n_taps, unsigned n_channels,
    size_t n_frames, ChangeTimes *times);

#endif
