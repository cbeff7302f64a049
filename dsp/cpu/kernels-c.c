/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-c.c: the reference, in plain C: transposed direct form II, one
 * channel at a time, in the order of operations of scipy.signal.sosfilt. */
#include "kernels.h"

typedef double One;
#define ONE_SET(a) (a)
#define ONE_GET(a) (a)

static inline One
step (One *s, One x, const One *c)
{
  const One y = c[0] * x + s[0];

  s[0] = (c[1] * x - c[3] * y) + s[2];
  s[2] = c[2] * x - c[4] * y;
  return y;
}

#define ONE_NAME textbook_c
#define ONE_STEP step
#include "one_tmpl.c"

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

const TfxKernels tfx_kernels_c = {
  .name = "c",
  .width = 1,
  .one = textbook_c,
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
