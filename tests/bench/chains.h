/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.h: any chain of the core as a subject of a benchmark. */
#ifndef CHAINS_H
#define CHAINS_H

#include "core.h"

/* A chain as a text; NULL if it is none. */
TfxChain *chains_parse (const char *text, unsigned n_channels);

/* Runs noise through the chain, which is taken over; NULL: a memcpy() of the same
 * samples.  limit, n_fmas: see BenchSubject.  Returns the subject's number. */
unsigned chains_add (Bench *bench, const CoreCase *c, const char *name,
    TfxChain *chain, unsigned limit, double n_fmas);

#endif /* CHAINS_H */
