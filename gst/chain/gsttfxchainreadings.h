/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainreadings.h: messages of what the stages of a tfxchain make of their
 * level.
 */
#ifndef GST_TFX_CHAIN_READINGS_H
#define GST_TFX_CHAIN_READINGS_H

#include "gsttfxchainprivate.h"

G_BEGIN_DECLS

/* Posts them all if it is time to; behind a buffer that ends at @end, and begins
 * at @begin if it is the first one.  In the streaming thread. */
void gst_tfx_chain_readings_post (GstTfxChain *self, GstClockTime begin,
    GstClockTime end, const GstSegment *segment);

G_END_DECLS

#endif /* GST_TFX_CHAIN_READINGS_H */
