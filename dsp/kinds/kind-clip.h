/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-clip.h: how the CPU runs a gain that clips, for its kind. */
#ifndef TFX_KIND_CLIP_H
#define TFX_KIND_CLIP_H

#include "core/kind.h"

extern const TfxUnitKind tfx_clip_unit;

#endif
