/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.h: the discrete Fourier transform of designs, in double.  (Streams use that of
 * cpu/convolver.h.) */
#ifndef TFX_FFT_H
#define TFX_FFT_H

#include "tfx.h"

/* The table of transforms of n points, a power of two above 1: for free(); NULL if
 * memory is short. */
TfxComplex *tfx_fft_new_turns (size_t n);

/* X[k] = sum_i x[i] exp (-2 pi j i k / n), in place. */
void tfx_fft_run (const TfxComplex *turns, TfxComplex *x, size_t n);

#endif
