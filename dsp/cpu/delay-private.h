/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay-private.h: what a delay line is made of. */
#ifndef TFX_DELAY_PRIVATE_H
#define TFX_DELAY_PRIVATE_H

#include "delay.h"
#include "kernels.h"

/* y = direct x + sum of taps */
typedef struct TfxDelayTaps
{
  double direct;
  const TfxTap *taps;
  size_t n;
} TfxDelayTaps;

struct TfxDelay
{
  const TfxKernels *kernels;
  unsigned n_channels;
  size_t longest, size, position; /* the ring's; where the next frame goes */
  size_t part_frames;
  double *ring; /* [size][n_channels] */
  double *line,
      *next;      /* [part_frames][n_channels]: rows instead of planes or an
                        * output, and that of the next taps */
  size_t n_known; /* frames of the past: all, or what was set and has come */
  size_t n_quiet; /* frames since the last one above TFX_SILENCE */
  TfxDelayTaps taps, next_taps;
  size_t fade_done, fade_frames; /* from taps to next_taps; 0: none */
  TfxWeight weight;
};

/* The frames of the ring that stand `delay` before those of the part. */
static inline size_t
tfx_delay_find_start (const TfxDelay *d, size_t delay)
{
  const size_t at = d->position + d->size - delay;

  return at >= d->size ? at - d->size : at;
}

/* Whether these taps are rendered in one pass, into samples of any type
 * (delay-taps.c). */
bool tfx_delay_is_one_pass (const TfxDelayTaps *taps);

/* The output of the frames that have been stored from `position` on,
 * y[n_frames][n_channels]; doubles if it takes more than one pass. */
void tfx_delay_render (const TfxDelay *delay, const TfxDelayTaps *taps, void *y,
    TfxSample type, size_t n_frames);

#endif
