/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-layout.c: the form in which a FIR filter costs least, by a model
 * of what the loops cost (convolver-cost.h).
 *
 * Costs are in ns for a frame of one channel, K taps, B the size of a
 * partition, F(B) a transform of B complex values one way:
 *
 *   direct        K (direct + direct_call / frames of a call)
 *   block         2 F(N) + N sum for every 2 N - K + 1 frames
 *   level         2 F(B) / B + n_parts sum
 *   head          as a level, and B direct for frames of blocks that do not
 *                 lie in one call
 *
 * All layouts whose partitions are powers of two are
 * tried. */
#include "convolver-layout.h"

#include "convolver-fft.h"

#include <string.h>

/* Spectra of a level in the caches next to the core. */
#define NEAR_BYTES 32768.0
#define MIDDLE_BYTES 786432.0

/* The largest transform of the form block. */
#define BLOCK_MAX_SIZE 16384

/* The taps that are computed. */
static size_t
n_core (const TfxConvolverSpec *spec)
{
  return spec->n_taps - spec->n_leading - spec->n_trailing;
}

/* The passes of a transform, one way. */
static size_t
count_passes (size_t size)
{
  const size_t n_leaves = size / TFX_LEAF;
  size_t n_passes = 0, left = n_leaves;

  if (n_leaves % 3 == 0) {
    left /= 3;
    n_passes++;
  }
  for (; left > 1; left = left > 2 ? left / 4 : 1)
    n_passes++;
  return n_passes;
}

double
tfx_convolver_layout_leaf_cost (const TfxConvolverCost *cost, size_t size)
{
  const size_t n_leaves = size / TFX_LEAF;

  return cost->leaf[n_leaves % 4 == 0 ? 2 : n_leaves % 2 == 0 ? 1 : 0];
}

/* F.  A pass of radix 2 costs about as much as one of 4: both are bound by
 * loads and stores. */
static double
transform_cost (const TfxConvolverCost *cost, size_t size)
{
  return (double)(count_passes (size) * size) * cost->pass +
         (double)(size / TFX_LEAF) *
             tfx_convolver_layout_leaf_cost (cost, size);
}

double
tfx_convolver_layout_forward_cost (const TfxConvolverCost *cost, size_t size)
{
  return transform_cost (cost, size) / (double)size;
}

double
tfx_convolver_layout_step_cost (const TfxConvolverCost *cost, size_t size)
{
  return 2.0 * transform_cost (cost, size) + (double)size * cost->sum_near;
}

double
tfx_convolver_layout_direct_cost (const TfxConvolverCost *cost, size_t n_taps,
    size_t n_frames)
{
  return (double)n_taps * ((double)n_frames * cost->direct + cost->direct_call);
}

/* A frame, in calls of block_frames. */
static double
direct_frame_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    size_t n_taps)
{
  if (spec->block_frames == 0)
    return (double)n_taps * cost->direct;
  return tfx_convolver_layout_direct_cost (cost, n_taps, spec->block_frames) /
         (double)spec->block_frames;
}

/* ---- one transform for each call ------------------------------------------ */

/* For calls of block_frames: as many whole steps as fit, and the rest by one
 * more or directly. */
static double
block_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    size_t size)
{
  const size_t step = 2 * size - n_core (spec) + 1;
  const size_t n_steps = spec->block_frames / step;
  const size_t n_left = spec->block_frames % step;
  const double each = tfx_convolver_layout_step_cost (cost, size) + cost->call;
  const double rest =
      spec->method == TFX_FIR_FFT
          ? each
          : tfx_convolver_layout_direct_cost (cost, n_core (spec), n_left);

  return ((double)n_steps * each + (n_left == 0      ? 0.0
                                       : rest < each ? rest
                                                     : each)) /
         (double)spec->block_frames;
}

static void
try_block (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    TfxConvolverLayout *best)
{
  for (size_t p = TFX_FFT_MIN_SIZE; p <= BLOCK_MAX_SIZE; p *= 2) {
    const size_t sizes[2] = { p, p / 2 * 3 };
    for (int i = 0; i < 2; i++) {
      double c;
      if (2 * sizes[i] < n_core (spec) || sizes[i] % TFX_LEAF != 0)
        continue;
      c = block_cost (spec, cost, sizes[i]);
      if (c < best->cost) {
        best->form = TFX_CONVOLVER_BLOCK;
        best->n_levels = 1;
        best->levels[0] = (TfxConvolverLevel){ sizes[i], 1, 0 };
        best->cost = c;
      }
    }
  }
  if (best->form != TFX_CONVOLVER_BLOCK)
    return;
  /* smaller ones for shorter calls */
  for (size_t n = 1; n < TFX_CONVOLVER_MAX_LEVELS; n++) {
    size_t size = best->levels[n - 1].size / 2;
    if (size % TFX_LEAF != 0 || 2 * size < n_core (spec) + TFX_LEAF)
      break;
    best->levels[n] = (TfxConvolverLevel){ size, 1, 0 };
    best->n_levels = n + 1;
  }
}

/* ---- partitions ------------------------------------------------------------ */

/* How much of the frames lies in blocks of `size` that no call covers wholly.
 * The starts of calls lie on multiples of gcd (block_frames, size). */
static double
partial_share (const TfxConvolverSpec *spec, size_t size)
{
  size_t a = spec->block_frames, b = size;
  double share;

  if (spec->block_frames == 0 || spec->is_reproducible)
    return 1.0;
  while (b > 0) {
    size_t r = a % b;
    a = b;
    b = r;
  }
  share = (1.0 - (double)a / (double)size) * (double)size /
          (double)spec->block_frames;
  return share < 1.0 ? share : 1.0;
}

/* Of a product, where spectra of taps and signal take n_values in all. */
static double
sum_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    double n_values)
{
  const double n_bytes = n_values * (spec->precision == TFX_SAMPLE_F32 ? 4 : 8);

  return n_bytes <= NEAR_BYTES     ? cost->sum_near
         : n_bytes <= MIDDLE_BYTES ? cost->sum
                                   : cost->sum_far;
}

static double
level_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    const TfxConvolverLevel *level)
{
  const double size = (double)level->size;
  const double n_spectra =
      (double)level->n_parts * (double)(spec->n_channels + spec->n_kernels);
  double n =
      2.0 * transform_cost (cost, level->size) / size +
      (double)level->n_parts * sum_cost (spec, cost, 2.0 * size * n_spectra);

  if (level->first == 0)
    n += cost->call / size + partial_share (spec, level->size) *
                                 direct_frame_cost (spec, cost, level->size);
  return n;
}

/* Levels from number `n` on, the previous ones are laid out and cost
 * `so_far`; level n has the size and starts at first. */
static void
try_levels (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    TfxConvolverLayout *trial, size_t n, size_t size, double so_far,
    TfxConvolverLayout *best)
{
  TfxConvolverLevel *level = &trial->levels[n];
  double c;

  level->size = size;
  level->first = n == 0 ? 0 : 2 * size;
  level->n_parts = (n_core (spec) - level->first + size - 1) / size;
  c = so_far + level_cost (spec, cost, level);
  if (c < best->cost) {
    trial->n_levels = n + 1;
    trial->cost = c;
    *best = *trial;
  }
  if (n + 1 == TFX_CONVOLVER_MAX_LEVELS)
    return;
  for (size_t next = 2 * size;
       2 * next < n_core (spec) && next <= (size_t)1
                                               << TFX_CONVOLVER_MAX_LEVEL_BITS;
       next *= 2) {
    level->n_parts = (2 * next - level->first) / size;
    c = so_far + level_cost (spec, cost, level);
    if (c < best->cost)
      try_levels (spec, cost, trial, n + 1, next, c, best);
  }
}

static void
try_partitions (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    TfxConvolverLayout *best)
{
  TfxConvolverLayout trial = { TFX_CONVOLVER_PARTITIONED };

  for (size_t size = TFX_LEAF; size <= 4096; size *= 2) {
    /* A block longer than a call would come due in one call of several. */
    if (size > TFX_LEAF && spec->block_frames > 0 && size > spec->block_frames)
      break;
    try_levels (spec, cost, &trial, 0, size, 0.0, best);
  }
}

void
tfx_convolver_layout_choose (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayout *layout)
{
  const TfxConvolverCost *cost = &kernels->cost[spec->precision];

  memset (layout, 0, sizeof *layout);
  layout->form = TFX_CONVOLVER_DIRECT;
  layout->cost = direct_frame_cost (spec, cost, n_core (spec));
  if (spec->method == TFX_FIR_DIRECT)
    return;
  if (spec->method == TFX_FIR_FFT)
    layout->cost = 1e30;
  try_partitions (spec, cost, layout);
  if (spec->block_frames > 0 && !spec->is_reproducible)
    try_block (spec, cost, layout);
}

bool
tfx_convolver_layout_is_equal (const TfxConvolverLayout *a,
    const TfxConvolverLayout *b)
{
  bool is_equal = a->form == b->form && a->n_levels == b->n_levels;

  for (size_t i = 0; is_equal && i < a->n_levels; i++)
    is_equal = a->levels[i].size == b->levels[i].size &&
               a->levels[i].n_parts == b->levels[i].n_parts;
  return is_equal;
}

/* How many frames a call may have while another catches up. */
size_t
tfx_convolver_catch_up_frames (size_t block_frames)
{
  return block_frames < 1024    ? 1024
         : block_frames < 16384 ? block_frames
                                : 16384;
}
