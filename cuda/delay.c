/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.c: delay lines on the device. */
#include <errno.h>
#include <stdlib.h>

#include "unit.h"

typedef struct Unit
{
  TfxCudaUnit base;
  TfxBuffer taps;
  TfxKernel kernel;
} Unit;

/* ---- making --------------------------------------------------------------------- */

static int
unit_make (void *data, const TfxStage *stage)
{
  Unit *u = data;

  u->base.state.n_past = stage->u.delay.longest;
  return 0;
}

static void
unit_clear (void *data)
{
  Unit *u = data;

  tfx_buffer_free (u->base.stream, &u->taps);
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
  const TfxStage *stage = u->base.stage;
  size_t n = stage->u.delay.n_taps;
  TfxKernelTap *taps = calloc (n + 1, sizeof *taps);
  int ret;

  if (!taps)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const TfxTap *tap = &stage->u.delay.taps[i];
    taps[i] = (TfxKernelTap){ .delay = tap->delay,
      .gain = tap->gain * u->base.gain,
      .swap = tap->swap,
      .parity = parity_of (tap->side) };
  }
  ret = tfx_buffer_upload (u->base.stream, &u->taps, taps,
      (n + 1) * sizeof *taps);
  free (taps);
  u->base.is_changed = ret < 0;
  return ret;
}

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  const TfxKernelId id = { .kind = TFX_KERNEL_DELAY };
  Unit *u = data;
  int ret = 0;

  if (!u->kernel.function)
    ret = tfx_module_kernel (u->base.stream->cuda, &id, &u->kernel);
  if (ret == 0 && u->base.is_changed)
    ret = renew_taps (u);
  return ret;
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  TfxDelayArgs args = {
    .run = tfx_cuda_unit_args (run, u->base.n_channels),
    .n_taps = (unsigned)u->base.stage->u.delay.n_taps,
    .direct = u->base.gain * u->base.stage->u.delay.direct,
    .taps = u->taps.data,
    .ring = tfx_cuda_state_ring (&u->base.state, run->n_frames),
  };

  return tfx_cuda_unit_run_points (u->base.stream, &u->kernel,
      run->n_frames * u->base.n_channels, &args);
}

/* It reads samples that other threads may have overwritten: of before, or of another
 * channel. */
const TfxCudaUnitKind tfx_cuda_delay = {
  .kind = &tfx_kind_delay,
  .is_apart = true,
  .size = sizeof (Unit),
  .make = unit_make,
  .clear = unit_clear,
  .prepare = unit_prepare,
  .run = unit_run,
};
