/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-dynamics.h: how the CPU runs a gain that follows the level, for its kind.
 */
#ifndef TFX_KIND_DYNAMICS_H
#define TFX_KIND_DYNAMICS_H

#include "core/kind.h"

extern const TfxUnitKind tfx_dynamics_unit;

/* Numbers of the state of a channel: y1, y, ms; see cpu/dynamics.h. */
#define TFX_DYNAMICS_STATE 3

#endif
