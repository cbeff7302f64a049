/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-fir.h: how the CPU runs a FIR stage, for its kind. */
#ifndef TFX_KIND_FIR_H
#define TFX_KIND_FIR_H

#include "cpu/convolver.h"
#include "core/kind.h"

extern const TfxUnitKind tfx_fir_unit;

/* What it runs. */
TfxConvolverSpec
tfx_unit_fir_spec (const TfxStage *stage, const TfxUnitSpec *spec);

/* Leaves spectra and a convolver at rest with a long one. */
int tfx_unit_fir_prepare (TfxStage *stage, const TfxFilterSpec *spec);
void tfx_unit_fir_free_ready (TfxStage *stage);

#endif
