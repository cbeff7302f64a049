/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-direct_tmpl.c: the direct form, and what is done to samples besides.
 * Included by convolver-kernels.c for each sample type with T, OP, LANES and WIDE as
 * convolver-transform_tmpl.c has them; L, VOP those of the widest vectors.
 *
 * Samples are lanes, a tap is broadcast.  A tile of up to MOST vectors of
 * outputs is kept in registers; taps are taken in blocks of GROUPS * LANES.  In phase f
 * the taps f, f + LANES, f + 2 LANES ... of the block need vectors of input
 * that are LANES apart, so that one (unaligned) load feeds GROUPS products.
 *
 * Floats: chains of at most CHAIN products are added to a sum with compensation (Kahan,
 * Dekker), by adders that the products leave idle.  In a chain of four fused products the
 * first is rounded four times, and the output once; without fused products the same holds
 * for three.  The largest tap is added last, so that it is rounded twice.  Total error:
 * -145 dB. */

#define V VOP (V)

#if WIDE && HAS_32_REGISTERS
#define CHAIN 4
#define GROUPS 4
#define MOST 8
#elif WIDE
#define CHAIN (HAS_FMA ? 4 : 3)
#define GROUPS CHAIN
#define MOST 4
#else
#define CHAIN 4
#define GROUPS 4
#define MOST 8
#endif
/* A chain begins with what the one before the last left: an addition less, for more
 * registers. */
#define IS_CARRIED (MOST == 8)
#define BLOCK (GROUPS * LANES)

/* Outputs of a tile. */
typedef struct
{
  V sums[MOST];
#if WIDE
  V rests[1 + IS_CARRIED][MOST], chains[MOST];
#endif
} OP (Tile);

#if WIDE
/* Chain i into sum i.  The sum is mostly the larger one; where it is not, what is lost
 * is a rounding of the chain. */
INLINE void
OP (direct_flush) (OP (Tile) * t, const int turn, int i)
{
  const V sum = t->sums[i] + t->chains[i];
  const V rest = t->chains[i] - (sum - t->sums[i]);

  if (IS_CARRIED)
    t->rests[turn][i] = rest;
  else
    t->rests[turn][i] += rest;
  t->sums[i] = sum;
}
#endif

#if WIDE
/* The largest tap, and where its input begins. */
typedef struct
{
  V tap;
  const T *x;
} OP (Largest);

INLINE
OP (Largest) OP (direct_largest) (const T *x, const T *h, size_t n_taps)
{
  return (OP (Largest)){ VOP (set1) (h[n_taps]), x - (size_t)h[n_taps + 1] };
}

/* A sum, with what was rounded off of it and the largest tap's product with frame n. */
INLINE V
OP (direct_last) (V sum, V rest, const OP (Largest) * l, size_t n)
{
  return sum + VOP (fma) (l->tap, VOP (loadu) (l->x + n), rest);
}
#endif

/* n_phases phases from `phase` on of a block of n_groups groups for n_vectors vectors:
 * sums[i] += h[phase + n LANES] x[i LANES - phase - n LANES], of all phases one chain. */
INLINE void
OP (direct_chain) (OP (Tile) * t, const int turn, const T *x, const T *h,
    size_t phase, const int n_phases, const int n_groups, const int n_vectors)
{
  V taps[CHAIN][GROUPS];

  /* Keeps the compiler from holding the input of one round in registers for a later one. */
  __asm__("" : "+r"(x));
#pragma GCC unroll 6
  for (int p = 0; p < n_phases; p++) {
#pragma GCC unroll 6
    for (int n = 0; n < n_groups; n++)
      taps[p][n] = VOP (set1) (h[phase + (size_t)p + (size_t)n * LANES]);
  }
#pragma GCC unroll 16
  for (int k = 1 - n_groups; k < n_vectors; k++) {
#pragma GCC unroll 6
    for (int p = 0; p < n_phases; p++) {
      const V input =
          VOP (keep) (VOP (loadu) (x + k * LANES - p - (ptrdiff_t)phase));
#pragma GCC unroll 6
      for (int n = 0; n < n_groups; n++) {
        const int i = k + n;
        if (i < 0 || i >= n_vectors)
          continue;
#if WIDE
        if (n < n_groups - 1 || p > 0)
          t->chains[i] = VOP (fma) (taps[p][n], input, t->chains[i]);
        else if (IS_CARRIED)
          t->chains[i] = VOP (fma) (taps[p][n], input, t->rests[turn][i]);
        else
          t->chains[i] = taps[p][n] * input;
#else
        t->sums[i] = VOP (fma) (taps[p][n], input, t->sums[i]);
#endif
      }
    }
#if WIDE
    if (k >= 0)
      OP (direct_flush) (t, turn, k);
#endif
  }
}

/* The phases from `phase` to end of a block of n_groups groups. */
INLINE void
OP (direct_phases) (OP (Tile) * t, const T *x, const T *h, size_t phase,
    size_t end, const int n_groups, const int n_vectors)
{
  const int n = WIDE ? CHAIN / n_groups : 1;
  /* Carried chains come in pairs; in a short loop two take less than one. */
  const bool has_pairs = WIDE || n_vectors <= 2;

  for (; has_pairs && phase + 2 * (size_t)n <= end; phase += 2 * (size_t)n) {
    OP (direct_chain) (t, 0, x, h, phase, n, n_groups, n_vectors);
    OP (direct_chain)
    (t, IS_CARRIED, x, h, phase + (size_t)n, n, n_groups, n_vectors);
  }
  for (; phase < end; phase++)
    OP (direct_chain) (t, 0, x, h, phase, 1, n_groups, n_vectors);
}

/* The taps that do not fill a block, n_taps < BLOCK: their first phases have a group
 * more than the others. */
INLINE void
OP (direct_rest) (OP (Tile) * t, const T *x, const T *h, size_t n_taps,
    const int n_vectors)
{
  const size_t n_full = n_taps / LANES, n_more = n_taps % LANES;

  for (size_t phase = 0, end = n_more; phase < LANES;
       phase = end, end = LANES) {
    const int n_groups = (int)n_full + (end < LANES);

    /* No unrolled loop over n: GCC 12 gave wrong sums in the set `c`. */
    switch (n_groups) {
      case 1:
        OP (direct_phases) (t, x, h, phase, end, 1, n_vectors);
        break;
      case 2:
        OP (direct_phases) (t, x, h, phase, end, 2, n_vectors);
        break;
      case 3:
        OP (direct_phases) (t, x, h, phase, end, 3, n_vectors);
        break;
#if GROUPS > 3
      case 4:
        OP (direct_phases) (t, x, h, phase, end, 4, n_vectors);
        break;
#endif
    }
    if (end == LANES)
      break;
  }
}

/* n_vectors vectors of outputs. */
INLINE void
OP (direct_tile) (T *y, const T *x, const T *h, size_t n_taps,
    const int n_vectors)
{
  OP (Tile) t;
  size_t k = 0;

#pragma GCC unroll 8
  for (int i = 0; i < n_vectors; i++) {
    t.sums[i] = VOP (set1) (0);
#if WIDE
    t.rests[0][i] = VOP (set1) (0);
    t.rests[IS_CARRIED][i] = VOP (set1) (0);
#endif
  }
  for (; k + BLOCK <= n_taps; k += BLOCK)
    OP (direct_phases) (&t, x - k, h + k, 0, LANES, GROUPS, n_vectors);
  if (k < n_taps)
    OP (direct_rest) (&t, x - k, h + k, n_taps - k, n_vectors);
#if WIDE
  const OP (Largest) largest = OP (direct_largest) (x, h, n_taps);
#endif
#pragma GCC unroll 8
  for (int i = 0; i < n_vectors; i++) {
#if WIDE
    if (IS_CARRIED)
      t.rests[0][i] = t.rests[0][i] + t.rests[IS_CARRIED][i];
    t.sums[i] = OP (
        direct_last) (t.sums[i], t.rests[0][i], &largest, (size_t)i * LANES);
#endif
    VOP (storeu) (y + i * LANES, t.sums[i]);
  }
}

/* Tiles of n_vectors from frame `at` on, while `least` frames are left; where they end. */
INLINE size_t
OP (direct_loop) (T *y, const T *x, const T *h, size_t n_taps, size_t at,
    size_t n_frames, const int n_vectors, const size_t least)
{
  for (; at + least <= n_frames; at += (size_t)n_vectors * LANES)
    OP (direct_tile) (y + at, x + at, h, n_taps, n_vectors);
  return at;
}

/* Functions of their own: the compiler is to find registers for one at a time. */
#define TILES(n, least)                                                        \
  static __attribute__ ((noinline)) size_t OP (direct_tiles_##n) (T * y,       \
      const T *x, const T *h, size_t n_taps, size_t at, size_t n_frames)       \
  {                                                                            \
    return OP (direct_loop) (y, x, h, n_taps, at, n_frames, n, least);         \
  }
#if MOST == 8
TILES (8, 7 * LANES + 1)
#endif
TILES (4, 3 * LANES + 1)
TILES (2, LANES + 1)
TILES (1, 1)
#undef TILES

static void
OP (direct_tiles) (T *y, const T *x, const T *h, size_t n_taps, size_t n_frames)
{
  size_t n = 0;

#if MOST == 8
  n = OP (direct_tiles_8) (y, x, h, n_taps, n, n_frames);
#endif
  n = OP (direct_tiles_4) (y, x, h, n_taps, n, n_frames);
  n = OP (direct_tiles_2) (y, x, h, n_taps, n, n_frames);
  OP (direct_tiles_1) (y, x, h, n_taps, n, n_frames);
}

/* Up to MOST_SHORT taps: chains of two products, or of four, which are two of two where
 * there are no fused products; added up as a tree; of floats that have a largest tap, one
 * by one, and what is rounded off of their sum is kept.  Wide vectors of doubles have
 * enough to do with fewer taps. */
#define MOST_SHORT (WIDE || LANES == 2 ? 12 : 8)
#define HAS_LARGEST(n_taps) (WIDE && (n_taps) > PLAIN_F32)

/* Of the first chain of n, and of the others. */
INLINE V
OP (direct_short_sum) (const V *chains, const int n)
{
  V sum = chains[0];

  if (n == 4)
    return (sum + chains[1]) + (chains[2] + chains[3]);
#pragma GCC unroll 4
  for (int i = 1; i < n; i++)
    sum = sum + chains[i];
  return sum;
}

#if WIDE
INLINE V
OP (direct_short_exact) (const V *chains, const int n, const OP (Largest) * l,
    size_t frame)
{
  V sum = chains[0] + chains[1], rest = chains[1] - (sum - chains[0]);

#pragma GCC unroll 4
  for (int i = 2; i < n; i++) {
    const V next = sum + chains[i];

    rest = rest + (chains[i] - (next - sum));
    sum = next;
  }
  return OP (direct_last) (sum, rest, l, frame);
}
#endif

/* n products of taps, one by one where they are fused, else the last two on their own. */
INLINE V
OP (direct_short_chain) (const T *x, const V *taps, const int n)
{
  const int n_first = HAS_FMA || n < 2 ? n : 2;
  V sum = taps[0] * VOP (loadu) (x);

#pragma GCC unroll 4
  for (int k = 1; k < n_first; k++)
    sum = VOP (fma) (taps[k], VOP (loadu) (x - k), sum);
  if (n_first == n)
    return sum;
  V more = taps[2] * VOP (loadu) (x - 2);
  if (n == 4)
    more = VOP (fma) (taps[3], VOP (loadu) (x - 3), more);
  return sum + more;
}

INLINE void
OP (direct_short) (T *y, const T *x, const T *h, size_t n_frames,
    const int n_taps)
{
  const int n_chain = n_taps > 8 ? 4 : 2;
  const int n_chains = (n_taps + n_chain - 1) / n_chain;
  V taps[12];
#if WIDE
  OP (Largest) largest = { 0 };

  if (HAS_LARGEST (n_taps))
    largest = OP (direct_largest) (x, h, (size_t)n_taps);
#endif

#pragma GCC unroll 12
  for (int k = 0; k < n_taps; k++)
    taps[k] = VOP (set1) (h[k]);
  for (size_t n = 0; n < n_frames; n += LANES) {
    V chains[4];

#pragma GCC unroll 4
    for (int i = 0; i < n_chains; i++) {
      const int k = i * n_chain;

      chains[i] = OP (direct_short_chain) (x + n - k, taps + k,
          n_taps - k < n_chain ? n_taps - k : n_chain);
    }
#if WIDE
    if (HAS_LARGEST (n_taps)) {
      VOP (storeu)
      (y + n, OP (direct_short_exact) (chains, n_chains, &largest, n));
      continue;
    }
#endif
    VOP (storeu) (y + n, OP (direct_short_sum) (chains, n_chains));
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
  OP (direct_tiles) (y, x, taps, n_taps, n_frames);
}

/* ---- samples as they come and go ----------------------------------------------- */

static void
OP (add) (void *y_io, const void *a_in, size_t n)
{
  const T *a = a_in;
  T *y = y_io;
  size_t i = 0;

  for (; i + LANES <= n; i += LANES)
    VOP (storeu) (y + i, VOP (loadu) (y + i) + VOP (loadu) (a + i));
  for (; i < n; i++)
    y[i] += a[i];
}

/* x * SCALE is infinite where x is too large; and 0 times that, or times a
 * NaN, is a NaN, which stays in the sum; all others leave it at 0. */
#define SCALE (sizeof (T) == 4 ? (T)0x1p28 : (T)0x1p24)

INLINE V
OP (add_unsound) (V sum, const T *x)
{
  return VOP (fma) (VOP (loadu) (x) * VOP (set1) (SCALE), VOP (set1) (0), sum);
}

static bool
OP (is_sound) (const void *x_in, size_t n)
{
  const T *x = x_in;
  /* several sums, to hide the latency */
  V sums[4] = { VOP (set1) (0), VOP (set1) (0), VOP (set1) (0),
    VOP (set1) (0) };
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

#if !WIDE
/* ---- floats, summed up in double --------------------------- */

typedef float Floats
    __attribute__ ((vector_size (LANES * 4), may_alias, aligned (4)));

/* Frames and taps that are summed up at a time. */
#define PIECE 256

static void
direct_exact_f32 (void *y_out, const void *x_in, const void *taps_in,
    size_t n_taps, size_t n_frames)
{
  const double *taps = taps_in;
  float *y = y_out;

  n_frames = (n_frames + 15) / 16 * 16;
  for (size_t n = 0, n_piece; n < n_frames; n += n_piece) {
    double sums[PIECE], more[PIECE];

    n_piece = n_frames - n < PIECE ? n_frames - n : PIECE;
    for (size_t k = 0; k < n_taps; k += PIECE) {
      double line[2 * PIECE] __attribute__ ((aligned (64)));
      const size_t n_some = n_taps - k < PIECE ? n_taps - k : PIECE;
      const size_t n_past = (n_some + 6) / 8 * 8;
      const float *x = (const float *)x_in + n - k - n_past;

      for (size_t i = 0; i < n_past + n_piece; i += LANES)
        VOP (storeu)
      (line + i, __builtin_convertvector(*(Floats *)(x + i), V));
      direct_f64 (k == 0 ? sums : more, line + n_past, taps + k, n_some,
          n_piece);
      if (k > 0)
        add_f64 (sums, more, n_piece);
    }
    for (size_t i = 0; i < n_piece; i += LANES)
      *(Floats *)(y + n + i) =
          __builtin_convertvector(VOP (loadu) (sums + i), Floats);
  }
}

#define direct_exact_f64 direct_f64
#endif

#undef GROUPS
#undef BLOCK
#undef CHAIN
#undef MOST
#undef MOST_SHORT
#undef HAS_LARGEST
#undef IS_CARRIED
#undef V
#undef L
#undef VOP
