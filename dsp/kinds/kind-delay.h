/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-delay.h: how the CPU runs a delay line, for its kind. */
#ifndef TFX_KIND_DELAY_H
#define TFX_KIND_DELAY_H

#include "core/kind.h"

extern const TfxUnitKind tfx_delay_unit;

#endif
