/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_design_limits.c: refused designs and their reasons, requests at the edge,
 * and the order of sections.
 */
#include "common.h"
#include "factor.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BAND(FAMILY, MODE)                                                     \
  {                                                                            \
    .family = (FAMILY), .mode = (MODE), .order = 4, .lower_hz = 1000,          \
    .upper_hz = 2000, .ripple_db = 0.1, .attenuation_db = 40                   \
  }
static const TfxDesign low_pass =
    BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS);
static const TfxDesign band_pass =
    BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_PASS);

/* All three functions refuse, and the text names the field. */
static void
check_refused (TapMany *many, TfxDesign design, double rate_hz,
    const char *field)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  TfxZpk zpk;
  const char *why = NULL;
  char text[TEST_TEXT_SIZE] = "";
  int err = tfx_design_check (&design, rate_hz, &why);

  if (design.family <= TFX_FAMILY_BESSEL && design.mode <= TFX_MODE_BAND_REJECT)
    test_design_text (&design, rate_hz, text);
  tap_many_check (many,
      err == -EINVAL && why && !strncmp (why, field, strlen (field)) &&
          strlen (why) > strlen (field) + 10,
      "%s, bad %s: check %d, \"%s\"", text, field, err, why ? why : "(null)");
  tap_many_check (many, tfx_design_check (&design, rate_hz, NULL) == -EINVAL,
      "%s, bad %s: accepted without a place for the reason", text, field);
  tap_many_check (many, tfx_design_sections (&design, rate_hz, sos) == -EINVAL,
      "%s, bad %s: sections accept", text, field);
  tap_many_check (many, tfx_design_zpk (&design, rate_hz, &zpk) == -EINVAL,
      "%s, bad %s: zpk accepts", text, field);
}

static void
test_refused (void)
{
#define FIELD(NAME) #NAME, offsetof(TfxDesign, NAME)
  static const struct
  {
    const char *name;
    size_t offset;
    TfxDesign design;
  } fields[] = {
    { FIELD (lower_hz), BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS) },
    { FIELD (lower_hz), BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS) },
    { FIELD (lower_hz), BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_PASS) },
    { FIELD (lower_hz), BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_REJECT) },
    { FIELD (upper_hz), BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_PASS) },
    { FIELD (upper_hz), BAND (TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_REJECT) },
    { FIELD (ripple_db), BAND (TFX_FAMILY_CHEBYSHEV1, TFX_MODE_LOW_PASS) },
    { FIELD (ripple_db), BAND (TFX_FAMILY_ELLIPTIC, TFX_MODE_LOW_PASS) },
    { FIELD (attenuation_db), BAND (TFX_FAMILY_CHEBYSHEV2, TFX_MODE_LOW_PASS) },
    { FIELD (attenuation_db), BAND (TFX_FAMILY_ELLIPTIC, TFX_MODE_LOW_PASS) },
  };
  /* The last ones are bad for frequencies alone. */
  static const double values[] = { 0, -0.0, -1, -1e300, NAN, -INFINITY,
    INFINITY, 24000, 24000.001, 48000, 1e300 };
  static const unsigned orders[] = { 0, 65, 66, 1000, INT_MAX, UINT_MAX };
  const size_t n_not_positive = 7, n_edges = 6;
  TapMany many = tap_many ("every bad field is refused by its name");
  TfxDesign d = fields[9].design;

  for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
    for (size_t i = 0; i < (f < n_edges ? 11 : n_not_positive); i++) {
      TfxDesign bad = fields[f].design;

      memcpy ((char *)&bad + fields[f].offset, &values[i], sizeof values[i]);
      check_refused (&many, bad, 48000, fields[f].name);
    }
  }
  for (size_t i = 0; i < n_not_positive; i++)
    check_refused (&many, low_pass, values[i], "rate_hz");
  d.attenuation_db = d.ripple_db;
  check_refused (&many, d, 48000, "attenuation_db");
  d = low_pass;
  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
    d.order = orders[i];
    check_refused (&many, d, 48000, "order");
  }
  d = band_pass;
  d.upper_hz = d.lower_hz;
  check_refused (&many, d, 48000, "upper_hz");
  d.upper_hz = 500;
  check_refused (&many, d, 48000, "upper_hz");
  d = low_pass;
  d.family = (TfxFamily)5;
  check_refused (&many, d, 48000, "family");
  d = low_pass;
  d.mode = (TfxMode)4;
  check_refused (&many, d, 48000, "mode");
  d.mode = (TfxMode)-1;
  check_refused (&many, d, 48000, "mode");
  tap_many_end (&many);
}

/* Fields of other modes and families are ignored. */
static void
test_ignored (void)
{
  TfxDesign d = low_pass;
  const char *why = "left as it was";

  d.upper_hz = NAN;
  d.ripple_db = -1;
  d.attenuation_db = NAN;
  tap_check (!tfx_design_check (&d, 48000, &why) && why == NULL,
      "fields of other modes and families do not matter");
}

static bool
is_finite_zpk (const TfxZpk *zpk)
{
  for (size_t i = 0; i < zpk->n_zeros; i++)
    if (!isfinite (zpk->zeros[i].re) || !isfinite (zpk->zeros[i].im))
      return false;
  for (size_t i = 0; i < zpk->n_poles; i++)
    if (!(hypot (zpk->poles[i].re, zpk->poles[i].im) <= 1))
      return false;
  return isfinite (zpk->gain);
}

/* Where the pass band's gain is known: DC, half the rate, or the centre. */
static double
reference_gain_error (const TfxDesign *d, double rate, const TfxSos *sos, int n,
    double *bound)
{
  double freq = 0, wanted = 1;
  TestQuadComplex h;

  if (d->mode == TFX_MODE_HIGH_PASS)
    freq = rate / 2;
  if (d->mode == TFX_MODE_BAND_PASS)
    freq = rate / M_PI *
           atan (sqrt (tan (M_PI * d->lower_hz / rate) *
                       tan (M_PI * d->upper_hz / rate)));
  if (d->family == TFX_FAMILY_CHEBYSHEV1 && d->order % 2 == 0)
    wanted = pow (10, -d->ripple_db / 20);
  h = test_response_quad (sos, (size_t)n, freq, rate);
  *bound = test_response_bound (sos, (size_t)n, freq, rate);
  return fabs ((double)test_quad_sqrt (h.re * h.re + h.im * h.im) / wanted - 1);
}

static TfxDesign
random_design (double rate)
{
  TfxDesign d = { .family = (TfxFamily)tap_random_below (3),
    .mode = (TfxMode)tap_random_below (4),
    .order = 1 + tap_random_below (64),
    .ripple_db = pow (10, tap_random_uniform (-9, 2.5)),
    .attenuation_db = pow (10, tap_random_uniform (-9, 2.5)) };
  double nyquist = rate / 2;

  if (tap_random_below (3))
    d.lower_hz = nyquist * pow (10, tap_random_uniform (-9, 0));
  else
    d.lower_hz = nyquist * (1 - pow (10, tap_random_uniform (-12, 0)));
  if (tap_random_below (2))
    d.upper_hz = tap_random_uniform (d.lower_hz, nyquist);
  else
    d.upper_hz = d.lower_hz * (1 + pow (10, tap_random_uniform (-14, 1)));
  return d;
}

/* Any request is either refused with a reason, or gives a filter that is
 * finite and stable, and passes its reference frequency as it should. */
static void
test_anything (void)
{
  TapMany many = tap_many ("a random request is refused or works");
  TapMany gain = tap_many ("gain at DC, centre or half the rate");
  unsigned n_accepted = 0, n_requests = part_is_wanted () ? 5000 : 20000;
  char text[TEST_TEXT_SIZE];

  for (unsigned i = 0; i < n_requests; i++) {
    double rate = 8000 * pow (2, tap_random_uniform (0, 6));
    TfxDesign d = random_design (rate);
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    TfxZpk zpk;
    const char *why = NULL;
    double error, bound;
    int err = tfx_design_check (&d, rate, &why);
    int n = tfx_design_sections (&d, rate, sos);
    bool band = d.mode >= TFX_MODE_BAND_PASS;

    test_design_text (&d, rate, text);
    tap_many_check (&many, (err == -EINVAL) == (why != NULL),
        "%s: result %d and \"%s\"", text, err, why ? why : "(null)");
    tap_many_check (&many, err ? n == err : n > 0, "%s: check %d, sections %d",
        text, err, n);
    if (err || n <= 0)
      continue;
    n_accepted++;
    tap_many_check (&many, n == (int)(band ? d.order : (d.order + 1) / 2),
        "%s: %d sections", text, n);
    for (int k = 0; k < n; k++)
      tap_many_check (&many, tfx_sos_is_stable (&sos[k]),
          "%s: section %d is not stable", text, k);
    tap_many_check (&many,
        !tfx_design_zpk (&d, rate, &zpk) && is_finite_zpk (&zpk), "%s: zpk",
        text);
    error = reference_gain_error (&d, rate, sos, n, &bound);
    tap_many_check (&gain, error <= bound, "%s: gain is %.3g off, bound %.3g",
        text, error, bound);
  }
  tap_diag ("%u of %u requests accepted", n_accepted, n_requests);
  tap_check (n_accepted > n_requests / 4, "many are accepted");
  tap_many_end (&many);
  tap_many_end (&gain);
}

/* The order must not change with the cutoff, or a section gets the state of
 * another.  The nearest section of the next setting is the same one:
 * by their denominators in the s plane, relative to the cutoff. */
static void
analog_denominator (const TfxSos *s, double scale, double *sum, double *product)
{
  double d = 1 - s->a1 + s->a2;

  /* s = (z - 1) / (z + 1) */
  if (s->a2 == 0) {
    *sum = (1 + s->a1) / (1 - s->a1) / scale;
    *product = 0;
    return;
  }
  *sum = 2 * (1 - s->a2) / d / scale;
  *product = (1 + s->a1 + s->a2) / d / (scale * scale);
}

static void
check_order (TapMany *many, TfxDesign d)
{
  double before[TFX_DESIGN_MAX_SECTIONS][2];

  for (double f = 20; f < 23000; f *= 1.3) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    double w = tan (M_PI * f / 48000);
    int n;

    d.lower_hz = f;
    n = tfx_design_sections (&d, 48000, sos);
    for (int k = 0; k < n; k++) {
      double sum, product;
      analog_denominator (&sos[k], w, &sum, &product);
      if (f > 20)
        tap_many_check (many,
            fabs (sum / before[k][0] - 1) < 1e-6 &&
                fabs (product - before[k][1]) <= 1e-6 * before[k][1],
            "family %u mode %u order %u, %g Hz, section %d: %g %g, was %g %g",
            d.family, d.mode, d.order, f, k, sum, product, before[k][0],
            before[k][1]);
      before[k][0] = sum;
      before[k][1] = product;
    }
  }
}

/* In the band modes the sections of one prototype factor lie around the
 * centre, and only small steps identify them. */
static void
check_order_in_band (TapMany *many, TfxDesign d)
{
  for (double f = 30; f < 15000; f *= 1.7) {
    TfxSos one[TFX_DESIGN_MAX_SECTIONS], two[TFX_DESIGN_MAX_SECTIONS];
    /* Roots lie within a few w of 1 and move by a like fraction. */
    double allowed = 1e-5 * 20 * 2 * M_PI * f / 48000;
    int n;

    d.lower_hz = f;
    d.upper_hz = f * tap_random_uniform (1.1, 1.5);
    n = tfx_design_sections (&d, 48000, one);
    d.lower_hz *= 1.00001;
    d.upper_hz *= 1.00001;
    if (n != tfx_design_sections (&d, 48000, two))
      n = 0;
    tap_many_check (many, n > 0, "%g Hz refused", f);
    for (int k = 0; k < n; k++) {
      double moved = hypot (one[k].a1 - two[k].a1, one[k].a2 - two[k].a2);

      tap_many_check (many, moved <= allowed,
          "family %u mode %u order %u at %g Hz, section %d moves %.3g, at most "
          "%.3g",
          d.family, d.mode, d.order, f, k, moved, allowed);
    }
  }
}

static void
test_order_is_kept (void)
{
  TapMany many = tap_many ("a section stays the same one while cutoffs change");
  TapMany bands = tap_many ("and while bands change");

  for (unsigned i = 0; i < 3 * 4; i++) {
    const bool is_band = i / 3 >= TFX_MODE_BAND_PASS;

    for (unsigned n = 2; n <= 64; n += 1 + n / (is_band ? 4 : 8)) {
      const TfxDesign d = { .family = (TfxFamily)(i % 3),
        .mode = (TfxMode)(i / 3),
        .order = n,
        .ripple_db = 0.1,
        .attenuation_db = 40 };

      if (is_band)
        check_order_in_band (&bands, d);
      else
        check_order (&many, d);
    }
  }
  tap_many_end (&many);
  tap_many_end (&bands);
}

/* No partial cascade may be low in the pass band while it is high elsewhere: the
 * rounding noise of later sections would then have more weight.  Doubles have about
 * 320 dB, and the contract asks for 145 dB of float32 streams, and for SciPy's error
 * of F64 with the same sections; so the order may cost at most 100 dB. */
static void
test_partial_range (void)
{
  TapMany many = tap_many ("partial cascades range over less than 100 dB");
  double worst = 0;
  char text[TEST_TEXT_SIZE], worst_text[TEST_TEXT_SIZE] = "";

  for (unsigned i = 0; i < 3 * 4 * 64; i++) {
    static const double ripples[] = { 0.01, 0.1, 0.5, 3 };
    static const double attenuations[] = { 20, 40, 80, 40 };
    TfxDesign d = { .family = (TfxFamily)(i % 3),
      .mode = (TfxMode)(i / 3 % 4),
      .order = 1 + i / 12,
      .lower_hz = 100,
      .upper_hz = 300,
      .ripple_db = ripples[i / 12 % 4],
      .attenuation_db = attenuations[i / 12 % 4] };
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    double low[TFX_DESIGN_MAX_SECTIONS], high[TFX_DESIGN_MAX_SECTIONS];
    int n = tfx_design_sections (&d, 48000, sos);

    test_design_text (&d, 48000, text);
    for (int k = 1; k < n; k++) {
      low[k] = INFINITY;
      high[k] = 0;
    }
    for (double f = 5; f < 24000; f *= 1.01) {
      double partial[TFX_DESIGN_MAX_SECTIONS], m = 1;

      for (int k = 0; k < n; k++) {
        const TfxComplex h = tfx_response_at (&sos[k], 1, f, 48000);

        partial[k] = m;
        m *= hypot (h.re, h.im);
      }
      for (int k = 1; k < n; k++) {
        if (m > 0.63)
          low[k] = fmin (low[k], partial[k]);
        high[k] = fmax (high[k], partial[k]);
      }
    }
    for (int k = 1; k < n; k++) {
      const double range_db = 20 * log10 (high[k] / low[k]);

      if (range_db > worst) {
        worst = range_db;
        strcpy (worst_text, text);
      }
      tap_many_check (&many, range_db < 100, "%s, %d sections: %.1f dB", text,
          k, range_db);
    }
  }
  tap_diag ("the largest range is %.1f dB: %s", worst, worst_text);
  tap_many_end (&many);
}

static void
test_stability (void)
{
  static const struct
  {
    double a1, a2;
    bool stable;
  } cases[] = { { 0, 0, true }, { -1.9999, 0.99995, true }, { 0, 0.9999, true },
    { 0, 1, false }, { 0, -0.9999, true }, { 0, -1, false }, { -2, 1, false },
    { -1, 0, false }, { 1, 0, false }, { 0.999, 0, true }, { 1.5, 0.4, false },
    { -1.5, 0.4, false }, { NAN, 0, false }, { 0, NAN, false },
    { INFINITY, 0, false }, { 0, -INFINITY, false } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxSos s = { 1, 0, 0, cases[i].a1, cases[i].a2 };
    tap_check (tfx_sos_is_stable (&s) == cases[i].stable,
        "1 %+g %+g is %sstable", cases[i].a1, cases[i].a2,
        cases[i].stable ? "" : "not ");
  }
  for (unsigned i = 0; i < 3; i++) {
    TfxSos s = { i == 0 ? NAN : 1, i == 1 ? INFINITY : 0, i == 2 ? NAN : 0, 0,
      0 };
    tap_check (!tfx_sos_is_stable (&s), "b%u not finite: not stable", i);
  }
}

static const TapTest tests[] = {
  { "refused", test_refused },
  { "ignored", test_ignored },
  { "anything", test_anything },
  { "order-is-kept", test_order_is_kept },
  { "partial-range", test_partial_range },
  { "stability", test_stability },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
