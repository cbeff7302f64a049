/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pack_tmpl.c: samples to and from the scratch of the kernels; compiled once
 * for each sample type and instruction set.
 *
 * PACK_SAMPLE float or double, PACK_TYPE its name, PACK_WIDTH the lanes of a
 * vector, PACK_NAME(op, type). */
#define PACK_CAT(name, op, type) name (op, type)
#define PACK_FUNCTION(op) PACK_CAT (PACK_NAME, op, PACK_TYPE)

/* With lanes, used and cs constant the inner loops unroll. */
static inline __attribute__ ((always_inline)) void
PACK_FUNCTION (pack_rows) (double *restrict x, const unsigned lanes,
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
PACK_FUNCTION (pack_vectors) (double *x, const PACK_SAMPLE *s, size_t n,
    ptrdiff_t fs, const ptrdiff_t cs, unsigned used)
{
  /* clang-format off */
  switch (used <= PACK_WIDTH ? used : 0) {
    case 1: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 1); break;
    case 2: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 2); break;
    case 3: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 3); break;
    case 4: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 4); break;
    case 5: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 5); break;
    case 6: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 6); break;
    case 7: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 7); break;
    case 8: PACK_FUNCTION (pack_rows) (x, PACK_WIDTH, s, n, fs, cs, 8); break;
  }
  /* clang-format on */
}

static void
PACK_FUNCTION (
    pack_all) (double *restrict x, const PACK_SAMPLE *restrict s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    x[i] = s[i];
}

static void
PACK_FUNCTION (pack) (double *x, unsigned lanes, const TfxBlock *in)
{
  const PACK_SAMPLE *s = in->data;
  const ptrdiff_t fs = in->frame_stride, cs = in->channel_stride;
  const size_t n = in->n_frames;
  const unsigned used = in->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes)
    PACK_FUNCTION (pack_all) (x, s, n * lanes);
  else if (lanes != PACK_WIDTH)
    PACK_FUNCTION (pack_rows) (x, lanes, s, n, fs, cs, used);
  else if (cs == 1)
    PACK_FUNCTION (pack_vectors) (x, s, n, fs, 1, used);
  else
    PACK_FUNCTION (pack_vectors) (x, s, n, fs, cs, used);
}

static inline __attribute__ ((always_inline)) void
PACK_FUNCTION (unpack_rows) (const double *restrict x, const unsigned lanes,
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
PACK_FUNCTION (unpack_vectors) (const double *x, PACK_SAMPLE *s, size_t n,
    ptrdiff_t fs, const ptrdiff_t cs, unsigned used)
{
  /* clang-format off */
  switch (used <= PACK_WIDTH ? used : 0) {
    case 1: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 1); break;
    case 2: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 2); break;
    case 3: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 3); break;
    case 4: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 4); break;
    case 5: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 5); break;
    case 6: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 6); break;
    case 7: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 7); break;
    case 8: PACK_FUNCTION (unpack_rows) (x, PACK_WIDTH, s, n, fs, cs, 8); break;
  }
  /* clang-format on */
}

static void
PACK_FUNCTION (
    unpack_all) (const double *restrict x, PACK_SAMPLE *restrict s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    s[i] = (PACK_SAMPLE)x[i];
}

static void
PACK_FUNCTION (unpack) (const double *x, unsigned lanes, const TfxBlock *out)
{
  PACK_SAMPLE *s = out->data;
  const ptrdiff_t fs = out->frame_stride, cs = out->channel_stride;
  const size_t n = out->n_frames;
  const unsigned used = out->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes)
    PACK_FUNCTION (unpack_all) (x, s, n * lanes);
  else if (lanes != PACK_WIDTH)
    PACK_FUNCTION (unpack_rows) (x, lanes, s, n, fs, cs, used);
  else if (cs == 1)
    PACK_FUNCTION (unpack_vectors) (x, s, n, fs, 1, used);
  else
    PACK_FUNCTION (unpack_vectors) (x, s, n, fs, cs, used);
}

#undef PACK_CAT
#undef PACK_FUNCTION
