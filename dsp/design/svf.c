/* SPDX-License-Identifier: LGPL-2.1-or-later
 * svf.c: a section as a state-variable filter.
 *
 * (s1, s2) gives the output without further input: its next two values
 * are y0 = s1, y1 = s2 - a1 s1.  Its scale depends on the frequency.  The two
 * integrators of a state-variable filter, low (l) and band (m), have values that
 * are signals whatever that is.  With the trapezoidal rule
 *   d = 1 / (1 + g (g + k)),  u = x - l
 *   v = d (m + g u),  w = l + g v
 *   y = high (u - (g + k) m) d + band v + low w
 *   m' = 2 v - m,  l' = 2 w - l
 * (A. Simper, Solving the continuous SVF equations using trapezoidal
 * integration, 2013.) */
#include "svf.h"

#include <math.h>

static bool
is_first_order (const TfxSos *s)
{
  return s->b2 == 0.0 && s->a2 == 0.0;
}

/* (high p + low) / (p + 1), with p + 1 above and below. */
static TfxSvf
first_order_shape (const TfxSos *s)
{
  const double low = (s->b0 + s->b1) / (1.0 + s->a1);
  const double high = (s->b0 - s->b1) / (1.0 - s->a1);

  return (TfxSvf){ (1.0 + s->a1) / (1.0 - s->a1), 2.0, low, low + high, high };
}

TfxSvf
tfx_svf_of (const TfxSos *s)
{
  const double d0 = (1.0 + s->a1) + s->a2, d2 = (1.0 - s->a1) + s->a2;
  const double g = sqrt (d0 / d2), scale = 2.0 / (g * d2);

  if (is_first_order (s))
    return first_order_shape (s);
  return (TfxSvf){ g, scale * (1.0 - s->a2), ((s->b0 + s->b1) + s->b2) / d0,
    scale * (s->b0 - s->b2), ((s->b0 - s->b1) + s->b2) / d2 };
}

/* Of (high p + low) / (p + 1), p = s' / g. */
static TfxSos
first_order_sos (const TfxSvf *s)
{
  const double a1 = (s->g - 1.0) / (s->g + 1.0);
  const double low = s->low * (1.0 + a1), high = s->high * (1.0 - a1);

  return (TfxSos){ 0.5 * (low + high), 0.5 * (low - high), 0.0, a1, 0.0 };
}

/* From what its polynomials are at z = 1 and z = -1, which is small where a root is
 * near there: the last coefficient undoes the rounding of the others, as in
 * transform.c. */
TfxSos
tfx_svf_to_sos (const TfxSvf *shape, bool is_first_order)
{
  const double g = shape->g, d = 1.0 / (1.0 + g * (g + shape->k));
  const double at_one = 4.0 * g * g * d, at_minus_one = 4.0 * d;
  double low, high;
  TfxSos s;

  if (is_first_order)
    return first_order_sos (shape);
  s.a1 = 0.5 * (at_one - at_minus_one);
  if (s.a1 < 0.0)
    s.a2 = at_one - (1.0 + s.a1);
  else
    s.a2 = at_minus_one - (1.0 - s.a1);
  low = shape->low * ((1.0 + s.a1) + s.a2);
  high = shape->high * ((1.0 - s.a1) + s.a2);
  s.b0 = 0.25 * (low + high) + shape->band * g * d;
  s.b1 = 0.5 * (low - high);
  s.b2 = s.b1 < 0.0 ? low - (s.b0 + s.b1) : high - (s.b0 - s.b1);
  return s;
}

/* (y0, y1) = matrix (m, l). */
typedef struct Observer
{
  double y0_m, y0_l, y1_m, y1_l;
} Observer;

/* Parts of y0 that are so much smaller than the terms that cancel in them may be rounding:
 * the output of an all-pass section, or nearly one, hides its integrators. */
#define UNSEEN 1e-9

/* Sums below `least` of their terms become 0. */
static Observer
observe (const TfxSvf *s, double least)
{
  const double d = 1.0 / (1.0 + s->g * (s->g + s->k));
  const double gd = s->g * d, ggd = s->g * gd;
  const double low = fabs (s->low), band = fabs (s->band),
               high = fabs (s->high);
  Observer o;

  o.y0_m = (s->band - s->high * (s->g + s->k)) * d + s->low * gd;
  o.y0_l = s->low - (s->high * d + s->band * gd + s->low * ggd);
  if (fabs (o.y0_m) < least * ((band + high * (s->g + s->k)) * d + low * gd))
    o.y0_m = 0.0;
  if (fabs (o.y0_l) < least * (low + high * d + band * gd + low * ggd))
    o.y0_l = 0.0;
  o.y1_m = o.y0_m * (2.0 * d - 1.0) + o.y0_l * 2.0 * gd;
  o.y1_l = o.y0_l * (1.0 - 2.0 * ggd) - o.y0_m * 2.0 * gd;
  return o;
}

void
tfx_svf_get_state (const TfxSos *sos, const TfxSvf *shape, const double s[2],
    double ml[2])
{
  const Observer o = observe (shape, UNSEEN);
  const double y0 = s[0], y1 = s[1] - sos->a1 * s[0];
  const double det = o.y0_m * o.y1_l - o.y0_l * o.y1_m;
  const double row = o.y0_m * o.y0_m + o.y0_l * o.y0_l;

  ml[0] = ml[1] = 0.0;
  if (fabs (det) > 1e-9 * (fabs (o.y0_m * o.y1_l) + fabs (o.y0_l * o.y1_m))) {
    ml[0] = (y0 * o.y1_l - o.y0_l * y1) / det;
    ml[1] = (o.y0_m * y1 - y0 * o.y1_m) / det;
  } else if (row > 0.0) {
    /* The section shows one number: the least that explain it. */
    ml[0] = o.y0_m * y0 / row;
    ml[1] = o.y0_l * y0 / row;
  }
  if (!isfinite (ml[0]) || !isfinite (ml[1]))
    ml[0] = ml[1] = 0.0;
}

void
tfx_svf_set_state (const TfxSos *sos, const TfxSvf *shape, const double ml[2],
    double s[2])
{
  const Observer o = observe (shape, 0.0);

  s[0] = o.y0_m * ml[0] + o.y0_l * ml[1];
  s[1] = o.y1_m * ml[0] + o.y1_l * ml[1] + sos->a1 * s[0];
}
