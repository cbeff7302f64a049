/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverapi.c: the commands of a server, with JSON in and out.
 *
 * A command begins in the main loop, may read and design a chain in a thread, and ends in
 * the main loop.
 */
#include "gsttfxserverapi.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxchainreader.h"
#include "gsttfxserverjson.h"

#define DEFAULT_RATE_HZ 48000
#define MAX_POINTS 4096
#define MAX_RAMP_MS 60000.0
#define MAX_PENDING 64
/* Lines of a spectrum: 24 in an octave. */
#define SPECTRUM_FROM_HZ 20.0
#define SPECTRUM_LINES 240
#define SPECTRUM_STEPS 24.0

typedef struct Call Call;

typedef struct Command
{
  const gchar *name;
  gboolean is_reading;        /* it changes nothing */
  gboolean (*begin) (Call *); /* or NULL; FALSE: it has failed */
  void (*work) (Call *);      /* in the thread; or NULL */
  void (*end) (Call *);
} Command;

struct Call
{
  GstTfxServerApi *api;
  const Command *command;
  JsonObject *in;
  guint by;
  GstTfxServerApiReply reply;
  gpointer data;

  /* The chain to read, if there is a text. */
  gchar *text;
  gboolean is_trusted; /* its files may be anywhere */
  GstTfxServerState state;
  TfxExpr *expr;
  TfxChain *chain;

  JsonNode *ok;
  JsonObject *error; /* or NULL */
  guint status;
};

struct GstTfxServerApi
{
  GstTfxServerStream *stream;
  gchar *files, *presets; /* or NULL */
  GstTfxServerApiEmit emit;
  gpointer data;
  GThreadPool *pool; /* one thread */
  guint n_pending;   /* calls in it */
  guint n_clients;
  gdouble lines_hz[SPECTRUM_LINES];
};

/* ---- answers ------------------------------------------------------------------------ */

JsonObject *
gst_tfx_server_api_make_error (const gchar *message)
{
  JsonObject *answer = json_object_new (), *error = json_object_new ();

  json_object_set_string_member (error, "message", message);
  json_object_set_object_member (answer, "error", error);
  return answer;
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail (Call *call, guint status, const gchar *format, ...)
{
  va_list arguments;
  gchar *message;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_clear_pointer (&call->error, json_object_unref);
  call->error = gst_tfx_server_api_make_error (message);
  call->status = status;
  g_free (message);
  return FALSE;
}

/* An error in a chain, with its place. */
static gboolean
fail_chain (Call *call, const TfxExprError *fault)
{
  JsonObject *error;

  fail (call, 422, "%s", fault->message);
  error = json_object_get_object_member (call->error, "error");
  if (fault->line > 0) {
    json_object_set_int_member (error, "line", fault->line);
    json_object_set_int_member (error, "column", fault->column);
    json_object_set_int_member (error, "length",
        gst_tfx_server_json_token_length (call->text, fault->line,
            fault->column));
  }
  return FALSE;
}

static void
succeed (Call *call, JsonObject *ok)
{
  call->ok = json_node_init_object (json_node_alloc (), ok);
  json_object_unref (ok);
}

/* ---- what a request contains ---------------------------------------------------------- */

static gboolean
read_number (Call *call, const gchar *name, gdouble low, gdouble high,
    gdouble *number)
{
  JsonNode *node = json_object_get_member (call->in, name);

  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) ||
      (json_node_get_value_type (node) != G_TYPE_DOUBLE &&
          json_node_get_value_type (node) != G_TYPE_INT64))
    return fail (call, 400, "%s must be a number", name);
  *number = json_node_get_double (node);
  if (!(*number >= low && *number <= high))
    return fail (call, 400, "%s is %g, but must be from %g to %g", name,
        *number, low, high);
  return TRUE;
}

/* A string, which the request owns; NULL: it is missing, which fails if it is needed. */
static const gchar *
read_string (Call *call, const gchar *name, gboolean is_needed)
{
  JsonNode *node = json_object_get_member (call->in, name);
  const gchar *text = node && JSON_NODE_HOLDS_VALUE (node) &&
                              json_node_get_value_type (node) == G_TYPE_STRING
                          ? json_node_get_string (node)
                          : NULL;

  if (!text && (node || is_needed))
    fail (call, 400, "%s must be a string", name);
  return text;
}

static gboolean
read_switch (Call *call, const gchar *name, gboolean *on)
{
  JsonNode *node = json_object_get_member (call->in, name);

  if (!node || !JSON_NODE_HOLDS_VALUE (node) ||
      json_node_get_value_type (node) != G_TYPE_BOOLEAN)
    return fail (call, 400, "%s must be true or false", name);
  *on = json_node_get_boolean (node);
  return TRUE;
}

/* ---- chains --------------------------------------------------------------------------- */

/* Reads the chain of the text and builds it for the stream, in the thread. */
static void
work_chain (Call *call)
{
  const GstTfxServerState *state = &call->state;
  const gchar *root = call->api->files ? call->api->files : "";
  TfxExprError fault = { 0 };
  guint64 positions;
  guint n_channels;

  call->expr =
      call->is_trusted
          ? gst_tfx_chain_reader_parse (call->text, NULL, NULL, NULL, &fault)
          : gst_tfx_chain_reader_parse_below (call->text, root, &fault);
  if (!call->expr) {
    fail_chain (call, &fault);
    return;
  }
  n_channels = tfx_expr_find_channels (call->expr,
      state->n_channels > 0 ? (guint)state->n_channels : 2, &positions);
  if ((gint)n_channels == state->n_channels && state->positions)
    positions = state->positions;
  if (tfx_expr_build_at (call->expr,
          state->rate_hz > 0 ? state->rate_hz : DEFAULT_RATE_HZ, n_channels,
          positions, NULL, NULL, &call->chain, &fault) < 0) {
    tfx_expr_place_error (&fault, call->text, strlen (call->text));
    fail_chain (call, &fault);
  }
}

static gboolean
begin_chain (Call *call)
{
  call->text = g_strdup (read_string (call, "chain", TRUE));
  return call->text != NULL;
}

static JsonObject *
describe_chain (GstTfxServerApi *self, gint rate_hz)
{
  JsonObject *chain = json_object_new ();

  json_object_set_string_member (chain, "chain",
      gst_tfx_server_stream_get_text (self->stream));
  json_object_set_array_member (chain, "stages",
      gst_tfx_server_json_stages (gst_tfx_server_stream_get_expr (self->stream),
          rate_hz));
  return chain;
}

static void
emit_event (GstTfxServerApi *self, const gchar *name, JsonObject *event)
{
  json_object_set_string_member (event, "event", name);
  self->emit (event, self->data);
  json_object_unref (event);
}

static void
emit_chain (Call *call)
{
  JsonObject *event = describe_chain (call->api, call->state.rate_hz);

  json_object_set_int_member (event, "by", call->by);
  emit_event (call->api, "chain", event);
}

static void
end_chain (Call *call)
{
  succeed (call, describe_chain (call->api, call->state.rate_hz));
}

static void
end_parameters (Call *call)
{
  JsonObject *ok = json_object_new ();

  json_object_set_array_member (ok, "stages",
      gst_tfx_server_json_stages (call->expr ? call->expr
                                             : gst_tfx_server_stream_get_expr (
                                                   call->api->stream),
          call->state.rate_hz));
  succeed (call, ok);
}

static void
end_set_chain (Call *call)
{
  gst_tfx_server_stream_set_chain (call->api->stream, call->text,
      g_steal_pointer (&call->expr));
  end_chain (call);
  emit_chain (call);
}

/* ---- values --------------------------------------------------------------------------- */

static gboolean
find_param (Call *call, gint *stage, const TfxParam **param)
{
  const TfxExpr *expr = gst_tfx_server_stream_get_expr (call->api->stream);
  const gchar *name = read_string (call, "stage", TRUE);
  const gchar *member = name ? read_string (call, "parameter", TRUE) : NULL;
  const TfxClass *klass;
  gint index;

  if (!member)
    return FALSE;
  *stage = tfx_expr_find (expr, name);
  if (*stage < 0)
    return fail (call, 422, "there is no stage '%s'", name);
  klass = tfx_expr_stage_class (expr, (gsize)*stage);
  index = tfx_class_find_param (klass, member);
  if (index < 0 || (klass->params[index].flags & TFX_PARAM_STREAM))
    return fail (call, 422, "%s has no parameter '%s'", klass->name, member);
  *param = &klass->params[index];
  return TRUE;
}

/* Prints the chain with another value, for the thread.  Files may be anywhere unless a
 * client names one. */
static gboolean
print_with_value (Call *call, gint stage, const TfxParam *param,
    const TfxValue *value)
{
  TfxExpr *copy =
      tfx_expr_copy (gst_tfx_server_stream_get_expr (call->api->stream));
  TfxExprError fault = { .message = "out of memory" };
  char *printed = NULL;

  if (copy &&
      tfx_expr_set (copy, (gsize)stage, param->name, value, &fault) == 0)
    printed = tfx_expr_print (copy);
  call->text = g_strdup (printed);
  call->is_trusted = value->type != TFX_VALUE_TEXT;
  free (printed);
  tfx_expr_free (&copy);
  return call->text != NULL || fail (call, 422, "%s", fault.message);
}

static gboolean
begin_set (Call *call)
{
  JsonNode *node = json_object_get_member (call->in, "value");
  TfxExprError fault = { 0 };
  gdouble ramp_ms = 0.0;
  const TfxParam *param;
  gboolean is_good;
  TfxValue value;
  gint stage, ret;

  if (!find_param (call, &stage, &param) ||
      !read_number (call, "ramp_ms", 0.0, MAX_RAMP_MS, &ramp_ms))
    return FALSE;
  if (!node || !gst_tfx_server_json_read_value (node, param, &value))
    return fail (call, 400,
        "value must be null, true or false, a number, a "
        "string, or an array of numbers");
  ret = gst_tfx_server_stream_set_value (call->api->stream, (gsize)stage,
      param->name, &value, ramp_ms, &fault);
  if (ret == -ENOTSUP && ramp_ms > 0.0)
    is_good =
        fail (call, 422, "%s cannot be ramped to this value", param->name);
  else if (ret == -ENOTSUP)
    is_good = print_with_value (call, stage, param, &value);
  else
    is_good = ret == 0 || fail (call, 422, "%s", fault.message);
  g_free (value.list);
  return is_good;
}

static void
end_set (Call *call)
{
  const TfxExpr *expr;
  JsonObject *ok = json_object_new (), *event = json_object_new ();
  const TfxParam *param;
  TfxValue value;
  gint stage;

  if (call->expr)
    gst_tfx_server_stream_set_chain (call->api->stream, call->text,
        g_steal_pointer (&call->expr));
  expr = gst_tfx_server_stream_get_expr (call->api->stream);
  if (!find_param (call, &stage, &param))
    return;
  tfx_expr_get (expr, (gsize)stage, param->name, &value);
  json_object_set_member (ok, "value", gst_tfx_server_json_value (&value));
  succeed (call, ok);
  json_object_set_string_member (event, "stage",
      tfx_expr_stage_name (expr, (gsize)stage));
  json_object_set_string_member (event, "parameter", param->name);
  json_object_set_member (event, "value", gst_tfx_server_json_value (&value));
  json_object_set_int_member (event, "by", call->by);
  emit_event (call->api, "parameter", event);
}

/* ---- responses ------------------------------------------------------------------------ */

static gboolean
begin_response (Call *call)
{
  const gchar *text = read_string (call, "chain", FALSE);

  if (call->error)
    return FALSE;
  call->is_trusted = text == NULL;
  call->text = g_strdup (
      text ? text : gst_tfx_server_stream_get_text (call->api->stream));
  return TRUE;
}

static void
work_response (Call *call)
{
  gdouble from_hz = 20.0, to_hz = 20000.0, n = 256.0, channel = 0.0;
  JsonArray *freq = json_array_new (), *db = json_array_new ();
  JsonArray *phase = json_array_new ();
  const gdouble rate_hz =
      call->state.rate_hz > 0 ? call->state.rate_hz : DEFAULT_RATE_HZ;
  JsonObject *ok = json_object_new ();

  if (read_number (call, "from", 1e-3, 1e6, &from_hz) &&
      read_number (call, "to", from_hz, 1e6, &to_hz) &&
      read_number (call, "points", 2.0, MAX_POINTS, &n) &&
      read_number (call, "channel", 0.0, 63.0, &channel))
    work_chain (call);
  for (gint i = 0; !call->error && i < (gint)n; i++) {
    const gdouble hz = from_hz * pow (to_hz / from_hz, i / ((gint)n - 1.0));
    const TfxComplex h =
        tfx_chain_response_at (call->chain, (guint)channel, hz, rate_hz);

    json_array_add_double_element (freq, hz);
    json_array_add_element (db,
        gst_tfx_server_json_number (20.0 * log10 (hypot (h.re, h.im))));
    json_array_add_double_element (phase, atan2 (h.im, h.re));
  }
  json_object_set_array_member (ok, "frequencies", freq);
  json_object_set_array_member (ok, "db", db);
  json_object_set_array_member (ok, "phase_rad", phase);
  succeed (call, ok);
}

/* ---- the state ------------------------------------------------------------------------ */

static JsonObject *
describe_state (GstTfxServerApi *self, const GstTfxServerState *state)
{
  JsonObject *ok = json_object_new ();

  json_object_set_string_member (ok, "version", VERSION);
  json_object_set_int_member (ok, "rate", state->rate_hz);
  json_object_set_int_member (ok, "channels", state->n_channels);
  json_object_set_int_member (ok, "output_channels", state->n_outputs);
  json_object_set_string_member (ok, "format", state->format);
  json_object_set_double_member (ok, "latency_s", state->latency_s);
  json_object_set_boolean_member (ok, "playing", state->is_playing);
  json_object_set_double_member (ok, "position_s", state->position_s);
  json_object_set_int_member (ok, "dropped", (gint64)state->n_dropped);
  json_object_set_double_member (ok, "load", state->load);
  json_object_set_int_member (ok, "clients", self->n_clients);
  json_object_set_boolean_member (ok, "bypassed", state->is_bypassed);
  return ok;
}

static void
end_state (Call *call)
{
  JsonObject *ok;

  gst_tfx_server_stream_get_state (call->api->stream, &call->state);
  ok = describe_state (call->api, &call->state);
  json_object_set_int_member (ok, "client", call->by);
  succeed (call, ok);
}

void
gst_tfx_server_api_emit_state (GstTfxServerApi *self)
{
  GstTfxServerState state;

  gst_tfx_server_stream_get_state (self->stream, &state);
  emit_event (self, "state", describe_state (self, &state));
}

void
gst_tfx_server_api_emit_warning (GstTfxServerApi *self, const gchar *warning)
{
  JsonObject *event = json_object_new ();

  json_object_set_string_member (event, "message", warning);
  emit_event (self, "warning", event);
}

void
gst_tfx_server_api_set_clients (GstTfxServerApi *self, guint n_clients)
{
  self->n_clients = n_clients;
}

static gboolean
begin_bypass (Call *call)
{
  gboolean on = FALSE;

  if (!read_switch (call, "on", &on))
    return FALSE;
  gst_tfx_server_stream_bypass (call->api->stream, on);
  return TRUE;
}

static gboolean
begin_play (Call *call)
{
  gst_tfx_server_stream_set_playing (call->api->stream, TRUE);
  return TRUE;
}

static gboolean
begin_pause (Call *call)
{
  gst_tfx_server_stream_set_playing (call->api->stream, FALSE);
  return TRUE;
}

static gboolean
begin_seek (Call *call)
{
  gdouble to_s = -1.0;

  if (!read_number (call, "position_s", 0.0, 1e9, &to_s))
    return FALSE;
  if (to_s < 0.0)
    return fail (call, 400, "position_s must be a number");
  return gst_tfx_server_stream_seek (call->api->stream, to_s) ||
         fail (call, 422, "this sound cannot be sought");
}

static void
end_change (Call *call)
{
  end_state (call);
  gst_tfx_server_api_emit_state (call->api);
}

/* ---- the catalogue -------------------------------------------------------------------- */

static void
end_classes (Call *call)
{
  JsonArray *classes = json_array_new ();

  for (gsize i = 0; i < tfx_catalogue_n_classes (); i++)
    json_array_add_object_element (classes,
        gst_tfx_server_json_class (tfx_catalogue_class (i),
            call->state.rate_hz));
  call->ok = json_node_init_array (json_node_alloc (), classes);
  json_array_unref (classes);
}

/* ---- meters --------------------------------------------------------------------------- */

static JsonArray *
list_levels (const gdouble *db, guint n)
{
  JsonArray *list = json_array_sized_new (n);

  for (guint i = 0; i < n; i++)
    json_array_add_element (list, gst_tfx_server_json_level (db[i]));
  return list;
}

static JsonObject *
describe_levels (GstTfxServerMeter *meter, guint64 *position)
{
  JsonObject *ok = json_object_new ();
  GstTfxServerLevels levels;

  gst_tfx_server_meter_read (meter, position, &levels);
  json_object_set_array_member (ok, "peak_db",
      list_levels (levels.peak_db, levels.n_channels));
  json_object_set_array_member (ok, "rms_db",
      list_levels (levels.rms_db, levels.n_channels));
  return ok;
}

JsonObject *
gst_tfx_server_api_make_meters (GstTfxServerApi *self, guint64 positions[2])
{
  const TfxExpr *expr = gst_tfx_server_stream_get_expr (self->stream);
  GstTfxServerMeter *after = gst_tfx_server_stream_get_output (self->stream);
  JsonObject *event = json_object_new (), *gains = json_object_new ();
  JsonObject *output = describe_levels (after, &positions[1]);

  json_object_set_string_member (event, "event", "meters");
  json_object_set_double_member (event, "time_s",
      (gdouble)g_get_monotonic_time () / G_USEC_PER_SEC);
  json_object_set_object_member (event, "input",
      describe_levels (gst_tfx_server_stream_get_input (self->stream),
          &positions[0]));
  json_object_set_member (output, "momentary_lufs",
      gst_tfx_server_json_level (gst_tfx_server_meter_read_loudness (after)));
  json_object_set_object_member (event, "output", output);
  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    gdouble gain_db;

    if (gst_tfx_server_stream_read_gain (self->stream, i, &gain_db))
      json_object_set_member (gains, tfx_expr_stage_name (expr, i),
          gst_tfx_server_json_level (gain_db));
  }
  json_object_set_object_member (event, "reduction_db", gains);
  return event;
}

JsonObject *
gst_tfx_server_api_make_spectrum (GstTfxServerApi *self)
{
  JsonObject *event = json_object_new ();
  gdouble db[SPECTRUM_LINES];

  json_object_set_string_member (event, "event", "spectrum");
  json_object_set_double_member (event, "from_hz", self->lines_hz[0]);
  json_object_set_double_member (event, "to_hz",
      self->lines_hz[SPECTRUM_LINES - 1]);
  if (gst_tfx_server_meter_read_spectrum (gst_tfx_server_stream_get_input (
                                              self->stream),
          self->lines_hz, db, SPECTRUM_LINES))
    json_object_set_array_member (event, "db_input",
        list_levels (db, SPECTRUM_LINES));
  if (gst_tfx_server_meter_read_spectrum (gst_tfx_server_stream_get_output (
                                              self->stream),
          self->lines_hz, db, SPECTRUM_LINES))
    json_object_set_array_member (event, "db",
        list_levels (db, SPECTRUM_LINES));
  return event;
}

/* ---- calls ---------------------------------------------------------------------------- */

static const Command commands[] = {
  { "state", TRUE, NULL, NULL, end_state },
  { "chain", TRUE, NULL, NULL, end_chain },
  { "set-chain", FALSE, begin_chain, work_chain, end_set_chain },
  { "check", TRUE, begin_chain, work_chain, end_parameters },
  { "parameters", TRUE, NULL, NULL, end_parameters },
  { "set", FALSE, begin_set, work_chain, end_set },
  { "response", TRUE, begin_response, work_response, NULL },
  { "bypass", FALSE, begin_bypass, NULL, end_change },
  { "play", FALSE, begin_play, NULL, end_change },
  { "pause", FALSE, begin_pause, NULL, end_change },
  { "seek", FALSE, begin_seek, NULL, end_change },
  { "classes", TRUE, NULL, NULL, end_classes },
};

/* Ends a call in the main loop, and replies. */
static void
finish (Call *call)
{
  JsonObject *answer;

  if (!call->error && call->command->end)
    call->command->end (call);
  if (call->error) {
    answer = g_steal_pointer (&call->error);
  } else {
    answer = json_object_new ();
    json_object_set_member (answer, "ok", g_steal_pointer (&call->ok));
  }
  call->reply (answer, call->status, call->data);
  g_clear_pointer (&call->ok, json_node_unref);
  tfx_chain_unref (&call->chain);
  tfx_expr_free (&call->expr);
  json_object_unref (call->in);
  g_free (call->text);
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

  call->command->work (call);
  g_idle_add_full (G_PRIORITY_DEFAULT, finish_work, call, NULL);
}

void
gst_tfx_server_api_call (GstTfxServerApi *self, const gchar *command,
    JsonObject *in, guint by, gboolean is_reading, GstTfxServerApiReply reply,
    gpointer data)
{
  Call *call = g_new (Call, 1);
  gboolean is_good;

  *call = (Call){ .api = self,
    .in = json_object_ref (in),
    .by = by,
    .reply = reply,
    .data = data,
    .status = 200 };
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    if (g_strcmp0 (commands[i].name, command) == 0)
      call->command = &commands[i];
  }
  if (!call->command)
    is_good = fail (call, 404, "there is no such command");
  else if (is_reading && !call->command->is_reading)
    is_good = fail (call, 405, "%s needs POST", command);
  else
    is_good = !call->command->begin || call->command->begin (call);
  if (is_good)
    gst_tfx_server_stream_get_state (self->stream, &call->state);
  if (is_good && call->text && self->n_pending == MAX_PENDING)
    is_good = fail (call, 429, "too many requests wait");
  if (!is_good || !call->text) {
    finish (call);
    return;
  }
  self->n_pending++;
  g_thread_pool_push (self->pool, call, NULL);
}

/* ---- lifetime ------------------------------------------------------------------------- */

GstTfxServerApi *
gst_tfx_server_api_new (GstTfxServerStream *stream, const gchar *files,
    const gchar *presets, GstTfxServerApiEmit emit, gpointer data)
{
  GstTfxServerApi *self = g_new0 (GstTfxServerApi, 1);

  self->stream = stream;
  self->files = g_strdup (files);
  self->presets = g_strdup (presets);
  self->emit = emit;
  self->data = data;
  self->pool = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
  for (guint i = 0; i < SPECTRUM_LINES; i++)
    self->lines_hz[i] = SPECTRUM_FROM_HZ * exp2 (i / SPECTRUM_STEPS);
  return self;
}

void
gst_tfx_server_api_free (GstTfxServerApi *self)
{
  while (self->n_pending > 0)
    g_main_context_iteration (NULL, TRUE);
  g_thread_pool_free (self->pool, FALSE, TRUE);
  g_free (self->files);
  g_free (self->presets);
  g_free (self);
}
