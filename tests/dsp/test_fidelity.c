/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fidelity.c: noise through the filters, against a quadruple-precision
 * run of the same sections.
 *
 * The contract: for float32 streams at most -145 dB of the output; for float64
 * streams at most 6 dB worse than the textbook's transposed direct form II in
 * double, which is what scipy.signal.sosfilt runs.
 *
 * By default a case is as long as it takes the slowest filter to speak, and
 * some are 10 s.  TFX_TEST_FULL=1 makes all of them 10 s long.
 */
#include "common.h"
#include "golden.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define F32_LIMIT_DB -145.0
#define F64_MARGIN_DB 6.0
#define MAX_CHANNELS 8

static const unsigned channel_counts[] = { 1, 2, 8 };
#define N_COUNTS 3

/* The worst of each kernel and channel count. */
typedef struct Worst
{
  double f32_db, f64_margin_db, f64_db;
  char f32_text[TEST_TEXT_SIZE], f64_text[TEST_TEXT_SIZE];
} Worst;

typedef struct Report
{
  TapMany f32, f64;
  Worst worst[TEST_N_KERNELS][N_COUNTS];
} Report;

static Report *
report_new (void)
{
  Report *report = test_alloc (sizeof *report);

  *report = (Report){ .f32 = tap_many ("F32 within -145 dB of quad precision"),
    .f64 = tap_many ("F64 within 6 dB of the textbook's rounding") };
  for (unsigned k = 0; k < TEST_N_KERNELS; k++)
    for (unsigned i = 0; i < N_COUNTS; i++)
      report->worst[k][i].f32_db = report->worst[k][i].f64_margin_db = -999;
  return report;
}

static void
report_end (Report *report)
{
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    for (unsigned i = 0; i < N_COUNTS; i++) {
      const Worst *w = &report->worst[k][i];
      if (!w->f32_text[0])
        continue;
      tap_diag ("%-6s %u channels: F32 at worst %.1f dB (%s)\n"
                "       F64 %+.1f dB of the textbook's, %.1f dB (%s)",
          test_kernels[k], channel_counts[i], w->f32_db, w->f32_text,
          w->f64_margin_db, w->f64_db, w->f64_text);
    }
  }
  tap_many_end (&report->f32);
  tap_many_end (&report->f64);
  free (report);
}

/* Channel c carries the same noise times this; all are powers of two, so that
 * one reference serves every channel to the bit. */
static double
channel_scale (unsigned channel)
{
  return ldexp (channel % 2 ? -1 : 1, -(int)(channel % 3));
}

/* Runs a block of `size` bytes a sample through an executor in pieces of
 * random lengths, in place. */
static bool
run_pieces (TfxExec *exec, void *data, TfxSample type, unsigned n_channels,
    size_t n_frames)
{
  size_t size = type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);

  for (size_t done = 0; done < n_frames;) {
    size_t n = 1 + tap_random_below (2048);
    TfxBlock block;

    if (n > n_frames - done)
      n = n_frames - done;
    block = tfx_block_interleaved ((char *)data + done * n_channels * size,
        type, n_channels, n);
    if (tfx_exec_run (exec, &block, &block))
      return false;
    done += n;
  }
  return true;
}

/* The largest error of any channel, in dB. */
static double
error_of_run (const TfxBackend *backend, const TfxSos *sos, size_t n_sos,
    unsigned n_channels, TfxSample type, const double *in,
    const TestReference *reference)
{
  size_t n = reference->n;
  double *f64 = test_alloc (n * n_channels * sizeof *f64);
  float *f32 = (float *)f64;
  TfxExec *exec = test_exec_new (sos, n_sos, n_channels, backend);
  double worst = -999;

  for (size_t i = 0; i < n; i++) {
    for (unsigned c = 0; c < n_channels; c++) {
      if (type == TFX_SAMPLE_F32)
        f32[i * n_channels + c] = (float)(in[i] * channel_scale (c));
      else
        f64[i * n_channels + c] = in[i] * channel_scale (c);
    }
  }
  if (!exec || !run_pieces (exec, f64, type, n_channels, n))
    worst = NAN;
  for (unsigned c = 0; c < n_channels && !isnan (worst); c++) {
    double scale = 1 / channel_scale (c);
    double db = type == TFX_SAMPLE_F32
                    ? test_error_db_f32 (f32 + c, n_channels, scale, reference)
                    : test_error_db_f64 (f64 + c, n_channels, scale, reference);
    if (!(db <= worst))
      worst = db;
  }
  tfx_exec_free (&exec);
  free (f64);
  return worst;
}

static double *
new_noise (size_t n)
{
  double *noise = test_alloc (n * sizeof *noise);
  float *f32 = test_alloc (n * sizeof *f32);

  test_noise_f32 (f32, n);
  for (size_t i = 0; i < n; i++)
    noise[i] = f32[i];
  free (f32);
  return noise;
}

/* Sections through all kernels, channel counts and types. */
static void
check_sections (Report *report, const char *text, const TfxSos *sos,
    size_t n_sos, size_t n_frames)
{
  double *in = new_noise (n_frames);
  double *plain = test_alloc (n_frames * sizeof *plain);
  TestReference reference = test_reference_new (sos, n_sos, in, n_frames);
  double plain_db;

  test_run_f64 (sos, n_sos, in, plain, n_frames, NULL);
  plain_db = test_error_db_f64 (plain, 1, 1, &reference);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < N_COUNTS; i++) {
      unsigned n = channel_counts[i];
      Worst *w = &report->worst[k][i];
      double f32 =
          error_of_run (backend, sos, n_sos, n, TFX_SAMPLE_F32, in, &reference);
      double f64 =
          error_of_run (backend, sos, n_sos, n, TFX_SAMPLE_F64, in, &reference);

      tap_many_check (&report->f32, f32 <= F32_LIMIT_DB,
          "%s, %s, %u channels, %zu frames: F32 %.1f dB", text, test_kernels[k],
          n, n_frames, f32);
      tap_many_check (&report->f64, f64 <= plain_db + F64_MARGIN_DB,
          "%s, %s, %u channels, %zu frames: F64 %.1f dB, textbook %.1f dB",
          text, test_kernels[k], n, n_frames, f64, plain_db);
      if (!(f32 <= w->f32_db)) {
        w->f32_db = f32;
        snprintf (w->f32_text, TEST_TEXT_SIZE, "%s", text);
      }
      if (!(f64 - plain_db <= w->f64_margin_db)) {
        w->f64_margin_db = f64 - plain_db;
        w->f64_db = f64;
        snprintf (w->f64_text, TEST_TEXT_SIZE, "%s", text);
      }
    }
  }
  test_reference_clear (&reference);
  free (plain);
  free (in);
}

/* Until a filter of this order and width has spoken: its delay is about
 * order / (2 pi width) seconds, twice that in the band modes. */
static size_t
default_length (const TfxDesign *d)
{
  bool band = d->mode >= TFX_MODE_BAND_PASS;
  double width = band ? d->upper_hz - d->lower_hz : d->lower_hz;
  double delay = (band ? 2 : 1) * d->order / (2 * M_PI * width) * RATE;

  if (test_environment_has ("TFX_TEST_FULL"))
    return (size_t)(10 * RATE);
  if (test_is_sanitized ())
    return (size_t)(2000 + 1.5 * delay);
  return (size_t)(8192 + 2 * delay);
}

static void
check_design (Report *report, const TfxDesign *d, size_t n_frames)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  char text[TEST_TEXT_SIZE];
  int n = tfx_design_sections (d, RATE, sos);

  test_design_text (d, RATE, text);
  if (!tap_many_check (&report->f32, n > 0, "%s: refused", text))
    return;
  check_sections (report, text, sos, (size_t)n, n_frames);
}

static TfxDesign
make_design (unsigned family, unsigned mode, unsigned order, double cutoff)
{
  return (TfxDesign){ .family = (TfxFamily)family,
    .mode = (TfxMode)mode,
    .order = order,
    .lower_hz = cutoff,
    .upper_hz = 2 * cutoff,
    .ripple_db = 0.1,
    .attenuation_db = 40 };
}

/* Every family, mode and cutoff of the contract, at a handful of orders. */
static void
test_grid (void)
{
  static const unsigned orders[] = { 1, 2, 3, 4, 8, 16, 32, 64 };
  static const double cutoffs[] = { 20, 100, 1000 };
  Report *report = report_new ();

  for (unsigned family = 0; family < 3; family++) {
    for (unsigned mode = 0; mode < 4; mode++) {
      for (unsigned o = 0; o < 8; o++) {
        for (unsigned c = 0; c < 3; c++) {
          TfxDesign d = make_design (family, mode, orders[o], cutoffs[c]);
          check_design (report, &d, default_length (&d));
        }
      }
    }
  }
  report_end (report);
}

/* Every order from 1 to 64; the rest takes turns, the ripple included. */
static void
test_orders (void)
{
  static const double cutoffs[] = { 20, 100, 1000, 7000 };
  static const double ripples[] = { 0.01, 0.5, 3 };
  static const double attenuations[] = { 20, 80, 120 };
  Report *report = report_new ();

  for (unsigned order = 1; order <= 64; order++) {
    unsigned cutoff = order * 7 / 3 % 4;
    TfxDesign d =
        make_design (order % 3, order / 3 % 4, order, cutoffs[cutoff]);
    d.ripple_db = ripples[order / 5 % 3];
    d.attenuation_db = attenuations[order / 5 % 3];
    check_design (report, &d, default_length (&d));
  }
  report_end (report);
}

/* The hardest of the contract in full length. */
static void
test_ten_seconds (void)
{
  static const struct
  {
    unsigned family, mode, order;
    double cutoff;
  } cases[] = {
    { 0, 0, 2, 20 },
    { 1, 1, 2, 20 },
    { 0, 0, 32, 20 },
    { 1, 0, 16, 20 },
    { 2, 1, 16, 20 },
    { 0, 2, 8, 20 },
    { 1, 3, 8, 20 },
    { 2, 0, 8, 1000 },
  };
  size_t n_frames = (size_t)(10 * RATE);
  Report *report = report_new ();

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxDesign d = make_design (cases[i].family, cases[i].mode, cases[i].order,
        cases[i].cutoff);
    if (test_is_sanitized () && d.order > 2)
      continue;
    check_design (report, &d, n_frames);
  }
  report_end (report);
}

/* How SciPy fares with its own sections, in its own order. */
static double
scipy_error (const GoldenDesign *g, const double *in, size_t n)
{
  TestReference reference = test_reference_new (g->sos, g->n_sos, in, n);
  double *out = test_alloc (n * sizeof *out);
  double db;

  test_run_f64 (g->sos, g->n_sos, in, out, n, NULL);
  db = test_error_db_f64 (out, 1, 1, &reference);
  free (out);
  test_reference_clear (&reference);
  return db;
}

/* F64 against scipy.signal.sosfilt itself: its sections, its order. */
static void
test_scipy (void)
{
  TapMany many = tap_many ("F64 within 6 dB of SciPy's sosfilt");
  Golden *golden = golden_open ();
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    size_t n_frames = default_length (&g.design);
    TestReference reference;
    double *in, scipy;
    int n;

    if (!g.n_sos || (test_is_sanitized () && g.design.order > 32))
      continue;
    n = tfx_design_sections (&g.design, g.rate_hz, sos);
    test_design_text (&g.design, g.rate_hz, text);
    if (!tap_many_check (&many, n > 0, "%s: refused", text))
      continue;
    in = new_noise (n_frames);
    scipy = scipy_error (&g, in, n_frames);
    reference = test_reference_new (sos, (size_t)n, in, n_frames);
    for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
      const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);
      for (unsigned i = 0; backend && i < N_COUNTS; i++) {
        double db = error_of_run (backend, sos, (size_t)n, channel_counts[i],
            TFX_SAMPLE_F64, in, &reference);
        tap_many_check (&many, db <= scipy + F64_MARGIN_DB,
            "%s, %s, %u channels: %.1f dB, SciPy %.1f dB", text,
            test_kernels[k], channel_counts[i], db, scipy);
        if (i == 0 && (k == 0 || k == TEST_N_KERNELS - 1))
          tap_diag ("%s: %.1f dB (%s), SciPy's sosfilt %.1f dB", text, db,
              test_kernels[k], scipy);
      }
    }
    test_reference_clear (&reference);
    free (in);
  }
  tap_many_end (&many);
  if (golden)
    golden_close (golden);
}

/* The reference itself: its own error, measured against a run whose values
 * are known exactly, is far below what it is to measure. */
static void
test_reference (void)
{
  /* y[n] = x[n] + y[n-1] / 4 - y[n-2] / 8: binary fractions, exact in 113 bits
   * for 30 samples of small whole numbers. */
  const TfxSos s = { 1, 0.5, 0.25, -0.25, 0.125 };
  double in[30], y[30];
  TestReference r;
  bool equal = true;

  for (unsigned n = 0; n < 30; n++)
    in[n] = (double)(int)tap_random_below (9) - 4;
  for (unsigned n = 0; n < 30; n++) {
    y[n] = in[n] + (n > 0 ? 0.5 * in[n - 1] + 0.25 * y[n - 1] : 0) +
           (n > 1 ? 0.25 * in[n - 2] - 0.125 * y[n - 2] : 0);
  }
  r = test_reference_new (&s, 1, in, 30);
  /* Doubles are exact for the first 16 of them. */
  for (unsigned n = 0; n < 16; n++)
    equal = equal && r.high[n] == y[n] && r.low[n] == 0;
  tap_check (equal, "the reference solves the difference equation");
  tap_check (test_error_db_f64 (y, 1, 1, &r) < -300,
      "in direct form I as well");
  y[20] += 1e-6;
  tap_check (fabs (test_error_db_f64 (y, 1, 1, &r) + 145) < 15,
      "an error of 1e-6 in one sample of 30 is seen as %.1f dB",
      test_error_db_f64 (y, 1, 1, &r));
  y[20] = NAN;
  tap_check (isnan (test_error_db_f64 (y, 1, 1, &r)), "NaN is seen");
  test_reference_clear (&r);
}

static const TapTest tests[] = {
  { "reference", test_reference },
  { "grid", test_grid },
  { "orders", test_orders },
  { "ten-seconds", test_ten_seconds },
  { "scipy", test_scipy },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  if (!TEST_HAVE_QUAD) {
    puts ("1..0 # SKIP no 113-bit arithmetic on this machine");
    return 0;
  }
  return tap_main (argc, argv, tests);
}
