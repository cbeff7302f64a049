/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverapi.h: the commands of a server, with JSON in and out.  All functions are
 * called from the thread of the main loop. */
#ifndef GST_TFX_SERVER_API_H
#define GST_TFX_SERVER_API_H

#include <json-glib/json-glib.h>

#include "gsttfxserverstream.h"

G_BEGIN_DECLS

typedef struct GstTfxServerApi GstTfxServerApi;

/* An event for all clients; borrowed. */
typedef void (*GstTfxServerApiEmit) (JsonObject *event, gpointer data);

/* The answer to a call, which the function owns: with "ok", or "error" and the HTTP
 * status. */
typedef void (
    *GstTfxServerApiReply) (JsonObject *answer, guint status, gpointer data);

/* Clients name files in chains below the folder `files` (NULL: none), which is the working
 * folder then, and presets are in the folder `presets` (NULL: none). */
GstTfxServerApi *
gst_tfx_server_api_new (GstTfxServerStream *stream, const gchar *files,
    const gchar *presets, GstTfxServerApiEmit emit, gpointer data);
/* Waits for all replies. */
void gst_tfx_server_api_free (GstTfxServerApi *self);

/* Runs a command of client `by`, and replies now or later.  is_reading: commands that
 * change something are refused. */
void gst_tfx_server_api_call (GstTfxServerApi *self, const gchar *command,
    JsonObject *in, guint by, gboolean is_reading, GstTfxServerApiReply reply,
    gpointer data);

/* A new answer with an error. */
JsonObject *gst_tfx_server_api_make_error (const gchar *message);

/* The number of clients, for the state. */
void gst_tfx_server_api_set_clients (GstTfxServerApi *self, guint n_clients);

/* Emits the state, or a warning. */
void gst_tfx_server_api_emit_state (GstTfxServerApi *self);
void
gst_tfx_server_api_emit_warning (GstTfxServerApi *self, const gchar *warning);

/* New events with the levels since two positions, of input and output, and with the
 * present spectrum. */
JsonObject *
gst_tfx_server_api_make_meters (GstTfxServerApi *self, guint64 positions[2]);
JsonObject *gst_tfx_server_api_make_spectrum (GstTfxServerApi *self);

G_END_DECLS

#endif /* GST_TFX_SERVER_API_H */
