/* SPDX-License-Identifier: LGPL-2.1-or-later
 * vec_tmpl.h: vectors of L values of T in GNU C, of any width: the compiler
 * splits a vector that is too wide for the machine into two registers.  Included with
 *
 *   T, T_SIZE  float and 4, or double and 8
 *   L          2, 4, 8 or 16
 *   VOP(name)  the name of a type or function
 *
 * Fused multiply-adds are intrinsics: compilers may not contract expressions. */

#ifndef INLINE
#define INLINE static inline __attribute__ ((always_inline))
#endif

typedef T VOP (V) __attribute__ ((vector_size (L * T_SIZE), may_alias));
/* At any address. */
typedef T VOP (Values)
    __attribute__ ((vector_size (L * T_SIZE), may_alias, aligned (T_SIZE)));

#define SHUFFLE(a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)

INLINE
VOP (V) VOP (load) (const T *p)
{
  return *(const VOP (V) *)p;
}

INLINE void
VOP (store) (T *p, VOP (V) a)
{
  *(VOP (V) *)p = a;
}

INLINE
VOP (V) VOP (loadu) (const T *p)
{
  return *(const VOP (Values) *)p;
}

INLINE void
VOP (storeu) (T *p, VOP (V) a)
{
  *(VOP (Values) *)p = a;
}

INLINE
VOP (V) VOP (set1) (T a)
{
  return a - (VOP (V)){ 0 };
}

/* a b + c and c - a b, with one rounding where the machine has that. */
#if defined(__AVX512F__) && L * T_SIZE == 64 && T_SIZE == 4
#define FMA(op, a, b, c) ((VOP (V))_mm512_f##op##_ps (a, b, c))
#elif defined(__AVX512F__) && L * T_SIZE == 64
#define FMA(op, a, b, c) ((VOP (V))_mm512_f##op##_pd (a, b, c))
#elif defined(__FMA__) && L * T_SIZE == 32 && T_SIZE == 4
#define FMA(op, a, b, c) ((VOP (V))_mm256_f##op##_ps (a, b, c))
#elif defined(__FMA__) && L * T_SIZE == 32
#define FMA(op, a, b, c) ((VOP (V))_mm256_f##op##_pd (a, b, c))
#elif defined(__FMA__) && L * T_SIZE == 16 && T_SIZE == 4
#define FMA(op, a, b, c) ((VOP (V))_mm_f##op##_ps (a, b, c))
#elif defined(__aarch64__) && L * T_SIZE == 16 && T_SIZE == 4
#define FMA(op, a, b, c) FMA_##op (f32, a, b, c)
#elif defined(__aarch64__) && L * T_SIZE == 16
#define FMA(op, a, b, c) FMA_##op (f64, a, b, c)
#else
#define FMA(op, a, b, c) FMA_##op (none, a, b, c)
#endif
#if defined(__aarch64__) && L * T_SIZE == 16
#define FMA_madd(t, a, b, c) ((VOP (V))vfmaq_##t (c, a, b))
#define FMA_nmadd(t, a, b, c) ((VOP (V))vfmsq_##t (c, a, b))
#else
#define FMA_madd(t, a, b, c) ((a) * (b) + (c))
#define FMA_nmadd(t, a, b, c) ((c) - (a) * (b))
#endif

INLINE
VOP (V) VOP (fma) (VOP (V) a, VOP (V) b, VOP (V) c)
{
  return FMA (madd, a, b, c);
}

INLINE
VOP (V) VOP (fnma) (VOP (V) a, VOP (V) b, VOP (V) c)
{
  return FMA (nmadd, a, b, c);
}

#undef FMA
#undef FMA_madd
#undef FMA_nmadd

#if L * T_SIZE <= VECTOR_BYTES
/* a, in a register: the compiler shall not load it anew for each use. */
INLINE
VOP (V) VOP (keep) (VOP (V) a)
{
#if defined(__AVX512F__)
  __asm__("" : "+v"(a));
#elif defined(__x86_64__)
  __asm__("" : "+x"(a));
#elif defined(__aarch64__)
  __asm__("" : "+w"(a));
#endif
  return a;
}
#endif

/* ---- the values of two vectors in turn, and back ------------------------------
 *
 * In vectors of 32 bytes of each half by itself, as AVX2's instructions work. */

#if L == 2
#define ZIP_LOW 0, 2
#define ZIP_HIGH 1, 3
#define ZIP_LOW_HIGH 0, 3
#define ZIP_HIGH_LOW 1, 2
#define EVEN 0, 2
#define ODD 1, 3
#define EVEN_ODD 0, 3
#elif L == 4 && T_SIZE == 4
#define ZIP_LOW 0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#define ZIP_LOW_HIGH 0, 6, 1, 7
#define ZIP_HIGH_LOW 2, 4, 3, 5
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#define EVEN_ODD 0, 2, 5, 7
#elif L == 4
#define ZIP_LOW 0, 4, 2, 6
#define ZIP_HIGH 1, 5, 3, 7
#define ZIP_LOW_HIGH 0, 5, 2, 7
#define ZIP_HIGH_LOW 1, 4, 3, 6
#define EVEN 0, 4, 2, 6
#define ODD 1, 5, 3, 7
#define EVEN_ODD 0, 5, 2, 7
#elif L == 8 && T_SIZE == 4
#define ZIP_LOW 0, 8, 1, 9, 4, 12, 5, 13
#define ZIP_HIGH 2, 10, 3, 11, 6, 14, 7, 15
#define ZIP_LOW_HIGH 0, 10, 1, 11, 4, 14, 5, 15
#define ZIP_HIGH_LOW 2, 8, 3, 9, 6, 12, 7, 13
#define EVEN 0, 2, 8, 10, 4, 6, 12, 14
#define ODD 1, 3, 9, 11, 5, 7, 13, 15
#define EVEN_ODD 0, 2, 9, 11, 4, 6, 13, 15
#elif L == 8
#define ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define ZIP_LOW_HIGH 0, 12, 1, 13, 2, 14, 3, 15
#define ZIP_HIGH_LOW 4, 8, 5, 9, 6, 10, 7, 11
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#define EVEN_ODD 0, 2, 4, 6, 9, 11, 13, 15
#else
#define ZIP_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define ZIP_LOW_HIGH 0, 24, 1, 25, 2, 26, 3, 27, 4, 28, 5, 29, 6, 30, 7, 31
#define ZIP_HIGH_LOW                                                           \
  8, 16, 9, 17, 10, 18, 11, 19, 12, 20, 13, 21, 14, 22, 15, 23
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define EVEN_ODD 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#endif

/* ---- n vectors, L rows of n values, to n columns ------------------------------- */

/* All values as they lie one after the other: their halves in turn, and back.  Where n is
 * odd a vector is part of both. */
INLINE void
VOP (zip_all) (VOP (V) * x, const unsigned n)
{
  const unsigned half = n / 2;
  VOP (V) y[8];

#pragma GCC unroll 4
  for (unsigned i = 0; i < half; i++) {
    if (n % 2 == 0) {
      y[2 * i] = SHUFFLE (x[i], x[half + i], ZIP_LOW);
      y[2 * i + 1] = SHUFFLE (x[i], x[half + i], ZIP_HIGH);
    } else {
      y[2 * i] = SHUFFLE (x[i], x[half + i], ZIP_LOW_HIGH);
      y[2 * i + 1] = SHUFFLE (x[i], x[half + 1 + i], ZIP_HIGH_LOW);
    }
  }
  if (n % 2 == 1)
    y[n - 1] = SHUFFLE (x[half], x[n - 1], ZIP_LOW_HIGH);
#pragma GCC unroll 8
  for (unsigned i = 0; i < n; i++)
    x[i] = y[i];
}

INLINE void
VOP (unzip_all) (VOP (V) * x, const unsigned n)
{
  const unsigned half = n / 2, odd = n % 2;
  VOP (V) y[8];

#pragma GCC unroll 4
  for (unsigned i = 0; i < half; i++) {
    const VOP (V) *first = x + 2 * i, *second = first + odd;

    y[i] = SHUFFLE (first[0], first[1], EVEN);
    y[half + odd + i] = SHUFFLE (second[0], second[1], ODD);
  }
  if (odd)
    y[half] = SHUFFLE (x[n - 1], x[0], EVEN_ODD);
#pragma GCC unroll 8
  for (unsigned i = 0; i < n; i++)
    x[i] = y[i];
}

/* ---- eight vectors, L rows of eight values, to its eight columns -------------- */

#if L == 2

INLINE void
VOP (to_columns) (VOP (V) * x)
{
  VOP (zip_all) (x, 8);
}

INLINE void
VOP (to_rows) (VOP (V) * x)
{
  VOP (unzip_all) (x, 8);
}

#elif L == 4

/* Four vectors that are `step` apart, rows to columns; its own inverse. */
INLINE void
VOP (transpose4) (VOP (V) * to, const VOP (V) * x, int step, int to_step)
{
  const VOP (V) a = x[0], b = x[step], c = x[2 * step], d = x[3 * step];
#if T_SIZE == 4
  const VOP (V) p = SHUFFLE (a, b, 0, 4, 1, 5), q = SHUFFLE (c, d, 0, 4, 1, 5);
  const VOP (V) r = SHUFFLE (a, b, 2, 6, 3, 7), s = SHUFFLE (c, d, 2, 6, 3, 7);

  to[0] = SHUFFLE (p, q, 0, 1, 4, 5);
  to[to_step] = SHUFFLE (p, q, 2, 3, 6, 7);
  to[2 * to_step] = SHUFFLE (r, s, 0, 1, 4, 5);
  to[3 * to_step] = SHUFFLE (r, s, 2, 3, 6, 7);
#else
  const VOP (V) p = SHUFFLE (a, b, 0, 4, 2, 6), q = SHUFFLE (c, d, 0, 4, 2, 6);
  const VOP (V) r = SHUFFLE (a, b, 1, 5, 3, 7), s = SHUFFLE (c, d, 1, 5, 3, 7);

  to[0] = SHUFFLE (p, q, 0, 1, 4, 5);
  to[to_step] = SHUFFLE (r, s, 0, 1, 4, 5);
  to[2 * to_step] = SHUFFLE (p, q, 2, 3, 6, 7);
  to[3 * to_step] = SHUFFLE (r, s, 2, 3, 6, 7);
#endif
}

INLINE void
VOP (to_columns) (VOP (V) * x)
{
  VOP (V) y[8];

  VOP (transpose4) (y, x, 2, 1);
  VOP (transpose4) (y + 4, x + 1, 2, 1);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    x[i] = y[i];
}

INLINE void
VOP (to_rows) (VOP (V) * x)
{
  VOP (V) y[8];

  VOP (transpose4) (y, x, 1, 2);
  VOP (transpose4) (y + 1, x + 4, 1, 2);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    x[i] = y[i];
}

#elif L == 8

/* Pairs of vectors, 2^0, then 2^1, then 2^2 apart; its own inverse.  The patterns
 * are those that instructions have: of halves, quarters or pairs of lanes. */
INLINE void
VOP (to_columns) (VOP (V) * x)
{
  VOP (V) y[8];

#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
#if T_SIZE == 4
    y[i] = SHUFFLE (x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    y[i + 1] = SHUFFLE (x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
#else
    y[i] = SHUFFLE (x[i], x[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    y[i + 1] = SHUFFLE (x[i], x[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
#endif
  }
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    const int i = k % 2 + k / 2 * 4;
    const VOP (V) a = y[i], b = y[i + 2];
#if T_SIZE == 4
    y[i] = SHUFFLE (a, b, 0, 1, 8, 9, 4, 5, 12, 13);
    y[i + 2] = SHUFFLE (a, b, 2, 3, 10, 11, 6, 7, 14, 15);
#else
    y[i] = SHUFFLE (a, b, 0, 1, 4, 5, 8, 9, 12, 13);
    y[i + 2] = SHUFFLE (a, b, 2, 3, 6, 7, 10, 11, 14, 15);
#endif
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
#if T_SIZE == 4
    /* y[0], y[2], y[1], y[3]: the columns 0 to 3, and 4 to 7, of four rows */
    const int from = i % 2 * 2 + i / 2;
    x[i] = SHUFFLE (y[from], y[from + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    x[i + 4] = SHUFFLE (y[from], y[from + 4], 4, 5, 6, 7, 12, 13, 14, 15);
#else
    x[i] = SHUFFLE (y[i], y[i + 4], 0, 1, 4, 5, 8, 9, 12, 13);
    x[i + 4] = SHUFFLE (y[i], y[i + 4], 2, 3, 6, 7, 10, 11, 14, 15);
#endif
  }
}

INLINE void
VOP (to_rows) (VOP (V) * x)
{
  VOP (to_columns) (x);
}

#else

INLINE void
VOP (to_columns) (VOP (V) * x)
{
#pragma GCC unroll 3
  for (int step = 0; step < 3; step++)
    VOP (unzip_all) (x, 8);
}

INLINE void
VOP (to_rows) (VOP (V) * x)
{
#pragma GCC unroll 3
  for (int step = 0; step < 3; step++)
    VOP (zip_all) (x, 8);
}

#endif

#undef SHUFFLE
#undef ZIP_LOW
#undef ZIP_HIGH
#undef ZIP_LOW_HIGH
#undef ZIP_HIGH_LOW
#undef EVEN
#undef ODD
#undef EVEN_ODD
#undef L
#undef VOP
