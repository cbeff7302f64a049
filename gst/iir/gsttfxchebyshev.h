/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchebyshev.h: the element tfxchebyshev.
 */
#ifndef GST_TFX_CHEBYSHEV_H
#define GST_TFX_CHEBYSHEV_H

#include "gsttfxiir.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_CHEBYSHEV (gst_tfx_chebyshev_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxChebyshev, gst_tfx_chebyshev, GST, TFX_CHEBYSHEV,
    GstTfxIir)

GST_ELEMENT_REGISTER_DECLARE (tfxchebyshev);

G_END_DECLS

#endif /* GST_TFX_CHEBYSHEV_H */
