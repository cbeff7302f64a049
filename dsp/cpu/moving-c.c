/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving-c.c: state-variable filters whose values move, the reference: sections
 * one after the other.  state-map.c has the equations. */
#include "kernels.h"

static void
run_section (double *x, size_t n, double *state, const double *values,
    const double *rates, double *after, size_t stride)
{
  double m = state[0], l = state[stride];
  double g = values[0], k = values[stride];
  double low = values[2 * stride], band = values[3 * stride];
  double high = values[4 * stride];

  for (size_t i = 0; i < n; i++) {
    const double d = 1.0 / (1.0 + g * (g + k));
    const double gd = g * d, ggd = g * gd;
    const double on_u = (high * d + band * gd) + low * ggd;
    const double on_m = (band - high * (g + k)) * d + low * gd;
    const double u = x[i] - l, two_m = gd + gd, two_u = ggd + ggd;

    x[i] = on_u * u + (on_m * m + low * l);
    l = (l + two_m * m) + two_u * u;
    m = (d + d - 1.0) * m + two_m * u;
    g *= rates[0];
    k *= rates[stride];
    low += rates[2 * stride];
    band += rates[3 * stride];
    high += rates[4 * stride];
  }
  state[0] = m;
  state[stride] = l;
  after[0] = g;
  after[stride] = k;
  after[2 * stride] = low;
  after[3 * stride] = band;
  after[4 * stride] = high;
}

void
tfx_moving_c (double *x, size_t n, double *state, const double *values,
    const double *rates, double *after, size_t stride, size_t n_sections)
{
  for (size_t s = 0; s < n_sections; s++)
    run_section (x, n, state + s, values + s, rates + s, after + s, stride);
}
