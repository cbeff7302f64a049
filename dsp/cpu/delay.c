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

#include "core/block.h"
#include "copy.h"

/* Frames of a part at the most, and samples, so that its output stays in the
 * cache. */
#define PART_FRAMES 1024
#define PART_SAMPLES 2048

/* ---- life ---------------------------------------------------------------------- */

int
tfx_delay_new (const char *kernel, unsigned n_channels, size_t longest,
    TfxDelay **out)
{
  TfxDelay *d = calloc (1, sizeof *d);
  const size_t part = PART_SAMPLES / n_channels;

  *out = NULL;
  if (!d)
    return -ENOMEM;
  d->kernels = tfx_kernels_for (kernel);
  d->n_channels = n_channels;
  d->longest = longest;
  /* whole lines of the cache */
  d->size = d->n_known = (longest + PART_FRAMES + 15) / 16 * 16;
  d->n_quiet = longest;
  d->part_frames = part < 1 ? 1 : part > PART_FRAMES ? PART_FRAMES : part;
  d->ring = tfx_block_new_samples (d->size * n_channels);
  d->line = tfx_block_new_samples (d->part_frames * n_channels);
  d->next = tfx_block_new_samples (d->part_frames * n_channels);
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

/* The newest n frames are x[n][n_channels]. */
static void
note_quiet (TfxDelay *d, const double *x, size_t n)
{
  size_t n_left = n * d->n_channels;

  while (n_left > 0 && fabs (x[n_left - 1]) <= TFX_SILENCE)
    n_left--;
  if (n_left > 0)
    d->n_quiet = n - (n_left + d->n_channels - 1) / d->n_channels;
  else if (d->n_quiet < d->longest)
    d->n_quiet += n;
}

/* n frames of the input, from frame `first` on, to x[n][n_channels]; what is not
 * finite would stay for the length of the line. */
static void
load (TfxDelay *d, double *x, const TfxBlock *in, size_t first, size_t n)
{
  TfxBlock from = tfx_block_part (in, first, n, 0, in->n_channels);

  if (!tfx_block_is_interleaved (in)) {
    const TfxBlock rows =
        tfx_block_interleaved (d->line, in->type, in->n_channels, n);

    tfx_cpu_copy (d->kernels, &from, &rows, 1.0);
    from = rows;
  }
  d->kernels->clean (x, from.data, in->type, n * in->n_channels);
  note_quiet (d, x, n);
}

/* From one set of taps to the next, frame by frame. */
static void
render_fade (TfxDelay *d, double *y, size_t n)
{
  tfx_delay_render (d, &d->taps, y, TFX_SAMPLE_F64, n);
  tfx_delay_render (d, &d->next_taps, d->next, TFX_SAMPLE_F64, n);
  d->kernels->fade (y, d->next, n, d->n_channels, d->weight, d->fade_done,
      d->fade_frames);
}

/* At most part_frames, and no more than a fade has left: behind it the output is that of
 * the new taps alone, to the bit. */
static void
run_part (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  const size_t n = in->n_frames, left = d->size - d->position;
  const size_t n_first = left < n ? left : n;
  const bool is_fading = d->fade_frames > 0;
  const TfxSample type = !is_fading && tfx_delay_is_one_pass (&d->taps)
                             ? out->type
                             : TFX_SAMPLE_F64;
  const bool is_direct = tfx_block_is_interleaved (out) && out->type == type;
  const TfxBlock rows = tfx_block_interleaved (is_direct ? out->data : d->line,
      type, d->n_channels, n);

  load (d, d->ring + d->position * d->n_channels, in, 0, n_first);
  load (d, d->ring, in, n_first, n - n_first);
  if (is_fading)
    render_fade (d, rows.data, n);
  else
    tfx_delay_render (d, &d->taps, rows.data, type, n);
  if (!is_direct)
    tfx_cpu_copy (d->kernels, &rows, out, 1.0);
  d->position = (d->position + n) % d->size;
  d->n_known = d->n_known + n < d->size ? d->n_known + n : d->size;
  d->fade_done += n;
  if (is_fading && d->fade_done >= d->fade_frames) {
    d->taps = d->next_taps;
    d->fade_frames = 0;
  }
}

void
tfx_delay_run (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t most =
        d->fade_frames > 0 && tfx_delay_fade_left (d) < d->part_frames
            ? tfx_delay_fade_left (d)
            : d->part_frames;
    const size_t left = in->n_frames - i;

    n = left < most ? left : most;
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
  d->position = d->n_known = n;
  note_quiet (d, d->ring, n);
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
  note_quiet (d, d->ring, d->longest);
}

void
tfx_delay_reset (TfxDelay *d)
{
  memset (d->ring, 0, d->n_channels * d->size * sizeof *d->ring);
  d->position = 0;
  d->n_known = d->size;
  d->n_quiet = d->longest;
}

bool
tfx_delay_is_silent (const TfxDelay *d)
{
  return d->n_quiet >= d->longest;
}
