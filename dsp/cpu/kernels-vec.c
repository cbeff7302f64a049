/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-vec.c: the cascade kernels; compiled once for each instruction set.
 * ISA is the suffix of the names. */
#include <math.h>

#include "kernels.h"
#include "vec.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define KERNEL(name) CAT (name, ISA)

#include "tile_tmpl.c"
#include "wave_tmpl.c"
#include "rows_tmpl.c"

static inline __attribute__ ((always_inline)) bool
run_vectors (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const unsigned C, const unsigned N, const bool factored)
{
  if (N > (C < W ? V_WAVE : factored ? V_FACTORED : TFX_WAVE_MAX_VECTORS))
    return true;
  if (C == W)
    return run_full (in, out, n, state, gain, coef, N, 1, factored);
  return run_sections (in, out, n, state, gain, coef, N * (W / C) - n_sections,
      C, N, factored);
}

static inline __attribute__ ((always_inline)) bool
run_pass (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const unsigned C, const bool factored)
{
  if (C > W)
    return n_sections == 1
               ? run_full (in, out, n, state, gain, coef, 1, 2, factored)
               : factored || V_PAIRED_DIRECT < 2 ||
                     run_full (in, out, n, state, gain, coef, 2, 2, factored);
  switch ((n_sections * C + W - 1) / W) {
    case 1:
      return run_vectors (in, out, n, state, gain, coef, n_sections, C, 1,
          factored);
    case 2:
      return run_vectors (in, out, n, state, gain, coef, n_sections, C, 2,
          factored);
    case 3:
      return run_vectors (in, out, n, state, gain, coef, n_sections, C, 3,
          factored);
    default:
      return run_vectors (in, out, n, state, gain, coef, n_sections, C, 4,
          factored);
  }
}

#define WAVE_KERNEL(NAME, C, FACTORED)                                         \
  static bool NAME (const TfxRows *in, const TfxRows *out, size_t n,           \
      double *state, const double *gain, const double *coef, unsigned m)       \
  {                                                                            \
    return run_pass (in, out, n, state, gain, coef, m, C, FACTORED);           \
  }

/* Those narrower than their set have what costs less there: rows, and one vector of
 * sections of one channel. */
WAVE_KERNEL (KERNEL (direct1), 1, false)
WAVE_KERNEL (KERNEL (factored1), 1, true)
WAVE_KERNEL (KERNEL (direct2), 2, false)
WAVE_KERNEL (KERNEL (factored2), 2, true)
#if W > 2 || V_PAIRED_DIRECT > 0
WAVE_KERNEL (KERNEL (direct4), 4, false)
WAVE_KERNEL (KERNEL (factored4), 4, true)
#endif
#if W == 8 || (W == 4 && V_PAIRED_DIRECT > 0)
WAVE_KERNEL (KERNEL (direct8), 8, false)
WAVE_KERNEL (KERNEL (factored8), 8, true)
#endif
#include "frames_tmpl.c"

static bool
KERNEL (frames1) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections, TfxPending *pending)
{
  return run_frames_sections (in, out, n, state, coef, n_sections, pending, 1);
}

static bool
KERNEL (frames2) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections, TfxPending *pending)
{
  return run_frames_sections (in, out, n, state, coef, n_sections, pending, 2);
}

#include "parallel_tmpl.c"

#include "parallel-rows_tmpl.c" /* after it: its parts */

/* Sums; LAST: the channels in the lanes, or of rows whether cascades are abreast. */
#define SUM_KERNEL(NAME, RUN, LAST)                                            \
  static bool NAME (const TfxRows *in, const TfxRows *out, size_t n,           \
      double *state, const double *gain, const double *coef, unsigned m)       \
  {                                                                            \
    return RUN (in, out, n, state, gain, coef, m, LAST);                       \
  }

SUM_KERNEL (KERNEL (parallel1), run_parts_sections, 1)
SUM_KERNEL (KERNEL (abreast1), run_abreast_sections, 1)
#if W > 2
SUM_KERNEL (KERNEL (parallel2), run_parts_sections, 2)
SUM_KERNEL (KERNEL (abreast2), run_abreast_sections, 2)
#endif
SUM_KERNEL (KERNEL (parallel_rows), run_all_rows, false)
SUM_KERNEL (KERNEL (abreast_rows), run_all_rows, true)

#ifndef VEC_WIDTH
#define CAT3(op, type, isa) CAT4 (op, type, isa)
#define CAT4(op, type, isa) op##_##type##_##isa
#define PLANES_VECTORS 1
#define T float
#define T_SIZE 4
#define OP(name) CAT3 (name, f32, ISA)
#include "planes_tmpl.c"
#undef T
#undef T_SIZE
#undef OP
#define T double
#define T_SIZE 8
#define OP(name) CAT3 (name, f64, ISA)
#include "planes_tmpl.c"

#undef OP
#define OP(name) KERNEL (name)
#include "copy_tmpl.c"

#endif

#define STRING2(s) #s
#define STRING(s) STRING2 (s)

const TfxKernels KERNEL (tfx_kernels) = {
  .name = STRING (ISA),
  .width = W,
#if W == 8
  .half = &tfx_kernels_vl,
  .halves = tfx_cpu_halves_avx512,
#endif
#if VEC_WIDTH == 4
  .direct = { KERNEL (direct1), KERNEL (direct2), KERNEL (direct4) },
  .factored = { KERNEL (factored1), KERNEL (factored2), KERNEL (factored4) },
#elif W == 8
  .direct = { KERNEL (direct1), KERNEL (direct2), KERNEL (direct4),
      KERNEL (direct8) },
  .factored = { KERNEL (factored1), KERNEL (factored2), KERNEL (factored4),
      KERNEL (factored8) },
#elif W == 4
  .direct = { KERNEL (direct1), KERNEL (direct2), KERNEL (direct4),
      KERNEL (direct8) },
  .factored = { KERNEL (factored1), KERNEL (factored2), KERNEL (factored4),
      KERNEL (factored8) },
#elif V_PAIRED_DIRECT > 0
  .direct = { KERNEL (direct1), KERNEL (direct2), KERNEL (direct4) },
  .factored = { KERNEL (factored1), KERNEL (factored2), KERNEL (factored4) },
#else
  .direct = { KERNEL (direct1), KERNEL (direct2) },
  .factored = { KERNEL (factored1), KERNEL (factored2) },
#endif
  .wave_vectors = V_WAVE,
  .paired_direct = V_PAIRED_DIRECT,
  .paired_factored = V_PAIRED_FACTORED,
  .factored_vectors = V_FACTORED,
  .s2_wave = V_S2_WAVE,
  .s2_wave_factored = V_S2_WAVE_FACTORED,
  .s2_direct = V_S2_DIRECT,
  .s2_factored = V_S2_FACTORED,
  .frames = { KERNEL (frames1), KERNEL (frames2) },
  .frames_vectors = FRAMES_VECTORS,
#if W > 2
  .parallel = { KERNEL (parallel1), KERNEL (parallel2),
      KERNEL (parallel_rows) },
  .abreast = { KERNEL (abreast1), KERNEL (abreast2), KERNEL (abreast_rows) },
#else
  .parallel = { KERNEL (parallel1), NULL, KERNEL (parallel_rows) },
  .abreast = { KERNEL (abreast1), NULL, KERNEL (abreast_rows) },
#endif
#ifndef VEC_WIDTH
  .moving_coef = KERNEL (tfx_moving_coef),
  .moving = KERNEL (tfx_moving),
  .interleave = { KERNEL (interleave_f32), KERNEL (interleave_f64) },
  .deinterleave = { KERNEL (deinterleave_f32), KERNEL (deinterleave_f64) },
  .scale = KERNEL (scale),
  .add = KERNEL (add),
  .clean = KERNEL (clean),
  .sum = KERNEL (sum),
  .fade = KERNEL (fade),
  .ramp = KERNEL (ramp),
#endif
};
