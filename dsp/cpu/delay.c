/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.c: y[n] = direct x[n] + sum over taps of gain x[n - delay].
 *
 * The past lies in a ring of frames, so long that a part of a block and the
 * longest delay fit. */
#include "delay-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"

/* Frames of a part at the most, and samples, so that its output stays in the
 * cache. */
#define PART_FRAMES 1024
#define PART_SAMPLES 2048

/* ---- life ---------------------------------------------------------------------- */

int
tfx_delay_new (unsigned n_channels, size_t longest, TfxDelay **out)
{
  TfxDelay *d = calloc (1, sizeof *d);
  const size_t frame_size = n_channels * sizeof (double);
  const size_t part = PART_SAMPLES / n_channels;

  *out = NULL;
  if (!d)
    return -ENOMEM;
  d->n_channels = n_channels;
  d->longest = longest;
  d->size = d->n_known = longest + PART_FRAMES;
  d->part_frames = part < 1 ? 1 : part > PART_FRAMES ? PART_FRAMES : part;
  d->ring = calloc (d->size, frame_size);
  d->line = calloc (d->part_frames, frame_size);
  d->next = calloc (d->part_frames, frame_size);
  if (!d->ring || !d->line || !d->next) {
    tfx_delay_free (&d);
    return -ENOMEM;
  }
  *out = d;
  return 0;
}

void
tfx_delay_free (TfxDelay **delay)
{
  TfxDelay *d = *delay;

  *delay = NULL;
  if (!d)
    return;
  free (d->ring);
  free (d->line);
  free (d->next);
  free (d);
}

void
tfx_delay_set_taps (TfxDelay *d, double direct, const TfxTap *taps,
    size_t n_taps, size_t fade_frames, TfxWeight weight)
{
  d->fade_frames = fade_frames;
  d->fade_done = 0;
  d->weight = weight;
  *(fade_frames > 0 ? &d->next_taps : &d->taps) =
      (TfxDelayTaps){ direct, taps, n_taps };
}

bool
tfx_delay_is_fading (const TfxDelay *d)
{
  return d->fade_frames > 0;
}

size_t
tfx_delay_fade_left (const TfxDelay *d)
{
  return d->fade_frames - d->fade_done;
}

/* ---- samples and doubles -------------------------------------------------------- */

/* True if the samples of a frame lie side by side, and so do the frames. */
static bool
is_dense (const TfxBlock *b)
{
  return b->frame_stride == (ptrdiff_t)b->n_channels &&
         (b->channel_stride == 1 || b->n_channels == 1);
}

/* What is not finite would stay for the length of the line. */
static double
clean (double v)
{
  return v - v == 0.0 ? v : 0.0;
}

/* n frames of a channel, stride samples from one to the next, to x[n * width]. */
static void
load_f32 (double *restrict x, size_t width, const float *restrict from,
    ptrdiff_t stride, size_t n)
{
  for (size_t i = 0; i < n; i++)
    x[i * width] = clean (from[(ptrdiff_t)i * stride]);
}

static void
load_f64 (double *restrict x, size_t width, const double *restrict from,
    ptrdiff_t stride, size_t n)
{
  for (size_t i = 0; i < n; i++)
    x[i * width] = clean (from[(ptrdiff_t)i * stride]);
}

/* n frames of the input, from frame `first` on, to x[n][n_channels]. */
static void
load (double *x, const TfxBlock *in, size_t first, size_t n)
{
  const size_t width = in->n_channels;

  for (unsigned c = 0; c < in->n_channels; c++) {
    const ptrdiff_t at =
        (ptrdiff_t)first * in->frame_stride + (ptrdiff_t)c * in->channel_stride;
    const bool is_all = is_dense (in);
    const size_t step = is_all ? 1 : width;
    const ptrdiff_t stride = is_all ? 1 : in->frame_stride;
    const size_t n_values = is_all ? n * width : n;

    if (in->type == TFX_SAMPLE_F32)
      load_f32 (x + c, step, (const float *)in->data + at, stride, n_values);
    else
      load_f64 (x + c, step, (const double *)in->data + at, stride, n_values);
    if (is_all)
      return;
  }
}

static void
store (const double *restrict y, const TfxBlock *out)
{
  const size_t n_samples = out->n_frames * out->n_channels;

  if (is_dense (out) && out->type == TFX_SAMPLE_F32) {
    float *to = out->data;

    for (size_t i = 0; i < n_samples; i++)
      to[i] = (float)y[i];
    return;
  }
  for (unsigned c = 0; c < out->n_channels; c++) {
    for (size_t i = 0; i < out->n_frames; i++)
      tfx_block_set (out, i, c, y[i * out->n_channels + c]);
  }
}

/* From one set of taps to the next, frame by frame. */
static void
mix (const TfxDelay *d, double *restrict y, const double *restrict next,
    size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++) {
    const double w =
        tfx_weight_at (d->weight, d->fade_done + i + 1, d->fade_frames);

    for (unsigned c = 0; c < d->n_channels; c++, y++, next++)
      *y += w * (*next - *y);
  }
}

/* At most part_frames. */
static void
run_part (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  const size_t n = in->n_frames, left = d->size - d->position;
  const size_t n_first = left < n ? left : n;
  const bool is_direct = is_dense (out) && out->type == TFX_SAMPLE_F64;
  double *y = is_direct ? out->data : d->line;

  load (d->ring + d->position * d->n_channels, in, 0, n_first);
  load (d->ring, in, n_first, n - n_first);
  tfx_delay_render (d, &d->taps, y, n);
  if (d->fade_frames > 0) {
    tfx_delay_render (d, &d->next_taps, d->next, n);
    mix (d, y, d->next, n);
  }
  if (!is_direct)
    store (y, out);
  d->position = (d->position + n) % d->size;
  d->n_known = d->n_known + n < d->size ? d->n_known + n : d->size;
  d->fade_done += n;
  if (d->fade_frames > 0 && d->fade_done >= d->fade_frames) {
    d->taps = d->next_taps;
    d->fade_frames = 0;
  }
}

void
tfx_delay_run (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  for (size_t i = 0; i < in->n_frames; i += d->part_frames) {
    const size_t left = in->n_frames - i;
    const size_t n = left < d->part_frames ? left : d->part_frames;
    const TfxBlock from = tfx_block_part (in, i, n, 0, d->n_channels);
    const TfxBlock to = tfx_block_part (out, i, n, 0, d->n_channels);

    run_part (d, &from, &to);
  }
}

/* ---- state -------------------------------------------------------------------------- */

/* The frame of the ring that came in `age` frames ago, 1 to size. */
static double *
find_past (const TfxDelay *d, size_t age)
{
  return d->ring + tfx_delay_find_start (d, age) * d->n_channels;
}

/* What the other line has not kept is silence, out of which the rest rises. */
void
tfx_delay_seed (TfxDelay *d, const TfxDelay *from)
{
  const bool is_cut = from->n_known < d->longest;
  const size_t n = is_cut ? from->n_known : d->longest;
  const size_t rise = n < TFX_WEIGHT_RISE ? n : TFX_WEIGHT_RISE;

  tfx_delay_reset (d);
  for (size_t i = 0; i < n; i++) {
    const double *past = find_past (from, n - i);
    const double w = is_cut ? tfx_weight_at (TFX_WEIGHT_SMOOTH, i, rise) : 1.0;

    for (unsigned c = 0; c < d->n_channels; c++)
      d->ring[i * d->n_channels + c] = w * past[c];
  }
  d->position = n;
}

void
tfx_delay_get_state (const TfxDelay *d, double *state)
{
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < d->longest; i++)
      *state++ = find_past (d, d->longest - i)[c];
  }
}

void
tfx_delay_set_state (TfxDelay *d, const double *state)
{
  tfx_delay_reset (d);
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < d->longest; i++)
      d->ring[i * d->n_channels + c] = *state++;
  }
  d->position = d->n_known = d->longest;
}

void
tfx_delay_reset (TfxDelay *d)
{
  memset (d->ring, 0, d->n_channels * d->size * sizeof *d->ring);
  d->position = 0;
  d->n_known = d->size;
}

double
tfx_delay_state_peak (const TfxDelay *d)
{
  double peak = 0.0;

  for (size_t age = 1; age <= d->longest; age++) {
    const double *past = find_past (d, age);

    for (unsigned c = 0; c < d->n_channels; c++)
      peak = fmax (peak, fabs (past[c]));
  }
  return peak;
}
