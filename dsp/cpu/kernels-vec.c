/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-vec.c: the cascade kernels; compiled once for each instruction set.
 * ISA is the suffix of the names. */
#include "kernels.h"
#include "vec.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define KERNEL(name) CAT (name, ISA)

#include "tile_tmpl.c"
#include "wave_tmpl.c"

/* By the types of the rows.  Those of doubles alone take the direct form, and
 * what is not a full vector of channels is not converted on the way. */
static inline __attribute__ ((always_inline)) void
run_types (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned N, const unsigned C, const bool factored,
    const unsigned n_row)
{
  const TfxSample f32 = TFX_SAMPLE_F32, f64 = TFX_SAMPLE_F64;

  if (!factored || (in->type == f64 && out->type == f64))
    run_wave (in, out, n, state, coef, C, N, factored, n_row, f64, f64);
  else if (C < W || in->type == out->type)
    run_wave (in, out, n, state, coef, C, N, factored, n_row, f32, f32);
  else if (in->type == f32)
    run_wave (in, out, n, state, coef, C, N, factored, n_row, f32, f64);
  else
    run_wave (in, out, n, state, coef, C, N, factored, n_row, f64, f32);
}

/* Rows that are full, whose number is known, or not. */
static inline __attribute__ ((always_inline)) void
run_rows (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned N, const unsigned C, const bool factored)
{
  if (C == W && (in->apart || out->apart))
    run_tiles (in, out, n, state, coef, N, factored);
  else if (C <= 2 || in->n == C)
    run_types (in, out, n, state, coef, N, C, factored, C);
  else
    run_types (in, out, n, state, coef, N, C, factored, in->n);
}

static inline __attribute__ ((always_inline)) void
run_vectors (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, unsigned n_vectors, const unsigned C,
    const bool factored)
{
  switch (n_vectors) {
    case 1:
      run_rows (in, out, n, state, coef, 1, C, factored);
      break;
    case 2:
      run_rows (in, out, n, state, coef, 2, C, factored);
      break;
    case 3:
      run_rows (in, out, n, state, coef, 3, C, factored);
      break;
    case 4:
      if (C == W)
        run_rows (in, out, n, state, coef, 4, C, factored);
      break;
  }
}

#define WAVE_KERNEL(C, factored)                                               \
  (const TfxRows *in, const TfxRows *out, size_t n, double *state,             \
      const double *coef, unsigned n_vectors)                                  \
  {                                                                            \
    run_vectors (in, out, n, state, coef, n_vectors, C, factored);             \
  }

static void
KERNEL (direct1) WAVE_KERNEL (1, false) static void KERNEL (
    direct2) WAVE_KERNEL (2, false) static void KERNEL (factored1)
    WAVE_KERNEL (1, true) static void KERNEL (factored2) WAVE_KERNEL (2, true)
#if W > 2
        static void KERNEL (direct4) WAVE_KERNEL (4, false) static void KERNEL (
            factored4) WAVE_KERNEL (4, true)
#endif
#if W > 4
            static void KERNEL (direct8) WAVE_KERNEL (8,
                false) static void KERNEL (factored8) WAVE_KERNEL (8, true)
#endif

                static inline double multiply_add (double a, double b, double c)
{
#if V_HAS_FMA
  return __builtin_fma (a, b, c);
#else
  return a * b + c;
#endif
}

static inline double
step (double *s, double x, const double *c)
{
  const double y = multiply_add (c[0], x, s[0]);
  const double input = multiply_add (c[2], s[2], c[1] * x);
  const double next =
      multiply_add (-c[3], s[0], multiply_add (-c[4], s[1], input));

  s[1] = s[0];
  s[2] = x;
  s[0] = next;
  return y;
}

#define ONE_NAME KERNEL (one)
#define ONE_STEP step
#include "one_tmpl.c"

#include "frames_tmpl.c"

static void
KERNEL (frames1) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections, TfxPending *pending)
{
  run_frames_sections (in, out, n, state, coef, n_sections, pending, 1);
}

static void
KERNEL (frames2) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections, TfxPending *pending)
{
  run_frames_sections (in, out, n, state, coef, n_sections, pending, 2);
}

#define PACK_NAME(op, type) CAT3 (op, type, ISA)
#define CAT3(op, type, isa) CAT4 (op, type, isa)
#define CAT4(op, type, isa) op##_##type##_##isa
#define PACK_SAMPLE float
#define PACK_TYPE f32
#include "pack_tmpl.c"
#undef PACK_SAMPLE
#undef PACK_TYPE
#define PACK_SAMPLE double
#define PACK_TYPE f64
#include "pack_tmpl.c"

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

#define STRING2(s) #s
#define STRING(s) STRING2 (s)

const TfxKernels KERNEL (tfx_kernels) = {
  .name = STRING (ISA),
  .width = W,
#if W == 8
  .half = &tfx_kernels_avx2,
#endif
  .one = KERNEL (one),
#if W == 2
  .direct = { KERNEL (direct1), KERNEL (direct2) },
  .factored = { KERNEL (factored1), KERNEL (factored2) },
#elif W == 4
  .direct = { KERNEL (direct1), KERNEL (direct2), KERNEL (direct4) },
  .factored = { KERNEL (factored1), KERNEL (factored2), KERNEL (factored4) },
#else
  .direct = { KERNEL (direct1), KERNEL (direct2), KERNEL (direct4),
      KERNEL (direct8) },
  .factored = { KERNEL (factored1), KERNEL (factored2), KERNEL (factored4),
      KERNEL (factored8) },
#endif
  .frames = { KERNEL (frames1), KERNEL (frames2) },
  .frames_vectors = FRAMES_VECTORS,
  .moving_coef = KERNEL (tfx_moving_coef),
  .moving = KERNEL (tfx_moving),
  .pack = { KERNEL (pack_f32), KERNEL (pack_f64) },
  .unpack = { KERNEL (unpack_f32), KERNEL (unpack_f64) },
  .interleave = { KERNEL (interleave_f32), KERNEL (interleave_f64) },
  .deinterleave = { KERNEL (deinterleave_f32), KERNEL (deinterleave_f64) },
  .scale = KERNEL (scale),
  .add = KERNEL (add),
};
