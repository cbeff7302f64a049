/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-gain.c: stages that multiply by a factor. */
#include <float.h>

#include "kind.h"

static const TfxField fields[] = { TFX_PARAM (gain, -DBL_MAX, DBL_MAX) };

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

TfxComplex
tfx_gain_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return (TfxComplex){ stage->u.gain, 0.0 };
}

const TfxKind tfx_kind_gain = {
  .step = TFX_STEP_CASCADE,
  TFX_FIELDS (fields),
  .is_identity = gain_is_identity,
  .response = tfx_gain_response,
};
