/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mix.c: output channels that are weighted sums of the input channels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
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
  TfxUnit unit;
  TfxStageRamp ramp;
  size_t stride;
  double *
      columns; /* the gains of the next frame by columns, [n_channels][stride] */
  unsigned n_heard;        /* input channels up to the last one with a gain */
  double *samples, *mixed; /* of a part */
} Unit;

/* Finds the gains of the next frame. */
static void
take_gains (Unit *u)
{
  const TfxStageRamp *r = &u->ramp;
  const unsigned n = u->unit.n_channels;
  const double w =
      r->next ? tfx_weight_at (r->weight, r->done, r->length) : 0.0;

  u->n_heard = 0;
  for (unsigned c = 0; c < n; c++) {
    for (unsigned k = 0; k < n; k++) {
      const double from = r->now->u.mix.gains[c * n + k];
      const double gain =
          r->next ? from + w * (r->next->u.mix.gains[c * n + k] - from) : from;

      u->columns[k * u->stride + c] = gain;
      if (gain != 0.0 && k >= u->n_heard)
        u->n_heard = k + 1;
    }
  }
}

static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  Unit *u = data;
  const unsigned n = u->unit.n_channels;

  u->stride = tfx_dynamics_stride (n);
  u->columns = tfx_room_take (room, 0, n * u->stride);
  /* (Stores that lie 4096 bytes after a load would make later loads wait.) */
  u->mixed = tfx_room_take (room, 0, n * u->unit.part_frames);
  u->samples = tfx_room_take (room, 0, n * u->unit.part_frames);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = *unit = tfx_unit_new (sizeof *u, stage, spec, lay_out);

  if (!u)
    return -ENOMEM;
  u->ramp.now = tfx_stage_ref (stage);
  take_gains (u);
  return 0;
}

static void
unit_free (void *data)
{
  tfx_stage_ramp_clear (&((Unit *)data)->ramp);
  tfx_unit_free (data);
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  const unsigned n_channels = u->unit.n_channels;
  const double *x = u->samples;
  double *y = u->mixed;

  for (size_t n; n_frames > 0;
       n_frames -= n, x += n * n_channels, y += n * n_channels) {
    n = u->ramp.next ? 1 : n_frames;
    if (u->ramp.next) {
      tfx_stage_ramp_advance (&u->ramp, 1);
      take_gains (u);
    }
    u->unit.kernels->mix (x, y, n, n_channels, u->n_heard, u->columns);
  }
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  const Unit *u = data;
  const TfxDynamicsKernels *k = u->unit.kernels;

  if (in->n_channels == 2 && !u->ramp.next && in->type == TFX_SAMPLE_F32 &&
      out->type == TFX_SAMPLE_F32 && tfx_block_is_interleaved (in) &&
      tfx_block_is_interleaved (out) &&
      k->are_finite (in->data, 2 * in->n_frames)) {
    k->mix_floats (in->data, out->data, in->n_frames, u->columns);
    return 0;
  }
  return tfx_samples_run (data, in, out, u->samples, u->mixed,
      u->unit.part_frames, run_part);
}

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_stage_ramp_take (&u->ramp, values, n_frames, weight);
  take_gains (u);
}

static bool
unit_is_changing (const void *data)
{
  return ((const Unit *)data)->ramp.next != NULL;
}

static void
unit_reset (void *data)
{
  Unit *u = data;

  tfx_stage_ramp_finish (&u->ramp);
  take_gains (u);
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
