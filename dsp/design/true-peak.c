/* SPDX-License-Identifier: LGPL-2.1-or-later
 * true-peak.c: a signal between its samples, by a windowed sinc. */
#include "true-peak.h"

#include <math.h>

void
tfx_true_peak_init (TfxTruePeak *t)
{
  for (unsigned p = 0; p < TFX_TRUE_PEAK_POINTS; p++) {
    const double part = (double)(p + 1) / (TFX_TRUE_PEAK_POINTS + 1);
    double sum = 0.0;

    for (unsigned k = 0; k < TFX_TRUE_PEAK_TAPS; k++) {
      /* From the point to the sample. */
      const double d = k + 1.0 - TFX_TRUE_PEAK_SIDE - part;
      const double c = cos (0.5 * M_PI * d / TFX_TRUE_PEAK_SIDE);

      t->taps[p][k] = sin (M_PI * d) / (M_PI * d) * c * c;
      sum += t->taps[p][k];
    }
    for (unsigned k = 0; k < TFX_TRUE_PEAK_TAPS; k++)
      t->taps[p][k] /= sum;
  }
  for (unsigned k = 0; k < TFX_TRUE_PEAK_SIDE; k++) {
    const double a = t->taps[0][k], b = t->taps[0][TFX_TRUE_PEAK_TAPS - 1 - k];

    t->middle[k] = t->taps[1][k];
    t->even[k] = 0.5 * (a + b);
    t->odd[k] = 0.5 * (a - b);
  }
}
