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
 * `|` is series, `+` is a sum of branches and binds tighter, `name=` before a call
 * names the stage.  Class names, parameters, their order and their defaults are
 * TorchFX's.  The whole chain runs in one pass over the samples.
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
 * state change from NULL; while playing the new chain is refused with a warning,
 * and the previous chain stays in use.
 *
 * The element implements #GstPreset; a preset has the chain.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 audiotestsrc wave=white-noise ! tfxchain chain="HiButterworth(300) | LoButterworth(3400)" ! audioconvert ! autoaudiosink
 * gst-launch-1.0 filesrc location=speech.flac ! decodebin ! audioconvert ! tfxchain chain="HiButterworth(80) | eq=ParametricEQ(2500, 1.5, 0)" eq::gain=4 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=pink-noise ! tfxchain @preset="Telephone band" ! audioconvert ! autoaudiosink
 * ]|
 */
#include "gsttfxchain.h"

#include "gsttfxchainprivate.h"

GST_DEBUG_CATEGORY (gst_tfx_chain_debug);
#define GST_CAT_DEFAULT gst_tfx_chain_debug

enum
{
  PROP_0,
  PROP_CHAIN,
  PROP_LOCATION,
  PROP_WATCH,
  PROP_MESSAGE_INTERVAL,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

static void gst_tfx_chain_init_child_proxy (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstTfxChain, gst_tfx_chain, GST_TYPE_TFX_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY, gst_tfx_chain_init_child_proxy)
        G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_tfx_chain_preset_init)
            GST_DEBUG_CATEGORY_INIT (gst_tfx_chain_debug, "tfxchain", 0,
                "Chain of filters"));
GST_ELEMENT_REGISTER_DEFINE (tfxchain, "tfxchain", GST_RANK_NONE,
    GST_TYPE_TFX_CHAIN);

/* ---- a file ---------------------------------------------------------------------- */

static void gst_tfx_chain_update_watch (GstTfxChain *self);

static void
gst_tfx_chain_saved (gpointer data)
{
  GST_INFO_OBJECT (data, "a file of the chain was saved");
  gst_object_ref (data);
  gst_tfx_chain_read_again (data);
  /* The chain may name other files now; then a new thread watches them, and this one
   * ends. */
  gst_tfx_chain_update_watch (data);
  gst_object_unref (data);
}

/* Starts, replaces or stops the watch, for the current files and state. */
static void
gst_tfx_chain_update_watch (GstTfxChain *self)
{
  GstTfxChainWatch *old = NULL;
  GPtrArray *files = NULL;
  GError *error = NULL;
  gboolean is_watching;

  g_mutex_lock (&self->watch_lock);
  GST_OBJECT_LOCK (self);
  is_watching = self->is_watching && self->is_ready;
  GST_OBJECT_UNLOCK (self);
  if (is_watching)
    files = gst_tfx_chain_list_files (self);
  if (self->watch && !(files && gst_tfx_chain_watch_is_of (self->watch, files)))
    old = g_steal_pointer (&self->watch);
  if (!self->watch && files && files->len > 0)
    self->watch =
        gst_tfx_chain_watch_new (files, gst_tfx_chain_saved, self, &error);
  if (old || is_watching)
    GST_DEBUG_OBJECT (self, "%u files are watched",
        self->watch ? files->len : 0);
  g_mutex_unlock (&self->watch_lock);
  if (error)
    GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
        ("The files of the chain are not watched: %s.", error->message),
        (NULL));
  g_clear_error (&error);
  /* Outside the lock, which the watch's callback takes. */
  g_clear_pointer (&old, gst_tfx_chain_watch_free);
  g_clear_pointer (&files, g_ptr_array_unref);
}

static void
gst_tfx_chain_set_ready (GstTfxChain *self, gboolean is_ready)
{
  g_mutex_lock (&self->watch_lock);
  self->is_ready = is_ready;
  g_mutex_unlock (&self->watch_lock);
  gst_tfx_chain_update_watch (self);
}

static void
gst_tfx_chain_set_location (GstTfxChain *self, const GValue *value)
{
  const gchar *path = g_value_get_string (value);
  GstTfxChainSeen *location =
      path && *path ? gst_tfx_chain_seen_new (path) : NULL;
  GstTfxChainSeen *old;

  GST_OBJECT_LOCK (self);
  old = self->location;
  self->location = location;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&old, gst_tfx_chain_seen_free);
  gst_tfx_chain_set_file (self);
  gst_tfx_chain_update_watch (self);
}

/* ---- properties -------------------------------------------------------------- */

static void
gst_tfx_chain_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  const gchar *text;

  switch (prop_id) {
    case PROP_CHAIN:
      text = g_value_get_string (value);
      if (gst_tfx_chain_set_text (GST_TFX_CHAIN (object), text ? text : ""))
        g_object_notify_by_pspec (object, pspec);
      gst_tfx_chain_update_watch (GST_TFX_CHAIN (object));
      break;
    case PROP_LOCATION:
      gst_tfx_chain_set_location (GST_TFX_CHAIN (object), value);
      g_object_notify_by_pspec (object, pspec);
      break;
    case PROP_WATCH:
      GST_OBJECT_LOCK (object);
      GST_TFX_CHAIN (object)->is_watching = g_value_get_boolean (value);
      GST_OBJECT_UNLOCK (object);
      gst_tfx_chain_update_watch (GST_TFX_CHAIN (object));
      g_object_notify_by_pspec (object, pspec);
      break;
    case PROP_MESSAGE_INTERVAL:
      __atomic_store_n (&GST_TFX_CHAIN (object)->message_interval,
          g_value_get_uint64 (value), __ATOMIC_RELAXED);
      g_object_notify_by_pspec (object, pspec);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
}

static void
gst_tfx_chain_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  const GstTfxChainSeen *location;

  switch (prop_id) {
    case PROP_CHAIN:
      g_value_take_string (value,
          gst_tfx_chain_get_text (GST_TFX_CHAIN (object)));
      break;
    case PROP_LOCATION:
      GST_OBJECT_LOCK (object);
      location = GST_TFX_CHAIN (object)->location;
      g_value_set_string (value, location ? location->path : NULL);
      GST_OBJECT_UNLOCK (object);
      break;
    case PROP_WATCH:
      GST_OBJECT_LOCK (object);
      g_value_set_boolean (value, GST_TFX_CHAIN (object)->is_watching);
      GST_OBJECT_UNLOCK (object);
      break;
    case PROP_MESSAGE_INTERVAL:
      g_value_set_uint64 (value,
          __atomic_load_n (&GST_TFX_CHAIN (object)->message_interval,
              __ATOMIC_RELAXED));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
}

/* ---- states --------------------------------------------------------------------- */

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

/* Reads the chain again if a watched file was saved in NULL, where there is no watch. */
static void
gst_tfx_chain_catch_up (GstTfxChain *self)
{
  GPtrArray *files = gst_tfx_chain_list_files (self);
  gboolean is_watching, is_saved = FALSE;

  GST_OBJECT_LOCK (self);
  is_watching = self->is_watching;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; is_watching && !is_saved && i < files->len; i++)
    is_saved = gst_tfx_chain_seen_is_saved (files->pdata[i]);
  g_ptr_array_unref (files);
  if (is_saved) {
    GST_INFO_OBJECT (self, "a file of the chain was saved in NULL");
    gst_tfx_chain_read_again (self);
  }
}

static GstStateChangeReturn
gst_tfx_chain_change_state (GstElement *element, GstStateChange transition)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    gst_tfx_chain_catch_up (self);
    if (!gst_tfx_chain_check (self))
      return GST_STATE_CHANGE_FAILURE;
    gst_tfx_chain_set_ready (self, TRUE);
  }
  ret = GST_ELEMENT_CLASS (gst_tfx_chain_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY &&
          ret == GST_STATE_CHANGE_FAILURE))
    gst_tfx_chain_set_ready (self, FALSE);
  return ret;
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
  GST_OBJECT_LOCK (self);
  self->is_started = FALSE;
  GST_OBJECT_UNLOCK (self);
  return FALSE;
}

static void
gst_tfx_chain_stop (GstTfxElement *element)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);

  gst_tfx_chain_builder_clear (&self->builder);
  g_clear_pointer (&self->seen_stages, g_ptr_array_unref);
  self->last_message = GST_CLOCK_TIME_NONE;
  GST_OBJECT_LOCK (self);
  self->is_started = FALSE;
  GST_OBJECT_UNLOCK (self);
}

/* ---- the stream ------------------------------------------------------------------- */

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
    self->seen_stages = gst_tfx_chain_get_stages (self);
  }
  for (guint i = 0; i < self->seen_stages->len; i++) {
    if (GST_OBJECT_CAST (self->seen_stages->pdata[i])->control_bindings)
      return TRUE;
  }
  return FALSE;
}

static GPtrArray *
gst_tfx_chain_get_controlled (GstTfxElement *element)
{
  return gst_tfx_chain_get_stages (GST_TFX_CHAIN (element));
}

static guint64
gst_tfx_chain_get_stage_id (GstTfxElement *element, GstObject *child)
{
  return gst_tfx_chain_stage_get_id (GST_TFX_CHAIN_STAGE (child));
}

/* ---- children --------------------------------------------------------------------- */

static guint
gst_tfx_chain_get_children_count (GstChildProxy *proxy)
{
  GPtrArray *stages = gst_tfx_chain_get_stages (GST_TFX_CHAIN (proxy));
  guint n = stages->len;

  g_ptr_array_unref (stages);
  return n;
}

static GObject *
gst_tfx_chain_get_child_by_index (GstChildProxy *proxy, guint index)
{
  GPtrArray *stages = gst_tfx_chain_get_stages (GST_TFX_CHAIN (proxy));
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

/* ---- the class ------------------------------------------------------------------------ */

static void
gst_tfx_chain_dispose (GObject *object)
{
  gst_tfx_chain_set_ready (GST_TFX_CHAIN (object), FALSE);
  gst_tfx_chain_drop_stages (GST_TFX_CHAIN (object));
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
   * The chain of filters, in TorchFX's language.  Reading it returns the text that
   * was set; after a parameter of a stage was set, the current chain in one line.
   * A text without stages passes the sound unchanged.
   *
   * An invalid chain fails the state change from NULL or READY.  In PAUSED and
   * PLAYING it is refused with a warning that has the reason; the property and the
   * filter do not change.
   */
  properties[PROP_CHAIN] = g_param_spec_string ("chain", "Chain",
      "Chain of filters, such as HiButterworth(80) | Gain(2)", "",
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY |
          GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property (gobject_class, PROP_CHAIN,
      properties[PROP_CHAIN]);

  /**
   * GstTfxChain:location:
   *
   * A file with the text of the chain, or with filter settings exported by REW.
   * It is read when this property is set; of this and #GstTfxChain:chain the last
   * one set is used.  File names in it are relative to its folder; those in
   * #GstTfxChain:chain are relative to the working folder.  Errors are reported
   * like those of #GstTfxChain:chain.
   */
  properties[PROP_LOCATION] = g_param_spec_string ("location", "Location",
      "File with the chain, or with filter settings of REW or Equalizer APO",
      NULL,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY |
          GST_PARAM_MUTABLE_PLAYING);

  /**
   * GstTfxChain:watch:
   *
   * Whether to reload the file at #GstTfxChain:location, and the files that the
   * chain names, whenever one of them is saved.  Files saved in NULL are reloaded
   * on the state change to READY.
   */
  properties[PROP_WATCH] = g_param_spec_boolean ("watch", "Watch",
      "Reload location, and files in the chain, when they change", FALSE,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY |
          GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property (gobject_class, PROP_LOCATION,
      properties[PROP_LOCATION]);
  g_object_class_install_property (gobject_class, PROP_WATCH,
      properties[PROP_WATCH]);

  /**
   * GstTfxChain:message-interval:
   *
   * Interval of element messages named tfxchain, in ns of the stream; 0: none.  A
   * message has timestamp, endtime, duration, stream-time and running-time, like
   * those of the element level, and for each stage that measures its level a
   * structure with the fields of that child's stats.
   */
  properties[PROP_MESSAGE_INTERVAL] = g_param_spec_uint64 ("message-interval",
      "Message interval",
      "Interval of element messages with gains and loudness in ns (0 = none)",
      0, G_MAXUINT64, 0,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY |
          GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property (gobject_class, PROP_MESSAGE_INTERVAL,
      properties[PROP_MESSAGE_INTERVAL]);

  gst_element_class_set_static_metadata (element_class, "Chain of filters",
      "Filter/Effect/Audio",
      "Runs a chain of filters and effects, written as text, in one pass",
      "the gst-tfx authors");
  element_class->change_state = gst_tfx_chain_change_state;
  tfx_class->start = gst_tfx_chain_start;
  tfx_class->stop = gst_tfx_chain_stop;
  tfx_class->buffer_done = gst_tfx_chain_readings_post;
  tfx_class->build_chain = gst_tfx_chain_builder_build;
  tfx_class->move_stage = gst_tfx_chain_builder_move;
  tfx_class->reserve = gst_tfx_chain_builder_reserve;
  tfx_class->make_chain = gst_tfx_chain_make_chain;
  tfx_class->get_channels = gst_tfx_chain_get_channels;
  tfx_class->has_controlled_children = gst_tfx_chain_has_controlled_children;
  tfx_class->get_children = gst_tfx_chain_get_controlled;
  tfx_class->get_stage_id = gst_tfx_chain_get_stage_id;
}

static void
gst_tfx_chain_init (GstTfxChain *self)
{
  g_mutex_init (&self->watch_lock);
  self->last_message = GST_CLOCK_TIME_NONE;
  gst_tfx_chain_init_text (self);
}
