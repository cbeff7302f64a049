/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.c: launches the kernels of window.cu. */
#include "window.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_THREADS 256
#define FIR_THREADS 128

/* The kernels of a FIR on the device. */
typedef struct Taps
{
  TfxBuffer data;
  unsigned n_kernels;
  TfxReal real;
} Taps;

struct TfxCudaWindow
{
  TfxCuda *cuda;
  unsigned n_channels;
  bool is_fir;
  size_t past;

  /* What is asked for. */
  const TfxStage *stage; /* NULL: a gain */
  double gain;
  bool taps_are_old;

  /* FIR: [current] is heard; [!current] fades out while fade_left > 0. */
  Taps taps[2];
  unsigned current;
  bool has_run;
  size_t fade_frames, fade_left, fade_step;
  TfxBuffer other; /* the output of what fades out */

  TfxBuffer delay_taps;

  TfxBuffer ring; /* double[n_channels][ring_size] */
  size_t ring_size, position, run_frames;

  TfxKernel fir, delay, fade;
  TfxReal fir_real;
  bool has_fir, has_delay, has_fade;
};

/* ---- making --------------------------------------------------------------------- */

int
tfx_cuda_window_new (TfxCuda *cuda, unsigned n_channels, bool is_fir,
    size_t past, TfxCudaWindow **out)
{
  TfxCudaWindow *w = calloc (1, sizeof *w);

  *out = w;
  if (!w)
    return -ENOMEM;
  w->cuda = cuda;
  w->n_channels = n_channels;
  w->is_fir = is_fir;
  w->past = past;
  w->gain = 1.0;
  return 0;
}

void
tfx_cuda_window_free (TfxCudaWindow **window)
{
  TfxCudaWindow *w = *window;

  *window = NULL;
  if (!w)
    return;
  tfx_buffer_free (w->cuda, &w->taps[0].data);
  tfx_buffer_free (w->cuda, &w->taps[1].data);
  tfx_buffer_free (w->cuda, &w->other);
  tfx_buffer_free (w->cuda, &w->delay_taps);
  tfx_buffer_free (w->cuda, &w->ring);
  free (w);
}

void
tfx_cuda_window_set_stage (TfxCudaWindow *w, const TfxStage *stage, double gain,
    size_t fade_frames)
{
  w->stage = stage;
  w->gain = gain;
  w->fade_frames = fade_frames;
  w->taps_are_old = true;
}

void
tfx_cuda_window_set_gain (TfxCudaWindow *w, double gain)
{
  w->stage = NULL;
  w->gain = gain;
}

static int
find_kernel (TfxCuda *cuda, TfxKernelKind kind, TfxReal real, TfxKernel *kernel,
    bool *has)
{
  TfxKernelId id = { .kind = kind, .real = real };
  int ret = *has ? 0 : tfx_module_kernel (cuda, &id, kernel);

  *has = ret == 0;
  return ret;
}

/* ---- copies ----------------------------------------------------------------------- */

static int
copy_to_device (TfxCuda *cuda, CUdeviceptr to, const void *from, size_t size)
{
  int ret = tfx_context_check (cuda,
      cuda->driver->memcpy_htod_async (to, from, size, cuda->stream),
      "uploading");

  if (ret == 0)
    ret = tfx_context_check (cuda,
        cuda->driver->stream_synchronize (cuda->stream), "uploading");
  return ret;
}

static int
copy_to_host (TfxCuda *cuda, void *to, CUdeviceptr from, size_t size)
{
  int ret = tfx_context_check (cuda,
      cuda->driver->memcpy_dtoh_async (to, from, size, cuda->stream),
      "downloading");

  if (ret == 0)
    ret = tfx_context_check (cuda,
        cuda->driver->stream_synchronize (cuda->stream), "downloading");
  return ret;
}

/* ---- taps --------------------------------------------------------------------------- */

static int
upload_kernels (TfxCudaWindow *w, Taps *taps, TfxReal real)
{
  size_t n = w->stage->u.fir.n_kernels * w->stage->u.fir.n_taps;
  double *numbers = malloc (n * sizeof *numbers);
  int ret;

  if (!numbers)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++) {
    double h = w->stage->u.fir.taps[i] * w->gain;
    if (real == TFX_REAL_TWOFOLD) {
      float halves[2];
      halves[0] = (float)h;
      halves[1] = (float)(h - halves[0]);
      memcpy (&numbers[i], halves, sizeof halves);
    } else {
      numbers[i] = h;
    }
  }
  ret = tfx_buffer_reserve (w->cuda, &taps->data, n * sizeof *numbers);
  if (ret == 0)
    ret =
        copy_to_device (w->cuda, taps->data.data, numbers, n * sizeof *numbers);
  taps->n_kernels = w->stage->u.fir.n_kernels;
  taps->real = real;
  free (numbers);
  return ret;
}

/* New kernels take over: at once before the first run, else in a cross-fade;
 * while one is going on they wait for its end. */
static int
renew_kernels (TfxCudaWindow *w, TfxReal real)
{
  bool fades = w->has_run && w->fade_frames > 0;
  int ret;

  if (!w->taps_are_old || w->fade_left > 0)
    return 0;
  ret = upload_kernels (w, &w->taps[fades ? !w->current : w->current], real);
  if (ret < 0)
    return ret;
  if (fades) {
    w->current = !w->current;
    w->fade_left = w->fade_frames;
  }
  w->taps_are_old = false;
  return 0;
}

_Static_assert(TFX_TAP_BOTH == 0 && TFX_TAP_LEFT == 1 && TFX_TAP_RIGHT == 2,
    "as in TfxKernelTap");

static int
renew_delays (TfxCudaWindow *w)
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
      .side = tap->side };
  }
  ret = tfx_buffer_reserve (w->cuda, &w->delay_taps, (n + 1) * sizeof *taps);
  if (ret == 0)
    ret = copy_to_device (w->cuda, w->delay_taps.data, taps,
        (n + 1) * sizeof *taps);
  free (taps);
  w->taps_are_old = ret < 0;
  return ret;
}

/* ---- the past -------------------------------------------------------------------------- */

int
tfx_cuda_window_get_state (TfxCudaWindow *w, double *state)
{
  size_t size = w->n_channels * w->ring_size * sizeof *state;
  double *ring;
  int ret;

  if (w->ring_size == 0) {
    memset (state, 0, w->n_channels * w->past * sizeof *state);
    return 0;
  }
  ring = malloc (size);
  if (!ring)
    return -ENOMEM;
  ret = copy_to_host (w->cuda, ring, w->ring.data, size);
  for (unsigned c = 0; ret == 0 && c < w->n_channels; c++) {
    for (size_t i = 0; i < w->past; i++)
      *state++ =
          ring[c * w->ring_size +
               (w->position + w->ring_size - w->past + i) % w->ring_size];
  }
  free (ring);
  return ret;
}

/* Makes a ring of this size from a state, or at rest. */
static int
ring_make (TfxCudaWindow *w, size_t ring_size, const double *state)
{
  size_t size = w->n_channels * ring_size * sizeof (double);
  TfxBuffer made = { 0 };
  double *ring;
  int ret;

  if (!state) {
    ret = tfx_buffer_reserve_zeros (w->cuda, &w->ring, size, true);
    w->ring_size = ret == 0 ? ring_size : 0;
    w->position = ret == 0 ? w->past % ring_size : 0;
    return ret;
  }
  ring = calloc (w->n_channels * ring_size, sizeof *ring);
  if (!ring)
    return -ENOMEM;
  for (unsigned c = 0; c < w->n_channels; c++)
    memcpy (ring + c * ring_size, state + c * w->past, w->past * sizeof *ring);
  /* The old one stays until the new one is there. */
  ret = tfx_buffer_reserve (w->cuda, &made, size);
  if (ret == 0)
    ret = copy_to_device (w->cuda, made.data, ring, size);
  free (ring);
  if (ret < 0) {
    tfx_buffer_free (w->cuda, &made);
    return ret;
  }
  tfx_buffer_free (w->cuda, &w->ring);
  w->ring = made;
  w->ring_size = ring_size;
  w->position = w->past % ring_size;
  return 0;
}

int
tfx_cuda_window_set_state (TfxCudaWindow *w, const double *state)
{
  if (w->past == 0)
    return 0;
  return ring_make (w, w->ring_size ? w->ring_size : w->past + 1, state);
}

void
tfx_cuda_window_reset (TfxCudaWindow *w)
{
  /* The next run makes a ring at rest. */
  w->ring_size = 0;
  w->position = 0;
  w->fade_left = 0;
  w->has_run = false;
}

double
tfx_cuda_window_state_peak (TfxCudaWindow *w)
{
  size_t n = w->n_channels * w->past;
  double *state = malloc ((n + 1) * sizeof *state);
  double peak = 0.0;

  if (!state || tfx_cuda_window_get_state (w, state) < 0) {
    free (state);
    return INFINITY;
  }
  for (size_t i = 0; i < n; i++)
    peak = fmax (peak, fabs (state[i]));
  free (state);
  return peak;
}

/* Room for the past and a block. */
static int
reserve_ring (TfxCudaWindow *w, size_t n_frames)
{
  size_t size = w->past + n_frames;
  double *state;
  int ret;

  if (w->past == 0 || w->ring_size >= size)
    return 0;
  /* Some more, so that blocks of changing length do not grow it each time. */
  size += n_frames / 2;
  if (w->ring_size == 0)
    return ring_make (w, size, NULL);
  state = malloc (w->n_channels * w->past * sizeof *state);
  if (!state)
    return -ENOMEM;
  ret = tfx_cuda_window_get_state (w, state);
  if (ret == 0)
    ret = ring_make (w, size, state);
  free (state);
  return ret;
}

/* ---- running --------------------------------------------------------------------------- */

static int
launch (TfxCudaWindow *w, const TfxKernel *kernel, size_t grid,
    unsigned threads, size_t shared_size, void *args)
{
  TfxCuda *cuda = w->cuda;
  void *arguments[] = { args };

  /* What a grid may have; a block of samples has less. */
  if (grid > 0x7fffffff)
    return -EINVAL;
  return tfx_context_check (cuda,
      cuda->driver->launch_kernel (kernel->function, (unsigned)grid, 1, 1,
          threads, 1, 1, (unsigned)shared_size, cuda->stream, arguments, NULL),
      "starting a kernel");
}

static TfxKernelRing
ring_of (const TfxCudaWindow *w)
{
  TfxKernelRing ring = { 0, 1, 0 };

  if (w->past > 0)
    ring = (TfxKernelRing){ w->ring.data, w->ring_size, w->position };
  return ring;
}

static int
run_delay (TfxCudaWindow *w, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxDelayArgs args = {
    .in = *in,
    .out = *out,
    .sum = *sum,
    .n_frames = n_frames,
    .n_channels = w->n_channels,
    .direct = w->gain,
    .ring = ring_of (w),
    .by_channel = llabs (in->channel_stride) <= llabs (in->frame_stride),
  };
  size_t n = n_frames * w->n_channels;

  if (w->stage) {
    args.direct *= w->stage->u.delay.direct;
    args.n_taps = (unsigned)w->stage->u.delay.n_taps;
    args.taps = w->delay_taps.data;
  }
  return launch (w, &w->delay, (n + DELAY_THREADS - 1) / DELAY_THREADS,
      DELAY_THREADS, 0, &args);
}

static int
run_fir (TfxCudaWindow *w, const Taps *taps, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  const size_t frames = FIR_THREADS * TFX_FIR_RUN;
  const size_t window = frames + TFX_FIR_TAPS;
  size_t n_tiles = (n_frames + frames - 1) / frames;
  TfxFirArgs args = {
    .in = *in,
    .out = *out,
    .sum = *sum,
    .n_frames = n_frames,
    .n_channels = w->n_channels,
    .n_taps = (unsigned)w->stage->u.fir.n_taps,
    .n_tiles = (unsigned)n_tiles,
    .per_channel = taps->n_kernels > 1,
    .taps = taps->data.data,
    .ring = ring_of (w),
  };

  return launch (w, &w->fir, n_tiles * w->n_channels, FIR_THREADS,
      (window + window / TFX_FIR_RUN + TFX_FIR_TAPS) * TFX_REAL_SIZE, &args);
}

/* A FIR in the cross-fade to new kernels: the old ones' output first, since
 * the sum may be where the output goes. */
static int
run_fading (TfxCudaWindow *w, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxKernelBlock other = { .frame_stride = 1,
    .channel_stride = (long long)n_frames,
    .is_double = 1 };
  size_t n = n_frames < w->fade_left ? n_frames : w->fade_left;
  TfxFadeArgs args = {
    .out = *out,
    .n_frames = n,
    .start = w->fade_frames - w->fade_left,
    .length = w->fade_frames,
    .n_channels = w->n_channels,
    .by_channel = llabs (out->channel_stride) <= llabs (out->frame_stride),
  };
  int ret = tfx_buffer_reserve (w->cuda, &w->other,
      n_frames * w->n_channels * sizeof (double));

  if (ret < 0)
    return ret;
  other.data = w->other.data;
  args.from = other;
  ret = run_fir (w, &w->taps[!w->current], in, &other, sum, n_frames);
  if (ret == 0)
    ret = run_fir (w, &w->taps[w->current], in, out, sum, n_frames);
  if (ret == 0)
    ret = launch (w, &w->fade,
        (n * w->n_channels + DELAY_THREADS - 1) / DELAY_THREADS, DELAY_THREADS,
        0, &args);
  w->fade_step = n;
  return ret;
}

/* Kernels, taps and ring for a block. */
static int
make_ready (TfxCudaWindow *w, size_t n_frames, bool double_arithmetic)
{
  TfxReal real = double_arithmetic ? TFX_REAL_DOUBLE : w->cuda->real;
  int ret;

  if (!w->is_fir) {
    ret = find_kernel (w->cuda, TFX_KERNEL_DELAY, TFX_REAL_DOUBLE, &w->delay,
        &w->has_delay);
    if (ret == 0 && w->stage && w->taps_are_old)
      ret = renew_delays (w);
    return ret < 0 ? ret : reserve_ring (w, n_frames);
  }
  if (w->has_fir && w->fir_real != real) {
    w->has_fir = false;
    w->taps_are_old = true;
    w->fade_left = 0;
    w->has_run = false;
  }
  w->fir_real = real;
  ret = find_kernel (w->cuda, TFX_KERNEL_FIR, real, &w->fir, &w->has_fir);
  if (ret == 0)
    ret = find_kernel (w->cuda, TFX_KERNEL_FADE, TFX_REAL_DOUBLE, &w->fade,
        &w->has_fade);
  if (ret == 0)
    ret = renew_kernels (w, real);
  return ret < 0 ? ret : reserve_ring (w, n_frames);
}

int
tfx_cuda_window_prepare (TfxCudaWindow *w, TfxSample type, size_t n_frames)
{
  return make_ready (w, n_frames, type == TFX_SAMPLE_F64);
}

int
tfx_cuda_window_run (TfxCudaWindow *w, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    bool double_arithmetic, uint64_t *n_launches)
{
  int ret = make_ready (w, n_frames, double_arithmetic);

  w->run_frames = n_frames;
  w->fade_step = 0;
  if (ret < 0)
    return ret;
  *n_launches += 1;
  if (!w->is_fir)
    return run_delay (w, in, out, sum, n_frames);
  if (w->fade_left == 0)
    return run_fir (w, &w->taps[w->current], in, out, sum, n_frames);
  *n_launches += 2;
  return run_fading (w, in, out, sum, n_frames);
}

void
tfx_cuda_window_commit (TfxCudaWindow *w)
{
  if (w->ring_size > 0)
    w->position = (w->position + w->run_frames) % w->ring_size;
  w->fade_left -= w->fade_step;
  w->fade_step = 0;
  w->has_run = true;
}
