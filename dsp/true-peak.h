/* SPDX-License-Identifier: LGPL-2.1-or-later
 * true-peak.h: how far a signal rises between its samples. */
#ifndef TFX_TRUE_PEAK_H
#define TFX_TRUE_PEAK_H

#include <stddef.h>

/* Samples on both sides of a point, and points between two samples: four times the
 * rate, as in ITU-R BS.1770-4, annex 2, but with twice as many taps. */
#define TFX_TRUE_PEAK_SIDE 12
#define TFX_TRUE_PEAK_TAPS (2 * TFX_TRUE_PEAK_SIDE)
#define TFX_TRUE_PEAK_POINTS 3

typedef struct TfxTruePeak
{
  /* The oldest sample first. */
  double taps[TFX_TRUE_PEAK_POINTS][TFX_TRUE_PEAK_TAPS];
} TfxTruePeak;

void tfx_true_peak_init (TfxTruePeak *true_peak);

/* peaks[n_frames], stride apart: the largest of a sample and of the points of
 * TFX_TRUE_PEAK_SIDE samples before.  past[TFX_TRUE_PEAK_TAPS - 1]: the samples in
 * front, and in the end the last ones. */
void tfx_true_peak_run (const TfxTruePeak *true_peak, const double *samples,
    double *peaks, size_t n_frames, size_t stride, double *past);

#endif
