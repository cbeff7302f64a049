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

/* Full vectors of channels, by the types of their rows.  Those of doubles alone
 * take the direct form. */
static inline __attribute__ ((always_inline)) bool
run_types (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, const unsigned N,
    const bool factored, const unsigned n_row)
{
  const TfxSample f32 = TFX_SAMPLE_F32, f64 = TFX_SAMPLE_F64;

  if (!factored || (in->type == f64 && out->type == f64))
    return run_full (in, out, n, state, gain, coef, N, factored, n_row, f64,
        f64);
  if (in->type == out->type)
    return run_full (in, out, n, state, gain, coef, N, factored, n_row, f32,
        f32);
  if (in->type == f32)
    return run_full (in, out, n, state, gain, coef, N, factored, n_row, f32,
        f64);
  return run_full (in, out, n, state, gain, coef, N, factored, n_row, f64, f32);
}

static inline __attribute__ ((always_inline)) bool
run_channels (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, const unsigned N,
    const bool factored)
{
  if (in->apart || out->apart) {
    if (in->n == W)
      return run_tiles (in, out, n, state, gain, coef, N, factored, W);
    return run_tiles (in, out, n, state, gain, coef, N, factored, in->n);
  }
  if (in->n == W)
    return run_types (in, out, n, state, gain, coef, N, factored, W);
  return run_types (in, out, n, state, gain, coef, N, factored, in->n);
}

/* Sections and channels: what is not a full vector of channels is not converted
 * on the way.  Rows of two or less are full. */
static inline __attribute__ ((always_inline)) bool
run_sections (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const unsigned C, const unsigned N, const bool factored,
    const TfxSample type)
{
  const unsigned n_idle = N * (W / C) - n_sections;

  if (N > 1) {
    if (C <= 2 || in->n == C)
      return run_masked (in, out, n, state, gain, coef, C, N, factored, C,
          type);
    return run_masked (in, out, n, state, gain, coef, C, N, factored, in->n,
        type);
  }
  if (N == 1 && n < 2 * (W / C - 1))
    return run_masked (in, out, n, state, gain, coef, C, N, factored, in->n,
        type);
  if (C <= 2 || in->n == C)
    return run_wave (in, out, n, state, gain, coef, n_idle, C, N, factored, C,
        type);
  return run_wave (in, out, n, state, gain, coef, n_idle, C, N, factored, in->n,
      type);
}

static inline __attribute__ ((always_inline)) bool
run_vectors (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const unsigned C, const unsigned N, const bool factored)
{
  if (C == W)
    return run_channels (in, out, n, state, gain, coef, N, factored);
  if (factored && in->type == TFX_SAMPLE_F32)
    return run_sections (in, out, n, state, gain, coef, n_sections, C, N,
        factored, TFX_SAMPLE_F32);
  return run_sections (in, out, n, state, gain, coef, n_sections, C, N,
      factored, TFX_SAMPLE_F64);
}

static inline __attribute__ ((always_inline)) bool
run_pass (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const unsigned C, const bool factored)
{
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
      return C == W && run_vectors (in, out, n, state, gain, coef, n_sections,
                           C, 4, factored);
  }
}

#define WAVE_KERNEL(NAME, C, FACTORED)                                         \
  static bool NAME (const TfxRows *in, const TfxRows *out, size_t n,           \
      double *state, const double *gain, const double *coef, unsigned m)       \
  {                                                                            \
    return run_pass (in, out, n, state, gain, coef, m, C, FACTORED);           \
  }

WAVE_KERNEL (KERNEL (direct1), 1, false)
WAVE_KERNEL (KERNEL (direct2), 2, false)
WAVE_KERNEL (KERNEL (factored1), 1, true)
WAVE_KERNEL (KERNEL (factored2), 2, true)
#if W > 2
WAVE_KERNEL (KERNEL (direct4), 4, false)
WAVE_KERNEL (KERNEL (factored4), 4, true)
#endif
#if W > 4
WAVE_KERNEL (KERNEL (direct8), 8, false)
WAVE_KERNEL (KERNEL (factored8), 8, true)
#endif

/* Those narrower than their set are waves and rows alone. */
#ifndef VEC_WIDTH
/* Two equal doubles: a compiler moves single ones about in instructions that
 * take their time. */
typedef double One __attribute__ ((vector_size (16)));
#define ONE_SET(a) ((One){ a, a })
#define ONE_GET(a) ((a)[0])

static inline One
multiply_add (One a, One b, One c)
{
#if W > 2
  return _mm_fmadd_pd (a, b, c);
#else
  return v_fma (a, b, c);
#endif
}

static inline One
step (One *s, One x, const One *c)
{
  const One y = multiply_add (c[0], x, s[0]);
  const One input = multiply_add (c[2], s[2], c[1] * x);
  const One next =
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

#endif

#define STRING2(s) #s
#define STRING(s) STRING2 (s)

const TfxKernels KERNEL (tfx_kernels) = {
  .name = STRING (ISA),
  .width = W,
#if W == 8
  .half = &tfx_kernels_vl,
#elif W == 4
  .half = &tfx_kernels_fma,
#endif
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
#ifndef VEC_WIDTH
  .one = KERNEL (one),
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
  .clean = KERNEL (clean),
  .sum = KERNEL (sum),
  .fade = KERNEL (fade),
#endif
};
