/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-clip.c: stages that are a factor (kind-gain.c), and limit what comes out to
 * -1 ... 1. */
#include "kind-clip.h"

TfxStage *
tfx_stage_new_clip (uint64_t id, double gain)
{
  const TfxStage values = { .id = id, .kind = &tfx_kind_clip, .u.gain = gain };

  return tfx_stage_new_like (&values);
}

static double
clip_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return 0.5;
}

const TfxKind tfx_kind_clip = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_clip_unit,
  .is_sound = tfx_gain_is_sound,
  .is_same_structure = tfx_gain_is_same_structure,
  .is_same = tfx_gain_is_same,
  .response = tfx_gain_response,
  .cost = clip_cost,
};
