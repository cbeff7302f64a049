/* SPDX-License-Identifier: LGPL-2.1-or-later
 * counts.h: what launches have cost, for a sample, and what a card makes of it. */
#ifndef TEST_PTX_COUNTS_H
#define TEST_PTX_COUNTS_H

#include <stdbool.h>

#include "cards.h"

/* As ptx.h has them. */
typedef enum
{
  COUNT_FP64,
  COUNT_FP32,
  COUNT_INT,
  COUNT_MOVE,
  COUNT_CONVERT,
  COUNT_PARAM,
  COUNT_LOAD_GLOBAL,
  COUNT_STORE_GLOBAL,
  COUNT_LOAD_SHARED,
  COUNT_STORE_SHARED,
  COUNT_SHUFFLE,
  COUNT_CONTROL,
  COUNT_BARRIER,
  COUNT_ATOMIC,
  N_COUNTS
} CountKind;

typedef struct Counts
{
  double kinds[N_COUNTS]; /* instructions of threads */
  double warps[N_COUNTS]; /* of warps, times 32 */
  /* A product of matrices (mma) counts as FP64: M N K / 32 multiply-adds of doubles
   * per lane, so FP64 does not depend on how a kernel multiplies.  A warp issues
   * one instruction for it: `mma_issued` times 32 of `mma_multiplies`. */
  double mma_issued, mma_multiplies;
  double read, written; /* bytes, whole sectors */
  double touched;       /* bytes of different sectors of a launch */
  double passes, ideal; /* over the banks of shared memory */
} Counts;

/* Adds up the counts of the launches in the file, per sample, and empties it.
 * False: there were none. */
bool counts_read (Counts *counts, const char *path, double n_samples);

/* Instructions of threads. */
double counts_total (const Counts *counts);

/* Those that are issued. */
double counts_issued (const Counts *counts);

/* Seconds that the card needs for a sample at the least, and what for. */
double counts_seconds (const Counts *counts, const StandinCard *card,
    const char **limit);

/* As TAP: that a case which has limits keeps them; and that all that have any
 * have been seen. */
void
counts_check_limits (const char *name, int is_twofold, const Counts *counts);
void counts_check_all_limits (void);

#endif
