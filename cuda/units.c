/* SPDX-License-Identifier: LGPL-2.1-or-later
 * units.c: see units.h. */
#include "units.h"

const TfxCudaUnitKind *
tfx_cuda_units_find (const TfxStage *stage)
{
  static const TfxCudaUnitKind *const all[] = { &tfx_cuda_clip, &tfx_cuda_delay,
    &tfx_cuda_dynamics, &tfx_cuda_fir, &tfx_cuda_leveller, &tfx_cuda_limiter,
    &tfx_cuda_mix, &tfx_cuda_reverb };

  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]->kind == stage->kind)
      return !all[i]->can_run || all[i]->can_run (stage) ? all[i] : NULL;
  }
  return NULL;
}
