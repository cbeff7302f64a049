/* SPDX-License-Identifier: LGPL-2.1-or-later
 * clip.c: a gain whose output is limited to -1 ... 1. */
#include <errno.h>
#include <float.h>
#include <stdlib.h>

#include "core/block.h"
#include "unit.h"

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels;
  size_t part_frames;
  TfxParams params; /* the gain */
  double *samples;
} Unit;

static const TfxField fields[] = { TFX_PARAM (gain, -DBL_MAX, DBL_MAX) };

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

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->samples);
  free (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  tfx_params_init (&u->params, stage);
  u->samples = calloc (u->part_frames * u->n_channels, sizeof *u->samples);
  if (!u->samples) {
    unit_free (u);
    return -ENOMEM;
  }
  *unit = u;
  return 0;
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  double *samples = u->samples, gains[TFX_GRID_FRAMES];

  for (size_t n; n_frames > 0 && tfx_params_are_ramping (&u->params);
       n_frames -= n) {
    n = tfx_params_cell (&u->params, n_frames);
    tfx_params_read (&u->params, 0, gains, n);
    tfx_params_advance (&u->params, n);
    u->kernels->multiply (samples, gains, n, u->n_channels);
    u->kernels->clip (samples, n * u->n_channels, 1.0);
    samples += n * u->n_channels;
  }
  u->kernels->clip (samples, n_frames * u->n_channels, u->params.now[0]);
}

static void
run_plane (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;

  u->kernels->clip (u->samples, n_frames, u->params.now[0]);
}

/* Planes are clipped in place, except during a ramp. */
static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  int n_bad = 0;

  if (in->n_channels == 1 || in->frame_stride != 1 || out->frame_stride != 1 ||
      tfx_params_are_ramping (&u->params))
    return tfx_samples_run (u->kernels, in, out, u->samples, u->samples,
        u->part_frames, run_part, u);
  for (unsigned c = 0; c < u->n_channels; c++) {
    const TfxBlock from = tfx_block_part (in, 0, in->n_frames, c, 1);
    const TfxBlock to = tfx_block_part (out, 0, in->n_frames, c, 1);

    n_bad += tfx_samples_run (u->kernels, &from, &to, u->samples, u->samples,
        u->part_frames * u->n_channels, run_plane, u);
  }
  return n_bad > 0;
}

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  tfx_params_take (&((Unit *)data)->params, values, n_frames, weight);
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_params_are_ramping (&((const Unit *)unit)->params);
}

static void
unit_reset (void *data)
{
  tfx_params_finish (&((Unit *)data)->params);
}

static const TfxUnitKind clip_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
};

const TfxKind tfx_kind_clip = {
  .step = TFX_STEP_UNIT,
  .unit = &clip_unit,
  TFX_FIELDS (fields),
  .response = tfx_gain_response,
  .cost = clip_cost,
};
