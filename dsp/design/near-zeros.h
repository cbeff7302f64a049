/* SPDX-License-Identifier: LGPL-2.1-or-later
 * near-zeros.h: zeros of FIR filters near the unit circle. */
#ifndef TFX_NEAR_ZEROS_H
#define TFX_NEAR_ZEROS_H

#include "tfx.h"

/* Writes sum[n], the part of ln H that n points cannot resolve.  h[n] is the response
 * of real taps at the angles (i + 1/2) pi / n, i = 0, 1, ..., for their middle at time
 * 0; n is at least 4 times the number of taps.
 *
 * Of each zero near the circle, inside or moved inside, sum has its logarithm less the
 * beginning of a series of poles further inside: H exp (-sum) is as smooth as if the
 * filter had no such zero.  Magnitudes below lowest count as lowest. */
void tfx_near_zeros_sum (const TfxComplex *h, size_t n, double lowest,
    TfxComplex *sum);

#endif
