/* SPDX-License-Identifier: LGPL-2.1-or-later
 * equal-loudness.h: normal equal-loudness-level contours, ISO 226:2023. */
#ifndef TFX_EQUAL_LOUDNESS_H
#define TFX_EQUAL_LOUDNESS_H

/* The frequencies of the standard, 20 Hz to 12.5 kHz. */
#define TFX_EQUAL_LOUDNESS_POINTS 29

/* Writes the gains that keep the balance of sound that is meant for `reference` phon at a
 * level of `phon`: points[TFX_EQUAL_LOUDNESS_POINTS][2], rows of Hz and dB, 0 dB at
 * 1 kHz. */
void tfx_equal_loudness_points (double phon, double reference, double *points);

#endif
