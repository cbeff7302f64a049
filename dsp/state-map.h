/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state-map.h: the state of a section when its coefficients change. */
#ifndef TFX_STATE_MAP_H
#define TFX_STATE_MAP_H

#include "tfx.h"

/* s[2] is the state (s1, s2) of section `from`; makes it that of `to`, so that
 * what the filter has stored goes on without a jump. */
void tfx_state_map (const TfxSos *from, const TfxSos *to, double s[2]);

/* A section between two stable ones, 0 < t < 1; stable too.  The frequency and
 * the quality go geometrically, so that neither swings out on the way. */
TfxSos tfx_state_map_between (const TfxSos *from, const TfxSos *to, double t);

#endif
