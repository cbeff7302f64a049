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

struct TfxDelay
{
  unsigned n_channels;
  size_t longest, size, position; /* the ring's; where the next sample goes */
  double *ring;                   /* [n_channels][size] */
  double *line;                   /* the output of one channel */
  double direct, gain;
  const TfxTap *taps;
  size_t n_taps;
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
  d->ring = calloc (n_channels * d->size, sizeof *d->ring);
  d->line = calloc (max_frames, sizeof *d->line);
  if (!d->ring || !d->line) {
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
  free (d);
}

void
tfx_delay_set_taps (TfxDelay *d, double direct, const TfxTap *taps,
    size_t n_taps, double gain)
{
  d->direct = direct;
  d->taps = taps;
  d->n_taps = n_taps;
  d->gain = gain;
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

void
tfx_delay_run (TfxDelay *d, const TfxBlock *in, const TfxBlock *out)
{
  const size_t n = in->n_frames;
  double *y = d->line;

  store_block (d, in);
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < n; i++)
      y[i] = d->gain * d->direct * tfx_block_get (in, i, c);
    for (size_t k = 0; k < d->n_taps; k++) {
      const TfxTap *tap = &d->taps[k];
      unsigned from = tap->swap && (c ^ 1) < d->n_channels ? c ^ 1 : c;
      size_t at = d->position + d->size - tap->delay;

      if (tap->side != TFX_TAP_BOTH &&
          (tap->side == TFX_TAP_LEFT) != (c % 2 == 0))
        continue;
      add_tap (d, d->ring + from * d->size, at >= d->size ? at - d->size : at,
          d->gain * tap->gain, y, n);
    }
    for (size_t i = 0; i < n; i++)
      tfx_block_set (out, i, c, y[i]);
  }
  d->position = (d->position + n) % d->size;
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
