/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mix.c: output channels that are weighted sums of the input channels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static size_t
n_gains (unsigned n_channels)
{
  return (size_t)n_channels * n_channels;
}

static bool
are_valid (unsigned n_channels, const double *gains)
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

  if (!are_valid (n_channels, gains))
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

/* ns for a gain and a sample */
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

/* ---- the unit ------------------------------------------------------------------- */

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels;
  size_t part_frames, stride;
  /* [n_channels][n_channels]: the gains of the next frame, those at the start of a ramp,
   * and the stage at its end. */
  double *now, *from;
  TfxStage *next, *waiting;
  size_t done, length, waiting_length;
  TfxWeight weight, waiting_weight;
  /* now by columns, [n_channels][stride] */
  double *columns;
  unsigned n_heard;
  double *samples, *mixed; /* of a part */
} Unit;

static size_t
size_of_gains (const Unit *u)
{
  return (size_t)u->n_channels * u->n_channels * sizeof *u->now;
}

/* ---- gains --------------------------------------------------------------------- */

/* The number of input channels up to the last one with a gain. */
static unsigned
count_heard (const Unit *u)
{
  const unsigned n = u->n_channels;
  unsigned n_heard = 0;

  for (unsigned c = 0; c < n; c++) {
    for (unsigned k = n_heard; k < n; k++)
      n_heard = u->now[c * n + k] != 0.0 ? k + 1 : n_heard;
  }
  return n_heard;
}

/* Applies the gains of the next frame. */
static void
take_gains (Unit *u)
{
  const unsigned n = u->n_channels;

  u->n_heard = count_heard (u);
  for (unsigned c = 0; c < n; c++) {
    for (unsigned k = 0; k < n; k++)
      u->columns[k * u->stride + c] = u->now[c * n + k];
  }
}

/* ---- life ---------------------------------------------------------------------- */

static void
unit_free (void *data)
{
  Unit *u = data;

  tfx_stage_unref (&u->next);
  tfx_stage_unref (&u->waiting);
  free (u->now);
  free (u->columns);
  free (u->samples);
  free (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const unsigned n = spec->n_channels;
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = n;
  u->part_frames = tfx_samples_part_frames (n);
  u->stride = tfx_dynamics_stride (n);
  u->now = calloc (n, 2 * n * sizeof *u->now);
  u->columns = calloc (n, u->stride * sizeof *u->columns);
  u->samples =
      calloc (2 * TFX_SAMPLES_PART + TFX_DYNAMICS_SLACK, sizeof *u->samples);
  if (!u->now || !u->columns || !u->samples) {
    unit_free (u);
    return -ENOMEM;
  }
  u->from = u->now + n * n;
  u->mixed = u->samples + TFX_SAMPLES_PART;
  memcpy (u->now, stage->u.mix.gains, size_of_gains (u));
  take_gains (u);
  *unit = u;
  return 0;
}

/* ---- frames -------------------------------------------------------------------- */

static void
mix_frames (Unit *u, size_t first, size_t n_frames)
{
  const size_t at = first * u->n_channels;

  u->kernels->mix (u->samples + at, u->mixed + at, n_frames, u->n_channels,
      u->n_heard, u->columns);
}

static void
begin (Unit *u, TfxStage *stage, size_t n_frames, TfxWeight weight)
{
  memcpy (u->from, u->now, size_of_gains (u));
  u->next = stage;
  u->done = 0;
  u->length = n_frames;
  u->weight = weight;
}

/* Ends the ramp. */
static void
arrive (Unit *u)
{
  memcpy (u->now, u->next->u.mix.gains, size_of_gains (u));
  take_gains (u);
  tfx_stage_unref (&u->next);
  if (!u->waiting)
    return;
  begin (u, u->waiting, u->waiting_length, u->waiting_weight);
  u->waiting = NULL;
}

/* Sets the gains of the next frame. */
static void
step (Unit *u)
{
  const double w = tfx_weight_at (u->weight, ++u->done, u->length);
  const double *to = u->next->u.mix.gains;

  for (size_t i = 0; i < (size_t)u->n_channels * u->n_channels; i++)
    u->now[i] = u->from[i] + w * (to[i] - u->from[i]);
  if (u->done == u->length)
    arrive (u);
  else
    take_gains (u);
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  size_t i = 0;

  for (; u->next && i < n_frames; i++) {
    step (u);
    mix_frames (u, i, 1);
  }
  mix_frames (u, i, n_frames - i);
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;

  if (u->n_channels == 2 && !u->next &&
      tfx_samples_are_floats (u->kernels, in, out)) {
    u->kernels->mix_floats (in->data, out->data, in->n_frames, u->columns);
    return 0;
  }
  return tfx_samples_run (u->kernels, in, out, u->samples, u->mixed,
      u->part_frames, run_part, u);
}

/* ---- values -------------------------------------------------------------------- */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  if (u->next && n_frames > 0) {
    tfx_stage_unref (&u->waiting);
    u->waiting = values;
    u->waiting_length = n_frames;
    u->waiting_weight = weight;
    return;
  }
  tfx_stage_unref (&u->waiting);
  tfx_stage_unref (&u->next);
  begin (u, values, n_frames, weight);
  if (n_frames == 0)
    arrive (u);
}

static bool
unit_is_changing (const void *data)
{
  return ((const Unit *)data)->next != NULL;
}

/* ---- state --------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  while (u->next)
    arrive (u);
}

static const TfxUnitKind mix_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
};

const TfxKind tfx_kind_mix = {
  .step = TFX_STEP_UNIT,
  .unit = &mix_unit,
  .check = mix_check,
  .is_identity = mix_is_identity,
  .is_same_structure = mix_is_same_structure,
  .is_same = mix_is_same,
  .response = mix_response,
  .spread = mix_spread,
  .cost = mix_cost,
  .clear = mix_clear,
};
