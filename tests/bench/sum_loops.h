/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sum_loops.h: the textbook's sections as branches of a sum, in plain C. */
#ifndef SUM_LOOPS_H
#define SUM_LOOPS_H

#include "tfx.h"

#define SUM_LOOPS_ORDERS 3

typedef struct SumLoops SumLoops;
typedef void (*SumLoop) (SumLoops *sum);

/* Interleaved blocks of one type.  Branch k has the sections from k n_each on. */
struct SumLoops
{
  const TfxSos *sos;
  size_t n_branches, n_each;
  TfxBlock in, out;
  double *state; /* 2 for each section and channel */
  double *row;   /* 2 (frames + channels) */
  SumLoop run;
};

/* By TfxSample: a sample, a branch, or a frame after the other. */
extern const SumLoop sum_loops[2][SUM_LOOPS_ORDERS];

#endif
