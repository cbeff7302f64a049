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
  .interleave = { interleave_f32_c, interleave_f64_c },
  .deinterleave = { deinterleave_f32_c, deinterleave_f64_c },
  .scale = scale_c,
  .add = add_c,
  .clean = clean_c,
  .sum = sum_c,
  .fade = fade_c,
  .ramp = ramp_c,
};
