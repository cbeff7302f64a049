/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fidelity.c: noise through the filters, against a run of the same sections in
 * long double, which is held against one in quadruple precision.
 *
 * The contract: for float32 streams at most -145 dB of the output; for float64
 * streams at most 6 dB worse than scipy.signal.sosfilt, which is the
 * textbook's transposed direct form II in double, over SciPy's own sections in
 * SciPy's order, and at most 6 dB worse than the textbook over our sections.
 *
 * By default a case is just long enough to know its error, some are 10 s, and
 * each kernel runs one channel count of a design, the next one of the next design.
 * TFX_TEST_FULL=1 makes all of them 10 s long, with all counts.
 */
#include "common.h"
#include "golden.h"

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

/* A sanitizer build takes too little noise to know an error to 6 dB. */
static double
margin_db (void)
{
  return part_build_is_slow () ? 3 * F64_MARGIN_DB : F64_MARGIN_DB;
}

static bool
is_full (void)
{
  const char *text = getenv ("TFX_TEST_FULL");

  return text && *text && *text != '0';
}

/* The comparisons: F32 with its limit, F64 with the textbook and with SciPy. */
enum
{
  F32,
  PLAIN,
  SCIPY,
  N_LIMITS
};

/* The worst of a kernel and channel count: dB above the limit. */
typedef struct Extreme
{
  double excess_db, db;
  char text[TEST_TEXT_SIZE];
} Extreme;

typedef struct Report
{
  TapMany many[N_LIMITS];
  Extreme worst[TEST_N_KERNELS][N_COUNTS][N_LIMITS];
} Report;

static Report *
report_new (void)
{
  Report *report = test_alloc (sizeof *report);

  *report = (Report){
    .many = { tap_many ("F32 within -145 dB of long double"),
        tap_many ("F64 within 6 dB of the textbook on the same sections"),
        tap_many ("F64 within 6 dB of SciPy's sosfilt") }
  };
  return report;
}

static void
report_end (Report *report)
{
  static const char *const names[] = { "F32", "F64, of the textbook",
    "F64, of SciPy" };

  for (unsigned i = 0; i < TEST_N_KERNELS * N_COUNTS * N_LIMITS; i++) {
    const unsigned k = i / N_LIMITS / N_COUNTS, c = i / N_LIMITS % N_COUNTS;
    const Extreme *e = &report->worst[k][c][i % N_LIMITS];

    if (e->text[0])
      tap_diag ("%-6s %u channels, %s: %+.1f dB, %.1f dB (%s)", test_kernels[k],
          channel_counts[c], names[i % N_LIMITS], e->excess_db, e->db, e->text);
  }
  for (unsigned l = 0; l < N_LIMITS; l++) {
    if (report->many[l].n_cases > 0 || l < SCIPY)
      tap_many_end (&report->many[l]);
  }
  free (report);
}

/* Channel c carries the same noise times this; all are powers of two, so that
 * one reference serves every channel to the bit. */
static double
channel_scale (unsigned channel)
{
  static const double scales[] = { 1, -0.5, 0.25, -1, 0.5, -0.25 };

  return scales[channel % 6];
}

/* Runs a block of `size` bytes a sample through an executor in pieces of
 * random lengths, in place. */
static bool
run_pieces (TestFilter *row, void *data, TfxSample type, unsigned n_channels,
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
    if (test_filter_run (row, &block, &block))
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
  double *f64 = test_alloc_f64 (n * n_channels);
  float *f32 = (float *)f64;
  TestFilter *row = test_filter_new (sos, n_sos, n_channels, backend);
  double worst = -999;

  for (size_t i = 0; i < n; i++) {
    for (unsigned c = 0; c < n_channels; c++) {
      if (type == TFX_SAMPLE_F32)
        f32[i * n_channels + c] = (float)(in[i] * channel_scale (c));
      else
        f64[i * n_channels + c] = in[i] * channel_scale (c);
    }
  }
  if (!row || !run_pieces (row, f64, type, n_channels, n))
    worst = NAN;
  for (unsigned c = 0; c < n_channels && !isnan (worst); c++) {
    const void *at = type == TFX_SAMPLE_F32 ? (void *)(f32 + c) : f64 + c;
    const double db =
        test_error_db (at, type, n_channels, 1 / channel_scale (c), reference);

    worst = test_worse (worst, db);
  }
  test_filter_free (&row);
  free (f64);
  return worst;
}

static double *
new_noise (size_t n)
{
  double *noise = test_alloc_f64 (n);
  float *f32 = test_alloc (n * sizeof *f32);

  test_noise_f32 (f32, n);
  for (size_t i = 0; i < n; i++)
    noise[i] = f32[i];
  free (f32);
  return noise;
}

/* What runs: our sections, and SciPy's where they are known. */
typedef struct Filter
{
  char text[TEST_TEXT_SIZE];
  size_t n_sos, n_scipy;
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const TfxSos *scipy;
  size_t n_frames;
  unsigned n_runs; /* of noise; their errors are averaged */
  unsigned
      turn; /* 1 and more: kernel k runs count (k + turn) % N_COUNTS alone */
} Filter;

static bool
filter_runs (const Filter *f, unsigned kernel, unsigned count)
{
  return test_backend_for (test_kernels[kernel]) &&
         (f->turn == 0 || is_full () || (kernel + f->turn) % N_COUNTS == count);
}

/* Ratios of power, error to output, summed over the runs. */
typedef struct Errors
{
  double plain, scipy;
  double f32[TEST_N_KERNELS][N_COUNTS], f64[TEST_N_KERNELS][N_COUNTS];
} Errors;

static double
ratio_of_db (double db)
{
  return pow (10, db / 10);
}

/* The error of the textbook's arithmetic. */
static double
plain_error (const TfxSos *sos, size_t n_sos, const double *in,
    const TestReference *reference)
{
  double *out = test_alloc_f64 (reference->n);
  double db;

  test_run_f64 (sos, n_sos, in, out, reference->n, NULL);
  db = test_error_db_f64 (out, 1, 1, reference);
  free (out);
  return db;
}

/* How SciPy fares with its own sections, in its own order. */
static double
scipy_error (const Filter *f, const double *in)
{
  TestReference reference =
      test_reference_new (f->scipy, f->n_scipy, in, f->n_frames);
  double db = plain_error (f->scipy, f->n_scipy, in, &reference);

  test_reference_clear (&reference);
  return db;
}

/* One noise through all kernels, channel counts and types. */
static void
run_filter (const Filter *f, Errors *e)
{
  double *in = new_noise (f->n_frames);
  TestReference reference =
      test_reference_new (f->sos, f->n_sos, in, f->n_frames);

  e->plain += ratio_of_db (plain_error (f->sos, f->n_sos, in, &reference));
  if (f->n_scipy)
    e->scipy += ratio_of_db (scipy_error (f, in));
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (unsigned i = 0; i < N_COUNTS; i++) {
      if (!filter_runs (f, k, i))
        continue;
      e->f32[k][i] += ratio_of_db (error_of_run (backend, f->sos, f->n_sos,
          channel_counts[i], TFX_SAMPLE_F32, in, &reference));
      e->f64[k][i] += ratio_of_db (error_of_run (backend, f->sos, f->n_sos,
          channel_counts[i], TFX_SAMPLE_F64, in, &reference));
    }
  }
  test_reference_clear (&reference);
  free (in);
}

static double
mean_db (double sum, unsigned n)
{
  return 10 * log10 (sum / n);
}

static void
check_filter (Report *report, const Filter *f)
{
  Errors e = { 0 };
  double plain, scipy;

  for (unsigned i = 0; i < f->n_runs; i++)
    run_filter (f, &e);
  plain = mean_db (e.plain, f->n_runs);
  scipy = mean_db (e.scipy, f->n_runs);
  for (unsigned i = 0; i < TEST_N_KERNELS * N_COUNTS; i++) {
    const unsigned k = i / N_COUNTS, c = i % N_COUNTS;
    const double f32 = mean_db (e.f32[k][c], f->n_runs);
    const double f64 = mean_db (e.f64[k][c], f->n_runs);
    const double dbs[] = { f32, f64, f64 };
    const double limits[] = { F32_LIMIT_DB, plain + margin_db (),
      scipy + margin_db () };

    for (unsigned l = 0; filter_runs (f, k, c) && l < (f->n_scipy ? 3 : 2);
         l++) {
      Extreme *w = &report->worst[k][c][l];

      tap_many_check (&report->many[l], dbs[l] <= limits[l],
          "%s, %s, %u channels, %zu frames: %.1f dB, at most %.1f dB", f->text,
          test_kernels[k], channel_counts[c], f->n_frames, dbs[l], limits[l]);
      if (w->text[0] && dbs[l] - limits[l] <= w->excess_db)
        continue;
      w->excess_db = dbs[l] - limits[l];
      w->db = dbs[l];
      strcpy (w->text, f->text);
    }
  }
}

/* Hz; of a Chebyshev 2 the edges are those of the stop band. */
static double
pass_band_width (const TfxDesign *d)
{
  double width =
      d->mode >= TFX_MODE_BAND_PASS ? d->upper_hz - d->lower_hz : d->lower_hz;

  if (d->family != TFX_FAMILY_CHEBYSHEV2)
    return width;
  return width /
         cosh (acosh (pow (10, fmax (d->attenuation_db, 1) / 20)) / d->order);
}

/* A filter needs time to respond: its delay is about order / (2 pi width) seconds,
 * twice that in the band modes.  The error has to be known to a dB or two: after a
 * narrow filter that takes long, because few of its values are independent; a filter
 * of few sections can afford it. */
static void
choose_length (Filter *f, const TfxDesign *d)
{
  bool band = d->mode >= TFX_MODE_BAND_PASS;
  double width = band ? d->upper_hz - d->lower_hz : d->lower_hz;
  double delay = (band ? 2 : 1) * d->order / (2 * M_PI * width) * RATE;
  double known = fmin (10 * RATE, 1e7 / width / f->n_sos);

  f->n_runs = 1;
  if (part_build_is_slow ()) {
    f->n_frames = (size_t)fmax (2000 + 1.5 * delay, known / 8);
    return;
  }
  f->n_frames = (size_t)fmax (8192 + 2 * delay, known);
  if (is_full ())
    f->n_frames = (size_t)(10 * RATE);
  /* At least 100 independent values, 2 width of them a second: fewer leave the ratio of two
   * errors uncertain by more than a dB. */
  while (f->n_runs < 8 &&
         2 * pass_band_width (d) * f->n_runs * f->n_frames / RATE < 100)
    f->n_runs++;
}

/* n_frames 0: see choose_length().  turn: see Filter. */
static void
check_design (Report *report, const TfxDesign *d, size_t n_frames,
    unsigned turn)
{
  Filter f = { .turn = turn };
  int n = tfx_design_sections (d, RATE, f.sos);

  test_design_text (d, RATE, f.text);
  if (!tap_many_check (&report->many[F32], n > 0, "%s: refused", f.text))
    return;
  f.n_sos = (size_t)n;
  choose_length (&f, d);
  if (n_frames)
    f.n_frames = n_frames;
  check_filter (report, &f);
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

/* Every mode and cutoff of the contract, at a handful of orders, next to SciPy's
 * sections. */
static void
check_grid (TfxFamily family)
{
  Report *report = report_new ();
  GoldenDesign g;
  unsigned turn = 0;

  while (golden_next ("sections.txt", &g)) {
    Filter f = { .scipy = g.sos, .n_scipy = g.n_sos, .turn = ++turn };
    int n;

    if (g.design.family != family)
      continue;
    n = tfx_design_sections (&g.design, RATE, f.sos);
    strcpy (f.text, g.text);
    if (!tap_many_check (&report->many[F32], n > 0 && g.rate_hz == RATE,
            "%s: refused", f.text))
      continue;
    f.n_sos = (size_t)n;
    choose_length (&f, &g.design);
    check_filter (report, &f);
  }
  report_end (report);
}

static void
test_grid_butterworth (void)
{
  check_grid (TFX_FAMILY_BUTTERWORTH);
}

static void
test_grid_chebyshev1 (void)
{
  check_grid (TFX_FAMILY_CHEBYSHEV1);
}

static void
test_grid_chebyshev2 (void)
{
  check_grid (TFX_FAMILY_CHEBYSHEV2);
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
    check_design (report, &d, 0, order);
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
    { 0, 0, 64, 20 },
    { 1, 1, 64, 20 },
  };
  size_t n_frames = (size_t)(10 * RATE);
  Report *report = report_new ();

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxDesign d = make_design (cases[i].family, cases[i].mode, cases[i].order,
        cases[i].cutoff);
    if (part_build_is_slow () && d.order > 2)
      continue;
    check_design (report, &d, n_frames, 1 + (unsigned)i);
  }
  report_end (report);
}

/* Far below 20 Hz, as for a DC blocker at 384 kHz: few sections, which run as frames where
 * poles are not so near to 1. */
static void
test_subsonic (void)
{
  static const struct
  {
    unsigned order;
    double cutoff;
  } cases[] = { { 1, 0.0625 }, { 2, 0.5 }, { 2, 0.125 }, { 2, 0.0625 },
    { 4, 0.5 } };
  Report *report = report_new ();

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxDesign d = make_design (TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS,
        cases[i].order, cases[i].cutoff);
    check_design (report, &d, (size_t)(6 * RATE), 0);
  }
  report_end (report);
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

/* The rounding of long double against that of double, for filters with much of it. */
static void
test_long (void)
{
  static const TfxDesign designs[] = {
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 64, 20, 0, 0, 0 },
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, 8, 20, 0, 0, 0 },
    { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_LOW_PASS, 32, 20, 0, 0.1, 0 },
    { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_BAND_PASS, 16, 300, 3400, 0, 60 },
  };
  const size_t n = 20000;
  double *in = new_noise (n), *out = test_alloc_f64 (n);
  TestQuad *want = test_alloc (n * sizeof *want);

  for (size_t i = 0; i < sizeof designs / sizeof designs[0]; i++) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    const size_t n_sos = (size_t)tfx_design_sections (&designs[i], RATE, sos);
    TestReference r = test_reference_new (sos, n_sos, in, n);
    long double in_long = 0, in_double = 0;

    test_run_f64 (sos, n_sos, in, out, n, NULL);
    test_run_quad (sos, n_sos, in, want, n);
    for (size_t k = 0; k < n; k++) {
      const long double e =
          (long double)((TestQuad)r.high[k] + r.low[k] - want[k]);
      const long double d = (long double)(out[k] - want[k]);

      in_long += e * e;
      in_double += d * d;
    }
    tap_check (in_long < 1e-5L * in_double,
        "design %zu: long double rounds %.1f dB below double", i,
        (double)(10 * log10l (in_double / in_long)));
    test_reference_clear (&r);
  }
  free (want);
  free (out);
  free (in);
}

static const TapTest tests[] = {
  { "reference", test_reference },
  { "long", test_long },
  { "grid-butterworth", test_grid_butterworth },
  { "grid-chebyshev1", test_grid_chebyshev1 },
  { "grid-chebyshev2", test_grid_chebyshev2 },
  { "orders", test_orders },
  { "ten-seconds", test_ten_seconds },
  { "subsonic", test_subsonic },
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
