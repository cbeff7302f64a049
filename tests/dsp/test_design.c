/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_design.c: zeros, poles, gain and response of the designs against
 * scipy.signal, over the grid of tests/golden/designs.txt; the same designs as
 * state-variable filters; Bessel prototypes.
 *
 * Where SciPy itself is off, the golden file has the exact value and the
 * comparison is with that; how often is printed.
 */
#include "common.h"
#include "core/stage.h"
#include "design/prototype.h"
#include "factor.h"
#include "golden.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Of zeros and poles. */
static double
roots_distance (const TfxZpk *a, const TfxZpk *b)
{
  return test_worse (golden_roots_distance (a->zeros, b->zeros, a->n_zeros),
      golden_roots_distance (a->poles, b->poles, a->n_poles));
}

static void
test_zpk (void)
{
  TapMany counts = tap_many ("as many roots as SciPy has, conjugates paired");
  TapMany scipy = tap_many ("zeros and poles agree with SciPy to 1e-12");
  TapMany exact = tap_many ("roots agree with the exact ones to 1e-12");
  TapMany gain = tap_many ("gain agrees with SciPy to 1e-12");
  unsigned n_roots_differ = 0, n_gains_differ = 0, n_tiny = 0;
  double worst_root = 0, worst_gain = 0;
  GoldenDesign g;

  while (golden_next ("designs.txt", &g)) {
    TfxZpk zpk;
    double e;

    if (!tap_many_check (&counts,
            tfx_design_zpk (&g.design, g.rate_hz, &zpk) == 0 &&
                zpk.n_zeros == g.scipy.n_zeros &&
                zpk.n_poles == g.scipy.n_poles &&
                zpk.n_poles == expected_poles (&g.design) &&
                conjugates_are_paired (zpk.zeros, zpk.n_zeros) &&
                conjugates_are_paired (zpk.poles, zpk.n_poles),
            "%s: refused, or %zu zeros, %zu poles", g.text, zpk.n_zeros,
            zpk.n_poles))
      continue;
    e = roots_distance (&zpk, &g.exact);
    worst_root = fmax (worst_root, e);
    tap_many_check (&exact, e <= ROOT_TOLERANCE, "%s: %.2g off", g.text, e);
    if (roots_distance (&g.scipy, &g.exact) > ROOT_TOLERANCE)
      n_roots_differ++;
    else
      tap_many_check (&scipy, roots_distance (&zpk, &g.scipy) <= ROOT_TOLERANCE,
          "%s: %.2g off", g.text, roots_distance (&zpk, &g.scipy));
    if (fabs (g.exact.gain) < DBL_MIN) {
      tap_many_check (&gain, fabs (zpk.gain) < DBL_MIN,
          "%s: gain %g, should be below the range of double", g.text, zpk.gain);
      n_tiny++;
      continue;
    }
    e = relative_error (zpk.gain, g.exact.gain);
    worst_gain = fmax (worst_gain, e);
    if (relative_error (g.scipy.gain, g.exact.gain) <= GAIN_TOLERANCE)
      e = relative_error (zpk.gain, g.scipy.gain);
    else
      n_gains_differ++;
    tap_many_check (&gain, e <= GAIN_TOLERANCE, "%s: gain %.17g is %.2g off",
        g.text, zpk.gain, e);
  }
  tap_diag ("roots at most %.2g from the exact ones, gain %.2g; SciPy's own "
            "are "
            "off in %u and %u designs; %u gains below the range of double",
      worst_root, worst_gain, n_roots_differ, n_gains_differ, n_tiny);
  tap_many_end (&counts);
  tap_many_end (&scipy);
  tap_many_end (&exact);
  tap_many_end (&gain);
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

    e.from_exact = test_worse (e.from_exact, d);
    /* SciPy's value is not a number, or off itself. */
    if (!(hypot (p->scipy_deviation.re, p->scipy_deviation.im) <=
            RESPONSE_TOLERANCE)) {
      e.scipy_is_known = false;
      continue;
    }
    e.from_scipy =
        test_worse (e.from_scipy, test_complex_distance (h, scipy_point (p)));
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
    const TestAngle w = test_angle (g->points[i].freq_hz, g->rate_hz);
    double variance = 0;

    for (size_t k = 0; k < n_sos; k++) {
      const double c[2][3] = { { sos[k].b0, sos[k].b1, sos[k].b2 },
        { 0, sos[k].a1, sos[k].a2 } };
      for (unsigned side = 0; side < 2; side++) {
        const double *s = c[side];
        TestFactor f = test_factor_at (side ? 1 : s[0], s[1], s[2], &w);
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

  if (!tap_many_check (&c->contract,
          n == (int)(expected_poles (&g->design) + 1) / 2, "%s: %d sections",
          g->text, n))
    return;
  e = response_error (g, sos, (size_t)n);
  bound = rounding_bound (g, sos, (size_t)n);
  if (bound <= RESPONSE_TOLERANCE) {
    c->worst = fmax (c->worst, e.from_exact);
    c->n_unknown += !e.scipy_is_known;
    tap_many_check (&c->contract,
        e.from_exact <= RESPONSE_TOLERANCE &&
            e.from_scipy <= RESPONSE_TOLERANCE,
        "%s: %.3g from exact, %.3g from SciPy; SciPy's sections %.3g", g->text,
        e.from_exact, e.from_scipy, g->sos_error);
    return;
  }
  tap_many_check (&c->limit, e.from_exact <= bound,
      "%s: %.3g from exact, bound %.3g", g->text, e.from_exact, bound);
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
  ResponseChecks c = { .contract =
                           tap_many ("response agrees with SciPy to 1e-9"),
    .limit = tap_many ("within the rounding where this is more") };
  double mean;
  GoldenDesign g;

  while (golden_next ("designs.txt", &g))
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
}

/* The triangle of stability, derived anew. */
static bool
is_stable (const TfxSos *s)
{
  return s->a2 < 1 && s->a2 > -1 && s->a1 < 1 + s->a2 && -s->a1 < 1 + s->a2 &&
         isfinite (s->b0) && isfinite (s->b1) && isfinite (s->b2);
}

/* One designer for all of them, which remembers fewer; the frequencies change. */
static void
test_designer (void)
{
  TapMany stable = tap_many ("every section is stable");
  TapMany many = tap_many ("a designer designs the same, to the bit");
  TfxDesigner *designer = tfx_designer_new ();
  GoldenDesign g;

  while (golden_next ("designs.txt", &g)) {
    for (int step = 0; step < 2; step++) {
      TfxSos want[TFX_DESIGN_MAX_SECTIONS], sos[TFX_DESIGN_MAX_SECTIONS];
      int n = tfx_design_sections (&g.design, g.rate_hz, want);
      int ret = tfx_designer_sections (designer, &g.design, g.rate_hz, sos);

      tap_many_check (&many,
          ret == n && n > 0 && !memcmp (sos, want, (size_t)n * sizeof *sos),
          "%s: %d sections, not %d", g.text, ret, n);
      for (int k = 0; step == 0 && k < n; k++)
        tap_many_check (&stable,
            is_stable (&want[k]) && tfx_sos_is_stable (&want[k]),
            "%s, section %d: %.17g %.17g", g.text, k, want[k].a1, want[k].a2);
      g.design.lower_hz *= 0.99;
    }
  }
  tap_many_end (&stable);
  tap_many_end (&many);
  tfx_designer_free (&designer);
}

/* ---- designs for points of a curve, as state-variable filters ---------------------- */

/* The largest difference of the poles' coefficients. */
static double
pole_error (const TfxSos *sos, const TfxSos *want, size_t n)
{
  double worst = 0.0;

  for (size_t k = 0; k < n; k++)
    worst = fmax (worst,
        fmax (fabs (sos[k].a1 - want[k].a1), fabs (sos[k].a2 - want[k].a2)));
  return worst;
}

static void
test_moved (void)
{
  TapMany many = tap_many ("a design for a point of a curve is right");
  TfxDesigner *designer = tfx_designer_new ();
  double worst = 0.0, worst_pole = 0.0;
  unsigned n_exact = 0;
  GoldenDesign g;

  while (golden_next ("designs.txt", &g)) {
    TfxSos want[TFX_DESIGN_MAX_SECTIONS];
    const int n = tfx_design_sections (&g.design, g.rate_hz, want);
    const TfxSos zero[TFX_DESIGN_MAX_SECTIONS] = { { 0 } };
    TfxStage *stage = tfx_stage_new_sections (1, zero, (size_t)n);
    double error = INFINITY, pole = INFINITY, bound = 0.0;

    if (tfx_designer_move (designer, &g.design, g.rate_hz, stage) == 0) {
      const TfxSos *sos = stage->u.sections.sos;

      error = response_error (&g, sos, (size_t)n).from_exact;
      pole = pole_error (sos, want, (size_t)n);
      bound =
          fmax (1e-11, 4.0 * response_error (&g, want, (size_t)n).from_exact);
      n_exact += !stage->u.sections.has_shapes;
    }
    tap_many_check (&many, error <= bound && pole <= 1e-14,
        "%s: off by %.3g of %.3g, its poles by %.3g", g.text, error, bound,
        pole);
    worst = fmax (worst, error / bound);
    worst_pole = fmax (worst_pole, pole);
    tfx_stage_unref (&stage);
  }
  tap_diag ("off by %.3g of the bound, poles by %.3g; %u in long double", worst,
      worst_pole, n_exact);
  tap_many_end (&many);
  tfx_designer_free (&designer);
}

/* ---- Bessel prototypes ---------------------------------------------------------------- */

/* How far the nearest pole is, relative to its magnitude. */
static double
find_distance (const TfxPrototype *p, double re, double im)
{
  double nearest = INFINITY;

  for (unsigned i = 0; i < p->n_factors; i++)
    nearest = fmin (nearest,
        hypot (p->factors[i].re - re, fabs (p->factors[i].im) - im));
  return nearest / hypot (re, im);
}

static void
test_bessel_poles (void)
{
  FILE *file = fopen (tap_data (GOLDEN_DIR "/bessel.txt"), "r");
  TapMany many = tap_many ("poles are SciPy's to 1e-12");
  char *line = NULL;
  size_t size = 0;
  unsigned n_lines = 0;
  double worst = 0.0;

  while (file && getline (&line, &size, file) >= 0) {
    char *at = line;
    TfxDesign d = { .family = TFX_FAMILY_BESSEL };
    TfxPrototype p;
    unsigned n = 0;

    if (line[0] == '#')
      continue;
    n_lines++;
    d.norm = (TfxNorm)strtol (at, &at, 10);
    d.order = (unsigned)strtol (at, &at, 10);
    tfx_prototype_init (&p, &d);
    while (*at == ' ') {
      double re = strtod (at + 1, &at), im = strtod (at + 1, &at);
      double off = find_distance (&p, re, im);

      n++;
      worst = fmax (worst, off);
      tap_many_check (&many, off <= ROOT_TOLERANCE,
          "norm %d, order %u: %.17g,%.17g is %.2g off", (int)d.norm, d.order,
          re, im, off);
    }
    tap_many_check (&many, n == p.n_factors, "norm %d, order %u: %u poles",
        (int)d.norm, d.order, p.n_factors);
  }
  tap_diag ("at most %.2g off", worst);
  tap_check (n_lines == 54, "%u lines of bessel.txt", n_lines);
  tap_many_end (&many);
  free (line);
  if (file)
    fclose (file);
}

/* Far below half the rate, where the bilinear transform bends nothing. */
static void
test_bessel_meaning (void)
{
  const double rate_hz = 4e6, cutoff_hz = 100.0, delay = 1.0 / (2 * M_PI * 100);
  TapMany many = tap_many ("norm 'delay' is a delay, 'mag' is 3 dB down");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];

  for (unsigned order = 1; order <= 20; order++) {
    TfxDesign d = { .family = TFX_FAMILY_BESSEL,
      .order = order,
      .lower_hz = cutoff_hz,
      .norm = TFX_NORM_MAGNITUDE };
    int n = tfx_design_sections (&d, rate_hz, sos);
    TfxComplex h = { 0, 0 };
    double found;

    if (n > 0)
      h = tfx_response_at (sos, (size_t)n, cutoff_hz, rate_hz);
    tap_many_check (&many, fabs (hypot (h.re, h.im) - sqrt (0.5)) < 1e-6,
        "order %u: %g at the cutoff", order, hypot (h.re, h.im));
    d.norm = TFX_NORM_DELAY;
    n = tfx_design_sections (&d, rate_hz, sos);
    found = n > 0 ? tfx_response_group_delay (sos, (size_t)n, 1.0, rate_hz) : 0;
    tap_many_check (&many, fabs (found / rate_hz / delay - 1) < 2e-4,
        "order %u: a delay of %g s", order, found / rate_hz);
  }
  tap_many_end (&many);
}

/* The grid is what the contract names. */
static void
test_grid (void)
{
  bool any_order[TFX_DESIGN_MAX_ORDER + 1] = { false };
  static const double rates[] = { 8000, 44100, 48000, 96000, 192000, 384000 };
  bool extremes[3][4][6][2] = { 0 };
  double lowest = INFINITY, highest = 0;
  unsigned n = 0, n_orders = 0, n_extremes = 0;
  GoldenDesign g;

  while (golden_next ("designs.txt", &g)) {
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
}

static const TapTest tests[] = {
  { "grid", test_grid },
  { "zpk", test_zpk },
  { "response", test_response },
  { "designer", test_designer },
  { "moved", test_moved },
  { "bessel-poles", test_bessel_poles },
  { "bessel-meaning", test_bessel_meaning },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
