/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_design.c: zeros, poles, gain and response of the designs against
 * scipy.signal, over the grid of tests/golden/designs.txt.
 *
 * Where SciPy itself is off, the golden file has the exact value and the
 * comparison is with that; how often is printed.
 */
#include "common.h"
#include "golden.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* Relative. */
#define ROOT_TOLERANCE 1e-12
#define GAIN_TOLERANCE 1e-12
#define RESPONSE_TOLERANCE 1e-9
/* A root nearer to the origin than this is compared absolutely, at the same
 * tolerance relative to this: all of the unit circle is far away from it. */
#define NEAR_ORIGIN 1e-3

static double
complex_magnitude (TfxComplex z)
{
  return hypot (z.re, z.im);
}

/* Matches each root with the nearest that is left; the largest distance
 * relative to the wanted root's magnitude. */
static double
roots_distance (const TfxComplex *found, const TfxComplex *wanted, size_t n)
{
  bool taken[TFX_DESIGN_MAX_ROOTS] = { false };
  double worst = 0;

  for (size_t i = 0; i < n; i++) {
    double best = INFINITY;
    size_t match = 0;

    for (size_t k = 0; k < n; k++) {
      double d = hypot (found[i].re - wanted[k].re, found[i].im - wanted[k].im);
      if (!taken[k] && d < best) {
        best = d;
        match = k;
      }
    }
    taken[match] = true;
    best /= fmax (complex_magnitude (wanted[match]), NEAR_ORIGIN);
    /* Not fmax(): a NaN is the worst of all. */
    if (!(best <= worst))
      worst = best;
  }
  return worst;
}

static double
relative_error (double found, double wanted)
{
  return fabs (found / wanted - 1);
}

static size_t
expected_poles (const TfxDesign *d)
{
  bool band = d->mode == TFX_MODE_BAND_PASS || d->mode == TFX_MODE_BAND_REJECT;
  return band ? 2 * (size_t)d->order : d->order;
}

/* Upper one first, its conjugate next; a real root stands alone. */
static bool
conjugates_are_paired (const TfxComplex *roots, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (roots[i].im == 0)
      continue;
    if (!(roots[i].im > 0) || i + 1 == n || roots[i + 1].re != roots[i].re ||
        roots[i + 1].im != -roots[i].im)
      return false;
    i++;
  }
  return true;
}

static void
test_zpk (void)
{
  Golden *golden = golden_open ("designs.txt");
  TapMany counts = tap_many ("as many roots as SciPy has, conjugates paired");
  TapMany zeros = tap_many ("zeros agree with SciPy to 1e-12");
  TapMany poles = tap_many ("poles agree with SciPy to 1e-12");
  TapMany exact = tap_many ("roots agree with the exact ones to 1e-12");
  unsigned n_differ = 0;
  double worst_root = 0;
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    TfxZpk zpk;
    double z, p, ze, pe;

    test_design_text (&g.design, g.rate_hz, text);
    if (!tap_many_check (&counts, !tfx_design_zpk (&g.design, g.rate_hz, &zpk),
            "%s: refused", text))
      continue;
    if (!tap_many_check (&counts,
            zpk.n_zeros == g.scipy.n_zeros && zpk.n_poles == g.scipy.n_poles &&
                zpk.n_poles == expected_poles (&g.design),
            "%s: %zu zeros, %zu poles", text, zpk.n_zeros, zpk.n_poles))
      continue;
    tap_many_check (&counts,
        conjugates_are_paired (zpk.zeros, zpk.n_zeros) &&
            conjugates_are_paired (zpk.poles, zpk.n_poles),
        "%s: conjugates apart", text);
    ze = roots_distance (zpk.zeros, g.exact.zeros, zpk.n_zeros);
    pe = roots_distance (zpk.poles, g.exact.poles, zpk.n_poles);
    tap_many_check (&exact, ze <= ROOT_TOLERANCE && pe <= ROOT_TOLERANCE,
        "%s: zeros %.2g, poles %.2g off", text, ze, pe);
    worst_root = fmax (worst_root, fmax (ze, pe));
    z = roots_distance (g.scipy.zeros, g.exact.zeros, g.scipy.n_zeros);
    p = roots_distance (g.scipy.poles, g.exact.poles, g.scipy.n_poles);
    if (z > ROOT_TOLERANCE || p > ROOT_TOLERANCE) {
      tap_diag ("%s: SciPy's own roots are %.2g off", text, fmax (z, p));
      n_differ++;
      continue;
    }
    z = roots_distance (zpk.zeros, g.scipy.zeros, zpk.n_zeros);
    p = roots_distance (zpk.poles, g.scipy.poles, zpk.n_poles);
    tap_many_check (&zeros, z <= ROOT_TOLERANCE, "%s: %.2g off", text, z);
    tap_many_check (&poles, p <= ROOT_TOLERANCE, "%s: %.2g off", text, p);
  }
  tap_diag ("roots at most %.2g from the exact ones; compared with these "
            "alone: %u designs",
      worst_root, n_differ);
  tap_many_end (&counts);
  tap_many_end (&zeros);
  tap_many_end (&poles);
  tap_many_end (&exact);
  if (golden)
    golden_close (golden);
}

static void
test_gain (void)
{
  Golden *golden = golden_open ("designs.txt");
  TapMany many = tap_many ("gain agrees with SciPy to 1e-12");
  unsigned n_differ = 0, n_tiny = 0;
  double worst = 0;
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    TfxZpk zpk;
    double e;

    test_design_text (&g.design, g.rate_hz, text);
    if (!tap_many_check (&many, !tfx_design_zpk (&g.design, g.rate_hz, &zpk),
            "%s: refused", text))
      continue;
    if (fabs (g.exact.gain) < DBL_MIN) {
      tap_many_check (&many, fabs (zpk.gain) < DBL_MIN,
          "%s: gain %g, should be below the range of double", text, zpk.gain);
      n_tiny++;
      continue;
    }
    e = relative_error (zpk.gain, g.exact.gain);
    worst = fmax (worst, e);
    if (!(relative_error (g.scipy.gain, g.exact.gain) <= GAIN_TOLERANCE)) {
      tap_diag ("%s: SciPy's own gain is %.2g off", text,
          relative_error (g.scipy.gain, g.exact.gain));
      n_differ++;
    } else {
      e = relative_error (zpk.gain, g.scipy.gain);
    }
    tap_many_check (&many, e <= GAIN_TOLERANCE, "%s: gain %.17g is %.2g off",
        text, zpk.gain, e);
  }
  tap_diag ("gain at most %.2g from the exact one; compared with this instead "
            "of SciPy's: %u designs; below the range of double: %u",
      worst, n_differ, n_tiny);
  tap_many_end (&many);
  if (golden)
    golden_close (golden);
}

/* What SciPy has at a point: its value, by its deviation from the exact one. */
static TestQuadComplex
scipy_point (const GoldenPoint *p)
{
  TestQuad dr = 1 + (TestQuad)p->scipy_deviation.re;
  TestQuad di = p->scipy_deviation.im;

  return (TestQuadComplex){ p->exact.re * dr - p->exact.im * di,
    p->exact.re * di + p->exact.im * dr };
}

typedef struct ResponseError
{
  double from_exact, from_scipy; /* largest over the pass band */
  bool scipy_is_known;           /* at all points */
} ResponseError;

static ResponseError
response_error (const GoldenDesign *g, const TfxSos *sos, size_t n_sos)
{
  ResponseError e = { 0, 0, true };

  for (size_t i = 0; i < g->n_points; i++) {
    const GoldenPoint *p = &g->points[i];
    TestQuadComplex exact = { p->exact.re, p->exact.im };
    TestQuadComplex h = test_response_quad (sos, n_sos, p->freq_hz, g->rate_hz);
    double d = test_complex_distance (h, exact);

    if (!(d <= e.from_exact))
      e.from_exact = d;
    if (!isfinite (p->scipy_deviation.re) || p->scipy_deviation.re == -1) {
      e.scipy_is_known = false;
      continue;
    }
    d = test_complex_distance (h, scipy_point (p));
    if (!(d <= e.from_scipy))
      e.from_scipy = d;
  }
  return e;
}

/* The coefficients of a double section cannot say where its poles are better
 * than (da1 p + da2) / (2 Im p), da1 and da2 the rounding: a pole of high Q
 * at 20 Hz of 384 kHz moves by more than 1e-9 of the response.  SciPy's
 * sections have the same limit, so that is the bound where 1e-9 is beyond
 * reach: the error of SciPy's own sections, evaluated exactly. */
static void
test_response (void)
{
  Golden *golden = golden_open ("designs.txt");
  TapMany contract = tap_many ("response agrees with SciPy to 1e-9");
  TapMany limit = tap_many ("where sections of SciPy miss 1e-9, ours err less");
  unsigned n_met = 0, n_missed = 0, n_unknown = 0;
  double worst = 0, worst_ratio = 0;
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    int n = tfx_design_sections (&g.design, g.rate_hz, sos);
    ResponseError e;

    test_design_text (&g.design, g.rate_hz, text);
    if (!tap_many_check (&contract,
            n == (int)(expected_poles (&g.design) + 1) / 2, "%s: %d sections",
            text, n))
      continue;
    e = response_error (&g, sos, (size_t)n);
    n_unknown += !e.scipy_is_known;
    if (g.sos_error > RESPONSE_TOLERANCE) {
      if (e.from_exact <= RESPONSE_TOLERANCE)
        n_met++;
      else
        n_missed++;
      worst_ratio = fmax (worst_ratio, e.from_exact / g.sos_error);
      tap_many_check (&limit, e.from_exact <= g.sos_error,
          "%s: %.3g from exact, SciPy's sections %.3g", text, e.from_exact,
          g.sos_error);
    } else {
      worst = fmax (worst, e.from_exact);
      tap_many_check (&contract,
          e.from_exact <= RESPONSE_TOLERANCE &&
              e.from_scipy <= RESPONSE_TOLERANCE,
          "%s: %.3g from exact, %.3g from SciPy; SciPy's sections %.3g", text,
          e.from_exact, e.from_scipy, g.sos_error);
    }
  }
  tap_diag ("1e-9 kept by SciPy's sections: %lu designs, ours at most %.2g",
      contract.n_cases, worst);
  tap_diag ("not kept by SciPy's sections: %u designs; ours meet 1e-9 in %u of "
            "these; the largest ratio to SciPy's error is %.2g",
      n_met + n_missed, n_met, worst_ratio);
  tap_diag ("compared with the exact response alone, because SciPy's is not "
            "a number: %u",
      n_unknown);
  tap_many_end (&contract);
  tap_many_end (&limit);
  if (golden)
    golden_close (golden);
}

static void
test_stable (void)
{
  Golden *golden = golden_open ("designs.txt");
  TapMany many = tap_many ("every section is stable");
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    int n = tfx_design_sections (&g.design, g.rate_hz, sos);

    test_design_text (&g.design, g.rate_hz, text);
    for (int k = 0; k < n; k++) {
      const TfxSos *s = &sos[k];
      /* The triangle of stability, written anew. */
      bool inside =
          s->a2 < 1 && s->a2 > -1 && s->a1 < 1 + s->a2 && -s->a1 < 1 + s->a2;
      tap_many_check (&many,
          inside && isfinite (s->b0) && isfinite (s->b1) && isfinite (s->b2) &&
              tfx_sos_is_stable (s),
          "%s, section %d: %g %g %g, %.17g %.17g", text, k, s->b0, s->b1, s->b2,
          s->a1, s->a2);
    }
  }
  tap_many_end (&many);
  if (golden)
    golden_close (golden);
}

/* The grid is what the contract names. */
static void
test_grid (void)
{
  Golden *golden = golden_open ("designs.txt");
  bool any_order[TFX_DESIGN_MAX_ORDER + 1] = { false };
  static const double rates[] = { 8000, 44100, 48000, 96000, 192000, 384000 };
  bool extremes[3][4][6][2] = { 0 };
  double lowest = INFINITY, highest = 0;
  unsigned n = 0, n_orders = 0, n_extremes = 0;
  GoldenDesign g;

  while (golden && golden_next (golden, &g)) {
    const TfxDesign *d = &g.design;
    any_order[d->order] = true;
    for (unsigned r = 0; r < 6; r++)
      if (g.rate_hz == rates[r] && (d->order == 1 || d->order == 64))
        extremes[d->family][d->mode][r][d->order == 64] = true;
    lowest = fmin (lowest, d->lower_hz);
    highest = fmax (highest, fmax (d->lower_hz, d->upper_hz) / g.rate_hz * 2);
    n++;
  }
  for (unsigned k = 1; k <= TFX_DESIGN_MAX_ORDER; k++)
    n_orders += any_order[k];
  for (unsigned i = 0; i < sizeof extremes; i++)
    n_extremes += ((const bool *)extremes)[i];
  tap_check (n >= 780, "%u designs", n);
  tap_check (n_orders == TFX_DESIGN_MAX_ORDER, "%u orders", n_orders);
  tap_check (n_extremes == sizeof extremes,
      "orders 1 and 64 of every family, mode and rate: %u of %zu", n_extremes,
      sizeof extremes);
  tap_check (lowest == 20 && highest > 0.97999 && highest < 0.98001,
      "cutoffs from %g Hz to %g of half the rate", lowest, highest);
  if (golden)
    golden_close (golden);
}

static const TapTest tests[] = {
  { "grid", test_grid },
  { "zpk", test_zpk },
  { "gain", test_gain },
  { "response", test_response },
  { "stable", test_stable },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
