/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tile_tmpl.c: samples that lie apart, each channel in a plane of its own; part
 * of kernels-vec.c.
 *
 * Full vectors of channels take a tile of W rows, turned in registers.  Fewer
 * channels are read and written sample by sample: a wave leaves time for that.
 * Four of them are turned in memory first (cascade.c). */

static inline ptrdiff_t
sample_bytes (const TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);
}

static inline __attribute__ ((always_inline)) double
sample_at (const char *p, const TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? *(const float *)p : *(const double *)p;
}

static inline __attribute__ ((always_inline)) void
set_sample_at (char *p, double v, const TfxSample type)
{
  if (type == TFX_SAMPLE_F32)
    *(float *)p = (float)v;
  else
    *(double *)p = v;
}

/* Up to W planes, `least` of them always there: `at` are their offsets, those that are
 * missing have the first one's, `vector` is that of the next W. */
typedef struct Planes
{
  char *data;
  ptrdiff_t vector, at[W];
  unsigned n, least;
} Planes;

static inline __attribute__ ((always_inline)) bool
is_there (const Planes *p, const unsigned c)
{
  return c < p->least || c < p->n;
}

/* ---- W planes of W frames become rows, and back ---------------------------------- */

#if W > 2
#if W == 8
typedef __m256d Half;
#define JOIN(low, high)                                                        \
  _mm512_insertf64x4 (_mm512_castpd256_pd512 (low), high, 1)
#define LOW(a) _mm512_castpd512_pd256 (a)
#define HIGH(a) _mm512_extractf64x4_pd (a, 1)
#else
typedef __m128d Half;
#define JOIN(low, high)                                                        \
  _mm256_insertf128_pd (_mm256_castpd128_pd256 (low), high, 1)
#define LOW(a) _mm256_castpd256_pd128 (a)
#define HIGH(a) _mm256_extractf128_pd (a, 1)
#endif
typedef Half HalfAt __attribute__ ((may_alias, aligned (8)));

/* Half a vector of frames of plane c and as many of plane d, and back.  A load that
 * inserts spares a permutation. */
static inline __attribute__ ((always_inline)) V
load_planes (const Planes *p, ptrdiff_t first, const unsigned c,
    const unsigned d)
{
  return JOIN (*(const HalfAt *)(p->data + first + p->at[c]),
      *(const HalfAt *)(p->data + first + p->at[d]));
}

static inline __attribute__ ((always_inline)) void
store_planes (const Planes *p, ptrdiff_t first, const unsigned c,
    const unsigned d, V a)
{
  if (is_there (p, c))
    *(HalfAt *)(p->data + first + p->at[c]) = LOW (a);
  if (is_there (p, d))
    *(HalfAt *)(p->data + first + p->at[d]) = HIGH (a);
}
#endif

/* Half a vector of frames, two where that is a vector. */
static inline __attribute__ ((always_inline)) void
turn_to_rows_f64 (V *rows, const Planes *p, ptrdiff_t first)
{
#if W == 8
  const V a = load_planes (p, first, 0, 2);
  const V b = load_planes (p, first, 1, 3);
  const V c = load_planes (p, first, 4, 6);
  const V d = load_planes (p, first, 5, 7);
  const V ab = _mm512_unpacklo_pd (a, b), ab1 = _mm512_unpackhi_pd (a, b);
  const V cd = _mm512_unpacklo_pd (c, d), cd1 = _mm512_unpackhi_pd (c, d);

  rows[0] = _mm512_shuffle_f64x2 (ab, cd, 0x88);
  rows[1] = _mm512_shuffle_f64x2 (ab1, cd1, 0x88);
  rows[2] = _mm512_shuffle_f64x2 (ab, cd, 0xdd);
  rows[3] = _mm512_shuffle_f64x2 (ab1, cd1, 0xdd);
#elif W == 4
  const V a = load_planes (p, first, 0, 2);
  const V b = load_planes (p, first, 1, 3);

  rows[0] = _mm256_unpacklo_pd (a, b);
  rows[1] = _mm256_unpackhi_pd (a, b);
#else
  const V a = v_load_f64 ((const double *)(p->data + first));
  const V b = v_load_f64 ((const double *)(p->data + first + p->at[1]));

  rows[0] = __builtin_shufflevector (a, b, 0, 2);
  rows[1] = __builtin_shufflevector (a, b, 1, 3);
#endif
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f64 (const Planes *p, ptrdiff_t first, const V *rows)
{
#if W == 8
  const __m512i head = _mm512_setr_epi64 (0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i tail = _mm512_setr_epi64 (4, 5, 12, 13, 6, 7, 14, 15);
  const V a = _mm512_permutex2var_pd (rows[0], head, rows[2]);
  const V b = _mm512_permutex2var_pd (rows[1], head, rows[3]);
  const V c = _mm512_permutex2var_pd (rows[0], tail, rows[2]);
  const V d = _mm512_permutex2var_pd (rows[1], tail, rows[3]);

  store_planes (p, first, 0, 2, _mm512_unpacklo_pd (a, b));
  store_planes (p, first, 1, 3, _mm512_unpackhi_pd (a, b));
  store_planes (p, first, 4, 6, _mm512_unpacklo_pd (c, d));
  store_planes (p, first, 5, 7, _mm512_unpackhi_pd (c, d));
#elif W == 4
  store_planes (p, first, 0, 2, _mm256_unpacklo_pd (rows[0], rows[1]));
  store_planes (p, first, 1, 3, _mm256_unpackhi_pd (rows[0], rows[1]));
#else
  v_store_f64 ((double *)(p->data + first),
      __builtin_shufflevector (rows[0], rows[1], 0, 2));
  if (is_there (p, 1))
    v_store_f64 ((double *)(p->data + first + p->at[1]),
        __builtin_shufflevector (rows[0], rows[1], 1, 3));
#endif
}

#if W == 8
/* Eight rows of floats become columns: vector k holds numbers k and k + 4. */
static inline __attribute__ ((always_inline)) void
turn_f32 (__m512 *r)
{
  const __m512i even = _mm512_setr_epi64 (0, 8, 4, 12, 2, 10, 6, 14);
  const __m512i odd = _mm512_setr_epi64 (1, 9, 5, 13, 3, 11, 7, 15);
  const __m512d a = _mm512_castps_pd (_mm512_unpacklo_ps (r[0], r[1]));
  const __m512d b = _mm512_castps_pd (_mm512_unpacklo_ps (r[2], r[3]));
  const __m512d c = _mm512_castps_pd (_mm512_unpackhi_ps (r[0], r[1]));
  const __m512d d = _mm512_castps_pd (_mm512_unpackhi_ps (r[2], r[3]));

  r[0] = _mm512_castpd_ps (_mm512_permutex2var_pd (a, even, b));
  r[1] = _mm512_castpd_ps (_mm512_permutex2var_pd (a, odd, b));
  r[2] = _mm512_castpd_ps (_mm512_permutex2var_pd (c, even, d));
  r[3] = _mm512_castpd_ps (_mm512_permutex2var_pd (c, odd, d));
}

static inline __attribute__ ((always_inline)) void
turn_to_rows_f32 (V *rows, const Planes *p)
{
  __m512 r[4];

#pragma GCC unroll 4
  for (unsigned c = 0; c < 4; c++)
    r[c] = _mm512_insertf32x8 (_mm512_castps256_ps512 (
                                   *(const VFloats *)(p->data + p->at[c])),
        *(const VFloats *)(p->data + p->at[c + 4]), 1);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; i++) {
    rows[i] = v_widen (_mm512_castps512_ps256 (r[i]));
    rows[i + 4] = v_widen (_mm512_extractf32x8_ps (r[i], 1));
  }
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f32 (const Planes *p, const V *rows)
{
  __m512 r[4];

#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; i++)
    r[i] = _mm512_insertf32x8 (_mm512_castps256_ps512 (v_narrow (rows[i])),
        v_narrow (rows[i + 4]), 1);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned c = 0; c < 4; c++) {
    *(VFloats *)(p->data + p->at[c]) = _mm512_castps512_ps256 (r[c]);
    if (is_there (p, c + 4))
      *(VFloats *)(p->data + p->at[c + 4]) = _mm512_extractf32x8_ps (r[c], 1);
  }
}
#else
/* Rows of floats become columns. */
static inline __attribute__ ((always_inline)) void
turn_f32 (VFloats *r)
{
#if W == 2
  const VFloats low = { r[0][0], r[1][0] };

  r[1] = (VFloats){ r[0][1], r[1][1] };
  r[0] = low;
#else
  const VFloats a = _mm_unpacklo_ps (r[0], r[1]);
  const VFloats b = _mm_unpackhi_ps (r[0], r[1]);
  const VFloats c = _mm_unpacklo_ps (r[2], r[3]);
  const VFloats d = _mm_unpackhi_ps (r[2], r[3]);

  r[0] = _mm_shuffle_ps (a, c, 0x44);
  r[1] = _mm_shuffle_ps (a, c, 0xee);
  r[2] = _mm_shuffle_ps (b, d, 0x44);
  r[3] = _mm_shuffle_ps (b, d, 0xee);
#endif
}

static inline __attribute__ ((always_inline)) void
turn_to_rows_f32 (V *rows, const Planes *p)
{
  VFloats r[W];

#pragma GCC unroll 4
  for (unsigned c = 0; c < W; c++)
    r[c] = *(const VFloats *)(p->data + p->at[c]);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned i = 0; i < W; i++)
    rows[i] = v_widen (r[i]);
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f32 (const Planes *p, const V *rows)
{
  VFloats r[W];

#pragma GCC unroll 4
  for (unsigned i = 0; i < W; i++)
    r[i] = v_narrow (rows[i]);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned c = 0; c < W; c++) {
    if (is_there (p, c))
      *(VFloats *)(p->data + p->at[c]) = r[c];
  }
}
#endif

/* Those of a row's vector `first`, of which `least` are always there. */
static inline __attribute__ ((always_inline)) Planes
get_planes (const TfxRows *rows, const unsigned first, const unsigned least)
{
  const ptrdiff_t apart = rows->apart * sample_bytes (rows->type);
  Planes p = { .data = rows->data,
    .vector = (ptrdiff_t)W * apart,
    .n = rows->n - first * W,
    .least = least };

#pragma GCC unroll 8
  for (unsigned c = 0; c < W; c++)
    p.at[c] = is_there (&p, c) ? c * apart : 0;
  p.data += first * p.vector;
  return p;
}

/* Vector r for W frames, of planes or of rows of W doubles. */
static inline __attribute__ ((always_inline)) void
load_tile (V *rows, const Planes *planes, const unsigned r, const bool is_rows,
    const bool is_f32)
{
  Planes p = *planes;

  p.data += r * p.vector;
  if (is_rows) {
#pragma GCC unroll 8
    for (unsigned i = 0; i < W; i++)
      rows[i] = v_load ((const double *)p.data + i * W);
  } else if (is_f32) {
    turn_to_rows_f32 (rows, &p);
  } else {
    turn_to_rows_f64 (rows, &p, 0);
    if (W > 2)
      turn_to_rows_f64 (rows + W / 2, &p, 4 * W);
  }
}

static inline __attribute__ ((always_inline)) void
store_tile (const Planes *planes, const unsigned r, const bool is_rows,
    const bool is_f32, const V *rows)
{
  Planes p = *planes;

  p.data += r * p.vector;
  if (is_rows) {
#pragma GCC unroll 8
    for (unsigned i = 0; i < W; i++)
      v_store ((double *)p.data + i * W, rows[i]);
  } else if (is_f32) {
    turn_to_planes_f32 (&p, rows);
  } else {
    turn_to_planes_f64 (&p, 0, rows);
    if (W > 2)
      turn_to_planes_f64 (&p, 4 * W, rows + W / 2);
  }
}

/* One frame of the row's channels from number `first` on. */
static __attribute__ ((noinline)) V
load_channels (const char *in, const TfxRows *rows, unsigned first)
{
  const ptrdiff_t apart = rows->apart * sample_bytes (rows->type);
  V x = v_set1 (0.0);

  if (!apart)
    return v_load ((const double *)in);
  for (unsigned c = 0; c < W && first + c < rows->n; c++, in += apart)
    x[c] = sample_at (in, rows->type);
  return x;
}

static __attribute__ ((noinline)) void
store_channels (char *out, const TfxRows *rows, unsigned first, V x)
{
  const ptrdiff_t apart = rows->apart * sample_bytes (rows->type);

  if (!apart)
    v_store ((double *)out, x);
  else
    for (unsigned c = 0; c < W && first + c < rows->n; c++, out += apart)
      set_sample_at (out, x[c], rows->type);
}

/* Rows of C planes, 1 < C < W, of which two are there, or three, as four are turned first: over
 * and over in the lanes; and back, from the last C lanes. */
static inline __attribute__ ((always_inline)) V
load_apart (const char *p, ptrdiff_t apart, const TfxSample type,
    const unsigned C)
{
#if W == 4
  const double a = sample_at (p, type), b = sample_at (p + apart, type);

  return (V){ a, b, a, b };
#elif W == 8
  /* Loads put a sample into the lanes that a mask names. */
  const __mmask8 lanes = C == 2 ? 0x55 : 0x11;

  if (type == TFX_SAMPLE_F32) {
    __m256 x =
        _mm256_maskz_broadcastss_ps (lanes, _mm_load_ss ((const void *)p));

    x = _mm256_mask_broadcastss_ps (x, (__mmask8)(lanes << 1),
        _mm_load_ss ((const void *)(p + apart)));
    if (C > 2)
      x = _mm256_mask_broadcastss_ps (x, (__mmask8)(lanes << 2),
          _mm_load_ss ((const void *)(p + 2 * apart)));
    return _mm512_cvtps_pd (x);
  }
  V x = _mm512_maskz_broadcastsd_pd (lanes, _mm_load_sd ((const void *)p));

  x = _mm512_mask_broadcastsd_pd (x, (__mmask8)(lanes << 1),
      _mm_load_sd ((const void *)(p + apart)));
  if (C > 2)
    x = _mm512_mask_broadcastsd_pd (x, (__mmask8)(lanes << 2),
        _mm_load_sd ((const void *)(p + 2 * apart)));
  return x;
#else
  return v_set1 (0.0);
#endif
}

static inline __attribute__ ((always_inline)) void
store_apart (char *p, ptrdiff_t apart, V a, const TfxSample type,
    const unsigned C)
{
  const bool is_f32 = type == TFX_SAMPLE_F32;
  const VFloats f32 = v_narrow (a);
  const unsigned i = W - C;

  set_sample_at (p, is_f32 ? f32[i] : a[i], type);
  set_sample_at (p + apart, is_f32 ? f32[i + 1] : a[i + 1], type);
  if (C > 2)
    set_sample_at (p + 2 * apart, is_f32 ? f32[i + 2] : a[i + 2], type);
}
