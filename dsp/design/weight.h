/* SPDX-License-Identifier: LGPL-2.1-or-later
 * weight.h: weights of cross-fades and ramps. */
#ifndef TFX_WEIGHT_H
#define TFX_WEIGHT_H

#include <stddef.h>

typedef enum
{
  /* A change by itself: 6 t^5 - 15 t^4 + 10 t^3, whose second derivative too is 0 at
   * its ends, so its spectrum falls fast. */
  TFX_WEIGHT_SMOOTH,
  /* From one point of a curve to the next. */
  TFX_WEIGHT_LINEAR
} TfxWeight;

/* `done` of `length` frames are over: 0 to 1. */
static inline double
tfx_weight_at (TfxWeight weight, size_t done, size_t length)
{
  const double t = done < length ? (double)done / (double)length : 1.0;

  return weight == TFX_WEIGHT_LINEAR
             ? t
             : t * t * t * (10.0 + t * (6.0 * t - 15.0));
}

/* Frames in which a signal rises where its known history begins: a delay line would repeat
 * a step as a click. */
#define TFX_WEIGHT_RISE 512

#endif
