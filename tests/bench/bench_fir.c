/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_fir.c: the FIR engine, kernel by kernel and method by method, against
 * zita-convolver and scipy.signal.oaconvolve. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "changes.h"
#include "convolvers.h"
#include "oaconvolve.h"
#ifdef HAVE_ZITA
#include "zita.h"
#endif

/* Rounding of two engines in float. */
#define AGREEMENT_DB -100.0

typedef struct Fir
{
  Bench *bench;
  const char *kernels[4];
  unsigned n_kernels;
  const char *best;
  double *taps; /* noise that decays by 60 dB */
  size_t n_taps;
} Fir;

/* A filter of n_taps of its own decay. */
static const double *
make_taps (size_t n_taps)
{
  double *taps = malloc (n_taps * sizeof *taps);
  float *noise = malloc (n_taps * sizeof *noise);

  if (!taps || !noise) {
    fprintf (stderr, "error: no memory\n");
    exit (1);
  }
  bench_fill_noise (noise, n_taps);
  for (size_t i = 0; i < n_taps; i++)
    taps[i] = (float)(noise[i] * pow (10.0, -3.0 * (double)i / (double)n_taps));
  free (noise);
  return taps;
}

static void
free_taps (ConvolverCase *c)
{
  for (unsigned i = 0; i < c->n_filters; i++)
    free ((void *)c->taps[i]);
}

static ConvolverCase
describe (const Fir *fir, size_t n_taps, unsigned n_channels, size_t n_frames)
{
  ConvolverCase c = { .kernel = fir->best,
    .type = TFX_SAMPLE_F32,
    .n_channels = n_channels,
    .n_frames = n_frames,
    .n_filters = 1 };

  c.n_taps[0] = n_taps;
  c.taps[0] = make_taps (n_taps);
  return c;
}

static unsigned
add_core (Fir *fir, const ConvolverCase *c)
{
  BenchSubject subject;

  if (!convolvers_init_subject (&subject, c)) {
    bench_fail (fir->bench, "the core cannot run %zu taps", c->n_taps[0]);
    return BENCH_NONE;
  }
  return bench_add (fir->bench, &subject);
}

#ifdef HAVE_ZITA
static double
distance_db (const float *a, const float *b, size_t n)
{
  double error = 0.0, power = 0.0;

  for (size_t i = 0; i < n; i++) {
    error += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    power += (double)b[i] * b[i];
  }
  return 10.0 * log10 (error / power + 1e-30);
}

/* zita, after its first blocks were found to be ours. */
static unsigned
add_zita (Fir *fir, const ConvolverCase *c, bool is_uniform)
{
  const unsigned n_blocks = (unsigned)(c->n_taps[0] / c->n_frames) + 8;
  const size_t n = n_blocks * c->n_frames * c->n_channels;
  float *taps = malloc (c->n_taps[0] * sizeof *taps);
  float *ours = malloc (n * sizeof *ours), *out = malloc (n * sizeof *out);
  BenchSubject subject;
  unsigned number = BENCH_NONE;
  double distance;

  for (size_t i = 0; taps && i < c->n_taps[0]; i++)
    taps[i] = (float)c->taps[0][i];
  if (!taps || !ours || !out || !convolvers_filter_noise (c, n_blocks, ours) ||
      !zita_init_subject (&subject, taps, c->n_taps[0], c->n_channels,
          c->n_frames, is_uniform, n_blocks, out)) {
    bench_fail (fir->bench, "zita-convolver cannot run");
  } else {
    distance = distance_db (ours, out, n);
    number = bench_add (fir->bench, &subject);
    if (!(distance < AGREEMENT_DB))
      bench_fail (fir->bench, "zita-convolver's output differs by %.1f dB",
          distance);
  }
  free (taps);
  free (ours);
  free (out);
  return number;
}
#else
static unsigned
add_zita (Fir *fir, const ConvolverCase *c, bool is_uniform)
{
  return BENCH_NONE;
}
#endif

static unsigned
add_scipy (Fir *fir, size_t n_taps)
{
  BenchSubject subject;

  if (!oaconvolve_init_subject (&subject, n_taps, 1 << 20))
    return BENCH_NONE;
  return bench_add (fir->bench, &subject);
}

/* ---- groups ---------------------------------------------------------------- */

/* One length: every kernel, and the peers. */
static void
measure_length (Fir *fir, size_t n_taps, unsigned n_channels, size_t n_frames,
    bool is_uniform, double goal)
{
  ConvolverCase c;
  unsigned zita, best = BENCH_NONE;

  if (!bench_begin_group (fir->bench, "%zu taps, %u channel%s, blocks of %zu",
          n_taps, n_channels, n_channels == 1 ? "" : "s", n_frames))
    return;
  c = describe (fir, n_taps, n_channels, n_frames);
  zita = add_zita (fir, &c, is_uniform);
  bench_set_reference (fir->bench, zita);
  if (n_channels == 1)
    add_scipy (fir, n_taps);
  for (unsigned i = 0; i < fir->n_kernels; i++) {
    c.kernel = fir->kernels[i];
    best = add_core (fir, &c);
  }
  c.type = TFX_SAMPLE_F64;
  add_core (fir, &c);
  if (bench_measure (fir->bench) && zita != BENCH_NONE) {
    char what[80];
    snprintf (what, sizeof what, "%zu taps, blocks of %zu, %u ch", n_taps,
        n_frames, n_channels);
    bench_goal (fir->bench, what, goal, zita, best);
  }
  free_taps (&c);
}

/* Five filters of 101 to 105 taps, and the one that they are. */
static void
measure_fused (Fir *fir)
{
  ConvolverCase five, one;
  unsigned apart, fused;

  if (!bench_begin_group (fir->bench,
          "five filters of 101 to 105 taps, 1 channel, blocks of 1024"))
    return;
  five = describe (fir, 101, 1, 1024);
  for (five.n_filters = 1; five.n_filters < 5; five.n_filters++) {
    five.n_taps[five.n_filters] = 101 + five.n_filters;
    five.taps[five.n_filters] = make_taps (five.n_taps[five.n_filters]);
  }
  one = describe (fir, 511, 1, 1024);
  apart = add_core (fir, &five);
  fused = add_core (fir, &one);
  bench_set_reference (fir->bench, apart);
  if (bench_measure (fir->bench))
    bench_goal (fir->bench, "five filters as one", 2.0, apart, fused);
  free_taps (&five);
  free_taps (&one);
}

/* A matrix of n_in inputs and n_out outputs, and as many filters side by side as it has
 * kernels, without what copies their inputs and adds up their outputs. */
static void
measure_matrix (Fir *fir, unsigned n_in, unsigned n_out, size_t n_taps,
    size_t n_frames, double goal)
{
  const unsigned n = n_in > n_out ? n_in : n_out;
  int numbers[TFX_MIX_MAX_CHANNELS * TFX_MIX_MAX_CHANNELS];
  ConvolverCase matrix, apart;
  unsigned one, many;
  char what[80];

  snprintf (what, sizeof what, "%u to %u channels, %zu taps, blocks of %zu",
      n_in, n_out, n_taps, n_frames);
  if (!bench_begin_group (fir->bench, "matrix, %s", what))
    return;
  for (unsigned i = 0; i < n * n; i++)
    numbers[i] =
        i / n < n_out && i % n < n_in ? (int)(i / n * n_in + i % n) : -1;
  apart = describe (fir, n_in * n_out * n_taps, n_in * n_out, n_frames);
  apart.n_taps[0] = n_taps;
  apart.n_kernels = n_in * n_out;
  apart.n_outputs = n_out;
  matrix = apart;
  matrix.n_channels = n;
  matrix.matrix = numbers;
  many = add_core (fir, &apart);
  one = add_core (fir, &matrix);
  bench_set_reference (fir->bench, many);
  if (bench_measure (fir->bench))
    bench_goal (fir->bench, what, goal, many, one);
  free_taps (&apart);
}

/* The method that auto takes is the faster one. */
static void
measure_choice (Fir *fir, size_t n_taps, unsigned n_channels, size_t n_frames)
{
  ConvolverCase c;
  unsigned methods[3];
  double best;

  if (!bench_begin_group (fir->bench,
          "choice, %zu taps, %u channels, blocks of %zu", n_taps, n_channels,
          n_frames))
    return;
  c = describe (fir, n_taps, n_channels, n_frames);
  for (int i = 0; i < 3; i++) {
    c.method = (TfxFirMethod)i;
    methods[i] = add_core (fir, &c);
  }
  bench_set_reference (fir->bench, methods[TFX_FIR_AUTO]);
  if (bench_measure (fir->bench)) {
    char what[80];
    best = bench_median (fir->bench, methods[TFX_FIR_DIRECT]) <
                   bench_median (fir->bench, methods[TFX_FIR_FFT])
               ? TFX_FIR_DIRECT
               : TFX_FIR_FFT;
    snprintf (what, sizeof what, "auto against the best, %zu taps in %zu",
        n_taps, n_frames);
    bench_goal (fir->bench, what, 0.9, methods[(int)best],
        methods[TFX_FIR_AUTO]);
  }
  free_taps (&c);
}

static void
measure_worst (Fir *fir, size_t n_taps, unsigned n_channels, size_t n_frames)
{
  ConvolverCase c;
  double ratio;

  if (!bench_begin_group (fir->bench,
          "worst block, %zu taps, %u channels, blocks of %zu", n_taps,
          n_channels, n_frames))
    return;
  c = describe (fir, n_taps, n_channels, n_frames);
  ratio = convolvers_worst_block (&c);
  bench_note (fir->bench,
      "worst block, %zu taps, %u channels, blocks of %zu: %.2f times the mean "
      "(goal: at most 4)",
      n_taps, n_channels, n_frames, ratio);
  bench_figure (fir->bench, "worst block", n_channels, n_frames, ratio);
  free_taps (&c);
}

/* Another kernel while samples flow. */
static void
measure_change (Fir *fir, size_t n_taps, unsigned n_channels, size_t n_frames)
{
  ChangeTimes times;

  if (!bench_begin_group (fir->bench,
          "change, %zu taps, %u channels, blocks of %zu", n_taps, n_channels,
          n_frames))
    return;
  if (!changes_measure (fir->best, n_taps, n_channels, n_frames, &times)) {
    bench_fail (fir->bench, "no change of %zu taps", n_taps);
    return;
  }
  bench_note (fir->bench,
      "change, %zu taps, %u channels, blocks of %zu: worst block %.1f times "
      "the mean without, for %.2f s at 48 kHz; setting it %.3f ms, made ready "
      "before in %.1f ms",
      n_taps, n_channels, n_frames, times.worst / times.mean,
      (double)times.n_blocks * (double)n_frames / 48000.0, times.set * 1e-6,
      times.prepare * 1e-6);
  bench_figure (fir->bench, "mean, us", n_channels, n_frames,
      times.mean * 1e-3);
  bench_figure (fir->bench, "worst, us", n_channels, n_frames,
      times.worst * 1e-3);
  bench_figure (fir->bench, "set, us", n_channels, n_frames, times.set * 1e-3);
  bench_figure (fir->bench, "prepare, us", n_channels, n_frames,
      times.prepare * 1e-3);
  bench_figure (fir->bench, "seconds", n_channels, n_frames,
      (double)times.n_blocks * (double)n_frames / 48000.0);
}

static void
find_kernels (Fir *fir)
{
  const char *kernel;

  while ((kernel = tfx_cpu_kernel (fir->n_kernels)))
    fir->best = fir->kernels[fir->n_kernels++] = kernel;
}

int
main (int argc, char **argv)
{
  static const size_t choices[] = { 8, 32, 64, 96, 128, 160, 192, 256, 384,
    512 };
  static const size_t blocks[] = { 64, 256, 1024 };
  Fir fir = { .bench = bench_open (argc, argv, "fir") };
  const bool is_full = bench_is_full (fir.bench);

  find_kernels (&fir);
#ifndef HAVE_ZITA
  bench_note (fir.bench, "zita-convolver was not measured: this build found no "
                         "libzita-convolver-dev and C++ compiler");
#endif
  measure_length (&fir, 101, 1, 1024, true, 1.5);
  measure_length (&fir, 511, 1, 1024, true, 1.5);
  measure_length (&fir, 511, 8, 1024, true, 1.5);
  measure_fused (&fir);
  measure_length (&fir, 4096, 1, 256, false, 1.3);
  measure_length (&fir, 65536, 1, 256, false, 1.3);
  measure_length (&fir, 65536, 2, 256, false, 1.3);
  measure_length (&fir, 262144, 1, 1024, false, 1.3);
  measure_matrix (&fir, 2, 2, 65536, 256, 1.2);
  measure_matrix (&fir, 2, 2, 65536, 1024, 1.2);
  measure_matrix (&fir, 25, 2, 8192, 256, 1.2);
  measure_matrix (&fir, 25, 2, 8192, 1024, 1.2);
  if (is_full) {
    measure_length (&fir, 65536, 1, 64, false, 1.3);
    measure_length (&fir, 65536, 8, 256, false, 1.3);
    measure_length (&fir, 480000, 1, 256, false, 1.3);
  }
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
      if (is_full || blocks[k] == 1024)
        measure_choice (&fir, choices[i], 2, blocks[k]);
    }
  }
  for (unsigned channels = 1; channels <= 8; channels *= is_full ? 2 : 8) {
    measure_worst (&fir, 511, channels, 1024);
    measure_worst (&fir, 4096, channels, 256);
    measure_worst (&fir, 65536, channels, 64);
    measure_worst (&fir, 65536, channels, 256);
    measure_worst (&fir, 65536, channels, 1000);
    measure_worst (&fir, 65536, channels, 1024);
    measure_worst (&fir, 480000, channels, 256);
  }
  measure_change (&fir, 65536, 2, 256);
  measure_change (&fir, 480000, 2, 256);
  measure_change (&fir, 480000, 2, 1024);
  return bench_close (&fir.bench);
}
