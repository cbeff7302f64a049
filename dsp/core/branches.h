/* SPDX-License-Identifier: LGPL-2.1-or-later
 * branches.h: what stages with branches have in common: sums and splits. */
#ifndef TFX_BRANCHES_H
#define TFX_BRANCHES_H

#include "kind.h"

/* A stage with references to branches[n], and a copy of channels[n] unless that is
 * NULL.  NULL if they are too deep, or memory is short. */
TfxStage *tfx_branches_new (uint64_t id, const TfxKind *kind,
    TfxChain *const *branches, const uint64_t *channels, size_t n);

/* A stage like this one, with other branches. */
TfxStage *
tfx_branches_new_like (const TfxStage *stage, TfxChain *const *branches);

/* Whether it has any. */
bool tfx_branches_are_in (const TfxStage *stage);

/* How many of n_channels a branch hears. */
unsigned tfx_branches_n_channels (const TfxStage *stage, size_t branch,
    unsigned n_channels);

/* The stage with that id, within branches too; NULL if there is none. */
const TfxStage *tfx_branches_find (const TfxChain *chain, uint64_t id);

/* Whether channels are evenly spaced: which is the first one, and how far they are
 * apart; 1 if there is a single one. */
bool
tfx_branches_find_even (uint64_t channels, unsigned *first, unsigned *step);

/* For the tables of kinds. */
bool tfx_branches_is_same (const TfxStage *a, const TfxStage *b);
int tfx_branches_prepare (TfxStage *stage, const TfxFilterSpec *spec);
size_t tfx_branches_latency (const TfxStage *stage);
/* H (exp (j 2 pi f / rate)) of the frames by which a branch is less late than the
 * stage, whose latency no response counts. */
TfxComplex tfx_branches_advance_at (const TfxStage *stage, size_t branch,
    double freq_hz, double rate_hz);
void tfx_branches_clear (TfxStage *stage);

#endif
