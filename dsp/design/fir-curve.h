/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir-curve.h: linear-phase FIR filters with the magnitude of a drawn curve. */
#ifndef TFX_FIR_CURVE_H
#define TFX_FIR_CURVE_H

#include "tfx.h"

/* The gain of a curve in dB.  points: rows of Hz, rising and above 0, and dB.
 * Between two points it is a straight line over log f; below the first point and above
 * the last one it is constant. */
double
tfx_fir_curve_gain_db (const double *points, size_t n_points, double freq_hz);

/* Makes taps[n_taps], an odd number, symmetric around the middle one.  share: factor of
 * the curve's dB.  0 or -ENOMEM. */
int tfx_fir_curve_design (const double *points, size_t n_points, double share,
    double rate_hz, double *taps, size_t n_taps);

#endif
