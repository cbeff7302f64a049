/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_design.c: zeros, poles, gain and response of the designs against
 * scipy.signal, over the grid of tests/golden/designs.txt.
 *
 * Where SciPy itself is off, the golden file has the exact value and the
 * comparison is with that; how often is printed.
 */
#include "common.h"
#include "factor.h"
#include "golden.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Relative. */
#define ROOT_TOLERANCE 1e-12
#define GAIN_TOLERANCE 1e-12
#define RESPONSE_TOLERANCE 1e-9
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
    ze = golden_roots_distance (zpk.zeros, g.exact.zeros, zpk.n_zeros);
    pe = golden_roots_distance (zpk.poles, g.exact.poles, zpk.n_poles);
    tap_many_check (&exact, ze <= ROOT_TOLERANCE && pe <= ROOT_TOLERANCE,
        "%s: zeros %.2g, poles %.2g off", text, ze, pe);
    worst_root = fmax (worst_root, fmax (ze, pe));
    z = golden_roots_distance (g.scipy.zeros, g.exact.zeros, g.scipy.n_zeros);
    p = golden_roots_distance (g.scipy.poles, g.exact.poles, g.scipy.n_poles);
    if (z > ROOT_TOLERANCE || p > ROOT_TOLERANCE) {
      tap_diag ("%s: SciPy's own roots are %.2g off", text, fmax (z, p));
      n_differ++;
      continue;
    }
    z = golden_roots_distance (zpk.zeros, g.scipy.zeros, zpk.n_zeros);
    p = golden_roots_distance (zpk.poles, g.scipy.poles, zpk.n_poles);
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
  bool scipy_is_known;           /* and right at all points */
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
    /* SciPy's value is not a number, or off itself. */
    if (!(hypot (p->scipy_deviation.re, p->scipy_deviation.im) <=
            RESPONSE_TOLERANCE)) {
      e.scipy_is_known = false;
      continue;
    }
    d = test_complex_distance (h, scipy_point (p));
    if (!(d <= e.from_scipy))
      e.from_scipy = d;
  }
  return e;
}

/* One unit in the last place of a coefficient of this size. */
static double
unit_of (double c)
{
  return c == 0 ? 0 : ldexp (DBL_EPSILON, ilogb (c));
}

/* The coefficients of a double section cannot say where its poles are better
 * than (da1 p + da2) / (2 Im p), da1 and da2 the rounding: a pole of high Q at
 * 20 Hz of 384 kHz moves by more than 1e-9 of the response.  This is what the
 * rounding of all coefficients, evenly spread over a unit in the last place of
 * each, does to the response, four standard deviations. */
static double
rounding_bound (const GoldenDesign *g, const TfxSos *sos, size_t n_sos)
{
  double worst = 0;

  for (size_t i = 0; i < g->n_points; i++) {
    TestQuad w = 2 * TEST_QUAD_PI * g->points[i].freq_hz / g->rate_hz;
    double variance = 0;

    for (size_t k = 0; k < n_sos; k++) {
      const double c[2][3] = { { sos[k].b0, sos[k].b1, sos[k].b2 },
        { 0, sos[k].a1, sos[k].a2 } };
      for (unsigned side = 0; side < 2; side++) {
        const double *s = c[side];
        TestFactor f = test_factor_at (side ? 1 : s[0], s[1], s[2], w);
        for (unsigned j = 0; j < 3; j++)
          variance += pow (unit_of (s[j]) / test_factor_magnitude (&f), 2) / 12;
      }
    }
    worst = fmax (worst, 4 * sqrt (variance));
  }
  return worst;
}

typedef struct ResponseChecks
{
  TapMany contract, limit;
  unsigned n_unknown, n_worse; /* worse: than SciPy's sections */
  double worst, worst_ratio, log_ratio;
} ResponseChecks;

static void
check_response (ResponseChecks *c, const GoldenDesign *g)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (&g->design, g->rate_hz, sos);
  double bound, theirs = fmax (RESPONSE_TOLERANCE, g->sos_error);
  ResponseError e;
  char text[TEST_TEXT_SIZE];

  test_design_text (&g->design, g->rate_hz, text);
  if (!tap_many_check (&c->contract,
          n == (int)(expected_poles (&g->design) + 1) / 2, "%s: %d sections",
          text, n))
    return;
  e = response_error (g, sos, (size_t)n);
  bound = rounding_bound (g, sos, (size_t)n);
  if (bound <= RESPONSE_TOLERANCE) {
    c->worst = fmax (c->worst, e.from_exact);
    c->n_unknown += !e.scipy_is_known;
    tap_many_check (&c->contract,
        e.from_exact <= RESPONSE_TOLERANCE &&
            e.from_scipy <= RESPONSE_TOLERANCE,
        "%s: %.3g from exact, %.3g from SciPy; SciPy's sections %.3g", text,
        e.from_exact, e.from_scipy, g->sos_error);
    return;
  }
  tap_many_check (&c->limit, e.from_exact <= bound,
      "%s: %.3g from exact, bound %.3g", text, e.from_exact, bound);
  c->n_worse += e.from_exact > theirs;
  c->worst_ratio = fmax (c->worst_ratio, e.from_exact / theirs);
  c->log_ratio += log (e.from_exact / g->sos_error);
}

/* Where double sections can hold 1e-9, ours do.  Where they cannot, ours err
 * less than the rounding allows, and on average no more than SciPy's own
 * sections (in one design or the other each is luckier). */
static void
test_response (void)
{
  Golden *golden = golden_open ("designs.txt");
  ResponseChecks c = { .contract =
                           tap_many ("response agrees with SciPy to 1e-9"),
    .limit = tap_many ("within the rounding where this is more") };
  double mean;
  GoldenDesign g;

  while (golden && golden_next (golden, &g))
    check_response (&c, &g);
  mean = exp (c.log_ratio / (double)c.limit.n_cases);
  tap_diag ("1e-9 can be held by %lu designs, the largest error is %.2g; "
            "%u compared with the exact response alone, SciPy's being off",
      c.contract.n_cases / 2, c.worst, c.n_unknown);
  tap_diag ("it cannot by %lu: SciPy's sections err less than ours in %u, by "
            "at most a factor %.2g; the mean ratio of ours to SciPy's is %.2g",
      c.limit.n_cases, c.n_worse, c.worst_ratio, mean);
  tap_check (mean <= 1, "on average no more than SciPy's");
  tap_many_end (&c.contract);
  tap_many_end (&c.limit);
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

/* One designer for all of them, which remembers fewer; frequencies move. */
static void
test_designer (void)
{
  Golden *golden = golden_open ("designs.txt");
  TapMany many = tap_many ("a designer designs the same, to the bit");
  TfxDesigner *designer = tfx_designer_new ();
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    for (int step = 0; step < 2; step++) {
      TfxSos want[TFX_DESIGN_MAX_SECTIONS], sos[TFX_DESIGN_MAX_SECTIONS];
      int n = tfx_design_sections (&g.design, g.rate_hz, want);
      int ret = tfx_designer_sections (designer, &g.design, g.rate_hz, sos);

      test_design_text (&g.design, g.rate_hz, text);
      tap_many_check (&many,
          ret == n && n > 0 && !memcmp (sos, want, (size_t)n * sizeof *sos),
          "%s: %d sections, not %d", text, ret, n);
      g.design.lower_hz *= 0.99;
    }
  }
  tap_many_end (&many);
  tfx_designer_free (&designer);
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
  { "designer", test_designer },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
