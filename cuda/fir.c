/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.c: FIRs on the device, direct or by transforms. */
#include "fir.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "fft.h"
#include "fft-cut.h"
#include "unit.h"

/* Blocks longer by this factor may need another method. */
#define LONGER 4

/* Larger samples count as 0, as on the CPU: so that no sum overflows. */
#define LIMIT_FLOAT 0x1p100
#define LIMIT_DOUBLE 0x1p1000

typedef struct Unit
{
  TfxCudaUnit base;
  size_t n_taps;
  TfxFirMethod asked, method;
  size_t n_frames; /* of the blocks that it was chosen for; 0: not chosen */
  bool is_ready;   /* for streams of this type: */
  bool is_double;
  TfxKernel direct;
  TfxReal real; /* of direct */
  TfxCudaFft fft;
  TfxBuffer room;

  /* On the device: the taps, or for transforms their spectra. */
  TfxBuffer taps;
  unsigned n_kernels;
  TfxBuffer matrix;
  bool has_matrix; /* it was uploaded; it never changes */
} Unit;

static int
unit_make (void *data, const TfxStage *stage)
{
  Unit *u = data;

  u->n_taps = stage->u.fir.n_taps;
  /* There is no direct form of a matrix. */
  u->asked = stage->u.fir.matrix ? TFX_FIR_FFT : stage->u.fir.method;
  u->base.state.n_past = u->n_taps - 1;
  tfx_cuda_fft_init (&u->fft, u->base.stream, u->base.n_channels, u->n_taps,
      stage->u.fir.matrix);
  return 0;
}

static void
unit_clear (void *data)
{
  Unit *u = data;

  tfx_cuda_fft_clear (&u->fft);
  tfx_buffer_free (u->base.stream, &u->room);
  tfx_buffer_free (u->base.stream, &u->taps);
  tfx_buffer_free (u->base.stream, &u->matrix);
}

void
tfx_cuda_fir_force (void *unit, unsigned log2, unsigned max_tiles)
{
  Unit *u = unit;

  u->method = TFX_FIR_FFT;
  u->n_frames = SIZE_MAX;
  tfx_cuda_fft_cut (&u->fft, log2);
  u->fft.force_tiles = max_tiles;
  u->base.is_changed = true;
}

TfxCudaFft *
tfx_cuda_fir_fft (void *unit)
{
  return &((Unit *)unit)->fft;
}

/* ---- making ready -------------------------------------------------------------- */

/* The method, and how transforms are cut, for blocks of n_frames.  Both find the past
 * where the other one leaves it. */
static void
choose (Unit *u, bool is_double, size_t n_frames)
{
  size_t shared = (size_t)u->base.stream->cuda->card.max_shared;
  TfxReal real = is_double ? TFX_REAL_DOUBLE : u->base.stream->cuda->real;
  unsigned log2 = tfx_cuda_fft_choose (real, u->n_taps, n_frames, shared);
  TfxFirMethod method =
      tfx_cuda_fft_method (u->asked, real, u->n_taps, n_frames, log2);

  u->n_frames = n_frames;
  if (method == u->method && (method == TFX_FIR_DIRECT || log2 == u->fft.log2))
    return;
  u->method = method;
  u->is_ready = false;
  tfx_cuda_fft_cut (&u->fft, log2);
}

static int
upload_direct (Unit *u)
{
  size_t n = u->base.stage->u.fir.n_kernels * u->n_taps;
  double *numbers = malloc (n * sizeof *numbers);
  int ret;

  if (!numbers)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++)
    tfx_real_put (numbers, u->real, i,
        u->base.stage->u.fir.taps[i] * u->base.gain);
  ret = tfx_buffer_upload (u->base.stream, &u->taps, numbers,
      n * sizeof *numbers);
  free (numbers);
  return ret;
}

static int
renew_taps (Unit *u)
{
  const TfxStage *stage = u->base.stage;
  const unsigned n_kernels = stage->u.fir.n_kernels, n = u->base.n_channels;
  int ret = 0;

  if (stage->u.fir.matrix && !u->has_matrix)
    ret = tfx_buffer_upload (u->base.stream, &u->matrix, stage->u.fir.matrix,
        (size_t)n * n * sizeof *stage->u.fir.matrix);
  u->has_matrix = ret == 0;
  if (ret < 0 || !u->base.is_changed)
    return ret;
  ret = u->method == TFX_FIR_FFT
            ? tfx_cuda_fft_transform_taps (&u->fft, stage->u.fir.taps,
                  n_kernels, u->base.gain, &u->room, &u->taps)
            : upload_direct (u);
  u->n_kernels = n_kernels;
  u->base.is_changed = ret < 0;
  return ret;
}

static int
find_kernels (Unit *u, bool is_double)
{
  TfxKernelId direct = { .kind = TFX_KERNEL_FIR,
    .real = is_double ? TFX_REAL_DOUBLE : u->base.stream->cuda->real };
  int ret = 0;

  if (u->is_ready && u->is_double == is_double)
    return 0;
  /* Of another arithmetic. */
  u->base.is_changed = true;
  u->is_double = is_double;
  u->real = direct.real;
  if (u->method == TFX_FIR_DIRECT)
    ret = tfx_module_kernel (u->base.stream->cuda, &direct, &u->direct);
  u->is_ready = ret == 0;
  return ret;
}

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;
  int ret;

  /* How long they are is seldom known before they come. */
  if (u->n_frames == 0 || n_frames / LONGER >= u->n_frames)
    choose (u, is_double, n_frames);
  ret = find_kernels (u, is_double);
  if (ret == 0 && u->method == TFX_FIR_FFT)
    ret = tfx_cuda_fft_prepare (&u->fft, !is_double, n_frames);
  return ret < 0 ? ret : renew_taps (u);
}

/* ---- running -------------------------------------------------------------------- */

static int
run_direct (Unit *u, const TfxUnitRun *run, const TfxKernelRing *ring)
{
  const size_t n_tiles = (run->n_frames + TFX_FIR_FRAMES - 1) / TFX_FIR_FRAMES;
  TfxFirArgs args = {
    .run = tfx_cuda_unit_args (run, u->base.n_channels),
    .n_taps = (unsigned)u->n_taps,
    .per_channel = u->n_kernels > 1,
    .taps = u->taps.data,
    .ring = *ring,
    .limit = u->is_double ? LIMIT_DOUBLE : LIMIT_FLOAT,
  };

  return tfx_module_launch (u->base.stream, &u->direct,
      n_tiles * u->base.n_channels, TFX_FIR_THREADS,
      TFX_FIR_NUMBERS (TFX_FIR_REACH (u->n_taps)) * TFX_REAL_SIZE, &args);
}

static int
run_transforms (Unit *u, const TfxUnitRun *run, const TfxKernelRing *ring)
{
  const TfxCudaFftRun fft_run = {
    .block = run,
    .ring = *ring,
    .spectra = u->taps.data,
    .matrix = u->matrix.data,
    .per_channel = u->n_kernels > 1,
    .limit = u->is_double ? LIMIT_DOUBLE : LIMIT_FLOAT,
  };

  return tfx_cuda_fft_run (&u->fft, &fft_run);
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  const TfxKernelRing ring =
      tfx_cuda_state_ring (&u->base.state, run->n_frames);

  return u->method == TFX_FIR_FFT ? run_transforms (u, run, &ring)
                                  : run_direct (u, run, &ring);
}

static void
unit_commit (void *data)
{
  Unit *u = data;

  if (u->method == TFX_FIR_FFT)
    tfx_cuda_fft_commit (&u->fft);
}

static void
unit_abandon (void *data)
{
  tfx_cuda_fft_abandon (&((Unit *)data)->fft);
}

/* ---- state ---------------------------------------------------------------------- */

static int
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  tfx_cuda_fft_forget (&u->fft);
  return tfx_cuda_state_set (&u->base.state, state);
}

static int
unit_copy_state (void *data, const void *from)
{
  tfx_cuda_fft_forget (&((Unit *)data)->fft);
  return 0;
}

const TfxCudaUnitKind tfx_cuda_fir = {
  .kind = &tfx_kind_fir,
  .is_apart = true,
  .size = sizeof (Unit),
  .make = unit_make,
  .clear = unit_clear,
  .prepare = unit_prepare,
  .run = unit_run,
  .commit = unit_commit,
  .abandon = unit_abandon,
  .set_state = unit_set_state,
  .copy_state = unit_copy_state,
};
