/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverhttp.h: the HTTP and WebSocket side of a server. */
#ifndef GST_TFX_SERVER_HTTP_H
#define GST_TFX_SERVER_HTTP_H

#include "gsttfxserverapi.h"

G_BEGIN_DECLS

typedef struct GstTfxServerHttp GstTfxServerHttp;

/* address: a name or a literal; NULL: this machine alone.  token: what each request must
 * have; or NULL. */
GstTfxServerHttp *
gst_tfx_server_http_new (const gchar *address, const gchar *token);
void gst_tfx_server_http_free (GstTfxServerHttp *self);

/* Listens, from now on with the commands of `api`.  The port, or 0 with an error. */
guint16 gst_tfx_server_http_listen (GstTfxServerHttp *self,
    GstTfxServerApi *api, guint16 port, GError **error);

/* Sends an event to all WebSocket clients: GstTfxServerApiEmit. */
void gst_tfx_server_http_emit (JsonObject *event, gpointer self);

G_END_DECLS

#endif /* GST_TFX_SERVER_HTTP_H */
