/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.h: a delay line with taps, over any number of channels. */
#ifndef TFX_DELAY_H
#define TFX_DELAY_H

#include "../tfx.h"

typedef struct TfxDelay TfxDelay;

/* At rest, for delays up to longest and blocks of up to max_frames frames.
 * 0 or -ENOMEM. */
int tfx_delay_new (unsigned n_channels, size_t longest, size_t max_frames,
    TfxDelay **delay);
void tfx_delay_free (TfxDelay **delay);

/* y = gain * (direct x + sum of taps); taps stays the caller's while it
 * runs. */
void tfx_delay_set_taps (TfxDelay *delay, double direct, const TfxTap *taps,
    size_t n_taps, double gain);

/* One block, in place or apart; n_frames <= max_frames. */
void tfx_delay_run (TfxDelay *delay, const TfxBlock *in, const TfxBlock *out);

/* state[n_channels][longest]: the last inputs, the newest last. */
void tfx_delay_get_state (const TfxDelay *delay, double *state);
void tfx_delay_set_state (TfxDelay *delay, const double *state);
void tfx_delay_reset (TfxDelay *delay);
double tfx_delay_state_peak (const TfxDelay *delay);

#endif
