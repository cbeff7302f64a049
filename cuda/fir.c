/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.c: see fir.h. */
#include "fir.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fft-cut.h"

/* Blocks that are so many times as long as those before may want another method. */
#define LONGER 4

/* Larger samples count as 0, as on the CPU: so that no sum overflows. */
#define LIMIT_FLOAT 0x1p100
#define LIMIT_DOUBLE 0x1p1000

void
tfx_cuda_fir_init (TfxCudaFir *f, TfxCudaQueue *queue, unsigned n_channels,
    size_t n_taps, TfxFirMethod method)
{
  *f = (TfxCudaFir){ .queue = queue,
    .n_channels = n_channels,
    .n_taps = n_taps,
    .asked = method };
  tfx_cuda_fft_init (&f->fft, queue, n_channels, n_taps);
}

void
tfx_cuda_fir_clear (TfxCudaFir *f)
{
  tfx_cuda_fft_clear (&f->fft);
  tfx_buffer_free (f->queue, &f->room);
  tfx_buffer_free (f->queue, &f->taps);
}

void
tfx_cuda_fir_set_stage (TfxCudaFir *f, const TfxStage *stage, double gain)
{
  f->taps_are_old = f->taps_are_old || f->stage != stage || f->gain != gain;
  f->stage = stage;
  f->gain = gain;
}

void
tfx_cuda_fir_force (TfxCudaFir *f, unsigned log2, unsigned max_tiles)
{
  f->method = TFX_FIR_FFT;
  f->n_frames = SIZE_MAX;
  tfx_cuda_fft_cut (&f->fft, log2);
  f->fft.force_tiles = max_tiles;
  f->taps_are_old = true;
}

/* ---- making ready -------------------------------------------------------------- */

/* The method, and how transforms are cut, for blocks of n_frames.  Both find the past
 * where the other one leaves it. */
static void
choose (TfxCudaFir *f, bool is_float, size_t n_frames)
{
  size_t shared = (size_t)f->queue->cuda->card.max_shared;
  TfxReal real = is_float ? f->queue->cuda->real : TFX_REAL_DOUBLE;
  unsigned log2 = tfx_cuda_fft_choose (real, f->n_taps, n_frames, shared);
  TfxFirMethod method =
      tfx_cuda_fft_method (f->asked, real, f->n_taps, n_frames, log2);

  f->n_frames = n_frames;
  if (method == f->method && (method == TFX_FIR_DIRECT || log2 == f->fft.log2))
    return;
  f->method = method;
  f->is_ready = false;
  tfx_cuda_fft_cut (&f->fft, log2);
}

static int
upload_direct (TfxCudaFir *f)
{
  size_t n = f->stage->u.fir.n_kernels * f->n_taps;
  double *numbers = malloc (n * sizeof *numbers);
  int ret;

  if (!numbers)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++) {
    double h = f->stage->u.fir.taps[i] * f->gain;
    if (f->real == TFX_REAL_TWOFOLD) {
      float halves[2];
      halves[0] = (float)h;
      halves[1] = (float)(h - halves[0]);
      memcpy (&numbers[i], halves, sizeof halves);
    } else {
      numbers[i] = h;
    }
  }
  ret = tfx_buffer_reserve (f->queue, &f->taps, n * sizeof *numbers);
  if (ret == 0)
    ret = tfx_buffer_upload (f->queue, f->taps.data, numbers,
        n * sizeof *numbers);
  free (numbers);
  return ret;
}

static int
renew_taps (TfxCudaFir *f)
{
  unsigned n_kernels = f->stage->u.fir.n_kernels;
  int ret;

  if (!f->taps_are_old)
    return 0;
  ret = f->method == TFX_FIR_FFT
            ? tfx_cuda_fft_transform_taps (&f->fft, f->stage->u.fir.taps,
                  n_kernels, f->gain, &f->room, &f->taps)
            : upload_direct (f);
  f->n_kernels = n_kernels;
  f->taps_are_old = ret < 0;
  return ret;
}

static int
find_kernels (TfxCudaFir *f, bool is_float)
{
  TfxKernelId direct = { .kind = TFX_KERNEL_FIR,
    .real = is_float ? f->queue->cuda->real : TFX_REAL_DOUBLE };
  int ret = 0;

  if (f->is_ready && f->is_float == is_float)
    return 0;
  /* Of another arithmetic. */
  f->taps_are_old = true;
  f->is_float = is_float;
  f->real = direct.real;
  if (f->method == TFX_FIR_DIRECT)
    ret = tfx_module_kernel (f->queue->cuda, &direct, &f->direct);
  f->is_ready = ret == 0;
  return ret;
}

int
tfx_cuda_fir_prepare (TfxCudaFir *f, bool is_float, size_t n_frames)
{
  int ret;

  /* How long they are is seldom known before they come. */
  if (f->n_frames == 0 || n_frames / LONGER >= f->n_frames)
    choose (f, is_float, n_frames);
  ret = find_kernels (f, is_float);
  if (ret == 0 && f->method == TFX_FIR_FFT)
    ret = tfx_cuda_fft_prepare (&f->fft, is_float, n_frames);
  return ret < 0 ? ret : renew_taps (f);
}

/* ---- running -------------------------------------------------------------------- */

typedef struct Run
{
  const TfxKernelBlock *in, *out, *sum;
  size_t n_frames;
  const TfxKernelRing *ring;
  CUdeviceptr cleared;
  uint64_t *n_launches;
} Run;

static int
run_direct (TfxCudaFir *f, const Run *r)
{
  const size_t n_tiles = (r->n_frames + TFX_FIR_FRAMES - 1) / TFX_FIR_FRAMES;
  TfxFirArgs args = {
    .in = *r->in,
    .out = *r->out,
    .sum = *r->sum,
    .n_frames = r->n_frames,
    .n_channels = f->n_channels,
    .n_taps = (unsigned)f->n_taps,
    .per_channel = f->n_kernels > 1,
    .taps = f->taps.data,
    .ring = *r->ring,
    .limit = f->is_float ? LIMIT_FLOAT : LIMIT_DOUBLE,
    .cleared = r->cleared,
  };

  *r->n_launches += 1;
  return tfx_module_launch (f->queue, &f->direct, n_tiles * f->n_channels,
      TFX_FIR_THREADS,
      TFX_FIR_NUMBERS (TFX_FIR_REACH (f->n_taps)) * TFX_REAL_SIZE, &args);
}

static int
run_transforms (TfxCudaFir *f, const Run *r)
{
  TfxCudaFftRun run = {
    .in = r->in,
    .out = r->out,
    .sum = r->sum,
    .n_frames = r->n_frames,
    .ring = *r->ring,
    .spectra = f->taps.data,
    .per_channel = f->n_kernels > 1,
    .limit = f->is_float ? LIMIT_FLOAT : LIMIT_DOUBLE,
    .cleared = r->cleared,
  };

  return tfx_cuda_fft_run (&f->fft, &run, r->n_launches);
}

int
tfx_cuda_fir_run (TfxCudaFir *f, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    const TfxKernelRing *ring, CUdeviceptr cleared, uint64_t *n_launches)
{
  const Run r = { in, out, sum, n_frames, ring, cleared, n_launches };

  return f->method == TFX_FIR_FFT ? run_transforms (f, &r) : run_direct (f, &r);
}

void
tfx_cuda_fir_commit (TfxCudaFir *f)
{
  if (f->method == TFX_FIR_FFT)
    tfx_cuda_fft_commit (&f->fft);
}

void
tfx_cuda_fir_abandon (TfxCudaFir *f)
{
  tfx_cuda_fft_abandon (&f->fft);
}

void
tfx_cuda_fir_forget (TfxCudaFir *f)
{
  tfx_cuda_fft_forget (&f->fft);
}
