/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbutterworth.h: the element tfxbutterworth.
 */
#ifndef GST_TFX_BUTTERWORTH_H
#define GST_TFX_BUTTERWORTH_H

#include "gsttfxiir.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_BUTTERWORTH (gst_tfx_butterworth_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxButterworth, gst_tfx_butterworth, GST,
    TFX_BUTTERWORTH, GstTfxIir)

GST_ELEMENT_REGISTER_DECLARE (tfxbutterworth);

G_END_DECLS

#endif /* GST_TFX_BUTTERWORTH_H */
