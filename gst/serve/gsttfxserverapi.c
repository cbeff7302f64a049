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

typedef struct Call Call;

typedef struct Command
{
  const gchar *name;
  gboolean is_reading;        /* it changes nothing */
  gboolean (*begin) (Call *); /* or NULL; FALSE: it has failed */
  void (*work) (Call *);      /* in the thread, if there is a text */
  void (*end) (Call *);
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
  TfxExpr *expr; /* of the text, then */
  TfxChain *chain;
  gchar *fault; /* in the text, with its line; or NULL */

  GVariant *ok, *error; /* one of them in the end */
  guint status;
};

struct GstTfxServerApi
{
  GstTfxServerStream *stream;
  gchar *files, *presets; /* or NULL */
  gchar
      *preset;  /* the name of the one that was loaded or saved last; or NULL */
  gchar *other; /* the chain in the other slot; NULL: as this one */
  gboolean is_b; /* the slot in use */
  GstTfxServerEmit emit;
  gpointer data;
  GThreadPool *pool; /* one thread */
  guint n_pending;   /* calls in it */
  guint n_clients;
  gdouble lines_hz[SPECTRUM_LINES];
};

static void emit_event (GstTfxServerApi *self, GVariant *event);

/* ---- requests ------------------------------------------------------------------------- */

static gboolean G_GNUC_PRINTF (3, 4)
    fail (Call *call, guint status, const gchar *format, ...)
{
  va_list arguments;
  gchar *message;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!call->error)
    call->error =
        g_variant_ref_sink (gst_tfx_server_json_error (message, NULL, NULL));
  call->status = status;
  g_free (message);
  return FALSE;
}

/* FALSE: it is no number in this range; one that is missing keeps its value. */
static gboolean
read_number (Call *call, const gchar *name, gdouble low, gdouble high,
    gdouble *number)
{
  GVariant *given = g_variant_lookup_value (call->in, name, NULL);
  gboolean is_good = TRUE;

  if (given && !gst_tfx_server_json_get_number (given, number))
    is_good = fail (call, 400, "%s must be a number", name);
  else if (!(*number >= low && *number <= high))
    is_good = fail (call, 400, "%s must be from %g to %g", name, low, high);
  g_clear_pointer (&given, g_variant_unref);
  return is_good;
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

/* ---- chains --------------------------------------------------------------------------- */

/* Reads the chain of the text and builds it for the stream. */
static void
work_chain (Call *call)
{
  const GstTfxServerState *state = &call->state;
  const gchar *root = call->api->files ? call->api->files : "";
  TfxExprError fault = { 0 };
  guint64 positions;
  guint n_channels;

  /* A stranger's file is read to see whether it may be. */
  if (!call->is_trusted)
    call->expr = gst_tfx_chain_reader_parse_below (call->text, root, &fault);
  if (call->expr) {
    gchar *absolute =
        gst_tfx_chain_reader_make_absolute (call->text, root, NULL, &fault);

    tfx_expr_free (&call->expr);
    g_free (call->text);
    call->text = absolute;
    call->is_trusted = TRUE;
  }
  if (call->is_trusted && call->text)
    call->expr =
        gst_tfx_chain_reader_parse (call->text, NULL, NULL, NULL, &fault);
  if (call->expr) {
    n_channels = tfx_expr_find_channels (call->expr,
        state->n_channels > 0 ? (guint)state->n_channels : 2, &positions);
    if ((gint)n_channels == state->n_channels && state->positions)
      positions = state->positions;
    if (tfx_expr_build_at (call->expr,
            state->rate_hz > 0 ? state->rate_hz : DEFAULT_RATE_HZ, n_channels,
            positions, NULL, NULL, &call->chain, &fault) == 0)
      return;
    tfx_expr_place_error (&fault, call->text, strlen (call->text));
  }
  call->status = 422;
  call->fault = g_strdup (fault.rendered);
  call->error = g_variant_ref_sink (
      gst_tfx_server_json_error (fault.message, &fault, call->text));
}

static gboolean
begin_chain (Call *call)
{
  call->text = g_strdup (read_string (call, "chain"));
  return call->text != NULL;
}

/* The stream has the chain of the call. */
static void
use_chain (Call *call)
{
  const gdouble rate_hz =
      call->state.rate_hz > 0 ? call->state.rate_hz : DEFAULT_RATE_HZ;

  gst_tfx_server_stream_set_chain (call->api->stream, call->text,
      g_steal_pointer (&call->expr),
      (gdouble)tfx_chain_latency (call->chain) / rate_hz);
}

static void
end_chain (Call *call)
{
  GstTfxServerStream *stream = call->api->stream;

  call->ok = g_variant_new_parsed ("{'chain': %v, 'stages': %v}",
      gst_tfx_server_json_string (gst_tfx_server_stream_get_text (stream)),
      gst_tfx_server_json_stages (gst_tfx_server_stream_get_expr (stream),
          call->state.rate_hz));
}

/* The stream and all clients get the chain of the call. */
static void
end_set_chain (Call *call)
{
  GVariantDict event;

  use_chain (call);
  end_chain (call);
  g_variant_dict_init (&event, call->ok);
  g_variant_dict_insert (&event, "event", "s", "chain");
  g_variant_dict_insert (&event, "by", "u", call->by);
  emit_event (call->api, g_variant_dict_end (&event));
}

static void
end_parameters (Call *call)
{
  call->ok = g_variant_new_parsed ("{'stages': %v}",
      gst_tfx_server_json_stages (call->expr ? call->expr
                                             : gst_tfx_server_stream_get_expr (
                                                   call->api->stream),
          call->state.rate_hz));
}

/* ---- values --------------------------------------------------------------------------- */

static gboolean
find_param (Call *call, gsize *stage, const TfxParam **param)
{
  const TfxExpr *expr = gst_tfx_server_stream_get_expr (call->api->stream);
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
static gboolean
print_with_value (Call *call, gsize stage, const TfxParam *param,
    const TfxValue *value)
{
  TfxExpr *copy =
      tfx_expr_copy (gst_tfx_server_stream_get_expr (call->api->stream));
  TfxExprError fault = { .message = "out of memory" };
  char *printed = NULL;

  if (copy && tfx_expr_set (copy, stage, param->name, value, &fault) == 0)
    printed = tfx_expr_print (copy);
  call->text = g_strdup (printed);
  call->before = g_strdup (gst_tfx_server_stream_get_text (call->api->stream));
  call->is_trusted = value->type != TFX_VALUE_TEXT;
  free (printed);
  tfx_expr_free (&copy);
  return call->text || fail (call, 422, "%s", fault.message);
}

static gboolean
begin_set (Call *call)
{
  GVariant *given = g_variant_lookup_value (call->in, "value", NULL);
  TfxExprError fault = { 0 };
  TfxValue value = { 0 };
  gdouble ramp_ms = 0.0;
  const TfxParam *param;
  gboolean is_good;
  gsize stage;
  gint ret;

  is_good = find_param (call, &stage, &param) &&
            read_number (call, "ramp_ms", 0.0, MAX_RAMP_MS, &ramp_ms);
  if (is_good &&
      !(given && gst_tfx_server_json_get_value (given, param, &value)))
    is_good = fail (call, 400,
        "value must be null, true or false, a number, a string, or an array "
        "of numbers");
  if (is_good) {
    ret = gst_tfx_server_stream_set_value (call->api->stream, stage,
        param->name, &value, ramp_ms, &fault);
    if (ret == -ENOTSUP && ramp_ms > 0.0)
      is_good = fail (call, 422, "%s cannot ramp to this value", param->name);
    else if (ret == -ENOTSUP)
      is_good = print_with_value (call, stage, param, &value);
    else
      is_good = ret == 0 || fail (call, 422, "%s", fault.message);
  }
  g_free (value.list);
  g_clear_pointer (&given, g_variant_unref);
  return is_good;
}

static void
end_set (Call *call)
{
  const TfxExpr *expr;
  const TfxParam *param;
  TfxValue value;
  gsize stage;

  /* Another client was quicker. */
  if (call->before && strcmp (call->before, gst_tfx_server_stream_get_text (
                                                call->api->stream)) != 0) {
    fail (call, 409, "the chain has changed: try again");
    return;
  }
  if (call->expr)
    use_chain (call);
  expr = gst_tfx_server_stream_get_expr (call->api->stream);
  if (!find_param (call, &stage, &param))
    return;
  tfx_expr_get (expr, stage, param->name, &value);
  emit_event (call->api,
      g_variant_new_parsed ("{'event': <'parameter'>, 'stage': <%s>, "
                            "'parameter': <%s>, 'value': %v, 'by': <%u>}",
          tfx_expr_stage_name (expr, stage), param->name,
          gst_tfx_server_json_value (&value), call->by));
  call->ok = g_variant_new_parsed ("{'value': %v}",
      gst_tfx_server_json_value (&value));
}

/* ---- responses ------------------------------------------------------------------------ */

static gboolean
begin_response (Call *call)
{
  const gchar *text = gst_tfx_server_stream_get_text (call->api->stream);

  call->is_trusted = !g_variant_lookup (call->in, "chain", "&s", &text);
  call->text = g_strdup (text);
  return TRUE;
}

static void
work_response (Call *call)
{
  gdouble from_hz = 20.0, to_hz = 20000.0, n = 256.0, channel = 0.0, *numbers;
  const gdouble rate_hz =
      call->state.rate_hz > 0 ? call->state.rate_hz : DEFAULT_RATE_HZ;
  GVariantBuilder db = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("av"));

  if (read_number (call, "from", 1e-3, 1e6, &from_hz) &&
      read_number (call, "to", from_hz, 1e6, &to_hz) &&
      read_number (call, "points", 2.0, MAX_POINTS, &n) &&
      read_number (call, "channel", 0.0, TFX_EXPR_MAX_CHANNELS - 1, &channel))
    work_chain (call);
  if (call->error)
    return;
  numbers = g_new (gdouble, 2 * MAX_POINTS);
  for (gint i = 0; i < (gint)n; i++) {
    const gdouble hz = from_hz * pow (to_hz / from_hz, i / ((gint)n - 1.0));
    const TfxComplex h =
        tfx_chain_response_at (call->chain, (guint)channel, hz, rate_hz);

    numbers[i] = hz;
    numbers[MAX_POINTS + i] = atan2 (h.im, h.re);
    g_variant_builder_add (&db, "v",
        gst_tfx_server_json_number (20.0 * log10 (hypot (h.re, h.im))));
  }
  call->ok =
      g_variant_new_parsed ("{'frequencies': %v, 'db': %v, 'phase_rad': %v}",
          g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, numbers, (gsize)n,
              8),
          g_variant_builder_end (&db),
          g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE,
              numbers + MAX_POINTS, (gsize)n, 8));
  g_free (numbers);
}

/* ---- the state ------------------------------------------------------------------------ */

static GVariant *
describe_state (GstTfxServerApi *self, const gchar *key, GVariant *value)
{
  GstTfxServerState state;

  gst_tfx_server_stream_get_state (self->stream, &state);
  return g_variant_new_parsed (
      "{%s: %v, 'version': <%s>, 'rate': <%i>, 'channels': <%i>, "
      "'output_channels': <%i>, 'format': <%s>, 'latency_s': <%d>, "
      "'playing': <%b>, 'position_s': <%d>, 'dropped': <%t>, 'load': <%d>, "
      "'clients': <%u>, 'bypassed': <%b>, 'preset': %v, 'slot': <%s>}",
      key, value, VERSION, state.rate_hz, state.n_channels, state.n_outputs,
      state.format, state.latency_s, state.is_playing, state.position_s,
      state.n_dropped, state.load, self->n_clients, state.is_bypassed,
      g_variant_new ("ms", self->preset), self->is_b ? "b" : "a");
}

static void
end_state (Call *call)
{
  call->ok =
      describe_state (call->api, "client", g_variant_new_uint32 (call->by));
}

static void
emit_event (GstTfxServerApi *self, GVariant *event)
{
  g_variant_ref_sink (event);
  self->emit (event, self->data);
  g_variant_unref (event);
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

static gboolean
begin_bypass (Call *call)
{
  gboolean on;

  if (!g_variant_lookup (call->in, "on", "b", &on))
    return fail (call, 400, "on must be true or false");
  gst_tfx_server_stream_bypass (call->api->stream, on);
  return TRUE;
}

static gboolean
begin_play (Call *call)
{
  gst_tfx_server_stream_set_playing (call->api->stream,
      strcmp (call->command->name, "play") == 0);
  return TRUE;
}

static gboolean
begin_seek (Call *call)
{
  gdouble to_s = -1.0;

  return read_number (call, "position_s", 0.0, 1e9, &to_s) &&
         (gst_tfx_server_stream_seek (call->api->stream, to_s) ||
             fail (call, 422, "this sound cannot be sought"));
}

static void
end_change (Call *call)
{
  gst_tfx_server_api_emit_state (call->api);
  end_state (call);
}

static void
end_classes (Call *call)
{
  call->ok = gst_tfx_server_json_classes (call->state.rate_hz);
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
  if (!name)
    return NULL;
  if (!*name || *name == '.' || strlen (name) > MAX_NAME ||
      strpbrk (name, "/\\\n\r\t")) {
    fail (call, 400,
        "a preset has a name without '/', not before a dot, of at "
        "most 100 bytes");
    return NULL;
  }
  return g_strdup_printf ("%s/%s" PRESET, folder, name);
}

static GVariant *
list_presets (GstTfxServerApi *self, gsize *n)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("as"));
  GDir *dir = self->presets ? g_dir_open (self->presets, 0, NULL) : NULL;
  GSList *names = NULL;
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    if (*name != '.' && g_str_has_suffix (name, PRESET) &&
        g_utf8_validate (name, -1, NULL))
      names = g_slist_insert_sorted (names,
          g_strndup (name, strlen (name) - strlen (PRESET)),
          (GCompareFunc)strcmp);
  }
  g_clear_pointer (&dir, g_dir_close);
  *n = g_slist_length (names);
  for (GSList *l = names; l; l = l->next)
    g_variant_builder_add (&list, "s", l->data);
  g_slist_free_full (names, g_free);
  return g_variant_builder_end (&list);
}

static void
end_presets (Call *call)
{
  gsize n;

  call->ok = g_variant_new_parsed ("{'names': %v, 'current': %v}",
      list_presets (call->api, &n), g_variant_new ("ms", call->api->preset));
}

/* The preset of the request is the current one. */
static void
note_preset (Call *call)
{
  g_free (call->api->preset);
  call->api->preset = NULL;
  g_variant_lookup (call->in, "name", "s", &call->api->preset);
  emit_event (call->api,
      g_variant_new_parsed ("{'event': <'preset'>, 'name': %v, 'by': <%u>}",
          g_variant_new ("ms", call->api->preset), call->by));
}

static gboolean
begin_load_preset (Call *call)
{
  gchar *path = find_preset (call);
  GError *error = NULL;
  gsize length = 0;

  if (path && !g_file_get_contents (path, &call->text, &length, &error))
    fail (call, 422, "%s", error->message);
  else if (path && (length > MAX_TEXT ||
                       !g_utf8_validate (call->text, (gssize)length, NULL)))
    fail (call, 422, "it is no chain");
  g_clear_error (&error);
  g_free (path);
  return call->error == NULL;
}

static void
end_load_preset (Call *call)
{
  end_set_chain (call);
  note_preset (call);
}

static gboolean
begin_save_preset (Call *call)
{
  gchar *path = find_preset (call);
  GError *error = NULL;
  gsize n = 0;

  if (path)
    g_variant_unref (g_variant_ref_sink (list_presets (call->api, &n)));
  if (n >= MAX_PRESETS)
    fail (call, 422, "there are too many presets");
  else if (path &&
           !g_file_set_contents (path,
               gst_tfx_server_stream_get_text (call->api->stream), -1, &error))
    fail (call, 422, "%s", error->message);
  g_clear_error (&error);
  g_free (path);
  return call->error == NULL;
}

static void
end_save_preset (Call *call)
{
  note_preset (call);
  end_presets (call);
}

static gboolean
begin_delete_preset (Call *call)
{
  gchar *path = find_preset (call);

  if (path && g_unlink (path) < 0)
    fail (call, 422, "%s", g_strerror (errno));
  g_free (path);
  return call->error == NULL;
}

static gboolean
begin_ab (Call *call)
{
  GstTfxServerApi *self = call->api;
  const gchar *text = gst_tfx_server_stream_get_text (self->stream);

  call->text = g_strdup (self->other ? self->other : text);
  call->is_trusted = TRUE;
  return TRUE;
}

static void
end_ab (Call *call)
{
  GstTfxServerApi *self = call->api;

  g_free (self->other);
  self->other = g_strdup (gst_tfx_server_stream_get_text (self->stream));
  self->is_b = !self->is_b;
  end_set_chain (call);
  g_variant_unref (g_variant_ref_sink (call->ok));
  call->ok = g_variant_new_parsed ("{'slot': <%s>, 'chain': %v}",
      self->is_b ? "b" : "a", gst_tfx_server_json_string (call->text));
  gst_tfx_server_api_emit_state (self);
}

/* ---- meters --------------------------------------------------------------------------- */

GVariant *
gst_tfx_server_api_make_meters (GstTfxServerApi *self, guint64 positions[2])
{
  const TfxExpr *expr = gst_tfx_server_stream_get_expr (self->stream);
  GstTfxServerMeter *after = gst_tfx_server_stream_get_output (self->stream);
  GstTfxServerLevels in, out;
  GVariantDict gains;
  gdouble gain_db;

  gst_tfx_server_meter_read (gst_tfx_server_stream_get_input (self->stream),
      &positions[0], &in);
  gst_tfx_server_meter_read (after, &positions[1], &out);
  g_variant_dict_init (&gains, NULL);
  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    if (gst_tfx_server_stream_read_gain (self->stream, i, &gain_db))
      g_variant_dict_insert_value (&gains, tfx_expr_stage_name (expr, i),
          gst_tfx_server_json_level (gain_db));
  }
  return g_variant_new_parsed (
      "{'event': <'meters'>, 'time_s': <%d>, 'input': <{'peak_db': %v, "
      "'rms_db': %v}>, 'output': <{'peak_db': %v, 'rms_db': %v, "
      "'momentary_lufs': %v}>, 'reduction_db': %v}",
      (gdouble)g_get_monotonic_time () / G_USEC_PER_SEC,
      gst_tfx_server_json_levels (in.peak_db, in.n_channels),
      gst_tfx_server_json_levels (in.rms_db, in.n_channels),
      gst_tfx_server_json_levels (out.peak_db, out.n_channels),
      gst_tfx_server_json_levels (out.rms_db, out.n_channels),
      gst_tfx_server_json_level (gst_tfx_server_meter_read_loudness (after)),
      g_variant_dict_end (&gains));
}

static GVariant *
measure_lines (GstTfxServerApi *self, GstTfxServerMeter *meter)
{
  gdouble db[SPECTRUM_LINES];
  const gboolean has_come = gst_tfx_server_meter_read_spectrum (meter,
      self->lines_hz, db, SPECTRUM_LINES);

  return gst_tfx_server_json_levels (db, has_come ? SPECTRUM_LINES : 0);
}

GVariant *
gst_tfx_server_api_make_spectrum (GstTfxServerApi *self)
{
  return g_variant_new_parsed ("{'event': <'spectrum'>, 'from_hz': <%d>, "
                               "'to_hz': <%d>, 'db_input': "
                               "%v, 'db': %v}",
      self->lines_hz[0], self->lines_hz[SPECTRUM_LINES - 1],
      measure_lines (self, gst_tfx_server_stream_get_input (self->stream)),
      measure_lines (self, gst_tfx_server_stream_get_output (self->stream)));
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
  { "pause", FALSE, begin_play, NULL, end_change },
  { "seek", FALSE, begin_seek, NULL, end_change },
  { "presets", TRUE, NULL, NULL, end_presets },
  { "load-preset", FALSE, begin_load_preset, work_chain, end_load_preset },
  { "save-preset", FALSE, begin_save_preset, NULL, end_save_preset },
  { "delete-preset", FALSE, begin_delete_preset, NULL, end_presets },
  { "ab", FALSE, begin_ab, work_chain, end_ab },
  { "classes", TRUE, NULL, NULL, end_classes },
};

/* Ends a call in the main loop, and replies. */
static void
finish (Call *call)
{
  GVariant *answer;

  if (!call->error && call->command->end)
    call->command->end (call);
  answer = call->error ? g_variant_ref (call->error)
                       : g_variant_ref_sink (
                             g_variant_new_parsed ("{'ok': %v}", call->ok));
  call->reply (answer, call->error ? call->status : 200, call->data);
  g_variant_unref (answer);
  g_clear_pointer (&call->error, g_variant_unref);
  tfx_chain_unref (&call->chain);
  tfx_expr_free (&call->expr);
  g_variant_unref (call->in);
  g_free (call->text);
  g_free (call->before);
  g_free (call->fault);
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
    GVariant *in, guint by, gboolean is_reading, GstTfxServerReply reply,
    gpointer data)
{
  Call *call = g_new (Call, 1);
  gboolean is_good;

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
    is_good = fail (call, 404, "there is no such command");
  else if (is_reading && !call->command->is_reading)
    is_good = fail (call, 405, "%s needs POST", command);
  else
    is_good = !call->command->begin || call->command->begin (call);
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

gchar *
gst_tfx_server_api_set_chain (GstTfxServerApi *self, const gchar *text)
{
  Call call = { .api = self, .text = g_strdup (text), .is_trusted = TRUE };
  gchar *why = NULL;

  gst_tfx_server_stream_get_state (self->stream, &call.state);
  work_chain (&call);
  if (call.error) {
    why = g_steal_pointer (&call.fault);
    g_variant_unref (call.error);
  } else {
    end_set_chain (&call);
    g_variant_unref (g_variant_ref_sink (call.ok));
  }
  tfx_chain_unref (&call.chain);
  tfx_expr_free (&call.expr);
  g_free (call.text);
  return why;
}

/* ---- lifetime ------------------------------------------------------------------------- */

void
gst_tfx_server_api_set_clients (GstTfxServerApi *self, guint n_clients)
{
  self->n_clients = n_clients;
}

GstTfxServerStream *
gst_tfx_server_api_get_stream (GstTfxServerApi *self)
{
  return self->stream;
}

GstTfxServerApi *
gst_tfx_server_api_new (GstTfxServerStream *stream, const gchar *files,
    const gchar *presets, GstTfxServerEmit emit, gpointer data)
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
  g_free (self->preset);
  g_free (self->other);
  g_free (self);
}
