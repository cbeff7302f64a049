/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pack_tmpl.c: samples to and from the scratch of the kernels; compiled once
 * for each sample type and instruction set.
 *
 * PACK_SAMPLE float or double, PACK_TYPE its name, PACK_NAME(op, type). */
#define PACK_CAT(name, op, type) name (op, type)
/* The names below, with the type and the instruction set. */
#define pack PACK_CAT (PACK_NAME, pack, PACK_TYPE)
#define pack_rows PACK_CAT (PACK_NAME, pack_rows, PACK_TYPE)
#define unpack PACK_CAT (PACK_NAME, unpack, PACK_TYPE)
#define unpack_rows PACK_CAT (PACK_NAME, unpack_rows, PACK_TYPE)

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

static void
pack (double *x, unsigned lanes, const TfxBlock *in)
{
  const PACK_SAMPLE *s = in->data;
  const ptrdiff_t fs = in->frame_stride, cs = in->channel_stride;
  const size_t n = in->n_frames;
  const unsigned used = in->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes) {
    pack_rows (x, 1, s, n * lanes, 1, 1, 1);
    return;
  }
  if (lanes == 1)
    pack_rows (x, 1, s, n, fs, 1, 1);
  else if (lanes == 2 && used == 2)
    pack_rows (x, 2, s, n, fs, cs, 2);
  else if (lanes == 4 && used == 4 && cs == 1)
    pack_rows (x, 4, s, n, fs, 1, 4);
  else
    pack_rows (x, lanes, s, n, fs, cs, used);
}

static void
unpack (const double *x, unsigned lanes, const TfxBlock *out)
{
  PACK_SAMPLE *s = out->data;
  const ptrdiff_t fs = out->frame_stride, cs = out->channel_stride;
  const size_t n = out->n_frames;
  const unsigned used = out->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes) {
    unpack_rows (x, 1, s, n * lanes, 1, 1, 1);
    return;
  }
  if (lanes == 1)
    unpack_rows (x, 1, s, n, fs, 1, 1);
  else if (lanes == 2 && used == 2)
    unpack_rows (x, 2, s, n, fs, cs, 2);
  else if (lanes == 4 && used == 4 && cs == 1)
    unpack_rows (x, 4, s, n, fs, 1, 4);
  else
    unpack_rows (x, lanes, s, n, fs, cs, used);
}

#undef PACK_CAT
#undef pack
#undef pack_rows
#undef unpack
#undef unpack_rows
