/* SPDX-License-Identifier: LGPL-2.1-or-later
 * matched.h: sections whose magnitude follows a curve up to near half the rate,
 * where the bilinear transform bends it down. */
#ifndef TFX_MATCHED_H
#define TFX_MATCHED_H

#include "tfx.h"

#define TFX_MATCHED_N_SOS 2

/* |H|^2 that is wanted at a frequency, above 0. */
typedef double (*TfxPowerFunction) (double freq_hz, const void *data);

/* Two sections with the real poles p1 and p2 (of z, within the unit circle), and
 * zeros within it such that the magnitude follows the curve from 0 to 20 kHz or
 * 0.45 times the rate, whichever is less (or to 0.3 times the rate, if that is
 * more).  0, or -EINVAL if no filter of minimum
 * phase does. */
int tfx_matched_sections (double p1, double p2, TfxPowerFunction power,
    const void *data, double rate_hz, TfxSos sos[TFX_MATCHED_N_SOS]);

#define TFX_LEAST_SQUARES_MAX 32

/* x[n] such that |A x - b| is the least, for A of n_rows >= n rows and n <=
 * TFX_LEAST_SQUARES_MAX columns: a[n][n_rows], a column after the other.  a and
 * b[n_rows] are overwritten.  A column that depends on those before it gets
 * 0. */
void
tfx_least_squares (double *a, double *b, size_t n_rows, size_t n, double *x);

#endif /* TFX_MATCHED_H */
