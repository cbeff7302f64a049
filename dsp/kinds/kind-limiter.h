/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-limiter.h: how the CPU runs a limiter, for its kind. */
#ifndef TFX_KIND_LIMITER_H
#define TFX_KIND_LIMITER_H

#include "core/kind.h"

extern const TfxUnitKind tfx_limiter_unit;

#endif
