/* SPDX-License-Identifier: LGPL-2.1-or-later
 * clip.c: a gain that clips, on the device. */
#include "kernels/unit-args.h"
#include "unit.h"

typedef struct Unit
{
  TfxCudaUnit base;
  TfxKernel kernel;
} Unit;

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;

  return tfx_cuda_unit_load (u->base.stream, "clip", &u->kernel);
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  TfxClipArgs args = { .run = tfx_cuda_unit_args (run, u->base.n_channels),
    .factor = u->base.stage->u.gain,
    .gain = u->base.gain };

  return tfx_cuda_unit_run_points (u->base.stream, &u->kernel,
      run->n_frames * u->base.n_channels, &args);
}

static void
unit_cost (const TfxStage *stage, unsigned n_channels, size_t n_frames,
    TfxCost *cost)
{
  cost->issued = 48.0;
  cost->arithmetic = 6.0;
  cost->integer = 24.0;
  cost->serial = cost->issued;
}

const TfxCudaUnitKind tfx_cuda_clip = {
  .kind = &tfx_kind_clip,
  .size = sizeof (Unit),
  .reads_once = true,
  .prepare = unit_prepare,
  .run = unit_run,
  .cost = unit_cost,
};
