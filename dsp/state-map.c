/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state-map.c: carries the state of a section from one set of coefficients to
 * another.
 *
 * (s1, s2) says where the output goes on: its next two values without input
 * are y0 = s1, y1 = s2 - a1 s1.  Kept as they are while a cutoff falls from
 * 1000 Hz to 20 Hz, they would make the slope of a 1000 Hz wave the start of a
 * 20 Hz one, fifty times as large.  So the state is read as the two integrators
 * of a state-variable filter, low (l) and band (m), whose values are signals
 * whatever the cutoff; those are kept.
 *
 * With s' = (1 - 1/z) / (1 + 1/z) the section is
 *   (n2 s'^2 + n1 s' + n0) / (d2 s'^2 + d1 s' + d0),
 * with g^2 = d0 / d2, k = d1 g / d0 it is the trapezoidal state-variable filter
 *   v = (m - g l) / (1 + g (g + k)),  w = l + g v   (no input)
 *   y = (n1 g / d0 - k n2 / d2) v + (n0 / d0 - n2 / d2) w
 *   m' = 2 v - m,  l' = 2 w - l
 * (A. Simper, Solving the continuous SVF equations using trapezoidal
 * integration, 2013.)
 *
 * A section of the first order is likewise one integrator, of the value
 *   l = s1 (1 + a1) / (b1 - a1 b0),
 * which is the input itself when that has been constant for long. */
#include "state-map.h"

#include <math.h>

/* (y0, y1) = matrix (m, l). */
typedef struct Observer
{
  double y0_m, y0_l, y1_m, y1_l;
} Observer;

static Observer
observe (const TfxSos *s)
{
  double d0 = (1.0 + s->a1) + s->a2, d2 = (1.0 - s->a1) + s->a2;
  double n0 = (s->b0 + s->b1) + s->b2, n2 = (s->b0 - s->b1) + s->b2;
  double g = sqrt (d0 / d2);
  double k = 2.0 * (1.0 - s->a2) * g / d0;
  double n1 = 2.0 * (s->b0 - s->b2);
  double band = n1 * g / d0 - k * n2 / d2, low = n0 / d0 - n2 / d2;
  double v_m = 1.0 / (1.0 + g * (g + k)), v_l = -g * v_m;
  double w_m = g * v_m, w_l = 1.0 + g * v_l;
  /* One step: m' = mm m + ml l, l' = lm m + ll l. */
  double mm = 2.0 * v_m - 1.0, ml = 2.0 * v_l;
  double lm = 2.0 * w_m, ll = 2.0 * w_l - 1.0;
  Observer o;

  o.y0_m = band * v_m + low * w_m;
  o.y0_l = band * v_l + low * w_l;
  o.y1_m = o.y0_m * mm + o.y0_l * lm;
  o.y1_l = o.y0_m * ml + o.y0_l * ll;
  return o;
}

static bool
is_first_order (const TfxSos *s)
{
  return s->b2 == 0.0 && s->a2 == 0.0;
}

static void
map_first_order (const TfxSos *from, const TfxSos *to, double s[2])
{
  double scale = ((to->b1 - to->a1 * to->b0) / (1.0 + to->a1)) /
                 ((from->b1 - from->a1 * from->b0) / (1.0 + from->a1));

  if (isfinite (scale))
    s[0] *= scale;
}

void
tfx_state_map (const TfxSos *from, const TfxSos *to, double s[2])
{
  if (is_first_order (from) && is_first_order (to)) {
    map_first_order (from, to, s);
    return;
  }

  Observer old = observe (from), new = observe (to);
  double det = old.y0_m * old.y1_l - old.y0_l * old.y1_m;
  double y0 = s[0], y1 = s[1] - from->a1 * s[0];
  double m = (y0 * old.y1_l - old.y0_l * y1) / det;
  double l = (old.y0_m * y1 - y0 * old.y1_m) / det;
  double new_s1 = new.y0_m *m + new.y0_l *l;
  double new_s2 = new.y1_m *m + new.y1_l *l + to->a1 *new_s1;

  /* Of a section that does not show both numbers the state is what it is. */
  if (fabs (det) <
          1e-9 * (fabs (old.y0_m * old.y1_l) + fabs (old.y0_l * old.y1_m)) ||
      !isfinite (new_s1) || !isfinite (new_s2))
    return;
  s[0] = new_s1;
  s[1] = new_s2;
}

/* ---- between two settings ------------------------------------------------------ */

/* A section as g, k and what comes out of the filter's outputs: with p = s' / g
 *   H = (high p^2 + band p + low) / (p^2 + k p + 1). */
typedef struct Shape
{
  double g, k, low, band, high;
} Shape;

static Shape
shape_of (const TfxSos *s)
{
  const double d0 = (1.0 + s->a1) + s->a2, d2 = (1.0 - s->a1) + s->a2;
  const double g = sqrt (d0 / d2);

  return (Shape){ g, 2.0 * (1.0 - s->a2) / (g * d2),
    ((s->b0 + s->b1) + s->b2) / d0, 2.0 * (s->b0 - s->b2) / (g * d2),
    ((s->b0 - s->b1) + s->b2) / d2 };
}

static double
linear (double from, double to, double t)
{
  return from + (to - from) * t;
}

/* from^(1 - t) to^t */
static double
geometric (double from, double to, double t)
{
  return from * exp (t * log (to / from));
}

static TfxSos
first_order_between (const TfxSos *from, const TfxSos *to, double t)
{
  const double g = geometric ((1.0 + from->a1) / (1.0 - from->a1),
      (1.0 + to->a1) / (1.0 - to->a1), t);
  const double low = linear ((from->b0 + from->b1) / (1.0 + from->a1),
      (to->b0 + to->b1) / (1.0 + to->a1), t);
  const double high = linear ((from->b0 - from->b1) / (1.0 - from->a1),
      (to->b0 - to->b1) / (1.0 - to->a1), t);

  return (TfxSos){ (low * g + high) / (1.0 + g), (low * g - high) / (1.0 + g),
    0.0, (g - 1.0) / (g + 1.0), 0.0 };
}

TfxSos
tfx_state_map_between (const TfxSos *from, const TfxSos *to, double t)
{
  if (is_first_order (from) && is_first_order (to))
    return first_order_between (from, to, t);

  const Shape a = shape_of (from), b = shape_of (to);
  const double g = geometric (a.g, b.g, t), k = geometric (a.k, b.k, t);
  const double low = linear (a.low, b.low, t);
  const double band = linear (a.band, b.band, t);
  const double high = linear (a.high, b.high, t);
  const double d = 1.0 + g * k + g * g;

  return (TfxSos){ (high + band * g + low * g * g) / d,
    2.0 * (low * g * g - high) / d, (high - band * g + low * g * g) / d,
    2.0 * (g * g - 1.0) / d, (1.0 - g * k + g * g) / d };
}
