/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-kernels_tmpl.c: the innermost loops of one instruction set and one
 * sample type.  Included by convolver-kernels.c with
 *
 *   T, V   float or double, and the vector of LANES of them
 *   v(op)  an operation on V
 *   OP(f)  the name of function f
 *   WIDE   1 if sums of products need more than T: T is float */

/* ---- complex numbers, split ---------------------------------------------- */

typedef struct
{
  V re, im;
} OP (C);

#define C OP (C)

INLINE C
OP (c_load) (const T *re, const T *im)
{
  return (C){ v (load) (re), v (load) (im) };
}

/* The same without alignment. */
INLINE C
OP (c_loadu) (const T *re, const T *im)
{
  return (C){ v (loadu) (re), v (loadu) (im) };
}

INLINE C
OP (c_keep) (const T *re, const T *im)
{
  return (C){ v (keep) (v (load) (re)), v (keep) (v (load) (im)) };
}

INLINE void
OP (c_store) (T *re, T *im, C a)
{
  v (store) (re, a.re);
  v (store) (im, a.im);
}

INLINE C
OP (c_add) (C a, C b)
{
  return (C){ a.re + b.re, a.im + b.im };
}

INLINE C
OP (c_sub) (C a, C b)
{
  return (C){ a.re - b.re, a.im - b.im };
}

/* a + i b */
INLINE C
OP (c_add_i) (C a, C b)
{
  return (C){ a.re - b.im, a.im + b.re };
}

/* a - i b */
INLINE C
OP (c_sub_i) (C a, C b)
{
  return (C){ a.re + b.im, a.im - b.re };
}

/* a b */
INLINE C
OP (c_mul) (C a, C b)
{
  return (C){ v (fnma) (a.im, b.im, a.re * b.re),
    v (fma) (a.im, b.re, a.re * b.im) };
}

/* a conj (b) */
INLINE C
OP (c_mul_conj) (C a, C b)
{
  return (C){ v (fma) (a.im, b.im, a.re * b.re),
    v (fnma) (a.re, b.im, a.im * b.re) };
}

/* Factor number k: re and im. */
INLINE C
OP (c_factor) (const T *factors, size_t k)
{
  return (C){ v (set1) (factors[2 * k]), v (set1) (factors[2 * k + 1]) };
}

#include "convolver-direct_tmpl.c"

/* ---- sums of products of tiles ------------------------------------------------- */

/* Products that are summed up in float before they go into a sum of sums: the
 * error of a sum of n grows as sqrt (n). */
#define SUM_TILES (WIDE ? 16 : SIZE_MAX)
/* Vectors of a tile that are summed up at a time: enough to hide the latency of a
 * product, few enough for 16 registers.  Where they are the whole tile a sum alone is
 * two chains. */
#define STEP(n_sums) (LANES == 16 || n_sums == 2 ? 2 : 4)
#define HAS_TWO_CHAINS(n_sums) (LANES == 16 && n_sums == 1)

/* One or two sums, of the vectors of a tile. */
typedef struct
{
  C total[2][4], part[2][4];
} OP (Sums);

/* Adds x times h to sum 0, and x times the h before to sum 1. */
INLINE void
OP (sums_add) (OP (Sums) * s, const T *x, const T *h, const int n_sums)
{
  const int step = STEP (n_sums);

#pragma GCC unroll 4
  for (int i = 0; i < step; i++) {
    const C a = OP (c_keep) (x + i * LANES, x + TFX_LEAF + i * LANES);
#pragma GCC unroll 2
    for (int k = 0; k < n_sums; k++) {
      const T *at = h + i * LANES - k * TFX_TILE;
      const C b = OP (c_keep) (at, at + TFX_LEAF);
      C *first = &s->part[k][i];
      C *last = HAS_TWO_CHAINS (n_sums) ? &s->part[1][i] : first;

      first->re = v (fma) (a.re, b.re, first->re);
      first->im = v (fma) (a.re, b.im, first->im);
      last->re = v (fnma) (a.im, b.im, last->re);
      last->im = v (fma) (a.im, b.re, last->im);
    }
  }
}

/* Of two sums the first alone takes x times h, as the beginning of all. */
INLINE void
OP (sums_begin) (OP (Sums) * s, const T *x, const T *h)
{
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    const T *a = x + i * LANES, *b = h + i * LANES;

    s->part[0][i] = OP (
        c_mul) (OP (c_load) (a, a + TFX_LEAF), OP (c_load) (b, b + TFX_LEAF));
  }
}

/* The parts go to the total; is_first: there is none yet, and nothing in them. */
INLINE void
OP (sums_flush) (OP (Sums) * s, const int n_sums, const bool is_first)
{
  const C zero = { v (set1) (0), v (set1) (0) };
  const int step = STEP (n_sums);

#pragma GCC unroll 2
  for (int k = 0; k < n_sums; k++) {
#pragma GCC unroll 4
    for (int i = 0; i < step; i++) {
      if (!is_first && HAS_TWO_CHAINS (n_sums))
        s->part[k][i] = OP (c_add) (s->part[k][i], s->part[1][i]);
      s->total[k][i] =
          is_first ? zero : OP (c_add) (s->total[k][i], s->part[k][i]);
      s->part[k][i] = zero;
      if (HAS_TWO_CHAINS (n_sums))
        s->part[1][i] = zero;
    }
  }
}

/* out[0] is the sum of products of one leaf; out[1], if n_sums is 2, what is there of
 * the next one.  x and h point to the leaf's tiles. */
INLINE void
OP (tile_sums) (T *const out[2], const T *const x[2], const T *const h[2],
    const size_t n[2], const int n_sums)
{
  const int step = STEP (n_sums);

  for (size_t at = 0; at < TFX_LEAF; at += (size_t)step * LANES) {
    OP (Sums) s;
    size_t left = SUM_TILES;

    OP (sums_flush) (&s, n_sums, true);
    for (int run = 0; run < 2; run++) {
      /* The oldest of the spectra is none of the next sum's. */
      const size_t skip = n_sums == 2 && run == 0;
      const T *a = x[run] + at, *b = h[run] + at;
      size_t todo = n[run];

      if (skip)
        OP (sums_begin) (&s, a, b);
      a += skip * TFX_TILE, b += skip * TFX_TILE;
      todo -= skip, left -= skip;
      while (todo > 0) {
        size_t count = todo < left ? todo : left;

        todo -= count;
        left -= count;
        for (; count > 0; count--, a += TFX_TILE, b += TFX_TILE)
          OP (sums_add) (&s, a, b, n_sums);
        if (left > 0)
          continue;
        OP (sums_flush) (&s, n_sums, false);
        left = SUM_TILES;
      }
    }
    OP (sums_flush) (&s, n_sums, false);
#pragma GCC unroll 2
    for (int k = 0; k < n_sums; k++) {
#pragma GCC unroll 4
      for (int i = 0; i < step; i++)
        OP (c_store)
      (out[k] + at + i * LANES, out[k] + TFX_LEAF + at + i * LANES,
          s.total[k][i]);
    }
  }
}

/* out[2][32] = x h and what is known of the sum of one leaf. */
INLINE void
OP (tile_product) (T *out, const T *x, const T *h, const T *known)
{
#pragma GCC unroll 2
  for (int i = 0; i < TFX_LEAF; i += LANES) {
    const C y = OP (c_mul) (OP (c_load) (x + i, x + TFX_LEAF + i),
        OP (c_load) (h + i, h + TFX_LEAF + i));

    OP (c_store)
    (out + i, out + TFX_LEAF + i,
        OP (c_add) (y, OP (c_load) (known + i, known + TFX_LEAF + i)));
  }
}

/* The sum of leaf number `leaf`; is_both: and what is there of the next one. */
INLINE void
OP (leaf_sum) (T *out, const TfxTileSum *sum, size_t leaf, bool is_both)
{
  const T *const x[2] = { (const T *)sum->x[0] + leaf * sum->x_stride,
    (const T *)sum->x[1] + leaf * sum->x_stride };
  const T *const h[2] = { (const T *)sum->h[0] + leaf * sum->h_stride,
    (const T *)sum->h[1] + leaf * sum->h_stride };
  T *ahead = sum->ahead ? (T *)sum->ahead + leaf * TFX_TILE : NULL;
  T *const outs[2] = { out, ahead };
  const int last = sum->n[1] > 0;

  if (ahead && is_both)
    OP (tile_sums) (outs, x, h, sum->n, 2);
  else if (ahead && sum->is_known)
    OP (tile_product)
  (out, x[last] + (sum->n[last] - 1) * TFX_TILE,
      h[last] + (sum->n[last] - 1) * TFX_TILE, ahead);
  else OP (tile_sums) (outs, x, h, sum->n, 1);
}

#undef STEP
#undef HAS_TWO_CHAINS
#undef SUM_TILES

/* ---- passes of a transform: polynomials to their remainders and back; see
 * convolver-transform.c for the equations --------------------------------------- */

/* x[k] = sum_j x[j] exp (2 pi i j k / radix) */
INLINE void
OP (points) (C x[4], const int radix)
{
  const C a = x[0], b = x[1], c = x[2], d = x[3];

  if (radix == 2) {
    x[0] = OP (c_add) (a, b);
    x[1] = OP (c_sub) (a, b);
  } else if (radix == 3) {
    const V half = v (set1) ((T)0.5);
    const V root = v (set1) ((T)0.86602540378443864676); /* of 3 / 4 */
    const C sum = OP (c_add) (b, c), diff = OP (c_sub) (b, c);
    const C p = { v (fnma) (half, sum.re, a.re),
      v (fnma) (half, sum.im, a.im) };
    const C q = { root * diff.re, root * diff.im };

    x[0] = OP (c_add) (a, sum);
    x[1] = OP (c_add_i) (p, q);
    x[2] = OP (c_sub_i) (p, q);
  } else {
    const C p = OP (c_add) (a, c), q = OP (c_sub) (a, c);
    const C r = OP (c_add) (b, d), s = OP (c_sub) (b, d);

    x[0] = OP (c_add) (p, r);
    x[1] = OP (c_add_i) (q, s);
    x[2] = OP (c_sub) (p, r);
    x[3] = OP (c_sub_i) (q, s);
  }
}

INLINE void
OP (split) (T *re, T *im, const T *from_re, const T *from_im, const T *factors,
    size_t n_blocks, size_t m, size_t n_columns, const int radix)
{
  for (; n_blocks > 0; n_blocks--, factors += 2 * (radix - 1)) {
    C f[4], x[4];

#pragma GCC unroll 4
    for (int k = 1; k < radix; k++)
      f[k] = OP (c_factor) (factors, (size_t)k - 1);
    for (size_t n = 0; n < n_columns; n += LANES) {
#pragma GCC unroll 4
      for (int k = 0; k < radix; k++) {
        const size_t at = (size_t)k * m + n;
        x[k] = OP (c_loadu) (from_re + at, from_im + at);
        if (k > 0)
          x[k] = OP (c_mul) (x[k], f[k]);
      }
      OP (points) (x, radix);
#pragma GCC unroll 4
      for (int k = 0; k < radix; k++)
        OP (c_store) (re + (size_t)k * m + n, im + (size_t)k * m + n, x[k]);
    }
    re += (size_t)radix * m, im += (size_t)radix * m;
    from_re += (size_t)radix * m, from_im += (size_t)radix * m;
  }
}

/* The other way round the points come in the opposite order. */
INLINE void
OP (join) (T *re, T *im, const T *factors, size_t n_blocks, size_t m,
    size_t n_columns, const int radix)
{
  for (; n_blocks > 0; n_blocks--, factors += 2 * (radix - 1)) {
    C f[4], x[4];

#pragma GCC unroll 4
    for (int k = 1; k < radix; k++)
      f[k] = OP (c_factor) (factors, (size_t)k - 1);
    for (size_t n = 0; n < n_columns; n += LANES) {
#pragma GCC unroll 4
      for (int k = 0; k < radix; k++)
        x[k] = OP (c_load) (re + (size_t)k * m + n, im + (size_t)k * m + n);
      OP (points) (x, radix);
      OP (c_store) (re + n, im + n, x[0]);
#pragma GCC unroll 4
      for (int k = 1; k < radix; k++)
        OP (c_store)
      (re + (size_t)k * m + n, im + (size_t)k * m + n,
          OP (c_mul_conj) (x[radix - k], f[k]));
    }
    re += (size_t)radix * m, im += (size_t)radix * m;
  }
}

#define PASS(radix)                                                            \
  static void OP (split##radix) (void *re, void *im, const void *from_re,      \
      const void *from_im, const void *factors, size_t n_blocks, size_t m,     \
      size_t n_columns)                                                        \
  {                                                                            \
    OP (split)                                                                 \
    (re, im, from_re, from_im, factors, n_blocks, m, n_columns, radix);        \
  }                                                                            \
  static void OP (join##radix) (void *re, void *im, const void *factors,       \
      size_t n_blocks, size_t m, size_t n_columns)                             \
  {                                                                            \
    OP (join) (re, im, factors, n_blocks, m, n_columns, radix);                \
  }
PASS (2)
PASS (3)
PASS (4)
#undef PASS

/* ---- samples as they come and go ----------------------------------------------- */

static void
OP (add) (void *y_io, const void *a_in, size_t n)
{
  const T *a = a_in;
  T *y = y_io;
  size_t i = 0;

  for (; i + LANES <= n; i += LANES)
    v (storeu) (y + i, v (loadu) (y + i) + v (loadu) (a + i));
  for (; i < n; i++)
    y[i] += a[i];
}

/* x * SCALE is infinite where x is too large; and 0 times that, or times a
 * NaN, is a NaN, which stays in the sum; all others leave it at 0. */
#define SCALE (sizeof (T) == 4 ? (T)0x1p28 : (T)0x1p24)

INLINE V
OP (add_unsound) (V sum, const T *x)
{
  return v (fma) (v (loadu) (x) * v (set1) (SCALE), v (set1) (0), sum);
}

static bool
OP (is_sound) (const void *x_in, size_t n)
{
  const T *x = x_in;
  /* several sums, to hide the latency */
  V sums[4] = { v (set1) (0), v (set1) (0), v (set1) (0), v (set1) (0) };
  uint64_t words[LANES * sizeof (T) / 8], any = 0;
  T sum = 0;
  size_t i = 0;

  for (; i + 4 * LANES <= n; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
      sums[k] = OP (add_unsound) (sums[k], x + i + k * LANES);
  }
  for (; i + LANES <= n; i += LANES)
    sums[0] = OP (add_unsound) (sums[0], x + i);
  /* the last ones once more, or those that do not fill a vector */
  if (i < n && n >= LANES)
    sums[1] = OP (add_unsound) (sums[1], x + n - LANES);
  for (; i < n && n < LANES; i++)
    sum += x[i] * SCALE * 0;
  sums[0] = sums[0] + sums[1] + (sums[2] + sums[3]);
  memcpy (words, &sums[0], sizeof words);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    any |= words[k];
  return any == 0 && sum == 0;
}

#undef SCALE

#undef C
