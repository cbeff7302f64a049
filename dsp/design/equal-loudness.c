/* SPDX-License-Identifier: LGPL-2.1-or-later
 * equal-loudness.c: the contours of ISO 226:2023, formula (1) and table 1.
 *
 * The sound pressure level in dB of a tone with a loudness level of L phon is
 *
 *   10 / alpha lg ((4e-10)^(0.3 - alpha) (10^(0.03 L) - 10^0.072)
 *                  + 10^(alpha (T + L_U) / 10)) - L_U
 *
 * for 20 to 90 phon, and above 4 kHz to 80 phon. */
#include "equal-loudness.h"

#include <math.h>

/* The exponent alpha, the level L_U of the transfer function, and the threshold T. */
static const struct
{
  double freq_hz, alpha, lu_db, threshold_db;
} tones[TFX_EQUAL_LOUDNESS_POINTS] = {
  { 20, 0.635, -31.5, 78.1 },
  { 25, 0.602, -27.2, 68.7 },
  { 31.5, 0.569, -23.1, 59.5 },
  { 40, 0.537, -19.3, 51.1 },
  { 50, 0.509, -16.1, 44.0 },
  { 63, 0.482, -13.1, 37.5 },
  { 80, 0.456, -10.4, 31.5 },
  { 100, 0.433, -8.2, 26.5 },
  { 125, 0.412, -6.3, 22.1 },
  { 160, 0.391, -4.6, 17.9 },
  { 200, 0.373, -3.2, 14.4 },
  { 250, 0.357, -2.1, 11.4 },
  { 315, 0.343, -1.2, 8.6 },
  { 400, 0.330, -0.5, 6.2 },
  { 500, 0.320, 0.0, 4.4 },
  { 630, 0.311, 0.4, 3.0 },
  { 800, 0.303, 0.5, 2.2 },
  { 1000, 0.300, 0.0, 2.4 },
  { 1250, 0.295, -2.7, 3.5 },
  { 1600, 0.292, -4.2, 1.7 },
  { 2000, 0.290, -1.2, -1.3 },
  { 2500, 0.290, 1.4, -4.2 },
  { 3150, 0.289, 2.3, -6.0 },
  { 4000, 0.289, 1.0, -5.4 },
  { 5000, 0.289, -2.3, -1.5 },
  { 6300, 0.293, -7.2, 6.0 },
  { 8000, 0.303, -11.2, 12.6 },
  { 10000, 0.323, -10.9, 13.9 },
  { 12500, 0.354, -3.5, 12.3 },
};

/* The level of tone i, relative to 1 kHz. */
static double
find_level_db (unsigned i, double phon)
{
  const double alpha = tones[i].alpha, lu_db = tones[i].lu_db;
  const double loud =
      pow (4e-10, 0.3 - alpha) * (pow (10.0, 0.03 * phon) - pow (10.0, 0.072));
  const double quiet =
      pow (10.0, alpha * (tones[i].threshold_db + lu_db) / 10.0);

  return 10.0 / alpha * log10 (loud + quiet) - lu_db - phon;
}

void
tfx_equal_loudness_points (double phon, double reference, double *points)
{
  for (unsigned i = 0; i < TFX_EQUAL_LOUDNESS_POINTS; i++) {
    points[2 * i] = tones[i].freq_hz;
    points[2 * i + 1] = find_level_db (i, phon) - find_level_db (i, reference);
  }
}
