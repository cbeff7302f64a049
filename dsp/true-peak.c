/* SPDX-License-Identifier: LGPL-2.1-or-later
 * true-peak.c: a signal between its samples, by a windowed sinc. */
#include "true-peak.h"

#include <math.h>
#include <string.h>

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
}

#define PART 128
#define N_PAST (TFX_TRUE_PEAK_TAPS - 1)

/* peaks[n] = the largest of these and of a point between the middle samples of
 * line[i ... i + TFX_TRUE_PEAK_TAPS), frames side by side. */
static void
add_point (const double *taps, const double *restrict line,
    double *restrict peaks, size_t n)
{
  double sums[PART] = { 0.0 };

  for (unsigned k = 0; k < TFX_TRUE_PEAK_TAPS; k += 4) {
    const double *l = line + k;

    for (size_t i = 0; i < n; i++)
      sums[i] += (taps[k] * l[i] + taps[k + 1] * l[i + 1]) +
                 (taps[k + 2] * l[i + 2] + taps[k + 3] * l[i + 3]);
  }
  for (size_t i = 0; i < n; i++) {
    const double a = fabs (sums[i]);

    peaks[i] = a > peaks[i] ? a : peaks[i];
  }
}

void
tfx_true_peak_run (const TfxTruePeak *t, const double *samples, double *peaks,
    size_t n_frames, size_t stride, double *past)
{
  double line[N_PAST + PART], found[PART];

  memcpy (line, past, N_PAST * sizeof *line);
  for (size_t i = 0, n; i < n_frames; i += n) {
    n = n_frames - i < PART ? n_frames - i : PART;
    for (size_t k = 0; k < n; k++) {
      line[N_PAST + k] = samples[(i + k) * stride];
      found[k] = fabs (line[N_PAST + k]);
    }
    for (unsigned p = 0; p < TFX_TRUE_PEAK_POINTS; p++)
      add_point (t->taps[p], line, found, n);
    for (size_t k = 0; k < n; k++)
      peaks[(i + k) * stride] = found[k];
    memmove (line, line + n, N_PAST * sizeof *line);
  }
  memcpy (past, line, N_PAST * sizeof *line);
}
