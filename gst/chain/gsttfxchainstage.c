/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainstage.c: GstTfxChainStage, a stage of a tfxchain as its child.
 *
 * The values of a stage are in the chain's expression, from which the chain's
 * text and filter are made.  A stage that was removed from its chain keeps the
 * last expression that it was in.
 */
#include <errno.h>
#include <stdlib.h>
#include <math.h>

#include "gsttfxchain.h"
#include "gsttfxchainreader.h"
#include "gsttfxresponse.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

G_DEFINE_ABSTRACT_TYPE (GstTfxChainStage, gst_tfx_chain_stage, GST_TYPE_OBJECT)

#define GET_CLASS(self) ((GstTfxChainStageClass *)G_OBJECT_GET_CLASS (self))

/* ---- expressions --------------------------------------------------------- */

GstTfxChainExpr *
gst_tfx_chain_expr_new (TfxExpr *expr)
{
  GstTfxChainExpr *self = g_new (GstTfxChainExpr, 1);

  self->refs = 1;
  self->expr = expr;
  return self;
}

GstTfxChainExpr *
gst_tfx_chain_expr_ref (GstTfxChainExpr *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
gst_tfx_chain_expr_unref (GstTfxChainExpr *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  tfx_expr_free (&self->expr);
  g_free (self);
}

TfxExpr *
gst_tfx_chain_expr_edit (GstTfxChainExpr **self)
{
  TfxExpr *copy;

  if (g_atomic_int_get (&(*self)->refs) == 1)
    return (*self)->expr;
  copy = tfx_expr_copy ((*self)->expr);
  if (!copy)
    return NULL;
  gst_tfx_chain_expr_unref (*self);
  *self = gst_tfx_chain_expr_new (copy);
  return copy;
}

GstTfxChainExpr *
gst_tfx_chain_get_expr (GstTfxChain *self)
{
  GstTfxChainExpr *expr;

  GST_OBJECT_LOCK (self);
  expr = gst_tfx_chain_expr_ref (self->expr);
  GST_OBJECT_UNLOCK (self);
  return expr;
}

GPtrArray *
gst_tfx_chain_get_stages (GstTfxElement *element)
{
  GPtrArray *stages;

  GST_OBJECT_LOCK (element);
  stages = g_ptr_array_ref (GST_TFX_CHAIN (element)->stages);
  GST_OBJECT_UNLOCK (element);
  return stages;
}

/* The chain of a stage, a reference, with its object lock held; NULL if the
 * stage is no longer in a chain. */
static GstTfxChain *
gst_tfx_chain_stage_lock_chain (GstTfxChainStage *self)
{
  GstTfxChain *chain = (GstTfxChain *)gst_object_get_parent (GST_OBJECT (self));

  if (!chain)
    return NULL;
  GST_OBJECT_LOCK (chain);
  if (self->index < chain->stages->len &&
      chain->stages->pdata[self->index] == self)
    return chain;
  GST_OBJECT_UNLOCK (chain);
  gst_object_unref (chain);
  return NULL;
}

static void
gst_tfx_chain_stage_unlock_chain (GstTfxChain *chain)
{
  if (!chain)
    return;
  GST_OBJECT_UNLOCK (chain);
  gst_object_unref (chain);
}

/* ---- properties ---------------------------------------------------------- */

/* The id of a property encodes its parameter and part. */
#define PROP_ID(param, part)                                                   \
  (1 + GST_TFX_CHAIN_PARAM_N_PARTS * (param) + (part))
#define PROP_PARAM(id) (((id)-1) / GST_TFX_CHAIN_PARAM_N_PARTS)
#define PROP_PART(id) (((id)-1) % GST_TFX_CHAIN_PARAM_N_PARTS)

void
gst_tfx_chain_stage_notify (GstTfxChainStage *self, guint param)
{
  for (guint part = 0; part < GST_TFX_CHAIN_PARAM_N_PARTS; part++) {
    GParamSpec *spec = GET_CLASS (self)->specs[param][part];

    if (spec)
      g_object_notify_by_pspec (G_OBJECT (self), spec);
  }
}

/* Reads the file of a file name property, relative to the folder, into a value
 * without its name; sets the error. */
static void
gst_tfx_chain_stage_read_file (const TfxParam *param, const GValue *from,
    const gchar *folder, TfxValue *read, TfxExprError *error)
{
  const gchar *name = g_value_get_string (from);
  gchar why[TFX_FILE_WHY_SIZE];

  read->text = (gchar *)(name ? name : "");
  if (!gst_tfx_chain_reader_open (read, param, folder, why)) {
    error->code = -ENOENT;
    g_snprintf (error->message, sizeof error->message, "%s: %s", param->name,
        why);
  }
}

/* Sets the value in the chain's expression and marks the chain dirty; the
 * streaming thread designs the stage before the next buffer.  A control binding
 * allocates nothing here. */
static void
gst_tfx_chain_stage_set_property (GObject *object, guint prop_id,
    const GValue *value, GParamSpec *pspec)
{
  GstTfxChainStage *self = (GstTfxChainStage *)object;
  const guint index = PROP_PARAM (prop_id), part = PROP_PART (prop_id);
  const TfxParam *param = &GET_CLASS (self)->klass->params[index];
  GstTfxChain *chain = gst_tfx_chain_stage_lock_chain (self);
  TfxExprError error = { 0 };
  gboolean is_changed = FALSE, by_hand;
  TfxValue old, now, read = { .type = TFX_VALUE_TEXT };
  gdouble pair[2];

  if (chain && gst_tfx_chain_param_is_file (param, part)) {
    gchar *folder = g_strdup (chain->folder);

    gst_tfx_chain_stage_unlock_chain (chain);
    gst_tfx_chain_stage_read_file (param, value, folder, &read, &error);
    g_free (folder);
    chain = gst_tfx_chain_stage_lock_chain (self);
  }
  if (!chain) {
    tfx_file_unref (&read.file);
    free (read.list);
    GST_WARNING_OBJECT (self,
        "%s cannot be set: the stage is no longer in a chain", pspec->name);
    return;
  }
  if (error.code == 0) {
    tfx_expr_get (chain->expr->expr, self->index, param->name, &old);
    gst_tfx_chain_param_set (param, part, &old, value, &now, pair);
    if (now.type == TFX_VALUE_TEXT) {
      now.file = read.file;
      now.list = read.list;
      now.n_list = read.n_list;
    }
    if (!tfx_value_equal (&old, &now)) {
      TfxExpr *expr = gst_tfx_chain_expr_edit (&chain->expr);

      if (expr) {
        is_changed =
            tfx_expr_set (expr, self->index, param->name, &now, &error) == 0;
      } else {
        error.code = -ENOMEM;
        g_snprintf (error.message, sizeof error.message,
            "%s cannot be set: out of memory", param->name);
      }
    }
    if (is_changed)
      g_clear_pointer (&chain->text, g_free);
    if (now.type == TFX_VALUE_TEXT)
      now.list = NULL;
    gst_tfx_chain_param_clear (&now, pair);
  }
  GST_OBJECT_UNLOCK (chain);
  tfx_file_unref (&read.file);
  free (read.list);

  by_hand = !gst_tfx_element_is_controlling (GST_TFX_ELEMENT (chain));
  if (error.code < 0 && by_hand)
    GST_ELEMENT_WARNING (chain, LIBRARY, SETTINGS,
        ("%s. The previous value stays in use.", error.message), (NULL));
  else if (error.code < 0)
    GST_WARNING_OBJECT (chain, "%s", error.message);
  if (is_changed)
    gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (chain));
  /* A control binding notifies itself; it does not notify of the text. */
  if (is_changed && by_hand) {
    gst_tfx_chain_stage_notify (self, index);
    g_object_notify (G_OBJECT (chain), "chain");
  }
  gst_object_unref (chain);
}

static void
gst_tfx_chain_stage_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxChainStage *self = (GstTfxChainStage *)object;
  const TfxParam *param =
      &GET_CLASS (self)->klass->params[PROP_PARAM (prop_id)];
  GstTfxChain *chain = gst_tfx_chain_stage_lock_chain (self);
  const GstTfxChainExpr *expr = chain ? chain->expr : self->last;
  TfxValue now = param->initial;

  if (expr)
    tfx_expr_get (expr->expr, self->index, param->name, &now);
  gst_tfx_chain_param_get (param, PROP_PART (prop_id), &now, value);
  gst_tfx_chain_stage_unlock_chain (chain);
}

/* ---- gain and loudness --------------------------------------------------- */

#define PROP_STATS 1

guint64
gst_tfx_chain_stage_get_id (GstTfxElement *element, GstObject *stage)
{
  GstTfxChainStage *self = (GstTfxChainStage *)stage;
  GstTfxChain *chain = gst_tfx_chain_stage_lock_chain (self);
  guint64 id = 0;

  if (chain)
    id = tfx_expr_stage_id (chain->expr->expr, self->index);

  gst_tfx_chain_stage_unlock_chain (chain);
  return id;
}

GstStructure *
gst_tfx_chain_stage_take_stats (GstTfxChainStage *self,
    GstTfxChainStageReader reader)
{
  GstTfxChain *chain = gst_tfx_chain_stage_lock_chain (self);
  GstStructure *stats = NULL;
  TfxReadings readings;
  gdouble lowest;
  guint64 id;

  if (!chain)
    return NULL;
  id = tfx_expr_stage_id (chain->expr->expr, self->index);
  GST_OBJECT_UNLOCK (chain);
  if (id != 0 &&
      gst_tfx_element_read_stage (GST_TFX_ELEMENT (chain), id, &readings)) {
    /* The core resets the lowest gain when it is read, so it is kept here for
     * each reader. */
    GST_OBJECT_LOCK (self);
    for (guint i = 0; i < GST_TFX_CHAIN_STAGE_N_READERS; i++)
      self->gains[i] = MIN (self->gains[i], readings.gain_db);
    lowest = self->gains[reader];
    self->gains[reader] = INFINITY;
    GST_OBJECT_UNLOCK (self);
    stats = gst_structure_new ("application/x-tfx-stage-stats", "gain",
        G_TYPE_DOUBLE, lowest, NULL);
  }
  if (stats && readings.has_loudness) {
    const TfxLoudnessValues *l = &readings.loudness;

    gst_structure_set (stats, "integrated", G_TYPE_DOUBLE, l->integrated,
        "momentary", G_TYPE_DOUBLE, l->momentary,           /**/
        "momentary-max", G_TYPE_DOUBLE, l->momentary_max,   /**/
        "short-term", G_TYPE_DOUBLE, l->short_term,         /**/
        "short-term-max", G_TYPE_DOUBLE, l->short_term_max, /**/
        "range", G_TYPE_DOUBLE, l->range,                   /**/
        "true-peak", G_TYPE_DOUBLE, l->true_peak_db, NULL);
  }
  gst_object_unref (chain);
  return stats;
}

static void
gst_tfx_chain_stage_get_stats (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstStructure *stats =
      gst_tfx_chain_stage_take_stats ((GstTfxChainStage *)object,
          GST_TFX_CHAIN_STAGE_STATS);

  if (!stats)
    stats = gst_structure_new_empty ("application/x-tfx-stage-stats");
  g_value_take_boxed (value, stats);
}

/* ---- responses ----------------------------------------------------------- */

/* The stage with its current values, for the current stream, else for a default
 * one; NULL if it cannot be made. */
static TfxStage *
gst_tfx_chain_stage_make (GstTfxChainStage *self, gdouble *rate)
{
  GstTfxChain *chain = gst_tfx_chain_stage_lock_chain (self);
  TfxStage *made = NULL;
  GstTfxChainExpr *expr;
  guint n_channels, index;
  guint64 positions;

  if (!chain)
    return NULL;
  expr = gst_tfx_chain_expr_ref (chain->expr);
  index = self->index;
  GST_OBJECT_UNLOCK (chain);
  if (!gst_tfx_element_get_stream (GST_TFX_ELEMENT (chain), rate, &n_channels,
          &positions))
    n_channels = tfx_expr_find_channels (expr->expr, 2, &positions);
  tfx_expr_build_stage (expr->expr, index, *rate, n_channels, positions, &made,
      NULL);
  gst_tfx_chain_expr_unref (expr);
  gst_object_unref (chain);
  return made;
}

static GVariant *
gst_tfx_chain_stage_respond (GstTfxChainStage *self, GVariant *frequencies,
    guint channel)
{
  gdouble rate = 0.0;
  TfxStage *stage = gst_tfx_chain_stage_make (self, &rate);
  TfxChain *chain = tfx_chain_append (NULL, stage);
  GVariant *response = gst_tfx_response_new (chain, channel, rate,
      GST_CLOCK_TIME_NONE, frequencies);

  tfx_chain_unref (&chain);
  tfx_stage_unref (&stage);
  return response;
}

static GVariant *
gst_tfx_chain_stage_curve (GstTfxChainStage *self, GVariant *levels)
{
  gdouble rate;
  TfxStage *stage = gst_tfx_chain_stage_make (self, &rate);
  GVariant *curve = stage ? gst_tfx_response_new_curve (stage, levels) : NULL;

  tfx_stage_unref (&stage);
  return curve;
}

/* ---- types --------------------------------------------------------------- */

static void
gst_tfx_chain_stage_finalize (GObject *object)
{
  g_clear_pointer (&((GstTfxChainStage *)object)->last,
      gst_tfx_chain_expr_unref);
  G_OBJECT_CLASS (gst_tfx_chain_stage_parent_class)->finalize (object);
}

static void
gst_tfx_chain_stage_class_init (GstTfxChainStageClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->finalize = gst_tfx_chain_stage_finalize;
  gobject_class->get_property = gst_tfx_chain_stage_get_stats;
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics", "Levels and gain of the stage",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  /**
   * GstTfxChainStage::response:
   * @frequencies: a #GVariant of type `ad`, in Hz
   * @channel: of the stage's input, from 0
   *
   * An action: the frequency response of the stage with its current values.
   *
   * Returns: as of #GstTfxElement::response
   */
  gst_tfx_response_add_signal (G_TYPE_FROM_CLASS (klass), "response", TRUE,
      G_CALLBACK (gst_tfx_chain_stage_respond));
  /**
   * GstTfxChainStage::gain-curve:
   * @levels: a #GVariant of type `ad`, in dB
   *
   * An action: the static curve of a Compressor or another dynamics stage.
   *
   * Returns: a #GVariant of type `ad`: the settled gain in dB at each level;
   * %NULL for stages that do not measure the level, and before caps
   */
  gst_tfx_response_add_signal (G_TYPE_FROM_CLASS (klass), "gain-curve", FALSE,
      G_CALLBACK (gst_tfx_chain_stage_curve));
  gst_type_mark_as_plugin_api (gst_tfx_chain_stage_get_type (), 0);
}

static void
gst_tfx_chain_stage_init (GstTfxChainStage *self)
{
  for (guint i = 0; i < GST_TFX_CHAIN_STAGE_N_READERS; i++)
    self->gains[i] = INFINITY;
}

/* Installs a property for each parameter, except those that the stream sets. */
static void
gst_tfx_chain_stage_init_subclass (gpointer g_class, gpointer data)
{
  GstTfxChainStageClass *klass = g_class;
  GObjectClass *gobject_class = g_class;

  /* These two are not inherited. */
  gobject_class->set_property = gst_tfx_chain_stage_set_property;
  gobject_class->get_property = gst_tfx_chain_stage_get_property;
  klass->klass = data;
  klass->specs = (gpointer)g_new0 (GParamSpec *,
      klass->klass->n_params * GST_TFX_CHAIN_PARAM_N_PARTS);
  for (guint i = 0; i < klass->klass->n_params; i++) {
    const TfxParam *param = &klass->klass->params[i];

    if (param->flags & TFX_PARAM_STREAM)
      continue;
    for (guint part = 0; part < GST_TFX_CHAIN_PARAM_N_PARTS; part++) {
      GParamSpec *spec = gst_tfx_chain_param_make_spec (param, part);

      klass->specs[i][part] = spec;
      if (spec)
        g_object_class_install_property (gobject_class, PROP_ID (i, part),
            spec);
    }
  }
}

/* The type of a class is registered when the first stage of it is made:
 * "ParametricEQ" gives GstTfxChainParametricEQ. */
GstTfxChainStage *
gst_tfx_chain_stage_new (const TfxClass *klass, const gchar *name)
{
  static GMutex lock;
  gchar *type_name = g_strconcat ("GstTfxChain", klass->name, NULL);
  const GType base = gst_tfx_chain_stage_get_type ();
  GType type;

  g_mutex_lock (&lock);
  type = g_type_from_name (type_name);
  if (!type) {
    const GTypeInfo info = { .class_size = sizeof (GstTfxChainStageClass),
      .class_init = gst_tfx_chain_stage_init_subclass,
      .class_data = klass,
      .instance_size = sizeof (GstTfxChainStage) };

    type = g_type_register_static (base, type_name, &info, 0);
  }
  g_mutex_unlock (&lock);
  g_free (type_name);
  return g_object_new (type, "name", name, NULL);
}
