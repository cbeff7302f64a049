/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bessel.h: the Bessel (Thomson) prototype. */
#ifndef TFX_BESSEL_H
#define TFX_BESSEL_H

#include "prototype.h"

/* Writes the (order + 1) / 2 factors of the low-pass of that norm; a real pole
 * comes first.  order 1 to TFX_DESIGN_MAX_ORDER. */
void tfx_bessel_factors (unsigned order, TfxNorm norm, TfxFactor *factors);

#endif
