/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.h: a delay line with taps, over any number of channels. */
#ifndef TFX_DELAY_H
#define TFX_DELAY_H

#include "tfx.h"
#include "design/weight.h"

typedef struct TfxDelay TfxDelay;

/* At rest, for delays up to longest; kernel is the name of the kernels that run it.
 * 0 or -ENOMEM. */
int tfx_delay_new (const char *kernel, unsigned n_channels, size_t longest,
    TfxDelay **delay);
void tfx_delay_free (TfxDelay **delay);

/* y = direct x + sum of taps, over fade_frames frames from the next one on; 0: at
 * once.  taps stays the caller's while it runs, as do those of before while it
 * fades.  A fade that runs is cut short. */
void tfx_delay_set_taps (TfxDelay *delay, double direct, const TfxTap *taps,
    size_t n_taps, size_t fade_frames, TfxWeight weight);
bool tfx_delay_is_fading (const TfxDelay *delay);
size_t tfx_delay_fade_left (const TfxDelay *delay);

/* The past of another line of as many channels, as far as that has it. */
void tfx_delay_seed (TfxDelay *delay, const TfxDelay *from);

/* One block of any length, in place or apart.  A sample that is not finite
 * counts as 0. */
void tfx_delay_run (TfxDelay *delay, const TfxBlock *in, const TfxBlock *out);

/* state[n_channels][longest]: the last inputs, the newest last. */
void tfx_delay_get_state (const TfxDelay *delay, double *state);
void tfx_delay_set_state (TfxDelay *delay, const double *state);
void tfx_delay_reset (TfxDelay *delay);
/* Whether no past input above TFX_SILENCE can come out.  Takes no longer for long lines. */
bool tfx_delay_is_silent (const TfxDelay *delay);

#endif
