/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-reverb.c: stages that are a reverb. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "kind-reverb.h"
#include "unit.h"

static bool
is_part (double value)
{
  return value >= 0.0 && value <= 1.0;
}

static bool
reverb_is_sound (const TfxStage *stage)
{
  const TfxReverb *r = &stage->u.reverb;

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++) {
    if (r->combs[i] < 1 || r->combs[i] > TFX_REVERB_MAX_FRAMES)
      return false;
  }
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++) {
    if (r->all_passes[i] < 1 || r->all_passes[i] > TFX_REVERB_MAX_FRAMES)
      return false;
  }
  return r->feedback >= 0.0 && r->feedback < 1.0 && r->damp >= 0.0 &&
         r->damp < 1.0 && is_part (r->dry) && is_part (r->wet);
}

TfxStage *
tfx_stage_new_reverb (uint64_t id, const TfxReverb *reverb)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_reverb,
    .u.reverb = *reverb };

  return tfx_stage_new_like (&values);
}

static bool
reverb_is_identity (const TfxStage *stage)
{
  return stage->u.reverb.dry == 1.0 && stage->u.reverb.wet == 0.0;
}

static bool
reverb_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const TfxReverb *r = &a->u.reverb, *s = &b->u.reverb;

  return memcmp (r->combs, s->combs, sizeof r->combs) == 0 &&
         memcmp (r->all_passes, s->all_passes, sizeof r->all_passes) == 0;
}

static bool
reverb_is_same (const TfxStage *a, const TfxStage *b)
{
  const TfxReverb *r = &a->u.reverb, *s = &b->u.reverb;

  return reverb_is_same_structure (a, b) && r->feedback == s->feedback &&
         r->damp == s->damp && r->dry == s->dry && r->wet == s->wet;
}

static size_t
reverb_state_size (const TfxStage *stage)
{
  size_t n = TFX_REVERB_POLES;

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    n += stage->u.reverb.combs[i] + TFX_REVERB_PAST;
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    n += stage->u.reverb.all_passes[i];
  return n;
}

static double
reverb_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 8.0, 5.2, 4.5, 3.4 };

  return tfx_unit_cost (costs, spec);
}

/* 1/z to the power of a delay. */
static double complex
delay_by (unsigned n_frames, double freq_hz, double rate_hz)
{
  return cexp (-I * 2.0 * M_PI * fmod (n_frames * freq_hz, rate_hz) / rate_hz);
}

static TfxComplex
reverb_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  const TfxReverb *r = &stage->u.reverb;
  const double complex pole =
      (1.0 - r->damp) / (1.0 - r->damp * delay_by (1, freq_hz, rate_hz));
  double complex h = 0.0;

  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++) {
    const double complex z = delay_by (r->combs[k], freq_hz, rate_hz);

    h += TFX_REVERB_INPUT * z / (1.0 - r->feedback * z * pole);
  }
  for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
    const double complex z = delay_by (r->all_passes[k], freq_hz, rate_hz);

    h *= (1.5 * z - 1.0) / (1.0 - 0.5 * z);
  }
  h = r->dry + r->wet * h;
  return (TfxComplex){ creal (h), cimag (h) };
}

const TfxKind tfx_kind_reverb = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_reverb_unit,
  .is_sound = reverb_is_sound,
  .is_identity = reverb_is_identity,
  .is_same_structure = reverb_is_same_structure,
  .is_same = reverb_is_same,
  .state_size = reverb_state_size,
  .response = reverb_response,
  .cost = reverb_cost,
};
