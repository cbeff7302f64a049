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

/* The window as a polynomial sum of a[k] v^k, x from -1 to 1 over its points. */
typedef enum
{
  TFX_WINDOW_COSINE,   /* v = cos (pi x) */
  TFX_WINDOW_TRIANGLE, /* v = 1 - |x| */
  TFX_WINDOW_SQUARE    /* v = 1 - x^2 */
} TfxWindowVariable;

#define TFX_WINDOW_MAX_TERMS 640

typedef struct TfxWindowShape
{
  TfxWindowVariable variable;
  size_t n;
  double a[TFX_WINDOW_MAX_TERMS]; /* n of them are set */
} TfxWindowShape;

void tfx_window_shape (TfxWindow window, double beta, TfxWindowShape *shape);

/* True if all points of the window of n points are zero. */
bool tfx_window_is_zero (TfxWindow window, size_t n);

#endif
