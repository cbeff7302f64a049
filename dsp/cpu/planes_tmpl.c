/* SPDX-License-Identifier: LGPL-2.1-or-later
 * planes_tmpl.c: planar to interleaved samples and back; compiled once for each
 * sample type and instruction set.
 *
 * T float or double, T_SIZE its size, OP(name) the names, PLANES_VECTORS 1 if
 * there are any.  Up to eight planes are transposed in vectors of any width; those of AVX2,
 * whose samples do not go from one half to the other, take halves of rows that lie apart.
 * More planes, and remaining frames, are transposed N planes by N frames at a time, N samples
 * being 16 bytes. */
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

/* `used` of N planes, more than one, to the first samples of frames of n.  Samples written after
 * them are overwritten later.  Returns the number of frames done, without the last one. */
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

/* And back; samples read after them are ignored. */
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

/* Lanes in which the values of vectors are put in turn: all, or those of a half. */
#define TURN_LANES (W == 4 ? 16 / T_SIZE : 8 * W / T_SIZE)

/* n vectors of rows become one of each plane, or the other way round: even values are parted
 * from odd ones log2 (n) times, or, which is as much for any n, the other way log2
 * (TURN_LANES) times.  With SSE2 floats are parted in half of the time in which they are
 * joined. */
static inline __attribute__ ((always_inline)) void
OP (turn_wide) (VOP (V) * x, const unsigned n, const bool is_back)
{
  const bool parts_only = W == 2 && T_SIZE == 4;
  const bool is_power = (n & (n - 1)) == 0; /* of two */
  const bool is_parted = is_power && (parts_only   ? !is_back
                                         : is_back ? n < TURN_LANES
                                                   : n <= TURN_LANES);
  const unsigned most = is_parted ? n : TURN_LANES;

#pragma GCC unroll 4
  for (unsigned step = 1; step < most; step *= 2) {
    if (is_back == is_parted)
      VOP (zip_all) (x, n);
    else
      VOP (unzip_all) (x, n);
  }
}

/* n vectors of rows, whose halves are half of the frames apart. */
static inline __attribute__ ((always_inline)) void
OP (load_rows) (VOP (V) * x, const T *rows, const unsigned n)
{
#pragma GCC unroll 8
  for (unsigned k = 0; k < n; k++) {
#if W == 4
    const double *low = (const double *)(rows + k * TURN_LANES);
    const double *high = (const double *)(rows + (n + k) * TURN_LANES);

    x[k] = (VOP (V))_mm256_insertf128_pd (_mm256_castpd128_pd256 (
                                              _mm_loadu_pd (low)),
        _mm_loadu_pd (high), 1);
#else
    x[k] = VOP (loadu) (rows + k * TURN_LANES);
#endif
  }
}

/* One half after the other, in the order of memory. */
static inline __attribute__ ((always_inline)) void
OP (store_rows) (T *rows, const unsigned n, const VOP (V) * x)
{
#pragma GCC unroll 8
  for (unsigned k = 0; k < n; k++) {
#if W == 4
    _mm_storeu_pd ((double *)(rows + k * TURN_LANES),
        _mm256_castpd256_pd128 ((__m256d)x[k]));
#else
    VOP (storeu) (rows + k * TURN_LANES, x[k]);
#endif
  }
#if W == 4
#pragma GCC unroll 8
  for (unsigned k = 0; k < n; k++)
    _mm_storeu_pd ((double *)(rows + (n + k) * TURN_LANES),
        _mm256_extractf128_pd ((__m256d)x[k], 1));
#endif
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

    if (!is_back)
      OP (load_rows) (x, rows + i * n, n);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n && is_back; k++)
      x[k] = VOP (loadu) (planes + (ptrdiff_t)k * stride + i);
    OP (turn_wide) (x, n, is_back);
    if (is_back)
      OP (store_rows) (rows + i * n, n, x);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n && !is_back; k++)
      VOP (storeu) (planes + (ptrdiff_t)k * stride + i, x[k]);
  }
#if W > 2
  /* (GCC omits it before a call to a function of this file.) */
  _mm256_zeroupper ();
#endif
  return i;
}
#undef VOP
#undef TURN_LANES

/* Of up to eight planes all but the last frames; inline, so that the direction is a constant
 * of the loops. */
static inline __attribute__ ((always_inline)) size_t
OP (copy_tiles) (T *planes, ptrdiff_t stride, T *rows, unsigned n,
    size_t n_frames, const bool is_back)
{
  switch (n) {
    case 2:
      return OP (copy_wide) (planes, stride, rows, 2, n_frames, is_back);
    case 4:
      return OP (copy_wide) (planes, stride, rows, 4, n_frames, is_back);
    case 6:
      if (W == 2 && T_SIZE == 4 && !is_back)
        return 0;
      return OP (copy_wide) (planes, stride, rows, 6, n_frames, is_back);
    case 8:
      return OP (copy_wide) (planes, stride, rows, 8, n_frames, is_back);
#if W > 2 || T_SIZE == 8
    case 3:
      return OP (copy_wide) (planes, stride, rows, 3, n_frames, is_back);
    case 5:
      return OP (copy_wide) (planes, stride, rows, 5, n_frames, is_back);
    case 7:
      return OP (copy_wide) (planes, stride, rows, 7, n_frames, is_back);
#endif
    default:
      return 0;
  }
}
#else
static inline size_t
OP (copy_tiles) (T *planes, ptrdiff_t stride, T *rows, unsigned n,
    size_t n_frames, const bool is_back)
{
  return 0;
}
#endif

/* The last planes first, as each group writes too many samples.  (Not inline, so that the
 * compiler keeps the tiles in registers.) */
static __attribute__ ((noinline)) void
OP (interleave_part) (T *rows, const T *planes, ptrdiff_t stride, unsigned n,
    size_t n_frames)
{
  for (unsigned end = n, used; end > 0; end -= used) {
    const T *first;
    size_t done = 0;

    used = PLANES_VECTORS && end % N == 0 ? N : PLANES_VECTORS ? end % N : 1;
    first = planes + (ptrdiff_t)(end - used) * stride;
#if PLANES_VECTORS
    if (used == N)
      done = OP (
          interleave_some) (rows + end - used, n, first, stride, N, n_frames);
    else if (used == 3)
      done = OP (
          interleave_some) (rows + end - used, n, first, stride, 3, n_frames);
    else if (used == 2)
      done = OP (
          interleave_some) (rows + end - used, n, first, stride, 2, n_frames);
#endif
    for (unsigned k = 0; k < used; k++)
      OP (scatter)
    (rows + end - used + k + done * n, n,
        first + (ptrdiff_t)k * stride + (ptrdiff_t)done, n_frames - done);
  }
}

static __attribute__ ((noinline)) void
OP (deinterleave_part) (T *planes, ptrdiff_t stride, const T *rows, unsigned n,
    size_t n_frames)
{
  for (unsigned start = 0, used; start < n; start += used) {
    T *first = planes + (ptrdiff_t)start * stride;
    size_t done = 0;

    used = !PLANES_VECTORS ? 1 : n - start < N ? n - start : N;
#if PLANES_VECTORS
    if (used == N)
      done =
          OP (deinterleave_some) (first, stride, rows + start, n, N, n_frames);
    else if (used == 3)
      done =
          OP (deinterleave_some) (first, stride, rows + start, n, 3, n_frames);
    else if (used == 2)
      done =
          OP (deinterleave_some) (first, stride, rows + start, n, 2, n_frames);
#endif
    for (unsigned k = 0; k < used; k++)
      OP (gather)
    (first + (ptrdiff_t)k * stride + (ptrdiff_t)done,
        rows + start + k + done * n, n, n_frames - done);
  }
}

/* Frames whose rows and planes lie near the core together: N of the planes at a time go
 * over all rows. */
static inline size_t
OP (part_frames) (unsigned n, size_t n_frames)
{
  const size_t samples = 32768 / sizeof (T);
  const size_t most = n < samples / 64 ? samples / n : 64;

  return n_frames <= most ? n_frames : most / 16 * 16;
}

static void
OP (interleave) (void *rows, const void *planes, ptrdiff_t stride, unsigned n,
    size_t n_frames)
{
  size_t i = OP (copy_tiles) ((T *)planes, stride, rows, n, n_frames, true);

  for (size_t part; i < n_frames; i += part) {
    part = OP (part_frames) (n, n_frames - i);
    OP (interleave_part)
    ((T *)rows + i * n, (const T *)planes + i, stride, n, part);
  }
}

static void
OP (deinterleave) (void *planes, ptrdiff_t stride, const void *rows, unsigned n,
    size_t n_frames)
{
  size_t i = OP (copy_tiles) (planes, stride, (T *)rows, n, n_frames, false);

  for (size_t part; i < n_frames; i += part) {
    part = OP (part_frames) (n, n_frames - i);
    OP (deinterleave_part)
    ((T *)planes + i, stride, (const T *)rows + i * n, n, part);
  }
}

#undef N
