/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverstream.h: the sound of a server: a pipeline with a chain that clients
 * change.  All functions are called from the thread of the main loop. */
#ifndef GST_TFX_SERVER_STREAM_H
#define GST_TFX_SERVER_STREAM_H

#include <gst/gst.h>

#include "gsttfxservermeter.h"
#include "lang/expr.h"

G_BEGIN_DECLS

typedef struct GstTfxServerStream GstTfxServerStream;

/* Called after the pipeline has ended, paused or posted a warning; warning may be NULL.
 * is_over: it has failed, and the warning is why. */
typedef void (*GstTfxServerStreamNotify) (const gchar *warning,
    gboolean is_over, gpointer data);

typedef struct GstTfxServerState
{
  gint rate_hz, n_channels, n_outputs; /* 0: not known yet */
  guint64 positions;
  gchar format[16];
  gdouble latency_s, position_s, load;
  guint64 n_dropped; /* frames that the input left out */
  gboolean is_playing, is_bypassed, is_muted;
  gdouble volume_db;
} GstTfxServerState;

/* The sound, source and sink of gst_tfx_pipeline_new(); NULL with an error. */
GstTfxServerStream *gst_tfx_server_stream_new (const gchar *sound,
    const gchar *source, const gchar *sink, gboolean is_loop,
    GstTfxServerStreamNotify notify, gpointer data, GError **error);
void gst_tfx_server_stream_free (GstTfxServerStream *self);

/* Starts the pipeline.  FALSE with an error. */
gboolean gst_tfx_server_stream_start (GstTfxServerStream *self, GError **error);

void gst_tfx_server_stream_get_state (GstTfxServerStream *self,
    GstTfxServerState *state);
void gst_tfx_server_stream_set_playing (GstTfxServerStream *self,
    gboolean is_playing);
/* FALSE: the sound cannot be sought. */
gboolean gst_tfx_server_stream_seek (GstTfxServerStream *self, gdouble to_s);

/* Replaces the chain by a valid one, whose expression it takes over. */
void gst_tfx_server_stream_set_chain (GstTfxServerStream *self,
    const gchar *text, TfxExpr *expr);
/* The chain with its current values; that of a parameter that ramps is its target. */
const gchar *gst_tfx_server_stream_get_text (GstTfxServerStream *self);
const TfxExpr *gst_tfx_server_stream_get_expr (const GstTfxServerStream *self);

/* Sets a number or a switch within ramp_ms.  0; -ENOTSUP if this value needs another text
 * of the chain, or cannot ramp; or another negative errno value with the error. */
gint gst_tfx_server_stream_set_value (GstTfxServerStream *self, gsize stage,
    const gchar *param, const TfxValue *value, gdouble ramp_ms,
    TfxExprError *error);

void gst_tfx_server_stream_bypass (GstTfxServerStream *self, gboolean on);
void gst_tfx_server_stream_set_volume (GstTfxServerStream *self,
    gdouble volume_db, gboolean is_muted);

/* The lowest gain of a stage since the last call, in dB.  FALSE: it measures none. */
gboolean gst_tfx_server_stream_read_gain (GstTfxServerStream *self, gsize stage,
    gdouble *gain_db);

/* The samples before and after the chain. */
GstTfxServerMeter *gst_tfx_server_stream_get_input (GstTfxServerStream *self);
GstTfxServerMeter *gst_tfx_server_stream_get_output (GstTfxServerStream *self);

G_END_DECLS

#endif /* GST_TFX_SERVER_STREAM_H */
