/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.c: launches the kernels of fft.cu. */
#include "fft.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fft-cut.h"
#include "state.h"

/* The spectra of a launch's tiles take no more than this; longer blocks are
 * several launches. */
#define MAX_HISTORY ((size_t)1 << 28)

/* Blocks of a launch; a device takes more. */
#define MAX_GRID ((size_t)1 << 30)

/* ---- making ------------------------------------------------------------------------ */

void
tfx_cuda_fft_init (TfxCudaFft *f, TfxCudaStream *stream, unsigned n_channels,
    size_t n_taps, bool has_matrix)
{
  *f = (TfxCudaFft){ .stream = stream,
    .n_channels = n_channels,
    .has_matrix = has_matrix,
    .n_taps = n_taps };
}

void
tfx_cuda_fft_clear (TfxCudaFft *f)
{
  tfx_buffer_free (f->stream, &f->twiddles);
  tfx_buffer_free (f->stream, &f->history);
  tfx_buffer_free (f->stream, &f->control);
}

static size_t
spectrum_size (const TfxCudaFft *f)
{
  return ((size_t)2 << f->log2) *
         (f->id.is_narrow ? sizeof (float) : sizeof (double));
}

static size_t
min_size (size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Tiles of a launch that room is made for. */
static size_t
ask_tiles (const TfxCudaFft *f, size_t n_frames)
{
  size_t n = f->force_tiles ? f->force_tiles
                            : MAX_HISTORY / (spectrum_size (f) * f->n_channels);

  return min_size ((n_frames >> f->log2) + 2, n < 2 ? 2 : n);
}

/* Most tiles of a launch, such that no tile overwrites a slot that another one
 * needs. n_before: tiles without output. */
static size_t
max_tiles (const TfxCudaFft *f, size_t n_before)
{
  if (f->n_partitions == 1 && !f->has_matrix)
    return f->force_tiles ? f->force_tiles : MAX_GRID / f->n_channels;
  return n_before > 0 ? f->n_slots : f->n_slots - (f->n_partitions - 1);
}

static size_t
reverse_bits (size_t i, unsigned log2)
{
  size_t reversed = 0;

  for (unsigned k = 0; k < log2; k++)
    reversed |= (i >> k & 1) << (log2 - 1 - k);
  return reversed;
}

/* exp (-i pi k / P) */
static void
put_twiddle (const TfxCudaFft *f, double *to, size_t k)
{
  long double angle = acosl (-1.0L) * k / ((size_t)1 << f->log2);

  tfx_real_put (to, f->id.real, 0, cosl (angle));
  tfx_real_put (to, f->id.real, 1, -sinl (angle));
}

/* As kernels/args.h has it. */
static void
fill_twiddles (const TfxCudaFft *f, double *table)
{
  const size_t size = (size_t)1 << f->log2;
  unsigned radix_log2 = (f->log2 - 1) % 3 + 1;

  for (unsigned log2 = f->log2; log2 > 0; log2 -= radix_log2, radix_log2 = 3) {
    const size_t stride = (size_t)1 << (log2 - radix_log2);
    double *pass = table + 2 * (size - ((size_t)1 << log2));

    for (size_t i = 0; i < stride << radix_log2; i++) {
      size_t n = reverse_bits (i / stride, radix_log2);

      if (n > 0)
        put_twiddle (f, &pass[2 * (i - stride)],
            n * (i % stride) << (f->log2 + 1 - log2));
    }
  }
  for (size_t i = 0, first = 1; i < size / 2; i++) {
    if (i == 2 * first)
      first *= 2;
    put_twiddle (f, &table[2 * (size + i)], reverse_bits (i + first, f->log2));
  }
}

static int
make_twiddles (TfxCudaFft *f)
{
  size_t n = (size_t)3 << f->log2 >> 1;
  double *table = calloc (n, 2 * sizeof *table);
  int ret;

  if (!table)
    return -ENOMEM;
  fill_twiddles (f, table);
  ret =
      tfx_buffer_upload (f->stream, &f->twiddles, table, n * 2 * sizeof *table);
  free (table);
  return ret;
}

void
tfx_cuda_fft_forget (TfxCudaFft *f)
{
  f->has_history = false;
  f->position =
      f->n_partitions > 1 ? (unsigned long long)f->n_partitions << f->log2 : 0;
}

void
tfx_cuda_fft_cut (TfxCudaFft *f, unsigned log2)
{
  f->log2 = log2;
  f->n_partitions = (unsigned)tfx_cuda_fft_partitions (f->n_taps, log2);
  f->n_out = tfx_cuda_fft_out (f->n_taps, log2);
  f->n_slots = 0;
  f->has_kernel = false;
  tfx_cuda_fft_forget (f);
}

/* Allocates the spectra of the tiles before a block and of the tiles of a launch. */
static int
reserve_history (TfxCudaFft *f, size_t n_frames)
{
  const unsigned first[] = { 0, 0, f->force_epoch };
  size_t n_slots = f->n_partitions - 1 + ask_tiles (f, n_frames);
  int ret;

  if (f->n_partitions == 1 && !f->has_matrix) {
    f->n_slots = 1;
    return 0;
  }
  if (n_slots <= f->n_slots)
    return 0;
  f->has_history = false;
  f->control_size = (4 + n_slots * f->n_channels) * sizeof (unsigned);
  ret = tfx_buffer_reserve (f->stream, &f->history,
      n_slots * f->n_channels * spectrum_size (f));
  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (f->stream, &f->control, f->control_size,
        true);
  if (ret == 0 && f->force_epoch)
    ret = tfx_buffer_upload (f->stream, &f->control, first, sizeof first);
  f->n_slots = ret == 0 ? (unsigned)n_slots : 0;
  return ret;
}

int
tfx_cuda_fft_prepare (TfxCudaFft *f, bool is_float, size_t n_frames)
{
  TfxKernelId id = { .kind = TFX_KERNEL_FFT,
    .real = is_float ? f->stream->cuda->real : TFX_REAL_DOUBLE };
  int ret = 0;

  /* Where no spectra are kept, those of doubles are as fast. */
  id.is_narrow =
      is_float && (id.real == TFX_REAL_TWOFOLD || f->n_partitions > 1);
  if (f->has_kernel &&
      (f->id.is_narrow != id.is_narrow || f->id.real != id.real)) {
    f->has_kernel = f->has_history = false;
    f->n_slots = 0;
  }
  if (!f->has_kernel) {
    f->id = id;
    ret = tfx_module_kernel (f->stream->cuda, &f->id, &f->kernel);
    if (ret == 0)
      ret = make_twiddles (f);
    f->has_kernel = ret == 0;
  }
  return ret < 0 ? ret : reserve_history (f, n_frames);
}

/* ---- launches --------------------------------------------------------------------- */

/* One for eight numbers; more where a few blocks have the device to themselves and
 * most of the time goes into products: of several partitions, or of a matrix. */
static unsigned
count_threads (const TfxCudaFft *f, unsigned grid)
{
  const unsigned n = (1u << f->log2) / TFX_FFT_RUN;
  const bool are_few =
      grid <= (unsigned)f->stream->cuda->card.n_multiprocessors;

  return n > TFX_FFT_THREADS ||
                 (are_few && (f->n_partitions > 1 || f->has_matrix))
             ? TFX_FFT_THREADS
             : n;
}

static int
launch (TfxCudaFft *f, TfxCudaStream *stream, TfxFftArgs *args)
{
  unsigned grid = args->n_tiles * args->run.n_channels;

  args->log2 = f->log2;
  args->n_out = f->n_out;
  args->n_partitions = f->n_partitions;
  args->n_taps = (unsigned)f->n_taps;
  args->twiddles = f->twiddles.data;
  args->control = f->control.data;
  return tfx_module_launch (stream, &f->kernel, grid, count_threads (f, grid),
      TFX_FFT_SHARED (f->log2), args);
}

int
tfx_cuda_fft_transform_taps (TfxCudaFft *f, const double *taps,
    unsigned n_kernels, double gain, TfxBuffer *room, TfxBuffer *spectra)
{
  size_t n = n_kernels * f->n_taps;
  double *scaled = malloc (n * sizeof *scaled);
  /* What the transforms there and back multiply by. */
  double scale = gain / (8.0 * ldexp (1.0, (int)f->log2));
  TfxFftArgs args = { .run.n_frames = f->n_taps,
    .run.n_channels = n_kernels,
    .work = TFX_FFT_TAPS,
    .n_tiles = f->n_partitions,
    .n_slots = f->n_partitions,
    .limit = INFINITY };
  TfxCudaStream uncounted = *f->stream; /* it is no part of a run */
  int ret;

  if (!scaled)
    return -ENOMEM;
  for (size_t i = 0; i < n; i++)
    scaled[i] = taps[i] * scale;
  ret = tfx_buffer_upload (f->stream, room, scaled, n * sizeof *scaled);
  free (scaled);
  if (ret == 0)
    ret = tfx_buffer_reserve (f->stream, spectra,
        n_kernels * f->n_partitions * spectrum_size (f));
  if (ret < 0)
    return ret;
  args.run.in = (TfxKernelBlock){ .data = room->data,
    .frame_stride = 1,
    .channel_stride = (long long)f->n_taps,
    .is_double = 1 };
  args.history = spectra->data;
  return launch (f, &uncounted, &args);
}

static int
mend (TfxCudaFft *f)
{
  int ret = 0;

  if (f->is_broken && f->n_partitions > 1)
    ret = tfx_buffer_reserve_zeros (f->stream, &f->control, f->control_size,
        true);
  f->is_broken = ret < 0;
  return ret;
}

int
tfx_cuda_fft_run (TfxCudaFft *f, const TfxCudaFftRun *r)
{
  const TfxUnitRun *block = r->block;
  unsigned long long tile = f->position / f->n_out;
  unsigned long long end = (f->position + block->n_frames - 1) / f->n_out;
  size_t n_before = f->has_history ? 0 : f->n_partitions - 1;
  int ret = mend (f);

  f->run_frames = block->n_frames;
  tile -= n_before;
  while (ret == 0 && tile <= end) {
    size_t n_tiles = min_size (end - tile + 1, max_tiles (f, n_before));
    TfxFftArgs args = {
      .run = tfx_cuda_unit_args (block, f->n_channels),
      .per_channel = r->per_channel,
      .start = (long long)(tile * f->n_out - f->position),
      .n_tiles = (unsigned)n_tiles,
      .n_silent = (unsigned)min_size (n_before, n_tiles),
      .n_slots = f->n_slots,
      .slot = (unsigned)(tile % f->n_slots),
      .work = r->matrix ? TFX_FFT_FORWARD : TFX_FFT_ALL,
      .spectra = r->spectra,
      .history = f->history.data,
      .ring = r->ring,
      .limit = r->limit,
      .matrix = r->matrix,
    };

    ret = launch (f, f->stream, &args);
    args.work = TFX_FFT_BACKWARD;
    if (ret == 0 && r->matrix)
      ret = launch (f, f->stream, &args);
    n_before -= args.n_silent;
    tile += n_tiles;
  }
  return ret;
}

void
tfx_cuda_fft_commit (TfxCudaFft *f)
{
  if (f->run_frames == 0)
    return;
  if (f->n_partitions > 1)
    f->position += f->run_frames;
  f->run_frames = 0;
  f->has_history = true;
}

void
tfx_cuda_fft_abandon (TfxCudaFft *f)
{
  f->run_frames = 0;
  f->is_broken = true;
  f->has_history = false;
}
