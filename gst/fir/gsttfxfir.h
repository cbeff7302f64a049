/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfir.h: the element tfxfir.
 */
#ifndef GST_TFX_FIR_H
#define GST_TFX_FIR_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_FIR (gst_tfx_fir_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxFir, gst_tfx_fir, GST, TFX_FIR, GstTfxElement)

GST_ELEMENT_REGISTER_DECLARE (tfxfir);

G_END_DECLS

#endif /* GST_TFX_FIR_H */
