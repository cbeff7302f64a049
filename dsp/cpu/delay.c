/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.c: y[n] = direct x[n] + sum over taps of gain x[n - delay].
 *
 * The past of each channel lies in a ring, so long that a block and the
 * longest delay fit.  A tap is then a multiply-add of two runs of samples, cut
 * where the ring ends. */
#include "delay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"

/* y = gain * (direct x + sum of taps) */
typedef struct Taps
{
  double direct, gain;
  const TfxTap *taps;
  size_t n;
} Taps;

struct TfxDelay
{
  unsigned n_channels;
  size_t longest, size, position; /* the ring's; where the next sample goes */
  size_t max_frames;
  double *ring;        /* [n_channels][size] */
  double *line, *next; /* [max_frames]: an output, and that of the next taps */
  Taps taps, next_taps;
  size_t fade_done, fade_frames; /* from taps to next_taps; 0: none */
};

int
tfx_delay_new (unsigned n_channels, size_t longest, size_t max_frames,
    TfxDelay **out)
{
  TfxDelay *d = calloc (1, sizeof *d);

  *out = NULL;
  if (!d)
    return -ENOMEM;
  d->n_channels = n_channels;
  d->longest = longest;
  d->size = longest + max_frames;
  d->max_frames = max_frames;
  d->ring = calloc (d->size, n_channels * sizeof *d->ring);
  d->line = calloc (max_frames, sizeof *d->line);
  d->next = calloc (max_frames, sizeof *d->next);
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
    size_t n_taps, double gain)
{
  d->taps = (Taps){ direct, gain, taps, n_taps };
  d->fade_frames = 0;
}

void
tfx_delay_fade_taps (TfxDelay *d, double direct, const TfxTap *taps,
    size_t n_taps, size_t fade_frames)
{
  if (fade_frames == 0) {
    tfx_delay_set_taps (d, direct, taps, n_taps, 1.0);
    return;
  }
  d->next_taps = (Taps){ direct, 1.0, taps, n_taps };
  d->fade_frames = fade_frames;
  d->fade_done = 0;
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

/* The input of every channel into the ring, from `position` on. */
static void
store_block (TfxDelay *d, const TfxBlock *in)
{
  for (unsigned c = 0; c < d->n_channels; c++) {
    double *ring = d->ring + c * d->size;
    size_t at = d->position;

    for (size_t i = 0; i < in->n_frames; i++) {
      double v = tfx_block_get (in, i, c);
      /* What is not finite would stay for the length of the line. */
      ring[at] = isfinite (v) ? v : 0.0;
      at = at + 1 == d->size ? 0 : at + 1;
    }
  }
}

/* y[i] += gain * ring[at + i], around the end of the ring. */
static void
add_tap (const TfxDelay *d, const double *ring, size_t at, double gain,
    double *restrict y, size_t n)
{
  while (n > 0) {
    size_t run = d->size - at < n ? d->size - at : n;

    for (size_t i = 0; i < run; i++)
      y[i] += gain * ring[at + i];
    y += run;
    n -= run;
    at = 0;
  }
}

/* The output of channel c for the block that has been stored. */
static void
render (const TfxDelay *d, const Taps *taps, const TfxBlock *in, unsigned c,
    double *restrict y)
{
  const size_t n = in->n_frames;

  for (size_t i = 0; i < n; i++)
    y[i] = taps->gain * taps->direct * tfx_block_get (in, i, c);
  for (size_t k = 0; k < taps->n; k++) {
    const TfxTap *tap = &taps->taps[k];
    unsigned from = tap->swap && (c ^ 1) < d->n_channels ? c ^ 1 : c;
    size_t at = d->position + d->size - tap->delay;

    if (tap->side != TFX_TAP_BOTH &&
        (tap->side == TFX_TAP_LEFT) != (c % 2 == 0))
      continue;
    add_tap (d, d->ring + from * d->size, at >= d->size ? at - d->size : at,
        taps->gain * tap->gain, y, n);
  }
}

/* From one set of taps to the next, frame by frame. */
static void
mix (const TfxDelay *d, double *restrict y, const double *restrict next,
    size_t n)
{
  for (size_t i = 0; i < n; i++) {
    size_t at = d->fade_done + i + 1;
    double w = at < d->fade_frames ? (double)at / (double)d->fade_frames : 1.0;

    y[i] += w * (next[i] - y[i]);
  }
}

/* At most max_frames. */
static void
run_part (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  const size_t n = in->n_frames;

  store_block (d, in);
  for (unsigned c = 0; c < d->n_channels; c++) {
    render (d, &d->taps, in, c, d->line);
    if (d->fade_frames > 0) {
      render (d, &d->next_taps, in, c, d->next);
      mix (d, d->line, d->next, n);
    }
    for (size_t i = 0; i < n; i++)
      tfx_block_set (out, i, c, d->line[i]);
  }
  d->position = (d->position + n) % d->size;
  d->fade_done += n;
  if (d->fade_frames > 0 && d->fade_done >= d->fade_frames) {
    d->taps = d->next_taps;
    d->fade_frames = 0;
  }
}

void
tfx_delay_run (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  for (size_t i = 0; i < in->n_frames; i += d->max_frames) {
    size_t left = in->n_frames - i;
    size_t n = left < d->max_frames ? left : d->max_frames;
    TfxBlock from = tfx_block_part (in, i, n, 0, d->n_channels);
    TfxBlock to = tfx_block_part (out, i, n, 0, d->n_channels);

    run_part (d, &from, &to);
  }
}

/* The input `age` frames ago, 1 to longest. */
static double
get_past (const TfxDelay *d, unsigned c, size_t age)
{
  return d->ring[c * d->size + (d->position + d->size - age) % d->size];
}

void
tfx_delay_seed (TfxDelay *d, const TfxDelay *from)
{
  const size_t n = d->longest < from->longest ? d->longest : from->longest;

  tfx_delay_reset (d);
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < n; i++)
      d->ring[c * d->size + i] = get_past (from, c, n - i);
  }
  d->position = n;
}

void
tfx_delay_get_state (const TfxDelay *d, double *state)
{
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < d->longest; i++)
      *state++ = d->ring[c * d->size +
                         (d->position + d->size - d->longest + i) % d->size];
  }
}

void
tfx_delay_set_state (TfxDelay *d, const double *state)
{
  tfx_delay_reset (d);
  for (unsigned c = 0; c < d->n_channels; c++)
    memcpy (d->ring + c * d->size, state + c * d->longest,
        d->longest * sizeof *state);
  d->position = d->longest % d->size;
}

void
tfx_delay_reset (TfxDelay *d)
{
  memset (d->ring, 0, d->n_channels * d->size * sizeof *d->ring);
  d->position = 0;
}

double
tfx_delay_state_peak (const TfxDelay *d)
{
  double peak = 0.0;

  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < d->longest; i++)
      peak = fmax (peak,
          fabs (d->ring[c * d->size +
                        (d->position + d->size - d->longest + i) % d->size]));
  }
  return peak;
}
