/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.c: delay lines; and FIRs, see fir.h. */
#include "window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fir.h"
#include "kind.h"

#define DELAY_THREADS 256

struct TfxCudaWindow
{
  TfxCudaQueue *queue;
  unsigned n_channels;
  bool is_fir;
  TfxCudaPast past;
  TfxCudaFir fir;

  /* Delay lines. */
  const TfxStage *stage;
  double gain;
  bool taps_are_old;
  TfxBuffer taps;
  TfxKernel kernel;
  bool has_kernel;
};

/* ---- making --------------------------------------------------------------------- */

int
tfx_cuda_window_new (TfxCudaQueue *queue, unsigned n_channels,
    const TfxStage *stage, TfxCudaWindow **out)
{
  TfxCudaWindow *w = calloc (1, sizeof *w);
  size_t length = 0;

  *out = w;
  if (!w)
    return -ENOMEM;
  w->queue = queue;
  w->n_channels = n_channels;
  w->gain = 1.0;
  w->is_fir = stage->kind == &tfx_kind_fir;
  if (w->is_fir)
    length = stage->u.fir.n_taps - 1;
  else
    length = stage->u.delay.longest;
  tfx_cuda_past_init (&w->past, queue, n_channels, length);
  if (w->is_fir)
    tfx_cuda_fir_init (&w->fir, queue, n_channels, length + 1,
        stage->u.fir.method);
  return 0;
}

void
tfx_cuda_window_free (TfxCudaWindow **window)
{
  TfxCudaWindow *w = *window;

  *window = NULL;
  if (!w)
    return;
  tfx_cuda_past_clear (&w->past);
  if (w->is_fir)
    tfx_cuda_fir_clear (&w->fir);
  tfx_buffer_free (w->queue, &w->taps);
  free (w);
}

void
tfx_cuda_window_set_stage (TfxCudaWindow *w, const TfxStage *stage, double gain)
{
  if (w->is_fir) {
    tfx_cuda_fir_set_stage (&w->fir, stage, gain);
    return;
  }
  w->taps_are_old = w->taps_are_old || w->stage != stage || w->gain != gain;
  w->stage = stage;
  w->gain = gain;
}

bool
tfx_cuda_window_is_apart (const TfxCudaWindow *w)
{
  return w->is_fir || w->past.length > 0;
}

void
tfx_cuda_window_force (TfxCudaWindow *w, unsigned log2, unsigned max_tiles)
{
  if (w->is_fir)
    tfx_cuda_fir_force (&w->fir, log2, max_tiles);
}

/* ---- delay lines ------------------------------------------------------------------ */

/* Bit 0 for the even channels, bit 1 for the odd ones. */
static unsigned
parity_of (TfxTapSide side)
{
  return side == TFX_TAP_LEFT ? 1 : side == TFX_TAP_RIGHT ? 2 : 3;
}

static int
renew_taps (TfxCudaWindow *w)
{
  size_t n = w->stage->u.delay.n_taps;
  TfxKernelTap *taps = calloc (n + 1, sizeof *taps);
  int ret;

  if (!taps)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++) {
    const TfxTap *tap = &w->stage->u.delay.taps[i];
    taps[i] = (TfxKernelTap){ .delay = tap->delay,
      .gain = tap->gain * w->gain,
      .swap = tap->swap,
      .parity = parity_of (tap->side) };
  }
  ret = tfx_buffer_reserve (w->queue, &w->taps, (n + 1) * sizeof *taps);
  if (ret == 0)
    ret = tfx_buffer_upload (w->queue, w->taps.data, taps,
        (n + 1) * sizeof *taps);
  free (taps);
  w->taps_are_old = ret < 0;
  return ret;
}

static int
run_delay (TfxCudaWindow *w, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    const TfxKernelRing *ring)
{
  TfxDelayArgs args = {
    .in = *in,
    .out = *out,
    .sum = *sum,
    .n_frames = n_frames,
    .n_channels = w->n_channels,
    .n_taps = (unsigned)w->stage->u.delay.n_taps,
    .direct = w->gain * w->stage->u.delay.direct,
    .taps = w->taps.data,
    .ring = *ring,
    .by_channel = llabs (in->channel_stride) <= llabs (in->frame_stride),
  };

  return tfx_module_launch (w->queue, &w->kernel,
      (n_frames * w->n_channels + DELAY_THREADS - 1) / DELAY_THREADS,
      DELAY_THREADS, 0, &args);
}

/* ---- running ---------------------------------------------------------------------- */

static int
make_ready (TfxCudaWindow *w, bool is_float, size_t n_frames)
{
  TfxKernelId id = { .kind = TFX_KERNEL_DELAY };
  int ret = 0;

  if (w->is_fir) {
    ret = tfx_cuda_fir_prepare (&w->fir, is_float, n_frames);
  } else if (!w->has_kernel) {
    ret = tfx_module_kernel (w->queue->cuda, &id, &w->kernel);
    w->has_kernel = ret == 0;
  }
  if (ret == 0 && !w->is_fir && w->taps_are_old)
    ret = renew_taps (w);
  return ret < 0 ? ret : tfx_cuda_past_reserve (&w->past, n_frames);
}

int
tfx_cuda_window_prepare (TfxCudaWindow *w, TfxSample type, size_t n_frames)
{
  return make_ready (w, type == TFX_SAMPLE_F32, n_frames);
}

int
tfx_cuda_window_run (TfxCudaWindow *w, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    bool double_arithmetic, CUdeviceptr cleared, uint64_t *n_launches)
{
  int ret = make_ready (w, !double_arithmetic, n_frames);
  TfxKernelRing ring;

  if (ret < 0)
    return ret;
  ring = tfx_cuda_past_ring (&w->past, n_frames);
  if (w->is_fir)
    return tfx_cuda_fir_run (&w->fir, in, out, sum, n_frames, &ring, cleared,
        n_launches);
  *n_launches += 1;
  return run_delay (w, in, out, sum, n_frames, &ring);
}

void
tfx_cuda_window_commit (TfxCudaWindow *w)
{
  tfx_cuda_past_commit (&w->past);
  if (w->is_fir)
    tfx_cuda_fir_commit (&w->fir);
}

void
tfx_cuda_window_abandon (TfxCudaWindow *w)
{
  if (w->is_fir)
    tfx_cuda_fir_abandon (&w->fir);
}

/* ---- state ------------------------------------------------------------------------ */

int
tfx_cuda_window_get_state (TfxCudaWindow *w, double *state)
{
  return tfx_cuda_past_get_state (&w->past, state);
}

int
tfx_cuda_window_set_state (TfxCudaWindow *w, const double *state)
{
  if (w->is_fir)
    tfx_cuda_fir_forget (&w->fir);
  return tfx_cuda_past_set_state (&w->past, state);
}

int
tfx_cuda_window_take_past (TfxCudaWindow *w, const TfxCudaPast *past)
{
  if (w->is_fir)
    tfx_cuda_fir_forget (&w->fir);
  return tfx_cuda_past_copy (&w->past, past);
}

const TfxCudaPast *
tfx_cuda_window_past (const TfxCudaWindow *w)
{
  return &w->past;
}

double
tfx_cuda_window_state_peak (TfxCudaWindow *w)
{
  return tfx_cuda_past_peak (&w->past);
}
