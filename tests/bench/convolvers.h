/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolvers.h: the FIR engine as a subject of a benchmark. */
#ifndef CONVOLVERS_H
#define CONVOLVERS_H

#include "bench.h"
#include "tfx.h"

/* One filter, or several in series, over interleaved blocks of noise that go
 * from one block of memory to another. */
typedef struct ConvolverCase
{
  const char *kernel;
  TfxSample type;
  TfxFirMethod method;
  unsigned n_channels;
  size_t n_frames; /* of a block */
  unsigned n_filters;
  size_t n_taps[8];
  const double *taps[8];
  /* Of the only filter: n_kernels of them (0: one for all channels), by a matrix, or one
   * for each channel; n_outputs (0: n_channels) are wanted. */
  unsigned n_kernels, n_outputs;
  const int *matrix;
} ConvolverCase;

/* Makes a subject of it; false if memory is short. */
bool convolvers_init_subject (BenchSubject *subject, const ConvolverCase *c);

/* The output for n_blocks times the same block of noise, from rest:
 * out[n_blocks][n_frames][n_channels]. */
bool
convolvers_filter_noise (const ConvolverCase *c, unsigned n_blocks, float *out);

/* How many times the mean a block may take: the blocks of a stream that is as
 * long as the taps and a half, each as fast as in the fastest of many passes.
 * 0 if memory is short. */
double convolvers_worst_block (const ConvolverCase *c);

#endif /* CONVOLVERS_H */
