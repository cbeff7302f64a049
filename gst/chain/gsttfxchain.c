/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchain.c: the element tfxchain.
 */

/**
 * SECTION:element-tfxchain
 * @title: tfxchain
 *
 * A composition of filters in one element, written in TorchFX's language:
 *
 * |[
 * HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=2, gain=3)
 *   | (LoChebyshev1(5000) + Gain(-6, gain_type='db'))
 * ]|
 *
 * `|` is series, `+` is a sum of branches and binds tighter, `name=` before a
 * call names the stage.  Class names, parameters, their order and their
 * defaults are TorchFX's.  The whole chain runs in one pass over the samples.
 *
 * Each stage is a child of the element (#GstChildProxy), by its name, or by its
 * class in lower case and a number, such as parametriceq0.  Each parameter is a
 * property of the child that can be set and automated while playing.  A ramp of
 * a parameter changes the filter in place.
 *
 * The chain itself can be set while playing.  A stage that keeps its name, or
 * else its position and class, keeps its state and its child object; changed
 * stages are cross-faded within 10 ms.
 *
 * An error in the chain is reported with its line and position.  It fails the
 * state change from NULL; while playing the new chain is refused with a
 * warning, and the previous chain stays in use.
 *
 * The element implements #GstPreset; a preset has the chain.
 *
 * Request pads `key_%u` take other streams, whose channels follow those of the
 * main stream in the chain and are dropped from the output.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 audiotestsrc wave=white-noise ! tfxchain chain="HiButterworth(300) | LoButterworth(3400)" ! audioconvert ! autoaudiosink
 * gst-launch-1.0 filesrc location=speech.flac ! decodebin ! audioconvert ! tfxchain chain="HiButterworth(80) | eq=ParametricEQ(2500, 1.5, 0)" eq::gain=4 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=pink-noise ! tfxchain @preset="Telephone band" ! audioconvert ! autoaudiosink
 * ]|
 */
#include "gsttfxchain.h"

#include <string.h>

#include "gsttfxchainreader.h"
#include "gsttfxkey.h"
#include "gsttfxpreset.h"

GST_DEBUG_CATEGORY (gst_tfx_chain_debug);
#define GST_CAT_DEFAULT gst_tfx_chain_debug

enum
{
  PROP_0,
  PROP_CHAIN,
  PROP_LOCATION,
  PROP_WATCH,
  PROP_MESSAGE_INTERVAL
};

static void gst_tfx_chain_init_child_proxy (gpointer iface, gpointer data);
static void gst_tfx_chain_init_preset (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstTfxChain, gst_tfx_chain, GST_TYPE_TFX_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, gst_tfx_chain_init_child_proxy)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_tfx_chain_init_preset)
            GST_DEBUG_CATEGORY_INIT (gst_tfx_chain_debug, "tfxchain", 0,
                "Chain of filters"));
GST_ELEMENT_REGISTER_DEFINE (tfxchain, "tfxchain", GST_RANK_NONE,
    GST_TYPE_TFX_CHAIN);

/* ---- properties ---------------------------------------------------------- */

static void
gst_tfx_chain_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  GstTfxChain *self = GST_TFX_CHAIN (object);
  GstTfxChainSeen *location;
  const gchar *text;

  switch (prop_id) {
    case PROP_CHAIN:
      text = g_value_get_string (value);
      gst_tfx_chain_set_text (self, text ? text : "", NULL, NULL, NULL);
      return;
    case PROP_LOCATION:
      text = g_value_get_string (value);
      location = text && *text ? gst_tfx_chain_seen_new (text) : NULL;
      GST_OBJECT_LOCK (self);
      if (self->location)
        gst_tfx_chain_seen_free (self->location);
      self->location = location;
      GST_OBJECT_UNLOCK (self);
      gst_tfx_chain_read_location (self);
      break;
    case PROP_WATCH:
      gst_tfx_chain_watch_set (self, &self->is_watching,
          g_value_get_boolean (value));
      break;
    case PROP_MESSAGE_INTERVAL:
      __atomic_store_n (&self->message_interval, g_value_get_uint64 (value),
          __ATOMIC_RELAXED);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      return;
  }
  g_object_notify_by_pspec (object, pspec);
}

static void
gst_tfx_chain_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxChain *self = GST_TFX_CHAIN (object);

  switch (prop_id) {
    case PROP_CHAIN:
      g_value_take_string (value, gst_tfx_chain_get_text (self, FALSE));
      break;
    case PROP_LOCATION:
      GST_OBJECT_LOCK (self);
      g_value_set_string (value, self->location ? self->location->path : NULL);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_WATCH:
      g_mutex_lock (&self->watch_lock);
      g_value_set_boolean (value, self->is_watching);
      g_mutex_unlock (&self->watch_lock);
      break;
    case PROP_MESSAGE_INTERVAL:
      g_value_set_uint64 (value,
          __atomic_load_n (&self->message_interval, __ATOMIC_RELAXED));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
}

/* ---- states -------------------------------------------------------------- */

/* Whether the chain is valid; if not, posts an error. */
static gboolean
gst_tfx_chain_check (GstTfxChain *self)
{
  GstTfxChainExpr *expr;
  TfxExprError error;
  gchar *fault;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  expr = gst_tfx_chain_expr_ref (self->expr);
  fault = g_strdup (self->fault);
  GST_OBJECT_UNLOCK (self);

  if (!fault && tfx_expr_check (expr->expr, &error) < 0)
    fault = g_strdup (error.rendered);
  gst_tfx_chain_expr_unref (expr);
  ok = fault == NULL;
  if (!ok)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("Invalid chain: %s", fault),
        (NULL));
  g_free (fault);
  return ok;
}

static GstStateChangeReturn
gst_tfx_chain_change_state (GstElement *element, GstStateChange transition)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    gst_tfx_chain_watch_catch_up (self);
    if (!gst_tfx_chain_check (self))
      return GST_STATE_CHANGE_FAILURE;
    gst_tfx_chain_watch_set (self, &self->is_ready, TRUE);
  }
  ret = GST_ELEMENT_CLASS (gst_tfx_chain_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY &&
          ret == GST_STATE_CHANGE_FAILURE))
    gst_tfx_chain_watch_set (self, &self->is_ready, FALSE);
  return ret;
}

static void
gst_tfx_chain_stop (GstTfxElement *element)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);

  gst_tfx_chain_build_stop (self);
  g_clear_pointer (&self->seen_stages, g_ptr_array_unref);
  self->last_message = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK (self);
  self->is_started = FALSE;
  GST_OBJECT_UNLOCK (self);
}

/* From now on an invalid chain is refused. */
static gboolean
gst_tfx_chain_start (GstTfxElement *element)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);

  GST_OBJECT_LOCK (self);
  self->is_started = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (gst_tfx_chain_check (self))
    return TRUE;
  gst_tfx_chain_stop (element);
  return FALSE;
}

/* ---- the stream ---------------------------------------------------------- */

static TfxChain *
gst_tfx_chain_make_chain (GstTfxElement *element, gdouble rate, guint channel)
{
  GstTfxChainExpr *expr = gst_tfx_chain_get_expr (GST_TFX_CHAIN (element));
  TfxChain *chain = NULL;
  guint n_channels, n_stream;
  guint64 positions, stream_positions;
  gdouble stream_rate;

  n_channels =
      tfx_expr_find_channels (expr->expr, MAX (channel + 1, 2), &positions);
  if (gst_tfx_element_get_stream (element, &stream_rate, &n_stream,
          &stream_positions) &&
      n_stream == n_channels)
    positions = stream_positions;
  tfx_expr_build_at (expr->expr, rate, n_channels, positions, NULL, NULL,
      &chain, NULL);
  gst_tfx_chain_expr_unref (expr);
  return chain;
}

static gboolean
gst_tfx_chain_get_channels (GstTfxElement *element, GstTfxChannels *channels,
    guint *least)
{
  GstTfxChainExpr *expr = gst_tfx_chain_get_expr (GST_TFX_CHAIN (element));
  unsigned n_out, n_most;

  channels->in = tfx_expr_n_inputs (expr->expr, least);
  tfx_expr_channels (expr->expr, channels->in, &n_out, &n_most);
  channels->out = n_out;
  channels->most = n_most;
  gst_tfx_chain_expr_unref (expr);
  return channels->in > 0;
}

/* Called for each buffer: takes no lock unless the stages were replaced. */
static gboolean
gst_tfx_chain_has_controlled_children (GstTfxElement *element)
{
  GstTfxChain *self = (GstTfxChain *)element;

  if (G_UNLIKELY (g_atomic_pointer_get (&self->stages) != self->seen_stages)) {
    g_clear_pointer (&self->seen_stages, g_ptr_array_unref);
    self->seen_stages = gst_tfx_chain_get_stages (element);
  }
  for (guint i = 0; i < self->seen_stages->len; i++) {
    if (GST_OBJECT_CAST (self->seen_stages->pdata[i])->control_bindings)
      return TRUE;
  }
  return FALSE;
}

/* Posts an element message with the gains and loudness of the stages, if
 * message-interval is over. */
static void
gst_tfx_chain_buffer_done (GstTfxElement *element, GstClockTime begin,
    GstClockTime end, const GstSegment *segment)
{
  GstTfxChain *self = (GstTfxChain *)element;
  const guint64 interval =
      __atomic_load_n (&self->message_interval, __ATOMIC_RELAXED);
  const gboolean has_begun = GST_CLOCK_TIME_IS_VALID (self->last_message);
  GstClockTime time = GST_CLOCK_TIME_NONE, duration;
  GstStructure *message;
  GPtrArray *stages;

  if (G_LIKELY (interval == 0)) {
    self->last_message = GST_CLOCK_TIME_NONE;
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID (end) || segment->format != GST_FORMAT_TIME)
    return;
  /* An interval starts with the first buffer, after a seek or a new segment,
   * with each buffer in reverse playback, and when messages are enabled; not if
   * a buffer continues the last one, after an update of the segment. */
  if (GST_CLOCK_TIME_IS_VALID (begin) &&
      !(has_begun && end >= self->last_end &&
          ABS (GST_CLOCK_DIFF (begin, self->last_end)) < GST_MSECOND))
    time = begin;
  else if (!has_begun || end < self->last_message)
    time = end;
  if (GST_CLOCK_TIME_IS_VALID (time)) {
    /* It includes the elapsed part of the previous one, in another segment, so
     * that items of a playlist may be shorter than an interval. */
    if (has_begun)
      self->message_late += self->last_end - self->last_message;
    else
      self->message_late = 0;
    self->last_message = time;
  }
  self->last_end = end;
  duration = end - self->last_message;
  if (duration + self->message_late < interval)
    return;
  /* Keeps the excess, so that it does not accumulate. */
  self->message_late = (duration + self->message_late) % interval;
  time = self->last_message;
  self->last_message = end;

  message = gst_structure_new ("tfxchain", "endtime", G_TYPE_UINT64, end,
      "timestamp", G_TYPE_UINT64, time, "duration", G_TYPE_UINT64, duration,
      "stream-time", G_TYPE_UINT64,
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time),
      "running-time", G_TYPE_UINT64,
      gst_segment_to_running_time (segment, GST_FORMAT_TIME, time), NULL);
  stages = gst_tfx_chain_get_stages (element);
  for (guint i = 0; i < stages->len; i++) {
    GstStructure *stats = gst_tfx_chain_stage_take_stats (stages->pdata[i],
        GST_TFX_CHAIN_STAGE_MESSAGES);

    if (stats)
      gst_structure_set (message, GST_OBJECT_NAME (stages->pdata[i]),
          GST_TYPE_STRUCTURE, stats, NULL);
    g_clear_pointer (&stats, gst_structure_free);
  }
  g_ptr_array_unref (stages);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), message));
}

/* ---- children ------------------------------------------------------------ */

static guint
gst_tfx_chain_get_children_count (GstChildProxy *proxy)
{
  GPtrArray *stages = gst_tfx_chain_get_stages (GST_TFX_ELEMENT (proxy));
  guint n = stages->len;

  g_ptr_array_unref (stages);
  return n;
}

static GObject *
gst_tfx_chain_get_child_by_index (GstChildProxy *proxy, guint index)
{
  GPtrArray *stages = gst_tfx_chain_get_stages (GST_TFX_ELEMENT (proxy));
  GObject *child = NULL;

  if (index < stages->len)
    child = g_object_ref (stages->pdata[index]);
  g_ptr_array_unref (stages);
  return child;
}

static void
gst_tfx_chain_init_child_proxy (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_children_count = gst_tfx_chain_get_children_count;
  proxy->get_child_by_index = gst_tfx_chain_get_child_by_index;
}

/* ---- presets ------------------------------------------------------------- */

/* A preset has the chain with the current values of its stages.  An invalid
 * chain is neither saved nor loaded. */

/* GstPreset (up to GStreamer 1.28 at least) escapes a string property twice and
 * unescapes it once, which breaks any chain.  Meta data is not affected, so the
 * chain is stored there too and read from there. */
#define PRESET_CHAIN "chain"

static GstPresetInterface defaults;

/* Whether a chain is valid; if not, sets the error. */
static gboolean
can_be_read (const gchar *text, TfxExprError *error)
{
  TfxExpr *expr = gst_tfx_chain_reader_parse (text, NULL, NULL, NULL, error);
  const gboolean can = expr != NULL;

  tfx_expr_free (&expr);
  return can;
}

static gboolean
gst_tfx_chain_preset_save (GstPreset *preset, const gchar *name)
{
  gchar *text = gst_tfx_chain_get_text (GST_TFX_CHAIN (preset), TRUE);
  TfxExprError error;
  gboolean ok = text && can_be_read (text, &error);

  if (text && !ok)
    gst_tfx_preset_warn (preset,
        "The preset \"%s\" was not saved: it could not be loaded again: %s",
        name, error.rendered);
  ok = ok && defaults.save_preset (preset, name) &&
       gst_preset_set_meta (preset, name, PRESET_CHAIN, text);
  g_free (text);
  return ok;
}

/* An empty chain that no user writes. */
#define NO_CHAIN "# no chain"

/* The chain of a preset, to be freed: NO_CHAIN if it has none; NULL if the
 * preset does not exist. */
static gchar *
read_preset (GstPreset *preset, const gchar *name)
{
  gchar *text = NULL;
  GstPreset *reader;

  if (gst_preset_get_meta (preset, name, PRESET_CHAIN, &text) && text)
    return text;
  /* When a user saves a preset for the first time, GstPreset copies all others
   * into the user's file, where later versions do not update them.  So a preset
   * that the user has not saved is read from the shipped file. */
  text = gst_tfx_preset_read_shipped (preset, name, "chain");
  if (text)
    return text;
  /* In other files the chain is the property: a temporary element loads it,
   * valid or not. */
  reader = gst_object_ref_sink (
      g_object_new (G_OBJECT_TYPE (preset), "chain", NO_CHAIN, NULL));
  if (defaults.load_preset (reader, name))
    g_object_get (reader, "chain", &text, NULL);
  gst_object_unref (reader);
  return text;
}

static gboolean
gst_tfx_chain_preset_load (GstPreset *preset, const gchar *name)
{
  gchar *text = read_preset (preset, name);
  TfxExprError error = { .rendered = "it has no chain" };
  gboolean ok =
      text && strcmp (text, NO_CHAIN) != 0 && can_be_read (text, &error);

  if (text && !ok)
    gst_tfx_preset_warn (preset,
        "Invalid preset \"%s\"; the previous chain stays in use: %s", name,
        error.rendered);
  ok = ok &&
       gst_tfx_chain_set_text (GST_TFX_CHAIN (preset), text, NULL, NULL, NULL);
  g_free (text);
  return ok;
}

/* The chain includes the values of the stages. */
static gchar **
gst_tfx_chain_preset_get_property_names (GstPreset *preset)
{
  static const gchar *const names[] = { "chain", NULL };

  return g_strdupv ((gchar **)names);
}

static void
gst_tfx_chain_init_preset (gpointer iface, gpointer data)
{
  GstPresetInterface *preset = iface;

  defaults = *preset;
  preset->get_property_names = gst_tfx_chain_preset_get_property_names;
  preset->save_preset = gst_tfx_chain_preset_save;
  preset->load_preset = gst_tfx_chain_preset_load;
}

/* ---- the class ----------------------------------------------------------- */

static void
gst_tfx_chain_dispose (GObject *object)
{
  GstTfxChain *self = GST_TFX_CHAIN (object);
  GPtrArray *stages;

  gst_tfx_chain_watch_set (self, &self->is_ready, FALSE);
  GST_OBJECT_LOCK (self);
  stages = self->stages;
  self->stages = g_ptr_array_new_with_free_func (gst_object_unref);
  for (guint i = 0; i < stages->len; i++)
    ((GstTfxChainStage *)stages->pdata[i])->last =
        gst_tfx_chain_expr_ref (self->expr);
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < stages->len; i++)
    gst_object_unparent (stages->pdata[i]);
  g_ptr_array_unref (stages);
  G_OBJECT_CLASS (gst_tfx_chain_parent_class)->dispose (object);
}

static void
gst_tfx_chain_finalize (GObject *object)
{
  GstTfxChain *self = GST_TFX_CHAIN (object);

  g_mutex_clear (&self->watch_lock);
  g_clear_pointer (&self->location, gst_tfx_chain_seen_free);
  g_free (self->text);
  g_free (self->fault);
  g_free (self->folder);
  g_ptr_array_unref (self->files);
  gst_tfx_chain_expr_unref (self->expr);
  g_ptr_array_unref (self->stages);
  G_OBJECT_CLASS (gst_tfx_chain_parent_class)->finalize (object);
}

static void
gst_tfx_chain_class_init (GstTfxChainClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                            G_PARAM_EXPLICIT_NOTIFY | GST_PARAM_MUTABLE_PLAYING;
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstTfxElementClass *tfx_class = GST_TFX_ELEMENT_CLASS (klass);

  gobject_class->set_property = gst_tfx_chain_set_property;
  gobject_class->get_property = gst_tfx_chain_get_property;
  gobject_class->dispose = gst_tfx_chain_dispose;
  gobject_class->finalize = gst_tfx_chain_finalize;

  /**
   * GstTfxChain:chain:
   *
   * The chain of filters, in TorchFX's language.  Reading it returns the text
   * that was set; after a parameter of a stage was set, the current chain in
   * one line.  A text without stages passes the sound unchanged.
   *
   * An invalid chain fails the state change from NULL or READY.  In PAUSED and
   * PLAYING it is refused with a warning that has the reason; the property and
   * the filter do not change.
   */
  g_object_class_install_property (gobject_class, PROP_CHAIN,
      g_param_spec_string ("chain", "Chain",
          "Chain of filters, such as HiButterworth(80) | Gain(2)", "", flags));

  /**
   * GstTfxChain:location:
   *
   * A file with the text of the chain, or with filter settings exported by REW.
   * It is read when this property is set; of this and #GstTfxChain:chain the
   * last one set is used.  File names in it are relative to its folder; those
   * in #GstTfxChain:chain are relative to the working folder.  Errors are
   * reported like those of #GstTfxChain:chain.
   */
  g_object_class_install_property (gobject_class, PROP_LOCATION,
      g_param_spec_string ("location", "Location",
          "File with the chain, or with filter settings of REW or Equalizer "
          "APO",
          NULL, flags));

  /**
   * GstTfxChain:watch:
   *
   * Whether to reload the file at #GstTfxChain:location, and the files that the
   * chain names, whenever one of them is saved.  Files saved in NULL are
   * reloaded on the state change to READY.
   */
  g_object_class_install_property (gobject_class, PROP_WATCH,
      g_param_spec_boolean ("watch", "Watch",
          "Reload location, and files in the chain, when they change", FALSE,
          flags));

  /**
   * GstTfxChain:message-interval:
   *
   * Interval of element messages named tfxchain, in ns of the stream; 0: none.
   * A message has timestamp, endtime, duration, stream-time and running-time,
   * like those of the element level, and for each stage that measures its level
   * a structure with the fields of that child's stats.
   */
  g_object_class_install_property (gobject_class, PROP_MESSAGE_INTERVAL,
      g_param_spec_uint64 ("message-interval", "Message interval",
          "Interval of element messages with gains and loudness in ns (0 = "
          "none)",
          0, G_MAXUINT64, 0, flags));

  gst_element_class_set_static_metadata (element_class, "Chain of filters",
      "Filter/Effect/Audio",
      "Runs a chain of filters and effects, written as text, in one pass",
      "the gst-tfx authors");
  element_class->change_state = gst_tfx_chain_change_state;
  gst_tfx_key_install (element_class);
  tfx_class->start = gst_tfx_chain_start;
  tfx_class->stop = gst_tfx_chain_stop;
  tfx_class->buffer_done = gst_tfx_chain_buffer_done;
  tfx_class->build_chain = gst_tfx_chain_build;
  tfx_class->move_stage = gst_tfx_chain_build_move;
  tfx_class->reserve = gst_tfx_chain_build_reserve;
  tfx_class->make_chain = gst_tfx_chain_make_chain;
  tfx_class->get_channels = gst_tfx_chain_get_channels;
  tfx_class->has_controlled_children = gst_tfx_chain_has_controlled_children;
  tfx_class->get_children = gst_tfx_chain_get_stages;
  tfx_class->get_stage_id = gst_tfx_chain_stage_get_id;
}

static void
gst_tfx_chain_init (GstTfxChain *self)
{
  gst_tfx_key_init (GST_TFX_ELEMENT (self));
  g_mutex_init (&self->watch_lock);
  self->last_message = GST_CLOCK_TIME_NONE;
  self->text = g_strdup ("");
  self->files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  self->expr = gst_tfx_chain_expr_new (tfx_expr_empty ());
  self->stages = g_ptr_array_new_with_free_func (gst_object_unref);
}
