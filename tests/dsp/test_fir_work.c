/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_work.c: the work for long partitions is spread evenly: what the loops of
 * the FIR engine are called for is counted block by block, and weighed with their
 * costs by the engine's model.  No clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "cpu/convolver-private.h"
#include "fircase.h"
#include "tap.h"

/* The loops that count, and what they count: ns by the model. */
static const TfxConvolverOps *real;
static const TfxConvolverCost *cost;
static double work;

/* Of n leaves, which take turns. */
static double
count_products (const TfxTileSum *sum, size_t first, size_t n)
{
  const size_t n_all = sum->n[0] + sum->n[1];
  size_t n_products = 0;

  for (size_t i = first; i < first + n; i++) {
    const unsigned n_sums = tfx_tile_sums (sum, i);

    n_products += n_sums > 0 ? n_sums * n_all - (n_sums - 1) : 1;
  }
  return (double)(n_products * sum->n_terms);
}

#define PASSES(radix, number, per_value)                                       \
  static void split##radix (void *re, void *im, const void *a, const void *b,  \
      const void *factors, size_t n_blocks, size_t m, size_t n_columns)        \
  {                                                                            \
    work += (double)(radix * n_blocks * n_columns) * cost->per_value;          \
    real->split[number](re, im, a, b, factors, n_blocks, m, n_columns);        \
  }                                                                            \
  static void join##radix (void *re, void *im, const void *factors,            \
      size_t n_blocks, size_t m, size_t n_columns)                             \
  {                                                                            \
    work += (double)(radix * n_blocks * n_columns) * cost->per_value;          \
    real->join[number](re, im, factors, n_blocks, m, n_columns);               \
  }

#define LEAVES(group)                                                          \
  static void forward##group (void *tiles, size_t stride, const void *re,      \
      const void *im, const void *weights, size_t n)                           \
  {                                                                            \
    work += (double)n * cost->leaf[group];                                     \
    real->leaves_forward[group](tiles, stride, re, im, weights, n);            \
  }                                                                            \
  static void back##group (void *re, void *im, const void *tiles,              \
      size_t stride, const void *h, size_t h_stride, const void *weights,      \
      size_t n)                                                                \
  {                                                                            \
    work += (double)n *                                                        \
            (cost->leaf[group] + (h ? (double)TFX_LEAF * cost->sum : 0.0));    \
    real->leaves_back[group](re, im, tiles, stride, h, h_stride, weights, n);  \
  }

static void
sums (void *tiles, const TfxTileSum *sum, size_t first, size_t n)
{
  work += (double)TFX_LEAF * count_products (sum, first, n) * cost->sum;
  real->sums (tiles, sum, first, n);
}

PASSES (2, 0, pass)
PASSES (3, 1, pass)
PASSES (4, 2, pass)
LEAVES (0)
LEAVES (1)
LEAVES (2)

static TfxConvolverOps
count (const TfxConvolverOps *ops)
{
  TfxConvolverOps counting = *ops;

  counting.split[0] = split2, counting.split[1] = split3;
  counting.split[2] = split4;
  counting.join[0] = join2, counting.join[1] = join3;
  counting.join[2] = join4;
  counting.leaves_forward[0] = forward0, counting.leaves_forward[1] = forward1;
  counting.leaves_forward[2] = forward2;
  counting.leaves_back[0] = back0, counting.leaves_back[1] = back1;
  counting.leaves_back[2] = back2;
  counting.sums = sums;
  return counting;
}

/* From now on what the convolver does is counted. */
static void
count_work (TfxConvolver *c, const TfxConvolverOps *counting)
{
  real = c->ops;
  cost = &c->cost;
  c->ops = counting;
  for (size_t i = 0; i < c->layout.n_levels; i++)
    c->fft[i].ops = counting;
}

/* The block with the most work over the mean one.  n_taken is NULL for a convolver alone,
 * in the time of two of its longest partitions; otherwise another one catches up, and
 * gets the number of blocks until it has. */
static double
worst_block (const TfxConvolverSpec *spec, size_t *n_taken)
{
  const size_t n = spec->n_channels * spec->block_frames;
  TfxConvolver *source = fir_convolver_new (spec);
  TfxConvolver *late = n_taken ? fir_convolver_new (spec) : NULL;
  const TfxConvolverLayout *layout = &source->layout;
  const size_t n_blocks =
      layout->levels[layout->n_levels - 1].size / spec->block_frames;
  const size_t n_first = n_taken ? spec->n_taps / spec->block_frames : 1;
  TfxConvolverOps ops = count (source->ops);
  double *samples = test_alloc (n * sizeof *samples);
  const TfxBlock block = tfx_block_interleaved (samples, spec->precision,
      spec->n_channels, spec->block_frames);
  double sum = 0.0, most = 0.0;

  memset (samples, 0, n * sizeof *samples);
  if (late)
    count_work (late, &ops);
  count_work (source, &ops);
  for (size_t i = 0; i < (n_first + n_blocks - 1) / n_blocks * n_blocks; i++)
    tfx_convolver_run (source, &block, &block);
  for (size_t i = 0; i < 2 * n_blocks; i++) {
    work = 0.0;
    tfx_convolver_run (source, &block, &block);
    sum += work;
    most = fmax (most, work);
  }
  if (late) {
    size_t n_left = 1;

    tfx_convolver_catch_up_start (late, source);
    for (*n_taken = 0, most = 0.0; n_left > 0; ++*n_taken) {
      work = 0.0;
      tfx_convolver_run (source, &block, &block);
      n_left = tfx_convolver_catch_up (late, source, spec->block_frames);
      most = fmax (most, work);
    }
  }
  free (samples);
  tfx_convolver_free (&source);
  tfx_convolver_free (&late);
  return most / (sum / (double)(2 * n_blocks));
}

/* Checks that no block does `most` times the work of the mean one; of a change, that it
 * takes less than three lengths of the kernel as well. */
static void
check_work (const char *name, const size_t lengths[3], bool is_change,
    double most)
{
  static const unsigned channels[] = { 1, 2, 8, 3 };
  static const int matrix[9] = { 0, 0, 0, 0, -1, 0, -1, -1, -1 };
  const char *kernels[8];
  const size_t n_kernels = fir_kernels (kernels);
  double *noise = test_alloc (262144 * sizeof *noise);
  TapMany many = tap_many (name);
  double worst = 0.0, longest = 0.0;

  for (size_t i = 0; i < 262144; i++)
    noise[i] = 1.0 / (double)(i + 1);
  for (unsigned i = 0; i < 3 * 4 * 2 * 2; i++) {
    const TfxConvolverSpec spec = { .taps = noise,
      .n_taps = lengths[i % 3],
      .n_kernels = 1,
      .n_channels = channels[i / 3 % 4],
      .matrix = i / 3 % 4 == 3 ? matrix : NULL,
      .precision = i / 12 % 2 ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32,
      .block_frames = i / 24 ? 256 : 64,
      .kernel = kernels[n_kernels - 1] };
    size_t n_taken = 0;
    double ratio, n_lengths;

    /* the largest changes for one channel alone */
    if (is_change &&
        (spec.n_channels == 2 || (spec.n_taps > 100000 && spec.n_channels > 1)))
      continue;
    ratio = worst_block (&spec, is_change ? &n_taken : NULL);
    n_lengths = (double)(n_taken * spec.block_frames) / (double)spec.n_taps;
    worst = fmax (worst, ratio);
    longest = fmax (longest, n_lengths);
    tap_many_check (&many, ratio < most && n_lengths < 3.0,
        "%zu taps, %u channels, %s in %zu: %.2f, for %.2f lengths", spec.n_taps,
        spec.n_channels, spec.precision ? "F64" : "F32", spec.block_frames,
        ratio, n_lengths);
  }
  tap_many_end (&many);
  tap_diag ("at most %.2f times, for %.2f lengths of the kernel", worst,
      longest);
  free (noise);
}

static void
test_even (void)
{
  check_work ("no block does twice the work of the mean one",
      (const size_t[]){ 16384, 65536, 262144 }, false, 2.0);
}

static void
test_change (void)
{
  check_work ("no block of a change does 3.2 times the work",
      (const size_t[]){ 20000, 65536, 262144 }, true, 3.2);
}

static const TapTest tests[] = {
  { "even", test_even },
  { "change", test_change },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
