/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-vec.c: the cascade kernels of an instruction set and the table of its shapes;
 * compiled once for each set, and with VEC_WIDTH for narrower vectors of one.  ISA is the suffix
 * of the names. */
#include <assert.h>
#include <math.h>

#include "kernels.h"
#include "vec.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define KERNEL(name) CAT (name, ISA)

/* Limits of the kernels, by what was measured.
 *
 * PIPELINED_VECTORS and FULL_VECTORS: the most vectors of a pass with C < W, and with C = W if
 * factored.  PAIRED: whether pairs gain.  FRAMES_LEAST and FRAMES_MOST: sections times C.
 *
 * Least vectors of a pass that has s2: S2_PIPELINED and S2_FULL if direct, S2_..._FACTORED.  It
 * saves a register; factored it is an operation more. */
#define NEVER (TFX_MAX_VECTORS + 1)
#define S2_PIPELINED 2
#if defined(__AVX512VL__)
#define PIPELINED_VECTORS (W == 8 ? 3 : 1)
#define FULL_VECTORS 4
#define PAIRED 0
#define FRAMES_LEAST (W == 8 ? 3 : 1)
#define FRAMES_MOST (W == 8 ? 4 : 2)
#define S2_PIPELINED_FACTORED NEVER
#define S2_FULL NEVER
#define S2_FULL_FACTORED NEVER
#else
#define PAIRED 1
#define FRAMES_LEAST 1
#define FRAMES_MOST 4
#define S2_FULL 2
#if defined(__AVX2__)
#define PIPELINED_VECTORS 2
#define FULL_VECTORS 3
#define S2_PIPELINED_FACTORED 2
#define S2_FULL_FACTORED NEVER
#elif defined(__aarch64__)
#define PIPELINED_VECTORS 3
#define FULL_VECTORS 4
#define S2_PIPELINED_FACTORED 2
#define S2_FULL_FACTORED NEVER
#else /* without multiply-adds s2 is no operation more */
#undef S2_PIPELINED
#define PIPELINED_VECTORS 2
#define FULL_VECTORS 4
#define S2_PIPELINED 1
#define S2_PIPELINED_FACTORED 1
#define S2_FULL_FACTORED 3
#endif
#endif

/* FUNCTION (..., N), where N is n, 1 to 4, as a constant. */
#define WITH_N(n, FUNCTION, ...)                                               \
  ((n) == 1      ? FUNCTION (__VA_ARGS__, 1)                                   \
      : (n) == 2 ? FUNCTION (__VA_ARGS__, 2)                                   \
      : (n) == 3 ? FUNCTION (__VA_ARGS__, 3)                                   \
                 : FUNCTION (__VA_ARGS__, 4))

#include "pipelined_tmpl.c"

#include "full_tmpl.c" /* after it: its steps */

#include "frames_tmpl.c"

#include "parallel_tmpl.c"

static inline __attribute__ ((always_inline)) bool
run_vectors (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const unsigned C, const bool factored, const unsigned N)
{
  if (N > (C < W ? PIPELINED_VECTORS : factored ? FULL_VECTORS : NEVER - 1))
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
               : factored ||
                     run_full (in, out, n, state, gain, coef, 2, 2, factored);
  return WITH_N ((n_sections * C + W - 1) / W, run_vectors, in, out, n, state,
      gain, coef, n_sections, C, factored);
}

#define DEFINE(NAME, RUN, ...)                                                 \
  static bool KERNEL (NAME) (const TfxRows *in, const TfxRows *out, size_t n,  \
      double *state, const double *gain, const double *coef, unsigned m)       \
  {                                                                            \
    return RUN (in, out, n, state, gain, coef, m, __VA_ARGS__);                \
  }

DEFINE (direct1, run_pass, 1, false)
DEFINE (factored1, run_pass, 1, true)
DEFINE (direct2, run_pass, 2, false)
DEFINE (factored2, run_pass, 2, true)
DEFINE (frames1, run_frames_sections, 1)
DEFINE (frames2, run_frames_sections, 2)
DEFINE (parallel1, run_parts_sections, 1)
DEFINE (merged1, run_merged_sections, 1)
DEFINE (parallel_full, run_all_rows, false)
DEFINE (merged_full, run_all_rows, true)
#if W > 2 || PAIRED
DEFINE (direct4, run_pass, 4, false)
DEFINE (factored4, run_pass, 4, true)
#endif
#if W > 2
DEFINE (parallel2, run_parts_sections, 2)
DEFINE (merged2, run_merged_sections, 2)
#endif
#if W == 8 || (W == 4 && PAIRED)
DEFINE (direct8, run_pass, 8, false)
DEFINE (factored8, run_pass, 8, true)
#endif

/* ---- the table of shapes ------------------------------------------------------------
 *
 * Costs: ns of a pass, of a vector, of missing channels, for a frame, in blocks of 128 to 256
 * frames.  Those of AVX-512 from a Granite Rapids, which runs its vectors at once, then from a
 * Zen 4, which runs them in halves; the others from a Zen 4. */

#define ANY UINT32_MAX
#define COST(...)                                                              \
  {                                                                            \
    __VA_ARGS__                                                                \
  }

#define ROW(LAYOUT, FORM, ...)                                                 \
  {                                                                            \
    TFX_LAYOUT_##LAYOUT, TFX_FORM_##FORM, __VA_ARGS__                          \
  }
#define PLANAR(WHEN) TFX_PLANAR_##WHEN

/* Few channels, section after section. */
#define PIPELINED(C, ...)                                                      \
  ROW (PIPELINED, DIRECT, C, W, false, 0, ANY, PIPELINED_VECTORS,              \
      S2_PIPELINED, PLANAR (NEVER), KERNEL (direct##C), { __VA_ARGS__ }),      \
      ROW (PIPELINED, FACTORED, C, W, false, 0, ANY, PIPELINED_VECTORS,        \
          S2_PIPELINED_FACTORED, PLANAR (NEVER), KERNEL (factored##C),         \
          { __VA_ARGS__ })
/* As many channels as lanes. */
#define FULL(C, ...)                                                           \
  ROW (PIPELINED, DIRECT, C, W, false, 0, ANY, TFX_MAX_VECTORS, S2_FULL,       \
      PLANAR (NEVER), KERNEL (direct##C), { __VA_ARGS__ }),                    \
      ROW (PIPELINED, FACTORED, C, W, false, 0, ANY, FULL_VECTORS,             \
          S2_FULL_FACTORED, W == 8 ? PLANAR (ONE_PASS) : PLANAR (ALWAYS),      \
          KERNEL (factored##C), { __VA_ARGS__ })
/* Twice as many. */
#define PAIRS(C, ...)                                                          \
  ROW (PIPELINED, DIRECT, C, 2 * W, true, 0, 2, TFX_MAX_VECTORS, S2_FULL,      \
      PLANAR (NEVER), KERNEL (direct##C), { __VA_ARGS__ }),                    \
      ROW (PIPELINED, FACTORED, C, 2 * W, true, 0, 1, TFX_MAX_VECTORS,         \
          S2_FULL_FACTORED, PLANAR (ALWAYS), KERNEL (factored##C),             \
          { __VA_ARGS__ })
#define FRAMES(C, ...)                                                         \
  ROW (FRAMES, FACTORED, C, W, false, (FRAMES_LEAST + C - 1) / C,              \
      FRAMES_MOST / C, FRAMES_VECTORS, 0,                                      \
      C == 2 ? PLANAR (ALWAYS) : PLANAR (NEVER), KERNEL (frames##C),           \
      { __VA_ARGS__ })
/* With vectors of eight more than one of them: vectors of four have the others. */
#define PARALLEL(C, ...)                                                       \
  ROW (PARALLEL, FACTORED, C, W, false, W == 8 ? W / C + 1 : 1,                \
      4 * W / C < 16 ? 4 * W / C : 16, TFX_MAX_VECTORS, 0, PLANAR (NEVER),     \
      KERNEL (parallel##C), { __VA_ARGS__ })
#define PARALLEL_FULL(...)                                                     \
  ROW (PARALLEL, FACTORED, W, W, false, 1, 16, 16, 0, PLANAR (NEVER),          \
      KERNEL (parallel_full), { __VA_ARGS__ })
#define MERGED(C, NAME, ...)                                                   \
  ROW (MERGED, DIRECT, C, W, false, 1, 4, ANY, 0, PLANAR (NEVER),              \
      KERNEL (NAME), { __VA_ARGS__ })

static const TfxShape shapes[] = {
#if W == 8
  PIPELINED (1, COST (0.93, 0.66, 0.25), COST (1.25, 1.08, 0.9)),
  PIPELINED (2, COST (0.93, 0.66, 0.25), COST (1.25, 1.08, 0.9)),
  PIPELINED (4, COST (0.93, 0.66, 0.25), COST (1.25, 1.08, 0.9)),
  FULL (8, COST (0.6, 0.58, 0.2), COST (0.95, 1.05, 0.3)),
  FRAMES (1, COST (0.45, 0.25), COST (0.45, 0.25)),
  FRAMES (2, COST (0.4, 0.75), COST (0.3, 0.7)),
  PARALLEL (1, COST (0.5, 0.7), COST (0.76, 0.84)),
  PARALLEL (2, COST (1.0, 0.47), COST (0.87, 0.92)),
  PARALLEL_FULL (COST (1.5, 0.72, 0.5), COST (1.7, 1.1, 0.5)),
  MERGED (1, merged1, COST (1.1, 0.7), COST (1.2, 1.1)),
  MERGED (2, merged2, COST (1.1, 0.7), COST (1.2, 1.1)),
  MERGED (8, merged_full, COST (1.6, 0.82, 0.5), COST (1.9, 1.4, 0.5)),
#elif VEC_WIDTH == 4
  PIPELINED (1, COST (0.95, 0.45), COST (0.95, 0.45, 0.4)),
  PIPELINED (2, COST (0.95, 0.45), COST (0.95, 0.45, 0.4)),
  FULL (4, COST (0.83, 0.48, 0.03), COST (0.85, 0.52, 0.5)),
  FRAMES (1, COST (0.45, 0.25), COST (0.45, 0.25)),
  FRAMES (2, COST (0.4, 0.75), COST (0.3, 0.7)),
  PARALLEL (1, COST (0.99, 0.28), COST (0.8, 0.35)),
  PARALLEL (2, COST (0.87, 0.36), COST (0.85, 0.42)),
  PARALLEL_FULL (COST (0.9, 0.63, 0.5), COST (0.85, 0.55, 0.5)),
  MERGED (1, merged1, COST (1.0, 0.6), COST (0.9, 0.6)),
  MERGED (2, merged2, COST (1.0, 0.6), COST (0.9, 0.6)),
  MERGED (4, merged_full, COST (1.2, 0.72, 0.5), COST (1.1, 0.7, 0.5)),
#elif W == 4
  PIPELINED (1, COST (0.7, 0.7, 0.4)),
  PIPELINED (2, COST (0.7, 0.7, 0.4)),
  FULL (4, COST (0.65, 0.56, 0.1)),
  PAIRS (8, COST (0.6, 1.3, 0.1)),
  FRAMES (1, COST (0.45, 0.25)),
  FRAMES (2, COST (0.2, 0.8)),
  PARALLEL (1, COST (0.92, 0.40)),
  PARALLEL (2, COST (0.7, 0.59)),
  PARALLEL_FULL (COST (0.9, 0.7, 0.8)),
  MERGED (1, merged1, COST (1.0, 0.7)),
  MERGED (2, merged2, COST (1.0, 0.7)),
  MERGED (4, merged_full, COST (1.4, 0.85, 0.8)),
#else
  PIPELINED (1, COST (1.4, 0.5)),
  FULL (2, COST (1.0, 0.8)),
  PAIRS (4, COST (0.4, 1.6, 0.1)),
  FRAMES (1, COST (0.2, 0.95)),
  FRAMES (2, COST (0.0, 2.1)),
  PARALLEL (1, COST (0.9, 0.68)),
  PARALLEL_FULL (COST (1.2, 0.9)),
  MERGED (1, merged1, COST (1.2, 0.9)),
  MERGED (2, merged_full, COST (1.8, 1.2)),
#endif
};

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
  .shapes = shapes,
  .n_shapes = sizeof shapes / sizeof *shapes,
#if W == 8
  .half = &tfx_kernels_vl,
  .halves = tfx_cpu_halves_avx512,
#endif
  .packing = W == 8 ? 0.7 : 0.6,
  .adding = W == 2 ? 0.4 : 0.3,
  .moving_coef = KERNEL (tfx_moving_coef),
  .moving = KERNEL (tfx_moving),
  .moving_one = tfx_moving_c,
#ifndef VEC_WIDTH
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
