/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state-map.c: a section as a state-variable filter.
 *
 * (s1, s2) says where the output goes on: its next two values without input
 * are y0 = s1, y1 = s2 - a1 s1.  Its scale depends on the frequency.  The two
 * integrators of a state-variable filter, low (l) and band (m), have values that
 * are signals whatever that is.  With the trapezoidal rule
 *   d = 1 / (1 + g (g + k)),  u = x - l
 *   v = d (m + g u),  w = l + g v
 *   y = high (u - (g + k) m) d + band v + low w
 *   m' = 2 v - m,  l' = 2 w - l
 * (A. Simper, Solving the continuous SVF equations using trapezoidal
 * integration, 2013.) */
#include "state-map.h"

#include <math.h>

static bool
is_first_order (const TfxSos *s)
{
  return s->b2 == 0.0 && s->a2 == 0.0;
}

/* (high p + low) / (p + 1), with p + 1 above and below. */
static TfxShape
first_order_shape (const TfxSos *s)
{
  const double low = (s->b0 + s->b1) / (1.0 + s->a1);
  const double high = (s->b0 - s->b1) / (1.0 - s->a1);

  return (
      TfxShape){ (1.0 + s->a1) / (1.0 - s->a1), 2.0, low, low + high, high };
}

TfxShape
tfx_shape_of (const TfxSos *s)
{
  const double d0 = (1.0 + s->a1) + s->a2, d2 = (1.0 - s->a1) + s->a2;
  const double g = sqrt (d0 / d2), scale = 2.0 / (g * d2);

  if (is_first_order (s))
    return first_order_shape (s);
  return (TfxShape){ g, scale * (1.0 - s->a2), ((s->b0 + s->b1) + s->b2) / d0,
    scale * (s->b0 - s->b2), ((s->b0 - s->b1) + s->b2) / d2 };
}

/* (y0, y1) = matrix (m, l). */
typedef struct Observer
{
  double y0_m, y0_l, y1_m, y1_l;
} Observer;

static Observer
observe (const TfxShape *s)
{
  const double d = 1.0 / (1.0 + s->g * (s->g + s->k));
  const double gd = s->g * d, ggd = s->g * gd;
  Observer o;

  o.y0_m = (s->band - s->high * (s->g + s->k)) * d + s->low * gd;
  o.y0_l = s->low - (s->high * d + s->band * gd + s->low * ggd);
  o.y1_m = o.y0_m * (2.0 * d - 1.0) + o.y0_l * 2.0 * gd;
  o.y1_l = o.y0_l * (1.0 - 2.0 * ggd) - o.y0_m * 2.0 * gd;
  return o;
}

void
tfx_shape_get_state (const TfxSos *sos, const TfxShape *shape,
    const double s[2], double ml[2])
{
  const Observer o = observe (shape);
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
tfx_shape_set_state (const TfxSos *sos, const TfxShape *shape,
    const double ml[2], double s[2])
{
  const Observer o = observe (shape);

  s[0] = o.y0_m * ml[0] + o.y0_l * ml[1];
  s[1] = o.y1_m * ml[0] + o.y1_l * ml[1] + sos->a1 * s[0];
}
