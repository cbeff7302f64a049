/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-clip.c: stages that are a factor, and limit what comes out to -1 ... 1. */
#include <math.h>

#include "kind-clip.h"

static bool
clip_is_sound (const TfxStage *stage)
{
  return isfinite (stage->u.gain);
}

TfxStage *
tfx_stage_new_clip (uint64_t id, double gain)
{
  const TfxStage values = { .id = id, .kind = &tfx_kind_clip, .u.gain = gain };

  return tfx_stage_new_like (&values);
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
  .is_sound = clip_is_sound,
  .is_same_structure = clip_is_same_structure,
  .is_same = clip_is_same,
  .response = clip_response,
  .cost = clip_cost,
};
