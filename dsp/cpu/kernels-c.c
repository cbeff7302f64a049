/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-c.c: the reference, in plain C: transposed direct form II, one
 * channel at a time, in the order of operations of scipy.signal.sosfilt. */
#include <string.h>

#include "kernels.h"

/* N sections of a pass over n samples.  The sections are independent of each other within a
 * sample but for their signal, so that their recursions overlap. */
static inline __attribute__ ((always_inline)) bool
run_sections (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, const unsigned N)
{
  const double *in = from->data;
  double *out = to->data;
  double s[TFX_MAX_VECTORS * TFX_STATE], sum = 0.0;

  memcpy (s, state, N * TFX_STATE * sizeof *s);
  for (size_t i = 0; i < n; i++, in += from->stride, out += to->stride) {
    double x = *in;

#pragma GCC unroll 4
    for (unsigned k = 0; k < N; k++) {
      const double *c = coef + TFX_SECTION_COEF * k;
      const double y = c[0] * x + s[TFX_STATE * k];

      s[TFX_STATE * k] = (c[1] * x - c[3] * y) + s[TFX_STATE * k + 2];
      s[TFX_STATE * k + 2] = c[2] * x - c[4] * y;
      x = y;
    }
    *out = x;
  }
  for (unsigned i = 0; i < TFX_STATE * N; i++)
    sum += s[i] - s[i];
  memcpy (state, s, N * TFX_STATE * sizeof *s);
  return sum == 0.0;
}

static bool
textbook_c (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections)
{
  switch (n_sections) {
    case 1:
      return run_sections (in, out, n, state, coef, 1);
    case 2:
      return run_sections (in, out, n, state, coef, 2);
    case 3:
      return run_sections (in, out, n, state, coef, 3);
    default:
      return run_sections (in, out, n, state, coef, 4);
  }
}

/* ---- sections that move, see svf.c ------------------------------------------- */

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

#define ROW double
#define LOAD(p) (*(p))
#define STORE(p, a) (*(p) = (a))
#include "moving_tmpl.c"

void
tfx_moving_c (double *x, size_t n, unsigned n_channels, double *state,
    size_t stride, const double *coef, size_t n_sections)
{
  for (unsigned c = 0; c < n_channels; c++)
    run_lanes (x + c, n, n_channels, 1, state + c, stride, coef, n_sections);
}

/* ---- copies -------------------------------------------------------------------- */

#define PLANES_VECTORS 0
#define T float
#define T_SIZE 4
#define OP(name) name##_f32_c
#include "planes_tmpl.c"
#undef T
#undef T_SIZE
#undef OP
#define T double
#define T_SIZE 8
#define OP(name) name##_f64_c
#include "planes_tmpl.c"

#undef OP
#define OP(name) name##_c
#define V_NONE
#include "copy_tmpl.c"

static const TfxShape shapes[] = {
  { TFX_LAYOUT_PIPELINED, TFX_FORM_TEXTBOOK, 1, 1, false, 0, UINT32_MAX,
      TFX_MAX_VECTORS, 0, TFX_PLANAR_NEVER, textbook_c, { { 0.3, 1.0 } } },
};

const TfxKernels tfx_kernels_c = {
  .name = "c",
  .width = 1,
  .shapes = shapes,
  .n_shapes = 1,
  .moving_coef = tfx_moving_coef_c,
  .moving = tfx_moving_c,
  .moving_one = tfx_moving_c,
  .interleave = { interleave_f32_c, interleave_f64_c },
  .deinterleave = { deinterleave_f32_c, deinterleave_f64_c },
  .scale = scale_c,
  .add = add_c,
  .clean = clean_c,
  .sum = sum_c,
  .fade = fade_c,
  .ramp = ramp_c,
};
