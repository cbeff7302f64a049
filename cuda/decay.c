/* SPDX-License-Identifier: LGPL-2.1-or-later
 * decay.c: see decay.h. */
#include "decay.h"

#include <math.h>

TfxDecay
tfx_cuda_decay (double a)
{
  TfxDecay decay = { .once = a };
  double power = pow (a, TFX_UNIT_RUN);

  for (int i = 0; i < TFX_N_DECAYS; i++) {
    decay.powers[i] = power;
    power *= power;
  }
  return decay;
}
