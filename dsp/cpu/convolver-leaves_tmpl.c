/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-leaves_tmpl.c: leaves, their transforms and sums of products; see
 * convolver-ops_tmpl.c.
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

#undef STEP
#undef N_CHAINS
#undef SUM_TILES
