/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-c.c: the reference, in plain C: transposed direct form II, one
 * channel at a time. */
#include "kernels.h"

/* The sections of a pass are independent of each other within a sample but
 * for their signal, so that their recursions overlap in the processor. */
static inline __attribute__ ((always_inline)) void
run_plain (double *x, size_t n, double *state, const double *coef,
    const unsigned n_sections)
{
  double s1[TFX_PASS_MAX_SECTIONS], s2[TFX_PASS_MAX_SECTIONS];

  for (unsigned k = 0; k < n_sections; k++) {
    s1[k] = state[2 * k];
    s2[k] = state[2 * k + 1];
  }
  for (size_t i = 0; i < n; i++) {
    double v = x[i];
    for (unsigned k = 0; k < n_sections; k++) {
      const double *c = coef + 5 * k;
      double y = c[0] * v + s1[k];
      s1[k] = (c[1] * v + s2[k]) - c[3] * y;
      s2[k] = c[2] * v - c[4] * y;
      v = y;
    }
    x[i] = v;
  }
  for (unsigned k = 0; k < n_sections; k++) {
    state[2 * k] = s1[k];
    state[2 * k + 1] = s2[k];
  }
}

static void
cascade_plain_c (double *x, size_t n, double *state, const double *coef,
    unsigned n_sections)
{
  switch (n_sections) {
    case 1:
      run_plain (x, n, state, coef, 1);
      break;
    case 2:
      run_plain (x, n, state, coef, 2);
      break;
    case 3:
      run_plain (x, n, state, coef, 3);
      break;
    case 4:
      run_plain (x, n, state, coef, 4);
      break;
  }
}

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
  .form = TFX_FORM_PLAIN,
  .cascade = cascade_plain_c,
  .pack = { pack_f32_c, pack_f64_c },
  .unpack = { unpack_f32_c, unpack_f64_c },
};
