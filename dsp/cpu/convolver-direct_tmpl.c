/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-direct_tmpl.c: the direct form; see convolver-kernels_tmpl.c.
 *
 * Samples are lanes, a tap is broadcast.  A tile of up to MOST vectors of
 * outputs is kept in registers; taps are taken in blocks of GROUPS * LANES.  In phase f
 * the taps f, f + LANES, f + 2 LANES ... of the block need vectors of input
 * that are LANES apart, so that one (unaligned) load feeds GROUPS products.
 *
 * Floats: a sum of CHAIN products at most is taken in float; its error is
 * about -141 dB.  These sums are added up in double; those of a single block are at once
 * the output. */

#define GROUPS 4
#define BLOCK (GROUPS * LANES)
/* How many sums a block is spread over, and how many blocks one sum takes. */
#define CHAIN 16
#define N_SUMS (WIDE && BLOCK > CHAIN ? BLOCK / CHAIN : 1)
#define SUM_BLOCKS (WIDE && BLOCK < CHAIN ? CHAIN / BLOCK : 1)
/* Sums, taps and input are to fit into 16 registers, or 32. */
#define MOST (N_SUMS == 4 ? 6 : N_SUMS == 2 ? 4 : 8)

/* Phase `phase` of a block of n_groups groups for n_vectors vectors:
 * sums[n % N_SUMS][i] += h[phase + n LANES] x[i LANES - phase - n LANES]. */
INLINE void
OP (direct_phase) (V sums[N_SUMS][MOST], const T *x, const T *h, size_t phase,
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
OP (direct_clear) (V sums[N_SUMS][MOST], const int n_vectors)
{
#pragma GCC unroll 4
  for (int n = 0; n < N_SUMS; n++) {
#pragma GCC unroll 8
    for (int i = 0; i < n_vectors; i++)
      sums[n][i] = v (set1) (0);
  }
}

/* The sums of vector i of a tile as one. */
INLINE V
OP (direct_total) (V sums[N_SUMS][MOST], int i)
{
  V sum = sums[0][i];

  if (N_SUMS >= 2)
    sum = v (add) (sum, sums[1 % N_SUMS][i]);
  if (N_SUMS == 4)
    sum = v (add) (sum, v (add) (sums[2 % N_SUMS][i], sums[3 % N_SUMS][i]));
  return sum;
}

#if WIDE
INLINE void
OP (direct_add_wide) (double *wide, V sums[N_SUMS][MOST], const int n_vectors)
{
#pragma GCC unroll 8
  for (int i = 0; i < n_vectors; i++)
    v (add_wide) (wide + i * LANES, OP (direct_total) (sums, i));
}
#endif

/* The taps that do not fill a block: n_taps < BLOCK. */
INLINE void
OP (direct_rest) (V sums[N_SUMS][MOST], const T *x, const T *h, size_t n_taps,
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

/* n_vectors vectors of outputs; is_wide: there are whole blocks, and sums of them
 * are added up in double. */
INLINE void
OP (direct_tile) (T *y, const T *x, const T *h, size_t n_taps,
    const int n_vectors, const bool is_wide)
{
  V sums[N_SUMS][MOST];
  size_t k = 0;
#if WIDE
  double wide[MOST * LANES] __attribute__ ((aligned (64)));

  if (is_wide)
    memset (wide, 0, sizeof (double) * (size_t)n_vectors * LANES);
#endif
  OP (direct_clear) (sums, n_vectors);
  for (size_t n_blocks = 1; (is_wide || !WIDE) && k + BLOCK <= n_taps;
       k += BLOCK, n_blocks++) {
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
  if (is_wide) {
    OP (direct_add_wide) (wide, sums, n_vectors);
    for (int i = 0; i < n_vectors; i++)
      v (storeu) (y + i * LANES, v (narrow) (wide + i * LANES));
    return;
  }
#endif
#pragma GCC unroll 8
  for (int i = 0; i < n_vectors; i++)
    v (storeu) (y + i * LANES, OP (direct_total) (sums, i));
}

INLINE void
OP (direct_tiles) (T *y, const T *x, const T *h, size_t n_taps, size_t n_frames,
    const bool is_wide)
{
  size_t n = 0;

  for (; n + MOST * LANES <= n_frames; n += MOST * LANES)
    OP (direct_tile) (y + n, x + n, h, n_taps, MOST, is_wide);
  for (; n + 4 * LANES <= n_frames; n += 4 * LANES)
    OP (direct_tile) (y + n, x + n, h, n_taps, 4, is_wide);
  for (; n + LANES < n_frames; n += 2 * LANES)
    OP (direct_tile) (y + n, x + n, h, n_taps, 2, is_wide);
  for (; n < n_frames; n += LANES)
    OP (direct_tile) (y + n, x + n, h, n_taps, 1, is_wide);
}

/* Up to MOST_SHORT taps, whose sum needs no doubles: chains of three products,
 * about -145 dB in float, added up as a tree.  Wide vectors of doubles have enough
 * to do with fewer taps. */
#define MOST_SHORT (WIDE || LANES == 2 ? TFX_CONVOLVER_SHORT : 8)

INLINE void
OP (direct_short) (T *y, const T *x, const T *h, size_t n_frames,
    const int n_taps)
{
  V taps[12];

#pragma GCC unroll 12
  for (int k = 0; k < n_taps; k++)
    taps[k] = v (set1) (h[k]);
  for (size_t n = 0; n < n_frames; n += LANES) {
    V sums[4];

#pragma GCC unroll 12
    for (int k = 0; k < n_taps; k++) {
      const V input = v (loadu) (x + n - k);
      V *sum = &sums[k / 3];
      *sum = k % 3 == 0 ? v (mul) (taps[k], input)
                        : v (fma) (taps[k], input, *sum);
    }
    if (n_taps > 9)
      sums[2] = v (add) (sums[2], sums[3]);
    if (n_taps > 3)
      sums[0] = v (add) (sums[0], sums[1]);
    if (n_taps > 6)
      sums[0] = v (add) (sums[0], sums[2]);
    v (storeu) (y + n, sums[0]);
  }
}

static void
OP (direct) (void *y_out, const void *x_in, const void *taps, size_t n_taps,
    size_t n_frames)
{
  const T *x = x_in;
  T *y = y_out;

#define SHORT(k)                                                               \
  case k:                                                                      \
    OP (direct_short) (y, x, taps, n_frames, k);                               \
    return;
  switch (n_taps <= MOST_SHORT ? n_taps : 0) {
    /* clang-format off */
    SHORT (1) SHORT (2) SHORT (3) SHORT (4) SHORT (5) SHORT (6)
    SHORT (7) SHORT (8) SHORT (9) SHORT (10) SHORT (11) SHORT (12)
    /* clang-format on */
  }
#undef SHORT
  if (WIDE && n_taps >= BLOCK)
    OP (direct_tiles) (y, x, taps, n_taps, n_frames, true);
  else
    OP (direct_tiles) (y, x, taps, n_taps, n_frames, false);
}

#undef GROUPS
#undef BLOCK
#undef CHAIN
#undef N_SUMS
#undef SUM_BLOCKS
#undef MOST
#undef MOST_SHORT
