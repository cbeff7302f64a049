/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bessel.c: the Bessel (Thomson) prototype.
 *
 * Its poles are the zeros of the reverse Bessel polynomial
 *
 *   y_(k+1) (s) = (2 k + 1) y_k (s) + s^2 y_(k-1) (s),  y_0 = 1, y_1 = 1 + s,
 *
 * which cancels where they lie: at order 25 double precision is left with four
 * digits.  At s = -t, Re t > 0, it is a sum of two solutions of its recurrence
 * that do not cancel,
 *
 *   y_n (-t) e^t = y_n (t) e^-t + 2 (-1)^n S_n (t),
 *   S_n (t) = (pi t / 2)^(1/2) t^n I_(n+1/2) (t),
 *
 * the first one dominant and run forwards, the other minimal and run backwards;
 * and with their Wronskian, y_n S_(n+1) + y_(n+1) S_n = t^(2n+1) e^t, and
 * R = y_(n+1) / y_n, r = S_(n+1) / S_n, the poles are where
 *
 *   L (t) = 2 (log y_n (t) - t) + log (R + r) - log 2 - (2 n + 1) log t
 *
 * is an odd (n even) or even (n odd) multiple of pi j.  L' = -(R + r) / t.  Its
 * multiples lie along a curve, which is followed from the real axis.
 * (NIST Digital Library of Mathematical Functions, 10.28, 10.29 and 10.47; the
 * norms are SciPy's.) */
#include <complex.h>
#include <math.h>

#include "prototype.h"

typedef long double complex LComplex;

#define PI 3.141592653589793238462643383279502884L
#define LN2 0.693147180559945309417232121458176568L

/* R + r, and L but for a multiple of 2 pi j. */
typedef struct Place
{
  LComplex sum, level;
} Place;

#define N_TERMS 40

static LComplex
reciprocal (LComplex z)
{
  long double re = creall (z), im = cimagl (z), d = re * re + im * im;

  return re / d - I * (im / d);
}

static Place
look (unsigned n, LComplex t)
{
  LComplex t2 = t * t, before = 1.0L, y = 1.0L + t, r = 0.0L;
  Place place;

  for (unsigned k = 1; k < n; k++) {
    LComplex next = (2.0L * k + 1.0L) * y + t2 * before;

    before = y;
    y = next;
  }
  /* (|t| is about n at most: each step reduces the truncation error to a quarter.) */
  for (unsigned k = n + N_TERMS; k > n; k--)
    r = t2 * reciprocal ((2.0L * k + 1.0L) + r);
  place.sum = (2.0L * n + 1.0L) + t2 * before * reciprocal (y) + r;
  place.level = 2.0L * (clogl (y) - t) + clogl (place.sum) - LN2 -
                (2.0L * n + 1.0L) * clogl (t);
  return place;
}

/* Where L is `level`, from a t near it. */
static LComplex
solve (unsigned n, LComplex t, LComplex level)
{
  for (unsigned i = 0; i < 50; i++) {
    Place place = look (n, t);
    LComplex off = place.level - level, step;

    off -= 2.0L * PI * I * roundl (cimagl (off) / (2.0L * PI));
    step = off * t / place.sum;
    t += step;
    /* (The next one would be the square of it.) */
    if (cabsl (step) <= 1e-10L * cabsl (t))
      break;
  }
  return t;
}

/* From pole to pole. */
#define N_STEPS 2

/* Finds the poles on and above the real axis. */
static void
find_poles (unsigned n, LComplex *poles)
{
  /* (The first guess is where they cross the axis for high orders.) */
  LComplex t = solve (n, 0.6627434L * (n + 0.5L), 0.0L);
  const unsigned first = n % 2 ? 0 : N_STEPS / 2;

  for (unsigned i = 0, done = 0; done < (n + 1) / 2; i++) {
    if (i % N_STEPS == first)
      poles[done++] = i == 0 ? -creall (t) : -t;
    t -= 2.0L * PI * I / N_STEPS * t / look (n, t).sum;
    t = solve (n, t, 2.0L * PI * I * (i + 1) / N_STEPS);
  }
}

/* The frequency at which all of them are 3 dB down. */
static long double
find_half_power (unsigned n, const LComplex *poles)
{
  long double low = 0.0L, high = 2.0L * n;

  for (unsigned i = 0; i < 100; i++) {
    long double w = 0.5L * (low + high), power = 0.0L;

    for (unsigned k = 0; k < (n + 1) / 2; k++) {
      LComplex p = poles[k];

      power += logl (cabsl ((I * w - p) / p));
      if (cimagl (p) != 0.0L)
        power += logl (cabsl ((I * w - conjl (p)) / p));
    }
    if (power < 0.5L * LN2)
      low = w;
    else
      high = w;
  }
  return 0.5L * (low + high);
}

/* The geometric mean of their magnitudes. */
static long double
find_mean (unsigned n, const LComplex *poles)
{
  long double sum = 0.0L;

  for (unsigned k = 0; k < (n + 1) / 2; k++)
    sum += (cimagl (poles[k]) != 0.0L ? 2.0L : 1.0L) * logl (cabsl (poles[k]));
  return expl (sum / n);
}

void
tfx_bessel_factors (unsigned order, TfxNorm norm, TfxFactor *factors)
{
  LComplex poles[TFX_PROTOTYPE_MAX_FACTORS];
  long double unit = 1.0L;

  find_poles (order, poles);
  if (norm == TFX_NORM_PHASE)
    unit = find_mean (order, poles);
  else if (norm == TFX_NORM_MAGNITUDE)
    unit = find_half_power (order, poles);
  for (unsigned k = 0; k < (order + 1) / 2; k++)
    factors[k] = (TfxFactor){ (double)(creall (poles[k]) / unit),
      (double)(cimagl (poles[k]) / unit), INFINITY };
}
