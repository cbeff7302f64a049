/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pack_tmpl.c: samples to and from the scratch of the kernels; compiled once
 * for each sample type and instruction set.
 *
 * PACK_SAMPLE float or double, PACK_TYPE its name, PACK_NAME(op, type). */
#define PACK_CAT(name, op, type) name (op, type)
#define PACK_FUNCTION(op) PACK_CAT (PACK_NAME, op, PACK_TYPE)

static void
PACK_FUNCTION (pack) (double *restrict x, unsigned lanes, const TfxBlock *in)
{
  const PACK_SAMPLE *restrict s = in->data;
  const ptrdiff_t fs = in->frame_stride, cs = in->channel_stride;
  const size_t n = in->n_frames;
  const unsigned used = in->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes) {
    for (size_t i = 0; i < n * lanes; i++)
      x[i] = s[i];
    return;
  }
  if (used == lanes && lanes == PACK_WIDTH && cs == 1) {
    for (size_t i = 0; i < n; i++) {
      for (unsigned c = 0; c < PACK_WIDTH; c++)
        x[i * PACK_WIDTH + c] = s[(ptrdiff_t)i * fs + c];
    }
    return;
  }
  for (size_t i = 0; i < n; i++) {
    const PACK_SAMPLE *frame = s + (ptrdiff_t)i * fs;
    unsigned c = 0;
    for (; c < used; c++)
      x[i * lanes + c] = frame[(ptrdiff_t)c * cs];
    for (; c < lanes; c++)
      x[i * lanes + c] = 0.0;
  }
}

static void
PACK_FUNCTION (
    unpack) (const double *restrict x, unsigned lanes, const TfxBlock *out)
{
  PACK_SAMPLE *restrict s = out->data;
  const ptrdiff_t fs = out->frame_stride, cs = out->channel_stride;
  const size_t n = out->n_frames;
  const unsigned used = out->n_channels;

  if (used == lanes && (cs == 1 || lanes == 1) && fs == (ptrdiff_t)lanes) {
    for (size_t i = 0; i < n * lanes; i++)
      s[i] = (PACK_SAMPLE)x[i];
    return;
  }
  if (used == lanes && lanes == PACK_WIDTH && cs == 1) {
    for (size_t i = 0; i < n; i++) {
      for (unsigned c = 0; c < PACK_WIDTH; c++)
        s[(ptrdiff_t)i * fs + c] = (PACK_SAMPLE)x[i * PACK_WIDTH + c];
    }
    return;
  }
  for (size_t i = 0; i < n; i++) {
    PACK_SAMPLE *frame = s + (ptrdiff_t)i * fs;
    for (unsigned c = 0; c < used; c++)
      frame[(ptrdiff_t)c * cs] = (PACK_SAMPLE)x[i * lanes + c];
  }
}

#undef PACK_CAT
#undef PACK_FUNCTION
