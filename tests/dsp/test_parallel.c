/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_parallel.c: cascades that run as a sum of sections: when, how exactly, and
 * their state as that of the sections in a row.
 */
#include "core/backend.h"
#include "common.h"
#include "cpu/cascade-private.h"
#include "tap.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define MAX_SECTIONS TFX_PARALLEL_MAX_SECTIONS

/* What dsp/cpu/cascade-parallel.c promises: rounding at most so far below the
 * loudest sine of the same height. */
#define NOISE 0x1p-38

/* Several designs in a row. */
typedef struct Chain
{
  const char *name;
  bool is_sum;
  TfxDesign designs[6];
} Chain;

#define LOW(ORDER, HZ)                                                         \
  {                                                                            \
    TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, ORDER, HZ, 0, 0, 0              \
  }
#define HIGH(ORDER, HZ)                                                        \
  {                                                                            \
    TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, ORDER, HZ, 0, 0, 0             \
  }
#define HIGH1(ORDER, HZ)                                                       \
  {                                                                            \
    TFX_FAMILY_CHEBYSHEV1, TFX_MODE_HIGH_PASS, ORDER, HZ, 0, 0.5, 0            \
  }

static const Chain chains[] = {
  { "the api chain", true,
      { HIGH1 (2, 20), HIGH1 (2, 60), HIGH1 (2, 65), LOW (2, 5000),
          LOW (2, 4900), LOW (2, 4850) } },
  { "Butterworth low 16, 1000 Hz", true, { LOW (16, 1000) } },
  { "Butterworth 5, 300 to 3400 Hz", true, { HIGH (5, 300), LOW (5, 3400) } },
  { "Butterworth 8, 300 to 3400 Hz", true, { HIGH (8, 300), LOW (8, 3400) } },
  { "three of first order", true,
      { HIGH (1, 30), HIGH (1, 100), LOW (1, 9000), LOW (8, 2000) } },
  { "Chebyshev 1 band 12", true,
      { { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_BAND_PASS, 12, 300, 3400, 0.1,
          0 } } },
  { "Chebyshev 2 high 12", true,
      { { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_HIGH_PASS, 12, 1000, 0, 0, 60 } } },
  { "the same filter twice", false, { LOW (6, 1000), LOW (6, 1000) } },
  { "nearly the same filter", false, { LOW (6, 1000), LOW (6, 1000.001) } },
  { "poles too near to 1", false, { LOW (10, 20) } },
  { "steep and far from the band", false, { HIGH (16, 100) } },
};
#define N_CHAINS (sizeof chains / sizeof chains[0])

static size_t
chain_sections (const Chain *c, TfxSos *sos)
{
  size_t n = 0;

  for (unsigned i = 0; i < 6 && c->designs[i].order > 0; i++) {
    const int more = tfx_design_sections (&c->designs[i], RATE, sos + n);

    n += more > 0 ? (size_t)more : 0;
  }
  return n;
}

/* Of sections whose poles are away from one another; true if it may be a sum. */
static bool
random_sections (TfxSos *sos, size_t n, TfxParallelPart *parts, double *direct)
{
  for (size_t k = 0; k < n; k++)
    sos[k] = test_random_section (0.98);
  return tfx_cascade_parallel_set (sos, n, parts, direct);
}

/* |H| in double is good enough here. */
static double
largest_gain (const TfxSos *sos, size_t n)
{
  double most = 0;

  for (unsigned i = 0; i <= 4096; i++) {
    const TfxComplex h = tfx_response_at (sos, n, i * i, 4096.0 * 8192.0);

    most = fmax (most, hypot (h.re, h.im));
  }
  return most;
}

static void
check_choice (const TfxSos *sos, size_t n, bool is_sum, const char *name)
{
  TfxParallelPart parts[MAX_SECTIONS];
  double direct;

  tap_check (tfx_cascade_parallel_set (sos, n, parts, &direct) == is_sum,
      "%s: %s", name, is_sum ? "a sum" : "no sum");
}

static void
test_choice (void)
{
  TfxSos sos[MAX_SECTIONS];

  for (size_t i = 0; i < N_CHAINS; i++)
    check_choice (sos, chain_sections (&chains[i], sos), chains[i].is_sum,
        chains[i].name);
}

/* A zero on a pole, and poles at 0: a sum would not show the state of one of the sections.  And
 * zeros that together leave little of one of two real poles, whose state would be no number. */
static void
test_hidden (void)
{
  static const TfxSos first = { 1, -0.4, 0.3, -1.2, 0.6 };
  static const TfxSos second = { 1, -1.2, 0.6, -0.3, 0.2 };
  static const TfxSos delay = { 0.3, 0.2, 0.1, 0, 0 };
  const Chain chain = { "", false, { HIGH (18, 12000) } };
  TfxSos sos[MAX_SECTIONS];
  const size_t n = chain_sections (&chain, sos);

  check_choice ((TfxSos[]){ second, first }, 2, false, "a zero on a pole");
  check_choice ((TfxSos[]){ first, second }, 2, true, "a pole on a zero");
  check_choice ((TfxSos[]){ delay, delay }, 2, false, "poles at 0");
  check_choice ((TfxSos[]){ first, first }, 2, false, "a section twice");
  sos[n] = (TfxSos){ 0.017, 0.032, 0.002, -1.299, 0.3495 };
  check_choice (sos, n + 1, false, "a slow pole after high-passes");
}

/* The bound on errors, of an input up to 1: the larger of the bound on sums and of the error of
 * the sections in series, which have their state in double too.  Peaks are four times the mean
 * of noise. */
static double
allowed_error (const TfxSos *sos, size_t n_sos)
{
  const size_t n = 4096;
  double *x = test_alloc (n * sizeof *x), worst = 0;
  long double *want = test_alloc (n * sizeof *want);

  test_noise_f64 (x, n);
  test_run_long (sos, n_sos, x, want, n);
  test_run_f64 (sos, n_sos, x, x, n, NULL);
  for (size_t i = 0; i < n; i++)
    worst = fmax (worst, fabs ((double)(x[i] - want[i])));
  free (want);
  free (x);
  return 4 * fmax (worst, NOISE * largest_gain (sos, n_sos));
}

/* x through the sum in double, with the state u. */
static double
step_sum (const TfxSos *sos, size_t n, const TfxParallelPart *parts,
    double direct, double (*u)[2], double x)
{
  double y = direct * x;

  for (size_t k = 0; k < n; k++) {
    const double next = x - sos[k].a2 * u[k][1] - sos[k].a1 * u[k][0];

    y += parts[k].c1 * u[k][0] + parts[k].c2 * u[k][1];
    u[k][1] = u[k][0];
    u[k][0] = next;
  }
  return y;
}

static long double
step_row (const TfxSos *sos, size_t n, long double (*s)[2], long double x)
{
  for (size_t k = 0; k < n; k++) {
    const long double y = sos[k].b0 * x + s[k][0];

    s[k][0] = sos[k].b1 * x - sos[k].a1 * y + s[k][1];
    s[k][1] = sos[k].b2 * x - sos[k].a2 * y;
    x = y;
  }
  return x;
}

/* The largest error, of an input up to 1, where the sum runs for a while, then the
 * sections in a row, then the sum again. */
static double
error_of_turns (const TfxSos *sos, size_t n, const TfxParallelPart *parts,
    double direct, size_t turn)
{
  long double exact[MAX_SECTIONS][2] = { { 0 } }, row[MAX_SECTIONS][2];
  double u[MAX_SECTIONS][2] = { { 0 } }, s[MAX_SECTIONS][2];
  double worst = 0;

  for (size_t t = 0; t < 5 * turn; t++) {
    const double x = tap_random_uniform (-1, 1);
    const long double want = step_row (sos, n, exact, x);
    const bool is_row = t / turn % 2 == 1;
    double error;

    if (t % turn == 0 && is_row) {
      tfx_cascade_parallel_export (sos, n, u, s);
      for (size_t k = 0; k < 2 * n; k++)
        row[k / 2][k % 2] = s[k / 2][k % 2];
    } else if (t % turn == 0 && t > 0) {
      for (size_t k = 0; k < 2 * n; k++)
        s[k / 2][k % 2] = (double)row[k / 2][k % 2];
      tfx_cascade_parallel_import (sos, n, s, u);
    }
    error = (double)fabsl ((is_row ? step_row (sos, n, row, x)
                                   : step_sum (sos, n, parts, direct, u, x)) -
                           want);
    if (!(error <= worst))
      worst = error;
  }
  return worst;
}

static void
check_turns (TapMany *many, double *worst, const char *name, const TfxSos *sos,
    size_t n)
{
  TfxParallelPart parts[MAX_SECTIONS];
  double direct, error, allowed;

  if (!tfx_cascade_parallel_set (sos, n, parts, &direct))
    return;
  error = error_of_turns (sos, n, parts, direct, 4096);
  allowed = allowed_error (sos, n);
  *worst = fmax (*worst, error / allowed);
  tap_many_check (many, error <= allowed, "%s, %zu sections: %g, allowed %g",
      name, n, error, allowed);
}

static void
test_turns (void)
{
  TapMany many = tap_many ("a sum is the cascade, and their states are one");
  TfxParallelPart parts[MAX_SECTIONS];
  TfxSos sos[MAX_SECTIONS];
  double direct, worst = 0;
  unsigned n_sums = 0;

  for (size_t i = 0; i < N_CHAINS; i++)
    check_turns (&many, &worst, chains[i].name, sos,
        chain_sections (&chains[i], sos));
  for (unsigned i = 0; i < 100; i++) {
    const size_t n = 1 + i % MAX_SECTIONS;

    n_sums += random_sections (sos, n, parts, &direct);
    check_turns (&many, &worst, "at random", sos, n);
  }
  tap_diag ("%u of 100 at random are sums; at worst %.2f of the error allowed",
      n_sums, worst);
  tap_many_end (&many);
  tap_check (n_sums >= 30, "many at random are sums");
}

/* NULL: not here. */
static const TfxKernels *
find_kernels (unsigned k)
{
  const TfxBackend *backend = test_backend_for (test_kernels[k]);

  return backend ? backend->data : NULL;
}

static const char *
name_of (const TfxKernels *kernels)
{
  const bool is_here =
      kernels->halves == tfx_kernels_for (kernels->name)->halves;

  return is_here ? kernels->name : test_kernels[TEST_N_KERNELS - 1];
}

static TfxCascade *
make_cascade (const TfxKernels *kernels, unsigned n_channels, const TfxSos *sos,
    size_t n_sos, double gain)
{
  TfxCascade *cascade;

  if (tfx_cascade_new (kernels, n_channels, n_sos, &cascade) < 0)
    abort ();
  tfx_cascade_set_sections (cascade, sos, gain);
  return cascade;
}

/* The error of the output of an F32 stream as a part of it, in dB. */
static double
error_of_signal (const TfxKernels *kernels, const TfxSos *sos, size_t n_sos,
    unsigned n_channels, const float *x, size_t n, const long double *want)
{
  float *out = test_alloc (n * n_channels * sizeof *out);
  const TfxBlock block =
      tfx_block_interleaved (out, TFX_SAMPLE_F32, n_channels, n);
  TfxCascade *cascade = make_cascade (kernels, n_channels, sos, n_sos, 1.0);
  double error = 0, power = 0;

  for (size_t i = 0; i < n * n_channels; i++)
    out[i] = x[i / n_channels];
  tfx_cascade_run (cascade, TFX_SAMPLE_F32, &block, &block);
  /* Behind what rings in. */
  for (size_t i = n / 2; i < n; i++) {
    const double e = (double)(out[(i + 1) * n_channels - 1] - want[i]);

    error += e * e;
    power += (double)(want[i] * want[i]);
  }
  tfx_cascade_free (&cascade);
  free (out);
  return 10 * log10 (error / power);
}

/* Sines that the filter lowers by up to 70 dB come out as exactly as floats are. */
static void
check_sine (TapMany *many, const Chain *chain, double hz)
{
  const size_t n = 48000;
  TfxSos sos[MAX_SECTIONS];
  const size_t n_sos = chain_sections (chain, sos);
  const TfxComplex h = tfx_response_at (sos, n_sos, hz, RATE);
  float *x = test_alloc (n * sizeof *x);
  double *in = test_alloc (n * sizeof *in);
  long double *want = test_alloc (n * sizeof *want);

  for (size_t i = 0; i < n; i++)
    in[i] = x[i] = (float)sin (2 * M_PI * hz / RATE * (double)i);
  test_run_long (sos, n_sos, in, want, n);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxKernels *kernels = find_kernels (k);

    for (unsigned c = 1; c <= 2 && kernels; c++) {
      const double db = error_of_signal (kernels, sos, n_sos, c, x, n, want);

      tap_many_check (many,
          db <= -145 || hypot (h.re, h.im) < 3e-4 * largest_gain (sos, n_sos),
          "%s, %g Hz, %s, %u channels: %.1f dB", chain->name, hz,
          name_of (kernels), c, db);
    }
  }
  free (want);
  free (in);
  free (x);
}

static void
test_sines (void)
{
  static const double hz[] = { 7, 20, 60, 300, 1000, 4850, 12000, 20000 };
  TapMany many = tap_many ("sines in the pass and the stop band, F32");

  for (size_t i = 0; i < N_CHAINS; i++) {
    for (size_t j = 0; j < sizeof hz / sizeof hz[0]; j++) {
      if (chains[i].is_sum)
        check_sine (&many, &chains[i], hz[j]);
    }
  }
  tap_many_end (&many);
}

/* Sections in a stream whose blocks change their type.  A query of the state between two blocks
 * changes no bit. */
static void
check_stream (TapMany *many, const TfxKernels *kernels, const TfxSos *sos,
    size_t n_sos, unsigned n_channels, bool is_mixed)
{
  const size_t n = 4000, bytes = n * n_channels * sizeof (double);
  double *x = test_alloc (bytes), *asked = test_alloc (bytes);
  double state[2 * MAX_SECTIONS * 2];
  TfxCascade *cascades[2] = { make_cascade (kernels, n_channels, sos, n_sos,
                                  0.5),
    make_cascade (kernels, n_channels, sos, n_sos, 0.5) };
  size_t done = 0;

  test_noise_f64 (x, n * n_channels);
  for (size_t i = 0; i < n * n_channels; i++)
    asked[i] = x[i];
  while (done < n) {
    size_t m = 1 + tap_random_below (400);
    const TfxSample type =
        is_mixed && tap_random_below (2) ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32;

    m = m < n - done ? m : n - done;
    for (unsigned i = 0; i < 2; i++) {
      const TfxBlock b =
          tfx_block_interleaved ((i ? asked : x) + done * n_channels,
              TFX_SAMPLE_F64, n_channels, m);
      tfx_cascade_run (cascades[i], type, &b, &b);
    }
    tfx_cascade_state_peak (cascades[1]);
    tfx_cascade_get_state (cascades[1], n_sos / 2, n_sos - n_sos / 2, state);
    tfx_cascade_get_state (cascades[1], 0, n_sos, state);
    done += m;
  }
  tap_many_check (many, memcmp (x, asked, bytes) == 0,
      "%s, %u channels, %zu sections: to ask for the state changes the output",
      name_of (kernels), n_channels, n_sos);
  for (unsigned i = 0; i < 2; i++)
    tfx_cascade_free (&cascades[i]);
  free (asked);
  free (x);
}

/* The output of random blocks, whose state is now and then taken out, by parts, and
 * put into another cascade of the same sections. */
static double
error_of_stream (const TfxKernels *kernels, const TfxSos *sos, size_t n_sos,
    unsigned n_channels, bool is_mixed)
{
  const size_t n = 4000, half = n_sos / 2;
  double *x = test_alloc (n * n_channels * sizeof *x);
  double *one = test_alloc (n * sizeof *one), worst = 0;
  long double *want = test_alloc (n * sizeof *want);
  double state[2][2 * MAX_SECTIONS * 2];
  TfxCascade *cascades[2] = { make_cascade (kernels, n_channels, sos, n_sos,
                                  0.5),
    make_cascade (kernels, n_channels, sos, n_sos, 0.5) };

  test_noise_f64 (one, n);
  test_run_long (sos, n_sos, one, want, n);
  for (size_t i = 0; i < n * n_channels; i++)
    x[i] = one[i / n_channels];
  for (size_t done = 0, turn = 0; done < n; turn++) {
    TfxCascade *to = cascades[turn % 2], *from = cascades[(turn + 1) % 2];
    size_t m = 1 + tap_random_below (400);
    TfxBlock b;

    m = m < n - done ? m : n - done;
    b = tfx_block_interleaved (x + done * n_channels, TFX_SAMPLE_F64,
        n_channels, m);
    tfx_cascade_get_state (from, half, n_sos - half, state[1]);
    tfx_cascade_get_state (from, 0, half, state[0]);
    tfx_cascade_set_state (to, 0, half, state[0]);
    tfx_cascade_set_state (to, half, n_sos - half, state[1]);
    tfx_cascade_run (to,
        is_mixed && tap_random_below (2) ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32, &b,
        &b);
    done += m;
  }
  for (size_t i = 0; i < n * n_channels; i++) {
    const double e = (double)fabsl (2 * x[i] - want[i / n_channels]);

    if (!(e <= worst))
      worst = e;
  }
  for (unsigned i = 0; i < 2; i++)
    tfx_cascade_free (&cascades[i]);
  free (want);
  free (one);
  free (x);
  return worst;
}

static void
check_states (TapMany *asked, TapMany *moved, const TfxKernels *kernels)
{
  TfxParallelPart parts[MAX_SECTIONS];
  TfxSos sos[MAX_SECTIONS];
  double direct;

  for (unsigned i = 0; i < 48; i++) {
    const size_t n = i < 8 && chains[i].is_sum
                         ? chain_sections (&chains[i], sos)
                         : 2 + i % 7;
    const unsigned n_channels = 1 + i % 2;
    double error, allowed;

    if (n == 2 + i % 7 && !random_sections (sos, n, parts, &direct))
      continue;
    allowed = allowed_error (sos, n);
    check_stream (asked, kernels, sos, n, n_channels, false);
    for (unsigned mixed = 0; mixed < 2; mixed++) {
      error = error_of_stream (kernels, sos, n, n_channels, mixed);
      tap_many_check (moved, error <= allowed,
          "%s, %zu sections, %u channels: %g, allowed %g", name_of (kernels), n,
          n_channels, error, allowed);
    }
  }
}

static void
test_states (void)
{
  TapMany asked = tap_many ("to ask for the state changes no bit");
  TapMany moved = tap_many ("the state goes from cascade to cascade");

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    if (find_kernels (k))
      check_states (&asked, &moved, find_kernels (k));
  }
  tap_many_end (&asked);
  tap_many_end (&moved);
}

/* The width of the vectors of the api chain as a sum, 0 if it is none; not one in F64. */
static unsigned
sum_width (const TfxKernels *kernels, unsigned n_channels)
{
  TfxSos sos[MAX_SECTIONS];
  const size_t n = chain_sections (&chains[0], sos);
  float samples[32] = { 0 };
  const TfxBlock block =
      tfx_block_interleaved (samples, TFX_SAMPLE_F32, n_channels, 16);
  TfxCascade *c = make_cascade (kernels, n_channels, sos, n, 1.0);
  unsigned width = 0;

  tfx_cascade_run (c, TFX_SAMPLE_F32, &block, &block);
  if (c->groups[0].fit.shape->layout == TFX_LAYOUT_PARALLEL)
    width = c->groups[0].fit.shape->lanes;
  tfx_cascade_run (c, TFX_SAMPLE_F64, &block, &block);
  if (c->groups[0].fit.shape->layout == TFX_LAYOUT_PARALLEL)
    width = UINT_MAX;
  tfx_cascade_free (&c);
  return width;
}

/* Where a sum costs least, it is one; and never in F64.  In vectors of eight only
 * where they are run whole, and those of four would be more than two. */
static void
test_used (void)
{
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxKernels *kernels = find_kernels (k);
    unsigned want[2];

    if (!kernels)
      continue;
    want[0] = kernels->width > 1 ? kernels->width : 0;
    want[1] = kernels->width > 2 ? kernels->width : 0;
    if (kernels->width == 8) {
      want[0] = 4;
      want[1] = kernels->halves () ? 4 : 8;
    }
    for (unsigned i = 0; i < 2; i++) {
      const unsigned width = sum_width (kernels, i + 1);

      tap_check (width == want[i],
          "%s: the api chain of F32, %u channels, is a sum in vectors of %u, "
          "0: none; wanted %u; that of F64 none",
          name_of (kernels), i + 1, width, want[i]);
    }
  }
}

static const TapTest tests[] = {
  { "choice", test_choice },
  { "hidden", test_hidden },
  { "turns", test_turns },
  { "sines", test_sines },
  { "states", test_states },
  { "used", test_used },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
