/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rbj.h: second-order sections of the Audio EQ Cookbook. */
#ifndef TFX_RBJ_H
#define TFX_RBJ_H

#include "tfx.h"

typedef enum
{
  TFX_RBJ_LOW_PASS,
  TFX_RBJ_HIGH_PASS,
  TFX_RBJ_BAND_PASS,      /* 0 dB at the centre */
  TFX_RBJ_BAND_PASS_PEAK, /* q at the centre */
  TFX_RBJ_NOTCH,
  TFX_RBJ_ALL_PASS,
  TFX_RBJ_PEAKING,    /* gain at the centre, 1 far away */
  TFX_RBJ_LOW_SHELF,  /* gain at 0 Hz, 1 at half the rate */
  TFX_RBJ_HIGH_SHELF, /* the other way round */
  TFX_RBJ_LOW_SHELF1, /* of the first order, without q */
  TFX_RBJ_HIGH_SHELF1
} TfxRbjKind;

/* One section: freq_hz above 0 and below half the rate, q > 0; gain > 0, a
 * factor, is the gain of the filter (the cookbook's A is its square root); only
 * the last five kinds use it.  0, or -EINVAL if the section is not stable
 * in double precision or not finite. */
int tfx_rbj_section (TfxRbjKind kind, double freq_hz, double q, double gain,
    double rate_hz, TfxSos *sos);

#endif /* TFX_RBJ_H */
