/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxiir.c: GstTfxIir, the base class of the designed recursive filters.
 */

/**
 * SECTION:gsttfxiir
 * @title: GstTfxIir
 * @short_description: what the designed recursive filters have in common
 *
 * A value that cannot be met at the stream's rate is replaced by the nearest
 * one that works, and a warning says so: a cutoff at or above half the rate by
 * one just below it; of a band that is upside down the lower edge stays and
 * the upper one is raised just above it.  The property keeps the asked value,
 * which comes back as soon as it can be met.
 *
 * While a frequency, a ripple or an attenuation moves, the filter keeps its
 * state.  Another mode, type or order is another filter: it is cross-faded in
 * within 10 ms.
 */
#include "gsttfxiir.h"

#include "gsttfxband.h"

#define DEFAULT_ORDER 4

enum
{
  PROP_0,
  PROP_ORDER,
  PROP_BAND /* the first of GST_TFX_BAND_N_PROPERTIES */
};

typedef struct
{
  /* Under the object lock. */
  GstTfxBand band;
  guint order;

  /* Of the streaming thread: what the last stage was. */
  TfxDesign last;
} GstTfxIirPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstTfxIir, gst_tfx_iir,
    GST_TYPE_TFX_FILTER)

#define PRIVATE(self)                                                          \
  ((GstTfxIirPrivate *)gst_tfx_iir_get_instance_private (self))

/* What a design leads to. */
typedef struct
{
  TfxDesign design;
  gdouble rate;
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  gint n_sos;
} Making;

static gboolean
gst_tfx_iir_make_sections (const GstTfxBand *band, gpointer data)
{
  Making *making = data;
  gboolean edges = gst_tfx_band_has_edges (band);

  making->design.mode = band->mode;
  making->design.lower_hz = edges ? band->lower : band->cutoff;
  making->design.upper_hz = edges ? band->upper : 0.0;
  making->n_sos =
      tfx_design_sections (&making->design, making->rate, making->sos);
  return making->n_sos >= 0;
}

/* Old state means nothing to a filter of another kind. */
static guint64
gst_tfx_iir_choose_id (GstTfxIir *self, const TfxDesign *design)
{
  GstTfxFilter *filter = GST_TFX_FILTER (self);
  TfxDesign *last = &PRIVATE (self)->last;
  gboolean same = last->order == design->order && last->mode == design->mode &&
                  last->family == design->family;
  gboolean first = last->order == 0;

  *last = *design;
  return same || first ? gst_tfx_filter_get_stage_id (filter)
                       : gst_tfx_filter_renew_stage_id (filter);
}

static TfxStage *
gst_tfx_iir_build_stage (GstTfxFilter *filter, GstTfxBuild *build,
    GError **error)
{
  GstTfxIir *self = GST_TFX_IIR (filter);
  GstTfxIirPrivate *priv = PRIVATE (self);
  Making making = { .rate = build->rate };
  GstTfxBand asked, used;
  gdouble margin;
  TfxStage *stage;

  GST_OBJECT_LOCK (self);
  asked = priv->band;
  making.design.order = priv->order;
  GST_OBJECT_UNLOCK (self);
  GST_TFX_IIR_GET_CLASS (self)->describe (self, &making.design);

  if (!gst_tfx_band_meet (&asked, build->rate, gst_tfx_iir_make_sections,
          &making, &used, &margin)) {
    const gchar *fault = NULL;

    tfx_design_check (&making.design, build->rate, &fault);
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        fault);
    return NULL;
  }
  gst_tfx_band_report (&asked, &used, filter, build->rate, margin);

  stage = tfx_stage_new_sections (gst_tfx_iir_choose_id (self, &making.design),
      making.sos, making.n_sos);
  if (!stage)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "no memory for its sections");
  return stage;
}

static void
gst_tfx_iir_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  GstTfxIir *self = GST_TFX_IIR (object);
  GstTfxIirPrivate *priv = PRIVATE (self);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  if (prop_id == PROP_ORDER)
    priv->order = g_value_get_int (value);
  else
    known = gst_tfx_band_set (&priv->band, prop_id - PROP_BAND, value);
  GST_OBJECT_UNLOCK (self);

  if (known)
    gst_tfx_filter_mark_dirty (GST_TFX_FILTER (self));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_tfx_iir_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxIir *self = GST_TFX_IIR (object);
  GstTfxIirPrivate *priv = PRIVATE (self);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  if (prop_id == PROP_ORDER)
    g_value_set_int (value, priv->order);
  else
    known = gst_tfx_band_get (&priv->band, prop_id - PROP_BAND, value);
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_tfx_iir_class_init (GstTfxIirClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->set_property = gst_tfx_iir_set_property;
  gobject_class->get_property = gst_tfx_iir_get_property;
  gst_tfx_band_install_properties (gobject_class, PROP_BAND);

  /**
   * GstTfxIir:order:
   *
   * The order of the analog prototype, as in SciPy: a band mode has twice as
   * many poles.
   */
  g_object_class_install_property (gobject_class, PROP_ORDER,
      g_param_spec_int ("order", "Order",
          "Order of the filter; the band modes have twice as many poles", 1,
          TFX_DESIGN_MAX_ORDER, DEFAULT_ORDER,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |
              GST_PARAM_MUTABLE_PLAYING));

  GST_TFX_FILTER_CLASS (klass)->build_stage = gst_tfx_iir_build_stage;
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_IIR, 0);
}

static void
gst_tfx_iir_init (GstTfxIir *self)
{
  GstTfxIirPrivate *priv = PRIVATE (self);

  gst_tfx_band_init (&priv->band);
  priv->order = DEFAULT_ORDER;
}
