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
  return (C){ v (add) (a.re, b.re), v (add) (a.im, b.im) };
}

INLINE C
OP (c_sub) (C a, C b)
{
  return (C){ v (sub) (a.re, b.re), v (sub) (a.im, b.im) };
}

/* a + i b */
INLINE C
OP (c_add_i) (C a, C b)
{
  return (C){ v (sub) (a.re, b.im), v (add) (a.im, b.re) };
}

/* a - i b */
INLINE C
OP (c_sub_i) (C a, C b)
{
  return (C){ v (add) (a.re, b.im), v (sub) (a.im, b.re) };
}

/* a b */
INLINE C
OP (c_mul) (C a, C b)
{
  return (C){ v (fnma) (a.im, b.im, v (mul) (a.re, b.re)),
    v (fma) (a.im, b.re, v (mul) (a.re, b.im)) };
}

/* a conj (b) */
INLINE C
OP (c_mul_conj) (C a, C b)
{
  return (C){ v (fma) (a.im, b.im, v (mul) (a.re, b.re)),
    v (fnma) (a.re, b.im, v (mul) (a.im, b.re)) };
}

/* Factor number k: re and im. */
INLINE C
OP (c_factor) (const T *factors, size_t k)
{
  return (C){ v (set1) (factors[2 * k]), v (set1) (factors[2 * k + 1]) };
}

#include "convolver-direct_tmpl.c"

/* ---- sums of products of tiles ------------------------------------------------- */

/* Vectors of a tile that are summed up at a time, and chains of sums of each:
 * enough of both to hide the latency of a product, few enough for 16
 * registers, and for 32 of them the whole tile. */
#define STEP (LANES == 16 ? 2 : 4)
#define N_CHAINS (STEP < 4 ? 2 : 1)
/* Products that are summed up in float before they go into a sum of sums: the
 * error of a sum of n grows as sqrt (n). */
#define SUM_TILES (WIDE ? 16 : SIZE_MAX)

/* sums += x h at STEP vectors of the tiles. */
INLINE void
OP (tile_products) (C sums[N_CHAINS][STEP], const T *x, const T *h)
{
#pragma GCC unroll 8
  for (int i = 0; i < STEP; i++) {
    const C a = OP (c_keep) (x + i * LANES, x + TFX_LEAF + i * LANES);
    const C b = OP (c_keep) (h + i * LANES, h + TFX_LEAF + i * LANES);
    C *first = &sums[0][i], *last = &sums[N_CHAINS - 1][i];

    first->re = v (fma) (a.re, b.re, first->re);
    first->im = v (fma) (a.re, b.im, first->im);
    last->re = v (fnma) (a.im, b.im, last->re);
    last->im = v (fma) (a.im, b.re, last->im);
  }
}

INLINE void
OP (tile_clear) (C *sums)
{
#pragma GCC unroll 8
  for (int i = 0; i < STEP; i++)
    sums[i] = (C){ v (set1) (0), v (set1) (0) };
}

INLINE void
OP (tile_flush) (C total[STEP], C sums[N_CHAINS][STEP])
{
#pragma GCC unroll 8
  for (int i = 0; i < STEP; i++) {
    C sum = sums[0][i];
    if (N_CHAINS == 2)
      sum = OP (c_add) (sum, sums[N_CHAINS - 1][i]);
    total[i] = OP (c_add) (total[i], sum);
  }
  OP (tile_clear) (sums[0]);
  OP (tile_clear) (sums[N_CHAINS - 1]);
}

/* out[2][32] = the sum of products of one leaf; x and h point to its tiles. */
INLINE void
OP (tile_sum) (T *out, const T *const x[2], const T *const h[2],
    const size_t n[2])
{
  for (size_t at = 0; at < TFX_LEAF; at += STEP * LANES) {
    C total[STEP], sums[N_CHAINS][STEP];
    size_t left = SUM_TILES;

    OP (tile_clear) (total);
    OP (tile_clear) (sums[0]);
    OP (tile_clear) (sums[N_CHAINS - 1]);
    for (int run = 0; run < 2; run++) {
      const T *a = x[run] + at, *b = h[run] + at;
      size_t todo = n[run];
      while (todo > 0) {
        size_t count = todo < left ? todo : left;
        todo -= count;
        left -= count;
        for (; count > 0; count--, a += TFX_TILE, b += TFX_TILE)
          OP (tile_products) (sums, a, b);
        if (left == 0) {
          OP (tile_flush) (total, sums);
          left = SUM_TILES;
        }
      }
    }
    OP (tile_flush) (total, sums);
#pragma GCC unroll 8
    for (int i = 0; i < STEP; i++)
      OP (c_store)
    (out + at + i * LANES, out + TFX_LEAF + at + i * LANES, total[i]);
  }
}

/* sums[0] += x h, sums[1] += x and the h before, at two vectors of the tiles. */
INLINE void
OP (tile_products_ahead) (C sums[2][2], const T *x, const T *h)
{
#pragma GCC unroll 2
  for (int i = 0; i < 2; i++) {
    const C a = OP (c_keep) (x + i * LANES, x + TFX_LEAF + i * LANES);
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) {
      const T *at = h + i * LANES - k * TFX_TILE;
      const C b = OP (c_keep) (at, at + TFX_LEAF);
      C *sum = &sums[k][i];

      sum->re = v (fma) (a.re, b.re, sum->re);
      sum->im = v (fma) (a.re, b.im, sum->im);
      sum->re = v (fnma) (a.im, b.im, sum->re);
      sum->im = v (fma) (a.im, b.re, sum->im);
    }
  }
}

/* The sum of one leaf, and what is there of the next one. */
INLINE void
OP (tile_sum_ahead) (T *out, T *ahead, const T *const x[2], const T *const h[2],
    const size_t n[2])
{
  for (size_t at = 0; at < TFX_LEAF; at += 2 * LANES) {
    C total[2][2], sums[2][2];
    size_t left = SUM_TILES - 1;

#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      const T *a = x[0] + at + i * LANES, *b = h[0] + at + i * LANES;

      total[0][i] = total[1][i] = sums[1][i] =
          (C){ v (set1) (0), v (set1) (0) };
      sums[0][i] = OP (
          c_mul) (OP (c_load) (a, a + TFX_LEAF), OP (c_load) (b, b + TFX_LEAF));
    }
    for (int run = 0; run < 2; run++) {
      const size_t skip = run == 0;
      const T *a = x[run] + skip * TFX_TILE + at;
      const T *b = h[run] + skip * TFX_TILE + at;
      size_t todo = n[run] - skip;

      while (todo > 0) {
        size_t count = todo < left ? todo : left;
        todo -= count;
        left -= count;
        for (; count > 0; count--, a += TFX_TILE, b += TFX_TILE)
          OP (tile_products_ahead) (sums, a, b);
        if (left > 0)
          continue;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
          total[i / 2][i % 2] =
              OP (c_add) (total[i / 2][i % 2], sums[i / 2][i % 2]);
          sums[i / 2][i % 2] = (C){ v (set1) (0), v (set1) (0) };
        }
        left = SUM_TILES;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
      T *to = (i < 2 ? out : ahead) + at + i % 2 * LANES;
      OP (c_store)
      (to, to + TFX_LEAF, OP (c_add) (total[i / 2][i % 2], sums[i / 2][i % 2]));
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
  const int last = sum->n[1] > 0;

  if (ahead && is_both)
    OP (tile_sum_ahead) (out, ahead, x, h, sum->n);
  else if (ahead && sum->is_known)
    OP (tile_product)
  (out, x[last] + (sum->n[last] - 1) * TFX_TILE,
      h[last] + (sum->n[last] - 1) * TFX_TILE, ahead);
  else
    OP (tile_sum) (out, x, h, sum->n);
}

#undef STEP
#undef N_CHAINS
#undef SUM_TILES

/* ---- passes of a transform: polynomials to their remainders and back; see
 * convolver-transform.c for the equations --------------------------------------- */

static void
OP (split2) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m, size_t n_columns)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;

  for (; n_blocks > 0; n_blocks--, f += 2) {
    const C f1 = OP (c_factor) (f, 0);
    for (size_t n = 0; n < n_columns; n += LANES) {
      C a = OP (c_loadu) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_loadu) (sr + m + n, si + m + n), f1);
      OP (c_store) (re + n, im + n, OP (c_add) (a, b));
      OP (c_store) (re + m + n, im + m + n, OP (c_sub) (a, b));
    }
    re += 2 * m, im += 2 * m, sr += 2 * m, si += 2 * m;
  }
}

static void
OP (join2) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m, size_t n_columns)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;

  for (; n_blocks > 0; n_blocks--, f += 2, re += 2 * m, im += 2 * m) {
    const C f1 = OP (c_factor) (f, 0);
    for (size_t n = 0; n < n_columns; n += LANES) {
      C a = OP (c_load) (re + n, im + n);
      C b = OP (c_load) (re + m + n, im + m + n);
      OP (c_store) (re + n, im + n, OP (c_add) (a, b));
      OP (c_store)
      (re + m + n, im + m + n, OP (c_mul_conj) (OP (c_sub) (a, b), f1));
    }
  }
}

#define HALF_SQRT3 ((T)0.86602540378443864676)

static void
OP (split3) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m, size_t n_columns)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;
  const V half = v (set1) ((T)0.5), root = v (set1) (HALF_SQRT3);

  for (; n_blocks > 0; n_blocks--, f += 4) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    for (size_t n = 0; n < n_columns; n += LANES) {
      C a = OP (c_loadu) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_loadu) (sr + m + n, si + m + n), f1);
      C c = OP (c_mul) (OP (c_loadu) (sr + 2 * m + n, si + 2 * m + n), f2);
      C sum = OP (c_add) (b, c), diff = OP (c_sub) (b, c);
      C p = { v (fnma) (half, sum.re, a.re), v (fnma) (half, sum.im, a.im) };
      C q = { v (mul) (root, diff.re), v (mul) (root, diff.im) };
      OP (c_store) (re + n, im + n, OP (c_add) (a, sum));
      OP (c_store) (re + m + n, im + m + n, OP (c_add_i) (p, q));
      OP (c_store) (re + 2 * m + n, im + 2 * m + n, OP (c_sub_i) (p, q));
    }
    re += 3 * m, im += 3 * m, sr += 3 * m, si += 3 * m;
  }
}

static void
OP (join3) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m, size_t n_columns)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;
  const V half = v (set1) ((T)0.5), root = v (set1) (HALF_SQRT3);

  for (; n_blocks > 0; n_blocks--, f += 4, re += 3 * m, im += 3 * m) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    for (size_t n = 0; n < n_columns; n += LANES) {
      C a = OP (c_load) (re + n, im + n);
      C b = OP (c_load) (re + m + n, im + m + n);
      C c = OP (c_load) (re + 2 * m + n, im + 2 * m + n);
      C sum = OP (c_add) (b, c), diff = OP (c_sub) (b, c);
      C p = { v (fnma) (half, sum.re, a.re), v (fnma) (half, sum.im, a.im) };
      C q = { v (mul) (root, diff.re), v (mul) (root, diff.im) };
      OP (c_store) (re + n, im + n, OP (c_add) (a, sum));
      OP (c_store)
      (re + m + n, im + m + n, OP (c_mul_conj) (OP (c_sub_i) (p, q), f1));
      OP (c_store)
      (re + 2 * m + n, im + 2 * m + n,
          OP (c_mul_conj) (OP (c_add_i) (p, q), f2));
    }
  }
}

static void
OP (split4) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m, size_t n_columns)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;

  for (; n_blocks > 0; n_blocks--, f += 6) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    const C f3 = OP (c_factor) (f, 2);
    for (size_t n = 0; n < n_columns; n += LANES) {
      C a = OP (c_loadu) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_loadu) (sr + m + n, si + m + n), f1);
      C c = OP (c_mul) (OP (c_loadu) (sr + 2 * m + n, si + 2 * m + n), f2);
      C d = OP (c_mul) (OP (c_loadu) (sr + 3 * m + n, si + 3 * m + n), f3);
      C p = OP (c_add) (a, c), q = OP (c_sub) (a, c);
      C r = OP (c_add) (b, d), s = OP (c_sub) (b, d);
      OP (c_store) (re + n, im + n, OP (c_add) (p, r));
      OP (c_store) (re + m + n, im + m + n, OP (c_add_i) (q, s));
      OP (c_store) (re + 2 * m + n, im + 2 * m + n, OP (c_sub) (p, r));
      OP (c_store) (re + 3 * m + n, im + 3 * m + n, OP (c_sub_i) (q, s));
    }
    re += 4 * m, im += 4 * m, sr += 4 * m, si += 4 * m;
  }
}

static void
OP (join4) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m, size_t n_columns)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;

  for (; n_blocks > 0; n_blocks--, f += 6, re += 4 * m, im += 4 * m) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    const C f3 = OP (c_factor) (f, 2);
    for (size_t n = 0; n < n_columns; n += LANES) {
      C a = OP (c_load) (re + n, im + n);
      C b = OP (c_load) (re + m + n, im + m + n);
      C c = OP (c_load) (re + 2 * m + n, im + 2 * m + n);
      C d = OP (c_load) (re + 3 * m + n, im + 3 * m + n);
      C p = OP (c_add) (a, c), q = OP (c_sub) (a, c);
      C r = OP (c_add) (b, d), s = OP (c_sub) (b, d);
      OP (c_store) (re + n, im + n, OP (c_add) (p, r));
      OP (c_store)
      (re + m + n, im + m + n, OP (c_mul_conj) (OP (c_sub_i) (q, s), f1));
      OP (c_store)
      (re + 2 * m + n, im + 2 * m + n, OP (c_mul_conj) (OP (c_sub) (p, r), f2));
      OP (c_store)
      (re + 3 * m + n, im + 3 * m + n,
          OP (c_mul_conj) (OP (c_add_i) (q, s), f3));
    }
  }
}

#undef HALF_SQRT3

/* ---- samples as they come and go ----------------------------------------------- */

static void
OP (add) (void *y_io, const void *a_in, size_t n)
{
  const T *a = a_in;
  T *y = y_io;
  size_t i = 0;

  for (; i + LANES <= n; i += LANES)
    v (storeu) (y + i, v (add) (v (loadu) (y + i), v (loadu) (a + i)));
  for (; i < n; i++)
    y[i] += a[i];
}

/* n_channels vectors, 2 or 4, of interleaved values become one of each channel: the
 * even vector halves are separated log2 (n_channels) times. */
INLINE void
OP (unzip_all) (V *x, const unsigned n_channels)
{
  V y[4];

#pragma GCC unroll 2
  for (unsigned step = 1; step < n_channels; step *= 2) {
#pragma GCC unroll 2
    for (unsigned i = 0; i < n_channels / 2; i++)
      v (unzip) (x[2 * i], x[2 * i + 1], &y[i], &y[n_channels / 2 + i]);
#pragma GCC unroll 4
    for (unsigned i = 0; i < n_channels; i++)
      x[i] = y[i];
  }
}

INLINE void
OP (zip_all) (V *x, const unsigned n_channels)
{
  V y[4];

#pragma GCC unroll 2
  for (unsigned step = 1; step < n_channels; step *= 2) {
#pragma GCC unroll 2
    for (unsigned i = 0; i < n_channels / 2; i++)
      v (zip) (x[i], x[n_channels / 2 + i], &y[2 * i], &y[2 * i + 1]);
#pragma GCC unroll 4
    for (unsigned i = 0; i < n_channels; i++)
      x[i] = y[i];
  }
}

/* For lanes and a power of two channels. */
INLINE size_t
OP (deinterleave_lanes) (T *to, size_t stride, const T *from,
    const unsigned n_channels, size_t n)
{
  size_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    V x[8];
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      x[k] = v (loadu) (from + i * n_channels + k * LANES);
    if (n_channels == 8)
      v (to_columns) (x);
    else
      OP (unzip_all) (x, n_channels);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      v (storeu) (to + k * stride + i, x[k]);
  }
  return i;
}

INLINE size_t
OP (interleave_lanes) (T *to, const T *from, size_t stride,
    const unsigned n_channels, size_t n)
{
  size_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    V x[8];
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      x[k] = v (loadu) (from + k * stride + i);
    if (n_channels == 8)
      v (to_rows) (x);
    else
      OP (zip_all) (x, n_channels);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      v (storeu) (to + i * n_channels + k * LANES, x[k]);
  }
  return i;
}

static void
OP (deinterleave) (void *to_out, size_t stride, const void *from_in,
    unsigned n_channels, size_t n)
{
  const T *from = from_in;
  T *to = to_out;
  size_t done = 0;

  if (n_channels == 2)
    done = OP (deinterleave_lanes) (to, stride, from, 2, n);
  else if (n_channels == 4)
    done = OP (deinterleave_lanes) (to, stride, from, 4, n);
  else if (n_channels == 8)
    done = OP (deinterleave_lanes) (to, stride, from, 8, n);
  for (unsigned k = 0; k < n_channels; k++) {
    for (size_t i = done; i < n; i++)
      to[k * stride + i] = from[i * n_channels + k];
  }
}

static void
OP (interleave) (void *to_out, const void *from_in, size_t stride,
    unsigned n_channels, size_t n)
{
  const T *from = from_in;
  T *to = to_out;
  size_t done = 0;

  if (n_channels == 2)
    done = OP (interleave_lanes) (to, from, stride, 2, n);
  else if (n_channels == 4)
    done = OP (interleave_lanes) (to, from, stride, 4, n);
  else if (n_channels == 8)
    done = OP (interleave_lanes) (to, from, stride, 8, n);
  for (unsigned k = 0; k < n_channels; k++) {
    for (size_t i = done; i < n; i++)
      to[i * n_channels + k] = from[k * stride + i];
  }
}

/* x * SCALE is infinite where x is too large; and 0 times that, or times a
 * NaN, is a NaN, which stays in the sum; all others leave it at 0. */
#define SCALE (sizeof (T) == 4 ? (T)0x1p28 : (T)0x1p24)

INLINE V
OP (add_unsound) (V sum, const T *x)
{
  return v (fma) (v (mul) (v (loadu) (x), v (set1) (SCALE)), v (set1) (0), sum);
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
  sums[0] = v (add) (v (add) (sums[0], sums[1]), v (add) (sums[2], sums[3]));
  memcpy (words, &sums[0], sizeof words);
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    any |= words[k];
  return any == 0 && sum == 0;
}

#undef SCALE

#undef C
