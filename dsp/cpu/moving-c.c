/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving-c.c: state-variable filters whose values move, the reference.
 * svf.c has the equations. */
#include "kernels.h"

/* f^j for the frames j of a group of eight. */
static void
powers (double f, double *p)
{
  const double f2 = f * f, f4 = f2 * f2;

  for (unsigned j = 0; j < 8; j++)
    p[j] = ((j & 1 ? f : 1.0) * (j & 2 ? f2 : 1.0)) * (j & 4 ? f4 : 1.0);
  p[8] = f4 * f4;
}

void
tfx_moving_coef_c (const double *values, const double *rates, size_t stride,
    size_t n_sections, double *coef)
{
  for (size_t s = 0; s < n_sections; s++) {
    const double *v = values + s, *r = rates + s;
    double *c = coef + s * TFX_SVF_COEF * TFX_GRID_FRAMES;
    double base_g = v[0], base_k = v[stride], on_g[9], on_k[9];

    powers (r[0], on_g);
    powers (r[stride], on_k);
    for (size_t i = 0; i < TFX_GRID_FRAMES; i++) {
      const double t = (double)i;
      const double g = base_g * on_g[i % 8], k = base_k * on_k[i % 8];
      const double low = v[2 * stride] + t * r[2 * stride];
      const double band = v[3 * stride] + t * r[3 * stride];
      const double high = v[4 * stride] + t * r[4 * stride];
      const double g_k = g + k, d = 1.0 / (1.0 + g * g_k);
      const double gd = g * d, ggd = g * gd;

      c[i] = (high * d + band * gd) + low * ggd;
      c[i + TFX_GRID_FRAMES] = (band - high * g_k) * d + low * gd;
      c[i + 2 * TFX_GRID_FRAMES] = low;
      c[i + 3 * TFX_GRID_FRAMES] = gd + gd;
      c[i + 4 * TFX_GRID_FRAMES] = ggd + ggd;
      c[i + 5 * TFX_GRID_FRAMES] = d + d - 1.0;
      if (i % 8 == 7) {
        base_g *= on_g[8];
        base_k *= on_k[8];
      }
    }
  }
}

static void
run_section (double *x, size_t n, double *m, double *l, const double *c)
{
  enum
  {
    N = TFX_GRID_FRAMES
  };

  for (size_t i = 0; i < n; i++, c++) {
    const double u = x[i] - *l;

    x[i] = c[0] * u + (c[N] * *m + c[2 * N] * *l);
    *l = (*l + c[3 * N] * *m) + c[4 * N] * u;
    *m = c[5 * N] * *m + c[3 * N] * u;
  }
}

void
tfx_moving_c (double *x, size_t n, unsigned n_lanes, double *state,
    size_t stride, const double *coef, size_t n_sections)
{
  (void)n_lanes; /* one */
  for (size_t s = 0; s < n_sections; s++)
    run_section (x, n, state + s * stride, state + (n_sections + s) * stride,
        coef + s * TFX_SVF_COEF * TFX_GRID_FRAMES);
}
