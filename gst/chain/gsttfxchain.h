/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchain.h: the element tfxchain.
 */
#ifndef GST_TFX_CHAIN_H
#define GST_TFX_CHAIN_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_CHAIN (gst_tfx_chain_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxChain, gst_tfx_chain, GST, TFX_CHAIN, GstTfxElement)

GST_ELEMENT_REGISTER_DECLARE (tfxchain);

G_END_DECLS

#endif /* GST_TFX_CHAIN_H */
