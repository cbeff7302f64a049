/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-clip.c: a gain that clips, on the CPU, and how it moves. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/block.h"
#include "kind-clip.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels;
  size_t part_frames;
  TfxNumbers numbers; /* the gain */
  double *samples;
} Unit;

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
  const double numbers[TFX_NUMBERS_MAX] = { stage->u.gain };
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  tfx_numbers_init (&u->numbers, numbers);
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
  double *samples = u->samples;

  for (; n_frames > 0 && tfx_numbers_are_moving (&u->numbers); n_frames--) {
    tfx_numbers_step (&u->numbers);
    u->kernels->clip (samples, u->n_channels, u->numbers.now[0]);
    samples += u->n_channels;
  }
  u->kernels->clip (samples, n_frames * u->n_channels, u->numbers.now[0]);
}

static void
run_plane (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;

  u->kernels->clip (u->samples, n_frames, u->numbers.now[0]);
}

static bool
are_planes (const TfxBlock *in, const TfxBlock *out)
{
  return in->n_channels > 1 && in->frame_stride == 1 && out->frame_stride == 1;
}

/* Planes are clipped as they lie, while nothing moves. */
static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  int n_bad = 0;

  if (!are_planes (in, out) || tfx_numbers_are_moving (&u->numbers))
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
  Unit *u = data;
  TfxStage *stage = values;
  const double numbers[TFX_NUMBERS_MAX] = { stage->u.gain };

  tfx_numbers_set (&u->numbers, numbers, n_frames, weight);
  tfx_stage_unref (&stage);
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_numbers_are_moving (&((const Unit *)unit)->numbers);
}

static void
unit_reset (void *data)
{
  tfx_numbers_finish (&((Unit *)data)->numbers);
}

const TfxUnitKind tfx_clip_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = tfx_unit_keep_stage,
  .set_values = unit_set_values,
  .drop_values = tfx_unit_drop_stage,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = tfx_unit_no_state_peak,
  .get_state = tfx_unit_no_get_state,
  .set_state = tfx_unit_no_set_state,
};
