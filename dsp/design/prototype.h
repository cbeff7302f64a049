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

#endif
