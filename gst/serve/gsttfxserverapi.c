/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverapi.c: the commands of a server, with JSON in and out.
 *
 * A command begins in the main loop, may read and design a chain in a thread, and ends in
 * the main loop.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxchainreader.h"
#include "gsttfxserver.h"
#include "lang/error.h"

#define DEFAULT_RATE_HZ 48000
#define MAX_POINTS 4096
#define MAX_RAMP_MS 60000.0
#define MAX_PENDING 64
#define MAX_TEXT 65536
#define MAX_NAME 100
#define MAX_PRESETS 1000
#define PRESET ".chain"
/* Lines of a spectrum: 24 in an octave. */
#define SPECTRUM_FROM_HZ 20.0
#define SPECTRUM_LINES 240
#define SPECTRUM_STEPS 24.0
/* A response may keep others waiting for this long. */
#define RESPONSE_S 2

typedef struct Call Call;

typedef struct Command
{
  const gchar *name;
  gboolean is_reading;    /* it changes nothing */
  void (*begin) (Call *); /* or NULL */
  void (*work) (Call *);  /* in the thread, if there is a text */
  void (*end) (Call *);   /* or NULL */
  GVariant *(*answer) (GstTfxServerApi *, Call *); /* NULL: it is there */
} Command;

struct Call
{
  GstTfxServerApi *api;
  const Command *command;
  GVariant *in;
  guint by;
  GstTfxServerReply reply;
  gpointer data;

  gchar *text;         /* the chain to read, or NULL */
  gchar *before;       /* the chain that it was made of, or NULL */
  gboolean is_trusted; /* its files may be anywhere */
  GstTfxServerState state;
  gdouble rate_hz; /* the usual one before the stream has one */
  TfxExpr *expr;   /* of the text, then */
  TfxChain *chain;
  guint n_channels;   /* of its input */
  TfxExprError fault; /* in the text */

  GVariant *ok, *error; /* one of them in the end */
  guint status;
};

/* ---- requests ------------------------------------------------------------------------- */

/* The first error is the answer.  Returns FALSE. */
static gboolean G_GNUC_PRINTF (3, 4)
    fail (Call *call, guint status, const gchar *format, ...)
{
  g_autofree gchar *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!call->error) {
    call->error =
        g_variant_take_ref (gst_tfx_server_json_error (message, NULL, NULL));
    call->status = status;
  }
  return FALSE;
}

/* FALSE: it is no number in this range; one that is missing keeps its value. */
static gboolean
read_number (Call *call, const gchar *name, gdouble low, gdouble high,
    gdouble *number)
{
  g_autoptr (GVariant) given = g_variant_lookup_value (call->in, name, NULL);

  if (given && !gst_tfx_server_json_get_number (given, number))
    return fail (call, 400, "%s must be a number", name);
  return (*number >= low && *number <= high) ||
         fail (call, 400, "%s is %g, but must be from %g to %g", name, *number,
             low, high);
}

/* A string of the request; NULL: it has none, and has failed. */
static const gchar *
read_string (Call *call, const gchar *name)
{
  const gchar *text = NULL;

  if (!g_variant_lookup (call->in, name, "&s", &text))
    fail (call, 400, "%s must be a string", name);
  return text;
}

static void
emit_event (GstTfxServerApi *self, GVariant *event)
{
  self->emit (event, self->emit_data);
}

/* ---- chains --------------------------------------------------------------------------- */

static gboolean
build_chain (Call *call)
{
  const GstTfxServerState *state = &call->state;
  const gchar *root = call->api->files ? call->api->files : "";
  g_autofree gchar *absolute = NULL;
  guint64 positions;
  guint n_out, n_most;

  /* A stranger's file is read to see whether it may be. */
  if (!call->is_trusted) {
    call->expr =
        gst_tfx_chain_reader_parse_below (call->text, root, &call->fault);
    if (!call->expr)
      return FALSE;
    tfx_expr_free (&call->expr);
  }
  absolute =
      gst_tfx_chain_reader_make_absolute (call->text, root, NULL, &call->fault);
  if (!absolute)
    return FALSE;
  g_free (call->text);
  call->text = g_steal_pointer (&absolute);
  call->expr =
      gst_tfx_chain_reader_parse (call->text, NULL, NULL, NULL, &call->fault);
  if (!call->expr)
    return FALSE;
  call->n_channels = tfx_expr_find_channels (call->expr, 2, &positions);
  if (state->n_channels > 0) {
    call->n_channels = (guint)state->n_channels;
    positions = state->positions;
  }
  if (tfx_expr_build_at (call->expr, call->rate_hz, call->n_channels, positions,
          NULL, NULL, &call->chain, &call->fault) < 0) {
    tfx_expr_place_error (&call->fault, call->text, strlen (call->text));
    return FALSE;
  }
  tfx_expr_channels (call->expr, call->n_channels, &n_out, &n_most);
  if ((gint)n_out == state->n_outputs ||
      gst_tfx_server_stream_can_play (call->api->stream, n_out))
    return TRUE;
  tfx_error_set (&call->fault, -ENOTSUP,
      "the chain has %u output channels, which the sink does not take", n_out);
  return FALSE;
}

/* Reads the chain of the text and builds it for the stream. */
static void
work_chain (Call *call)
{
  if (build_chain (call))
    return;
  call->status = 422;
  call->error =
      g_variant_take_ref (gst_tfx_server_json_error (call->fault.message,
          &call->fault, call->text));
}

static void
begin_chain (Call *call)
{
  call->text = g_strdup (read_string (call, "chain"));
}

static GVariant *
answer_chain (GstTfxServerApi *self, Call *call)
{
  return g_variant_new_parsed ("{'chain': %v, 'stages': %v}",
      gst_tfx_server_json_string (
          gst_tfx_server_stream_get_text (self->stream)),
      gst_tfx_server_json_stages (self->stream->expr, call->rate_hz));
}

/* The stream and all clients get the chain of the call; this is the answer, too. */
static void
publish_chain (Call *call)
{
  GVariantDict event;

  gst_tfx_server_stream_set_chain (call->api->stream, call->text,
      g_steal_pointer (&call->expr));
  call->ok = g_variant_take_ref (answer_chain (call->api, call));
  g_variant_dict_init (&event, call->ok);
  g_variant_dict_insert (&event, "event", "s", "chain");
  g_variant_dict_insert (&event, "by", "u", call->by);
  emit_event (call->api, g_variant_dict_end (&event));
}

static GVariant *
answer_stages (GstTfxServerApi *self, Call *call)
{
  return g_variant_new_parsed ("{'stages': %v}",
      gst_tfx_server_json_stages (call->expr ? call->expr : self->stream->expr,
          call->rate_hz));
}

/* ---- values --------------------------------------------------------------------------- */

static gboolean
find_param (Call *call, gsize *stage, const TfxParam **param)
{
  const TfxExpr *expr = call->api->stream->expr;
  const gchar *name = read_string (call, "stage");
  const gchar *member = name ? read_string (call, "parameter") : NULL;
  gint found = member ? tfx_expr_find (expr, name) : -1, index;
  const TfxClass *klass;

  if (found < 0)
    return member && fail (call, 422, "there is no stage '%s'", name);
  *stage = (gsize)found;
  klass = tfx_expr_stage_class (expr, *stage);
  index = tfx_class_find_param (klass, member);
  if (index < 0 || (klass->params[index].flags & TFX_PARAM_STREAM))
    return fail (call, 422, "%s has no parameter '%s'", klass->name, member);
  *param = &klass->params[index];
  return TRUE;
}

/* Prints the chain with another value, to be read in the thread. */
static void
print_with_value (Call *call, gsize stage, const TfxParam *param,
    const TfxValue *value)
{
  TfxExpr *copy = tfx_expr_copy (call->api->stream->expr);
  TfxExprError fault = { .message = "out of memory" };
  char *printed = NULL;

  if (copy && tfx_expr_set (copy, stage, param->name, value, &fault) == 0)
    printed = tfx_expr_print (copy);
  if (!printed)
    fail (call, 422, "%s", fault.message);
  call->text = g_strdup (printed);
  call->before = g_strdup (gst_tfx_server_stream_get_text (call->api->stream));
  call->is_trusted = value->type != TFX_VALUE_TEXT;
  free (printed);
  tfx_expr_free (&copy);
}

static void
begin_set (Call *call)
{
  g_autoptr (GVariant) given = g_variant_lookup_value (call->in, "value", NULL);
  TfxExprError fault = { 0 };
  TfxValue value = { 0 };
  gdouble ramp_ms = 0.0;
  const TfxParam *param;
  gsize stage;
  gint ret;

  if (!find_param (call, &stage, &param) ||
      !read_number (call, "ramp_ms", 0.0, MAX_RAMP_MS, &ramp_ms))
    return;
  if (!given || !gst_tfx_server_json_get_value (given, param, &value)) {
    fail (call, 400,
        "value must be null, true or false, a number, a string, or an array "
        "of numbers");
  } else {
    ret = gst_tfx_server_stream_set_value (call->api->stream, stage,
        param->name, &value, ramp_ms, &fault);
    if (ret == -ENOTSUP && ramp_ms > 0.0)
      fail (call, 422, "%s cannot ramp to this value", param->name);
    else if (ret == -ENOTSUP)
      print_with_value (call, stage, param, &value);
    else if (ret < 0)
      fail (call, 422, "%s", fault.message);
  }
  g_free (value.list);
}

static void
end_set (Call *call)
{
  GstTfxServerStream *stream = call->api->stream;
  const TfxParam *param;
  TfxValue value;
  gsize stage;

  if (call->expr)
    gst_tfx_server_stream_set_chain (stream, call->text,
        g_steal_pointer (&call->expr));
  if (!find_param (call, &stage, &param))
    return;
  tfx_expr_get (stream->expr, stage, param->name, &value);
  emit_event (call->api,
      g_variant_new_parsed ("{'event': <'parameter'>, 'stage': <%s>, "
                            "'parameter': <%s>, 'value': %v, 'by': <%u>}",
          tfx_expr_stage_name (stream->expr, stage), param->name,
          gst_tfx_server_json_value (&value), call->by));
  call->ok = g_variant_take_ref (g_variant_new_parsed ("{'value': %v}",
      gst_tfx_server_json_value (&value)));
}

/* ---- responses ------------------------------------------------------------------------ */

static void
begin_response (Call *call)
{
  g_autoptr (GVariant) given = g_variant_lookup_value (call->in, "chain", NULL);

  call->is_trusted = given == NULL;
  call->text =
      g_strdup (given ? read_string (call, "chain")
                      : gst_tfx_server_stream_get_text (call->api->stream));
}

static void
work_response (Call *call)
{
  gdouble from_hz = 20.0, to_hz = 20000.0, n = 256.0, channel = 0.0;
  gint64 end_us;
  g_autofree gdouble *hz = g_new (gdouble, 3 * MAX_POINTS);
  gdouble *db = hz + MAX_POINTS, *phase = db + MAX_POINTS;

  if (read_number (call, "from", 1e-3, 1e6, &from_hz) &&
      read_number (call, "to", 1e-3, 1e6, &to_hz) &&
      read_number (call, "points", 2.0, MAX_POINTS, &n)) {
    if (from_hz <= to_hz)
      work_chain (call);
    else
      fail (call, 400, "from is %g Hz, but must not be above to, %g Hz",
          from_hz, to_hz);
  }
  if (call->error ||
      !read_number (call, "channel", 0.0, call->n_channels - 1.0, &channel))
    return;
  n = floor (n);
  end_us = g_get_monotonic_time () + RESPONSE_S * G_USEC_PER_SEC;
  for (gsize i = 0; i < (gsize)n; i++) {
    TfxComplex h;

    if (g_get_monotonic_time () > end_us ||
        g_atomic_int_get (&call->api->is_ending)) {
      fail (call, 422,
          "the response takes more than %d s: ask for fewer points",
          RESPONSE_S);
      return;
    }
    hz[i] = from_hz * pow (to_hz / from_hz, (gdouble)i / (n - 1.0));
    h = tfx_chain_response_at (call->chain, (guint)channel, hz[i],
        call->rate_hz);
    db[i] = 20.0 * log10 (hypot (h.re, h.im));
    phase[i] = atan2 (h.im, h.re);
  }
  call->ok = g_variant_take_ref (
      g_variant_new_parsed ("{'frequencies': %v, 'db': %v, 'phase_rad': %v}",
          gst_tfx_server_json_list (hz, (gsize)n, 0),
          gst_tfx_server_json_list (db, (gsize)n, 0),
          gst_tfx_server_json_list (phase, (gsize)n, 0)));
}

/* ---- the state ------------------------------------------------------------------------ */

static GVariant *
describe_state (GstTfxServerApi *self, const gchar *key, GVariant *value)
{
  const GstTfxServerStream *stream = self->stream;
  GstTfxServerState state;

  gst_tfx_server_stream_get_state (self->stream, &state);
  return g_variant_new_parsed (
      "{%s: %v, 'version': <%s>, 'rate': <%i>, 'channels': <%i>, "
      "'output_channels': <%i>, 'format': <%s>, 'latency_s': <%d>, "
      "'playing': <%b>, 'position_s': <%d>, 'dropped': <%t>, 'load': <%d>, "
      "'clients': <%u>, 'bypassed': <%b>, 'preset': %v, 'slot': <%s>}",
      key, value, VERSION, state.rate_hz, state.n_channels, state.n_outputs,
      state.format, state.latency_s, stream->is_playing, state.position_s,
      state.n_dropped, stream->load, self->n_clients, stream->is_bypassed,
      gst_tfx_server_json_string (self->preset), self->is_b ? "b" : "a");
}

static GVariant *
answer_state (GstTfxServerApi *self, Call *call)
{
  return describe_state (self, "client", g_variant_new_uint32 (call->by));
}

void
gst_tfx_server_api_emit_state (GstTfxServerApi *self)
{
  emit_event (self,
      describe_state (self, "event", g_variant_new_string ("state")));
}

void
gst_tfx_server_api_emit_warning (GstTfxServerApi *self, const gchar *warning)
{
  emit_event (self,
      g_variant_new_parsed ("{'event': <'warning'>, 'message': %v}",
          gst_tfx_server_json_string (warning)));
}

static void
begin_bypass (Call *call)
{
  GstTfxServerStream *stream = call->api->stream;
  GstTfxServerState state;
  gboolean on;

  gst_tfx_server_stream_get_state (stream, &state);
  if (!g_variant_lookup (call->in, "on", "b", &on))
    fail (call, 400, "on must be true or false");
  else if (on && state.n_channels != state.n_outputs &&
           !gst_tfx_server_stream_can_play (stream, (guint)state.n_channels))
    fail (call, 422, "the sound has %d channels, which the sink does not take",
        state.n_channels);
  else
    gst_tfx_server_stream_bypass (stream, on);
}

static void
begin_play (Call *call)
{
  gst_tfx_server_stream_set_playing (call->api->stream,
      strcmp (call->command->name, "play") == 0);
}

static void
begin_seek (Call *call)
{
  gdouble to_s = -1.0;

  if (read_number (call, "position_s", 0.0, 1e9, &to_s) &&
      !gst_tfx_server_stream_seek (call->api->stream, to_s))
    fail (call, 422, "this sound cannot be sought");
}

static void
end_change (Call *call)
{
  gst_tfx_server_api_emit_state (call->api);
}

static GVariant *
answer_classes (GstTfxServerApi *self, Call *call)
{
  return gst_tfx_server_json_classes (call->rate_hz);
}

/* ---- presets and slots ---------------------------------------------------------------- */

/* The path of the preset that the request names, to be freed; NULL: it has failed. */
static gchar *
find_preset (Call *call)
{
  const gchar *folder = call->api->presets;
  const gchar *name = folder ? read_string (call, "name") : NULL;

  if (!folder)
    fail (call, 422,
        "there are no presets here (--presets names their folder)");
  else if (name && (!*name || *name == '.' || strlen (name) > MAX_NAME ||
                       strpbrk (name, "/\\\n\r\t")))
    fail (call, 400,
        "a preset has a name without '/', not before a dot, of at "
        "most 100 bytes");
  return call->error ? NULL : g_strdup_printf ("%s/%s" PRESET, folder, name);
}

static GVariant *
list_presets (GstTfxServerApi *self)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("as"));
  g_autoptr (GDir) dir =
      self->presets ? g_dir_open (self->presets, 0, NULL) : NULL;
  GSList *names = NULL;
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    if (*name != '.' && g_str_has_suffix (name, PRESET) &&
        g_utf8_validate (name, -1, NULL))
      names = g_slist_insert_sorted (names,
          g_strndup (name, strlen (name) - strlen (PRESET)),
          (GCompareFunc)strcmp);
  }
  for (GSList *l = names; l; l = l->next)
    g_variant_builder_add (&list, "s", l->data);
  g_slist_free_full (names, g_free);
  return g_variant_builder_end (&list);
}

static GVariant *
answer_presets (GstTfxServerApi *self, Call *call)
{
  return g_variant_new_parsed ("{'names': %v, 'current': %v}",
      list_presets (self), gst_tfx_server_json_string (self->preset));
}

/* The preset of the request is the current one, or is no longer. */
static void
note_preset (Call *call)
{
  const gboolean is_deleted =
      strcmp (call->command->name, "delete-preset") == 0;
  const gchar *name = read_string (call, "name");
  gchar **current = &call->api->preset;

  if (!is_deleted || g_strcmp0 (*current, name) == 0) {
    g_free (*current);
    *current = is_deleted ? NULL : g_strdup (name);
  }
  emit_event (call->api,
      g_variant_new_parsed ("{'event': <'preset'>, 'name': %v, 'by': <%u>}",
          gst_tfx_server_json_string (call->api->preset), call->by));
}

static void
begin_load (Call *call)
{
  g_autofree gchar *path = find_preset (call);
  g_autoptr (GError) error = NULL;
  gsize length = 0;

  if (path && !g_file_get_contents (path, &call->text, &length, &error))
    fail (call, 422, "%s", error->message);
  else if (path && (length > MAX_TEXT ||
                       !g_utf8_validate (call->text, (gssize)length, NULL)))
    fail (call, 422, "it is no chain");
  /* (Its files have been allowed when it was saved.) */
  call->is_trusted = TRUE;
}

static void
end_load (Call *call)
{
  publish_chain (call);
  note_preset (call);
}

static void
begin_save (Call *call)
{
  const gchar *text = gst_tfx_server_stream_get_text (call->api->stream);
  g_autofree gchar *path = find_preset (call);
  g_autoptr (GVariant) names = g_variant_take_ref (list_presets (call->api));
  g_autoptr (GError) error = NULL;

  if (path && g_variant_n_children (names) >= MAX_PRESETS &&
      !g_file_test (path, G_FILE_TEST_EXISTS))
    fail (call, 422, "there are too many presets");
  else if (path && !g_file_set_contents (path, text, -1, &error))
    fail (call, 422, "%s", error->message);
}

static void
begin_delete (Call *call)
{
  g_autofree gchar *path = find_preset (call);

  if (path && g_unlink (path) < 0)
    fail (call, 422, "%s", g_strerror (errno));
}

static void
begin_ab (Call *call)
{
  GstTfxServerApi *self = call->api;

  call->before = g_strdup (gst_tfx_server_stream_get_text (self->stream));
  call->text = g_strdup (self->other ? self->other : call->before);
  call->is_trusted = TRUE;
}

static void
end_ab (Call *call)
{
  GstTfxServerApi *self = call->api;

  g_free (self->other);
  self->other = g_steal_pointer (&call->before);
  self->is_b = !self->is_b;
  publish_chain (call);
  gst_tfx_server_api_emit_state (self);
}

static GVariant *
answer_ab (GstTfxServerApi *self, Call *call)
{
  return g_variant_new_parsed ("{'slot': <%s>, 'chain': %v}",
      self->is_b ? "b" : "a", gst_tfx_server_json_string (call->text));
}

/* ---- meters --------------------------------------------------------------------------- */

GVariant *
gst_tfx_server_api_make_meters (GstTfxServerApi *self, guint64 from)
{
  GstTfxServerStream *stream = self->stream;
  GstTfxServerLevels in, out;
  GVariantDict gains;

  gst_tfx_server_meter_read (stream->input, from, &in);
  gst_tfx_server_meter_read (stream->output, from, &out);
  g_variant_dict_init (&gains, NULL);
  for (gsize i = 0; i < tfx_expr_n_stages (stream->expr); i++) {
    const gdouble gain_db = gst_tfx_server_stream_read_gain (stream, i, from);

    if (!isnan (gain_db))
      g_variant_dict_insert_value (&gains,
          tfx_expr_stage_name (stream->expr, i),
          gst_tfx_server_json_number (gst_tfx_server_meter_round (gain_db)));
  }
  return g_variant_new_parsed (
      "{'event': <'meters'>, 'time_s': <%d>, 'input': <{'peak_db': %v, "
      "'rms_db': %v}>, 'output': <{'peak_db': %v, 'rms_db': %v, "
      "'momentary_lufs': %v}>, 'reduction_db': %v}",
      (gdouble)g_get_monotonic_time () / G_USEC_PER_SEC,
      gst_tfx_server_json_list (in.peak_db, in.n_channels, 0),
      gst_tfx_server_json_list (in.rms_db, in.n_channels, 0),
      gst_tfx_server_json_list (out.peak_db, out.n_channels, 0),
      gst_tfx_server_json_list (out.rms_db, out.n_channels, 0),
      gst_tfx_server_json_number (
          gst_tfx_server_meter_read_loudness (stream->output)),
      g_variant_dict_end (&gains));
}

GVariant *
gst_tfx_server_api_make_spectrum (GstTfxServerApi *self)
{
  gdouble hz[SPECTRUM_LINES], in_db[SPECTRUM_LINES], out_db[SPECTRUM_LINES];
  guint n_in, n_out;

  for (guint i = 0; i < SPECTRUM_LINES; i++)
    hz[i] = SPECTRUM_FROM_HZ * exp2 (i / SPECTRUM_STEPS);
  n_in = gst_tfx_server_meter_read_spectrum (self->stream->input, hz, in_db,
      SPECTRUM_LINES);
  n_out = gst_tfx_server_meter_read_spectrum (self->stream->output, hz, out_db,
      SPECTRUM_LINES);
  return g_variant_new_parsed ("{'event': <'spectrum'>, 'from_hz': <%d>, "
                               "'to_hz': <%d>, 'db_input': "
                               "%v, 'db': %v}",
      hz[0], hz[SPECTRUM_LINES - 1], gst_tfx_server_json_list (in_db, n_in, 0),
      gst_tfx_server_json_list (out_db, n_out, 0));
}

/* ---- calls ---------------------------------------------------------------------------- */

static const Command commands[] = {
  { "state", TRUE, NULL, NULL, NULL, answer_state },
  { "chain", TRUE, NULL, NULL, NULL, answer_chain },
  { "set-chain", FALSE, begin_chain, work_chain, publish_chain, NULL },
  { "check", TRUE, begin_chain, work_chain, NULL, answer_stages },
  { "parameters", TRUE, NULL, NULL, NULL, answer_stages },
  { "set", FALSE, begin_set, work_chain, end_set, NULL },
  { "response", TRUE, begin_response, work_response, NULL, NULL },
  { "bypass", FALSE, begin_bypass, NULL, end_change, answer_state },
  { "play", FALSE, begin_play, NULL, end_change, answer_state },
  { "pause", FALSE, begin_play, NULL, end_change, answer_state },
  { "seek", FALSE, begin_seek, NULL, end_change, answer_state },
  { "presets", TRUE, NULL, NULL, NULL, answer_presets },
  { "load-preset", FALSE, begin_load, work_chain, end_load, NULL },
  { "save-preset", FALSE, begin_save, NULL, note_preset, answer_presets },
  { "delete-preset", FALSE, begin_delete, NULL, note_preset, answer_presets },
  { "ab", FALSE, begin_ab, work_chain, end_ab, answer_ab },
  { "classes", TRUE, NULL, NULL, NULL, answer_classes },
};

static void
look_at_stream (Call *call)
{
  gst_tfx_server_stream_get_state (call->api->stream, &call->state);
  call->rate_hz =
      call->state.rate_hz > 0 ? call->state.rate_hz : DEFAULT_RATE_HZ;
}

static void
clear_call (Call *call)
{
  tfx_chain_unref (&call->chain);
  tfx_expr_free (&call->expr);
  g_clear_pointer (&call->ok, g_variant_unref);
  g_clear_pointer (&call->in, g_variant_unref);
  g_free (call->text);
  g_free (call->before);
}

/* Ends a call in the main loop, and replies. */
static void
finish (Call *call)
{
  GVariant *said;

  /* Another client was quicker. */
  if (call->before && strcmp (call->before, gst_tfx_server_stream_get_text (
                                                call->api->stream)) != 0)
    fail (call, 409, "the chain has changed: try again");
  if (!call->error && call->command->end)
    call->command->end (call);
  if (call->error)
    said = g_steal_pointer (&call->error);
  else
    said = g_variant_new_parsed ("{'ok': %v}",
        call->command->answer ? call->command->answer (call->api, call)
                              : call->ok);
  call->reply (said, call->status ? call->status : 200, call->data);
  clear_call (call);
  g_free (call);
}

static gboolean
finish_work (gpointer data)
{
  Call *call = data;

  call->api->n_pending--;
  finish (call);
  return G_SOURCE_REMOVE;
}

static void
work (gpointer data, gpointer unused)
{
  Call *call = data;

  if (g_atomic_int_get (&call->api->is_ending))
    fail (call, 503, "the server ends");
  else
    call->command->work (call);
  g_idle_add_full (G_PRIORITY_DEFAULT, finish_work, call, NULL);
}

/* Changes do not wait for many who only read. */
static gint
compare_calls (const Call *a, const Call *b, gpointer unused)
{
  return a->command->is_reading - b->command->is_reading;
}

void
gst_tfx_server_api_call (GstTfxServerApi *self, const gchar *command,
    GVariant *in, guint by, gboolean is_reading, GstTfxServerReply reply,
    gpointer data)
{
  Call *call = g_new (Call, 1);

  *call = (Call){ .api = self,
    .in = g_variant_ref (in),
    .by = by,
    .reply = reply,
    .data = data };
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    if (g_strcmp0 (commands[i].name, command) == 0)
      call->command = &commands[i];
  }
  if (!call->command)
    fail (call, 404, "there is no command '%s'", command ? command : "");
  else if (is_reading && !call->command->is_reading)
    fail (call, 405, "%s needs POST", command);
  else if (call->command->begin)
    call->command->begin (call);
  look_at_stream (call);
  if (!call->error && call->text &&
      (self->is_ending || self->n_pending == MAX_PENDING))
    fail (call, 429, "too many requests wait");
  if (call->error || !call->text) {
    finish (call);
  } else {
    self->n_pending++;
    g_thread_pool_push (self->pool, call, NULL);
  }
}

gboolean
gst_tfx_server_api_set_chain (GstTfxServerApi *self, const gchar *text)
{
  Call call = { .api = self, .text = g_strdup (text), .is_trusted = TRUE };
  gboolean is_good;

  look_at_stream (&call);
  is_good = build_chain (&call);
  if (is_good)
    publish_chain (&call);
  else
    gst_tfx_tool_error ("%s", call.fault.rendered);
  clear_call (&call);
  return is_good;
}

GstTfxServerApi *
gst_tfx_server_api_new (GstTfxServerStream *stream, const gchar *files,
    const gchar *presets)
{
  GstTfxServerApi *self = g_new0 (GstTfxServerApi, 1);

  self->stream = stream;
  self->files = files;
  self->presets = presets;
  self->pool = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
  g_thread_pool_set_sort_function (self->pool, (GCompareDataFunc)compare_calls,
      NULL);
  return self;
}

void
gst_tfx_server_api_free (GstTfxServerApi *self)
{
  g_atomic_int_set (&self->is_ending, TRUE);
  while (self->n_pending > 0)
    g_main_context_iteration (NULL, TRUE);
  g_thread_pool_free (self->pool, FALSE, TRUE);
  g_free (self->preset);
  g_free (self->other);
  g_free (self->camilla);
  g_free (self->camilla_json);
  g_free (self);
}
