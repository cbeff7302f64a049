/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir-half.h: half of a windowed sinc, quickly. */
#ifndef TFX_FIR_HALF_H
#define TFX_FIR_HALF_H

#include "tfx.h"

/* Sums over all taps. */
typedef struct TfxFirSums
{
  double response;  /* at the reference frequency, before scaling to 1 */
  double magnitude; /* of the taps */
} TfxFirSums;

/* The taps before they are scaled, both halves; taps may be NULL.  To a few
 * units in the last place of the largest.  design is one that fits rate_hz. */
TfxFirSums
tfx_fir_half_make (const TfxFirDesign *design, double rate_hz, double *taps);

#endif
