/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-clip.c: stages that are a factor, and limit what comes out to -1 ... 1. */
#include <math.h>

#include "kind-clip.h"

TfxStage *
tfx_stage_new_clip (uint64_t id, double gain)
{
  TfxStage *stage;

  if (!isfinite (gain))
    return NULL;
  stage = tfx_stage_alloc (id, &tfx_kind_clip);
  if (stage)
    stage->u.gain = gain;
  return stage;
}

bool
tfx_stage_reuse_clip (TfxStage *stage, double gain)
{
  if (stage->kind != &tfx_kind_clip ||
      __atomic_load_n (&stage->refs, __ATOMIC_ACQUIRE) != 1 || !isfinite (gain))
    return false;
  stage->u.gain = gain;
  return true;
}

static bool
clip_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return true;
}

static bool
clip_is_same (const TfxStage *a, const TfxStage *b)
{
  return a->u.gain == b->u.gain;
}

static double
clip_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return 0.5;
}

/* As long as it does not clip. */
static TfxComplex
clip_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return (TfxComplex){ stage->u.gain, 0.0 };
}

const TfxKind tfx_kind_clip = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_clip_unit,
  .is_same_structure = clip_is_same_structure,
  .is_same = clip_is_same,
  .response = clip_response,
  .cost = clip_cost,
};
