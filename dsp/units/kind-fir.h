/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-fir.h: how the CPU runs a FIR stage, for its kind. */
#ifndef TFX_KIND_FIR_H
#define TFX_KIND_FIR_H

#include "../kind.h"

extern const TfxUnitKind tfx_fir_unit;

/* What a FIR filter costs depends on. */
typedef struct TfxFirShape
{
  unsigned n_kernels;
  size_t n_taps, n_leading, n_trailing;
  TfxFirMethod method;
} TfxFirShape;

typedef struct TfxFirFunctions
{
  /* Leaves spectra and a convolver at rest with a long one. */
  int (*prepare) (TfxStage *stage, const TfxFilterSpec *spec);
  /* What a FIR of that shape costs, in ns for a frame of one channel. */
  double (*cost) (const TfxFirShape *shape, const TfxUnitSpec *spec);
} TfxFirFunctions;

extern const TfxFirFunctions tfx_fir_functions;

#endif
