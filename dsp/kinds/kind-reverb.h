/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-reverb.h: the two halves of reverbs: the settings, and the unit. */
#ifndef TFX_KIND_REVERB_H
#define TFX_KIND_REVERB_H

#include "cpu/reverb.h"
#include "core/kind.h"

extern const TfxUnitKind tfx_reverb_unit;

/* Of one channel: the lines with what is looked at of their past, and the
 * one-poles. */
#define TFX_REVERB_PASTS (TFX_REVERB_COMBS * TFX_REVERB_PAST)
#define TFX_REVERB_POLES (TFX_REVERB_COMBS * TFX_REVERB_POLE)

#endif
