/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpeer.h: finds the element that a pad is linked to.
 */
#ifndef GST_TFX_PEER_H
#define GST_TFX_PEER_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns the element of this type that the pad is linked to, directly or
 * through ghost and proxy pads; a reference, or NULL. */
GstElement *gst_tfx_peer_find (GstPad *pad, GType type);

G_END_DECLS

#endif /* GST_TFX_PEER_H */
