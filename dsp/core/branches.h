/* SPDX-License-Identifier: LGPL-2.1-or-later
 * branches.h: sums and splits, which have branches. */
#ifndef TFX_BRANCHES_H
#define TFX_BRANCHES_H

#include "kind.h"

/* A stage with references to branches[n], and a copy of channels[n] unless NULL.  NULL if
 * the branches are too deep, or without memory. */
TfxStage *tfx_branches_new (uint64_t id, const TfxKind *kind,
    TfxChain *const *branches, const uint64_t *channels, size_t n);

/* A stage like this one, with other branches. */
TfxStage *
tfx_branches_new_like (const TfxStage *stage, TfxChain *const *branches);

/* How many of n_channels a branch filters. */
static inline unsigned
tfx_branches_n_channels (const TfxStage *stage, size_t branch,
    unsigned n_channels)
{
  if (!stage->u.sum.channels)
    return n_channels;
  return (unsigned)__builtin_popcountll (stage->u.sum.channels[branch]);
}

/* The stage with that id, within branches too; NULL if there is none. */
const TfxStage *tfx_branches_find (const TfxChain *chain, uint64_t id);

/* Whether channels are evenly spaced; *first is the lowest, *step the distance, 1 for a
 * single channel. */
bool
tfx_branches_find_even (uint64_t channels, unsigned *first, unsigned *step);

#endif
