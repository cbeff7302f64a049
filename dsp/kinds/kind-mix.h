/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-mix.h: the two halves of mixes: the settings, and the unit. */
#ifndef TFX_KIND_MIX_H
#define TFX_KIND_MIX_H

#include "core/kind.h"

extern const TfxUnitKind tfx_mix_unit;

#endif
