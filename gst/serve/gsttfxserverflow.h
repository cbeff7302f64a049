/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverflow.h: a WebSocket's stream, with bounds on what it keeps in memory. */
#ifndef GST_TFX_SERVER_FLOW_H
#define GST_TFX_SERVER_FLOW_H

#include <gio/gio.h>

G_BEGIN_DECLS

/* The stream of a connection, for a SoupWebsocketConnection of a server, which has no such
 * bounds itself (libsoup 3.2).  It reads nothing while the client does not read, and no
 * more than a part at a time.  Takes ownership. */
GIOStream *gst_tfx_server_flow_new (GIOStream *base);

/* Counts a text message that is about to be sent. */
void gst_tfx_server_flow_queue (GIOStream *flow, gsize length);
/* The bytes of text messages that are not written yet. */
gsize gst_tfx_server_flow_get_queued (GIOStream *flow);

/* A message has been read whole.  Reading fails after most_bytes without one. */
void gst_tfx_server_flow_note_message (GIOStream *flow);

G_END_DECLS

#endif /* GST_TFX_SERVER_FLOW_H */
