/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tables.h: what the cascade kernels need to know of a cascade, computed on
 * the host when a plan is made or its values change. */
#ifndef TFX_CUDA_TABLES_H
#define TFX_CUDA_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/args.h"
#include "tfx.h"

/* The arithmetic of the kernels: double, or two floats (kernels/real.h). */
typedef enum
{
  TFX_REAL_DOUBLE,
  TFX_REAL_TWOFOLD
} TfxReal;

/* Either takes as many bytes. */
#define TFX_REAL_SIZE 8

/* numbers[at] = value, in that arithmetic. */
void tfx_real_put (void *numbers, TfxReal real, size_t at, long double value);

/* How a cascade is cut into groups. */
typedef struct TfxGroups
{
  unsigned size; /* sections in a group, 1 to TFX_GROUP_MAX */
  unsigned n;    /* groups; the last is filled up with identities */
} TfxGroups;

/* Returns the cheapest grouping.  is_double: the stream has doubles, so that the
 * grouping must be accurate too: where one section cancels the resonance of another,
 * a state is the small difference of large contributions of the group.  Such sections
 * are not grouped, and their segments are long. */
TfxGroups tfx_tables_group (size_t n_sos, bool is_double);

/* Segments are no shorter than 2^this; 0: they may be. */
unsigned tfx_tables_min_segment_log2 (TfxGroups groups);

/* Bytes of the tables of a cascade; has_drive: of one group, in double, of a float
 * stream, whose kernels have more. */
size_t tfx_tables_size (TfxGroups groups, bool has_drive);

/* True if sections can be run with b0 = 1 and the gain behind each group. */
bool tfx_tables_can_normalise (TfxReal real, const TfxSos *sos, size_t n_sos);

/* Fills tables[tfx_tables_size ()] for y = gain cascade (x), as
 * kernels/args.h describes them. */
void tfx_tables_fill (void *tables, TfxReal real, TfxGroups groups,
    const TfxSos *sos, size_t n_sos, double gain, bool normalised,
    bool has_drive);

/* Copies what kernels/args.h has as "fixed" out of the tables of a group of
 * `size` sections, for segments of 2^segment_log2 frames. */
void tfx_tables_fix (const void *tables, unsigned size, unsigned segment_log2,
    void *fixed);

#endif
