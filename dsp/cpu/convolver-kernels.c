/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-kernels.c: the innermost loops of the FIR engine; compiled once for
 * each instruction set, whose name is CONVOLVER_ISA. */
#include <stdint.h>
#include <string.h>

#include "convolver-private.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define LANES_F32 16
#define LANES_F64 8
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define LANES_F32 8
#define LANES_F64 4
#else
#define VECTOR_BYTES 16
#define LANES_F32 4
#define LANES_F64 2
#endif

#if defined(__FMA__) || defined(__aarch64__)
#define HAS_FMA 1
#else
#define HAS_FMA 0
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define HAS_32_REGISTERS 1
#else
#define HAS_32_REGISTERS 0
#endif
/* Up to this number of floats a plain sum is exact enough. */
#define PLAIN_F32 8
#define PLAIN_F64 SIZE_MAX

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_ (a, b)
#define CONCAT3_(a, b, c) a##b##c
#define CONCAT3(a, b, c) CONCAT3_ (a, b, c)
#define STRING_(a) #a
#define STRING(a) STRING_ (a)

/* Floats: vectors of 4, 8 and 16, if the machine has them. */
#define T float
#define T_SIZE 4
#define LANES LANES_F32
#define WIDE 1
#define OP(name) name##_f32
#define L 4
#define VOP(name) OP (name##_x4)
#include "vec_tmpl.h"
#if LANES >= 8
#define L 8
#define VOP(name) OP (name##_x8)
#include "vec_tmpl.h"
#endif
#if LANES == 16
#define L 16
#define VOP(name) OP (name##_x16)
#include "vec_tmpl.h"
#endif

#define L LANES
#define VOP(name) CONCAT3 (name##_x, LANES, _f32)
#include "convolver-direct_tmpl.c"
#define N 4
#define L 4
#define VOP(name) OP (name##_x4)
#include "convolver-transform_tmpl.c"
#if LANES >= 8
#define N 8
#define L 8
#define VOP(name) OP (name##_x8)
#include "convolver-transform_tmpl.c"
#endif
#if LANES == 16
#define N 16
#define L 16
#define VOP(name) OP (name##_x16)
#include "convolver-transform_tmpl.c"
#endif

#undef T
#undef T_SIZE
#undef LANES
#undef WIDE
#undef OP

/* Doubles: vectors of 2, or of 4 and 8. */
#define T double
#define T_SIZE 8
#define LANES LANES_F64
#define WIDE 0
#define OP(name) name##_f64
#if LANES == 2
#define L 2
#define VOP(name) OP (name##_x2)
#include "vec_tmpl.h"
#else
#define L 4
#define VOP(name) OP (name##_x4)
#include "vec_tmpl.h"
#endif
#if LANES == 8
#define L 8
#define VOP(name) OP (name##_x8)
#include "vec_tmpl.h"
#endif

#define L LANES
#define VOP(name) CONCAT3 (name##_x, LANES, _f64)
#include "convolver-direct_tmpl.c"
#define N 4
#if LANES == 2
#define L 2
#define VOP(name) OP (name##_x2)
#else
#define L 4
#define VOP(name) OP (name##_x4)
#endif
#include "convolver-transform_tmpl.c"
#if LANES == 8
#define N 8
#define L 8
#define VOP(name) OP (name##_x8)
#include "convolver-transform_tmpl.c"
#endif

#if LANES_F32 == 16
#define LEAVES_f32(name) name##_x4_f32, name##_x8_f32, name##_x16_f32
#define LEAVES_f64(name) name##_x4_f64, name##_x8_f64
#elif LANES_F32 == 8
#define LEAVES_f32(name) name##_x4_f32, name##_x8_f32
#define LEAVES_f64(name) name##_x4_f64
#else
#define LEAVES_f32(name) name##_x4_f32
#define LEAVES_f64(name) name##_x2_f64
#endif

#define OPS(t, lanes, plain)                                                   \
  {                                                                            \
    .direct = direct_##t, .n_plain = plain, .direct_exact = direct_exact_##t,  \
    .split = { split2_##t, split3_##t, split4_##t },                           \
    .join = { join2_##t, join3_##t, join4_##t },                               \
    .max_lanes = lanes < 4 ? 4 : lanes,                                        \
    .leaves_forward = { LEAVES_##t (leaves_forward) },                         \
    .leaves_back = { LEAVES_##t (leaves_back) }, .sums = sums_##t,             \
    .add = add_##t, .is_sound = is_sound_##t                                   \
  }

/* Costs (TfxConvolverCost); tests/bench/fir_costs.c prints these lines.  `call` and `head`
 * are set so that fir_layouts finds the best choices.  direct, direct_call,
 * direct_frame, direct_few, sum_near, sum, sum_far, leaf[3], sum_leaf, near_size, pass, call,
 * head;
 * float, then double */
/* clang-format off */
#define COST_sse2 { \
    { 0.0838, 0.0000, 0.4257, 15, 0.2617, 0.2381, 0.3888, { 33.4, 29.3, 27.0 }, 5.3, 2048, 0.2112, 50.0, 0 }, \
    { 0.1017, 0.0000, 0.3462, 12, 0.4595, 0.4882, 1.3339, { 54.5, 50.6, 48.4 }, 5.1, 1024, 0.4225, 115.0, 0 } \
  }
#define COST_avx2 { \
    { 0.0262, 0.0173, 0.2216, 31, 0.1088, 0.1143, 0.1577, { 30.3, 16.8, 12.6 }, 2.7, 2048, 0.0905, 36.0, 0 }, \
    { 0.0385, 0.0126, 0.0000, 8, 0.2332, 0.2205, 0.4500, { 32.2, 24.7, 24.7 }, 7.1, 1024, 0.1737, 45.0, 0 } \
  }
#define COST_avx512 { \
    { 0.0188, 0.3254, 0.0098, 63, 0.0705, 0.0812, 0.1277, { 25.4, 14.0, 13.1 }, 1.3, 2048, 0.0934, 44.0, 0 }, \
    { 0.0327, 0.1687, 0.0325, 8, 0.1983, 0.1912, 0.4200, { 25.8, 22.9, 21.6 }, 0.2, 1024, 0.1765, 75.0, 0 } \
  }
/* Of a processor that does not run AVX-512 in halves: short transforms of floats, in vectors
 * half as wide, share its units with nothing else, and wait.  Doubles are those above but for
 * leaf[0]. */
#define WHOLE_avx512 { \
    { 0.0205, 0.5472, 0.0560, 63, 0.0705, 0.0812, 0.1277, { 37.2, 20.4, 13.1 }, 1.3, 2048, 0.0934, 40.0, 60.0 }, \
    { 0.0327, 0.1687, 0.0325, 8, 0.1983, 0.1912, 0.4200, { 34.0, 22.9, 21.6 }, 0.2, 1024, 0.1765, 75.0, 0 } \
  }
/* Not measured: as SSE2, whose vectors are as wide. */
#define COST_neon COST_sse2
#define COST_c COST_sse2
#define WHOLE_c COST_c
#define WHOLE_sse2 COST_sse2
#define WHOLE_avx2 COST_avx2
#define WHOLE_neon COST_neon
/* clang-format on */

const TfxConvolverKernels
    CONCAT (tfx_convolver_kernels_, CONVOLVER_ISA) = { STRING (CONVOLVER_ISA),
      { OPS (f32, LANES_F32, PLAIN_F32), OPS (f64, LANES_F64, PLAIN_F64) },
      CONCAT (COST_, CONVOLVER_ISA), CONCAT (WHOLE_, CONVOLVER_ISA) };
