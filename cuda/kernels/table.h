/* SPDX-License-Identifier: LGPL-2.1-or-later
 * table.h: where a kernel finds the tables of a group.
 *
 * FIXED: what the arithmetic reads for every sample and at every scan stands
 * in the launch's arguments, at places that the compiler knows, so that it is
 * an operand.  Loads of it from memory, the same for all lanes, would take more
 * of the load units than there is.  Otherwise all of it is in global memory. */
#ifndef TFX_KERNEL_TABLE_H
#define TFX_KERNEL_TABLE_H

#include "args.h"
#include "real.h"

template <typename R, int G, bool FIXED> struct Table
{
  const R *fixed; /* as args.h has it; of FIXED only */
  const R *all;
};

/* Sections, scales and gain, at the same offsets in both tables. */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN const R *
table_head (const Table<R, G, FIXED> &table)
{
  return FIXED ? table.fixed : table.all;
}

/* A^(2^index). */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN const R *
table_power (const Table<R, G, FIXED> &table, unsigned index)
{
  return table.all + TFX_TABLE_POWERS (G) + index * TFX_POWER_SIZE (G);
}

/* What step 1 goes through once for every round is more than the cache of the
 * arguments holds, which each warp would empty for the others.  It is loaded
 * instead where the arithmetic is short enough to wait for it. */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN const R *
table_control (const Table<R, G, FIXED> &table)
{
  return (FIXED && !real_is_short (R ()) ? table.fixed : table.all) +
         TFX_TABLE_CONTROL (G);
}

/* The powers of half a round of step 1 (i = 0) and of a round. */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN const R *
table_half (const Table<R, G, FIXED> &table, unsigned half_log2, int i)
{
  return FIXED && !real_is_short (R ())
             ? table.fixed + TFX_FIXED_HALF (G) + i * TFX_POWER_SIZE (G)
             : table_power (table, half_log2 + i);
}

/* Values for a scan with A^m, m being the frames of a segment (i = 0), of a tile
 * (1) or of a node of tiles (2). */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN const R *
table_level (const Table<R, G, FIXED> &table, unsigned segment_log2, int i)
{
  return FIXED ? table.fixed + TFX_FIXED_LEVEL (G, i)
               : table_power (table, segment_log2 + 5 * i);
}

/* From the diagonal of A^(m 2^step) to the next one's. */
template <int G, bool FIXED>
TFX_DEVICE_FN constexpr int
table_diagonal_stride ()
{
  return FIXED ? 4 * G : TFX_POWER_SIZE (G);
}

/* Block (k, i) of A^m, below the diagonal. */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN const R *
table_below (const R *level, int k, int i)
{
  return level + (FIXED ? 5 : 1) * 4 * G + 4 * (k * (k - 1) / 2 + i);
}

#endif
