/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.h: chains of everything, for the tests of the backend. */
#ifndef TEST_CUDA_CHAINS_H
#define TEST_CUDA_CHAINS_H

#include "common-cuda.h"
#include "cudarow.h"

#define RATE 48000.0
#define N_OF(array) (sizeof array / sizeof *array)

/* The largest difference, relative to the largest value of b; NaN if there is
 * one. */
double test_cuda_distance (const double *a, const double *b, size_t n);

/* Adds the stage, which it takes over, to the chain. */
void test_cuda_append (TfxChain **chain, TfxStage *stage);
TfxChain *test_cuda_chain (uint64_t id, const TfxSos *sos, size_t n_sos);

/* Sections, gains, FIRs, delay lines and sums at random, those to a depth;
 * delays up to longest. */
TfxChain *test_cuda_random_chain (unsigned depth, unsigned longest);
TfxStage *test_cuda_random_sum (unsigned depth, unsigned longest);
TfxStage *test_cuda_random_delay (unsigned longest);

/* Noise in n doubles, and room for one more; the caller frees it. */
double *test_cuda_noise (size_t n);

#endif
