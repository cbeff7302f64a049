/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-layout.c: the form in which a FIR filter costs least, by a model
 * of what the loops cost (convolver-cost.h).
 *
 * Costs are in ns for a frame of one channel, K taps, B the size of a
 * partition, F(B) a transform of B complex values one way:
 *
 *   direct        K (direct + direct_call / frames of a call)
 *   block         2 F(N) + N sum for every 2 N - K + 1 frames
 *   level         FAR_TRANSFORM 2 F(B) / B + n_parts sum
 *   head          2 F(B) / B + n_parts sum, and B direct for frames of blocks
 *                 that do not lie in one call
 *
 * All layouts whose partitions are powers of two are tried.
 * tests/bench/fir_layouts.c finds those that would have been better. */
#include "convolver-layout.h"

#include "convolver-fft.h"

#include <math.h>

/* Spectra of a level in the caches next to the core. */
#define NEAR_BYTES 32768.0
#define MIDDLE_BYTES 786432.0

/* The direct form is more exact: it may cost a little more. */
#define DIRECT_PREFERENCE 0.95

/* Transforms that are done in steps, between which others run: what they need has
 * left the caches. */
#define FAR_TRANSFORM 2.0

/* The largest transform of the form block. */
#define BLOCK_MAX_SIZE 65536
/* The largest partition at the beginning of the taps. */
#define HEAD_MAX_SIZE TFX_CONVOLVER_MAX_SEGMENT

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

/* What looks at the layouts, one after the other. */
typedef struct Search
{
  const TfxConvolverSpec *spec;
  const TfxConvolverCost *cost;
  TfxConvolverLayoutVisit visit;
  void *data;
  double most; /* those that cost more are of no interest */
} Search;

static void
visit (Search *search, const TfxConvolverLayout *layout)
{
  if (layout->cost < search->most)
    search->most = search->visit (search->data, layout);
}

static void
try_block (Search *search, size_t size)
{
  const size_t n = n_core (search->spec);
  TfxConvolverSpec segments = *search->spec;
  TfxConvolverLayout layout = { TFX_CONVOLVER_BLOCK };

  if (segments.block_frames > TFX_CONVOLVER_MAX_SEGMENT)
    segments.block_frames = TFX_CONVOLVER_MAX_SEGMENT;
  if (2 * size < n || size % TFX_LEAF != 0)
    return;
  layout.cost = block_cost (&segments, search->cost, size);
  /* and smaller ones for shorter calls */
  do {
    layout.levels[layout.n_levels++] = (TfxConvolverLevel){ size, 1, 0 };
    size /= 2;
  } while (layout.n_levels < TFX_CONVOLVER_MAX_LEVELS && size % TFX_LEAF == 0 &&
           2 * size >= n + TFX_LEAF);
  visit (search, &layout);
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

/* Of a product, where n_values come and go until it is due again. */
static double
sum_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    double n_values)
{
  const double n_bytes = n_values * (spec->precision == TFX_SAMPLE_F32 ? 4 : 8);

  return n_bytes <= NEAR_BYTES     ? cost->sum_near
         : n_bytes <= MIDDLE_BYTES ? cost->sum
                                   : cost->sum_far;
}

/* The values of the spectra of taps and signal. */
static double
count_values (const TfxConvolverSpec *spec, const TfxConvolverLevel *level)
{
  return 2.0 * (double)level->size * (double)level->n_parts *
         (double)(spec->n_channels + spec->n_kernels);
}

/* n_before: values of the spectra of shorter partitions, which are all used
 * before these are again. */
static double
level_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    const TfxConvolverLevel *level, double n_before)
{
  const double size = (double)level->size;
  double n = 2.0 * transform_cost (cost, level->size) / size *
                 (level->first == 0 ? 1.0 : FAR_TRANSFORM) +
             (double)level->n_parts *
                 sum_cost (spec, cost, n_before + count_values (spec, level));

  if (level->first == 0)
    n += cost->call / size + partial_share (spec, level->size) *
                                 direct_frame_cost (spec, cost, level->size);
  return n;
}

/* Levels from number `n` on, the previous ones are laid out, cost `so_far` and
 * have n_before values; level n has the size and starts at first. */
static void
try_levels (Search *search, TfxConvolverLayout *trial, size_t n, size_t size,
    double so_far, double n_before)
{
  const TfxConvolverSpec *spec = search->spec;
  TfxConvolverLevel *level = &trial->levels[n];

  level->size = size;
  level->first = n == 0 ? 0 : 2 * size;
  level->n_parts = (n_core (spec) - level->first + size - 1) / size;
  trial->n_levels = n + 1;
  trial->cost = so_far + level_cost (spec, search->cost, level, n_before);
  visit (search, trial);
  if (n + 1 == TFX_CONVOLVER_MAX_LEVELS)
    return;
  for (size_t next = 2 * size;
       2 * next < n_core (spec) && next <= (size_t)1
                                               << TFX_CONVOLVER_MAX_LEVEL_BITS;
       next *= 2) {
    double c;
    level->n_parts = (2 * next - level->first) / size;
    c = so_far + level_cost (spec, search->cost, level, n_before);
    if (c < search->most)
      try_levels (search, trial, n + 1, next, c,
          n_before + count_values (spec, level));
  }
}

void
tfx_convolver_layout_visit (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayoutVisit function,
    void *data)
{
  const TfxConvolverCost *cost = &kernels->cost[spec->precision];
  Search search = { spec, cost, function, data, INFINITY };
  TfxConvolverLayout trial = { TFX_CONVOLVER_DIRECT };

  trial.cost =
      DIRECT_PREFERENCE * direct_frame_cost (spec, cost, n_core (spec));
  if (spec->method != TFX_FIR_FFT)
    visit (&search, &trial);
  if (spec->method == TFX_FIR_DIRECT)
    return;
  trial.form = TFX_CONVOLVER_PARTITIONED;
  for (size_t size = TFX_LEAF; size <= HEAD_MAX_SIZE; size *= 2) {
    /* A block longer than a call would come due in one call of several. */
    if (size > TFX_LEAF && spec->block_frames > 0 && size > spec->block_frames)
      break;
    try_levels (&search, &trial, 0, size, 0.0, 0.0);
  }
  if (spec->block_frames == 0 || spec->is_reproducible)
    return;
  for (size_t size = TFX_FFT_MIN_SIZE; size <= BLOCK_MAX_SIZE; size *= 2) {
    try_block (&search, size);
    try_block (&search, size / 2 * 3);
  }
}

static double
keep_best (void *data, const TfxConvolverLayout *layout)
{
  *(TfxConvolverLayout *)data = *layout;
  return layout->cost;
}

void
tfx_convolver_layout_choose (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayout *layout)
{
  tfx_convolver_layout_visit (spec, kernels, keep_best, layout);
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
  return block_frames < 1024                        ? 1024
         : block_frames < TFX_CONVOLVER_MAX_SEGMENT ? block_frames
                                                    : TFX_CONVOLVER_MAX_SEGMENT;
}
