/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sos.h: shared operations on second-order sections. */
#ifndef TFX_SOS_H
#define TFX_SOS_H

#include "tfx.h"

/* gain * the section. */
static inline void
tfx_sos_scale (TfxSos *sos, double gain)
{
  sos->b0 *= gain;
  sos->b1 *= gain;
  sos->b2 *= gain;
}

#endif
