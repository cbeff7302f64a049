/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverstream.c: the sound of a server: a pipeline with a chain that clients
 * change.
 *
 *   … ! audioconvert ! samples ! chain ! volume ! audioconvert ! …
 *
 * The expression has all values.  A number goes to the property of its stage, anything else
 * to the text of the chain; so the streaming thread waits for no client.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gst/audio/audio.h>
#include <gst/controller/controller.h>

#include "gsttfxpipeline.h"
#include "gsttfxserver.h"

#define FILTERS                                                                \
  "capsfilter name=samples caps=audio/x-raw,layout=interleaved ! "             \
  "tfxchain name=chain fuse=false ! tfxchain name=volume "                     \
  "chain=\"volume=Gain(0, gain_type='db')\""
#define MUTED_DB -200.0
/* Blocks of gains: more than a second. */
#define GAIN_BLOCKS 64
/* Gaps that rounding of timestamps makes. */
#define GAP_NS GST_MSECOND

/* ---- the streaming thread ---------------------------------------------------------- */

static GstPadProbeReturn
take_input (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxServerStream *self = data;
  const GstBuffer *buffer = info->data;

  if (!(info->type & GST_PAD_PROBE_TYPE_BUFFER)) {
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT) {
      gst_event_copy_segment (info->data, &self->segment);
      self->expected = GST_CLOCK_TIME_NONE;
    }
  } else if (GST_BUFFER_PTS_IS_VALID (buffer) &&
             GST_BUFFER_DURATION_IS_VALID (buffer)) {
    if (GST_CLOCK_TIME_IS_VALID (self->expected) &&
        buffer->pts > self->expected + GAP_NS)
      __atomic_fetch_add (&self->dropped_ns, buffer->pts - self->expected,
          __ATOMIC_RELAXED);
    self->expected = buffer->pts + buffer->duration;
    __atomic_store_n (&self->length_ns, buffer->duration, __ATOMIC_RELAXED);
    __atomic_store_n (&self->next_ns,
        gst_segment_to_stream_time (&self->segment, GST_FORMAT_TIME,
            self->expected),
        __ATOMIC_RELAXED);
  }
  return GST_PAD_PROBE_OK;
}

/* ---- the chain ------------------------------------------------------------------------ */

const gchar *
gst_tfx_server_stream_get_text (GstTfxServerStream *self)
{
  char *printed;

  if (!self->text) {
    printed = tfx_expr_print (self->expr);
    self->text = g_strdup (printed);
    free (printed);
  }
  return self->text;
}

static GstObject *
get_child (GstTfxServerStream *self, gsize stage)
{
  return (GstObject *)gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (
                                                              self->chain),
      (guint)stage);
}

static void
remove_curves (GstTfxServerStream *self)
{
  GstChildProxy *proxy = GST_CHILD_PROXY (self->chain);

  self->settled_ns = 0;
  for (guint i = gst_child_proxy_get_children_count (proxy); i-- > 0;) {
    g_autoptr (GstObject) child = get_child (self, i);

    while (child->control_bindings)
      gst_object_remove_control_binding (child, child->control_bindings->data);
  }
}

gboolean
gst_tfx_server_stream_can_play (GstTfxServerStream *self, guint n_channels)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (self->volume, "src");
  g_autoptr (GstCaps) caps = gst_tfx_tool_get_caps (self->volume, "src");
  g_autoptr (GstCaps) taken = NULL;
  GstStructure *format;

  if (!caps)
    return TRUE;
  caps = gst_caps_make_writable (caps);
  format = gst_caps_get_structure (caps, 0);
  gst_structure_set (format, "channels", G_TYPE_INT, (gint)n_channels, NULL);
  gst_structure_remove_field (format, "channel-mask");
  taken = gst_pad_peer_query_caps (pad, caps);
  /* (The channels of tfxchain have no positions if no sink needs some.) */
  if (n_channels > 2 && !gst_caps_is_empty (taken) &&
      !gst_structure_has_field (gst_caps_get_structure (taken, 0),
          "channel-mask")) {
    gst_structure_set (format, "channel-mask", GST_TYPE_BITMASK,
        G_GUINT64_CONSTANT (0), NULL);
    gst_caps_unref (taken);
    taken = gst_pad_peer_query_caps (pad, caps);
  }
  return !gst_caps_is_empty (taken);
}

/* A microphone (some test sources too) is only live. */
static gboolean
can_seek (GstTfxServerStream *self)
{
  return !self->is_microphone && gst_tfx_pipeline_can_seek (self->pipeline);
}

/* Gives the element the text with all values. */
static void
apply (GstTfxServerStream *self)
{
  remove_curves (self);
  g_object_set (self->chain, "chain",
      self->is_bypassed ? "" : gst_tfx_server_stream_get_text (self), NULL);
}

void
gst_tfx_server_stream_set_chain (GstTfxServerStream *self, const gchar *text,
    TfxExpr *expr)
{
  const gsize n_gains = GAIN_BLOCKS * tfx_expr_n_stages (expr);
  gchar *copy = g_strdup (text);

  g_free (self->text);
  self->text = copy;
  tfx_expr_free (&self->expr);
  self->expr = expr;
  g_free (self->gains_db);
  self->gains_db = g_new (gdouble, n_gains);
  for (gsize i = 0; i < n_gains; i++)
    self->gains_db[i] = NAN;
  apply (self);
}

void
gst_tfx_server_stream_bypass (GstTfxServerStream *self, gboolean on)
{
  if (self->is_bypassed != on) {
    self->is_bypassed = on;
    apply (self);
  }
}

/* A line from the current value to the next, in the curves that elements follow to the
 * sample.  It begins after the next buffer, since that may be on its way.  The curve holds
 * the value until it is removed. */
static void
begin_ramp (GstTfxServerStream *self, GstObject *stage, const gchar *property,
    gdouble value, gdouble ramp_ms)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  const guint64 begin_ns = __atomic_load_n (&self->next_ns, __ATOMIC_RELAXED) +
                           __atomic_load_n (&self->length_ns, __ATOMIC_RELAXED);
  const guint64 end_ns = begin_ns + (guint64)(ramp_ms * GST_MSECOND);
  gdouble now;

  g_object_get (stage, property, &now, NULL);
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (points, begin_ns, now);
  gst_timed_value_control_source_set (points, end_ns, value);
  gst_object_add_control_binding (stage,
      gst_direct_control_binding_new_absolute (stage, property, source));
  gst_object_unref (source);
  self->settled_ns = MAX (self->settled_ns, end_ns);
}

/* The rest of a curve, in a stream whose time begins anew. */
static void
restart_curve (GstControlBinding *binding, guint64 now_ns)
{
  GstTimedValueControlSource *points = NULL;
  GstTimedValue first, last;
  GList *all;
  gdouble now;

  g_object_get (binding, "control-source", &points, NULL);
  all = gst_timed_value_control_source_get_all (points);
  first = *(GstTimedValue *)all->data;
  last = *(GstTimedValue *)g_list_last (all)->data;
  gst_control_source_get_value (GST_CONTROL_SOURCE (points),
      MAX (now_ns, first.timestamp), &now);
  gst_timed_value_control_source_unset_all (points);
  gst_timed_value_control_source_set (points, 0, now);
  gst_timed_value_control_source_set (points,
      last.timestamp - MIN (now_ns, last.timestamp - 1), last.value);
  g_list_free (all);
  gst_object_unref (points);
}

gint
gst_tfx_server_stream_set_value (GstTfxServerStream *self, gsize stage,
    const gchar *param, const TfxValue *value, gdouble ramp_ms,
    TfxExprError *error)
{
  g_autofree gchar *property = g_strdelimit (g_strdup (param), "_", '-');
  g_autoptr (GstObject) child =
      self->is_bypassed ? NULL : get_child (self, stage);
  const GParamSpec *spec =
      child
          ? g_object_class_find_property (G_OBJECT_GET_CLASS (child), property)
          : NULL;
  g_autoptr (GstControlBinding) binding = NULL;
  TfxValue old;
  gint ret = tfx_expr_get (self->expr, stage, param, &old);

  if (ret == 0 && (old.type != value->type || value->type != TFX_VALUE_NUMBER ||
                      strcmp (param, "lookahead") == 0 ||
                      (child && (!spec || spec->value_type != G_TYPE_DOUBLE))))
    ret = -ENOTSUP;
  if (ret == 0)
    ret = tfx_expr_set (self->expr, stage, param, value, error);
  if (ret < 0)
    return ret;
  g_clear_pointer (&self->text, g_free);
  if (!child)
    return 0;
  binding = gst_object_get_control_binding (child, property);
  if (binding)
    gst_object_remove_control_binding (child, binding);
  if (ramp_ms > 0.0 && self->is_playing)
    begin_ramp (self, child, property, value->number, ramp_ms);
  else
    g_object_set (child, property, value->number, NULL);
  return 0;
}

void
gst_tfx_server_stream_set_volume (GstTfxServerStream *self, gdouble volume_db,
    gboolean is_muted)
{
  self->volume_db = volume_db;
  self->is_muted = is_muted;
  gst_child_proxy_set (GST_CHILD_PROXY (self->volume), "volume::gain",
      is_muted ? MUTED_DB : volume_db, NULL);
}

/* ---- playing ------------------------------------------------------------------------ */

/* Stops a stream that cannot be sought; its time begins anew. */
static void
stop (GstTfxServerStream *self)
{
  GstChildProxy *proxy = GST_CHILD_PROXY (self->chain);
  guint64 now_ns;

  gst_element_set_state (self->pipeline, GST_STATE_READY);
  now_ns = self->next_ns;
  for (guint i = gst_child_proxy_get_children_count (proxy); i-- > 0;) {
    g_autoptr (GstObject) child = get_child (self, i);

    for (GList *l = child->control_bindings; l; l = l->next)
      restart_curve (l->data, now_ns);
  }
  if (self->settled_ns > 0)
    self->settled_ns -= MIN (now_ns, self->settled_ns - 1);
  self->next_ns = self->length_ns = 0;
}

void
gst_tfx_server_stream_set_playing (GstTfxServerStream *self,
    gboolean is_playing)
{
  if (is_playing && self->is_over && !gst_tfx_server_stream_seek (self, 0.0))
    stop (self);
  self->is_over &= !is_playing;
  self->is_playing = is_playing;
  gst_element_set_state (self->pipeline,
      is_playing ? GST_STATE_PLAYING : GST_STATE_PAUSED);
}

gboolean
gst_tfx_server_stream_seek (GstTfxServerStream *self, gdouble to_s)
{
  if (!can_seek (self))
    return FALSE;
  if (self->settled_ns > 0)
    apply (self);
  self->is_over = FALSE;
  return gst_tfx_pipeline_seek_to (self->pipeline, (gint64)(to_s * GST_SECOND));
}

/* Flushes the stream for a chain with another look-ahead: by a seek, or a new start. */
static void
flush (GstTfxServerStream *self)
{
  if (can_seek (self)) {
    gst_tfx_pipeline_seek (self->pipeline, 0);
  } else {
    stop (self);
    gst_tfx_server_stream_set_playing (self, self->is_playing);
  }
}

static gboolean
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  GstTfxServerStream *self = data;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *warning = NULL;
  const GstStructure *details = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      if (self->is_loop &&
          __atomic_load_n (&self->next_ns, __ATOMIC_RELAXED) > 0 &&
          gst_tfx_server_stream_seek (self, 0.0))
        break; /* (A sound without frames would end at once, again and again.) */
      self->is_over = TRUE;
      self->is_playing = FALSE;
      self->notify (NULL, FALSE, self->data);
      break;
    case GST_MESSAGE_ELEMENT:
      gst_tfx_tool_note_missing (message, &self->missing);
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (self->pipeline));
      break;
    case GST_MESSAGE_ERROR:
      error = gst_tfx_tool_take_error (message, self->missing);
      self->notify (error->message, TRUE, self->data);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning_details (message, &details);
      if (details && gst_structure_has_field (details, "needs-flush")) {
        flush (self);
        break;
      }
      warning = gst_tfx_tool_take_warning (message);
      if (warning)
        self->notify (warning, FALSE, self->data);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* ---- what clients read -------------------------------------------------------------- */

/* Returns the number of channels; 0: there is no format yet. */
static gint
read_format (GstElement *element, const gchar *pad, GstAudioInfo *info)
{
  g_autoptr (GstCaps) caps = gst_tfx_tool_get_caps (element, pad);

  return caps && gst_audio_info_from_caps (info, caps) ? info->channels : 0;
}

/* The part of real time that the chain has taken since the last call. */
static void
measure_load (GstTfxServerStream *self)
{
  const guint64 time_ns = self->time_ns, frames = self->frames;
  g_autoptr (GstStructure) stats = NULL;
  GstAudioInfo info;

  g_object_get (self->chain, "stats", &stats, NULL);
  gst_structure_get (stats, "process-time", G_TYPE_UINT64, &self->time_ns,
      "frames", G_TYPE_UINT64, &self->frames, NULL);
  self->load = 0.0;
  if (self->frames > frames && self->time_ns > time_ns &&
      read_format (self->chain, "sink", &info) > 0)
    self->load = MIN ((gdouble)(self->time_ns - time_ns) * info.rate /
                          ((gdouble)(self->frames - frames) * GST_SECOND),
        1.0);
}

void
gst_tfx_server_stream_advance (GstTfxServerStream *self)
{
  const gsize n_stages = tfx_expr_n_stages (self->expr);
  gdouble *gains_db = self->gains_db + self->n_blocks % GAIN_BLOCKS * n_stages;

  gst_tfx_server_meter_advance (self->input);
  gst_tfx_server_meter_advance (self->output);
  for (gsize i = 0; i < n_stages; i++) {
    /* (Others measure none, and the filter is locked while it runs.) */
    const gboolean has_gain =
        tfx_expr_stage_class (self->expr, i)->kind >= TFX_CLASS_DYNAMICS;
    g_autoptr (GstObject) child =
        has_gain && !self->is_bypassed ? get_child (self, i) : NULL;
    g_autoptr (GstStructure) stats = NULL;

    gains_db[i] = NAN;
    if (child)
      g_object_get (child, "stats", &stats, NULL);
    if (stats)
      gst_structure_get_double (stats, "gain", &gains_db[i]);
  }
  /* (The buffers before the last one have been through the chain.) */
  if (self->settled_ns > 0 &&
      __atomic_load_n (&self->next_ns, __ATOMIC_RELAXED) >
          self->settled_ns +
              __atomic_load_n (&self->length_ns, __ATOMIC_RELAXED))
    apply (self);
  if (++self->n_blocks % GST_TFX_SERVER_BLOCKS_HZ == 0)
    measure_load (self);
}

gdouble
gst_tfx_server_stream_read_gain (const GstTfxServerStream *self, gsize stage,
    guint64 from)
{
  const gsize n_stages = tfx_expr_n_stages (self->expr);
  gdouble least_db = NAN;

  /* (fmin() prefers a number to NAN.) */
  for (guint64 at = self->n_blocks;
       at > from && at + GAIN_BLOCKS > self->n_blocks; at--)
    least_db = fmin (least_db,
        self->gains_db[(at - 1) % GAIN_BLOCKS * n_stages + stage]);
  return least_db;
}

void
gst_tfx_server_stream_get_state (GstTfxServerStream *self,
    GstTfxServerState *state)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime latency = 0;
  GstAudioInfo info, after;
  gint64 position = 0;

  *state = (GstTfxServerState){ 0 };
  state->n_channels = read_format (self->chain, "sink", &info);
  /* (The last pad has its format first.) */
  if (state->n_channels > 0) {
    state->n_outputs = read_format (self->volume, "src", &after);
    state->rate_hz = GST_AUDIO_INFO_RATE (&info);
    g_strlcpy (state->format, GST_AUDIO_INFO_NAME (&info),
        sizeof state->format);
    if (!GST_AUDIO_INFO_IS_UNPOSITIONED (&info))
      gst_audio_channel_positions_to_mask (info.position, info.channels, TRUE,
          &state->positions);
  }
  state->n_dropped =
      gst_util_uint64_scale_round (__atomic_load_n (&self->dropped_ns,
                                       __ATOMIC_RELAXED),
          (guint64)state->rate_hz, GST_SECOND);
  if (gst_element_query (self->pipeline, query))
    gst_query_parse_latency (query, NULL, &latency, NULL);
  state->latency_s = (gdouble)latency / GST_SECOND;
  gst_element_query_position (self->pipeline, GST_FORMAT_TIME, &position);
  state->position_s = (gdouble)MAX (position, 0) / GST_SECOND;
}

/* ---- lifetime ----------------------------------------------------------------------- */

GstTfxServerStream *
gst_tfx_server_stream_new (const gchar *sound, const gchar *source,
    const gchar *sink, gboolean is_loop, GstTfxServerNotify notify,
    gpointer data, GError **error)
{
  GstElement *pipeline =
      gst_tfx_pipeline_new (sound, source, FILTERS, sink, error);
  g_autoptr (GstPad) before = NULL, after = NULL;
  GstTfxServerStream *self;

  if (!pipeline)
    return NULL;
  self = g_new0 (GstTfxServerStream, 1);
  self->pipeline = pipeline;
  self->chain = gst_bin_get_by_name (GST_BIN (pipeline), "chain");
  self->volume = gst_bin_get_by_name (GST_BIN (pipeline), "volume");
  self->is_microphone = strcmp (sound, "-") == 0;
  self->is_loop = is_loop;
  self->notify = notify;
  self->data = data;
  self->expr = tfx_expr_empty ();
  self->text = g_strdup ("");
  self->expected = GST_CLOCK_TIME_NONE;
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  before = gst_element_get_static_pad (self->chain, "sink");
  after = gst_element_get_static_pad (self->volume, "src");
  self->input = gst_tfx_server_meter_new (before, FALSE);
  self->output = gst_tfx_server_meter_new (after, TRUE);
  gst_pad_add_probe (before,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      take_input, self, NULL);
  self->bus = gst_element_get_bus (pipeline);
  gst_bus_add_watch (self->bus, take_message, self);
  return self;
}

void
gst_tfx_server_stream_free (GstTfxServerStream *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_bus_remove_watch (self->bus);
  gst_object_unref (self->bus);
  gst_object_unref (self->chain);
  gst_object_unref (self->volume);
  gst_object_unref (self->pipeline);
  gst_tfx_server_meter_free (self->input);
  gst_tfx_server_meter_free (self->output);
  tfx_expr_free (&self->expr);
  g_free (self->gains_db);
  g_free (self->text);
  g_free (self->missing);
  g_free (self);
}
