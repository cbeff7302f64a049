/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pack_tmpl.c: samples to and from the scratch of the kernels; compiled once
 * for each sample type and instruction set.
 *
 * PACK_SAMPLE float or double, PACK_TYPE its name, PACK_WIDTH the lanes of a
 * vector, PACK_NAME(op, type).  If they are more than one, PACK_LOAD and
 * PACK_STORE move a vector of samples. */
#define PACK_CAT(name, op, type) name (op, type)
/* The names below, with the type and the instruction set. */
#define pack PACK_CAT (PACK_NAME, pack, PACK_TYPE)
#define pack_all PACK_CAT (PACK_NAME, pack_all, PACK_TYPE)
#define pack_planes PACK_CAT (PACK_NAME, pack_planes, PACK_TYPE)
#define pack_rows PACK_CAT (PACK_NAME, pack_rows, PACK_TYPE)
#define pack_vectors PACK_CAT (PACK_NAME, pack_vectors, PACK_TYPE)
#define pack_segments PACK_CAT (PACK_NAME, pack_segments, PACK_TYPE)
#define pack_segments_of PACK_CAT (PACK_NAME, pack_segments_of, PACK_TYPE)
#define unpack PACK_CAT (PACK_NAME, unpack, PACK_TYPE)
#define unpack_all PACK_CAT (PACK_NAME, unpack_all, PACK_TYPE)
#define unpack_planes PACK_CAT (PACK_NAME, unpack_planes, PACK_TYPE)
#define unpack_rows PACK_CAT (PACK_NAME, unpack_rows, PACK_TYPE)
#define unpack_vectors PACK_CAT (PACK_NAME, unpack_vectors, PACK_TYPE)
#define unpack_segments PACK_CAT (PACK_NAME, unpack_segments, PACK_TYPE)
#define unpack_segments_of PACK_CAT (PACK_NAME, unpack_segments_of, PACK_TYPE)

/* With lanes, used and cs constant the inner loops unroll. */
static inline __attribute__ ((always_inline)) void
pack_rows (double *restrict x, const unsigned lanes,
    const PACK_SAMPLE *restrict s, size_t n, ptrdiff_t fs, const ptrdiff_t cs,
    const unsigned used)
{
  for (size_t i = 0; i < n; i++, s += fs, x += lanes) {
    unsigned c = 0;
#pragma GCC unroll 8
    for (; c < used; c++)
      x[c] = s[(ptrdiff_t)c * cs];
#pragma GCC unroll 8
    for (; c < lanes; c++)
      x[c] = 0.0;
  }
}

static inline __attribute__ ((always_inline)) void
pack_vectors (double *x, const PACK_SAMPLE *s, size_t n, ptrdiff_t fs,
    const ptrdiff_t cs, unsigned used)
{
  /* clang-format off */
  switch (used <= PACK_WIDTH ? used : 0) {
    case 1: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 1); break;
    case 2: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 2); break;
    case 3: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 3); break;
    case 4: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 4); break;
    case 5: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 5); break;
    case 6: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 6); break;
    case 7: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 7); break;
    case 8: pack_rows (x, PACK_WIDTH, s, n, fs, cs, 8); break;
  }
  /* clang-format on */
}

#if PACK_WIDTH > 1
/* Planes: W frames of up to W channels at a time; returns how many frames. */
static size_t
pack_planes (double *x, const PACK_SAMPLE *s, size_t n, ptrdiff_t cs,
    unsigned used)
{
  size_t i;

  for (i = 0; i + W <= n; i += W) {
    V rows[W];

#pragma GCC unroll 8
    for (unsigned c = 0; c < W; c++)
      rows[c] = c < used ? PACK_LOAD (s + (ptrdiff_t)c * cs + (ptrdiff_t)i)
                         : v_set1 (0.0);
    v_transpose (rows);
#pragma GCC unroll 8
    for (unsigned c = 0; c < W; c++)
      v_store (x + (i + c) * W, rows[c]);
  }
  return i;
}

static size_t
unpack_planes (const double *x, PACK_SAMPLE *s, size_t n, ptrdiff_t cs,
    unsigned used)
{
  size_t i;

  for (i = 0; i + W <= n; i += W) {
    V rows[W];

#pragma GCC unroll 8
    for (unsigned c = 0; c < W; c++)
      rows[c] = v_load (x + (i + c) * W);
    v_transpose (rows);
#pragma GCC unroll 8
    for (unsigned c = 0; c < W; c++) {
      if (c < used)
        PACK_STORE (s + (ptrdiff_t)c * cs + (ptrdiff_t)i, rows[c]);
    }
  }
  return i;
}
#endif

static void
pack_all (double *restrict x, const PACK_SAMPLE *restrict s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    x[i] = s[i];
}

static void
pack (double *x, unsigned lanes, const TfxBlock *in)
{
  const PACK_SAMPLE *s = in->data;
  const ptrdiff_t fs = in->frame_stride, cs = in->channel_stride;
  const size_t n = in->n_frames;
  const unsigned used = in->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes)
    pack_all (x, s, n * lanes);
  else if (lanes == 2 && lanes != PACK_WIDTH && fs == 1)
    pack_rows (x, 2, s, n, 1, cs, 2);
  else if (lanes != PACK_WIDTH)
    pack_rows (x, lanes, s, n, fs, cs, used);
  else if (cs == 1)
    pack_vectors (x, s, n, fs, 1, used);
  else {
    size_t done = 0;
#if PACK_WIDTH > 1
    if (fs == 1)
      done = pack_planes (x, s, n, cs, used);
#endif
    pack_vectors (x + done * lanes, s + (ptrdiff_t)done * fs, n - done, fs, cs,
        used);
  }
}

static inline __attribute__ ((always_inline)) void
unpack_rows (const double *restrict x, const unsigned lanes,
    PACK_SAMPLE *restrict s, size_t n, ptrdiff_t fs, const ptrdiff_t cs,
    const unsigned used)
{
  for (size_t i = 0; i < n; i++, s += fs, x += lanes) {
#pragma GCC unroll 8
    for (unsigned c = 0; c < used; c++)
      s[(ptrdiff_t)c * cs] = (PACK_SAMPLE)x[c];
  }
}

static inline __attribute__ ((always_inline)) void
unpack_vectors (const double *x, PACK_SAMPLE *s, size_t n, ptrdiff_t fs,
    const ptrdiff_t cs, unsigned used)
{
  /* clang-format off */
  switch (used <= PACK_WIDTH ? used : 0) {
    case 1: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 1); break;
    case 2: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 2); break;
    case 3: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 3); break;
    case 4: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 4); break;
    case 5: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 5); break;
    case 6: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 6); break;
    case 7: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 7); break;
    case 8: unpack_rows (x, PACK_WIDTH, s, n, fs, cs, 8); break;
  }
  /* clang-format on */
}

static void
unpack_all (const double *restrict x, PACK_SAMPLE *restrict s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    s[i] = (PACK_SAMPLE)x[i];
}

static void
unpack (const double *x, unsigned lanes, const TfxBlock *out)
{
  PACK_SAMPLE *s = out->data;
  const ptrdiff_t fs = out->frame_stride, cs = out->channel_stride;
  const size_t n = out->n_frames;
  const unsigned used = out->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes)
    unpack_all (x, s, n * lanes);
  else if (lanes == 2 && lanes != PACK_WIDTH && fs == 1)
    unpack_rows (x, 2, s, n, 1, cs, 2);
  else if (lanes != PACK_WIDTH)
    unpack_rows (x, lanes, s, n, fs, cs, used);
  else if (cs == 1)
    unpack_vectors (x, s, n, fs, 1, used);
  else {
    size_t done = 0;
#if PACK_WIDTH > 1
    if (fs == 1)
      done = unpack_planes (x, s, n, cs, used);
#endif
    unpack_vectors (x + done * lanes, s + (ptrdiff_t)done * fs, n - done, fs,
        cs, used);
  }
}

#if PACK_WIDTH > 1
/* Groups of W / L segments: x[group][frame][W], lane i is channel i % L of
 * segment i / L. */
static inline __attribute__ ((always_inline)) void
pack_segments_of (double *x, const PACK_SAMPLE *s, size_t n_groups,
    ptrdiff_t fs, ptrdiff_t cs, double gain, const unsigned L)
{
  enum
  {
    S = TFX_SEGMENT_FRAMES
  };
  const V g = v_set1 (gain);

  for (; n_groups > 0; n_groups--, x += S * W, s += S * W / L * fs) {
    if (fs == 1) {
      for (unsigned j = 0; j < S; j += W) {
        V rows[W];
#pragma GCC unroll 8
        for (unsigned i = 0; i < W; i++)
          rows[i] = PACK_LOAD (s + i % L * cs + i / L * S + j);
        v_transpose (rows);
#pragma GCC unroll 8
        for (unsigned i = 0; i < W; i++)
          v_store (x + (j + i) * W, v_mul (g, rows[i]));
      }
#if W > 2
    } else if (L == 2 && cs == 1 && fs == 2) {
      for (unsigned j = 0; j < S; j += W / 2) {
        V rows[W / 2];
#pragma GCC unroll 4
        for (unsigned i = 0; i < W / 2; i++)
          rows[i] = PACK_LOAD (s + 2 * (i * S + j));
        v_transpose_pairs (rows);
#pragma GCC unroll 4
        for (unsigned i = 0; i < W / 2; i++)
          v_store (x + (j + i) * W, v_mul (g, rows[i]));
      }
#endif
    } else {
      for (unsigned j = 0; j < S; j++) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < W; i++)
          x[j * W + i] = gain * s[i % L * cs + (i / L * S + j) * fs];
      }
    }
  }
}

static void
pack_segments (double *x, unsigned lanes, const TfxBlock *in, double gain)
{
  const size_t n_groups = in->n_frames * lanes / (TFX_SEGMENT_FRAMES * W);
  const ptrdiff_t fs = in->frame_stride, cs = in->channel_stride;

  if (lanes == 1)
    pack_segments_of (x, in->data, n_groups, fs, cs, gain, 1);
  else
    pack_segments_of (x, in->data, n_groups, fs, cs, gain, 2);
}

static inline __attribute__ ((always_inline)) void
unpack_segments_of (const double *x, PACK_SAMPLE *s, size_t n_groups,
    ptrdiff_t fs, ptrdiff_t cs, const unsigned L)
{
  enum
  {
    S = TFX_SEGMENT_FRAMES
  };

  for (; n_groups > 0; n_groups--, x += S * W, s += S * W / L * fs) {
    if (fs == 1) {
      for (unsigned j = 0; j < S; j += W) {
        V rows[W];
#pragma GCC unroll 8
        for (unsigned i = 0; i < W; i++)
          rows[i] = v_load (x + (j + i) * W);
        v_transpose (rows);
#pragma GCC unroll 8
        for (unsigned i = 0; i < W; i++)
          PACK_STORE (s + i % L * cs + i / L * S + j, rows[i]);
      }
#if W > 2
    } else if (L == 2 && cs == 1 && fs == 2) {
      for (unsigned j = 0; j < S; j += W / 2) {
        V rows[W / 2];
#pragma GCC unroll 4
        for (unsigned i = 0; i < W / 2; i++)
          rows[i] = v_load (x + (j + i) * W);
        v_transpose_pairs (rows);
#pragma GCC unroll 4
        for (unsigned i = 0; i < W / 2; i++)
          PACK_STORE (s + 2 * (i * S + j), rows[i]);
      }
#endif
    } else {
      for (unsigned j = 0; j < S; j++) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < W; i++)
          s[i % L * cs + (i / L * S + j) * fs] = (PACK_SAMPLE)x[j * W + i];
      }
    }
  }
}

static void
unpack_segments (const double *x, unsigned lanes, const TfxBlock *out)
{
  const size_t n_groups = out->n_frames * lanes / (TFX_SEGMENT_FRAMES * W);
  const ptrdiff_t fs = out->frame_stride, cs = out->channel_stride;

  if (lanes == 1)
    unpack_segments_of (x, out->data, n_groups, fs, cs, 1);
  else
    unpack_segments_of (x, out->data, n_groups, fs, cs, 2);
}
#endif

#undef PACK_CAT
#undef pack
#undef pack_all
#undef pack_planes
#undef pack_rows
#undef pack_vectors
#undef pack_segments
#undef pack_segments_of
#undef unpack
#undef unpack_all
#undef unpack_planes
#undef unpack_rows
#undef unpack_vectors
#undef unpack_segments
#undef unpack_segments_of
