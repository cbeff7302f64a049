/* SPDX-License-Identifier: LGPL-2.1-or-later
 * k-weighting.h: how loudness meters weigh frequencies. */
#ifndef TFX_K_WEIGHTING_H
#define TFX_K_WEIGHTING_H

#include "tfx.h"

#define TFX_K_WEIGHTING_N_SOS 2
#define TFX_K_WEIGHTING_LOWEST_RATE_HZ 4000.0

/* The two sections of ITU-R BS.1770-4 at a rate above the lowest: at 48 kHz those
 * of its tables, elsewhere the same analog filters. */
void tfx_k_weighting_design (double rate_hz, TfxSos sos[TFX_K_WEIGHTING_N_SOS]);

#endif
