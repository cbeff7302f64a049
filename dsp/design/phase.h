/* SPDX-License-Identifier: LGPL-2.1-or-later
 * phase.h: FIR filters with the magnitude of another one. */
#ifndef TFX_PHASE_H
#define TFX_PHASE_H

#include "tfx.h"

/* Makes out[n_taps] from taps[n_taps], which it must not overlap: the minimum-phase
 * filter with the same magnitude.  out[0] is not negative, whatever the sign of the
 * taps.  Errors as of tfx_fir_set_phase(). */
int tfx_phase_make_minimum (const double *taps, size_t n_taps, double *out);

#endif
