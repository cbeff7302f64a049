/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state-map.h: a section as a state-variable filter. */
#ifndef TFX_STATE_MAP_H
#define TFX_STATE_MAP_H

#include "tfx.h"

/* With s' = (1 - 1/z) / (1 + 1/z), p = s' / g:
 *   H = (high p^2 + band p + low) / (p^2 + k p + 1);
 * stable for any g > 0, k > 0. */
typedef struct TfxShape
{
  double g, k, low, band, high;
} TfxShape;

/* Of a stable section. */
TfxShape tfx_shape_of (const TfxSos *sos);

/* The state (s1, s2) of a section as the two integrators (m, l), whose values are
 * signals whatever the frequency; and back. */
void tfx_shape_get_state (const TfxSos *sos, const TfxShape *shape,
    const double s[2], double ml[2]);
void tfx_shape_set_state (const TfxSos *sos, const TfxShape *shape,
    const double ml[2], double s[2]);

#endif
