/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir_shapes.c: what a FIR filter costs over a grid of lengths, channels, blocks and
 * types, and its worst block.
 *
 *   fir_shapes [KERNEL [TAPS]]
 *
 * A line for each shape: ns a sample, the worst block over the mean one, and the
 * layout.  A time is the shortest of N_TURNS; a block of a stream, which come round
 * with the longest partition, counts with the shortest of N_PASSES. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/backend.h"
#include "cpu/convolver-private.h"
#include "core/denormal.h"

#define N_TURNS 7
#define TURN_NS 1e6
#define N_PASSES 10

typedef struct Shape
{
  TfxConvolverTaps *taps;
  TfxConvolver *convolver;
  TfxBlock in, out;
  size_t n_blocks; /* until all work comes round */
} Shape;

static double
now_ns (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double
random_value (unsigned *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return (double)*seed / 4294967296.0 - 0.5;
}

static void *
new_values (size_t n)
{
  double *values = calloc (n, sizeof *values);

  if (!values) {
    fprintf (stderr, "error: out of memory\n");
    exit (1);
  }
  return values;
}

static void
shape_init (Shape *s, const TfxConvolverSpec *spec)
{
  const size_t n = spec->n_channels * spec->block_frames;
  void *in = new_values (n);
  size_t longest = 1;
  unsigned seed = 1;

  if (tfx_convolver_taps_new (spec, &s->taps) ||
      tfx_convolver_new (s->taps, &s->convolver)) {
    fprintf (stderr, "error: no convolver\n");
    exit (1);
  }
  for (size_t i = 0; i < n; i++) {
    if (spec->precision == TFX_SAMPLE_F32)
      ((float *)in)[i] = (float)random_value (&seed);
    else
      ((double *)in)[i] = random_value (&seed);
  }
  s->in = tfx_block_interleaved (in, spec->precision, spec->n_channels,
      spec->block_frames);
  s->out = tfx_block_interleaved (new_values (n), spec->precision,
      spec->n_channels, spec->block_frames);
  if (s->convolver->layout.form == TFX_CONVOLVER_PARTITIONED)
    longest =
        s->convolver->layout.levels[s->convolver->layout.n_levels - 1].size;
  s->n_blocks = (longest + spec->block_frames - 1) / spec->block_frames;
}

static void
shape_clear (Shape *s)
{
  tfx_convolver_free (&s->convolver);
  tfx_convolver_taps_unref (&s->taps);
  free (s->in.data);
  free (s->out.data);
}

static void
run_blocks (Shape *s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    tfx_convolver_run (s->convolver, &s->in, &s->out);
}

/* ns a sample */
static double
measure_mean (Shape *s)
{
  size_t n = s->n_blocks;
  double best = INFINITY, time;

  for (int turn = 0; turn < N_TURNS;) {
    time = now_ns (CLOCK_THREAD_CPUTIME_ID);
    run_blocks (s, n);
    time = now_ns (CLOCK_THREAD_CPUTIME_ID) - time;
    if (time < TURN_NS) {
      n *= 2;
      continue;
    }
    best = fmin (best, time / (double)n);
    turn++;
  }
  return best / ((double)s->in.n_frames * s->in.n_channels);
}

static double
measure_worst (Shape *s)
{
  double *best = new_values (s->n_blocks);
  double sum = 0.0, worst = 0.0;

  for (int pass = 0; pass < N_PASSES; pass++) {
    for (size_t i = 0; i < s->n_blocks; i++) {
      double time = now_ns (CLOCK_MONOTONIC);

      run_blocks (s, 1);
      time = now_ns (CLOCK_MONOTONIC) - time;
      best[i] = pass == 0 ? time : fmin (best[i], time);
    }
  }
  for (size_t i = 0; i < s->n_blocks; i++) {
    sum += best[i];
    worst = fmax (worst, best[i]);
  }
  free (best);
  return worst / (sum / (double)s->n_blocks);
}

static void
measure (const TfxConvolverSpec *spec)
{
  Shape shape;

  shape_init (&shape, spec);
  printf ("%6zu taps %u ch %5zu frames %s: %8.3f ns", spec->n_taps,
      spec->n_channels, spec->block_frames,
      spec->precision == TFX_SAMPLE_F32 ? "F32" : "F64", measure_mean (&shape));
  printf (", worst block %.2f, %s\n", measure_worst (&shape),
      tfx_convolver_taps_text (shape.taps));
  fflush (stdout);
  shape_clear (&shape);
}

int
main (int argc, char **argv)
{
  static const size_t lengths[] = { 11, 63, 101, 511, 2047, 16384, 65536,
    262144 };
  static const size_t frames[] = { 64, 256, 1024, 4096, 16384 };
  static const unsigned channels[] = { 1, 2, 8 };
  const char *kernel = argc > 1 ? argv[1] : tfx_cpu_backend ()->kernel;
  const size_t only = argc > 2 ? strtoul (argv[2], NULL, 10) : 0;
  double *taps = new_values (262144);
  const TfxDenormalMode mode = tfx_denormal_enter ();
  unsigned seed = 2;

  if (!tfx_cpu_backend_for (kernel)) {
    fprintf (stderr, "error: this machine lacks %s\n", kernel);
    return 1;
  }
  for (size_t i = 0; i < 262144; i++)
    taps[i] = 1e-3 * random_value (&seed);
  for (unsigned i = 0; i < 8 * 5 * 3 * 2; i++) {
    const TfxConvolverSpec spec = { .taps = taps,
      .n_taps = lengths[i / 30],
      .n_kernels = 1,
      .n_channels = channels[i / 2 % 3],
      .precision = (TfxSample)(i % 2),
      .block_frames = frames[i / 6 % 5],
      .kernel = kernel };

    if (only == 0 || only == spec.n_taps)
      measure (&spec);
  }
  tfx_denormal_leave (mode);
  free (taps);
  return 0;
}
