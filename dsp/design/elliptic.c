/* SPDX-License-Identifier: LGPL-2.1-or-later
 * elliptic.c: the elliptic (Cauer) prototype.
 *
 * With eps^2 = 10^(ripple/10) - 1, k1 = eps / sqrt (10^(attenuation/10) - 1)
 * and N the order, the modulus k of the filter solves the degree equation
 *
 *   K'(k) / K(k) = K'(k1) / (N K(k1)),
 *
 * so its nome is the N-th root of the nome of k1.  For j = 1, 3, ...
 * (N even) or 0, 2, ... (N odd), j < N, and u = j K(k) / N:
 *
 *   zero   j / (k sn (u, k))
 *   pole   -(cn dn sn' cn' + j sn dn') / (1 - dn^2 sn'^2)
 *
 * where the primed ones are of v0 = K(k) / (N K(k1)) F and the complementary
 * modulus k', and F is the argument at which sn / cn of the modulus k1' is
 * 1 / eps.
 * (S. Orfanidis, Lecture Notes on Elliptic Filter Design, 2006; NIST Digital
 * Library of Mathematical Functions, chapters 19, 20 and 22.)
 *
 * All in long double, and with both k and k' always at hand, so that nothing
 * cancels when one of them is near 1. */
#include <float.h>
#include <math.h>

#include "prototype.h"

#define PI 3.141592653589793238462643383279502884L
#define LN10 2.302585092994045684017991454684364208L

/* 10^(db/10) - 1 without the cancellation for small db. */
static long double
power_minus_one (double db)
{
  return expm1l (db * (LN10 / 10.0L));
}

/* The arithmetic-geometric mean of 1 and b. */
static long double
agm (long double b)
{
  long double a = 1.0L;

  while (fabsl (a - b) > 4.0L * LDBL_EPSILON * a) {
    long double mean = 0.5L * (a + b);
    b = sqrtl (a * b);
    a = mean;
  }
  return 0.5L * (a + b);
}

/* K of the modulus whose complement is kp (DLMF 19.8.5). */
static long double
complete (long double kp)
{
  return 0.5L * PI / agm (kp);
}

/* Carlson's symmetric integral of the first kind, by duplication until the
 * arguments are equal (DLMF 19.26.18). */
static long double
carlson_rf (long double x, long double y, long double z)
{
  for (;;) {
    long double mean = (x + y + z) / 3.0L;
    long double apart =
        fmaxl (fabsl (x - mean), fmaxl (fabsl (y - mean), fabsl (z - mean)));
    long double lambda =
        sqrtl (x) * sqrtl (y) + sqrtl (y) * sqrtl (z) + sqrtl (z) * sqrtl (x);

    /* The truncation error is of second order in apart / mean. */
    if (apart < 1e-10L * mean)
      return 1.0L / sqrtl (mean);
    x = 0.25L * (x + lambda);
    y = 0.25L * (y + lambda);
    z = 0.25L * (z + lambda);
  }
}

#define MAX_STEPS 16

typedef struct Jacobi
{
  long double sn, cn, dn;
} Jacobi;

/* sn, cn and dn of u for the modulus k, whose complement is kp (DLMF 22.20(ii)).
 */
static Jacobi
jacobi (long double u, long double k, long double kp)
{
  long double a[MAX_STEPS + 1], c[MAX_STEPS + 1], b = kp, phi;
  unsigned n = 0;
  Jacobi j;

  a[0] = 1.0L;
  c[0] = k;
  while (n < MAX_STEPS && fabsl (c[n]) > LDBL_EPSILON * a[n]) {
    a[n + 1] = 0.5L * (a[n] + b);
    c[n + 1] = 0.5L * (a[n] - b);
    b = sqrtl (a[n] * b);
    n++;
  }
  phi = ldexpl (a[n] * u, (int)n);
  for (; n > 0; n--)
    phi = 0.5L * (phi + asinl (c[n] * sinl (phi) / a[n]));
  j.sn = sinl (phi);
  j.cn = cosl (phi);
  j.dn = sqrtl (kp * kp + k * k * j.cn * j.cn);
  return j;
}

/* The modulus and the complementary one of a nome up to exp (-pi), by theta
 * functions (DLMF 20.9.1, 20.9.2). */
static void
modulus_of_nome (long double q, long double *k, long double *kp)
{
  long double theta2 = 1.0L, theta3 = 1.0L, theta4 = 1.0L;

  for (int n = 1; n < 12; n++) {
    long double square = powl (q, (long double)n * n);

    theta2 += square * powl (q, n);
    theta3 += 2.0L * square;
    theta4 += n % 2 ? -2.0L * square : 2.0L * square;
  }
  *k = 4.0L * sqrtl (q) * (theta2 / theta3) * (theta2 / theta3);
  *kp = (theta4 / theta3) * (theta4 / theta3);
}

/* The modulus k and its complement for K'(k) / K(k) = ratio. */
static void
solve_degree (long double ratio, long double *k, long double *kp)
{
  if (ratio >= 1.0L)
    modulus_of_nome (expl (-PI * ratio), k, kp);
  else
    modulus_of_nome (expl (-PI / ratio), kp, k);
}

void
tfx_elliptic_factors (unsigned order, double ripple_db, double attenuation_db,
    TfxFactor *factors)
{
  long double eps2 = power_minus_one (ripple_db);
  long double k12 = eps2 / power_minus_one (attenuation_db);
  long double k1p = sqrtl ((power_minus_one (attenuation_db) - eps2) /
                           power_minus_one (attenuation_db));
  long double complete1 = complete (k1p), k, kp, quarter, v0;
  Jacobi v;

  solve_degree (complete (sqrtl (k12)) / (order * complete1), &k, &kp);
  quarter = complete (kp);
  v0 = quarter / (order * complete1) *
       carlson_rf (eps2, eps2 + k12, 1.0L + eps2);
  v = jacobi (v0, kp, k);

  for (unsigned i = 0, j = order % 2 ? 0 : 1; j < order; i++, j += 2) {
    Jacobi u = jacobi (j * quarter / order, k, kp);
    /* 1 - dn^2 sn'^2 = cn'^2 + k^2 sn^2 sn'^2 */
    long double d = v.cn * v.cn + k * k * u.sn * u.sn * v.sn * v.sn;

    factors[i].re = (double)(-u.cn * u.dn * v.sn * v.cn / d);
    factors[i].im = (double)(u.sn * v.dn / d);
    factors[i].zero = j == 0 ? INFINITY : (double)(1.0L / (k * u.sn));
  }
}
