/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops_isa.c: the table of one instruction set, ISA, from its
 * vectors.  Included by convolver-ops-<isa>.c. */
#include <stdint.h>
#include <string.h>

#include "convolver-cost.h"
#include "convolver-ops.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_ (a, b)
#define STRING_(a) #a
#define STRING(a) STRING_ (a)

#define T float
#define V Vf
#define v(op) vf_##op
#define LANES VF_LANES
#define OP(name) name##_f32
#define WIDE 1
#define T_SIZE 4
#include "convolver-ops_tmpl.c"
#undef T
#undef V
#undef v
#undef LANES
#undef OP
#undef WIDE
#undef T_SIZE

#define T double
#define V Vd
#define v(op) vd_##op
#define LANES VD_LANES
#define OP(name) name##_f64
#define WIDE 0
#define T_SIZE 8
#include "convolver-ops_tmpl.c"

#if VF_LANES == 16
#define LEAVES(name, t)                                                        \
  {                                                                            \
    name##_x4_##t, name##_x8_##t, name##_x16_##t                               \
  }
#elif VF_LANES == 8
#define LEAVES(name, t)                                                        \
  {                                                                            \
    name##_x4_##t, name##_x8_##t, NULL                                         \
  }
#else
#define LEAVES(name, t)                                                        \
  {                                                                            \
    name##_x4_##t, NULL, NULL                                                  \
  }
#endif

#define OPS(t, lanes)                                                          \
  {                                                                            \
    direct_##t, { split2_##t, split3_##t, split4_##t },                        \
        { join2_##t, join3_##t, join4_##t }, lanes < 4 ? 4 : lanes,            \
        LEAVES (leaves_forward, t), LEAVES (leaves_back, t), add_##t,          \
        deinterleave_##t, interleave_##t, is_sound_##t                         \
  }

const TfxConvolverKernels CONCAT (tfx_convolver_kernels_, ISA) = { STRING (ISA),
  { OPS (f32, VF_LANES), OPS (f64, VD_LANES) }, CONCAT (COST_, ISA) };
