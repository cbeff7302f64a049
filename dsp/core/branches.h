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

/* Whether a stage has branches. */
bool tfx_branches_are_in (const TfxStage *stage);

/* How many of n_channels a branch filters. */
unsigned tfx_branches_n_channels (const TfxStage *stage, size_t branch,
    unsigned n_channels);

/* The stage with that id, within branches too; NULL if there is none. */
const TfxStage *tfx_branches_find (const TfxChain *chain, uint64_t id);

/* Whether channels are evenly spaced; *first is the lowest, *step the distance, 1 for a
 * single channel. */
bool
tfx_branches_find_even (uint64_t channels, unsigned *first, unsigned *step);

/* For the tables of kinds. */
bool tfx_branches_is_same (const TfxStage *a, const TfxStage *b);
int tfx_branches_prepare (TfxStage *stage, const TfxFilterSpec *spec);
size_t tfx_branches_latency (const TfxStage *stage);
/* H (exp (j 2 pi f / rate)) of the advance of a branch with less latency than its stage;
 * responses do not count latency. */
TfxComplex tfx_branches_advance_at (const TfxStage *stage, size_t branch,
    double freq_hz, double rate_hz);
void tfx_branches_clear (TfxStage *stage);

#endif
