/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernelcase.h: one launch of a cascade kernel, against the recursion in long
 * double.
 *
 * The bound on errors is taken from the sections: what plain double arithmetic
 * makes of them, times ERROR_FACTOR, or where that is very little FLOOR of the
 * largest output; for two floats times what these have fewer bits. */
#ifndef TEST_KERNELCASE_H
#define TEST_KERNELCASE_H

#include "buffer.h"
#include "chains.h"

/* double, twofold */
extern TfxCuda *kernel_cudas[2];

typedef struct KernelCase
{
  TfxCuda *cuda;
  TfxSample type;
  const TfxSos *sos;
  size_t n_sos;
  double rounding;
  unsigned n_channels;
  size_t n_frames;
  int segment_log2, lanes_log2; /* -1: as it likes */
  unsigned max_grid;            /* 0: likewise */
} KernelCase;

const char *kernel_case_text (const KernelCase *c);

/* From rest; in and out are [n_frames][n_channels].  How many channels have
 * been cleared, or an error. */
int kernel_case_run (const KernelCase *c, TestLayout layout, bool in_place,
    const double *in, double *out);

/* The largest error relative to the bound. */
double
kernel_case_error (const KernelCase *c, const double *in, const double *out);

/* Noise of values that a float holds. */
double *kernel_noise_new (size_t n);

#endif
