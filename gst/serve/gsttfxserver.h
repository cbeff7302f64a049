/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserver.h: the parts of gst-tfx serve.  Functions are called from the thread of the
 * main loop, unless they say more. */
#ifndef GST_TFX_SERVER_H
#define GST_TFX_SERVER_H

#include <gio/gio.h>
#include <gst/gst.h>

#include "gsttfxtool.h"
#include "lang/expr.h"

G_BEGIN_DECLS

/* ---- meters: levels, loudness and spectrum of a running stream ---------------------- */

/* The streaming thread of a pad copies its samples into a ring of a fixed size, and waits
 * for nobody.  Channels beyond these are not measured. */
#define GST_TFX_SERVER_METER_CHANNELS 64
/* Levels are measured in blocks.  A meter keeps the blocks of the last 10 s. */
#define GST_TFX_SERVER_BLOCKS_HZ 50

typedef struct GstTfxServerMeter GstTfxServerMeter;

typedef struct GstTfxServerLevels
{
  guint n_channels; /* 0: nothing has come */
  gdouble peak_db[GST_TFX_SERVER_METER_CHANNELS];
  gdouble rms_db[GST_TFX_SERVER_METER_CHANNELS];
} GstTfxServerLevels;

/* All levels are rounded to 1/32 dB, which JSON has in few digits. */
gdouble gst_tfx_server_meter_round (gdouble db);

/* For interleaved F32 or F64 in system memory.  Free it after the pad has stopped. */
GstTfxServerMeter *
gst_tfx_server_meter_new (GstPad *pad, gboolean has_loudness);
void gst_tfx_server_meter_free (GstTfxServerMeter *self);

/* Samples beyond full scale since the beginning. */
guint64 gst_tfx_server_meter_count_clipped (const GstTfxServerMeter *self);

/* Ends a block. */
void gst_tfx_server_meter_advance (GstTfxServerMeter *self);

/* The levels of the blocks from a position.  If they have no frames, those of the last
 * block that has some in half a second before. */
void gst_tfx_server_meter_read (GstTfxServerMeter *self, guint64 from,
    GstTfxServerLevels *levels);

/* Momentary loudness by ITU-R BS.1770 in LUFS; -INFINITY: silence. */
gdouble gst_tfx_server_meter_read_loudness (GstTfxServerMeter *self);

/* The power density of the last frames at n frequencies, in dBFS/Hz, averaged over 1/24
 * octave; NaN above half the rate.  Returns n; 0: nothing has come. */
guint gst_tfx_server_meter_read_spectrum (GstTfxServerMeter *self,
    const gdouble *freq_hz, gdouble *db, guint n);

/* ---- the stream: a pipeline with a chain that clients change -------------------------- */

/* Called after the stream has ended, with a warning, or (is_over) with the reason why it
 * has failed. */
typedef void (*GstTfxServerNotify) (const gchar *warning, gboolean is_over,
    gpointer data);

/* The first members are read by all, and changed with the functions below. */
typedef struct GstTfxServerStream
{
  TfxExpr *expr;                     /* all values of the chain */
  GstTfxServerMeter *input, *output; /* before and after the chain */
  gboolean is_playing, is_bypassed, is_muted;
  gdouble volume_db; /* behind the chain */

  GstElement *pipeline, *chain, *volume;
  GstBus *bus;
  GstTfxServerNotify notify;
  gpointer data;
  gboolean is_microphone, is_loop, is_over;
  gchar *missing;     /* what the decoder lacks, or NULL */
  gchar *text;        /* NULL after a value was set */
  guint64 settled_ns; /* stream time at the end of all ramps; 0: none */
  guint64 n_blocks;   /* of the meters */
  gdouble *gains_db;  /* NAN: none; rows of blocks, of stages */
  guint64 time_ns,
      frames;   /* of process-time and frames when the load was read */
  gdouble load; /* of the last second */

  /* Written by the streaming thread, atomically. */
  guint64 next_ns, length_ns; /* stream time of the next buffer; its length */
  guint64 dropped_ns;         /* gaps in the input */
  /* Of the streaming thread. */
  GstSegment segment;
  GstClockTime expected;
} GstTfxServerStream;

typedef struct GstTfxServerState
{
  gint rate_hz, n_channels, n_outputs; /* 0: not known yet */
  guint64 positions;
  gchar format[16];
  gdouble latency_s, position_s;
  guint64 n_dropped; /* frames that the input left out */
} GstTfxServerState;

/* Of gst_tfx_pipeline_new(), stopped; NULL with an error. */
GstTfxServerStream *gst_tfx_server_stream_new (const gchar *sound,
    const gchar *source, const gchar *sink, gboolean is_loop,
    GstTfxServerNotify notify, gpointer data, GError **error);
void gst_tfx_server_stream_free (GstTfxServerStream *self);

void gst_tfx_server_stream_get_state (GstTfxServerStream *self,
    GstTfxServerState *state);
void gst_tfx_server_stream_set_playing (GstTfxServerStream *self,
    gboolean is_playing);
/* FALSE: the sound cannot be sought. */
gboolean gst_tfx_server_stream_seek (GstTfxServerStream *self, gdouble to_s);

/* Whether the sink takes another number of channels after the chain.  Any thread. */
gboolean
gst_tfx_server_stream_can_play (GstTfxServerStream *self, guint n_channels);
/* Replaces the chain by a valid one, and takes its expression over. */
void gst_tfx_server_stream_set_chain (GstTfxServerStream *self,
    const gchar *text, TfxExpr *expr);
/* The chain with its current values; that of a parameter that ramps is its target. */
const gchar *gst_tfx_server_stream_get_text (GstTfxServerStream *self);

/* Sets a number within ramp_ms.  0; -ENOTSUP if this value needs a new text
 * of the chain, or cannot ramp; or another negative errno value with the error. */
gint gst_tfx_server_stream_set_value (GstTfxServerStream *self, gsize stage,
    const gchar *param, const TfxValue *value, gdouble ramp_ms,
    TfxExprError *error);

void gst_tfx_server_stream_bypass (GstTfxServerStream *self, gboolean on);
void gst_tfx_server_stream_set_volume (GstTfxServerStream *self,
    gdouble volume_db, gboolean is_muted);

/* Ends a block of the meters and gains; GST_TFX_SERVER_BLOCKS_HZ times a second. */
void gst_tfx_server_stream_advance (GstTfxServerStream *self);

/* The lowest gain of a stage in the blocks from a position, of the last second, in dB.
 * NAN: it measures none. */
gdouble gst_tfx_server_stream_read_gain (const GstTfxServerStream *self,
    gsize stage, guint64 from);

/* ---- JSON, as GVariants --------------------------------------------------------------- */

/* Reads an object of a stranger (a{sv}); NULL: it is none, or too deep. */
GVariant *gst_tfx_server_json_parse (const gchar *text, gsize length);
/* Takes a new variant. */
gchar *gst_tfx_server_json_print (GVariant *variant);

/* New values, to be boxed.  A number that is not finite is null. */
GVariant *gst_tfx_server_json_number (gdouble number);
/* An array of arrays with n_columns > 0. */
GVariant *
gst_tfx_server_json_list (const gdouble *numbers, gsize n, gsize n_columns);
GVariant *gst_tfx_server_json_string (const gchar *text); /* NULL: null */
GVariant *gst_tfx_server_json_value (const TfxValue *value);
GVariant *gst_tfx_server_json_stages (const TfxExpr *expr, gdouble rate_hz);
GVariant *gst_tfx_server_json_classes (gdouble rate_hz);
/* {"error": …}; fault, or NULL, has a place in the text. */
GVariant *gst_tfx_server_json_error (const gchar *message,
    const TfxExprError *fault, const gchar *text);

/* Reads a number; FALSE: it is none. */
gboolean gst_tfx_server_json_get_number (GVariant *variant, gdouble *number);
/* Reads a value for a parameter, whose strings are the variant's; free value->list.
 * FALSE: it is no value. */
gboolean gst_tfx_server_json_get_value (GVariant *variant,
    const TfxParam *param, TfxValue *value);

/* ---- commands --------------------------------------------------------------------------- */

/* Takes an event for all clients, a new variant. */
typedef void (*GstTfxServerEmit) (GVariant *event, gpointer data);

typedef struct GstTfxServerApi
{
  GstTfxServerStream *stream;
  GstTfxServerEmit emit; /* set by the HTTP side before the first command */
  gpointer emit_data;
  guint n_clients;              /* set by it */
  const gchar *files, *presets; /* folders, or NULL */
  gchar *preset; /* the one that was loaded or saved last; or NULL */
  gchar *other;  /* the chain in the other slot; NULL: as this one */
  gboolean is_b; /* the slot in use */
  gchar *camilla, *camilla_json; /* its last configuration, or NULL; in JSON */
  GThreadPool *pool;             /* one thread */
  guint n_pending;               /* calls in it */
  gboolean is_ending;            /* no more of them */
} GstTfxServerApi;

/* Takes the answer to a call, a new variant: with "ok", or "error" and the HTTP
 * status. */
typedef void (
    *GstTfxServerReply) (GVariant *answer, guint status, gpointer data);

/* Clients name files in chains below the folder `files` (NULL: none), and presets are in
 * the folder `presets` (NULL: none).  All are borrowed. */
GstTfxServerApi *gst_tfx_server_api_new (GstTfxServerStream *stream,
    const gchar *files, const gchar *presets);
/* Waits for all replies. */
void gst_tfx_server_api_free (GstTfxServerApi *self);

/* Runs a command of client `by`, and replies now or later.  is_reading: a command that
 * changes something is refused. */
void gst_tfx_server_api_call (GstTfxServerApi *self, const gchar *command,
    GVariant *in, guint by, gboolean is_reading, GstTfxServerReply reply,
    gpointer data);

/* Sets a chain of the server's owner, whose files may be anywhere.  FALSE after a
 * message. */
gboolean
gst_tfx_server_api_set_chain (GstTfxServerApi *self, const gchar *text);

void gst_tfx_server_api_emit_state (GstTfxServerApi *self);
void
gst_tfx_server_api_emit_warning (GstTfxServerApi *self, const gchar *warning);

/* New events: the levels of the blocks from a position, and the present spectrum. */
GVariant *gst_tfx_server_api_make_meters (GstTfxServerApi *self, guint64 from);
GVariant *gst_tfx_server_api_make_spectrum (GstTfxServerApi *self);

/* The commands of CamillaDSP, and how many of them read levels. */
#define GST_TFX_SERVER_CAMILLA_LEVELS 5
/* Runs the request in the member "command" of `in`, of client `by`.  seen: the position at
 * which this client read levels last, by kind of request; first, that of its beginning. */
void gst_tfx_server_camilla_call (GstTfxServerApi *self, GVariant *in, guint by,
    guint64 *seen, GstTfxServerReply reply, gpointer data);

/* ---- HTTP and WebSocket ----------------------------------------------------------------- */

/* The stream of a WebSocket with limits that libsoup 3.2 lacks: it reads one part at a
 * time, nothing while the client does not read, and no endless message.  Takes
 * ownership. */
GIOStream *gst_tfx_server_flow_new (GIOStream *base);
/* Counts a text message that is about to be sent. */
void gst_tfx_server_flow_queue (GIOStream *flow, gsize length);
/* The bytes of text messages that are not written yet. */
gsize gst_tfx_server_flow_get_queued (GIOStream *flow);
/* A whole message has been read. */
void gst_tfx_server_flow_note_message (GIOStream *flow);

typedef struct GstTfxServerHttp GstTfxServerHttp;

/* Takes the events of `api`.  address: a name or a literal; NULL: this machine alone.
 * host: the name that a proxy has for it; or NULL.  token: what each request must have; or
 * NULL.  All are borrowed. */
GstTfxServerHttp *gst_tfx_server_http_new (GstTfxServerApi *api,
    const gchar *address, const gchar *host, const gchar *token);
void gst_tfx_server_http_free (GstTfxServerHttp *self);
/* The port; 0 with an error. */
guint16 gst_tfx_server_http_listen (GstTfxServerHttp *self, guint16 port,
    GError **error);

G_END_DECLS

#endif /* GST_TFX_SERVER_H */
