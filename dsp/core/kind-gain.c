/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-gain.c: stages that are a factor; clips have most of it too. */
#include <math.h>

#include "kind.h"

bool
tfx_gain_is_sound (const TfxStage *stage)
{
  return isfinite (stage->u.gain);
}

TfxStage *
tfx_stage_new_gain (uint64_t id, double gain)
{
  const TfxStage values = { .id = id, .kind = &tfx_kind_gain, .u.gain = gain };

  return tfx_stage_new_like (&values);
}

static bool
gain_is_identity (const TfxStage *stage)
{
  return stage->u.gain == 1.0;
}

bool
tfx_gain_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return true;
}

bool
tfx_gain_is_same (const TfxStage *a, const TfxStage *b)
{
  return a->u.gain == b->u.gain;
}

TfxComplex
tfx_gain_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return (TfxComplex){ stage->u.gain, 0.0 };
}

const TfxKind tfx_kind_gain = {
  .step = TFX_STEP_CASCADE,
  .is_sound = tfx_gain_is_sound,
  .is_identity = gain_is_identity,
  .is_same_structure = tfx_gain_is_same_structure,
  .is_same = tfx_gain_is_same,
  .response = tfx_gain_response,
};
