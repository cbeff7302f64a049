/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-leaves_tmpl.c: transforms of N lanes / 4 leaves at a time, a group;
 * included by convolver-kernels.c with N, and L and VOP as
 * vec_tmpl.h has them.
 *
 * One more pass of radix 4 makes a group N polynomials of 8 coefficients.
 * Transposed, each of them lies in a lane of eight vectors; there it is weighed,
 * which makes a cyclic convolution of its product, and transformed along with the
 * others.  The tiles of a group hold value k of lane i at number k N + i of all
 * real, and all imaginary parts.  N is L, or the vectors are 2 lanes wide and the
 * group is done in two halves. */
#define LV VOP (V)
#define N_LEAVES (N / 4)
/* vectors of a group, and rows of N in one half of a tile */
#define N_VECTORS (8 * N / L)
#define ROWS (TFX_LEAF / N)

typedef struct
{
  LV re[N_VECTORS], im[N_VECTORS];
} VOP (Group);

/* x f, and x conj (f) */
INLINE void
VOP (turn) (LV *re, LV *im, LV f_re, LV f_im)
{
  const LV x = *re;

  *re = VOP (fnma) (*im, f_im, x * f_re);
  *im = VOP (fma) (*im, f_re, x * f_im);
}

INLINE void
VOP (turn_back) (LV *re, LV *im, LV f_re, LV f_im)
{
  const LV x = *re;

  *re = VOP (fma) (*im, f_im, x * f_re);
  *im = VOP (fnma) (x, f_im, *im * f_re);
}

/* ---- the pass of radix 4 ---------------------------------------------------- */

/* Number k of the six real numbers that are the factors of a leaf; of two
 * leaves, where a vector holds parts of both. */
INLINE LV
VOP (factor) (const T *factors, int k)
{
#if L == 16
  const T a = factors[k], b = factors[6 + k];
  return (LV){ a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b };
#else
  return factors[k] - (LV){ 0 };
#endif
}

/* Vectors number at[0] ... at[3] of the group: the quarters of a leaf. */
INLINE void
VOP (split) (VOP (Group) * g, const int at[4], const T *f)
{
  LV *re[4], *im[4];

#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    re[k] = &g->re[at[k]];
    im[k] = &g->im[at[k]];
    if (k > 0)
      VOP (turn)
    (re[k], im[k], VOP (factor) (f, 2 * k - 2), VOP (factor) (f, 2 * k - 1));
  }
  {
    const LV p = *re[0] + *re[2], p_im = *im[0] + *im[2];
    const LV q = *re[0] - *re[2], q_im = *im[0] - *im[2];
    const LV r = *re[1] + *re[3], r_im = *im[1] + *im[3];
    const LV s = *re[1] - *re[3], s_im = *im[1] - *im[3];
    *re[0] = p + r, *im[0] = p_im + r_im;
    *re[1] = q - s_im, *im[1] = q_im + s;
    *re[2] = p - r, *im[2] = p_im - r_im;
    *re[3] = q + s_im, *im[3] = q_im - s;
  }
}

INLINE void
VOP (join) (VOP (Group) * g, const int at[4], const T *f)
{
  LV *re[4], *im[4];

#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    re[k] = &g->re[at[k]];
    im[k] = &g->im[at[k]];
  }
  {
    const LV p = *re[0] + *re[2], p_im = *im[0] + *im[2];
    const LV q = *re[0] - *re[2], q_im = *im[0] - *im[2];
    const LV r = *re[1] + *re[3], r_im = *im[1] + *im[3];
    const LV s = *re[1] - *re[3], s_im = *im[1] - *im[3];
    *re[0] = p + r, *im[0] = p_im + r_im;
    *re[1] = q + s_im, *im[1] = q_im - s;
    *re[2] = p - r, *im[2] = p_im - r_im;
    *re[3] = q - s_im, *im[3] = q_im + s;
  }
#pragma GCC unroll 4
  for (int k = 1; k < 4; k++)
    VOP (turn_back)
  (re[k], im[k], VOP (factor) (f, 2 * k - 2), VOP (factor) (f, 2 * k - 1));
}

#if L == 16
/* Two leaves of two vectors each, quarters 0 1 and 2 3, to vectors of the same
 * quarter of both, and back. */
INLINE void
VOP (pair) (LV *x)
{
  const LV a = x[0], b = x[1], c = x[2], d = x[3];

  x[0] = __builtin_shufflevector (a, c, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
      20, 21, 22, 23);
  x[1] = __builtin_shufflevector (a, c, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
      26, 27, 28, 29, 30, 31);
  x[2] = __builtin_shufflevector (b, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
      20, 21, 22, 23);
  x[3] = __builtin_shufflevector (b, d, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
      26, 27, 28, 29, 30, 31);
}

INLINE void
VOP (unpair) (LV *x)
{
  const LV a = x[0], b = x[1], c = x[2], d = x[3];

  x[0] = __builtin_shufflevector (a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
      20, 21, 22, 23);
  x[1] = __builtin_shufflevector (c, d, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
      20, 21, 22, 23);
  x[2] = __builtin_shufflevector (a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
      26, 27, 28, 29, 30, 31);
  x[3] = __builtin_shufflevector (c, d, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
      26, 27, 28, 29, 30, 31);
}
#endif

INLINE void
VOP (split_all) (VOP (Group) * g, const T *factors)
{
#if N == 4
#pragma GCC unroll 4
  for (int i = 0; i < 8 / L; i++)
    VOP (split)
  (g, (const int[]){ i, i + 8 / L, i + 16 / L, i + 24 / L }, factors);
#else
#if L == 16
  VOP (pair) (g->re), VOP (pair) (g->re + 4);
  VOP (pair) (g->im), VOP (pair) (g->im + 4);
#endif
  VOP (split) (g, (const int[]){ 0, 1, 2, 3 }, factors);
  VOP (split) (g, (const int[]){ 4, 5, 6, 7 }, factors + 6 * N_LEAVES / 2);
#endif
}

INLINE void
VOP (join_all) (VOP (Group) * g, const T *factors)
{
#if N == 4
#pragma GCC unroll 4
  for (int i = 0; i < 8 / L; i++)
    VOP (join)
  (g, (const int[]){ i, i + 8 / L, i + 16 / L, i + 24 / L }, factors);
#else
  VOP (join) (g, (const int[]){ 0, 1, 2, 3 }, factors);
  VOP (join) (g, (const int[]){ 4, 5, 6, 7 }, factors + 6 * N_LEAVES / 2);
#if L == 16
  VOP (unpair) (g->re), VOP (unpair) (g->re + 4);
  VOP (unpair) (g->im), VOP (unpair) (g->im + 4);
#endif
#endif
}

/* ---- eight points ----------------------------------------------------------- */

#define SQRT_HALF ((T)0.70710678118654752440 - (LV){ 0 })

/* a + i b to sum_n (a[n] + i b[n]) exp (-2 pi i n k / 8).  With a and b in each
 * other's place, the sign is the other one. */
INLINE void
VOP (transform8) (LV *a, LV *b)
{
  const LV a0 = a[0] + a[4], b0 = b[0] + b[4], a4 = a[0] - a[4],
           b4 = b[0] - b[4];
  const LV a1 = a[1] + a[5], b1 = b[1] + b[5], a5 = a[1] - a[5],
           b5 = b[1] - b[5];
  const LV a2 = a[2] + a[6], b2 = b[2] + b[6], a6 = a[2] - a[6],
           b6 = b[2] - b[6];
  const LV a3 = a[3] + a[7], b3 = b[3] + b[7], a7 = a[3] - a[7],
           b7 = b[3] - b[7];
  const LV p0 = a0 + a2, q0 = b0 + b2, p2 = a0 - a2, q2 = b0 - b2;
  const LV p1 = a1 + a3, q1 = b1 + b3, p3 = a1 - a3, q3 = b1 - b3;
  const LV c5 = a5 + b5, d5 = b5 - a5, c7 = b7 - a7, d7 = a7 + b7;
  const LV r4 = a4 + b6, s4 = b4 - a6, r6 = a4 - b6, s6 = b4 + a6;
  const LV m = c5 + c7, n = d5 - d7, u = c5 - c7, v = d5 + d7;

  a[0] = p0 + p1, b[0] = q0 + q1;
  a[4] = p0 - p1, b[4] = q0 - q1;
  a[2] = p2 + q3, b[2] = q2 - p3;
  a[6] = p2 - q3, b[6] = q2 + p3;
  a[1] = VOP (fma) (SQRT_HALF, m, r4), b[1] = VOP (fma) (SQRT_HALF, n, s4);
  a[5] = VOP (fnma) (SQRT_HALF, m, r4), b[5] = VOP (fnma) (SQRT_HALF, n, s4);
  a[3] = VOP (fma) (SQRT_HALF, v, r6), b[3] = VOP (fnma) (SQRT_HALF, u, s6);
  a[7] = VOP (fnma) (SQRT_HALF, v, r6), b[7] = VOP (fma) (SQRT_HALF, u, s6);
}

#undef SQRT_HALF

/* ---- groups ------------------------------------------------------------------- */

/* The lanes from number `first` on, in the vectors at re and im: weighed, and
 * transformed, to the tiles. */
INLINE void
VOP (lanes_forward) (T *tiles, size_t stride, LV *re, LV *im, const T *w,
    size_t first)
{
  VOP (to_columns) (re);
  VOP (to_columns) (im);
#pragma GCC unroll 8
  for (int k = 1; k < 8; k++)
    VOP (turn)
  (&re[k], &im[k], VOP (load) (w + 2 * k * N + first),
      VOP (load) (w + 2 * k * N + N + first));
  VOP (transform8) (re, im);
#pragma GCC unroll 8
  for (int k = 0; k < 8; k++) {
    T *tile = tiles + (size_t)(k / ROWS) * stride + k % ROWS * N + first;
    VOP (store) (tile, re[k]);
    VOP (store) (tile + TFX_LEAF, im[k]);
  }
}

/* Back from the tiles of leaves that are `stride` values apart, or from their
 * products with those at h. */
INLINE void
VOP (lanes_back) (LV *re, LV *im, const T *tiles, size_t stride, const T *h,
    size_t h_stride, const T *w, size_t first)
{
#pragma GCC unroll 8
  for (int k = 0; k < 8; k++) {
    const size_t leaf = (size_t)(k / ROWS);
    const size_t row = (size_t)(k % ROWS * N) + first;

    re[k] = VOP (load) (tiles + leaf * stride + row);
    im[k] = VOP (load) (tiles + leaf * stride + row + TFX_LEAF);
    if (h)
      VOP (turn)
    (&re[k], &im[k], VOP (load) (h + leaf * h_stride + row),
        VOP (load) (h + leaf * h_stride + row + TFX_LEAF));
  }
  VOP (transform8) (im, re);
#pragma GCC unroll 8
  for (int k = 1; k < 8; k++)
    VOP (turn_back)
  (&re[k], &im[k], VOP (load) (w + 2 * k * N + first),
      VOP (load) (w + 2 * k * N + N + first));
  VOP (to_rows) (re);
  VOP (to_rows) (im);
}

/* Weights: of a group T[8][2][N], the first 2 N the factors of its leaves. */
static void
VOP (leaves_forward) (void *tiles_out, size_t stride, const void *re_in,
    const void *im_in, const void *weights, size_t n_leaves)
{
  const T *re = re_in, *im = im_in, *w = weights;
  T *tiles = tiles_out;

  for (; n_leaves > 0; n_leaves -= N_LEAVES) {
    VOP (Group) g;

#pragma GCC unroll 16
    for (int k = 0; k < N_VECTORS; k++) {
      g.re[k] = VOP (load) (re + k * L);
      g.im[k] = VOP (load) (im + k * L);
    }
    VOP (split_all) (&g, w);
#pragma GCC unroll 2
    for (int k = 0; k < N_VECTORS; k += 8)
      VOP (lanes_forward)
    (tiles, stride, g.re + k, g.im + k, w, (size_t)(k / 8 * L));
    tiles += N_LEAVES * stride;
    re += 8 * N, im += 8 * N, w += 16 * N;
  }
}

/* A group of leaves, as lanes_back() takes its lanes. */
INLINE void
VOP (group_back) (T *re, T *im, const T *tiles, size_t stride, const T *h,
    size_t h_stride, const T *w)
{
  VOP (Group) g;

#pragma GCC unroll 2
  for (int k = 0; k < N_VECTORS; k += 8)
    VOP (lanes_back)
  (g.re + k, g.im + k, tiles, stride, h, h_stride, w, (size_t)(k / 8 * L));
  VOP (join_all) (&g, w);
#pragma GCC unroll 16
  for (int k = 0; k < N_VECTORS; k++) {
    VOP (store) (re + k * L, g.re[k]);
    VOP (store) (im + k * L, g.im[k]);
  }
}

/* Sums of one product each. */
INLINE void
VOP (products_back) (T *re, T *im, const TfxTileSum *sum, const T *w,
    size_t n_leaves)
{
  const T *x = sum->x[0], *h = sum->h[0];

  for (; n_leaves > 0; n_leaves -= N_LEAVES) {
    VOP (group_back) (re, im, x, sum->x_stride, h, sum->h_stride, w);
    x += N_LEAVES * sum->x_stride, h += N_LEAVES * sum->h_stride;
    re += 8 * N, im += 8 * N, w += 16 * N;
  }
}

static void
VOP (leaves_back) (void *re_out, void *im_out, const TfxTileSum *sum,
    const void *weights, size_t n_leaves)
{
  const T *w = weights;
  T *re = re_out, *im = im_out;
  T tiles[TFX_LEAF_BATCH * TFX_TILE] __attribute__ ((aligned (64)));

  if (sum->n[0] == 1 && sum->n[1] == 0) {
    VOP (products_back) (re, im, sum, w, n_leaves);
    return;
  }
  for (size_t leaf = 0; leaf < n_leaves; leaf += N_LEAVES) {
    const size_t at = leaf % TFX_LEAF_BATCH, left = n_leaves - leaf;

    /* A batch of sums, so that no transform waits for one. */
    for (size_t i = 0; at == 0 && i < TFX_LEAF_BATCH && i < left; i++)
      OP (leaf_sum)
    (tiles + i * TFX_TILE, sum, leaf + i, (sum->turn + leaf + i) % 2 == 0);
    VOP (group_back) (re, im, tiles + at * TFX_TILE, TFX_TILE, NULL, 0, w);
    re += 8 * N, im += 8 * N, w += 16 * N;
  }
}

#undef LV
#undef N_LEAVES
#undef N_VECTORS
#undef ROWS
#undef N
#undef L
#undef VOP
