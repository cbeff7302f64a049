/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-c.c: the reference, in plain C: transposed direct form II, one
 * channel at a time, in the order of operations of scipy.signal.sosfilt. */
#include "kernels.h"

static inline void
step (double *y, double *s1, double *s2, double x, const double *c)
{
  *y = c[0] * x + *s1;
  *s1 = (c[1] * x - c[3] * *y) + *s2;
  *s2 = c[2] * x - c[4] * *y;
}

#define DIRECT_NAME direct_one_c
#define DIRECT_STEP step
#include "direct_tmpl.c"

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
  .direct_one = direct_one_c,
  .pack = { pack_f32_c, pack_f64_c },
  .unpack = { unpack_f32_c, unpack_f64_c },
};
