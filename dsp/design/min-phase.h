/* SPDX-License-Identifier: LGPL-2.1-or-later
 * min-phase.h: minimum-phase FIR filters. */
#ifndef TFX_MIN_PHASE_H
#define TFX_MIN_PHASE_H

#include "tfx.h"

/* The largest error of the magnitude, as a part of its peak: -100 dB. */
#define TFX_MIN_PHASE_ERROR 1e-5

/* Makes out[n_taps] from taps[n_taps], which it must not overlap: the minimum-phase
 * filter with the same magnitude.  out[0] is not negative, whatever the sign of the
 * taps.  0, -ENOMEM, or -ERANGE if zeros of the filter are too near the unit circle for
 * that error. */
int tfx_min_phase_make (const double *taps, size_t n_taps, double *out);

#endif
