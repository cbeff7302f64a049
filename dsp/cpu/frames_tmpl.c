/* SPDX-License-Identifier: LGPL-2.1-or-later
 * frames_tmpl.c: frames in the lanes; part of kernels-vec.c.
 *
 * A group is W / C frames of C channels, as they lie side by side.  With z the
 * delay by one frame the recursion from rest, 1 / (1 + a1 z + a2 z^2), is
 *
 *   (1 - a1 z + a2 z^2) (1 - b1 z^2 + b2 z^4) (1 - c1 z^4 + c2 z^8) ...
 *
 * and after log2 (W / C) factors the delay is longer than the group.  What the
 * state before the group adds to lane j is linear in it: p[j] s + q[j] (last s) behind it.
 * A lane never hears of a later one, so that a group can be run as far as it
 * goes, and again, from the same state, when more of it has come. */

/* Coefficients of a section: c, r; of the factors -a1, a2, -b1, b2, -c1; p and
 * q. */
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
  FRAMES_Q
};

/* Before the next group: s and the s before it in all lanes, and the group
 * that has been. */
typedef struct FramesState
{
  V s, last_s, x;
} FramesState;

static inline __attribute__ ((always_inline)) V
frames_factor (V f, const V *k, const unsigned C, const unsigned delay)
{
  const V zero = v_set1 (0.0);
  V g = v_fma (k[0], v_shift_in (f, zero, delay * C), f);

  if (2 * delay * C < W)
    g = v_fma (k[1], v_shift_in (f, zero, 2 * delay * C), g);
  return g;
}

static inline __attribute__ ((always_inline)) V
frames_section (FramesState *w, V x, const V *k, const unsigned C)
{
  V f = v_fma (k[FRAMES_R], v_shift_in (x, w->x, C), x);
  V before;

  f = frames_factor (f, k + FRAMES_A1, C, 1);
  if (2 * C < W)
    f = frames_factor (f, k + FRAMES_B1, C, 2);
  if (4 * C < W)
    f = frames_factor (f, k + FRAMES_C1, C, 4);
  f = v_fma (k[FRAMES_P], w->s, v_fma (k[FRAMES_Q], w->last_s, f));
  before = v_shift_in (f, w->s, C);
  w->s = v_repeat (f, W - C, C);
  w->last_s = v_repeat (f, W - 2 * C, C);
  w->x = x;
  return v_fma (k[FRAMES_C], before, x);
}

static inline __attribute__ ((always_inline)) V
frames_group (FramesState *w, V x, const V *k, const unsigned C,
    const unsigned N)
{
  x = v_mul (k[0], x);
#pragma GCC unroll 3
  for (unsigned i = 0; i < N; i++)
    x = frames_section (&w[i], x, k + 1 + TFX_FRAMES_COEF * i, C);
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
    const TfxRows *out, size_t first, unsigned n, const V *k, const unsigned C,
    const unsigned N)
{
  const unsigned start = pending->n;
  double x[W] __attribute__ ((aligned (64))) = { 0 };
  FramesState next[TFX_FRAMES_MAX_SECTIONS];

  for (unsigned i = 0; i < n * C; i++)
    pending->x[start * C + i] = get_sample (in, first + i / C, i % C);
  for (unsigned i = 0; i < (start + n) * C; i++)
    x[i] = pending->x[i];
  for (unsigned j = 0; j < N; j++)
    next[j] = w[j];
  v_store (x, frames_group (next, v_load (x), k, C, N));
  for (unsigned i = 0; i < n * C; i++)
    set_sample (out, first + i / C, i % C, x[start * C + i]);
  pending->n = start + n;
  if (pending->n < W / C)
    return;
  pending->n = 0;
  for (unsigned j = 0; j < N; j++)
    w[j] = next[j];
}

static inline __attribute__ ((always_inline)) void
run_frames (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, TfxPending *pending, const unsigned C, const unsigned N,
    const TfxSample type)
{
  const TfxRows in = *from, out = *to;
  FramesState w[TFX_FRAMES_MAX_SECTIONS];
  V k[1 + TFX_FRAMES_COEF * TFX_FRAMES_MAX_SECTIONS];
  size_t i = 0;

#pragma GCC unroll 40
  for (unsigned j = 0; j < 1 + TFX_FRAMES_COEF * N; j++)
    k[j] = v_load (coef + j * W);
#pragma GCC unroll 3
  for (unsigned j = 0; j < N; j++) {
    double *s = state + TFX_STATE * j * W;
    w[j] = (FramesState){ v_load_row_f64 (s, C, C),
      v_load_row_f64 (s + W, C, C), v_load_row_f64 (s + 2 * W, C, C) };
  }
  if (pending->n > 0) {
    i = W / C - pending->n;
    i = i < n ? i : n;
    run_partly (w, pending, &in, &out, 0, (unsigned)i, k, C, N);
  }
  for (; i + W / C <= n; i += W / C) {
    const V y =
        frames_group (w, load_frames (&in, (ptrdiff_t)i, type), k, C, N);
    const ptrdiff_t at = (ptrdiff_t)i * out.stride;

    if (type == TFX_SAMPLE_F32)
      v_store_f32 ((float *)out.data + at, y);
    else
      v_store_f64 ((double *)out.data + at, y);
  }
  if (i < n)
    run_partly (w, pending, &in, &out, i, (unsigned)(n - i), k, C, N);
#pragma GCC unroll 3
  for (unsigned j = 0; j < N; j++) {
    double *s = state + TFX_STATE * j * W;
    v_store (s, w[j].s);
    v_store (s + W, w[j].last_s);
    v_store (s + 2 * W, v_repeat (w[j].x, W - C, C));
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
