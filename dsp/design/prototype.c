/* SPDX-License-Identifier: LGPL-2.1-or-later
 * prototype.c: analog prototypes and the order of their factors.
 *
 * With theta_i = pi (2 i + 1) / (2 N), i = 0 .. N/2 - 1:
 *
 *   Butterworth   p = -sin theta + j cos theta
 *   Chebyshev 1   p = -sinh(mu) sin theta + j cosh(mu) cos theta,
 *                 mu = asinh(1 / eps) / N, eps^2 = 10^(ripple/10) - 1
 *   Chebyshev 2   the reciprocals of a Chebyshev 1 with
 *                 1 / eps^2 = 10^(attenuation/10) - 1, zeros at 1 / cos theta
 *   elliptic      see elliptic.c
 *   Bessel        see bessel.c
 *
 * (A. Antoniou, Digital Signal Processing, chapter 10.) */
#include "prototype.h"

#include <math.h>
#include <string.h>

/* 10^(db/10) - 1 without the cancellation for small db. */
static double
power_minus_one (double db)
{
  return expm1 (db * (M_LN10 / 10.0));
}

/* The magnitude of a factor that is 1 at DC, in nepers, at omega rad/s. */
static double
factor_log_magnitude (const TfxFactor *f, double omega)
{
  double w2 = omega * omega, n = 1.0, d;

  if (f->im == 0.0) {
    d = hypot (1.0, omega / f->re);
  } else {
    double p2 = f->re * f->re + f->im * f->im;
    d = hypot (1.0 - w2 / p2, 2.0 * f->re * omega / p2);
    if (isfinite (f->zero))
      n = fabs (1.0 - w2 / (f->zero * f->zero));
  }
  return log (fmax (n, 1e-300) / d);
}

#define N_SPREAD 64
#define MAX_POINTS (N_SPREAD + 2 * TFX_PROTOTYPE_MAX_FACTORS)

/* Within this of its maximum a response counts as pass band. */
#define PASS_BAND_NEPER (4.0 * M_LN10 / 20.0)

/* Rounding noise that enters behind factor k reaches the output through the
 * factors after it: multiplied by |H| / |H_1..k|, next to a signal that the
 * pass band let through as |H|.  It is small where no partial product H_1..k
 * is small in the pass band while it is large somewhere.  So: take, again and
 * again, the factor that leaves the smallest range between the maximum of the
 * partial product and its minimum in the pass band.  (In the common order,
 * by rising Q, an order-64 Chebyshev cascade loses all of its 300 dB.)
 *
 * Rounding is relative to the whole signal, and most of the input of a narrow
 * low-pass is in its stop band.  Poles alone attenuate it, factors with zeros
 * next to their poles hardly: the factor of a Chebyshev 2 that attenuates most
 * runs first.  (This gains up to 25 dB at orders 3 to 8.) */
static void
order_factors (TfxPrototype *proto, bool has_zeros)
{
  const unsigned n = proto->n_factors;
  double omega[MAX_POINTS], product[MAX_POINTS] = { 0.0 };
  double response[TFX_PROTOTYPE_MAX_FACTORS][MAX_POINTS];
  double total[MAX_POINTS] = { 0.0 }, peak = -INFINITY;
  TfxFactor ordered[TFX_PROTOTYPE_MAX_FACTORS];
  bool taken[TFX_PROTOTYPE_MAX_FACTORS] = { false };
  unsigned n_points = 0;

  if (n < (has_zeros ? 2 : 3))
    return;

  /* Frequencies that show the shape of the response: a spread over the whole axis, and the
   * corner and the resonance of each pole. */
  for (unsigned i = 0; i < N_SPREAD; i++)
    omega[n_points++] = tan (M_PI_2 * i / N_SPREAD);
  for (unsigned i = 0; i < n; i++) {
    omega[n_points++] = hypot (proto->factors[i].re, proto->factors[i].im);
    omega[n_points++] = proto->factors[i].im;
  }
  for (unsigned k = 0; k < n; k++) {
    for (unsigned i = 0; i < n_points; i++) {
      response[k][i] = factor_log_magnitude (&proto->factors[k], omega[i]);
      total[i] += response[k][i];
    }
  }
  for (unsigned i = 0; i < n_points; i++)
    peak = fmax (peak, total[i]);

  for (unsigned done = 0; done < n; done++) {
    unsigned best = 0;
    double best_range = INFINITY;

    for (unsigned k = 0; k < n; k++) {
      double lo = INFINITY, hi = -INFINITY, range;

      if (taken[k])
        continue;
      for (unsigned i = 0; i < n_points; i++) {
        double v = product[i] + response[k][i];
        hi = v > hi ? v : hi;
        if (total[i] >= peak - PASS_BAND_NEPER && v < lo)
          lo = v;
      }
      range = hi - lo;
      if (has_zeros && done == 0) {
        const TfxFactor *f = &proto->factors[k];

        /* The gain at infinity of a factor that is 1 at DC. */
        range = f->im == 0.0 || !isfinite (f->zero)
                    ? 0.0
                    : (f->re * f->re + f->im * f->im) / (f->zero * f->zero);
      }
      if (range < best_range) {
        best_range = range;
        best = k;
      }
    }
    taken[best] = true;
    ordered[done] = proto->factors[best];
    for (unsigned i = 0; i < n_points; i++)
      product[i] += response[best][i];
  }
  memcpy (proto->factors, ordered, n * sizeof ordered[0]);
}

void
tfx_prototype_init (TfxPrototype *proto, const TfxDesign *design)
{
  const unsigned order = design->order;
  double sinh_mu = 1.0, cosh_mu = 1.0;
  bool inverse = false;

  proto->n_factors = (order + 1) / 2;
  proto->dc_gain = 1.0;

  switch (design->family) {
    case TFX_FAMILY_BUTTERWORTH:
      break;
    case TFX_FAMILY_CHEBYSHEV1: {
      double mu = asinh (1.0 / sqrt (power_minus_one (design->ripple_db)));
      sinh_mu = sinh (mu / order);
      cosh_mu = cosh (mu / order);
      if (order % 2 == 0)
        proto->dc_gain = pow (10.0, -design->ripple_db / 20.0);
      break;
    }
    case TFX_FAMILY_ELLIPTIC:
      if (order % 2 == 0)
        proto->dc_gain = pow (10.0, -design->ripple_db / 20.0);
      tfx_elliptic_factors (order, design->ripple_db, design->attenuation_db,
          proto->factors);
      order_factors (proto, false);
      return;
    case TFX_FAMILY_BESSEL:
      tfx_bessel_factors (order, design->norm, proto->factors);
      order_factors (proto, false);
      return;
    case TFX_FAMILY_CHEBYSHEV2: {
      double mu = asinh (sqrt (power_minus_one (design->attenuation_db)));
      sinh_mu = sinh (mu / order);
      cosh_mu = cosh (mu / order);
      inverse = true;
      break;
    }
  }

  for (unsigned i = 0; i < proto->n_factors; i++) {
    bool real = 2 * i + 1 == order;
    double theta = M_PI * (2 * i + 1) / (2.0 * order);
    double cos_theta = real ? 0.0 : cos (theta);
    TfxFactor f = { -sinh_mu * sin (theta), cosh_mu * cos_theta, INFINITY };

    if (inverse) {
      double d = f.re * f.re + f.im * f.im;

      f.re /= d;
      f.im /= d;
      if (!real)
        f.zero = 1.0 / cos_theta;
    }
    proto->factors[i] = f;
  }
  order_factors (proto, inverse);
}
