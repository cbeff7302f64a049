/* SPDX-License-Identifier: LGPL-2.1-or-later
 * response.c: frequency response, group delay and stability of sections. */
#include "tfx.h"

#include <math.h>

/* A quadratic c0 + c1/z + c2/z^2 at z = exp (j w), times z:
 *   re = (c0 + c2) cos w + c1,  im = (c0 - c2) sin w
 * and their derivatives by w.  The common factor z cancels between numerator
 * and denominator. */
typedef struct Quadratic
{
  double re, im, d_re, d_im;
} Quadratic;

typedef struct Frequency
{
  double sine, cosine;
  double versine;   /* 1 - cos w */
  double coversine; /* 1 + cos w */
} Frequency;

static Frequency
frequency (double freq_hz, double rate_hz)
{
  double half = M_PI * freq_hz / rate_hz;
  double s = sin (half), c = cos (half);
  return (Frequency){ 2.0 * s * c, c * c - s * s, 2.0 * s * s, 2.0 * c * c };
}

static Quadratic
quadratic_at (double c0, double c1, double c2, const Frequency *f)
{
  Quadratic q;

  /* Near DC, and near half the rate, the sum of the three is small where the
   * terms are large: take it out first. */
  if (c1 * (c0 + c2) < 0.0)
    q.re = ((c0 + c1) + c2) - (c0 + c2) * f->versine;
  else
    q.re = (c0 + c2) * f->coversine - ((c0 - c1) + c2);
  q.im = (c0 - c2) * f->sine;
  q.d_re = -(c0 + c2) * f->sine;
  q.d_im = (c0 - c2) * f->cosine;
  return q;
}

TfxComplex
tfx_response_at (const TfxSos *sos, size_t n_sos, double freq_hz,
    double rate_hz)
{
  Frequency f = frequency (freq_hz, rate_hz);
  TfxComplex h = { 1.0, 0.0 };

  for (size_t i = 0; i < n_sos; i++) {
    Quadratic n = quadratic_at (sos[i].b0, sos[i].b1, sos[i].b2, &f);
    Quadratic d = quadratic_at (1.0, sos[i].a1, sos[i].a2, &f);
    double d2 = d.re * d.re + d.im * d.im;
    double re = (n.re * d.re + n.im * d.im) / d2;
    double im = (n.im * d.re - n.re * d.im) / d2;

    h = (TfxComplex){ h.re * re - h.im * im, h.re * im + h.im * re };
  }
  return h;
}

/* d arg / d w; 0 at a root on the unit circle, where the phase jumps. */
static double
phase_slope (const Quadratic *q)
{
  double m2 = q->re * q->re + q->im * q->im;
  return m2 > 0.0 ? (q->re * q->d_im - q->im * q->d_re) / m2 : 0.0;
}

double
tfx_response_group_delay (const TfxSos *sos, size_t n_sos, double freq_hz,
    double rate_hz)
{
  Frequency f = frequency (freq_hz, rate_hz);
  double delay = 0.0;

  for (size_t i = 0; i < n_sos; i++) {
    Quadratic n = quadratic_at (sos[i].b0, sos[i].b1, sos[i].b2, &f);
    Quadratic d = quadratic_at (1.0, sos[i].a1, sos[i].a2, &f);
    delay += phase_slope (&d) - phase_slope (&n);
  }
  return delay;
}

bool
tfx_sos_is_stable (const TfxSos *s)
{
  return isfinite (s->b0) && isfinite (s->b1) && isfinite (s->b2) &&
         fabs (s->a2) < 1.0 && fabs (s->a1) < 1.0 + s->a2;
}
