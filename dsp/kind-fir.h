/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-fir.h: how the CPU runs a FIR stage, for its kind. */
#ifndef TFX_KIND_FIR_H
#define TFX_KIND_FIR_H

#include "kind.h"

extern const TfxUnitKind tfx_fir_unit;

/* Leaves spectra and a convolver at rest with a long one. */
int tfx_fir_unit_prepare (TfxStage *stage, const TfxFilterSpec *spec);

#endif
