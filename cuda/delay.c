/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.c: delay lines on the device. */
#include <errno.h>
#include <stdlib.h>

#include "past.h"
#include "unit.h"

typedef struct Unit
{
  TfxCudaQueue *queue;
  unsigned n_channels;
  TfxCudaPast past;
  const TfxStage *stage;
  double gain; /* behind it */
  TfxBuffer taps;
  bool taps_are_old;
  TfxKernel kernel;
} Unit;

/* ---- making --------------------------------------------------------------------- */

static int
unit_make (TfxCudaQueue *queue, unsigned n_channels, const TfxStage *stage,
    void **unit)
{
  Unit *u = calloc (1, sizeof *u);

  *unit = u;
  if (!u)
    return -ENOMEM;
  u->queue = queue;
  u->n_channels = n_channels;
  tfx_cuda_past_init (&u->past, queue, n_channels, stage->u.delay.longest);
  return 0;
}

static void
unit_free (void *data)
{
  Unit *u = data;

  tfx_cuda_past_clear (&u->past);
  tfx_buffer_free (u->queue, &u->taps);
  free (u);
}

static void
unit_set_stage (void *data, const TfxStage *stage, double gain)
{
  Unit *u = data;

  u->taps_are_old = u->taps_are_old || u->stage != stage || u->gain != gain;
  u->stage = stage;
  u->gain = gain;
}

/* ---- running -------------------------------------------------------------------- */

/* Bit 0 for the even channels, bit 1 for the odd ones. */
static unsigned
parity_of (TfxTapSide side)
{
  return side == TFX_TAP_LEFT ? 1 : side == TFX_TAP_RIGHT ? 2 : 3;
}

static int
renew_taps (Unit *u)
{
  size_t n = u->stage->u.delay.n_taps;
  TfxKernelTap *taps = calloc (n + 1, sizeof *taps);
  int ret;

  if (!taps)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const TfxTap *tap = &u->stage->u.delay.taps[i];
    taps[i] = (TfxKernelTap){ .delay = tap->delay,
      .gain = tap->gain * u->gain,
      .swap = tap->swap,
      .parity = parity_of (tap->side) };
  }
  ret = tfx_buffer_reserve (u->queue, &u->taps, (n + 1) * sizeof *taps);
  if (ret == 0)
    ret = tfx_buffer_upload (u->queue, u->taps.data, taps,
        (n + 1) * sizeof *taps);
  free (taps);
  u->taps_are_old = ret < 0;
  return ret;
}

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  const TfxKernelId id = { .kind = TFX_KERNEL_DELAY };
  Unit *u = data;
  int ret = 0;

  if (!u->kernel.function)
    ret = tfx_module_kernel (u->queue->cuda, &id, &u->kernel);
  if (ret == 0 && u->taps_are_old)
    ret = renew_taps (u);
  return ret < 0 ? ret : tfx_cuda_past_reserve (&u->past, n_frames);
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  TfxDelayArgs args = {
    .in = run->in,
    .out = run->out,
    .sum = run->sum,
    .n_frames = run->n_frames,
    .n_channels = u->n_channels,
    .n_taps = (unsigned)u->stage->u.delay.n_taps,
    .direct = u->gain * u->stage->u.delay.direct,
    .taps = u->taps.data,
    .ring = tfx_cuda_past_ring (&u->past, run->n_frames),
    .by_channel = tfx_cuda_unit_is_by_channel (&run->in),
  };

  return tfx_cuda_unit_run_points (u->queue, &u->kernel,
      run->n_frames * u->n_channels, &args);
}

static void
unit_commit (void *data)
{
  tfx_cuda_past_commit (&((Unit *)data)->past);
}

/* ---- state ---------------------------------------------------------------------- */

static int
unit_get_state (void *data, double *state)
{
  return tfx_cuda_past_get_state (&((Unit *)data)->past, state);
}

static int
unit_set_state (void *data, const double *state)
{
  return tfx_cuda_past_set_state (&((Unit *)data)->past, state);
}

static int
unit_copy_state (void *data, const void *from)
{
  return tfx_cuda_past_copy (&((Unit *)data)->past,
      &((const Unit *)from)->past);
}

static double
unit_state_peak (void *data)
{
  return tfx_cuda_past_peak (&((Unit *)data)->past);
}

/* It reads samples that other threads may have overwritten: of before, or of another
 * channel. */
const TfxCudaUnitKind tfx_cuda_delay = {
  .kind = &tfx_kind_delay,
  .is_apart = true,
  .make = unit_make,
  .free = unit_free,
  .set_stage = unit_set_stage,
  .prepare = unit_prepare,
  .run = unit_run,
  .commit = unit_commit,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .copy_state = unit_copy_state,
  .state_peak = unit_state_peak,
};
