/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-c.c: the reference, in plain C: transposed direct form II, one
 * channel at a time, in the order of operations of scipy.signal.sosfilt. */
#include "kernels.h"

static inline double
step (double *s, double x, const double *c)
{
  const double y = c[0] * x + s[0];

  s[0] = (c[1] * x - c[3] * y) + s[2];
  s[2] = c[2] * x - c[4] * y;
  return y;
}

#define ONE_NAME textbook_c
#define ONE_STEP step
#include "one_tmpl.c"

#define PACK_WIDTH 1
#define PACK_NAME(op, type) op##_##type##_c
#define PACK_SAMPLE float
#define PACK_TYPE f32
#include "pack_tmpl.c"
#undef PACK_SAMPLE
#undef PACK_TYPE
#define PACK_SAMPLE double
#define PACK_TYPE f64
#include "pack_tmpl.c"

const TfxKernels tfx_kernels_c = {
  .name = "c",
  .width = 1,
  .one = textbook_c,
  .moving_coef = tfx_moving_coef_c,
  .moving = tfx_moving_c,
  .pack = { pack_f32_c, pack_f64_c },
  .unpack = { unpack_f32_c, unpack_f64_c },
};
