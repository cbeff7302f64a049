/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-transform_tmpl.c: the loops of a transform, whose equations are in
 * convolver-transform.c, and sums of products of tiles.  Included by
 * convolver-kernels.c for each sample type and each size of a group of leaves, with
 *
 *   T, OP(f)  float or double, and the name of function f
 *   LANES     how many of them a vector of the machine has
 *   WIDE      1 if sums of products need more than T: T is float
 *   N         the lanes of a group: N / 4 leaves at a time
 *   L, VOP    as vec_tmpl.h has them: L is N, or the vectors are 2 lanes wide and
 *             the group is done in two halves
 *
 * Passes and sums come with the widest vectors. */

#define V VOP (V)

/* ---- complex numbers, split ---------------------------------------------- */

typedef struct
{
  V re, im;
} VOP (C);

#define C VOP (C)

INLINE C
VOP (c_load) (const T *re, const T *im)
{
  return (C){ VOP (load) (re), VOP (load) (im) };
}

/* The same without alignment. */
INLINE C
VOP (c_loadu) (const T *re, const T *im)
{
  return (C){ VOP (loadu) (re), VOP (loadu) (im) };
}

INLINE C
VOP (c_keep) (const T *re, const T *im)
{
  return (C){ VOP (keep) (VOP (load) (re)), VOP (keep) (VOP (load) (im)) };
}

INLINE void
VOP (c_store) (T *re, T *im, C a)
{
  VOP (store) (re, a.re);
  VOP (store) (im, a.im);
}

INLINE C
VOP (c_add) (C a, C b)
{
  return (C){ a.re + b.re, a.im + b.im };
}

INLINE C
VOP (c_sub) (C a, C b)
{
  return (C){ a.re - b.re, a.im - b.im };
}

/* a + i b */
INLINE C
VOP (c_add_i) (C a, C b)
{
  return (C){ a.re - b.im, a.im + b.re };
}

/* a - i b */
INLINE C
VOP (c_sub_i) (C a, C b)
{
  return (C){ a.re + b.im, a.im - b.re };
}

/* a b */
INLINE C
VOP (c_mul) (C a, C b)
{
  return (C){ VOP (fnma) (a.im, b.im, a.re * b.re),
    VOP (fma) (a.im, b.re, a.re * b.im) };
}

/* a conj (b) */
INLINE C
VOP (c_mul_conj) (C a, C b)
{
  return (C){ VOP (fma) (a.im, b.im, a.re * b.re),
    VOP (fnma) (a.re, b.im, a.im * b.re) };
}

/* Factor number k: re and im. */
INLINE C
VOP (c_factor) (const T *factors, size_t k)
{
  return (C){ VOP (set1) (factors[2 * k]), VOP (set1) (factors[2 * k + 1]) };
}

/* ---- eight points ----------------------------------------------------------- */

#define SQRT_HALF ((T)0.70710678118654752440 - (V){ 0 })

/* a + i b to sum_n (a[n] + i b[n]) exp (-2 pi i n k / 8).  With a and b in each
 * other's place, the sign is the other one. */
INLINE void
VOP (transform8) (V *a, V *b)
{
  const V a0 = a[0] + a[4], b0 = b[0] + b[4], a4 = a[0] - a[4],
          b4 = b[0] - b[4];
  const V a1 = a[1] + a[5], b1 = b[1] + b[5], a5 = a[1] - a[5],
          b5 = b[1] - b[5];
  const V a2 = a[2] + a[6], b2 = b[2] + b[6], a6 = a[2] - a[6],
          b6 = b[2] - b[6];
  const V a3 = a[3] + a[7], b3 = b[3] + b[7], a7 = a[3] - a[7],
          b7 = b[3] - b[7];
  const V p0 = a0 + a2, q0 = b0 + b2, p2 = a0 - a2, q2 = b0 - b2;
  const V p1 = a1 + a3, q1 = b1 + b3, p3 = a1 - a3, q3 = b1 - b3;
  const V c5 = a5 + b5, d5 = b5 - a5, c7 = b7 - a7, d7 = a7 + b7;
  const V r4 = a4 + b6, s4 = b4 - a6, r6 = a4 - b6, s6 = b4 + a6;
  const V m = c5 + c7, n = d5 - d7, u = c5 - c7, v = d5 + d7;

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

/* ---- x[k] = sum_j x[j] exp (2 pi i j k / radix) ------------------------------ */

INLINE void
VOP (points) (C *x, const int radix)
{
  const C a = x[0], b = x[1], c = x[2], d = x[3];

  if (radix == 2) {
    x[0] = VOP (c_add) (a, b);
    x[1] = VOP (c_sub) (a, b);
  } else if (radix == 3) {
    const V half = VOP (set1) ((T)0.5);
    const V root = VOP (set1) ((T)0.86602540378443864676); /* of 3 / 4 */
    const C sum = VOP (c_add) (b, c), diff = VOP (c_sub) (b, c);
    const C p = { VOP (fnma) (half, sum.re, a.re),
      VOP (fnma) (half, sum.im, a.im) };
    const C q = { root * diff.re, root * diff.im };

    x[0] = VOP (c_add) (a, sum);
    x[1] = VOP (c_add_i) (p, q);
    x[2] = VOP (c_sub_i) (p, q);
  } else {
    const C p = VOP (c_add) (a, c), q = VOP (c_sub) (a, c);
    const C r = VOP (c_add) (b, d), s = VOP (c_sub) (b, d);

    x[0] = VOP (c_add) (p, r);
    x[1] = VOP (c_add_i) (q, s);
    x[2] = VOP (c_sub) (p, r);
    x[3] = VOP (c_sub_i) (q, s);
  }
}

#if L == LANES

/* ---- sums of products of tiles ------------------------------------------------- */

/* Products that are summed up in float before they go into a sum of sums: the
 * error of a sum of n grows as sqrt (n). */
#define SUM_TILES (WIDE ? 16 : SIZE_MAX)
/* Vectors of a tile that are summed up at a time: enough to hide the latency of a
 * product, few enough for 16 registers.  Where they are the whole tile a sum alone is
 * two chains. */
#define STEP(n_sums) (LANES == 16 || (n_sums) > 1 ? 2 : 4)
#define HAS_TWO_CHAINS(n_sums) (LANES == 16 && n_sums == 1)

/* One or two sums, of the vectors of a tile. */
typedef struct
{
  C total[2][4], part[2][4];
} OP (Sums);

/* Adds x times h to sum 0 and, if n is 2, x times the h before to sum 1. */
INLINE void
OP (sums_add) (OP (Sums) * s, const T *x, const T *h, const int n_sums,
    const int n)
{
  const int step = STEP (n_sums);

  /* Keeps the compiler from holding the input of one round in registers for a later one. */
  __asm__("" : "+r"(h));
#pragma GCC unroll 4
  for (int i = 0; i < step; i++) {
    const C a = VOP (c_keep) (x + i * LANES, x + TFX_LEAF + i * LANES);
#pragma GCC unroll 2
    for (int k = 0; k < n; k++) {
      const T *at = h + i * LANES - k * TFX_TILE;
      const C b = VOP (c_keep) (at, at + TFX_LEAF);
      C *first = &s->part[k][i];
      C *last = HAS_TWO_CHAINS (n_sums) ? &s->part[1][i] : first;

      first->re = VOP (fma) (a.re, b.re, first->re);
      first->im = VOP (fma) (a.re, b.im, first->im);
      last->re = VOP (fnma) (a.im, b.im, last->re);
      last->im = VOP (fma) (a.im, b.re, last->im);
    }
  }
}

/* The parts go to the total; is_first: there is none yet, and nothing in them. */
INLINE void
OP (sums_flush) (OP (Sums) * s, const int n_sums, const bool is_first)
{
  const C zero = { VOP (set1) (0), VOP (set1) (0) };
  const int step = STEP (n_sums);

#pragma GCC unroll 2
  for (int k = 0; k < n_sums; k++) {
#pragma GCC unroll 4
    for (int i = 0; i < step; i++) {
      if (!is_first && HAS_TWO_CHAINS (n_sums))
        s->part[k][i] = VOP (c_add) (s->part[k][i], s->part[1][i]);
      s->total[k][i] =
          is_first ? zero : VOP (c_add) (s->total[k][i], s->part[k][i]);
      s->part[k][i] = zero;
      if (HAS_TWO_CHAINS (n_sums))
        s->part[1][i] = zero;
    }
  }
}

/* Tile number t of a leaf's spectra, in two runs. */
INLINE const T *
OP (tile_at) (const T *const x[2], const size_t n[2], size_t t)
{
  return t < n[0] ? x[0] + t * TFX_TILE : x[1] + (t - n[0]) * TFX_TILE;
}

/* Adds the products of one term, from value `at` of the tiles on.  left: products before
 * the next flush. */
INLINE void
OP (tile_term) (OP (Sums) * s, const T *const x[2], const T *b,
    const size_t n[2], size_t at, const int n_sums, size_t *left)
{
  /* The oldest of the spectra is none of the next sum's. */
  if (n_sums > 1) {
    OP (sums_add) (s, OP (tile_at) (x, n, 0) + at, b, n_sums, 1);
    b += TFX_TILE;
    --*left;
  }
  for (size_t run = 0, t = (size_t)n_sums - 1; run < 2; run++) {
    const size_t end = n[0] + run * n[1];
    size_t todo = t < end ? end - t : 0;
    const T *a = OP (tile_at) (x, n, t) + at;

    t += todo;
    while (todo > 0 || *left == 0) {
      size_t count = todo < *left ? todo : *left;

      todo -= count;
      *left -= count;
      for (; count > 0; count--, a += TFX_TILE, b += TFX_TILE)
        OP (sums_add) (s, a, b, n_sums, n_sums);
      if (*left > 0)
        continue;
      OP (sums_flush) (s, n_sums, false);
      *left = SUM_TILES;
    }
  }
}

/* The spectra of a term for a leaf. */
#define TERM(x, sum, term, leaf)                                               \
  const T *const x[2] = { (const T *)(term)->x[0] + (leaf) * (sum)->x_stride,  \
    (const T *)(term)->x[1] + (leaf) * (sum)->x_stride }

/* out is the sum of products of one leaf; if n_sums is 2, ahead is what is there of the
 * next one. */
INLINE void
OP (tile_sums) (T *out, T *ahead, const TfxTileSum *sum, size_t leaf,
    const int n_sums)
{
  const int step = STEP (n_sums);

  for (size_t at = 0; at < TFX_LEAF; at += (size_t)step * LANES) {
    size_t left = SUM_TILES;
    OP (Sums) s;

    OP (sums_flush) (&s, n_sums, true);
    for (size_t i = 0; i < sum->n_terms; i++) {
      const TfxTileTerm *term = &sum->terms[i];
      TERM (x, sum, term, leaf);

      OP (tile_term)
      (&s, x, (const T *)term->h + leaf * sum->h_stride + at, sum->n, at,
          n_sums, &left);
    }
    OP (sums_flush) (&s, n_sums, false);
#pragma GCC unroll 2
    for (int k = 0; k < n_sums; k++) {
      T *to = (k == 0 ? out : ahead) + at;

#pragma GCC unroll 4
      for (int i = 0; i < step; i++)
        VOP (c_store)
      (to + i * LANES, to + TFX_LEAF + i * LANES, s.total[k][i]);
    }
  }
}

/* out = known + x h: the sum of one leaf from all but its newest product. */
INLINE void
OP (tile_product) (T *out, const T *known, const T *x, const T *h)
{
#pragma GCC unroll 2
  for (int i = 0; i < TFX_LEAF; i += LANES) {
    const C a = VOP (c_load) (x + i, x + TFX_LEAF + i);
    const C b = VOP (c_load) (h + i, h + TFX_LEAF + i);
    C y = VOP (c_load) (known + i, known + TFX_LEAF + i);

    y.re = VOP (fma) (a.re, b.re, y.re);
    y.im = VOP (fma) (a.re, b.im, y.im);
    y.re = VOP (fnma) (a.im, b.im, y.re);
    y.im = VOP (fma) (a.im, b.re, y.im);
    VOP (c_store) (out + i, out + TFX_LEAF + i, y);
  }
}

/* That of each term. */
INLINE void
OP (tile_products) (T *out, const T *known, const TfxTileSum *sum, size_t leaf)
{
  const size_t last = sum->n[0] + sum->n[1] - 1;

  for (size_t i = 0; i < sum->n_terms; i++) {
    const TfxTileTerm *term = &sum->terms[i];
    TERM (x, sum, term, leaf);

    OP (tile_product)
    (out, i == 0 ? known : out, OP (tile_at) (x, sum->n, last),
        (const T *)term->h + leaf * sum->h_stride + last * TFX_TILE);
  }
}

/* The sums of n_leaves leaves from `first` on to tiles that follow each other. */
static void
OP (sums) (void *tiles, const TfxTileSum *sum, size_t first, size_t n_leaves)
{
  T *out = tiles, *ahead = sum->ahead;

  ahead += ahead ? first * TFX_TILE : 0;
  for (size_t leaf = first; leaf < first + n_leaves; leaf++, out += TFX_TILE) {
    const unsigned n_sums = tfx_tile_sums (sum, leaf);

    if (n_sums == 0)
      OP (tile_products) (out, ahead, sum, leaf);
    else if (n_sums == 1)
      OP (tile_sums) (out, NULL, sum, leaf, 1);
    else
      OP (tile_sums) (out, ahead, sum, leaf, 2);
    ahead += ahead ? TFX_TILE : 0;
  }
}

#undef STEP
#undef TERM
#undef HAS_TWO_CHAINS
#undef SUM_TILES

/* ---- passes of a transform: polynomials to their remainders and back -------- */

INLINE void
OP (split) (T *re, T *im, const T *from_re, const T *from_im, const T *factors,
    size_t n_blocks, size_t m, size_t n_columns, const int radix)
{
  for (; n_blocks > 0; n_blocks--, factors += 2 * (radix - 1)) {
    C f[4], x[4];

#pragma GCC unroll 4
    for (int k = 1; k < radix; k++)
      f[k] = VOP (c_factor) (factors, (size_t)k - 1);
    for (size_t n = 0; n < n_columns; n += LANES) {
#pragma GCC unroll 4
      for (int k = 0; k < radix; k++) {
        const size_t at = (size_t)k * m + n;
        x[k] = VOP (c_loadu) (from_re + at, from_im + at);
        if (k > 0)
          x[k] = VOP (c_mul) (x[k], f[k]);
      }
      VOP (points) (x, radix);
#pragma GCC unroll 4
      for (int k = 0; k < radix; k++)
        VOP (c_store) (re + (size_t)k * m + n, im + (size_t)k * m + n, x[k]);
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
      f[k] = VOP (c_factor) (factors, (size_t)k - 1);
    for (size_t n = 0; n < n_columns; n += LANES) {
#pragma GCC unroll 4
      for (int k = 0; k < radix; k++)
        x[k] = VOP (c_load) (re + (size_t)k * m + n, im + (size_t)k * m + n);
      VOP (points) (x, radix);
      VOP (c_store) (re + n, im + n, x[0]);
#pragma GCC unroll 4
      for (int k = 1; k < radix; k++)
        VOP (c_store)
      (re + (size_t)k * m + n, im + (size_t)k * m + n,
          VOP (c_mul_conj) (x[radix - k], f[k]));
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

#endif

/* ---- groups of leaves ---------------------------------------------------------
 *
 * One more pass of radix 4 makes a group N polynomials of 8 coefficients.
 * After transposition each has one lane of eight vectors.  There it is weighted,
 * which makes its product a cyclic convolution, and transformed along with the
 * others.  The tiles of a group hold value k of lane i at number k N + i of all
 * real, and all imaginary parts. */
#define N_LEAVES (N / 4)
/* vectors of a group, and rows of N in one half of a tile */
#define N_VECTORS (8 * N / L)
#define ROWS (TFX_LEAF / N)

typedef struct
{
  V re[N_VECTORS], im[N_VECTORS];
} VOP (Group);

/* ---- the leaves' pass of radix 4 ---------------------------------------------------- */

/* Number k of the six real numbers that are the factors of a leaf; of two
 * leaves, where a vector holds parts of both. */
INLINE V
VOP (factor) (const T *factors, int k)
{
#if L == 16
  const T a = factors[k], b = factors[6 + k];
  return (V){ a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b };
#else
  return factors[k] - (V){ 0 };
#endif
}

/* Splits a leaf, or joins it.  Its quarters are the vectors at, at + step, at +
 * 2 step and at + 3 step of the group. */
INLINE void
VOP (pass_leaf) (VOP (Group) * g, const int at, const int step, const T *f,
    const bool is_back)
{
  C x[4];

#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    x[k] = (C){ g->re[at + k * step], g->im[at + k * step] };
    if (k > 0 && !is_back)
      x[k] = VOP (c_mul) (x[k],
          (C){ VOP (factor) (f, 2 * k - 2), VOP (factor) (f, 2 * k - 1) });
  }
  VOP (points) (x, 4);
#pragma GCC unroll 4
  for (int k = 0; k < 4; k++) {
    C y = is_back ? x[(4 - k) % 4] : x[k];

    if (k > 0 && is_back)
      y = VOP (c_mul_conj) (y,
          (C){ VOP (factor) (f, 2 * k - 2), VOP (factor) (f, 2 * k - 1) });
    g->re[at + k * step] = y.re;
    g->im[at + k * step] = y.im;
  }
}

#if L == 16
INLINE void
VOP (join_halves) (V a, V b, V *low, V *high)
{
  *low = __builtin_shufflevector (a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19,
      20, 21, 22, 23);
  *high = __builtin_shufflevector (a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25,
      26, 27, 28, 29, 30, 31);
}

/* Two leaves of two vectors each, quarters 0 1 and 2 3, to vectors of the same
 * quarter of both; or back. */
INLINE void
VOP (swap_halves) (V *x, const bool is_back)
{
  const int near = is_back ? 1 : 2, far = 3 - near;
  const V a = x[0], b = x[near], c = x[far], d = x[3];

  VOP (join_halves) (a, b, &x[0], &x[far]);
  VOP (join_halves) (c, d, &x[near], &x[3]);
}

INLINE void
VOP (swap_group) (VOP (Group) * g, const bool is_back)
{
  VOP (swap_halves) (g->re, is_back), VOP (swap_halves) (g->re + 4, is_back);
  VOP (swap_halves) (g->im, is_back), VOP (swap_halves) (g->im + 4, is_back);
}
#endif

/* All of a group. */
INLINE void
VOP (pass_leaves) (VOP (Group) * g, const T *factors, const bool is_back)
{
#if N == 4
#pragma GCC unroll 4
  for (int i = 0; i < 8 / L; i++)
    VOP (pass_leaf) (g, i, 8 / L, factors, is_back);
#else
#if L == 16
  if (!is_back)
    VOP (swap_group) (g, false);
#endif
  VOP (pass_leaf) (g, 0, 1, factors, is_back);
  VOP (pass_leaf) (g, 4, 1, factors + 6 * N_LEAVES / 2, is_back);
#if L == 16
  if (is_back)
    VOP (swap_group) (g, true);
#endif
#endif
}

/* ---- groups ------------------------------------------------------------------- */

/* Number k of the weights of the lanes from number `first` on. */
INLINE C
VOP (weight) (const T *w, int k, size_t first)
{
  return VOP (c_load) (w + 2 * k * N + first, w + 2 * k * N + N + first);
}

/* Those lanes, in the vectors at re and im: weighed, and transformed, to the
 * tiles. */
INLINE void
VOP (lanes_forward) (T *tiles, size_t stride, V *re, V *im, const T *w,
    size_t first)
{
  VOP (to_columns) (re);
  VOP (to_columns) (im);
#pragma GCC unroll 8
  for (int k = 1; k < 8; k++) {
    const C x = VOP (c_mul) ((C){ re[k], im[k] }, VOP (weight) (w, k, first));

    re[k] = x.re, im[k] = x.im;
  }
  VOP (transform8) (re, im);
#pragma GCC unroll 8
  for (int k = 0; k < 8; k++) {
    T *tile = tiles + (size_t)(k / ROWS) * stride + k % ROWS * N + first;

    VOP (c_store) (tile, tile + TFX_LEAF, (C){ re[k], im[k] });
  }
}

/* Back from the tiles of leaves that are `stride` values apart, or from their products
 * with those at h. */
INLINE void
VOP (lanes_back) (V *re, V *im, const T *tiles, size_t stride, const T *h,
    size_t h_stride, const bool is_product, const T *w, size_t first)
{
#pragma GCC unroll 8
  for (int k = 0; k < 8; k++) {
    const T *tile =
        tiles + (size_t)(k / ROWS) * stride + (size_t)(k % ROWS * N) + first;

    re[k] = VOP (load) (tile), im[k] = VOP (load) (tile + TFX_LEAF);
  }
  if (is_product) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
      const T *tile =
          h + (size_t)(k / ROWS) * h_stride + (size_t)(k % ROWS * N) + first;
      const C x = VOP (
          c_mul) ((C){ re[k], im[k] }, VOP (c_load) (tile, tile + TFX_LEAF));

      re[k] = x.re, im[k] = x.im;
    }
  }
  VOP (transform8) (im, re);
#pragma GCC unroll 8
  for (int k = 1; k < 8; k++) {
    const C x =
        VOP (c_mul_conj) ((C){ re[k], im[k] }, VOP (weight) (w, k, first));

    re[k] = x.re, im[k] = x.im;
  }
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
    VOP (pass_leaves) (&g, w, false);
#pragma GCC unroll 2
    for (int k = 0; k < N_VECTORS; k += 8)
      VOP (lanes_forward)
    (tiles, stride, g.re + k, g.im + k, w, (size_t)(k / 8 * L));
    tiles += N_LEAVES * stride;
    re += 8 * N, im += 8 * N, w += 16 * N;
  }
}

INLINE void
VOP (groups_back) (T *re, T *im, const T *tiles, size_t stride, const T *h,
    size_t h_stride, const bool is_product, const T *w, size_t n_leaves)
{
  for (; n_leaves > 0; n_leaves -= N_LEAVES) {
    VOP (Group) g;

    /* Keeps the compiler from holding multiples of them in registers. */
    __asm__("" : "+r"(stride), "+r"(h_stride));
#pragma GCC unroll 2
    for (int k = 0; k < N_VECTORS; k += 8)
      VOP (lanes_back)
    (g.re + k, g.im + k, tiles, stride, h, h_stride, is_product, w,
        (size_t)(k / 8 * L));
    VOP (pass_leaves) (&g, w, true);
#pragma GCC unroll 16
    for (int k = 0; k < N_VECTORS; k++)
      VOP (c_store) (re + k * L, im + k * L, (C){ g.re[k], g.im[k] });
    tiles += N_LEAVES * stride;
    if (is_product)
      h += N_LEAVES * h_stride;
    re += 8 * N, im += 8 * N, w += 16 * N;
  }
}

static void
VOP (leaves_back) (void *re, void *im, const void *tiles, size_t stride,
    const void *h, size_t h_stride, const void *w, size_t n_leaves)
{
  if (h)
    VOP (groups_back) (re, im, tiles, stride, h, h_stride, true, w, n_leaves);
  else
    VOP (groups_back) (re, im, tiles, stride, NULL, 0, false, w, n_leaves);
}

#undef C
#undef V
#undef N_LEAVES
#undef N_VECTORS
#undef ROWS
#undef N
#undef L
#undef VOP
