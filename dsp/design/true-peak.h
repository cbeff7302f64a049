/* SPDX-License-Identifier: LGPL-2.1-or-later
 * true-peak.h: how far a signal rises between its samples. */
#ifndef TFX_TRUE_PEAK_H
#define TFX_TRUE_PEAK_H

/* Samples on both sides of a point, and points between two samples: four times the
 * rate, as in ITU-R BS.1770-4, annex 2, but with twice as many taps. */
#define TFX_TRUE_PEAK_SIDE 12
#define TFX_TRUE_PEAK_TAPS (2 * TFX_TRUE_PEAK_SIDE)
#define TFX_TRUE_PEAK_POINTS 3
/* How far at most a point is above the largest of its samples: the sum of its taps'
 * magnitudes. */
#define TFX_TRUE_PEAK_MOST 2.31

typedef struct TfxTruePeak
{
  /* The oldest sample first. */
  double taps[TFX_TRUE_PEAK_POINTS][TFX_TRUE_PEAK_TAPS];
  /* The first point is the last one seen from behind, and the middle one the same
   * from both sides.  Of a sample and the one as far from the other end, s their sum
   * and d their difference, they come to the sums of middle s, and of even s + odd d
   * and even s - odd d, of which the larger one is |even s| + |odd d|. */
  double middle[TFX_TRUE_PEAK_SIDE];
  double even[TFX_TRUE_PEAK_SIDE], odd[TFX_TRUE_PEAK_SIDE];
} TfxTruePeak;

void tfx_true_peak_init (TfxTruePeak *true_peak);

#endif
