/* SPDX-License-Identifier: LGPL-2.1-or-later
 * prototype.h: analog low-pass prototypes with their cutoff at 1 rad/s. */
#ifndef TFX_PROTOTYPE_H
#define TFX_PROTOTYPE_H

#include "tfx.h"

#define TFX_PROTOTYPE_MAX_FACTORS ((TFX_DESIGN_MAX_ORDER + 1) / 2)

/* One factor: a pair of conjugate poles re +- j im with zeros at +- j zero, or
 * (im = 0) one real pole.  zero = INFINITY: the zeros lie at infinity. */
typedef struct TfxFactor
{
  double re, im;
  double zero;
} TfxFactor;

typedef struct TfxPrototype
{
  unsigned n_factors;
  TfxFactor factors[TFX_PROTOTYPE_MAX_FACTORS];
  double dc_gain;
} TfxPrototype;

/* Fills in the prototype of design, which must be valid.  The factors
 * are in the order in which they run: one that keeps the response of
 * every partial product as flat as can be over the pass band. */
void tfx_prototype_init (TfxPrototype *prototype, const TfxDesign *design);

/* The (order + 1) / 2 factors of two families, order 1 to TFX_DESIGN_MAX_ORDER; a real pole
 * comes first.  elliptic.c: the pass band ends at 1 rad/s, and each pole has the zero that is
 * nearest to it; 0 < ripple_db < attenuation_db.  bessel.c: of that norm. */
void tfx_elliptic_factors (unsigned order, double ripple_db,
    double attenuation_db, TfxFactor *factors);
void tfx_bessel_factors (unsigned order, TfxNorm norm, TfxFactor *factors);

#endif
