/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving-vec.c: state-variable filters whose values move; compiled once for each
 * instruction set.
 *
 * Coefficients with frames in the lanes, the recursion with channels.  Without
 * fused multiply-adds: the same operations as in kernels-c.c give the same bits. */
#include "kernels.h"
#include "vec.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define KERNEL(name) CAT (name, ISA)

enum
{
  N = TFX_GRID_FRAMES,
  N_GROUP = 8, /* frames */
  N_VECTORS = N_GROUP / W
};

/* ---- coefficients ------------------------------------------------------------- */

/* Lanes whose number has a bit set. */
static inline __attribute__ ((always_inline)) V
pick (VBits lanes, int64_t bit, double a)
{
  return v_select (v_mask ((lanes & bit) != 0), v_set1 (a), v_set1 (1.0));
}

/* f^j for the frames j of a group; returns f^8. */
static inline __attribute__ ((always_inline)) double
powers (double f, V p[N_VECTORS])
{
  const double f2 = f * f, f4 = f2 * f2;
  const VBits first = { V_LANES };

  for (unsigned v = 0; v < N_VECTORS; v++) {
    const VBits lanes = first + (int64_t)(v * W);

    p[v] = (pick (lanes, 1, f) * pick (lanes, 2, f2)) * pick (lanes, 4, f4);
  }
  return f4 * f4;
}

/* Of a vector of frames. */
static inline __attribute__ ((always_inline)) void
store_coef (double *c, V g, V k, V low, V band, V high)
{
  const V one = v_set1 (1.0), g_k = g + k;
  const V d = one / (one + g * g_k);
  const V gd = g * d, ggd = g * gd;

  v_store_f64 (c, (high * d + band * gd) + low * ggd);
  v_store_f64 (c + N, (band - high * g_k) * d + low * gd);
  v_store_f64 (c + 2 * N, low);
  v_store_f64 (c + 3 * N, gd + gd);
  v_store_f64 (c + 4 * N, ggd + ggd);
  v_store_f64 (c + 5 * N, d + d - one);
}

/* Of a section; g_moves: nothing but g does. */
static inline __attribute__ ((always_inline)) void
make_coef (const double *values, const double *rates, size_t stride, double *c,
    const bool g_moves)
{
  V on_g[N_VECTORS], on_k[N_VECTORS];
  const double next_g = powers (rates[0], on_g);
  const double next_k = g_moves ? 1.0 : powers (rates[stride], on_k);
  V g = v_set1 (values[0]), k = v_set1 (values[stride]);
  V v[3], r[3], t = __builtin_convertvector((VBits){ V_LANES }, V);

  for (unsigned i = 0; i < 3; i++) {
    v[i] = v_set1 (values[(2 + i) * stride]);
    r[i] = v_set1 (rates[(2 + i) * stride]);
  }
  /* (Four times as long it is no faster.) */
#pragma GCC unroll 1
  for (unsigned at = 0; at < N; at += N_GROUP) {
    for (unsigned i = 0; i < N_VECTORS; i++) {
      if (g_moves)
        store_coef (c + at + i * W, g * on_g[i], k, v[0], v[1], v[2]);
      else
        store_coef (c + at + i * W, g * on_g[i], k * on_k[i], v[0] + t * r[0],
            v[1] + t * r[1], v[2] + t * r[2]);
      t = t + v_set1 (W);
    }
    g = g * v_set1 (next_g);
    k = k * v_set1 (next_k);
  }
}

static bool
g_moves_alone (const double *rates, size_t stride)
{
  return rates[stride] == 1.0 && rates[2 * stride] == 0.0 &&
         rates[3 * stride] == 0.0 && rates[4 * stride] == 0.0;
}

void
KERNEL (tfx_moving_coef) (const double *values, const double *rates,
    size_t stride, size_t n_sections, double *coef)
{
  for (size_t s = 0; s < n_sections; s++) {
    double *c = coef + s * TFX_SVF_COEF * N;

    if (g_moves_alone (rates + s, stride))
      make_coef (values + s, rates + s, stride, c, true);
    else
      make_coef (values + s, rates + s, stride, c, false);
  }
}

/* ---- the recursion ------------------------------------------------------------ */

#define ROW V
#define LOAD(p) v_load_row_f64 (p, W, n_lanes)
#define STORE(p, a) v_store_row_f64 (p, a, W, n_lanes)
#include "moving_tmpl.c"

void
KERNEL (tfx_moving) (double *x, size_t n, unsigned n_channels, double *state,
    size_t stride, const double *coef, size_t n_sections)
{
  for (unsigned c = 0; c < n_channels; c += W) {
    const unsigned left = n_channels - c;

    if (left >= W)
      run_lanes (x + c, n, n_channels, W, state + c, stride, coef, n_sections);
    else
      run_lanes (x + c, n, n_channels, left, state + c, stride, coef,
          n_sections);
  }
}
