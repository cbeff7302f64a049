/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-vec.c: the cascade kernels; compiled once for each instruction set.
 * ISA is the suffix of the names. */
#include "kernels.h"
#include "vec.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define KERNEL(name) CAT (name, ISA)

static inline __attribute__ ((always_inline)) V
load_row (const void *data, ptrdiff_t at, const TfxRowsKind kind)
{
  if (kind == TFX_ROWS_F32)
    return v_load_f32 ((const float *)data + at);
  if (kind == TFX_ROWS_F64)
    return v_load_f64 ((const double *)data + at);
  return v_load ((const double *)data + at);
}

static inline __attribute__ ((always_inline)) void
store_row (void *data, ptrdiff_t at, V v, const TfxRowsKind kind)
{
  if (kind == TFX_ROWS_F32)
    v_store_f32 ((float *)data + at, v);
  else if (kind == TFX_ROWS_F64)
    v_store_f64 ((double *)data + at, v);
  else
    v_store ((double *)data + at, v);
}

/* The coefficients of a section in the form direct: b0 c1 c2 a1 a2, or, where
 * there is no FMA, b0 b1 b2 a1 a2. */
typedef V DirectCoef[5];

static inline __attribute__ ((always_inline)) void
direct_load (DirectCoef c, const double *coef)
{
  const unsigned first = V_HAS_FMA ? 5 : 1;

  c[0] = v_set1 (coef[0]);
  c[1] = v_set1 (coef[first]);
  c[2] = v_set1 (coef[first + 1]);
  c[3] = v_set1 (coef[3]);
  c[4] = v_set1 (coef[4]);
}

/* Five operations a section and sample.  With FMA the output is not fed back:
 * it would bring its rounding along, 20 dB more noise at 20 Hz; and the
 * recursion from s1 to s1 is one operation deep.  Without, the order of
 * operations is that of the reference, whose results are the same to the
 * bit. */
static inline __attribute__ ((always_inline)) void
direct_step (V *y, V *s1, V *s2, V x, const DirectCoef c)
{
#if V_HAS_FMA
  V old = *s1;

  *y = v_fma (c[0], x, old);
  *s1 = v_fnma (c[3], old, v_fma (c[1], x, *s2));
  *s2 = v_fnma (c[4], old, v_mul (c[2], x));
#else
  *y = v_fma (c[0], x, *s1);
  *s1 = v_add (v_fnma (c[3], *y, v_mul (c[1], x)), *s2);
  *s2 = v_fnma (c[4], *y, v_mul (c[2], x));
#endif
}

static inline __attribute__ ((always_inline)) void
run_direct (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned n_sections, const TfxRowsKind in_kind,
    const TfxRowsKind out_kind)
{
  const void *from = in->data;
  void *to = out->data;
  const ptrdiff_t in_stride = in->stride, out_stride = out->stride;
  V s1[TFX_PASS_MAX_SECTIONS], s2[TFX_PASS_MAX_SECTIONS];
  DirectCoef c[TFX_PASS_MAX_SECTIONS];

#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    s1[k] = v_load (state + 2 * k * W);
    s2[k] = v_load (state + (2 * k + 1) * W);
    direct_load (c[k], coef + TFX_DIRECT_SIZE * k);
  }
  for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
    V v = load_row (from, i * in_stride, in_kind);
#pragma GCC unroll 4
    for (unsigned k = 0; k < n_sections; k++) {
      V y;
      direct_step (&y, &s1[k], &s2[k], v, c[k]);
      v = y;
    }
    store_row (to, i * out_stride, v, out_kind);
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    v_store (state + 2 * k * W, s1[k]);
    v_store (state + (2 * k + 1) * W, s2[k]);
  }
}

/* Four multiply-adds a section and sample.  The recursion is one multiply-add
 * deep: u waits for the u before it, all else is there early. */
static inline __attribute__ ((always_inline)) void
run_factored (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned n_sections, const TfxRowsKind in_kind,
    const TfxRowsKind out_kind)
{
  enum
  {
    MAX = TFX_FACTORED_MAX_SECTIONS
  };
  const void *from = in->data;
  void *to = out->data;
  const ptrdiff_t in_stride = in->stride, out_stride = out->stride;
  V u[MAX], last_u[MAX], last_x[MAX], c[MAX], na1[MAX], na2[MAX], r[MAX];
  const V g = v_set1 (coef[0]);

#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    u[k] = v_load (state + 3 * k * W);
    last_u[k] = v_load (state + (3 * k + 1) * W);
    last_x[k] = v_load (state + (3 * k + 2) * W);
    c[k] = v_set1 (coef[1 + 4 * k]);
    na1[k] = v_set1 (coef[2 + 4 * k]);
    na2[k] = v_set1 (coef[3 + 4 * k]);
    r[k] = v_set1 (coef[4 + 4 * k]);
  }
  for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
    V v = v_mul (g, load_row (from, i * in_stride, in_kind));
#pragma GCC unroll 4
    for (unsigned k = 0; k < n_sections; k++) {
      V y = v_fma (c[k], u[k], v);
      V early = v_fma (na2[k], last_u[k], v_fma (r[k], last_x[k], v));
      last_u[k] = u[k];
      last_x[k] = v;
      u[k] = v_fma (na1[k], u[k], early);
      v = y;
    }
    store_row (to, i * out_stride, v, out_kind);
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    v_store (state + 3 * k * W, u[k]);
    v_store (state + (3 * k + 1) * W, last_u[k]);
    v_store (state + (3 * k + 2) * W, last_x[k]);
  }
}

typedef void (*RunRows) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, const unsigned n_sections,
    const TfxRowsKind in_kind, const TfxRowsKind out_kind);

/* `user` is the kind of rows that are not of the scratch. */
static inline __attribute__ ((always_inline)) void
run_kinds (const RunRows run, const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, const unsigned n_sections,
    const TfxRowsKind user)
{
  const TfxRowsKind scratch = TFX_ROWS_SCRATCH;

  if (in->kind == scratch && out->kind == scratch)
    run (in, out, n, state, coef, n_sections, scratch, scratch);
  else if (in->kind == scratch)
    run (in, out, n, state, coef, n_sections, scratch, user);
  else if (out->kind == scratch)
    run (in, out, n, state, coef, n_sections, user, scratch);
  else
    run (in, out, n, state, coef, n_sections, user, user);
}

static void
KERNEL (direct) (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, unsigned n_sections)
{
  const TfxRowsKind f64 = TFX_ROWS_F64;

  switch (n_sections) {
    case 1:
      run_kinds (run_direct, in, out, n, state, coef, 1, f64);
      break;
    case 2:
      run_kinds (run_direct, in, out, n, state, coef, 2, f64);
      break;
    case 3:
      run_kinds (run_direct, in, out, n, state, coef, 3, f64);
      break;
    case 4:
      run_kinds (run_direct, in, out, n, state, coef, 4, f64);
      break;
  }
}

static void
KERNEL (factored) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections)
{
  const TfxRowsKind f32 = TFX_ROWS_F32;

  switch (n_sections) {
    case 1:
      run_kinds (run_factored, in, out, n, state, coef, 1, f32);
      break;
    case 2:
      run_kinds (run_factored, in, out, n, state, coef, 2, f32);
      break;
    case 3:
      run_kinds (run_factored, in, out, n, state, coef, 3, f32);
      break;
  }
}

static inline void
step (double *y, double *s1, double *s2, double x, const double *c)
{
#if V_HAS_FMA
  double old = *s1;

  *y = __builtin_fma (c[0], x, old);
  *s1 = __builtin_fma (-c[3], old, __builtin_fma (c[5], x, *s2));
  *s2 = __builtin_fma (-c[4], old, c[6] * x);
#else
  *y = c[0] * x + *s1;
  *s1 = (c[1] * x - c[3] * *y) + *s2;
  *s2 = c[2] * x - c[4] * *y;
#endif
}

#define DIRECT_NAME KERNEL (direct_one)
#define DIRECT_STEP step
#include "direct_tmpl.c"

#include "segments_tmpl.c"

#define PACK_WIDTH W
#define PACK_NAME(op, type) CAT3 (op, type, ISA)
#define CAT3(op, type, isa) CAT4 (op, type, isa)
#define CAT4(op, type, isa) op##_##type##_##isa
#define PACK_SAMPLE float
#define PACK_TYPE f32
#define PACK_LOAD v_load_f32
#define PACK_STORE v_store_f32
#include "pack_tmpl.c"
#undef PACK_SAMPLE
#undef PACK_TYPE
#undef PACK_LOAD
#undef PACK_STORE
#define PACK_SAMPLE double
#define PACK_TYPE f64
#define PACK_LOAD v_load_f64
#define PACK_STORE v_store_f64
#include "pack_tmpl.c"

#define STRING2(s) #s
#define STRING(s) STRING2 (s)

const TfxKernels KERNEL (tfx_kernels) = {
  .name = STRING (ISA),
  .width = W,
  .direct_one = KERNEL (direct_one),
  .direct = KERNEL (direct),
  .factored = KERNEL (factored),
  .segments[0] = KERNEL (segments1),
#if W > 2
  .segments[1] = KERNEL (segments2),
#endif
  .pack = { KERNEL (pack_f32), KERNEL (pack_f64) },
  .unpack = { KERNEL (unpack_f32), KERNEL (unpack_f64) },
  .pack_segments = { KERNEL (pack_segments_f32), KERNEL (pack_segments_f64) },
  .unpack_segments = { KERNEL (unpack_segments_f32),
      KERNEL (unpack_segments_f64) },
};
