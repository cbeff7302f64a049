/* SPDX-License-Identifier: LGPL-2.1-or-later
 * svf.h: a section as a state-variable filter. */
#ifndef TFX_SVF_H
#define TFX_SVF_H

#include "tfx.h"

/* With s' = (1 - 1/z) / (1 + 1/z), p = s' / g:
 *   H = (high p^2 + band p + low) / (p^2 + k p + 1);
 * stable for any g > 0, k > 0. */
typedef struct TfxSvf
{
  double g, k, low, band, high;
} TfxSvf;

/* One frame with two integrators m and l and coefficients a to f:
 *   u = x - l, y = a u + (b m + c l), l' = (l + d m) + e u, m' = f m + d u. */
#define TFX_SVF_COEF 6

/* Of a stable section; and the section of a shape. */
TfxSvf tfx_svf_of (const TfxSos *sos);
TfxSos tfx_svf_to_sos (const TfxSvf *shape, bool is_first_order);

/* The state (s1, s2) of a section as the two integrators (m, l), whose values are
 * signals whatever the frequency; and back. */
void tfx_svf_get_state (const TfxSos *sos, const TfxSvf *shape,
    const double s[2], double ml[2]);
void tfx_svf_set_state (const TfxSos *sos, const TfxSvf *shape,
    const double ml[2], double s[2]);

#endif
