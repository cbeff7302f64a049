/* SPDX-License-Identifier: LGPL-2.1-or-later
 * elliptic.h: the elliptic (Cauer) prototype. */
#ifndef TFX_ELLIPTIC_H
#define TFX_ELLIPTIC_H

#include "prototype.h"

/* Writes the (order + 1) / 2 factors of the low-pass whose pass band ends at 1
 * rad/s, each pole with the zero that is nearest to it; a real pole comes
 * first.  order 1 to TFX_DESIGN_MAX_ORDER, 0 < ripple_db < attenuation_db. */
void tfx_elliptic_factors (unsigned order, double ripple_db,
    double attenuation_db, TfxFactor *factors);

#endif
