/* SPDX-License-Identifier: LGPL-2.1-or-later
 * levels.h: dynamics as plain recursions in double, sample by sample.
 */
#ifndef TEST_LEVELS_H
#define TEST_LEVELS_H

#include "tfx.h"

/* The static curve: the gain of a level, without makeup. */
double levels_gain_db (const TfxDynamics *dynamics, double level);

/* From rest, in place: samples[n_frames][n_channels].  lowest_db, unless NULL:
 * the lowest gain, without makeup. */
void levels_run (const TfxDynamics *dynamics, double *samples, size_t n_frames,
    unsigned n_channels, double *lowest_db);

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

#endif
