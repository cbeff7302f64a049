/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rbj.c: second-order sections of R. Bristow-Johnson's Audio EQ Cookbook.
 *
 * The analog prototypes, s in units of the corner frequency, A^2 the gain:
 *
 *   low-pass    1 / (s^2 + s/Q + 1)         band-pass  (s/Q) / (...), or s / (...)
 *   high-pass   s^2 / (...)                 notch      (s^2 + 1) / (...)
 *   all-pass    (s^2 - s/Q + 1) / (...)
 *   peaking     (s^2 + s A/Q + 1) / (s^2 + s/(A Q) + 1)
 *   low shelf   A (s^2 + s sqrt(A)/Q + A) / (A s^2 + s sqrt(A)/Q + 1)
 *   high shelf  A (A s^2 + s sqrt(A)/Q + 1) / (s^2 + s sqrt(A)/Q + A)
 *
 * and, which the cookbook has not, shelves of the first order
 *
 *   low shelf   (s + A) / (s + 1/A)
 *   high shelf  (A s + 1) / (s/A + 1)
 *
 * under the bilinear transform s = (1 - 1/z) / (1 + 1/z) / tan (w0/2).  With
 * alpha = sin w0 / (2 Q) that makes the cookbook's coefficients.  1 - cos w0
 * and 1 + cos w0 are written as squares, which loses no digits at low
 * frequencies. */
#include "rbj.h"

#include <errno.h>
#include <math.h>

typedef struct Corner
{
  double cosine, alpha;
  double one_minus, one_plus; /* cos w0 from 1 */
} Corner;

/* Numerator and denominator before the division by a0. */
typedef struct Fraction
{
  double b0, b1, b2, a0, a1, a2;
} Fraction;

/* The low shelf; the high one is its mirror image, cos w0 -> -cos w0 and z ->
 * -z.  (A + 1) - (A - 1) cos w0 = A (1 - cos w0) + (1 + cos w0), and so on. */
static void
set_shelf (Fraction *f, const Corner *c, double a, bool high)
{
  double minus = high ? c->one_plus : c->one_minus;
  double plus = high ? c->one_minus : c->one_plus;
  double sign = high ? -1.0 : 1.0;
  double slope = 2.0 * sqrt (a) * c->alpha;

  f->b0 = a * ((a * minus + plus) + slope);
  f->b1 = sign * 2.0 * a * (a * minus - plus);
  f->b2 = a * ((a * minus + plus) - slope);
  f->a0 = (a * plus + minus) + slope;
  f->a1 = sign * -2.0 * (a * plus - minus);
  f->a2 = (a * plus + minus) - slope;
}

/* With t = tan (w0/2) times what is above, and sin (w0/2), cos (w0/2) for t. */
static void
set_first_order (Fraction *f, double sine, double cosine, double a, bool high)
{
  const double s_over = high ? a : 1.0, s_under = high ? 1.0 / a : 1.0;
  const double over = high ? 1.0 : a, under = high ? 1.0 : 1.0 / a;

  f->b0 = s_over * cosine + over * sine;
  f->b1 = over * sine - s_over * cosine;
  f->a0 = s_under * cosine + under * sine;
  f->a1 = under * sine - s_under * cosine;
  f->b2 = f->a2 = 0.0;
}

static void
set_fraction (Fraction *f, TfxRbjKind kind, const Corner *c, double q, double a)
{
  f->a0 = 1.0 + c->alpha;
  f->a1 = f->b1 = -2.0 * c->cosine;
  f->a2 = 1.0 - c->alpha;
  switch (kind) {
    case TFX_RBJ_LOW_PASS:
      f->b1 = c->one_minus;
      f->b0 = f->b2 = 0.5 * c->one_minus;
      break;
    case TFX_RBJ_HIGH_PASS:
      f->b1 = -c->one_plus;
      f->b0 = f->b2 = 0.5 * c->one_plus;
      break;
    case TFX_RBJ_BAND_PASS:
    case TFX_RBJ_BAND_PASS_PEAK:
      f->b0 = kind == TFX_RBJ_BAND_PASS ? c->alpha : q * c->alpha;
      f->b1 = 0.0;
      f->b2 = -f->b0;
      break;
    case TFX_RBJ_NOTCH:
      f->b0 = f->b2 = 1.0;
      break;
    case TFX_RBJ_ALL_PASS:
      f->b0 = f->a2;
      f->b2 = f->a0;
      break;
    case TFX_RBJ_PEAKING:
      f->b0 = 1.0 + c->alpha * a;
      f->b2 = 1.0 - c->alpha * a;
      f->a0 = 1.0 + c->alpha / a;
      f->a2 = 1.0 - c->alpha / a;
      break;
    case TFX_RBJ_LOW_SHELF:
    case TFX_RBJ_HIGH_SHELF:
      set_shelf (f, c, a, kind == TFX_RBJ_HIGH_SHELF);
      break;
    case TFX_RBJ_LOW_SHELF1:
    case TFX_RBJ_HIGH_SHELF1:
      set_first_order (f, sqrt (0.5 * c->one_minus), sqrt (0.5 * c->one_plus),
          a, kind == TFX_RBJ_HIGH_SHELF1);
      break;
  }
}

int
tfx_rbj_section (TfxRbjKind kind, double freq_hz, double q, double gain,
    double rate_hz, TfxSos *sos)
{
  double w0 = 2.0 * M_PI * freq_hz / rate_hz;
  double sin_half = sin (0.5 * w0), cos_half = cos (0.5 * w0);
  Corner corner;
  Fraction f = { 0 };

  if (!(freq_hz > 0.0 && freq_hz < 0.5 * rate_hz && q > 0.0 && gain > 0.0))
    return -EINVAL;
  corner.one_minus = 2.0 * sin_half * sin_half;
  corner.one_plus = 2.0 * cos_half * cos_half;
  corner.cosine = cos (w0);
  corner.alpha = sin_half * cos_half / q;
  set_fraction (&f, kind, &corner, q, sqrt (gain));

  sos->b0 = f.b0 / f.a0;
  sos->b1 = f.b1 / f.a0;
  sos->b2 = f.b2 / f.a0;
  sos->a1 = f.a1 / f.a0;
  sos->a2 = f.a2 / f.a0;
  return tfx_sos_is_stable (sos) ? 0 : -EINVAL;
}
