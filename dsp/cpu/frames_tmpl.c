/* SPDX-License-Identifier: LGPL-2.1-or-later
 * frames_tmpl.c: frames in the lanes; part of kernels-vec.c.
 *
 * A group is W / C frames of C channels, as they lie side by side, and the
 * state of all sections is one vector.  Both are linear in the group's input and
 * the state before it:
 *
 *   y = H x + O s;  s' = B x + A s
 *
 * A lane never hears of a later frame, so that a group can be run as far as it
 * goes, and again, from the same state, when more of it has come. */

/* One group in place, x aligned; returns the state behind it.  k: the columns of
 * H and B for each frame, then those of O and A for each number of state. */
static inline __attribute__ ((always_inline)) V
frames_group (double *x, V s, const V *k, const unsigned C, const unsigned N)
{
  const unsigned F = W / C;
  V y[2] = { v_set1 (0.0), v_set1 (0.0) }, next[2] = { y[0], y[1] };

#pragma GCC unroll 8
  for (unsigned i = 0; i < F; i++) {
    const V row = v_load_row_f64 (x + i * C, C, C);

    y[i % 2] = i < 2 ? v_mul (k[2 * i], row) : v_fma (k[2 * i], row, y[i % 2]);
    next[i % 2] = i < 2 ? v_mul (k[2 * i + 1], row)
                        : v_fma (k[2 * i + 1], row, next[i % 2]);
  }
#pragma GCC unroll 8
  for (unsigned i = 0; i < 2 * N; i++) {
    const V number = v_repeat (s, i * C, C);

    y[i % 2] = v_fma (k[2 * (F + i)], number, y[i % 2]);
    next[i % 2] = v_fma (k[2 * (F + i) + 1], number, next[i % 2]);
  }
  v_store (x, v_add (y[0], y[1]));
  return v_add (next[0], next[1]);
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
run_partly (V *state, TfxPending *pending, const TfxRows *in,
    const TfxRows *out, size_t first, unsigned n, const V *k, const unsigned C,
    const unsigned N)
{
  const unsigned start = pending->n;
  double x[W] __attribute__ ((aligned (64))) = { 0 };
  V next;

  for (unsigned i = 0; i < n * C; i++)
    pending->x[start * C + i] = get_sample (in, first + i / C, i % C);
  for (unsigned i = 0; i < (start + n) * C; i++)
    x[i] = pending->x[i];
  next = frames_group (x, *state, k, C, N);
  for (unsigned i = 0; i < n * C; i++)
    set_sample (out, first + i / C, i % C, x[start * C + i]);
  pending->n = start + n;
  if (pending->n < W / C)
    return;
  pending->n = 0;
  *state = next;
}

static inline __attribute__ ((always_inline)) void
run_frames (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, TfxPending *pending, const unsigned C, const unsigned N,
    const TfxSample type)
{
  const TfxRows in = *from, out = *to;
  V k[4 * W], s = v_load (state);
  size_t i = 0;

#pragma GCC unroll 32
  for (unsigned j = 0; j < 2 * (W / C + 2 * N); j++)
    k[j] = v_load (coef + j * W);
  if (pending->n > 0) {
    i = W / C - pending->n;
    i = i < n ? i : n;
    run_partly (&s, pending, &in, &out, 0, (unsigned)i, k, C, N);
  }
  for (; i + W / C <= n; i += W / C) {
    const ptrdiff_t at = (ptrdiff_t)i * out.stride;
    double x[W] __attribute__ ((aligned (64)));

    v_store (x, load_frames (&in, (ptrdiff_t)i, type));
    s = frames_group (x, s, k, C, N);
    if (type == TFX_SAMPLE_F32)
      v_store_f32 ((float *)out.data + at, v_load (x));
    else
      v_store_f64 ((double *)out.data + at, v_load (x));
  }
  if (i < n)
    run_partly (&s, pending, &in, &out, i, (unsigned)(n - i), k, C, N);
  v_store (state, s);
}

static inline __attribute__ ((always_inline)) void
run_frames_type (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, unsigned n_sections, TfxPending *pending,
    const unsigned C, const TfxSample type)
{
  switch (2 * n_sections * C <= W ? n_sections : 0) {
    case 1:
      run_frames (in, out, n, state, coef, pending, C, 1, type);
      break;
#if W > 4
    case 3:
      run_frames (in, out, n, state, coef, pending, C, 3, type);
      break;
    case 4:
      run_frames (in, out, n, state, coef, pending, C, 4, type);
      break;
#endif
    case 2:
      run_frames (in, out, n, state, coef, pending, C, 2, type);
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
