/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainstage.c: GstTfxChainStage, a stage of a tfxchain as its child.
 *
 * The values of a stage are in the chain's expression, from which the chain's text and
 * filter are made.  A stage that was removed from its chain keeps the last expression
 * that it was in.
 */
#include "gsttfxchainstage.h"

#include <math.h>

#include "gsttfxelement.h"
#include "gsttfxresponse.h"

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_chain_debug);
#define GST_CAT_DEFAULT gst_tfx_chain_debug

typedef struct
{
  const GstTfxChainStageValues *values;
  guint index; /* in the chain; under the chain's object lock */
  /* Under its own lock. */
  GstTfxChainExpr *last; /* NULL while in a chain */
  /* The lowest since each reader's last read, in dB. */
  gdouble gains[GST_TFX_CHAIN_STAGE_N_READERS];
} GstTfxChainStagePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstTfxChainStage, gst_tfx_chain_stage,
    GST_TYPE_OBJECT)

#define PRIVATE(self)                                                          \
  ((GstTfxChainStagePrivate *)gst_tfx_chain_stage_get_instance_private (self))

/* ---- properties --------------------------------------------------------------- */

/* The id of a property encodes its parameter and part. */
static guint
property_id (guint param, guint part)
{
  return 1 + GST_TFX_CHAIN_PARAM_N_PARTS * param + part;
}

static guint
property_param (guint prop_id)
{
  return (prop_id - 1) / GST_TFX_CHAIN_PARAM_N_PARTS;
}

static GstTfxChainParamPart
property_part (guint prop_id)
{
  return (prop_id - 1) % GST_TFX_CHAIN_PARAM_N_PARTS;
}

static void
gst_tfx_chain_stage_set_property (GObject *object, guint prop_id,
    const GValue *value, GParamSpec *pspec)
{
  GstTfxChainStage *self = GST_TFX_CHAIN_STAGE (object);
  GstObject *chain = gst_object_get_parent (GST_OBJECT (self));

  if (!chain || !PRIVATE (self)->values->set (chain, self,
                    property_param (prop_id), property_part (prop_id), value))
    GST_WARNING_OBJECT (self,
        "%s cannot be set: the stage is no longer in a chain", pspec->name);
  gst_clear_object (&chain);
}

static void
gst_tfx_chain_stage_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxChainStage *self = GST_TFX_CHAIN_STAGE (object);
  GstTfxChainStagePrivate *priv = PRIVATE (self);
  GstObject *chain = gst_object_get_parent (GST_OBJECT (self));
  const TfxParam *param = &GST_TFX_CHAIN_STAGE_GET_CLASS (self)
                               ->klass->params[property_param (prop_id)];
  TfxValue last = param->initial;

  if (!chain || !priv->values->get (chain, self, property_param (prop_id),
                    property_part (prop_id), value)) {
    GST_OBJECT_LOCK (self);
    if (priv->last)
      tfx_expr_get (priv->last->expr, priv->index, param->name, &last);
    gst_tfx_chain_param_get (param, property_part (prop_id), &last, value);
    GST_OBJECT_UNLOCK (self);
  }
  gst_clear_object (&chain);
}

void
gst_tfx_chain_stage_notify (GstTfxChainStage *self, guint param)
{
  GstTfxChainStageClass *klass = GST_TFX_CHAIN_STAGE_GET_CLASS (self);

  for (guint part = 0; part < GST_TFX_CHAIN_PARAM_N_PARTS; part++) {
    if (klass->specs[param][part])
      g_object_notify_by_pspec (G_OBJECT (self), klass->specs[param][part]);
  }
}

/* ---- gain and loudness ----------------------------------------------------------- */

#define PROP_STATS 1

/* The core resets the lowest gain when it is read, so it is kept here for each
 * reader. */
static gdouble
gst_tfx_chain_stage_take_gain (GstTfxChainStage *self, gdouble gain_db,
    GstTfxChainStageReader reader)
{
  gdouble *gains = PRIVATE (self)->gains, lowest;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_TFX_CHAIN_STAGE_N_READERS; i++)
    gains[i] = MIN (gains[i], gain_db);
  lowest = gains[reader];
  gains[reader] = INFINITY;
  GST_OBJECT_UNLOCK (self);
  return lowest;
}

static void
add_loudness (GstStructure *stats, const TfxLoudnessValues *l)
{
  gst_structure_set (stats, "integrated", G_TYPE_DOUBLE, l->integrated,
      "momentary", G_TYPE_DOUBLE, l->momentary,           /**/
      "momentary-max", G_TYPE_DOUBLE, l->momentary_max,   /**/
      "short-term", G_TYPE_DOUBLE, l->short_term,         /**/
      "short-term-max", G_TYPE_DOUBLE, l->short_term_max, /**/
      "range", G_TYPE_DOUBLE, l->range,                   /**/
      "true-peak", G_TYPE_DOUBLE, l->true_peak_db, NULL);
}

guint64
gst_tfx_chain_stage_get_id (GstTfxChainStage *self)
{
  GstObject *chain = gst_object_get_parent (GST_OBJECT (self));
  const guint64 id = chain ? PRIVATE (self)->values->get_id (chain, self) : 0;

  gst_clear_object (&chain);
  return id;
}

GstStructure *
gst_tfx_chain_stage_take_stats (GstTfxChainStage *self,
    GstTfxChainStageReader reader)
{
  GstObject *chain = gst_object_get_parent (GST_OBJECT (self));
  const guint64 id = gst_tfx_chain_stage_get_id (self);
  GstStructure *stats = NULL;
  TfxReadings readings;

  if (chain && id != 0 &&
      gst_tfx_element_read_stage (GST_TFX_ELEMENT (chain), id, &readings)) {
    stats = gst_structure_new ("application/x-tfx-stage-stats", "gain",
        G_TYPE_DOUBLE,
        gst_tfx_chain_stage_take_gain (self, readings.gain_db, reader), NULL);
    if (readings.has_loudness)
      add_loudness (stats, &readings.loudness);
  }
  gst_clear_object (&chain);
  return stats;
}

static void
gst_tfx_chain_stage_get_stats (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstStructure *stats =
      gst_tfx_chain_stage_take_stats (GST_TFX_CHAIN_STAGE (object),
          GST_TFX_CHAIN_STAGE_STATS);

  if (!stats)
    stats = gst_structure_new_empty ("application/x-tfx-stage-stats");
  g_value_take_boxed (value, stats);
}

/* ---- responses -------------------------------------------------------------------- */

/* The stage with its current values, or NULL. */
static TfxStage *
gst_tfx_chain_stage_make (GstTfxChainStage *self, gdouble *rate)
{
  GstObject *chain = gst_object_get_parent (GST_OBJECT (self));
  TfxStage *stage = NULL;

  if (chain)
    stage = PRIVATE (self)->values->make (chain, self, rate);
  gst_clear_object (&chain);
  return stage;
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

/* ---- types ---------------------------------------------------------------------- */

static void
gst_tfx_chain_stage_finalize (GObject *object)
{
  g_clear_pointer (&PRIVATE (GST_TFX_CHAIN_STAGE (object))->last,
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
   * Returns: a #GVariant of type `ad`: the settled gain in dB at each level; %NULL
   * for stages that do not measure the level, and before caps
   */
  gst_tfx_response_add_signal (G_TYPE_FROM_CLASS (klass), "gain-curve", FALSE,
      G_CALLBACK (gst_tfx_chain_stage_curve));
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_CHAIN_STAGE, 0);
}

static void
gst_tfx_chain_stage_init (GstTfxChainStage *self)
{
  for (guint i = 0; i < GST_TFX_CHAIN_STAGE_N_READERS; i++)
    PRIVATE (self)->gains[i] = INFINITY;
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
        g_object_class_install_property (gobject_class, property_id (i, part),
            spec);
    }
  }
}

/* "ParametricEQ" gives GstTfxChainParametricEQ. */
static GType
gst_tfx_chain_stage_get_class_type (const TfxClass *klass)
{
  static GMutex lock;
  gchar *name = g_strconcat ("GstTfxChain", klass->name, NULL);
  GTypeQuery base;
  GType type;

  g_type_query (GST_TYPE_TFX_CHAIN_STAGE, &base);
  g_mutex_lock (&lock);
  type = g_type_from_name (name);
  if (!type) {
    GTypeInfo info = { .class_size = base.class_size,
      .class_init = gst_tfx_chain_stage_init_subclass,
      .class_data = klass,
      .instance_size = base.instance_size };

    type = g_type_register_static (GST_TYPE_TFX_CHAIN_STAGE, name, &info, 0);
  }
  g_mutex_unlock (&lock);
  g_free (name);
  return type;
}

/* ---- the stages of a chain -------------------------------------------------------- */

GstTfxChainStage *
gst_tfx_chain_stage_new (const TfxClass *klass, const gchar *name,
    const GstTfxChainStageValues *values)
{
  GstTfxChainStage *self =
      g_object_new (gst_tfx_chain_stage_get_class_type (klass), "name", name,
          NULL);

  PRIVATE (self)->values = values;
  return self;
}

const TfxClass *
gst_tfx_chain_stage_get_klass (GstTfxChainStage *self)
{
  return GST_TFX_CHAIN_STAGE_GET_CLASS (self)->klass;
}

guint
gst_tfx_chain_stage_get_index (GstTfxChainStage *self)
{
  return PRIVATE (self)->index;
}

void
gst_tfx_chain_stage_set_index (GstTfxChainStage *self, guint index)
{
  PRIVATE (self)->index = index;
}

void
gst_tfx_chain_stage_retire (GstTfxChainStage *self, GstTfxChainExpr *expr)
{
  GST_OBJECT_LOCK (self);
  PRIVATE (self)->last = gst_tfx_chain_expr_ref (expr);
  GST_OBJECT_UNLOCK (self);
}
