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
  GstTfxServerLevels levels[2]; /* of input and output */
};

typedef struct Request
{
  GstTfxServerCamilla *self;
  GstTfxServerState state;
  const gchar *command;
  GVariant *argument; /* or NULL */
  gdouble number;     /* of the argument; NaN: it is none */
  gchar *config;      /* of a request that is on its way */
  GstTfxServerReply reply;
  gpointer data;
} Request;

/* Replies, and frees the request.  value: new, or NULL. */
static void
answer (Request *request, gboolean is_good, GVariant *value)
{
  const gchar *result = is_good ? "Ok" : "Error";
  GVariant *said = g_variant_ref_sink (
      value ? g_variant_new_parsed ("{%s: <{'result': <%s>, 'value': %v}>}",
                  request->command, result, value)
            : g_variant_new_parsed ("{%s: <{'result': <%s>}>}",
                  request->command, result));

  request->reply (said, 200, request->data);
  g_variant_unref (said);
  g_clear_pointer (&request->argument, g_variant_unref);
  g_free ((gchar *)request->command);
  g_free (request->config);
  g_free (request);
}

/* ---- values --------------------------------------------------------------------------- */

static const GstTfxServerLevels *
read_levels (GstTfxServerCamilla *self, gboolean is_output)
{
  GstTfxServerStream *stream = gst_tfx_server_api_get_stream (self->api);
  const gint64 now_us = g_get_monotonic_time ();

  if (now_us - self->read_us > CHUNK_US) {
    gst_tfx_server_meter_read (gst_tfx_server_stream_get_input (stream),
        &self->positions[0], &self->levels[0]);
    gst_tfx_server_meter_read (gst_tfx_server_stream_get_output (stream),
        &self->positions[1], &self->levels[1]);
    self->read_us = now_us;
  }
  return &self->levels[is_output];
}

static GVariant *
list_levels (GstTfxServerCamilla *self, gboolean is_output, gboolean is_peak)
{
  const GstTfxServerLevels *levels = read_levels (self, is_output);
  const gdouble *db = is_peak ? levels->peak_db : levels->rms_db;
  gdouble finite[GST_TFX_SERVER_METER_CHANNELS];

  for (guint i = 0; i < levels->n_channels; i++)
    finite[i] = MAX (db[i], SILENCE_DB);
  return gst_tfx_server_json_levels (finite, levels->n_channels);
}

static GVariant *
get_all_levels (GstTfxServerCamilla *self)
{
  return g_variant_new_parsed ("{'playback_rms': %v, 'playback_peak': %v, "
                               "'capture_rms': %v, "
                               "'capture_peak': %v}",
      list_levels (self, TRUE, FALSE), list_levels (self, TRUE, TRUE),
      list_levels (self, FALSE, FALSE), list_levels (self, FALSE, TRUE));
}

static gdouble
get_range (GstTfxServerCamilla *self)
{
  const GstTfxServerLevels *levels = read_levels (self, FALSE);
  gdouble most_db = -INFINITY;

  for (guint i = 0; i < levels->n_channels; i++)
    most_db = fmax (most_db, levels->peak_db[i]);
  return 2.0 * pow (10.0, most_db / 20.0);
}

/* The value of a command without an argument; NULL: there is none. */
static GVariant *
get_value (Request *request)
{
  GstTfxServerCamilla *self = request->self;
  const GstTfxServerState *state = &request->state;
  const gchar *command = request->command;
  GstTfxServerMeter *output = gst_tfx_server_stream_get_output (
      gst_tfx_server_api_get_stream (self->api));

#define IS(name) (strcmp (command, name) == 0)
  if (IS ("GetVersion"))
    return g_variant_new_string ("2.0.0");
  if (IS ("GetSupportedDeviceTypes"))
    return g_variant_new_parsed ("[['GStreamer'], ['GStreamer']]");
  if (IS ("GetState"))
    return g_variant_new_string (state->is_playing ? "Running" : "Paused");
  if (IS ("GetStopReason"))
    return g_variant_new_string ("None");
  if (IS ("GetCaptureRate"))
    return g_variant_new_int32 (state->rate_hz);
  if (IS ("GetUpdateInterval"))
    return g_variant_new_int32 (CHUNK_US / 1000);
  if (IS ("GetRateAdjust"))
    return g_variant_new_double (1.0);
  if (IS ("GetSignalRange"))
    return g_variant_new_double (get_range (self));
  if (IS ("GetCaptureSignalPeak") || IS ("GetCaptureSignalRms"))
    return list_levels (self, FALSE, g_str_has_suffix (command, "Peak"));
  if (IS ("GetPlaybackSignalPeak") || IS ("GetPlaybackSignalRms"))
    return list_levels (self, TRUE, g_str_has_suffix (command, "Peak"));
  if (IS ("GetSignalLevels"))
    return get_all_levels (self);
  if (IS ("GetClippedSamples"))
    return g_variant_new_uint64 (gst_tfx_server_meter_count_clipped (output));
  if (IS ("GetProcessingLoad"))
    return g_variant_new_double (100.0 * state->load);
  if (IS ("GetBufferLevel"))
    return g_variant_new_int32 ((gint)(state->latency_s * state->rate_hz));
  if (IS ("GetVolume"))
    return g_variant_new_double (state->volume_db);
  if (IS ("GetMute"))
    return g_variant_new_boolean (state->is_muted);
  if (IS ("GetConfigFilePath"))
    return g_variant_new ("ms", NULL);
  if (IS ("GetConfig") || IS ("GetConfigJson"))
    return gst_tfx_server_json_string (self->config ? self->config : "null");
  return NULL;
#undef IS
}

/* ---- changes -------------------------------------------------------------------------- */

/* FALSE: it is another command. */
static gboolean
set_volume (Request *request)
{
  GstTfxServerStream *stream =
      gst_tfx_server_api_get_stream (request->self->api);
  const gboolean is_adjusted = strcmp (request->command, "AdjustVolume") == 0;
  const gboolean is_toggled = strcmp (request->command, "ToggleMute") == 0;
  gdouble volume_db = request->state.volume_db;
  gboolean is_muted = request->state.is_muted;

  if ((is_adjusted || strcmp (request->command, "SetVolume") == 0) &&
      !isnan (request->number))
    volume_db = CLAMP (request->number + (is_adjusted ? volume_db : 0.0),
        MIN_VOLUME_DB, MAX_VOLUME_DB);
  else if (strcmp (request->command, "SetMute") == 0 && request->argument &&
           g_variant_is_of_type (request->argument, G_VARIANT_TYPE_BOOLEAN))
    is_muted = g_variant_get_boolean (request->argument);
  else if (is_toggled)
    is_muted = !is_muted;
  else
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
  Request *request = data;
  GVariant *error = g_variant_lookup_value (said, "error", NULL);
  const gchar *message = "";

  if (error) {
    g_variant_lookup (error, "message", "&s", &message);
    answer (request, FALSE, g_variant_new_string (message));
    g_variant_unref (error);
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
  GstTfxStages stages;
  const gboolean is_check = strcmp (request->command, "ValidateConfig") == 0;
  gchar *chain, *fault = NULL;
  GVariant *in;

  if (strcmp (request->command, "Reload") == 0)
    request->config = g_strdup (request->self->config);
  else if ((is_check || strcmp (request->command, "SetConfig") == 0 ||
               strcmp (request->command, "SetConfigJson") == 0) &&
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
  } else {
    in = g_variant_ref_sink (g_variant_new_parsed ("{'chain': %v}",
        gst_tfx_server_json_string (chain)));
    gst_tfx_server_api_call (request->self->api,
        is_check ? "check" : "set-chain", in, by, FALSE, take_chain, request);
    g_variant_unref (in);
  }
  g_free (chain);
  g_free (fault);
  return TRUE;
}

void
gst_tfx_server_camilla_call (GstTfxServerCamilla *self, GVariant *in, guint by,
    GstTfxServerReply reply, gpointer data)
{
  GstTfxServerStream *stream = gst_tfx_server_api_get_stream (self->api);
  Request *request = g_new (Request, 1);
  GVariant *command = g_variant_lookup_value (in, "command", NULL), *value;
  GVariantIter iter;

  *request = (Request){ .self = self, .reply = reply, .data = data };
  if (command && g_variant_is_of_type (command, G_VARIANT_TYPE_STRING)) {
    request->command = g_variant_dup_string (command, NULL);
  } else if (command &&
             g_variant_is_of_type (command, G_VARIANT_TYPE_VARDICT)) {
    g_variant_iter_init (&iter, command);
    g_variant_iter_next (&iter, "{sv}", &request->command, &request->argument);
  }
  g_clear_pointer (&command, g_variant_unref);
  if (!request->command)
    request->command = g_strdup ("Invalid");
  if (!gst_tfx_server_json_get_number (request->argument, &request->number))
    request->number = NAN;
  gst_tfx_server_stream_get_state (stream, &request->state);
  value = get_value (request);
  if (value) {
    answer (request, TRUE, value);
  } else if (strcmp (request->command, "Stop") == 0) {
    gst_tfx_server_stream_set_playing (stream, FALSE);
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
