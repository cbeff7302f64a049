/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-layout.c: chooses the cheapest form of a FIR filter, by a model of the
 * costs of the loops (convolver-kernels.c).
 *
 * The partitions follow a rule: the head has blocks of the caller's length H, the
 * next levels 8 H, 64 H, 512 H ...  A level goes to the end of the taps if that
 * takes no more than LAST_PARTS partitions (half of that where outputs are sums of several
 * inputs: they have more products for each transform), and the last one is half as long if
 * it would have less than FEW_PARTS.  Measured, hardly any other sizes are more than
 * 10 % faster (tests/bench/fir_layouts.c).
 *
 * Costs are in ns for a frame of one output, K taps, B the size of a
 * partition, F(B) a transform of B complex values one way:
 *
 *   direct        K (direct + direct_call / frames of a call) + direct_frame
 *   block         2 F(N) for every 2 N - K + 1 frames, or up to 15 less
 *   level         FAR_TRANSFORM 2 F(B) / B + n_parts sum + sum_leaf / 32
 *   head          2 F(B) / B + n_parts sum + sum_leaf / 32, and B direct for frames
 *                 of blocks that come in several calls
 *
 * Of a matrix all but the transforms back counts for each input of the output. */
#include "convolver-private.h"

#include <math.h>

/* Spectra of a level in the caches next to the core. */
#define NEAR_BYTES 32768.0
#define MIDDLE_BYTES 786432.0

/* Of floats the direct form is more exact: it may cost more. */
#define DIRECT_PREFERENCE_F32 0.9

/* The fixed cost of a direct call, as a share of that of a call with transforms. */
#define DIRECT_CALL 0.5

/* Transforms in steps, between which others run: their data has left the caches. */
#define FAR_TRANSFORM 2.1

/* Transforms that do not fit into the first-level cache, and do not by far. */
#define LARGE_TRANSFORM 1.1
#define HUGE_TRANSFORM 1.3

/* The output of the head is copied, at this share of a pass. */
#define HEAD_COPY 1.0

/* Products for one block at a time, whose spectra are read for it alone. */
#define ALONE 1.5

/* Sizes of the form block: powers of two up to 65536, and those between. */
#define N_BLOCK_SIZES 12

/* Sizes of the partitions. */
#define LEVEL_RATIO 8
#define LAST_PARTS 48
#define FEW_PARTS 12
#define UNKNOWN_HEAD 128
/* Products for a frame that the head leaves to the direct form, at the most. */
#define PARTIAL_TAPS 64.0

/* The taps that are computed. */
static size_t
n_core (const TfxConvolverSpec *spec)
{
  return spec->n_taps - spec->n_leading - spec->n_trailing;
}

double
tfx_convolver_layout_leaf_cost (const TfxConvolverCost *cost, size_t size)
{
  const size_t n_leaves = size / TFX_LEAF;

  return cost->leaf[n_leaves % 4 == 0 ? 2 : n_leaves % 2 == 0 ? 1 : 0];
}

/* Passes of radix 2 and 4 have about the same cost: both are bound by loads and
 * stores. */
double
tfx_convolver_layout_pass_cost (const TfxConvolverCost *cost, size_t size)
{
  double n = 0.0;

  for (size_t left = size / TFX_LEAF; left > 1;) {
    n += cost->pass;
    left /= tfx_fft_radix (left);
  }
  return n * (double)size;
}

double
tfx_convolver_layout_step_cost (const TfxConvolverCost *cost, size_t size)
{
  const double passes = tfx_convolver_layout_pass_cost (cost, size);
  const double leaves =
      (double)(size / TFX_LEAF) * tfx_convolver_layout_leaf_cost (cost, size);

  return 2.0 * (passes + leaves) *
         (size > 3 * cost->near_size   ? HUGE_TRANSFORM
             : size >= cost->near_size ? LARGE_TRANSFORM
                                       : 1.0);
}

/* ns for a call of n_frames by the direct form. */
static double
direct_cost (const TfxConvolverCost *cost, size_t n_taps, size_t n_frames)
{
  const double frame = n_taps > cost->direct_few ? cost->direct_frame : 0.0;

  return DIRECT_CALL * cost->call +
         (double)n_taps *
             ((double)n_frames * cost->direct + cost->direct_call) +
         (double)n_frames * frame;
}

/* What an output takes besides one transform each way and one product. */
typedef struct Paths
{
  double ins;   /* inputs for each output */
  double terms; /* products for each */
} Paths;

/* ns for the transforms of a step of `size`. */
static double
step_cost (const TfxConvolverCost *cost, const Paths *paths, size_t size)
{
  return tfx_convolver_layout_step_cost (cost, size) * (paths->ins + 1.0) / 2.0;
}

/* The most frames of a call by the direct form that take less than `most` ns. */
static size_t
count_few (const TfxConvolverCost *cost, size_t n_taps, double most)
{
  const double call = direct_cost (cost, n_taps, 0);
  const double n = (most - call) / (direct_cost (cost, n_taps, 1) - call);

  return n > 0.0 ? (size_t)n : 0;
}

/* A frame of the direct form, in calls of block_frames. */
static double
direct_frame_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    const Paths *paths, size_t n_taps)
{
  const size_t n_frames = spec->block_frames > 0 ? spec->block_frames : 1024;

  return direct_cost (cost, n_taps, n_frames) * paths->terms / (double)n_frames;
}

/* ---- one transform for each call ------------------------------------------ */

size_t
tfx_convolver_layout_next (const TfxConvolverLayout *layout, size_t n,
    size_t *level)
{
  if (n <= layout->n_few) {
    *level = layout->n_levels;
    return n;
  }
  *level = layout->n_levels - 1;
  while (*level > 0 && layout->levels[*level].n_step < n)
    --*level;
  return n < layout->levels[*level].n_step ? n : layout->levels[*level].n_step;
}

/* The layout becomes that of the form block with a largest transform of `size`, and
 * smaller ones for shorter calls. */
static void
lay_out_block (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    const Paths *paths, size_t size, TfxConvolverLayout *layout)
{
  const size_t n = n_core (spec);
  const size_t n_frames = spec->block_frames < TFX_CONVOLVER_MAX_SEGMENT
                              ? spec->block_frames
                              : TFX_CONVOLVER_MAX_SEGMENT;
  double one[TFX_CONVOLVER_MAX_LEVELS], total = 0.0;
  size_t i = 0;

  *layout = (TfxConvolverLayout){ TFX_CONVOLVER_BLOCK };
  do {
    const size_t n_most = 2 * size - (n - 1);

    one[i] = cost->call + step_cost (cost, paths, size);
    if (paths->terms > 1.0)
      one[i] +=
          (double)size * (cost->sum_leaf / TFX_LEAF + paths->terms * cost->sum);
    /* Rounded down, so that the next frames start at a cache line. */
    layout->levels[i++] = (TfxConvolverLevel){ .size = size,
      .n_parts = 1,
      .n_step = n_most < TFX_LEAF ? n_most : n_most / 16 * 16 };
    size /= 2;
  } while (i < TFX_CONVOLVER_MAX_LEVELS && size % TFX_LEAF == 0 &&
           2 * size >= n + TFX_LEAF);
  layout->n_levels = i;
  if (spec->method != TFX_FIR_FFT)
    layout->n_few = count_few (cost, n, one[i - 1] / paths->terms);
  for (size_t at = 0, n_done, level; at < n_frames; at += n_done) {
    n_done = tfx_convolver_layout_next (layout, n_frames - at, &level);
    total +=
        level < i ? one[level] : direct_cost (cost, n, n_done) * paths->terms;
  }
  layout->cost = total / (double)n_frames;
}

/* ---- partitions ------------------------------------------------------------ */

/* The share of frames in blocks of `size` that no call covers wholly.
 * The starts of calls lie on multiples of gcd (block_frames, size). */
static double
partial_share (const TfxConvolverSpec *spec, size_t size)
{
  size_t a = spec->block_frames, b = size;
  double share;

  if (spec->block_frames == 0)
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

/* A frame of a level.  *n_values: values of the spectra of the levels before, all of
 * which are used before these are again; with those of the level then. */
static double
level_cost (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    const Paths *paths, const TfxConvolverLevel *level, double *n_values)
{
  const double size = (double)level->size, n_parts = (double)level->n_parts;
  const double n_products = n_parts * paths->terms;
  const bool is_head = level->first == 0;
  const bool is_alone =
      level->n_parts < TFX_CONVOLVER_AHEAD_PARTS || level->size < 2 * TFX_LEAF;
  const double n_reads = is_alone ? ALONE : 1.0;
  double n =
      step_cost (cost, paths, level->size) * (is_head ? 1.0 : FAR_TRANSFORM);
  double n_bytes;

  *n_values +=
      2.0 * size * n_parts * (double)(spec->n_channels + spec->n_kernels);
  n_bytes = *n_values * (spec->precision == TFX_SAMPLE_F32 ? 4 : 8);
  n /= size;
  if (n_products > 1.0)
    n += cost->sum_leaf / TFX_LEAF +
         n_products * (n_bytes <= NEAR_BYTES        ? cost->sum_near
                          : n_bytes <= MIDDLE_BYTES ? cost->sum * n_reads
                                                    : cost->sum_far * n_reads);
  if (is_head)
    n += (cost->call + cost->head) / size + HEAD_COPY * cost->pass +
         partial_share (spec, level->size) *
             direct_frame_cost (spec, cost, paths, level->size);
  return n;
}

static void
lay_out_partitions (const TfxConvolverSpec *spec, const TfxConvolverCost *cost,
    const Paths *paths, TfxConvolverLayout *layout)
{
  size_t size = spec->block_frames > 0 ? TFX_LEAF : UNKNOWN_HEAD, first = 0;
  const size_t last_parts = paths->terms > 1.0 ? LAST_PARTS / 2 : LAST_PARTS;
  double n_values = 0.0;

  *layout = (TfxConvolverLayout){ TFX_CONVOLVER_PARTITIONED };
  /* The largest head that leaves few products to the direct form. */
  while (2 * size <= spec->block_frames && size < TFX_CONVOLVER_MAX_SEGMENT &&
         partial_share (spec, 2 * size) * (double)(2 * size) <= PARTIAL_TAPS)
    size *= 2;
  while (first < n_core (spec)) {
    TfxConvolverLevel *level = &layout->levels[layout->n_levels++];
    size_t next = LEVEL_RATIO * size;

    if (n_core (spec) < (2 + FEW_PARTS) * next)
      next /= 2;
    *level = (TfxConvolverLevel){ .size = size, .first = first };
    level->n_parts = (n_core (spec) - first + size - 1) / size;
    if (level->n_parts > last_parts && next <= TFX_CONVOLVER_MAX_LEVEL)
      level->n_parts = (2 * next - first) / size;
    layout->cost += level_cost (spec, cost, paths, level, &n_values);
    first += level->n_parts * size;
    size = next;
  }
}

void
tfx_convolver_layout_choose (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayout *layout)
{
  /* TFX_FIR_DIRECT sums in double. */
  const TfxSample type =
      spec->method == TFX_FIR_DIRECT ? TFX_SAMPLE_F64 : spec->precision;
  const TfxConvolverCost *cost = tfx_convolver_costs (kernels, type);
  const TfxConvolverPaths all = tfx_convolver_paths_count (spec);
  const Paths paths = { tfx_convolver_paths_ins (&all),
    tfx_convolver_paths_mean (&all) };
  TfxConvolverLayout other;

  *layout = (TfxConvolverLayout){ TFX_CONVOLVER_DIRECT, .n_few = SIZE_MAX };
  layout->cost = direct_frame_cost (spec, cost, &paths, n_core (spec));
  if (spec->precision == TFX_SAMPLE_F32)
    layout->cost *= DIRECT_PREFERENCE_F32;
  if (spec->method == TFX_FIR_DIRECT)
    return;
  lay_out_partitions (spec, cost, &paths, &other);
  if (spec->method == TFX_FIR_FFT || other.cost < layout->cost)
    *layout = other;
  for (size_t i = 0; spec->block_frames > 0 && i < 2 * N_BLOCK_SIZES; i++) {
    const size_t size = (i % 2 ? TFX_LEAF * 3 / 2 : TFX_LEAF) << i / 2;

    if (2 * size < n_core (spec) || size % TFX_LEAF > 0)
      continue;
    lay_out_block (spec, cost, &paths, size, &other);
    if (other.cost < layout->cost)
      *layout = other;
  }
}

bool
tfx_convolver_layout_is_equal (const TfxConvolverLayout *a,
    const TfxConvolverLayout *b)
{
  bool is_equal =
      a->form == b->form && a->n_levels == b->n_levels && a->n_few == b->n_few;

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
