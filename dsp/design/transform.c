/* SPDX-License-Identifier: LGPL-2.1-or-later
 * transform.c: frequency transforms, the bilinear transform, and sections.
 *
 * Prototype to band, with W = tan (pi fc / rate) or the edges W1, W2,
 * B = W2 - W1, W0^2 = W1 W2:
 *
 *   low-pass     s = W p               high-pass    s = W / p
 *   band-pass    s^2 - B p s + W0^2    band-reject  s^2 - B / p s + W0^2
 *
 * then z = (1 + s) / (1 - s).  A conjugate pair of the prototype becomes one
 * section, or, in a band mode, two: one on each side of the centre.  They
 * stand next to each other so that the product of each two is a mapped
 * prototype factor and stays as flat as that was.
 *
 * Everything is computed in long double and in a form without cancellation:
 * 1 - p for a pole p near 1 comes from s, not from p. */
#include "transform.h"

#include <complex.h>
#include <math.h>

typedef long double complex LComplex;

void
tfx_transform_band (const TfxDesign *design, double rate_hz, TfxBand *band)
{
  const long double pi = 3.141592653589793238462643383279502884L;
  long double lower = pi * design->lower_hz / rate_hz;

  band->mode = design->mode;
  if (design->mode == TFX_MODE_LOW_PASS || design->mode == TFX_MODE_HIGH_PASS) {
    band->width = tanl (lower);
    band->centre = 0.0L;
  } else {
    long double upper = pi * design->upper_hz / rate_hz;
    long double apart =
        pi * ((long double)design->upper_hz - design->lower_hz) / rate_hz;

    /* tan a - tan b = sin (a - b) / (cos a cos b) */
    band->width = sinl (apart) / (cosl (upper) * cosl (lower));
    band->centre = sqrtl (tanl (lower) * tanl (upper));
  }
}

/* Low-pass and high-pass: one section from one factor. */
static TfxAnalog
scale_factor (const TfxFactor *f, const TfxBand *band)
{
  bool low = band->mode == TFX_MODE_LOW_PASS;
  long double w = band->width;
  long double p2 = (long double)f->re * f->re + (long double)f->im * f->im;
  TfxAnalog a;

  a.n_poles = f->im == 0.0 ? 1 : 2;
  if (a.n_poles == 1)
    a.sum = low ? w * f->re : w / f->re;
  else
    a.sum = low ? 2.0L * w * f->re : 2.0L * w * f->re / p2;
  a.product = low ? w * w * p2 : w * w / p2;
  if (isfinite (f->zero)) {
    a.zeros = TFX_ZEROS_AT_OMEGA;
    a.omega = low ? w * f->zero : w / f->zero;
  } else {
    a.zeros = low ? TFX_ZEROS_AT_INFINITY : TFX_ZEROS_AT_ORIGIN;
    a.omega = 0.0L;
  }
  return a;
}

/* The band modes: s^2 - 2 h s + centre^2 with h = width/2 times p or 1/p. */
static unsigned
split_factor (const TfxFactor *f, const TfxBand *band, TfxAnalog out[2])
{
  bool pass = band->mode == TFX_MODE_BAND_PASS;
  long double half = 0.5L * band->width, w0 = band->centre, w02 = w0 * w0;
  LComplex p = (long double)f->re + I * (long double)f->im;
  LComplex h = pass ? half * p : half / p;
  TfxAnalog a = { .n_poles = 2, .zeros = TFX_ZEROS_AT_BOTH, .omega = 0.0L };
  /* Where the upper section goes.  The one that takes more of the high
   * frequencies away reduces the rounding of the other: without zeros this is
   * the lower one, with zeros the one whose zeros lie above the band. */
  unsigned up = isfinite (f->zero) ? 0 : 1;

  if (!pass) {
    a.zeros = TFX_ZEROS_AT_OMEGA;
    a.omega = w0;
  }
  if (f->im == 0.0) {
    a.sum = 2.0L * creall (h);
    a.product = w02;
    out[0] = a;
    return 1;
  }

  /* The root of larger magnitude without cancellation, the other by Vieta. */
  LComplex root = csqrtl (h * h - w02);
  if (creall (conjl (h) * root) < 0.0L)
    root = -root;
  LComplex upper = h + root, lower = w02 / upper;

  out[0] = out[1] = a;
  out[up].sum = 2.0L * creall (upper);
  out[up].product = creall (upper * conjl (upper));
  out[!up].sum = 2.0L * creall (lower);
  out[!up].product = creall (lower * conjl (lower));
  if (isfinite (f->zero)) {
    long double u = pass ? half * f->zero : half / f->zero;
    out[0].zeros = out[1].zeros = TFX_ZEROS_AT_OMEGA;
    out[up].omega = u + sqrtl (u * u + w02);
    out[!up].omega = w02 / out[up].omega;
  }
  return 2;
}

unsigned
tfx_transform_factor (const TfxFactor *factor, const TfxBand *band,
    TfxAnalog section[2])
{
  if (band->mode == TFX_MODE_LOW_PASS || band->mode == TFX_MODE_HIGH_PASS) {
    section[0] = scale_factor (factor, band);
    return 1;
  }
  return split_factor (factor, band, section);
}

/* The numerator with b0 = 1. */
static void
numerator (const TfxAnalog *a, long double b[3])
{
  bool one = a->n_poles == 1;

  b[0] = 1.0L;
  b[1] = 0.0L;
  b[2] = -1.0L;
  switch (a->zeros) {
    case TFX_ZEROS_AT_BOTH:
      break;
    case TFX_ZEROS_AT_ORIGIN:
      b[1] = one ? -1.0L : -2.0L;
      b[2] = one ? 0.0L : 1.0L;
      break;
    case TFX_ZEROS_AT_INFINITY:
      b[1] = one ? 1.0L : 2.0L;
      b[2] = one ? 0.0L : 1.0L;
      break;
    case TFX_ZEROS_AT_OMEGA: {
      long double w2 = a->omega * a->omega;
      b[1] = 2.0L * (w2 - 1.0L) / (w2 + 1.0L);
      b[2] = 1.0L;
      break;
    }
  }
}

/* |c0 + c1 / z + c2 / z^2| at the band's reference frequency. */
static long double
magnitude_at_reference (const TfxBand *band, long double c0, long double c1,
    long double c2)
{
  switch (band->mode) {
    case TFX_MODE_HIGH_PASS:
      return fabsl (c0 - c1 + c2);
    case TFX_MODE_BAND_PASS: {
      /* Times z: (c0 + c2) cos w + c1 + j (c0 - c2) sin w, and
       * cos w = 1 - 2 sin^2 (w / 2) spares the cancellation near DC. */
      long double w2 = band->centre * band->centre;
      long double versine = 2.0L * w2 / (1.0L + w2);
      long double sine = 2.0L * band->centre / (1.0L + w2);
      return hypotl ((c0 + c1 + c2) - (c0 + c2) * versine, (c0 - c2) * sine);
    }
    case TFX_MODE_LOW_PASS:
    case TFX_MODE_BAND_REJECT:
      break;
  }
  return fabsl (c0 + c1 + c2);
}

/* Rounds the product root of 1 + c1/z + c2/z^2 given the exact values of the
 * polynomial at z = 1 and z = -1.  c1 and c2 each carry a rounding error; c2
 * is chosen to undo that of c1 where the polynomial is smallest, which keeps
 * the root's frequency (the larger error by far for a root near +-1). */
static void
round_quadratic (long double at_one, long double at_minus_one, double *c1,
    double *c2)
{
  *c1 = (double)(0.5L * (at_one - at_minus_one));
  if (*c1 < 0.0)
    *c2 = (double)(at_one - (1.0L + (long double)*c1));
  else
    *c2 = (double)(at_minus_one - (1.0L - (long double)*c1));
}

static LComplex
bilinear (LComplex s)
{
  return (1.0L + s) / (1.0L - s);
}

static void
add_root (TfxComplex *roots, size_t *n, LComplex z)
{
  roots[*n].re = (double)creall (z);
  roots[*n].im = (double)cimagl (z);
  (*n)++;
}

/* The poles of the section in the s plane; returns how many. */
static unsigned
analog_poles (const TfxAnalog *a, LComplex pole[2])
{
  long double h = 0.5L * a->sum, square = h * h - a->product;

  if (a->n_poles == 1) {
    pole[0] = a->sum;
    return 1;
  }
  if (square < 0.0L) {
    pole[0] = h + I * sqrtl (-square);
    pole[1] = conjl (pole[0]);
  } else {
    pole[0] = h - sqrtl (square); /* h < 0 */
    pole[1] = a->product / pole[0];
  }
  return 2;
}

/* The magnitude of the section's polynomials in 1/z, leading coefficients 1,
 * at the reference, without cancellation: with s the reference and q a root,
 * 1 - root / z = 2 (s - q) / ((1 + s) (1 - q)); the product of two such factors
 * follows from the sum and the product of the roots. */
static long double
exact_numerator (const TfxAnalog *a, const TfxBand *band)
{
  long double b[3], w2 = a->omega * a->omega, c2 = band->centre * band->centre;

  if (a->zeros == TFX_ZEROS_AT_OMEGA) {
    switch (band->mode) {
      case TFX_MODE_HIGH_PASS:
        return 4.0L / (1.0L + w2);
      case TFX_MODE_BAND_PASS:
        return 4.0L *
               fabsl ((a->omega - band->centre) * (a->omega + band->centre)) /
               ((1.0L + c2) * (1.0L + w2));
      case TFX_MODE_LOW_PASS:
      case TFX_MODE_BAND_REJECT:
        return 4.0L * w2 / (1.0L + w2);
    }
  }
  numerator (a, b);
  return magnitude_at_reference (band, b[0], b[1], b[2]);
}

static long double
exact_denominator (const TfxAnalog *a, const TfxBand *band)
{
  const bool two = a->n_poles == 2;
  const long double c = band->centre;
  const long double at_origin = two ? a->product : -a->sum;
  const long double d =
      (two ? 1.0L - a->sum + a->product : 1.0L - a->sum) / (two ? 4.0L : 2.0L);

  switch (band->mode) {
    case TFX_MODE_HIGH_PASS: /* s = infinity */
      return 1.0L / d;
    case TFX_MODE_BAND_PASS: /* two poles always */
      return hypotl (a->product - c * c, c * a->sum) / ((1.0L + c * c) * d);
    case TFX_MODE_LOW_PASS:
    case TFX_MODE_BAND_REJECT: /* s = 0 */
      break;
  }
  return at_origin / d;
}

/* True if rounding changes the response at the reference by at most one per
 * cent.  Where it did not, poles and zeros are nearer to each
 * other, or to z = +-1, than doubles can tell. */
static bool
is_near (long double rounded, long double exact)
{
  return fabsl (rounded - exact) <= 0.01L * exact;
}

/* The same of the poles where the section resonates: how far they are from the
 * circle. */
static bool
keeps_resonance (const TfxAnalog *a, const TfxSos *s)
{
  const TfxBand at = { .mode = TFX_MODE_BAND_PASS,
    .centre = sqrtl (a->product) };

  return a->n_poles != 2 ||
         is_near (magnitude_at_reference (&at, 1.0L, s->a1, s->a2),
             exact_denominator (a, &at));
}

bool
tfx_transform_sos (const TfxAnalog *a, const TfxBand *band, TfxSos *s)
{
  long double b[3], at_one = 0.0L, at_minus_one = 0.0L;
  long double exact_n = exact_numerator (a, band);
  long double exact_d = exact_denominator (a, band);
  long double n, d, gain;
  double b1 = 0.0, b2;

  numerator (a, b);
  if (a->n_poles == 1) {
    s->a1 = (double)-((1.0L + a->sum) / (1.0L - a->sum));
    s->a2 = 0.0;
  } else {
    long double q = 1.0L - a->sum + a->product;
    round_quadratic (4.0L * a->product / q, 4.0L / q, &s->a1, &s->a2);
  }
  if (a->zeros == TFX_ZEROS_AT_OMEGA) {
    long double w2 = a->omega * a->omega;
    at_one = 4.0L * w2 / (1.0L + w2);
    at_minus_one = 4.0L / (1.0L + w2);
    round_quadratic (at_one, at_minus_one, &b1, &b2);
    b[1] = b1;
    b[2] = b2;
  }

  /* Dividing by the rounded denominator makes the gain right in spite of the
   * rounding. */
  n = magnitude_at_reference (band, b[0], b[1], b[2]);
  d = magnitude_at_reference (band, 1.0L, s->a1, s->a2);
  gain = d / n;
  s->b0 = (double)gain;
  s->b1 = (double)(gain * b[1]);
  s->b2 = (double)(gain * b[2]);
  if (a->zeros == TFX_ZEROS_AT_OMEGA) {
    if (b1 < 0.0)
      s->b2 = (double)(gain * at_one - ((long double)s->b0 + s->b1));
    else
      s->b2 = (double)(gain * at_minus_one - ((long double)s->b0 - s->b1));
  }
  return is_near (n, exact_n) && is_near (d, exact_d) && keeps_resonance (a, s);
}

void
tfx_transform_zpk (const TfxAnalog *a, const TfxBand *band, TfxZpk *zpk)
{
  LComplex pole[2];
  unsigned n = analog_poles (a, pole);

  for (unsigned i = 0; i < n; i++)
    add_root (zpk->poles, &zpk->n_poles, bilinear (pole[i]));
  switch (a->zeros) {
    case TFX_ZEROS_AT_ORIGIN:
    case TFX_ZEROS_AT_INFINITY:
      for (unsigned i = 0; i < n; i++)
        add_root (zpk->zeros, &zpk->n_zeros,
            a->zeros == TFX_ZEROS_AT_ORIGIN ? 1.0L : -1.0L);
      break;
    case TFX_ZEROS_AT_BOTH:
      add_root (zpk->zeros, &zpk->n_zeros, 1.0L);
      add_root (zpk->zeros, &zpk->n_zeros, -1.0L);
      break;
    case TFX_ZEROS_AT_OMEGA: {
      LComplex z = bilinear (I * a->omega);
      add_root (zpk->zeros, &zpk->n_zeros, z);
      add_root (zpk->zeros, &zpk->n_zeros, conjl (z));
      break;
    }
  }
  zpk->gain = (double)(zpk->gain * exact_denominator (a, band) /
                       exact_numerator (a, band));
}
