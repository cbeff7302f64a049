/* SPDX-License-Identifier: LGPL-2.1-or-later
 * planes_tmpl.c: planes to rows of samples and back; compiled once for each
 * sample type and instruction set.
 *
 * T float or double, T_SIZE its size, OP(name) the names, PLANES_VECTORS 1 if
 * there are any.  N planes by N frames are turned at a time, N samples being
 * 16 bytes: with wider vectors samples would have to go from one half to the
 * other, which costs what they save.  Two, four and eight planes, which fill them,
 * take vectors of any width. */
#define N (16 / T_SIZE)

/* One plane. */
static inline void
OP (scatter) (T *restrict rows, size_t n, const T *restrict plane,
    size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++)
    rows[i * n] = plane[i];
}

static inline void
OP (gather) (T *restrict plane, const T *restrict rows, size_t n,
    size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++)
    plane[i] = rows[i * n];
}

#if PLANES_VECTORS
typedef T OP (Quad) __attribute__ ((vector_size (16), may_alias));
typedef T
    OP (QuadAt) __attribute__ ((vector_size (16), may_alias, aligned (T_SIZE)));

static inline __attribute__ ((always_inline)) void
OP (turn) (OP (Quad) r[N])
{
#if T_SIZE == 8
  const OP (Quad) low = __builtin_shufflevector (r[0], r[1], 0, 2);

  r[1] = __builtin_shufflevector (r[0], r[1], 1, 3);
  r[0] = low;
#else
  const OP (Quad) a = __builtin_shufflevector (r[0], r[1], 0, 4, 1, 5);
  const OP (Quad) b = __builtin_shufflevector (r[2], r[3], 0, 4, 1, 5);
  const OP (Quad) c = __builtin_shufflevector (r[0], r[1], 2, 6, 3, 7);
  const OP (Quad) d = __builtin_shufflevector (r[2], r[3], 2, 6, 3, 7);

  r[0] = __builtin_shufflevector (a, b, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector (a, b, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector (c, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector (c, d, 2, 3, 6, 7);
#endif
}

/* `used` of N planes, more than one, to the rows' first samples of n.  What is
 * written behind them is written anew later, or belongs to the next row, which
 * the last one has not.  Returns the number of frames done. */
static inline __attribute__ ((always_inline)) size_t
OP (interleave_some) (T *restrict rows, size_t n, const T *restrict planes,
    ptrdiff_t stride, const unsigned used, size_t n_frames)
{
  size_t i = 0;

  for (; i + N + (used < N) <= n_frames; i += N) {
    OP (Quad) r[N];

#pragma GCC unroll 4
    for (unsigned k = 0; k < N; k++)
      r[k] = *(const OP (QuadAt) *)(planes +
                                    (ptrdiff_t)(k < used ? k : 0) * stride +
                                    (ptrdiff_t)i);
    OP (turn) (r);
#pragma GCC unroll 4
    for (unsigned k = 0; k < N; k++)
      *(OP (QuadAt) *)(rows + (i + k) * n) = r[k];
  }
  return i;
}

/* And back; what is read behind them is not used. */
static inline __attribute__ ((always_inline)) size_t
OP (deinterleave_some) (T *restrict planes, ptrdiff_t stride,
    const T *restrict rows, size_t n, const unsigned used, size_t n_frames)
{
  size_t i = 0;

  for (; i + N + (used < N) <= n_frames; i += N) {
    OP (Quad) r[N];

#pragma GCC unroll 4
    for (unsigned k = 0; k < N; k++)
      r[k] = *(const OP (QuadAt) *)(rows + (i + k) * n);
    OP (turn) (r);
#pragma GCC unroll 4
    for (unsigned k = 0; k < used; k++)
      *(OP (QuadAt) *)(planes + (ptrdiff_t)k * stride + (ptrdiff_t)i) = r[k];
  }
  return i;
}

#define L (8 * W / T_SIZE)
#define VOP(name) OP (name##_wide)
#include "vec_tmpl.h"
#define VOP(name) OP (name##_wide)

/* n vectors, 2, 4 or 8, of rows become one of each plane, or the other way round: the
 * even values are parted from the odd ones log2 (n) times. */
static inline __attribute__ ((always_inline)) void
OP (turn_wide) (VOP (V) * x, const unsigned n, const bool is_back)
{
  const unsigned half = n / 2;
  VOP (V) y[4];

  if (n == 8) {
    if (is_back)
      VOP (to_rows) (x);
    else
      VOP (to_columns) (x);
    return;
  }
#pragma GCC unroll 2
  for (unsigned step = 1; step < n; step *= 2) {
#pragma GCC unroll 2
    for (unsigned i = 0; i < half; i++) {
      if (is_back)
        VOP (zip) (x[i], x[half + i], &y[2 * i], &y[2 * i + 1]);
      else
        VOP (unzip) (x[2 * i], x[2 * i + 1], &y[i], &y[half + i]);
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i++)
      x[i] = y[i];
  }
}

/* Whole vectors of rows of n to n planes, or back; how many frames. */
static inline __attribute__ ((always_inline)) size_t
OP (copy_wide) (T *planes, ptrdiff_t stride, T *rows, const unsigned n,
    size_t n_frames, const bool is_back)
{
  const size_t lanes = 8 * W / T_SIZE;
  size_t i = 0;

  for (; i + lanes <= n_frames; i += lanes) {
    VOP (V) x[8];

#pragma GCC unroll 8
    for (unsigned k = 0; k < n; k++)
      x[k] = VOP (loadu) (is_back ? planes + (ptrdiff_t)k * stride + i
                                  : rows + i * n + k * lanes);
    OP (turn_wide) (x, n, is_back);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n; k++)
      VOP (storeu)
    (is_back ? rows + i * n + k * lanes : planes + (ptrdiff_t)k * stride + i,
        x[k]);
  }
  return i;
}
#undef VOP

/* All of what two, four and eight planes have, but for the last frames; inline, so that the
 * direction is a constant of the loops. */
static inline __attribute__ ((always_inline)) size_t
OP (copy_even) (T *planes, ptrdiff_t stride, T *rows, unsigned n,
    size_t n_frames, const bool is_back)
{
  switch (n) {
    case 2:
      return OP (copy_wide) (planes, stride, rows, 2, n_frames, is_back);
    case 4:
      return OP (copy_wide) (planes, stride, rows, 4, n_frames, is_back);
    case 8:
      return OP (copy_wide) (planes, stride, rows, 8, n_frames, is_back);
    default:
      return 0;
  }
}
#else
static inline size_t
OP (copy_even) (T *planes, ptrdiff_t stride, T *rows, unsigned n,
    size_t n_frames, const bool is_back)
{
  return 0;
}
#endif

/* The planes behind the last N first: what they write too much. */
static void
OP (interleave) (void *rows, const void *planes, ptrdiff_t stride, unsigned n,
    size_t n_frames)
{
  const size_t n_even =
      OP (copy_even) ((T *)planes, stride, rows, n, n_frames, true);
  const T *from = (const T *)planes + n_even;
  T *to = (T *)rows + n_even * n;

  n_frames -= n_even;
  if (n_frames == 0)
    return;
  for (unsigned end = n, used; end > 0; end -= used) {
    const T *first;
    size_t done = 0;

    used = PLANES_VECTORS && end % N == 0 ? N : PLANES_VECTORS ? end % N : 1;
    first = from + (ptrdiff_t)(end - used) * stride;
#if PLANES_VECTORS
    if (used == N)
      done =
          OP (interleave_some) (to + end - used, n, first, stride, N, n_frames);
    else if (used == 3)
      done =
          OP (interleave_some) (to + end - used, n, first, stride, 3, n_frames);
    else if (used == 2)
      done =
          OP (interleave_some) (to + end - used, n, first, stride, 2, n_frames);
#endif
    for (unsigned k = 0; k < used; k++)
      OP (scatter)
    (to + end - used + k + done * n, n,
        first + (ptrdiff_t)k * stride + (ptrdiff_t)done, n_frames - done);
  }
}

static void
OP (deinterleave) (void *planes, ptrdiff_t stride, const void *rows, unsigned n,
    size_t n_frames)
{
  const size_t n_even =
      OP (copy_even) (planes, stride, (T *)rows, n, n_frames, false);
  const T *from = (const T *)rows + n_even * n;
  T *to = (T *)planes + n_even;

  n_frames -= n_even;
  if (n_frames == 0)
    return;
  for (unsigned start = 0, used; start < n; start += used) {
    T *first = to + (ptrdiff_t)start * stride;
    size_t done = 0;

    used = !PLANES_VECTORS ? 1 : n - start < N ? n - start : N;
#if PLANES_VECTORS
    if (used == N)
      done =
          OP (deinterleave_some) (first, stride, from + start, n, N, n_frames);
    else if (used == 3)
      done =
          OP (deinterleave_some) (first, stride, from + start, n, 3, n_frames);
    else if (used == 2)
      done =
          OP (deinterleave_some) (first, stride, from + start, n, 2, n_frames);
#endif
    for (unsigned k = 0; k < used; k++)
      OP (gather)
    (first + (ptrdiff_t)k * stride + (ptrdiff_t)done,
        from + start + k + done * n, n, n_frames - done);
  }
}

#undef N
