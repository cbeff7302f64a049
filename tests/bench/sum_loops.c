/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sum_loops.c: transposed direct form II as anybody would write it, for the best of
 * the processors that the compiler knows to tell apart. */
#include "sum_loops.h"

#include <string.h>

#if defined(__x86_64__)
#define CLONES                                                                 \
  __attribute__ ((                                                             \
      target_clones ("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

/* A section's output for x; z is its state. */
static inline double
step (const TfxSos *s, double x, double *z1, double *z2)
{
  const double y = s->b0 * x + *z1;

  *z1 = s->b1 * x - s->a1 * y + *z2;
  *z2 = s->b2 * x - s->a2 * y;
  return y;
}

#define SAMPLE float
#define NAME(order) order##_f32
#include "sum_loops_tmpl.c"
#undef SAMPLE
#undef NAME
#define SAMPLE double
#define NAME(order) order##_f64
#include "sum_loops_tmpl.c"

const SumLoop sum_loops[2][SUM_LOOPS_ORDERS] = {
  { by_sample_f32, by_branch_f32, by_frame_f32 },
  { by_sample_f64, by_branch_f64, by_frame_f64 },
};
