/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain.h: a chain run straight from what tfx.h says of its stages, in place
 * of the engine. */
#ifndef TEST_PLAIN_H
#define TEST_PLAIN_H

#include "tfx.h"

/* Runs samples[n_channels][n_frames] through the chain from rest, in place,
 * stage after stage in double precision: no plan, no kernel. */
void plain_run (const TfxChain *chain, double *samples, unsigned n_channels,
    size_t n_frames);

/* The frequency response of one channel of a chain without swapped echoes. */
typedef struct PlainResponse
{
  TfxComplex h;
  /* By how many times DBL_EPSILON h moves, at the most, if each coefficient
   * moves by DBL_EPSILON of itself (a0 = 1 included). */
  double slack;
} PlainResponse;

PlainResponse
plain_response (const TfxChain *chain, double freq_hz, double rate_hz);

#endif /* TEST_PLAIN_H */
