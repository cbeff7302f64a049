/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.h: chains of everything, for the tests of the backend. */
#ifndef TEST_CUDA_CHAINS_H
#define TEST_CUDA_CHAINS_H

#include "common-cuda.h"
#include "cudarow.h"

#define RATE 48000.0
#define N_OF(array) (sizeof array / sizeof *array)

/* The larger error; once there was a NaN, NaN. */
double test_cuda_worse (double worst, double error);

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

/* A chain of one stage, which it takes over. */
TfxChain *test_cuda_chain_of (TfxStage *stage);

/* The chain of a text in the chain language; ends the program if there is none. */
TfxChain *test_cuda_parse (const char *text, unsigned n_channels);

/* Noise in n doubles, and room for one more; the caller frees it. */
double *test_cuda_noise (size_t n);

/* ---- a device beside the CPU ----------------------------------------------------- */

/* A filter on a device and the same one on the CPU (the kernels in C), with the same
 * samples: n = n_frames * n_channels doubles, noise at first. */
typedef struct CudaPair
{
  CudaRow *row, *plain;
  const TfxBackend *backends[2]; /* device, CPU */
  double *have, *want;           /* of the device, of the CPU */
  unsigned n_channels;
  size_t n_frames, n;
  int ret; /* of the first call that failed, or 0 */
} CudaPair;

/* For doubles at 48000 Hz, or for that spec.  They take the chain over. */
CudaPair cuda_pair_new (TfxChain *chain, unsigned n_channels, size_t n_frames,
    TfxCuda *cuda);
CudaPair cuda_pair_new_for (TfxChain *chain, const TfxFilterSpec *spec,
    size_t n_frames, TfxCuda *cuda);
void cuda_pair_free (CudaPair *pair);

/* Run frames [first, first + n) of either side: the device's in blocks of random
 * length up to piece, or as one (0). */
void
cuda_pair_here (CudaPair *pair, size_t first, size_t n_frames, unsigned piece);
void cuda_pair_there (CudaPair *pair, size_t first, size_t n_frames);

/* Sets the chain of both, which it takes over. */
void cuda_pair_set_chain (CudaPair *pair, TfxChain *chain);

/* All of both sides.  The device's filter goes to the CPU and back after each of
 * n_turns equal parts; 1: it stays. */
void cuda_pair_run (CudaPair *pair, unsigned n_turns, unsigned piece);

/* All calls have succeeded, the device has run all frames, and its samples are within
 * this of the CPU's, relative to the largest of them. */
bool cuda_pair_agrees (const CudaPair *pair, double limit);
double cuda_pair_distance (const CudaPair *pair);

/* Runs noise in three blocks: each must be n_launches launches and one copy each way. */
void cuda_row_check_work (TapMany *many, CudaRow *row, TfxCuda *cuda,
    unsigned n_channels, TfxSample sample, size_t n_frames, unsigned n_launches,
    const char *what);

#endif
