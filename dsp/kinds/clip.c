/* SPDX-License-Identifier: LGPL-2.1-or-later
 * clip.c: a gain whose output is limited to -1 ... 1. */
#include <errno.h>
#include <float.h>

#include "core/block.h"
#include "unit.h"

typedef struct Unit
{
  TfxUnit unit; /* its parameter is the gain */
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
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  Unit *u = data;

  u->samples =
      tfx_room_take (room, 0, u->unit.part_frames * u->unit.n_channels);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  *unit = tfx_unit_new (sizeof (Unit), stage, spec, lay_out);
  return *unit ? 0 : -ENOMEM;
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  TfxParams *p = &u->unit.params;
  const unsigned n_channels = u->unit.n_channels;
  double *samples = u->samples, gains[TFX_GRID_FRAMES];

  for (size_t n; n_frames > 0 && tfx_params_are_ramping (p); n_frames -= n) {
    n = tfx_params_cell (p, n_frames);
    tfx_params_read (p, 0, gains, n);
    tfx_params_advance (p, n);
    u->unit.kernels->multiply (samples, gains, n, n_channels);
    u->unit.kernels->clip (samples, n * n_channels, 1.0);
    samples += n * n_channels;
  }
  u->unit.kernels->clip (samples, n_frames * n_channels, p->now[0]);
}

static void
run_plane (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;

  u->unit.kernels->clip (u->samples, n_frames, u->unit.params.now[0]);
}

/* Planes are clipped one by one, except during a ramp. */
static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  const size_t part = u->unit.part_frames;
  int n_bad = 0;

  if (in->n_channels == 1 || in->frame_stride != 1 || out->frame_stride != 1 ||
      tfx_unit_is_changing (u))
    return tfx_samples_run (&u->unit, in, out, u->samples, u->samples, part,
        run_part);
  for (unsigned c = 0; c < in->n_channels; c++) {
    const TfxBlock from = tfx_block_part (in, 0, in->n_frames, c, 1);
    const TfxBlock to = tfx_block_part (out, 0, in->n_frames, c, 1);

    n_bad += tfx_samples_run (&u->unit, &from, &to, u->samples, u->samples,
        part * in->n_channels, run_plane);
  }
  return n_bad > 0;
}

static void
unit_reset (void *unit)
{
  tfx_params_finish (&((TfxUnit *)unit)->params);
}

static const TfxUnitKind clip_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = tfx_unit_free,
  .run = unit_run,
  .set_values = tfx_unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = unit_reset,
};

const TfxKind tfx_kind_clip = {
  .step = TFX_STEP_UNIT,
  .unit = &clip_unit,
  TFX_FIELDS (fields),
  .response = tfx_gain_response,
  .cost = clip_cost,
};
