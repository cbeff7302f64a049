/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.h: a delay line with taps, over any number of channels. */
#ifndef TFX_DELAY_H
#define TFX_DELAY_H

#include "tfx.h"
#include "design/weight.h"

typedef struct TfxDelay TfxDelay;

/* y = direct x + sum of taps.  A tap's delay is at most the line's longest. */
typedef struct TfxDelayTaps
{
  double direct;
  const TfxTap *taps;
  size_t n;
} TfxDelayTaps;

/* At rest, for delays up to longest; kernel is the name of its kernels.  0 or -ENOMEM. */
int tfx_delay_new (const char *kernel, unsigned n_channels, size_t longest,
    TfxDelay **delay);
void tfx_delay_free (TfxDelay **delay);

/* Takes over the known history of another line, which has as many channels. */
void tfx_delay_seed (TfxDelay *delay, const TfxDelay *from);

/* One block of any length, in place or apart.  If next is not NULL it is part of a
 * cross-fade from taps to next: `done` of `length` frames are over before it, and it is no
 * longer than the rest.  A sample that is not finite counts as 0. */
void tfx_delay_run (TfxDelay *delay, const TfxDelayTaps *taps,
    const TfxDelayTaps *next, TfxWeight weight, size_t done, size_t length,
    const TfxBlock *in, const TfxBlock *out);

/* state[n_channels][longest]: the last inputs, the newest last. */
void tfx_delay_get_state (const TfxDelay *delay, double *state);
void tfx_delay_set_state (TfxDelay *delay, const double *state);
void tfx_delay_reset (TfxDelay *delay);
/* Whether no past input above TFX_SILENCE can come out.  Does not scan the line. */
bool tfx_delay_is_silent (const TfxDelay *delay);

#endif
