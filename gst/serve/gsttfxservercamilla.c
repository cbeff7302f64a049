/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxservercamilla.c: commands of CamillaDSP 1 to 3, for programs that control it.
 *
 * A request is "GetVersion" or {"SetVolume": -10}, its answer
 * {"GetVersion": {"result": "Ok", "value": "…"}}.
 */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "gsttfxserver.h"
#include "gsttfxstages.h"

#define MIN_VOLUME_DB -150.0
#define MAX_VOLUME_DB 50.0
#define SILENCE_DB -1000.0
/* Levels that were read so long ago are those of the last chunk. */
#define CHUNK_US 20000

struct GstTfxServerCamilla
{
  GstTfxServerApi *api;
  gchar *config; /* the last one that was set, or NULL */
  guint64 positions[2];
  gint64 read_us;
  GstTfxServerLevels input, output;
};

typedef struct Request
{
  GstTfxServerCamilla *self;
  gchar *command;
  GVariant *argument; /* or NULL */
  gchar *config;      /* of a request that is on its way */
  GstTfxServerReply reply;
  gpointer data;
} Request;

/* Replies, and frees the request.  value: new, or NULL. */
static void
answer (Request *request, gboolean is_good, GVariant *value)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "result", "s", is_good ? "Ok" : "Error");
  if (value)
    g_variant_dict_insert_value (&dict, "value", value);
  request->reply (g_variant_new_parsed ("{%s: %v}", request->command,
                      g_variant_dict_end (&dict)),
      200, request->data);
  g_clear_pointer (&request->argument, g_variant_unref);
  g_free (request->command);
  g_free (request->config);
  g_free (request);
}

/* ---- values --------------------------------------------------------------------------- */

/* The finite ones of a list. */
static GVariant *
list_levels (const gdouble *db, guint n)
{
  gdouble finite[GST_TFX_SERVER_METER_CHANNELS];

  for (guint i = 0; i < n; i++)
    finite[i] = MAX (db[i], SILENCE_DB);
  return gst_tfx_server_json_list (finite, n, 0);
}

/* The answers to all commands that change nothing, by name. */
static GVariant *
list_values (GstTfxServerCamilla *self)
{
  GstTfxServerStream *stream = self->api->stream;
  const gint64 now_us = g_get_monotonic_time ();
  const GstTfxServerLevels *in = &self->input, *out = &self->output;
  const struct
  {
    const gchar *command, *member;
    const gdouble *db;
    const guint *n;
  } levels[] = {
    { "GetCaptureSignalPeak", "capture_peak", in->peak_db, &in->n_channels },
    { "GetCaptureSignalRms", "capture_rms", in->rms_db, &in->n_channels },
    { "GetPlaybackSignalPeak", "playback_peak", out->peak_db,
        &out->n_channels },
    { "GetPlaybackSignalRms", "playback_rms", out->rms_db, &out->n_channels },
  };
  const gchar *config = self->config ? self->config : "null";
  gdouble most_db = -INFINITY;
  GstTfxServerState state;
  GVariantDict dict, all;

  gst_tfx_server_stream_get_state (stream, &state);
  if (now_us - self->read_us > CHUNK_US) {
    gst_tfx_server_meter_read (stream->input, &self->positions[0],
        &self->input);
    gst_tfx_server_meter_read (stream->output, &self->positions[1],
        &self->output);
    self->read_us = now_us;
  }
  for (guint i = 0; i < in->n_channels; i++)
    most_db = fmax (most_db, in->peak_db[i]);
  g_variant_dict_init (&all, NULL);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "GetVersion", "s", "2.0.0");
  g_variant_dict_insert_value (&dict, "GetSupportedDeviceTypes",
      g_variant_new_parsed ("[['GStreamer'], ['GStreamer']]"));
  g_variant_dict_insert (&dict, "GetState", "s",
      stream->is_playing ? "Running" : "Paused");
  g_variant_dict_insert (&dict, "GetStopReason", "s", "None");
  g_variant_dict_insert (&dict, "GetCaptureRate", "i", state.rate_hz);
  g_variant_dict_insert (&dict, "GetUpdateInterval", "i", CHUNK_US / 1000);
  g_variant_dict_insert (&dict, "GetRateAdjust", "d", 1.0);
  g_variant_dict_insert (&dict, "GetSignalRange", "d",
      2.0 * pow (10.0, most_db / 20.0));
  g_variant_dict_insert (&dict, "GetClippedSamples", "t",
      gst_tfx_server_meter_count_clipped (stream->output));
  g_variant_dict_insert (&dict, "GetProcessingLoad", "d", 100.0 * state.load);
  g_variant_dict_insert (&dict, "GetBufferLevel", "i",
      (gint)(state.latency_s * state.rate_hz));
  g_variant_dict_insert (&dict, "GetVolume", "d", stream->volume_db);
  g_variant_dict_insert (&dict, "GetMute", "b", stream->is_muted);
  g_variant_dict_insert (&dict, "GetConfigFilePath", "ms", NULL);
  g_variant_dict_insert (&dict, "GetConfig", "s", config);
  g_variant_dict_insert (&dict, "GetConfigJson", "s", config);
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++) {
    GVariant *list = list_levels (levels[i].db, *levels[i].n);

    g_variant_dict_insert_value (&dict, levels[i].command, list);
    g_variant_dict_insert_value (&all, levels[i].member, list);
  }
  g_variant_dict_insert_value (&dict, "GetSignalLevels",
      g_variant_dict_end (&all));
  return g_variant_dict_end (&dict);
}
/* ---- changes -------------------------------------------------------------------------- */

/* FALSE: it is another command. */
static gboolean
set_volume (Request *request)
{
  GstTfxServerStream *stream = request->self->api->stream;
  const gboolean is_adjusted = strcmp (request->command, "AdjustVolume") == 0;
  const gboolean is_toggled = strcmp (request->command, "ToggleMute") == 0;
  gdouble volume_db = stream->volume_db, number;
  gboolean is_muted = is_toggled ? !stream->is_muted : stream->is_muted;

  if ((is_adjusted || strcmp (request->command, "SetVolume") == 0) &&
      gst_tfx_server_json_get_number (request->argument, &number))
    volume_db = CLAMP (number + (is_adjusted ? volume_db : 0.0), MIN_VOLUME_DB,
        MAX_VOLUME_DB);
  else if (strcmp (request->command, "SetMute") == 0 && request->argument &&
           g_variant_is_of_type (request->argument, G_VARIANT_TYPE_BOOLEAN))
    is_muted = g_variant_get_boolean (request->argument);
  else if (!is_toggled)
    return FALSE;
  gst_tfx_server_stream_set_volume (stream, volume_db, is_muted);
  answer (request, TRUE,
      is_adjusted  ? g_variant_new_double (volume_db)
      : is_toggled ? g_variant_new_boolean (is_muted)
                   : NULL);
  return TRUE;
}

static void
take_chain (GVariant *said, guint status, gpointer data)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (said);
  g_autoptr (GVariant) error = g_variant_lookup_value (owned, "error", NULL);
  Request *request = data;

  if (error) {
    g_autoptr (GVariant) why = g_variant_lookup_value (error, "message", NULL);

    answer (request, FALSE, why);
  } else if (strcmp (request->command, "ValidateConfig") == 0) {
    answer (request, TRUE, g_variant_new_string (request->config));
  } else {
    g_free (request->self->config);
    request->self->config = g_steal_pointer (&request->config);
    answer (request, TRUE, NULL);
  }
}

/* Reads a configuration as a chain.  (JSON is YAML.)  FALSE: it is another command. */
static gboolean
take_config (Request *request, guint by)
{
  const GstTfxPresetSource source = { NULL };
  const gboolean is_check = strcmp (request->command, "ValidateConfig") == 0;
  g_autofree gchar *chain = NULL, *fault = NULL;
  g_autoptr (GVariant) in = NULL;
  GstTfxStages stages;

  if (strcmp (request->command, "Reload") == 0)
    request->config = g_strdup (request->self->config);
  else if ((is_check || g_str_has_prefix (request->command, "SetConfig")) &&
           request->argument &&
           g_variant_is_of_type (request->argument, G_VARIANT_TYPE_STRING))
    request->config = g_variant_dup_string (request->argument, NULL);
  if (!request->config)
    return FALSE;
  gst_tfx_stages_init (&stages, &source);
  gst_tfx_camilla_write (&stages, request->config);
  chain = gst_tfx_stages_finish (&stages, &fault);
  if (!chain) {
    answer (request, FALSE, gst_tfx_server_json_string (fault));
    return TRUE;
  }
  in = g_variant_take_ref (g_variant_new_parsed ("{'chain': %v}",
      gst_tfx_server_json_string (chain)));
  gst_tfx_server_api_call (request->self->api, is_check ? "check" : "set-chain",
      in, by, FALSE, take_chain, request);
  return TRUE;
}

void
gst_tfx_server_camilla_call (GstTfxServerCamilla *self, GVariant *in, guint by,
    GstTfxServerReply reply, gpointer data)
{
  g_autoptr (GVariant) command = g_variant_lookup_value (in, "command", NULL);
  g_autoptr (GVariant) values = g_variant_take_ref (list_values (self));
  g_autoptr (GVariant) value = NULL;
  Request *request = g_new (Request, 1);

  *request = (Request){ .self = self, .reply = reply, .data = data };
  if (command && g_variant_is_of_type (command, G_VARIANT_TYPE_STRING))
    request->command = g_variant_dup_string (command, NULL);
  else if (command && g_variant_is_of_type (command, G_VARIANT_TYPE_VARDICT) &&
           g_variant_n_children (command) > 0)
    g_variant_get_child (command, 0, "{sv}", &request->command,
        &request->argument);
  else
    request->command = g_strdup ("Invalid");
  value = g_variant_lookup_value (values, request->command, NULL);
  if (value) {
    answer (request, TRUE, value);
  } else if (strcmp (request->command, "Stop") == 0) {
    gst_tfx_server_stream_set_playing (self->api->stream, FALSE);
    gst_tfx_server_api_emit_state (self->api);
    answer (request, TRUE, NULL);
  } else if (strcmp (request->command, "Exit") == 0) {
    raise (SIGTERM);
    answer (request, TRUE, NULL);
  } else if (!set_volume (request) && !take_config (request, by)) {
    answer (request, FALSE,
        g_variant_new_string ("gst-tfx has no such command, or not with this"));
  }
}

GstTfxServerCamilla *
gst_tfx_server_camilla_new (GstTfxServerApi *api)
{
  GstTfxServerCamilla *self = g_new0 (GstTfxServerCamilla, 1);

  self->api = api;
  self->positions[0] = self->positions[1] = G_MAXUINT64;
  return self;
}

void
gst_tfx_server_camilla_free (GstTfxServerCamilla *self)
{
  g_free (self->config);
  g_free (self);
}
