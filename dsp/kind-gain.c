/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-gain.c: stages that are a factor. */
#include <math.h>

#include "kind.h"

TfxStage *
tfx_stage_new_gain (uint64_t id, double gain)
{
  TfxStage *stage;

  if (!isfinite (gain))
    return NULL;
  stage = tfx_stage_alloc (id, &tfx_kind_gain);
  if (stage)
    stage->u.gain = gain;
  return stage;
}

bool
tfx_stage_reuse_gain (TfxStage *stage, double gain)
{
  if (stage->kind != &tfx_kind_gain ||
      __atomic_load_n (&stage->refs, __ATOMIC_ACQUIRE) != 1 || !isfinite (gain))
    return false;
  stage->u.gain = gain;
  return true;
}

static bool
gain_is_identity (const TfxStage *stage)
{
  return stage->u.gain == 1.0;
}

static bool
gain_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return true;
}

static bool
gain_is_same (const TfxStage *a, const TfxStage *b)
{
  return a->u.gain == b->u.gain;
}

static TfxComplex
gain_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return (TfxComplex){ stage->u.gain, 0.0 };
}

const TfxKind tfx_kind_gain = {
  .step = TFX_STEP_CASCADE,
  .is_identity = gain_is_identity,
  .is_same_structure = gain_is_same_structure,
  .is_same = gain_is_same,
  .response = gain_response,
};
