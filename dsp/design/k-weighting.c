/* SPDX-License-Identifier: LGPL-2.1-or-later
 * k-weighting.c: a shelf and a high-pass, ITU-R BS.1770-4, annex 1. */
#include "k-weighting.h"

#include <math.h>

/* A bilinear section of n[2] s^2 + n[1] s + n[0] over s^2 + s / q + 1, s in units
 * of the frequency. */
static TfxSos
make_bilinear (const double n[3], double freq_hz, double q, double rate_hz)
{
  const double k = tan (M_PI * freq_hz / rate_hz), square = k * k;
  const double a0 = 1.0 + k / q + square;

  return (TfxSos){ (n[2] + n[1] * k + n[0] * square) / a0,
    2.0 * (n[0] * square - n[2]) / a0, (n[2] - n[1] * k + n[0] * square) / a0,
    2.0 * (square - 1.0) / a0, (1.0 - k / q + square) / a0 };
}

void
tfx_k_weighting_design (double rate_hz, TfxSos sos[TFX_K_WEIGHTING_N_SOS])
{
  const double shelf_hz = 1681.974450955533, shelf_q = 0.7071752369554196;
  const double high_hz = 38.13547087602444, high_q = 0.5003270373238773;
  const double gain = pow (10.0, 3.999843853973347 / 20.0);
  const double shelf[3] = { 1.0, pow (gain, 0.4996667741545416) / shelf_q,
    gain };
  const double high[3] = { 0.0, 0.0, 1.0 };

  sos[0] = make_bilinear (shelf, shelf_hz, shelf_q, rate_hz);
  sos[1] = make_bilinear (high, high_hz, high_q, rate_hz);
  /* The recommendation has the numerator 1, -2, 1. */
  sos[1].b0 = sos[1].b2 = 1.0;
  sos[1].b1 = -2.0;
}
