/* SPDX-License-Identifier: LGPL-2.1-or-later
 * band.h: the frequencies of a design. */
#ifndef TFX_BAND_H
#define TFX_BAND_H

#include "tfx.h"

/* Whether a filter has two of them. */
static inline bool
tfx_band_has_two (TfxMode mode)
{
  return mode == TFX_MODE_BAND_PASS || mode == TFX_MODE_BAND_REJECT;
}

/* NULL, or what is wrong with one; those of one cutoff have lower_hz. */
static inline const char *
tfx_band_find_fault (TfxMode mode, double lower_hz, double upper_hz,
    double rate_hz)
{
  if (!(lower_hz > 0.0 && lower_hz < 0.5 * rate_hz))
    return tfx_band_has_two (mode)
               ? "lower_hz: must be above 0 and below half the rate"
               : "lower_hz (the cutoff): must be above 0 and below half the "
                 "rate";
  if (!tfx_band_has_two (mode))
    return NULL;
  if (!(upper_hz > 0.0 && upper_hz < 0.5 * rate_hz))
    return "upper_hz: must be above 0 and below half the rate";
  return upper_hz > lower_hz ? NULL : "upper_hz: must be above lower_hz";
}

#endif
