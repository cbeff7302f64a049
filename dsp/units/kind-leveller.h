/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-leveller.h: how the CPU runs a gain that is found cell by cell, for its
 * kind. */
#ifndef TFX_KIND_LEVELLER_H
#define TFX_KIND_LEVELLER_H

#include "../kind.h"

extern const TfxUnitKind tfx_leveller_unit;

/* Frames by which the output is late. */
static inline size_t
tfx_leveller_delay (const TfxLeveller *l)
{
  return l->n_ahead * l->n_cell;
}

/* Doubles of a state, of so many channels. */
size_t
tfx_leveller_state_size (const TfxLeveller *leveller, unsigned n_channels);

#endif
