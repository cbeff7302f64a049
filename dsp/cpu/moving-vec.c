/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving-vec.c: state-variable filters whose values move; compiled once for each
 * instruction set.
 *
 * In the lanes lie W sections, lane i working on sample t - i; what has not begun
 * or is at its end there stays as it is.  Nothing is fused: the same operations as
 * in moving-c.c give the same bits. */
#include "kernels.h"
#include "vec.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define KERNEL(name) CAT (name, ISA)

enum
{
  N_VALUES = 5
};

/* What a lane has: the integrators, and g, k, low, band, high. */
typedef struct Lanes
{
  V m, l, v[N_VALUES];
} Lanes;

/* A sample of each lane; y. */
static inline __attribute__ ((always_inline)) V
step (Lanes *s, V x, const V rates[N_VALUES])
{
  const V one = v_set1 (1.0);
  const V g = s->v[0], g_k = s->v[0] + s->v[1];
  const V low = s->v[2], band = s->v[3], high = s->v[4];
  const V d = one / (one + g * g_k);
  const V gd = g * d, ggd = g * gd;
  const V on_u = (high * d + band * gd) + low * ggd;
  const V on_m = (band - high * g_k) * d + low * gd;
  const V u = x - s->l, two_m = gd + gd, two_u = ggd + ggd;
  const V y = on_u * u + (on_m * s->m + low * s->l);

  s->l = (s->l + two_m * s->m) + two_u * u;
  s->m = (d + d - one) * s->m + two_m * u;
  s->v[0] = s->v[0] * rates[0];
  s->v[1] = s->v[1] * rates[1];
  s->v[2] = s->v[2] + rates[2];
  s->v[3] = s->v[3] + rates[3];
  s->v[4] = s->v[4] + rates[4];
  return y;
}

static inline __attribute__ ((always_inline)) void
keep (Lanes *s, const Lanes *old, VBits is_on)
{
  s->m = v_select (is_on, s->m, old->m);
  s->l = v_select (is_on, s->l, old->l);
  for (unsigned i = 0; i < N_VALUES; i++)
    s->v[i] = v_select (is_on, s->v[i], old->v[i]);
}

/* n_lanes of W sections. */
static void
run_lanes (double *x, size_t n, double *state, const double *values,
    const double *rates, double *after, size_t stride, size_t n_lanes)
{
  const VBits lanes = { V_LANES };
  const int64_t last = (int64_t)n_lanes - 1, end = (int64_t)n;
  Lanes s;
  V y = v_set1 (0.0), r[N_VALUES];

  s.m = v_load_f64 (state);
  s.l = v_load_f64 (state + stride);
  for (unsigned i = 0; i < N_VALUES; i++) {
    s.v[i] = v_load_f64 (values + i * stride);
    r[i] = v_load_f64 (rates + i * stride);
  }
  for (int64_t t = 0; t < end + last; t++) {
    const V in = v_set1 (t < end ? x[t] : 0.0);

    if (t >= last && t < end) {
      y = step (&s, v_shift_in (y, in, 1), r);
    } else {
      const VBits at = t - lanes;
      const Lanes old = s;

      y = step (&s, v_shift_in (y, in, 1), r);
      keep (&s, &old, (at >= 0) & (at < end));
    }
    if (t >= last)
      x[t - last] = y[last];
  }
  v_store_f64 (state, s.m);
  v_store_f64 (state + stride, s.l);
  for (unsigned i = 0; i < N_VALUES; i++)
    v_store_f64 (after + i * stride, s.v[i]);
}

void
KERNEL (tfx_moving) (double *x, size_t n, double *state, const double *values,
    const double *rates, double *after, size_t stride, size_t n_sections)
{
  for (size_t s = 0; s < n_sections; s += W)
    run_lanes (x, n, state + s, values + s, rates + s, after + s, stride,
        n_sections - s < W ? n_sections - s : W);
}
