/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-mix.c: stages whose channels are sums of the channels that come. */
#include "kind-mix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t
n_gains (unsigned n_channels)
{
  return (size_t)n_channels * n_channels;
}

static bool
are_sound (unsigned n_channels, const double *gains)
{
  if (n_channels < 1 || n_channels > TFX_MIX_MAX_CHANNELS)
    return false;
  for (size_t i = 0; i < n_gains (n_channels); i++) {
    if (!isfinite (gains[i]))
      return false;
  }
  return true;
}

TfxStage *
tfx_stage_new_mix (uint64_t id, unsigned n_channels, const double *gains)
{
  TfxStage *stage;

  if (!are_sound (n_channels, gains))
    return NULL;
  stage = tfx_stage_alloc (id, &tfx_kind_mix);
  if (!stage)
    return NULL;
  stage->u.mix.n_channels = n_channels;
  stage->u.mix.gains =
      tfx_stage_copy (gains, n_gains (n_channels), sizeof *gains);
  if (!stage->u.mix.gains)
    tfx_stage_unref (&stage);
  return stage;
}

static int
mix_check (const TfxStage *stage, const TfxFilterSpec *spec)
{
  return stage->u.mix.n_channels == spec->n_channels ? 0 : -EINVAL;
}

static bool
mix_is_identity (const TfxStage *stage)
{
  const unsigned n = stage->u.mix.n_channels;

  for (unsigned c = 0; c < n; c++) {
    for (unsigned k = 0; k < n; k++) {
      if (stage->u.mix.gains[c * n + k] != (c == k))
        return false;
    }
  }
  return true;
}

static bool
mix_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.mix.n_channels == b->u.mix.n_channels;
}

static bool
mix_is_same (const TfxStage *a, const TfxStage *b)
{
  if (a->u.mix.n_channels != b->u.mix.n_channels)
    return false;
  for (size_t i = 0; i < n_gains (a->u.mix.n_channels); i++) {
    if (a->u.mix.gains[i] != b->u.mix.gains[i])
      return false;
  }
  return true;
}

/* ns for a gain and a sample. */
#define GAIN_NS 0.5

static double
mix_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return 1.0 + GAIN_NS * stage->u.mix.n_channels;
}

static TfxComplex
mix_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  const unsigned n = stage->u.mix.n_channels;

  return (
      TfxComplex){ channel < n ? stage->u.mix.gains[channel * (n + 1)] : 0.0,
    0.0 };
}

static void
mix_spread (const TfxStage *stage, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  const unsigned n = stage->u.mix.n_channels;
  TfxComplex in[TFX_MIX_MAX_CHANNELS];

  memcpy (in, h, sizeof in);
  memset (h, 0, sizeof in);
  for (unsigned c = 0; c < n; c++) {
    for (unsigned k = 0; k < n; k++) {
      h[c].re += stage->u.mix.gains[c * n + k] * in[k].re;
      h[c].im += stage->u.mix.gains[c * n + k] * in[k].im;
    }
  }
}

static void
mix_clear (TfxStage *stage)
{
  free (stage->u.mix.gains);
}

const TfxKind tfx_kind_mix = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_mix_unit,
  .check = mix_check,
  .is_identity = mix_is_identity,
  .is_same_structure = mix_is_same_structure,
  .is_same = mix_is_same,
  .response = mix_response,
  .spread = mix_spread,
  .cost = mix_cost,
  .clear = mix_clear,
};
