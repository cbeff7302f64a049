/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.h: the windows of the FIR design. */
#ifndef TFX_WINDOW_H
#define TFX_WINDOW_H

#include "tfx.h"

/* Point i of the symmetric window of n points, as
 * scipy.signal.get_window (..., fftbins=False) has it; beta is for kaiser
 * alone.  i < n; a window of one point is 1.
 *
 * In long double, as the whole design is: where the response at the frequency
 * that is made 1 is small next to the taps (a band-pass of an even number of
 * taps near half the rate), scaling multiplies every rounding error by up to
 * 1e5. */
long double tfx_window_at (TfxWindow window, double beta, size_t i, size_t n);

/* True if all points of the window of n points are zero. */
bool tfx_window_is_zero (TfxWindow window, size_t n);

#endif
