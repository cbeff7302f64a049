/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-leaves_tmpl.c: leaves, their transforms and sums of products; see
 * convolver-ops_tmpl.c. */

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

#undef STEP
#undef N_CHAINS
#undef SUM_TILES

#define N 4
#define L (LANES < 4 ? 2 : 4)
#define VOP(name) OP (name##_x4)
#include "convolver-group_tmpl.c"
#if VF_LANES >= 8
#define N 8
#define L 8
#define VOP(name) OP (name##_x8)
#include "convolver-group_tmpl.c"
#endif
#if VF_LANES == 16
#define N 16
#define L 16
#define VOP(name) OP (name##_x16)
#include "convolver-group_tmpl.c"
#endif
