/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mix.c: sums of channels on the device. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "unit.h"
#include "kernels/unit-args.h"

typedef struct Unit
{
  TfxCudaUnit base;
  unsigned n_heard;
  double *gains; /* [n_channels in][n_channels out], and on the device: */
  TfxBuffer copied;
  bool are_copied;
  TfxKernel kernel;
} Unit;

static size_t
size_of_gains (const Unit *u)
{
  return (size_t)u->base.n_channels * u->base.n_channels * sizeof *u->gains;
}

static void
unit_clear (void *data)
{
  Unit *u = data;

  tfx_buffer_free (u->base.stream, &u->copied);
  free (u->gains);
}

static int
unit_make (void *data, const TfxStage *stage)
{
  Unit *u = data;

  u->gains = calloc (1, size_of_gains (u));
  return u->gains ? 0 : -ENOMEM;
}

/* The first channels are used; see dsp/kinds/mix.c for the CPU. */
static void
unit_set_stage (void *data)
{
  Unit *u = data;
  const unsigned n = u->base.n_channels;

  u->n_heard = 0;
  for (unsigned k = 0; k < n; k++) {
    for (unsigned c = 0; c < n; c++) {
      const double wanted = u->base.stage->u.mix.gains[c * n + k];

      u->are_copied = u->are_copied && u->gains[k * n + c] == wanted;
      u->gains[k * n + c] = wanted;
      u->n_heard = wanted != 0.0 ? k + 1 : u->n_heard;
    }
  }
}

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;
  int ret = tfx_cuda_unit_load (u->base.stream, "mix", &u->kernel);

  if (ret < 0 || u->are_copied)
    return ret;
  ret = tfx_buffer_upload (u->base.stream, &u->copied, u->gains,
      size_of_gains (u));
  u->are_copied = ret == 0;
  return ret;
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  TfxMixArgs args = { .run = tfx_cuda_unit_args (run, u->base.n_channels),
    .n_heard = u->n_heard,
    .gain = u->base.gain,
    .gains = u->copied.data };

  return tfx_cuda_unit_run_points (u->base.stream, &u->kernel,
      run->n_frames * u->base.n_channels, &args);
}

/* Cost by the channels that are used. Samples are read through the cache. */
static void
unit_cost (const TfxStage *stage, unsigned n_channels, size_t n_frames,
    TfxCost *cost)
{
  const double n = stage->u.mix.n_channels;

  cost->issued = 45.0 + 17.0 * n;
  cost->arithmetic = 1.0 + 3.0 * n;
  cost->integer = 28.0 + 8.0 * n;
  cost->cached = n * (0.5 * cost->bytes + sizeof (double));
  cost->serial = cost->issued;
}

const TfxCudaUnitKind tfx_cuda_mix = {
  .kind = &tfx_kind_mix,
  .is_apart = true,
  .size = sizeof (Unit),
  .make = unit_make,
  .clear = unit_clear,
  .set_stage = unit_set_stage,
  .prepare = unit_prepare,
  .run = unit_run,
  .cost = unit_cost,
};
