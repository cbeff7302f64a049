/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_elliptic.c: elliptic designs against scipy.signal.ellip and, where that
 * is off, against exact values, over the grid of tests/golden/elliptic.txt.
 */
#include "common.h"
#include "golden.h"
#include "plain.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative. */
#define TOLERANCE 1e-12

/* The larger difference of roots and gain. */
static double
distance (const TfxZpk *a, const TfxZpk *b)
{
  const double roots =
      test_worse (golden_roots_distance (a->zeros, b->zeros, a->n_zeros),
          golden_roots_distance (a->poles, b->poles, a->n_poles));

  return test_worse (roots, fabs (a->gain / b->gain - 1));
}

static void
test_zpk (void)
{
  TapMany exact =
      tap_many ("roots and gain agree with the exact ones to 1e-12");
  TapMany scipy = tap_many ("and with SciPy's, where these do");
  unsigned n_orders = 0, n_scipy_off = 0, lowest_off = 65;
  bool seen[TFX_DESIGN_MAX_ORDER + 1] = { false };
  double worst = 0;
  GoldenDesign g;

  while (golden_next ("elliptic.txt", &g)) {
    TfxZpk zpk;

    n_orders += !seen[g.design.order];
    seen[g.design.order] = true;
    if (!tap_many_check (&exact,
            tfx_design_zpk (&g.design, g.rate_hz, &zpk) == 0 &&
                zpk.n_zeros == g.exact.n_zeros &&
                zpk.n_poles == g.exact.n_poles,
            "%s: %zu zeros, %zu poles", g.text, zpk.n_zeros, zpk.n_poles))
      continue;
    worst = fmax (worst, distance (&zpk, &g.exact));
    tap_many_check (&exact, distance (&zpk, &g.exact) <= TOLERANCE,
        "%s: %.2g off", g.text, distance (&zpk, &g.exact));
    if (distance (&g.scipy, &g.exact) <= TOLERANCE) {
      tap_many_check (&scipy, distance (&zpk, &g.scipy) <= TOLERANCE,
          "%s: %.2g off", g.text, distance (&zpk, &g.scipy));
      continue;
    }
    n_scipy_off++;
    if (g.design.order < lowest_off)
      lowest_off = g.design.order;
  }
  tap_diag ("at most %.2g off; SciPy's own roots or gain are more than 1e-12 "
            "off in %u designs, from order %u on",
      worst, n_scipy_off, lowest_off);
  tap_check (n_orders == TFX_DESIGN_MAX_ORDER, "%u orders", n_orders);
  tap_many_end (&exact);
  tap_many_end (&scipy);
}

static TfxChain *
make_chain (const TfxDesign *design, double rate_hz)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (design, rate_hz, sos);

  return test_chain_of_one (
      n < 0 ? NULL
            : tfx_stage_new_sections (tfx_stage_new_id (), sos, (size_t)n));
}

/* Where the gain of each section is set, of its rounded coefficients. */
static double
reference_frequency (const TfxDesign *d, double rate_hz)
{
  double w = M_PI / rate_hz;

  switch (d->mode) {
    case TFX_MODE_HIGH_PASS:
      return 0.5 * rate_hz;
    case TFX_MODE_BAND_PASS:
      return atan (sqrt (tan (w * d->lower_hz) * tan (w * d->upper_hz))) / w;
    default:
      return 0;
  }
}

/* The sections agree with the roots, within the rounding of each coefficient to
 * double, there and where the gain is set; near poles of high Q that is the limit. */
static void
test_response (void)
{
  TapMany many = tap_many ("response within what rounding of sections makes");
  PlainResponse at_reference;
  double worst = 0;
  GoldenDesign g;

  while (golden_next ("elliptic.txt", &g)) {
    TfxChain *chain = make_chain (&g.design, g.rate_hz);

    if (!tap_many_check (&many, chain, "%s: refused", g.text))
      continue;
    at_reference = plain_response (chain,
        reference_frequency (&g.design, g.rate_hz), g.rate_hz);
    for (size_t i = 0; i < g.n_points; i++) {
      const GoldenPoint *p = &g.points[i];
      PlainResponse found = plain_response (chain, p->freq_hz, g.rate_hz);
      double error = hypot (found.h.re - p->exact.re, found.h.im - p->exact.im);
      double gain_slack = at_reference.slack * hypot (found.h.re, found.h.im) /
                          hypot (at_reference.h.re, at_reference.h.im);
      double bound = DBL_EPSILON * (found.slack + gain_slack) + TOLERANCE;

      worst = fmax (worst, error / bound);
      tap_many_check (&many, error <= bound,
          "%s at %.10g Hz: %.2g off, bound %.2g", g.text, p->freq_hz, error,
          bound);
    }
    tfx_chain_unref (&chain);
  }
  tap_diag ("the largest error is %.2g of the bound", worst);
  tap_many_end (&many);
}

/* Pass band and stop band are as flat as asked, and no flatter. */
static void
test_ripple (void)
{
  static const double ripples[] = { 0.01, 0.1, 1, 3 };
  static const double attenuations[] = { 20, 40, 80 };
  TapMany many = tap_many ("ripple and attenuation are reached, not exceeded");

  for (unsigned order = 1; order <= 12; order++) {
    for (unsigned i = 0; i < 12; i++) {
      TfxDesign d = { .family = TFX_FAMILY_ELLIPTIC,
        .mode = TFX_MODE_LOW_PASS,
        .order = order,
        .lower_hz = 5000,
        .ripple_db = ripples[i % 4],
        .attenuation_db = attenuations[i / 4] };
      TfxChain *chain = make_chain (&d, 48000);
      double lowest = 0, highest = -999, stop = -999;

      for (double f = 0; chain && f <= 24000; f += f < 5000 ? 0.5 : 5) {
        PlainResponse r = plain_response (chain, f, 48000);
        double db = 10 * log10 (r.h.re * r.h.re + r.h.im * r.h.im + 1e-99);

        if (f <= 5000) {
          lowest = fmin (lowest, db);
          highest = fmax (highest, db);
        } else if (f > 23990 && order % 2 == 0) {
          /* An even order ends on the top of a ripple. */
          stop = fmax (stop, db);
        }
      }
      tap_many_check (&many,
          chain && fabs (highest) < 1e-3 && highest < 1e-9 &&
              fabs (lowest + d.ripple_db) < 1e-6 * d.ripple_db,
          "order %u, %g and %g dB: pass band from %.9g to %.9g dB", order,
          d.ripple_db, d.attenuation_db, lowest, highest);
      tap_many_check (&many,
          order % 2 == 1 || fabs (stop + d.attenuation_db) < 1e-3,
          "order %u, %g and %g dB: %.9g dB at the end", order, d.ripple_db,
          d.attenuation_db, stop);
      tfx_chain_unref (&chain);
    }
  }
  tap_many_end (&many);
}

/* The poles of high orders are near the circle.  Designs that doubles cannot hold are
 * refused; no other has a gain above that of the pass band. */
static void
test_orders (void)
{
  static const double shapes[][2] = { { 0.1, 40 }, { 1, 20 }, { 3, 80 },
    { 0.01, 60 } };
  TapMany many = tap_many ("a design is right, or refused");
  unsigned n_refused = 0;

  for (unsigned i = 0; i < 4 * TFX_DESIGN_MAX_ORDER; i++) {
    const TfxDesign d = { .family = TFX_FAMILY_ELLIPTIC,
      .mode =
          i / TFX_DESIGN_MAX_ORDER % 2 ? TFX_MODE_HIGH_PASS : TFX_MODE_LOW_PASS,
      .order = 1 + i % TFX_DESIGN_MAX_ORDER,
      .lower_hz = 1000,
      .ripple_db = shapes[i / TFX_DESIGN_MAX_ORDER][0],
      .attenuation_db = shapes[i / TFX_DESIGN_MAX_ORDER][1] };
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    const int n = tfx_design_sections (&d, 48000, sos);
    TfxZpk zpk;
    double highest = 0;

    tfx_design_zpk (&d, 48000, &zpk);
    n_refused += n < 0;
    for (size_t k = 0; n > 0 && k < zpk.n_poles; k++) {
      const double angle = atan2 (zpk.poles[k].im, zpk.poles[k].re);
      const TfxComplex h =
          tfx_response_at (sos, (size_t)n, 48000 * angle / (2 * M_PI), 48000);

      highest = fmax (highest, hypot (h.re, h.im));
    }
    tap_many_check (&many, n > 0 ? highest < 1.1 : d.order > 28,
        "order %u, %g and %g dB: %d, %g times", d.order, d.ripple_db,
        d.attenuation_db, n, highest);
  }
  tap_check (n_refused > 0, "%u are refused", n_refused);
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "orders", test_orders },
  { "zpk", test_zpk },
  { "response", test_response },
  { "ripple", test_ripple },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
