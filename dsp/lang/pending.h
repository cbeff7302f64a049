/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pending.h: stages that tfx.h is going to have. */
#ifndef TFX_LANG_PENDING_H
#define TFX_LANG_PENDING_H

#include "tfx.h"

/* Which channels of a stereo pair a tap reaches. */
typedef enum
{
  TFX_TAP_BOTH,
  TFX_TAP_LEFT,
  TFX_TAP_RIGHT
} TfxTapSide;

typedef struct TfxTap
{
  size_t delay; /* frames */
  double gain;
  bool swap;       /* takes the sample of the other channel of a stereo pair */
  TfxTapSide side; /* the channels that it is added to */
} TfxTap;

/* taps[n_kernels][n_taps]: one kernel for all channels, or one for each. */
TfxStage *tfx_stage_new_fir (uint64_t id, const double *const *taps,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method);

/* y[n] = direct x[n] + sum gain_k x[n - delay_k] */
TfxStage *tfx_stage_new_delay (uint64_t id, double direct, const TfxTap *taps,
    size_t n_taps);

/* The sum of the branches; an empty one passes the input. */
TfxStage *tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n);

#endif /* TFX_LANG_PENDING_H */
