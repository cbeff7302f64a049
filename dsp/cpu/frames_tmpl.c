/* SPDX-License-Identifier: LGPL-2.1-or-later
 * frames_tmpl.c: frames in the lanes; part of kernels-vec.c.
 *
 * A group is W / C frames of C channels, as they lie side by side.  With z the
 * delay by one frame the recursion from rest, 1 / (1 + a1 z + a2 z^2), is
 *
 *   (1 - a1 z + a2 z^2) (1 - b1 z^2 + b2 z^4) (1 - c1 z^4 + c2 z^8) ...
 *
 * and after log2 (W / C) factors the delay is longer than the group.  What the
 * state before the group adds to lane j is linear in it: p[j] s + q[j] (last s).
 * A lane never hears of a later one, so that a group can be run as far as it
 * goes, and again, from the same state, when more of it has come. */

/* Coefficients of a section: c, r, then of the factors -a1, a2, -b1, b2, -c1;
 * p, q; the state over a group: s' = m0 s + m1 (last s), last s' = m2 s + m3
 * (last s), each added to what the group puts there from rest. */
enum
{
  FRAMES_C,
  FRAMES_R,
  FRAMES_A1,
  FRAMES_A2,
  FRAMES_B1,
  FRAMES_B2,
  FRAMES_C1,
  FRAMES_P,
  FRAMES_Q,
  FRAMES_M
};

/* Before the next group: s and the s before it in all lanes, and the group
 * that has been. */
typedef struct FramesState
{
  V s, last_s, x;
} FramesState;

static inline __attribute__ ((always_inline)) V
frames_factor (V f, const double *k, const unsigned first, const unsigned C,
    const unsigned delay)
{
  const V zero = v_set1 (0.0);
  V g = v_fma (v_load (k + first * W), v_shift_in (f, zero, delay * C), f);

  if (2 * delay * C < W)
    g = v_fma (v_load (k + (first + 1) * W),
        v_shift_in (f, zero, 2 * delay * C), g);
  return g;
}

static inline __attribute__ ((always_inline)) V
frames_section (FramesState *w, V x, const double *k, const unsigned C)
{
  V f = v_fma (v_load (k + FRAMES_R * W), v_shift_in (x, w->x, C), x);
  V s = w->s, last_s = w->last_s, s0, before;

  f = frames_factor (f, k, FRAMES_A1, C, 1);
  if (2 * C < W)
    f = frames_factor (f, k, FRAMES_B1, C, 2);
  if (4 * C < W)
    f = frames_factor (f, k, FRAMES_C1, C, 4);
  /* f is what comes behind each frame: s of the next one. */
  w->s = v_fma (v_load (k + FRAMES_M * W), s,
      v_fma (v_load (k + (FRAMES_M + 1) * W), last_s, v_repeat_last (f, C)));
  before = v_shift_in (f, v_set1 (0.0), C);
  w->last_s = v_fma (v_load (k + (FRAMES_M + 2) * W), s,
      v_fma (v_load (k + (FRAMES_M + 3) * W), last_s,
          v_repeat_last (before, C)));
  w->x = x;
  s0 = v_fma (v_load (k + FRAMES_P * W), s,
      v_fma (v_load (k + FRAMES_Q * W), last_s, before));
  return v_fma (v_load (k + FRAMES_C * W), s0, x);
}

static inline __attribute__ ((always_inline)) V
frames_group (FramesState *w, V x, const double *coef, const unsigned C,
    const unsigned N)
{
  x = v_mul (v_load (coef), x);
#pragma GCC unroll 3
  for (unsigned k = 0; k < N; k++)
    x = frames_section (&w[k], x, coef + (1 + TFX_FRAMES_COEF * k) * W, C);
  return x;
}

static inline __attribute__ ((always_inline)) V
load_frames (const TfxRows *rows, ptrdiff_t frame, const TfxSample type)
{
  const ptrdiff_t at = frame * rows->stride;

  return type == TFX_SAMPLE_F32 ? v_load_f32 ((const float *)rows->data + at)
                                : v_load_f64 ((const double *)rows->data + at);
}

static inline double
get_sample (const TfxRows *rows, size_t frame, unsigned channel)
{
  const ptrdiff_t at = (ptrdiff_t)frame * rows->stride + channel;

  return rows->type == TFX_SAMPLE_F32 ? ((const float *)rows->data)[at]
                                      : ((const double *)rows->data)[at];
}

static inline void
set_sample (const TfxRows *rows, size_t frame, unsigned channel, double v)
{
  const ptrdiff_t at = (ptrdiff_t)frame * rows->stride + channel;

  if (rows->type == TFX_SAMPLE_F32)
    ((float *)rows->data)[at] = (float)v;
  else
    ((double *)rows->data)[at] = v;
}

/* Frames first to first + n - 1, which do not complete a group of their own,
 * behind those that are pending.  The state goes on if they complete it. */
static inline __attribute__ ((always_inline)) void
run_partly (FramesState *w, TfxPending *pending, const TfxRows *in,
    const TfxRows *out, size_t first, unsigned n, const double *coef,
    const unsigned C, const unsigned N)
{
  const unsigned start = pending->n;
  double x[W] __attribute__ ((aligned (64))) = { 0 };
  FramesState next[TFX_FRAMES_MAX_SECTIONS];

  for (unsigned i = 0; i < n * C; i++)
    pending->x[start * C + i] = get_sample (in, first + i / C, i % C);
  for (unsigned i = 0; i < (start + n) * C; i++)
    x[i] = pending->x[i];
  for (unsigned k = 0; k < N; k++)
    next[k] = w[k];
  v_store (x, frames_group (next, v_load (x), coef, C, N));
  for (unsigned i = 0; i < n * C; i++)
    set_sample (out, first + i / C, i % C, x[start * C + i]);
  pending->n = start + n;
  if (pending->n < W / C)
    return;
  pending->n = 0;
  for (unsigned k = 0; k < N; k++)
    w[k] = next[k];
}

static inline __attribute__ ((always_inline)) void
run_frames (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, TfxPending *pending, const unsigned C, const unsigned N,
    const TfxSample type)
{
  const TfxRows in = *from, out = *to;
  FramesState w[TFX_FRAMES_MAX_SECTIONS];
  size_t i = 0;

#pragma GCC unroll 3
  for (unsigned k = 0; k < N; k++) {
    double *s = state + TFX_STATE * k * W;
    w[k] = (FramesState){ v_load_row_f64 (s, C, C),
      v_load_row_f64 (s + W, C, C), v_load_row_f64 (s + 2 * W, C, C) };
  }
  if (pending->n > 0) {
    i = W / C - pending->n;
    i = i < n ? i : n;
    run_partly (w, pending, &in, &out, 0, (unsigned)i, coef, C, N);
  }
  for (; i + W / C <= n; i += W / C) {
    const V y =
        frames_group (w, load_frames (&in, (ptrdiff_t)i, type), coef, C, N);
    const ptrdiff_t at = (ptrdiff_t)i * out.stride;

    if (type == TFX_SAMPLE_F32)
      v_store_f32 ((float *)out.data + at, y);
    else
      v_store_f64 ((double *)out.data + at, y);
  }
  if (i < n)
    run_partly (w, pending, &in, &out, i, (unsigned)(n - i), coef, C, N);
#pragma GCC unroll 3
  for (unsigned k = 0; k < N; k++) {
    double *s = state + TFX_STATE * k * W;
    v_store (s, w[k].s);
    v_store (s + W, w[k].last_s);
    v_store (s + 2 * W, v_repeat_last (w[k].x, C));
  }
}

static inline __attribute__ ((always_inline)) void
run_frames_type (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, unsigned n_sections, TfxPending *pending,
    const unsigned C, const TfxSample type)
{
  switch (n_sections) {
    case 1:
      run_frames (in, out, n, state, coef, pending, C, 1, type);
      break;
    case 2:
      run_frames (in, out, n, state, coef, pending, C, 2, type);
      break;
    case 3:
      run_frames (in, out, n, state, coef, pending, C, 3, type);
      break;
  }
}

static inline __attribute__ ((always_inline)) void
run_frames_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections, TfxPending *pending,
    const unsigned C)
{
  if (in->type == TFX_SAMPLE_F32)
    run_frames_type (in, out, n, state, coef, n_sections, pending, C,
        TFX_SAMPLE_F32);
  else
    run_frames_type (in, out, n, state, coef, n_sections, pending, C,
        TFX_SAMPLE_F64);
}
