/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir_costs.c: measures what the loops of the FIR engine cost on this machine
 * and prints it as dsp/cpu/convolver-kernels.c has it.
 *
 * On an idle machine: each number is the shortest of many turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/convolver-private.h"
#include "cpu/convolver.h"

#define N_TURNS 300
#define TURN_NS 2e5

typedef void (*Work) (void *data);

static double
now_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns that one call of the work takes. */
static double
measure (Work work, void *data)
{
  double best = INFINITY;
  unsigned n = 1;

  for (int turn = 0; turn < N_TURNS; turn++) {
    double time;

    for (;;) {
      time = now_ns ();
      for (unsigned i = 0; i < n; i++)
        work (data);
      time = now_ns () - time;
      if (time >= TURN_NS)
        break;
      n *= 2;
    }
    best = fmin (best, time / n);
  }
  return best;
}

static void *
new_values (size_t n_bytes)
{
  void *values = aligned_alloc (64, (n_bytes + 63) / 64 * 64);

  if (!values) {
    fprintf (stderr, "error: out of memory\n");
    exit (1);
  }
  memset (values, 0, n_bytes);
  return values;
}

/* ---- direct form ---------------------------------------------------------- */

#define DIRECT_TAPS 1024
#define DIRECT_FRAMES 1024
#define SHORT_FRAMES 32

typedef struct Direct
{
  const TfxConvolverOps *ops;
  char *x, *y, *taps;
  size_t value_size, n_taps, n_frames;
} Direct;

static void
work_direct (void *data)
{
  Direct *d = data;

  d->ops->direct (d->y, d->x + DIRECT_TAPS * d->value_size, d->taps, d->n_taps,
      d->n_frames);
}

/* A tap of n_taps, for n_frames. */
static double
measure_direct (const TfxConvolverOps *ops, size_t value_size, size_t n_taps,
    size_t n_frames)
{
  Direct d = { ops, new_values (8 * 4096), new_values (8 * 4096),
    new_values (8 * 4096), value_size, n_taps, n_frames };
  const double ns = measure (work_direct, &d);

  free (d.x);
  free (d.y);
  free (d.taps);
  return ns / (double)n_taps;
}

/* ---- transforms and sums of products --------------------------------------- */

typedef struct Transform
{
  TfxFft fft;
  char *re, *im, *x, *h, *ahead;
  TfxTileTerm term;
  TfxTileSum sum;
} Transform;

static void
transform_init (Transform *t, const TfxConvolverOps *ops, TfxSample type,
    size_t size, size_t n_parts)
{
  const size_t value_size = type == TFX_SAMPLE_F32 ? 4 : 8;

  memset (t, 0, sizeof *t);
  if (tfx_fft_init (&t->fft, ops, type, size)) {
    fprintf (stderr, "error: no transform of %zu\n", size);
    exit (1);
  }
  t->re = new_values (size * value_size);
  t->im = new_values (size * value_size);
  t->x = new_values (2 * size * (n_parts + 1) * value_size);
  t->h = new_values (2 * size * (n_parts + 1) * value_size);
  t->ahead = new_values (2 * size * value_size);
  t->term = (TfxTileTerm){ { t->x, t->x }, t->h };
  t->sum.terms = &t->term;
  t->sum.n_terms = 1;
  t->sum.n[0] = n_parts;
  t->sum.x_stride = t->sum.h_stride = n_parts * TFX_TILE;
}

static void
transform_clear (Transform *t)
{
  tfx_fft_clear (&t->fft);
  free (t->re);
  free (t->im);
  free (t->x);
  free (t->h);
  free (t->ahead);
}

static void
work_leaves (void *data)
{
  Transform *t = data;

  tfx_fft_leaves_forward (&t->fft, 0, t->fft.n_leaves, t->re, t->im, t->x,
      TFX_TILE);
  tfx_fft_leaves_back (&t->fft, 0, t->fft.n_leaves, &t->sum, t->re, t->im);
}

static void
work_sums (void *data)
{
  Transform *t = data;

  t->sum.ahead = t->sum.n[0] < TFX_CONVOLVER_AHEAD_PARTS ? NULL : t->ahead;
  t->sum.is_known = true;
  t->sum.turn++;
  tfx_fft_leaves_back (&t->fft, 0, t->fft.n_leaves, &t->sum, t->re, t->im);
}

static void
work_passes (void *data)
{
  Transform *t = data;

  for (size_t i = 0; i < t->fft.n_passes; i++)
    tfx_fft_split (&t->fft, i, 0, 1, t->re, t->im, t->re, t->im);
  for (size_t i = t->fft.n_passes; i-- > 0;)
    tfx_fft_join (&t->fft, i, 0, 1, t->re, t->im);
}

/* With passes of radix 8 alone where there are any, and of radix 4 alone. */
#define SIZE 2048
#define SIZE_OF_FOURS 512

/* A leaf, one way, of a transform of `size`; on the way back one product, or a sum
 * of none. */
static double
measure_leaf (const TfxConvolverOps *ops, TfxSample type, size_t size,
    size_t n_products)
{
  Transform t;
  double ns;

  transform_init (&t, ops, type, size, 1);
  t.sum.n[0] = n_products;
  ns = measure (work_leaves, &t);
  ns /= 2.0 * (double)t.fft.n_leaves;
  transform_clear (&t);
  return ns;
}

/* A value in one pass, one way. */
static double
measure_pass (const TfxConvolverOps *ops, TfxSample type, size_t size)
{
  Transform t;
  double ns;

  transform_init (&t, ops, type, size, 1);
  ns = measure (work_passes, &t);
  ns /= 2.0 * (double)(t.fft.n_passes * size);
  transform_clear (&t);
  return ns;
}

/* A product, where the spectra take n_bytes in all. */
static double
measure_sum (const TfxConvolverOps *ops, TfxSample type, size_t n_bytes,
    double leaf_ns)
{
  const size_t value_size = type == TFX_SAMPLE_F32 ? 4 : 8;
  const size_t size = n_bytes < 65536 ? 256 : SIZE;
  const size_t n_parts = n_bytes / (4 * size * value_size);
  Transform t;
  double ns;

  transform_init (&t, ops, type, size, n_parts);
  ns = measure (work_sums, &t) - leaf_ns * (double)t.fft.n_leaves;
  ns /= (double)(size * n_parts);
  transform_clear (&t);
  return ns;
}

/* ---- a call ---------------------------------------------------------------- */

typedef struct Call
{
  TfxConvolver *convolver;
  TfxBlock block;
} Call;

static void
work_call (void *data)
{
  Call *c = data;
  tfx_convolver_run (c->convolver, &c->block, &c->block);
}

/* What a block of one channel costs besides its transforms. */
static double
measure_call (const TfxConvolverKernels *kernels, TfxSample type,
    const TfxConvolverCost *cost)
{
  static double samples[64], taps[64] = { 1.0 };
  const TfxConvolverSpec spec = { .taps = taps,
    .n_taps = 64,
    .n_kernels = 1,
    .n_channels = 1,
    .precision = type,
    .method = TFX_FIR_FFT,
    .block_frames = 64,
    .kernel = kernels->name };
  TfxConvolverTaps *ready;
  Call call = { NULL, tfx_block_planar (samples, type, 1, 64, 64) };
  double ns;

  if (tfx_convolver_taps_new (&spec, &ready) ||
      tfx_convolver_new (ready, &call.convolver)) {
    fprintf (stderr, "error: no convolver\n");
    exit (1);
  }
  ns = measure (work_call, &call) - tfx_convolver_layout_step_cost (cost, 64);
  tfx_convolver_free (&call.convolver);
  tfx_convolver_taps_unref (&ready);
  return ns > 0.0 ? ns : 0.0;
}

/* ---- the header ------------------------------------------------------------- */

static TfxConvolverCost
measure_type (const TfxConvolverKernels *kernels, TfxSample type)
{
  const TfxConvolverOps *ops = &kernels->ops[type];
  const size_t value_size = type == TFX_SAMPLE_F32 ? 4 : 8;
  TfxConvolverCost c;
  size_t n_taps;

  c.direct = measure_direct (ops, value_size, DIRECT_TAPS, DIRECT_FRAMES) /
             DIRECT_FRAMES;
  c.direct_call =
      fmax (0.0, measure_direct (ops, value_size, DIRECT_TAPS, SHORT_FRAMES) -
                     SHORT_FRAMES * c.direct);
  c.direct_few = kernels->cost[type].direct_few;
  n_taps = 2 * c.direct_few + 1;
  c.direct_frame =
      (double)n_taps *
      (measure_direct (ops, value_size, n_taps, DIRECT_FRAMES) / DIRECT_FRAMES -
          c.direct);
  c.leaf[0] = measure_leaf (ops, type, TFX_LEAF, 1);
  c.leaf[1] = measure_leaf (ops, type, 2 * TFX_LEAF, 1);
  c.leaf[2] = measure_leaf (ops, type, SIZE, 1);
  c.sum_leaf =
      fmax (0.0, 2.0 * (measure_leaf (ops, type, SIZE, 0) - c.leaf[2]));
  c.near_size = 32768 / (4 * value_size);
  c.pass = measure_pass (ops, type, SIZE_OF_FOURS);
  c.sum_near = measure_sum (ops, type, 24 * 1024, c.leaf[2] + c.sum_leaf);
  c.sum = measure_sum (ops, type, 512 * 1024, c.leaf[2] + c.sum_leaf);
  c.sum_far = measure_sum (ops, type, 16 * 1024 * 1024, c.leaf[2] + c.sum_leaf);
  c.call = measure_call (kernels, type, &c);
  c.head = tfx_convolver_costs (kernels, type)->head;
  return c;
}

static void
print_cost (const TfxConvolverCost *c, const char *end)
{
  printf ("    { %.4f, %.4f, %.4f, %zu, %.4f, %.4f, %.4f, { %.1f, %.1f, %.1f "
          "}, %.1f, %zu, "
          "%.4f, %.1f, %.1f }%s\n",
      c->direct, c->direct_call, c->direct_frame, c->direct_few, c->sum_near,
      c->sum, c->sum_far, c->leaf[0], c->leaf[1], c->leaf[2], c->sum_leaf,
      c->near_size, c->pass, c->call, c->head, end);
}

int
main (void)
{
  const char *name;

  for (size_t i = 0; (name = tfx_cpu_kernel (i)); i++) {
    const TfxConvolverKernels *kernels = tfx_convolver_kernels_for (name);
    TfxConvolverCost f32, f64;

    f32 = measure_type (kernels, TFX_SAMPLE_F32);
    f64 = measure_type (kernels, TFX_SAMPLE_F64);
    printf ("#define COST_%s { \\\n", name);
    print_cost (&f32, ", \\");
    print_cost (&f64, " \\");
    printf ("  }\n");
  }
  return 0;
}
