/* SPDX-License-Identifier: LGPL-2.1-or-later
 * levels.h: dynamics as plain recursions in double, sample by sample.
 */
#ifndef TEST_LEVELS_H
#define TEST_LEVELS_H

#include "common.h"

/* The static curve: the gain of a level, without makeup. */
double levels_gain_db (const TfxDynamics *dynamics, double level);

/* From rest, in place: samples[n_frames][n_channels].  Returns the lowest gain in dB,
 * without makeup. */
double levels_run (const TfxDynamics *dynamics, double *samples,
    size_t n_frames, unsigned n_channels);

/* The same for a limiter, sample by sample, with the window searched each time. */
void levels_limit (const TfxLimiter *limiter, double *samples, size_t n_frames,
    unsigned n_channels);

/* The same for an AGC of anything but loudness: all of its blocks. */
void levels_level (const TfxAgc *agc, double *samples, size_t n_frames,
    unsigned n_channels);

/* A signal whose level comes and goes: bursts of noise, tones, silence. */
void levels_signal (double *samples, size_t n_frames, unsigned n_channels);
/* A tone, samples of that magnitude, the tone again. */
void levels_break (double *samples, size_t n_frames, unsigned n_channels,
    double magnitude);

/* Noise whose samples have magnitudes from 2^-10 to 2^`most`. */
void levels_wild (float *samples, size_t n, double most);

/* TfxDynamics of a Compressor, by TorchFX's parameters, at 48000 Hz. */
TfxDynamics levels_compressor (double threshold_db, double ratio, double attack,
    double release, double knee_db);

/* The same for an Expander. */
TfxDynamics levels_expander (double threshold_db, double ratio, double attack,
    double release, double knee_db, double floor_db);

/* ---- checks of a stage that follows the level ----------------------------------- */

/* Runs a setting over samples[n_frames][n_channels] from rest; one of the above. */
typedef double (*LevelsRun) (const void *setting, double *samples,
    size_t n_frames, unsigned n_channels);

/* Checks that each kernel's output of the chain, which it takes, is that of `run`, each
 * sample to a relative error.  has_gain: checks the gain that is read, too, to 1e-6 dB. */
void levels_check_run (TapMany *many, const char *what, TfxChain *chain,
    LevelsRun run, const void *setting, size_t n_frames, unsigned n_channels,
    double bound, bool has_gain);

/* test_check_splits() of a level signal; takes both chains, `next` may be NULL. */
void levels_check_split (TapMany *many, const char *what, TfxChain *first,
    TfxChain *next, size_t at, size_t n_frames, unsigned n_channels,
    const char *kernel);

/* Checks that no sample of two wild channels of floats is above the limit. */
void levels_check_limit (TapMany *many, TestFilter *filter, unsigned run,
    double limit_db);

#endif
