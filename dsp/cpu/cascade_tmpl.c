/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade_tmpl.c: the cascade kernels; compiled once for each instruction set,
 * after its vec-*.h, which has V (a vector of W doubles) and the operations
 * on it.  ISA is the suffix of the names. */
#include "kernels.h"

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

/* Four multiply-adds a section and sample.  The recursion is one multiply-add
 * deep: u waits for the u before it, t and x are there early. */
static inline __attribute__ ((always_inline)) void
run_channels (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned n_sections, const TfxRowsKind in_kind,
    const TfxRowsKind out_kind)
{
  const void *from = in->data;
  void *to = out->data;
  const ptrdiff_t in_stride = in->stride, out_stride = out->stride;
  V u[TFX_PASS_MAX_SECTIONS], t[TFX_PASS_MAX_SECTIONS];
  V c[TFX_PASS_MAX_SECTIONS], na1[TFX_PASS_MAX_SECTIONS];
  V r[TFX_PASS_MAX_SECTIONS], nq[TFX_PASS_MAX_SECTIONS];
  const V g = v_set1 (coef[0]);

#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    u[k] = v_load (state + 2 * k * W);
    t[k] = v_load (state + (2 * k + 1) * W);
    c[k] = v_set1 (coef[1 + 4 * k]);
    na1[k] = v_set1 (coef[2 + 4 * k]);
    r[k] = v_set1 (coef[3 + 4 * k]);
    nq[k] = v_set1 (coef[4 + 4 * k]);
  }
  for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++) {
    V v = v_mul (g, load_row (from, i * in_stride, in_kind));
#pragma GCC unroll 4
    for (unsigned k = 0; k < n_sections; k++) {
      V y = v_fma (c[k], u[k], v);
      V next = v_fma (na1[k], u[k], v_fma (r[k], t[k], v));
      t[k] = v_fma (nq[k], u[k], v);
      u[k] = next;
      v = y;
    }
    store_row (to, i * out_stride, v, out_kind);
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < n_sections; k++) {
    v_store (state + 2 * k * W, u[k]);
    v_store (state + (2 * k + 1) * W, t[k]);
  }
}

static inline __attribute__ ((always_inline)) void
run_kinds (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned n_sections)
{
  const TfxRowsKind s = TFX_ROWS_SCRATCH, f32 = TFX_ROWS_F32;
  const TfxRowsKind f64 = TFX_ROWS_F64;

  if (in->kind == s && out->kind == s)
    run_channels (in, out, n, state, coef, n_sections, s, s);
  else if (in->kind == f32 && out->kind == s)
    run_channels (in, out, n, state, coef, n_sections, f32, s);
  else if (in->kind == s && out->kind == f32)
    run_channels (in, out, n, state, coef, n_sections, s, f32);
  else if (in->kind == f32)
    run_channels (in, out, n, state, coef, n_sections, f32, f32);
  else if (out->kind == s)
    run_channels (in, out, n, state, coef, n_sections, f64, s);
  else if (in->kind == s)
    run_channels (in, out, n, state, coef, n_sections, s, f64);
  else
    run_channels (in, out, n, state, coef, n_sections, f64, f64);
}

static void
KERNEL (cascade_channels) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections)
{
  switch (n_sections) {
    case 1:
      run_kinds (in, out, n, state, coef, 1);
      break;
    case 2:
      run_kinds (in, out, n, state, coef, 2);
      break;
    case 3:
      run_kinds (in, out, n, state, coef, 3);
      break;
    case 4:
      run_kinds (in, out, n, state, coef, 4);
      break;
  }
}

#ifdef V_SAMPLES
/* One section, G = W / L frames at a time, L a constant.  E[j] is s1 after
 * frame j: the part from rest, H x, does not wait for the recursion; then the
 * state's part is added.  The recursion itself, from group to group, is two
 * multiply-adds. */
static inline __attribute__ ((always_inline)) void
run_samples (double *x, size_t n, double *state, const double *coef,
    const unsigned L)
{
  const unsigned G = W / L;
  V h[W];
  const double *rest = coef + G * W;
  const V p = v_load (rest), q = v_load (rest + W);
  const V b0 = v_load (rest + 2 * W);
  const V a11 = v_load (rest + 3 * W), a12 = v_load (rest + 4 * W);
  const V a21 = v_load (rest + 5 * W), a22 = v_load (rest + 6 * W);
  const V sc2 = v_load (rest + 7 * W), nsa2 = v_load (rest + 8 * W);
  V s1 = v_load (state), sq = v_load (state + W);

#pragma GCC unroll 8
  for (unsigned j = 0; j < G; j++)
    h[j] = v_load (coef + j * W);
  for (size_t i = 0; i < n; i++, x += W) {
    V in = v_load (x), last = v_repeat (x + W - L, L);
    V even = v_mul (h[0], v_repeat (x, L));
    V odd = v_mul (h[1], v_repeat (x + L, L));
#pragma GCC unroll 8
    for (unsigned j = 2; j < G; j += 2) {
      even = v_fma (h[j], v_repeat (x + j * L, L), even);
      odd = v_fma (h[j + 1], v_repeat (x + (j + 1) * L, L), odd);
    }
    V zero_state = v_add (even, odd);
    V e = v_fma (q, sq, v_fma (p, s1, zero_state));
    V y = v_fma (b0, in, v_shift_in (e, s1, L));

    V in1 = v_repeat_last (zero_state, L);
    V in2 = v_fma (nsa2, v_repeat_second_last (zero_state, L), in1);
    in2 = v_fma (sc2, last, in2);
    V next = v_fma (a11, s1, v_fma (a12, sq, in1));
    sq = v_fma (a21, s1, v_fma (a22, sq, in2));
    s1 = next;
    v_store (x, y);
  }
  v_store (state, s1);
  v_store (state + W, sq);
}

static void
KERNEL (cascade_samples1) (double *x, size_t n, double *state,
    const double *coef, unsigned n_sections)
{
  (void)n_sections;
  run_samples (x, n, state, coef, 1);
}
#endif

#if defined V_SAMPLES && V_SAMPLES > 1
static void
KERNEL (cascade_samples2) (double *x, size_t n, double *state,
    const double *coef, unsigned n_sections)
{
  (void)n_sections;
  run_samples (x, n, state, coef, 2);
}
#endif

#define PACK_WIDTH W
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

#define STRING2(s) #s
#define STRING(s) STRING2 (s)

const TfxKernels KERNEL (tfx_kernels) = {
  .name = STRING (ISA),
  .width = W,
  .form = TFX_FORM_CHANNELS,
  .rows = KERNEL (cascade_channels),
#ifdef V_SAMPLES
  .samples[0] = KERNEL (cascade_samples1),
#endif
#if defined V_SAMPLES && V_SAMPLES > 1
  .samples[1] = KERNEL (cascade_samples2),
#endif
  .pack = { KERNEL (pack_f32), KERNEL (pack_f64) },
  .unpack = { KERNEL (unpack_f32), KERNEL (unpack_f64) },
};
