/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops_tmpl.c: the innermost loops for one instruction set and one
 * sample type.  Included by convolver-ops-<isa>.c with
 *
 *   T      float or double
 *   V      vector type of LANES values
 *   v(op)  operation on V
 *   OP(f)  the name of function f
 *   WIDE   1 if sums of products need more than T: T is float
 *   IS_FUSED  1 if v(fma) rounds once */

#define INLINE static inline __attribute__ ((always_inline))

/* ---- direct form ---------------------------------------------------------
 *
 * Samples are lanes, a tap is broadcast.  A tile of TILE vectors of outputs is
 * kept in registers; taps are taken in blocks of GROUPS * LANES.  In phase f
 * the taps f, f + LANES, f + 2 LANES ... of the block need vectors of input
 * that are LANES apart, so that one (unaligned) load feeds GROUPS products.
 *
 * Floats: a sum of CHAIN products at most is taken in float; its error is
 * about -140 dB.  These sums are added up in double. */

#define GROUPS 4
#define BLOCK (GROUPS * LANES)
/* How many sums a block is spread over, and how many blocks one sum takes. */
#define CHAIN (IS_FUSED ? 32 : 16)
#define N_SUMS (WIDE && BLOCK > CHAIN ? BLOCK / CHAIN : 1)
#define SUM_BLOCKS (WIDE && BLOCK < CHAIN ? CHAIN / BLOCK : 1)

/* Phase `phase` of a block of n_groups groups for n_vectors vectors:
 * sums[n % N_SUMS][i] += h[phase + n LANES] x[i LANES - phase - n LANES]. */
INLINE void
OP (direct_phase) (V sums[N_SUMS][8], const T *x, const T *h, size_t phase,
    const int n_groups, const int n_vectors)
{
  V tap[GROUPS];

#pragma GCC unroll 4
  for (int n = 0; n < n_groups; n++)
    tap[n] = v (set1) (h[phase + (size_t)n * LANES]);
#pragma GCC unroll 16
  for (int k = 1 - n_groups; k < n_vectors; k++) {
    V input = v (keep) (v (loadu) (x + k * LANES - (ptrdiff_t)phase));
#pragma GCC unroll 4
    for (int n = 0; n < n_groups; n++) {
      if (k + n >= 0 && k + n < n_vectors)
        sums[n % N_SUMS][k + n] =
            v (fma) (tap[n], input, sums[n % N_SUMS][k + n]);
    }
  }
}

INLINE void
OP (direct_clear) (V sums[N_SUMS][8], const int n_vectors)
{
#pragma GCC unroll 2
  for (int n = 0; n < N_SUMS; n++) {
#pragma GCC unroll 8
    for (int i = 0; i < n_vectors; i++)
      sums[n][i] = v (set1) (0);
  }
}

#if WIDE
INLINE void
OP (direct_add_wide) (double *wide, V sums[N_SUMS][8], const int n_vectors)
{
#pragma GCC unroll 8
  for (int i = 0; i < n_vectors; i++) {
    V sum = sums[0][i];
    if (N_SUMS == 2)
      sum = v (add) (sum, sums[N_SUMS - 1][i]);
    v (add_wide) (wide + i * LANES, sum);
  }
}
#endif

/* The taps that do not fill a block: n_taps < BLOCK. */
INLINE void
OP (direct_rest) (V sums[N_SUMS][8], const T *x, const T *h, size_t n_taps,
    const int n_vectors)
{
  const size_t n_full = n_taps / LANES, n_more = n_taps % LANES;

#pragma GCC unroll 4
  for (size_t full = 0; full < GROUPS; full++) {
    if (n_full != full)
      continue;
    for (size_t phase = 0; phase < n_more; phase++)
      OP (direct_phase) (sums, x, h, phase, (int)full + 1, n_vectors);
    for (size_t phase = n_more; full > 0 && phase < LANES; phase++)
      OP (direct_phase) (sums, x, h, phase, (int)full, n_vectors);
  }
}

/* n_vectors vectors of outputs. */
INLINE void
OP (direct_tile) (T *y, const T *x, const T *h, size_t n_taps,
    const int n_vectors)
{
  V sums[N_SUMS][8];
  size_t k = 0;
#if WIDE
  double wide[8 * LANES] __attribute__ ((aligned (64)));

  memset (wide, 0, sizeof (double) * (size_t)n_vectors * LANES);
#endif
  OP (direct_clear) (sums, n_vectors);
  for (size_t n_blocks = 1; k + BLOCK <= n_taps; k += BLOCK, n_blocks++) {
    for (size_t phase = 0; phase < LANES; phase++)
      OP (direct_phase) (sums, x - k, h + k, phase, GROUPS, n_vectors);
#if WIDE
    if (n_blocks % SUM_BLOCKS == 0) {
      OP (direct_add_wide) (wide, sums, n_vectors);
      OP (direct_clear) (sums, n_vectors);
    }
#endif
  }
  OP (direct_rest) (sums, x - k, h + k, n_taps - k, n_vectors);
#if WIDE
  OP (direct_add_wide) (wide, sums, n_vectors);
  for (int i = 0; i < n_vectors; i++)
    v (storeu) (y + i * LANES, v (narrow) (wide + i * LANES));
#else
#pragma GCC unroll 8
  for (int i = 0; i < n_vectors; i++)
    v (storeu) (y + i * LANES, sums[0][i]);
#endif
}

static void
OP (direct) (void *y_out, const void *x_in, const void *taps, size_t n_taps,
    size_t n_frames)
{
  const T *x = x_in;
  T *y = y_out;
  size_t n = 0;

  for (; n + 8 * LANES <= n_frames; n += 8 * LANES)
    OP (direct_tile) (y + n, x + n, taps, n_taps, 8);
  for (; n + 4 * LANES <= n_frames; n += 4 * LANES)
    OP (direct_tile) (y + n, x + n, taps, n_taps, 4);
  for (; n + LANES < n_frames; n += 2 * LANES)
    OP (direct_tile) (y + n, x + n, taps, n_taps, 2);
  for (; n < n_frames; n += LANES)
    OP (direct_tile) (y + n, x + n, taps, n_taps, 1);
}

/* ---- passes ---------------------------------------------------------------
 *
 * See convolver-fft.c for the equations. */

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

/* re im re im ... at p, and back */
INLINE C
OP (c_load_pairs) (const T *p)
{
  C a;

  v (unzip) (v (load) (p), v (load) (p + LANES), &a.re, &a.im);
  return a;
}

INLINE void
OP (c_store_pairs) (T *p, C a)
{
  V low, high;

  v (zip) (a.re, a.im, &low, &high);
  v (store) (p, low);
  v (store) (p + LANES, high);
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

static void
OP (split2) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;

  for (; n_blocks > 0; n_blocks--, f += 2) {
    const C f1 = OP (c_factor) (f, 0);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_load) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_load) (sr + m + n, si + m + n), f1);
      OP (c_store) (re + n, im + n, OP (c_add) (a, b));
      OP (c_store) (re + m + n, im + m + n, OP (c_sub) (a, b));
    }
    re += 2 * m, im += 2 * m, sr += 2 * m, si += 2 * m;
  }
}

static void
OP (join2) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;

  for (; n_blocks > 0; n_blocks--, f += 2, re += 2 * m, im += 2 * m) {
    const C f1 = OP (c_factor) (f, 0);
    for (size_t n = 0; n < m; n += LANES) {
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
    const void *factors, size_t n_blocks, size_t m)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;
  const V half = v (set1) ((T)0.5), root = v (set1) (HALF_SQRT3);

  for (; n_blocks > 0; n_blocks--, f += 4) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_load) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_load) (sr + m + n, si + m + n), f1);
      C c = OP (c_mul) (OP (c_load) (sr + 2 * m + n, si + 2 * m + n), f2);
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
    size_t m)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;
  const V half = v (set1) ((T)0.5), root = v (set1) (HALF_SQRT3);

  for (; n_blocks > 0; n_blocks--, f += 4, re += 3 * m, im += 3 * m) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    for (size_t n = 0; n < m; n += LANES) {
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
    const void *factors, size_t n_blocks, size_t m)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;

  for (; n_blocks > 0; n_blocks--, f += 6) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    const C f3 = OP (c_factor) (f, 2);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_load) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_load) (sr + m + n, si + m + n), f1);
      C c = OP (c_mul) (OP (c_load) (sr + 2 * m + n, si + 2 * m + n), f2);
      C d = OP (c_mul) (OP (c_load) (sr + 3 * m + n, si + 3 * m + n), f3);
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
    size_t m)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;

  for (; n_blocks > 0; n_blocks--, f += 6, re += 4 * m, im += 4 * m) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    const C f3 = OP (c_factor) (f, 2);
    for (size_t n = 0; n < m; n += LANES) {
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

/* ---- leaves ---------------------------------------------------------------
 *
 * Leaves are taken in batches: the library writes in pieces of 32 bytes, and a
 * load of 64 that follows at once would have to wait for them to leave the
 * store buffer. */

/* `in` times the weights, to re im re im ... */
INLINE void
OP (leaf_weigh) (T *out, const T *re, const T *im, const T *w)
{
#pragma GCC unroll 2
  for (size_t n = 0; n < TFX_LEAF; n += LANES) {
    C a = OP (c_mul) (OP (c_load) (re + n, im + n),
        OP (c_load) (w + n, w + TFX_LEAF + n));
    OP (c_store_pairs) (out + 2 * n, a);
  }
}

INLINE void
OP (leaf_to_tile) (T *tile, const T *in)
{
#pragma GCC unroll 2
  for (size_t n = 0; n < TFX_LEAF; n += LANES) {
    OP (c_store)
    (tile + n, tile + TFX_LEAF + n, OP (c_load_pairs) (in + 2 * n));
  }
}

/* `in` times the conjugate weights */
INLINE void
OP (leaf_unweigh) (T *re, T *im, const T *in, const T *w)
{
#pragma GCC unroll 2
  for (size_t n = 0; n < TFX_LEAF; n += LANES) {
    C a = OP (c_mul_conj) (OP (c_load_pairs) (in + 2 * n),
        OP (c_load) (w + n, w + TFX_LEAF + n));
    OP (c_store) (re + n, im + n, a);
  }
}

INLINE void
OP (leaf_transform) (const TfxLeafPlan *plan, size_t n_leaves)
{
  T *in = plan->in, *out = plan->out;

  for (; n_leaves > 0; n_leaves--, in += TFX_TILE, out += TFX_TILE)
    plan->transform (plan->context, out, in, 2 * sizeof (T));
}

static void
OP (leaves_forward) (void *tiles_out, size_t stride, const void *re_in,
    const void *im_in, const void *weights, size_t n_leaves,
    const TfxLeafPlan *plan)
{
  const T *re = re_in, *im = im_in, *w = weights;
  T *tiles = tiles_out, *in = plan->in, *out = plan->out;

  while (n_leaves > 0) {
    const size_t n = n_leaves < TFX_LEAF_BATCH ? n_leaves : TFX_LEAF_BATCH;

    for (size_t i = 0; i < n; i++)
      OP (leaf_weigh)
    (in + i * TFX_TILE, re + i * TFX_LEAF, im + i * TFX_LEAF, w + i * TFX_TILE);
    OP (leaf_transform) (plan, n);
    for (size_t i = 0; i < n; i++)
      OP (leaf_to_tile) (tiles + i * stride, out + i * TFX_TILE);
    tiles += n * stride;
    re += n * TFX_LEAF, im += n * TFX_LEAF, w += n * TFX_TILE;
    n_leaves -= n;
  }
}

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

/* out[32][2] = the sum of products of one leaf; x and h point to its tiles. */
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
      OP (c_store_pairs) (out + 2 * (at + (size_t)i * LANES), total[i]);
  }
}

/* The sum of leaf number `leaf`. */
INLINE void
OP (leaf_sum) (T *out, const TfxTileSum *sum, size_t leaf)
{
  const T *const x[2] = { (const T *)sum->x[0] + leaf * sum->x_stride,
    (const T *)sum->x[1] + leaf * sum->x_stride };
  const T *const h[2] = { (const T *)sum->h[0] + leaf * sum->h_stride,
    (const T *)sum->h[1] + leaf * sum->h_stride };

  OP (tile_sum) (out, x, h, sum->n);
}

static void
OP (leaves_back) (void *re_out, void *im_out, const TfxTileSum *sum,
    const void *weights, size_t n_leaves, const TfxLeafPlan *plan)
{
  const T *w = weights;
  T *re = re_out, *im = im_out, *in = plan->in, *out = plan->out;

  for (size_t leaf = 0; leaf < n_leaves;) {
    const size_t left = n_leaves - leaf;
    const size_t n = left < TFX_LEAF_BATCH ? left : TFX_LEAF_BATCH;

    for (size_t i = 0; i < n; i++)
      OP (leaf_sum) (in + i * TFX_TILE, sum, leaf + i);
    OP (leaf_transform) (plan, n);
    for (size_t i = 0; i < n; i++)
      OP (leaf_unweigh)
    (re + i * TFX_LEAF, im + i * TFX_LEAF, out + i * TFX_TILE,
        w + i * TFX_TILE);
    re += n * TFX_LEAF, im += n * TFX_LEAF, w += n * TFX_TILE;
    leaf += n;
  }
}

/* ---- the rest -------------------------------------------------------------- */

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

/* n_channels vectors, a power of two, of interleaved values become one of each
 * channel: the even vector halves are separated log2 (n_channels) times. */
INLINE void
OP (unzip_all) (V *x, const unsigned n_channels)
{
  V y[8];

#pragma GCC unroll 3
  for (unsigned step = 1; step < n_channels; step *= 2) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < n_channels / 2; i++)
      v (unzip) (x[2 * i], x[2 * i + 1], &y[i], &y[n_channels / 2 + i]);
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_channels; i++)
      x[i] = y[i];
  }
}

INLINE void
OP (zip_all) (V *x, const unsigned n_channels)
{
  V y[8];

#pragma GCC unroll 3
  for (unsigned step = 1; step < n_channels; step *= 2) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < n_channels / 2; i++)
      v (zip) (x[i], x[n_channels / 2 + i], &y[2 * i], &y[2 * i + 1]);
#pragma GCC unroll 8
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
 * NaN, is a NaN, which stays in the sum. */
#define SCALE (sizeof (T) == 4 ? (T)0x1p28 : (T)0x1p24)

static bool
OP (is_sound) (const void *x_in, size_t n)
{
  const T *x = x_in;
  V sums = v (set1) (0);
  T lanes[LANES], sum = 0;
  size_t i = 0;

  for (; i + LANES <= n; i += LANES)
    sums = v (fma) (v (mul) (v (loadu) (x + i), v (set1) (SCALE)), v (set1) (0),
        sums);
  v (storeu) (lanes, sums);
  for (size_t k = 0; k < LANES; k++)
    sum += lanes[k];
  for (; i < n; i++)
    sum += x[i] * SCALE * 0;
  return sum == 0;
}

#undef C
#undef INLINE
#undef GROUPS
#undef BLOCK
#undef CHAIN
#undef N_SUMS
#undef SUM_BLOCKS
#undef HALF_SQRT3
#undef STEP
#undef N_CHAINS
#undef SUM_TILES
#undef SCALE
