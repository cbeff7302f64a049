/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxservercamilla.c: commands of CamillaDSP, for programs that control it.
 *
 * A request is "GetVersion" or {"SetVolume": -10}, its answer
 * {"GetVersion": {"result": "Ok", "value": "…"}}, or in the member "result"
 * "InvalidFaderError" or {"InvalidRequestError": "the reason"}.
 */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "gsttfxserver.h"
#include "gsttfxtree.h"

/* The protocol that is spoken. */
#define PROTOCOL_VERSION "4.0.0"
#define MIN_VOLUME_DB -150.0
#define MAX_VOLUME_DB 50.0
#define SILENCE_DB -1000.0
/* Only the first one can be changed. */
#define FADERS 5

typedef struct Request
{
  GstTfxServerApi *api;
  guint64 *seen;
  gchar *command;
  GVariant *argument; /* or NULL */
  gchar *config;      /* of a request that is on its way */
  GstTfxServerReply reply;
  gpointer data;
} Request;

/* Replies, and frees the request.  result: new; value: new, or NULL. */
static void
answer_result (Request *request, GVariant *result, GVariant *value)
{
  GVariantDict dict;

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert_value (&dict, "result", result);
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

static void
answer (Request *request, GVariant *value)
{
  answer_result (request, g_variant_new_string ("Ok"), value);
}

/* reason: UTF-8. */
static void
refuse (Request *request, const gchar *error, const gchar *reason)
{
  answer_result (request, g_variant_new_parsed ("{%s: <%s>}", error, reason),
      NULL);
}

/* ---- levels --------------------------------------------------------------------------- */

/* The finite ones of a list. */
static GVariant *
list_levels (const gdouble *db, guint n)
{
  gdouble finite[GST_TFX_SERVER_METER_CHANNELS];

  for (guint i = 0; i < n; i++)
    finite[i] = MAX (db[i], SILENCE_DB);
  return gst_tfx_server_json_list (finite, n, 0);
}

/* The levels of the last block, of the last seconds ("Since"), or since the same request of
 * this client ("SinceLast").  NULL: it is another command. */
static GVariant *
read_levels (Request *request)
{
  static const gchar *const commands[GST_TFX_SERVER_CAMILLA_LEVELS] = {
    "GetCaptureSignalPeak", "GetCaptureSignalRms", "GetPlaybackSignalPeak",
    "GetPlaybackSignalRms", "GetSignalLevels"
  };
  GstTfxServerStream *stream = request->api->stream;
  const guint64 now = stream->n_blocks;
  const gchar *since = NULL;
  GstTfxServerLevels in, out;
  const gdouble *const lists[] = { in.peak_db, in.rms_db, out.peak_db,
    out.rms_db };
  guint64 n_blocks = 1;
  gdouble seconds;
  guint i = 0;

  for (; i < G_N_ELEMENTS (commands); i++) {
    if (g_str_has_prefix (request->command, commands[i])) {
      since = request->command + strlen (commands[i]);
      break;
    }
  }
  if (!since)
    return NULL;
  if (strcmp (since, "SinceLast") == 0) {
    n_blocks = now - request->seen[i];
    request->seen[i] = now;
  } else if (strcmp (since, "Since") == 0 &&
             gst_tfx_server_json_get_number (request->argument, &seconds)) {
    n_blocks =
        (guint64)ceil (CLAMP (seconds, 0.0, 3600.0) * GST_TFX_SERVER_BLOCKS_HZ);
  } else if (*since) {
    return NULL;
  }
  gst_tfx_server_meter_read (stream->input, now - MIN (n_blocks, now), &in);
  gst_tfx_server_meter_read (stream->output, now - MIN (n_blocks, now), &out);
  if (n_blocks == 0)
    in.n_channels = out.n_channels = 0;
  if (i < G_N_ELEMENTS (lists))
    return list_levels (lists[i], i < 2 ? in.n_channels : out.n_channels);
  return g_variant_new_parsed ("{'capture_peak': %v, 'capture_rms': %v, "
                               "'playback_peak': %v, 'playback_rms': %v}",
      list_levels (in.peak_db, in.n_channels),
      list_levels (in.rms_db, in.n_channels),
      list_levels (out.peak_db, out.n_channels),
      list_levels (out.rms_db, out.n_channels));
}

/* ---- values --------------------------------------------------------------------------- */

static GVariant *
list_faders (const GstTfxServerStream *stream)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("av"));

  for (guint i = 0; i < FADERS; i++)
    g_variant_builder_add (&list, "v",
        g_variant_new_parsed ("{'volume': <%d>, 'mute': <%b>}",
            i == 0 ? stream->volume_db : 0.0, i == 0 && stream->is_muted));
  return g_variant_builder_end (&list);
}

/* The answers to all commands that change nothing, by name. */
static GVariant *
list_values (GstTfxServerApi *api)
{
  GstTfxServerStream *stream = api->stream;
  gdouble most_db = -INFINITY;
  GstTfxServerLevels in;
  GstTfxServerState state;

  gst_tfx_server_stream_get_state (stream, &state);
  gst_tfx_server_meter_read (stream->input,
      stream->n_blocks - MIN (stream->n_blocks, 1), &in);
  for (guint i = 0; i < in.n_channels; i++)
    most_db = fmax (most_db, in.peak_db[i]);
  return g_variant_new_parsed (
      "{'GetVersion': <'" PROTOCOL_VERSION "'>, "
      "'GetSupportedDeviceTypes': <[['File', 'Stdout', 'Alsa', 'Pulse', "
      "'PipeWire', 'Jack'], ['RawFile', 'WavFile', 'Stdin', 'SignalGenerator', "
      "'Alsa', 'Pulse', 'PipeWire', 'Jack', 'Bluez']]>, "
      "'GetAvailableCaptureDevices': <@av []>, "
      "'GetAvailablePlaybackDevices': <@av []>, "
      "'GetState': <%s>, 'GetStopReason': <'None'>, 'GetCaptureRate': <%i>, "
      "'GetUpdateInterval': <%i>, 'GetRateAdjust': <1.0>, "
      "'GetSignalRange': <%d>, 'GetClippedSamples': <%t>, "
      "'GetProcessingLoad': <%d>, 'GetResamplerLoad': <0.0>, "
      "'GetBufferLevel': <%i>, 'GetVolume': <%d>, 'GetMute': <%b>, "
      "'GetFaders': %v, 'GetChannelLabels': <@a{sv} {'capture': <@ms nothing>, "
      "'playback': <@ms nothing>}>, 'GetConfigFilePath': <@ms nothing>, "
      "'GetStateFilePath': <@ms nothing>, 'GetStateFileUpdated': <true>, "
      "'GetConfig': <%s>, 'GetConfigJson': <%s>}",
      stream->is_playing ? "Running" : "Paused", state.rate_hz,
      1000 / GST_TFX_SERVER_BLOCKS_HZ, 2.0 * pow (10.0, most_db / 20.0),
      gst_tfx_server_meter_count_clipped (stream->output), 100.0 * stream->load,
      (gint)(state.latency_s * state.rate_hz), stream->volume_db,
      stream->is_muted, list_faders (stream),
      api->camilla ? api->camilla : "null",
      api->camilla_json ? api->camilla_json : "null");
}

/* ---- changes -------------------------------------------------------------------------- */

/* An item of an array; a single value is its first one.  NULL: there is none. */
static GVariant *
get_item (GVariant *variant, gsize i)
{
  g_autoptr (GVariant) boxed = NULL;

  if (!variant || !g_variant_is_of_type (variant, G_VARIANT_TYPE ("av")))
    return variant && i == 0 ? g_variant_ref (variant) : NULL;
  if (i >= g_variant_n_children (variant))
    return NULL;
  boxed = g_variant_get_child_value (variant, i);
  return g_variant_get_variant (boxed);
}

/* Changes the volume or the mute switch: {"SetVolume": -3}.  Commands of faders also read
 * them: {"SetFaderVolume": [0, -3]}.  FALSE: it is another command. */
static gboolean
set_volume (Request *request)
{
  GstTfxServerStream *stream = request->api->stream;
  g_auto (GStrv) parts = g_strsplit (request->command, "Fader", 2);
  g_autofree gchar *command = g_strjoinv (NULL, parts);
  const gboolean is_fader = parts[0] && parts[1];
  const gboolean is_read = is_fader && g_str_has_prefix (command, "Get");
  const gboolean is_volume = g_str_has_suffix (command, "Volume");
  g_autoptr (GVariant) first = get_item (request->argument, 0);
  g_autoptr (GVariant) second = get_item (request->argument, 1);
  GVariant *given = is_fader ? second : request->argument;
  g_autoptr (GVariant) amount = get_item (given, 0);
  g_autoptr (GVariant) least = get_item (given, 1);
  g_autoptr (GVariant) most = get_item (given, 2);
  gdouble volume_db = stream->volume_db, number;
  gdouble low_db = MIN_VOLUME_DB, high_db = MAX_VOLUME_DB, fader = 0.0;
  gboolean is_muted = stream->is_muted;
  GVariant *value = NULL;

  if (strcmp (command, "SetVolume") == 0 &&
      gst_tfx_server_json_get_number (amount, &number)) {
    volume_db = number;
  } else if (strcmp (command, "AdjustVolume") == 0 &&
             gst_tfx_server_json_get_number (amount, &number)) {
    volume_db += number;
    gst_tfx_server_json_get_number (least, &low_db);
    gst_tfx_server_json_get_number (most, &high_db);
  } else if (strcmp (command, "SetMute") == 0 && amount &&
             g_variant_is_of_type (amount, G_VARIANT_TYPE_BOOLEAN)) {
    is_muted = g_variant_get_boolean (amount);
  } else if (strcmp (command, "ToggleMute") == 0) {
    is_muted = !is_muted;
  } else if (!is_read || !(is_volume || g_str_has_suffix (command, "Mute"))) {
    return FALSE;
  }
  if (is_fader &&
      (!gst_tfx_server_json_get_number (first, &fader) || fader < 0.0 ||
          fader != floor (fader) || fader >= (is_read ? FADERS : 1))) {
    answer_result (request, g_variant_new_string ("InvalidFaderError"), NULL);
    return TRUE;
  }
  if (fader > 0.0) {
    volume_db = 0.0;
    is_muted = FALSE;
  } else if (!is_read) {
    volume_db = MIN (volume_db, MIN (high_db, MAX_VOLUME_DB));
    volume_db = MAX (volume_db, MAX (low_db, MIN_VOLUME_DB));
    gst_tfx_server_stream_set_volume (stream, volume_db, is_muted);
  }
  if (!g_str_has_prefix (command, "Set"))
    value = is_volume ? g_variant_new_double (volume_db)
                      : g_variant_new_boolean (is_muted);
  if (value && is_fader)
    value = g_variant_new_parsed ("[<%i>, %v]", (gint)fader, value);
  answer (request, value);
  return TRUE;
}

/* ---- configurations ------------------------------------------------------------------- */

/* New, to be boxed. */
static GVariant *
convert_tree (const GstTfxTree *node)
{
  const gboolean is_map = node->kind == GST_TFX_TREE_MAP;
  GVariantBuilder items = G_VARIANT_BUILDER_INIT (
      is_map ? G_VARIANT_TYPE_VARDICT : G_VARIANT_TYPE ("av"));
  const gchar *text = node->text;
  gdouble number;
  gchar *end;

  for (guint i = 0; node->children && i < node->children->len; i++) {
    const GstTfxTree *child = node->children->pdata[i];

    if (is_map)
      g_variant_builder_add (&items, "{sv}", child->key, convert_tree (child));
    else
      g_variant_builder_add (&items, "v", convert_tree (child));
  }
  if (is_map || node->kind == GST_TFX_TREE_LIST)
    return g_variant_builder_end (&items);
  g_variant_builder_clear (&items);
  if (node->kind == GST_TFX_TREE_NULL || node->is_quoted)
    return gst_tfx_server_json_string (text);
  if (strcmp (text, "true") == 0 || strcmp (text, "false") == 0)
    return g_variant_new_boolean (*text == 't');
  if (strspn (text, "-0123456789") == strlen (text))
    return g_variant_new_int64 (g_ascii_strtoll (text, NULL, 10));
  number = g_ascii_strtod (text, &end);
  return g_ascii_isalpha (*text) || *end ? gst_tfx_server_json_string (text)
                                         : g_variant_new_double (number);
}

/* The chain of a configuration in YAML or JSON, which is a part of YAML; NULL with the
 * fault.  Free both. */
static gchar *
read_config (const gchar *text, gchar **fault)
{
  const GstTfxPresetSource source = { NULL };
  GstTfxStages stages;

  gst_tfx_stages_init (&stages, &source);
  gst_tfx_camilla_write (&stages, text);
  return gst_tfx_stages_finish (&stages, fault);
}

/* The configuration of the request is the one that plays. */
static void
keep_config (Request *request)
{
  GstTfxServerApi *api = request->api;
  const GstTfxPresetSource source = { NULL };
  g_autofree gchar *fault = NULL;
  GstTfxStages stages;
  GstTfxTree *root;

  g_free (api->camilla);
  g_free (api->camilla_json);
  api->camilla = g_steal_pointer (&request->config);
  gst_tfx_stages_init (&stages, &source);
  root = gst_tfx_tree_parse (&stages, api->camilla);
  api->camilla_json = gst_tfx_server_json_print (convert_tree (root));
  gst_tfx_tree_free (root);
  g_free (gst_tfx_stages_finish (&stages, &fault));
}

static gboolean
is_setting (const Request *request)
{
  return g_str_has_prefix (request->command, "SetConfig") ||
         strcmp (request->command, "Reload") == 0;
}

static void
take_chain (GVariant *said, guint status, gpointer data)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (said);
  g_autoptr (GVariant) error = g_variant_lookup_value (owned, "error", NULL);
  Request *request = data;
  const gchar *why = NULL;

  if (error) {
    g_variant_lookup (error, "message", "&s", &why);
    refuse (request, "ConfigValidationError", why);
  } else if (is_setting (request)) {
    keep_config (request);
    gst_tfx_server_stream_set_playing (request->api->stream, TRUE);
    gst_tfx_server_api_emit_state (request->api);
    answer (request, NULL);
  } else {
    answer (request, g_variant_new_string (request->config));
  }
}

/* Sets or checks a configuration.  FALSE: it is another command. */
static gboolean
take_config (Request *request, guint by)
{
  static const gchar *const commands[] = { "SetConfig", "SetConfigJson",
    "ReadConfig", "ReadConfigJson", "ValidateConfig", "ValidateConfigJson",
    NULL };
  g_autofree gchar *chain = NULL, *fault = NULL;
  g_autoptr (GVariant) in = NULL;

  if (strcmp (request->command, "Reload") == 0)
    request->config = g_strdup (request->api->camilla);
  else if (g_strv_contains (commands, request->command) && request->argument &&
           g_variant_is_of_type (request->argument, G_VARIANT_TYPE_STRING))
    request->config = g_variant_dup_string (request->argument, NULL);
  if (!request->config)
    return FALSE;
  chain = read_config (request->config, &fault);
  if (!chain) {
    refuse (request, "ConfigReadError", fault);
    return TRUE;
  }
  in = g_variant_take_ref (g_variant_new_parsed ("{'chain': %v}",
      gst_tfx_server_json_string (chain)));
  gst_tfx_server_api_call (request->api,
      is_setting (request) ? "set-chain" : "check", in, by, FALSE, take_chain,
      request);
  return TRUE;
}

/* ---- requests ------------------------------------------------------------------------- */

void
gst_tfx_server_camilla_call (GstTfxServerApi *api, GVariant *in, guint by,
    guint64 *seen, GstTfxServerReply reply, gpointer data)
{
  g_autoptr (GVariant) command = g_variant_lookup_value (in, "command", NULL);
  g_autoptr (GVariant) values = NULL, value = NULL;
  Request *request = g_new (Request, 1);
  GVariant *levels;

  *request =
      (Request){ .api = api, .seen = seen, .reply = reply, .data = data };
  if (command && g_variant_is_of_type (command, G_VARIANT_TYPE_STRING))
    request->command = g_variant_dup_string (command, NULL);
  else if (command && g_variant_is_of_type (command, G_VARIANT_TYPE_VARDICT) &&
           g_variant_n_children (command) > 0)
    g_variant_get_child (command, 0, "{sv}", &request->command,
        &request->argument);
  else
    request->command = g_strdup ("Invalid");
  levels = read_levels (request);
  if (!levels) {
    values = g_variant_take_ref (list_values (api));
    value = g_variant_lookup_value (values, request->command, NULL);
  }
  if (value || levels) {
    answer (request, value ? value : levels);
  } else if (strcmp (request->command, "Stop") == 0) {
    gst_tfx_server_stream_set_playing (api->stream, FALSE);
    gst_tfx_server_api_emit_state (api);
    answer (request, NULL);
  } else if (strcmp (request->command, "Exit") == 0) {
    raise (SIGTERM);
    answer (request, NULL);
  } else if (!set_volume (request) && !take_config (request, by)) {
    refuse (request, "InvalidRequestError",
        "gst-tfx has no such command, or not with this");
  }
}
