/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxiir.c: GstTfxIir, the base class of the designed recursive filters.
 */

/**
 * SECTION:gsttfxiir
 * @title: GstTfxIir
 * @short_description: base class of the designed recursive filters
 *
 * A value that is out of range at the stream's rate is replaced by the nearest
 * valid one, with a warning: a cutoff at or above half the rate by one just
 * below it, an upper edge below the lower one by one just above that.  The
 * property keeps its value, which is used again when the rate allows it.
 *
 * The filter keeps its state while a frequency, a ripple or an attenuation
 * changes.  A change of mode, type or order is a cross-fade of 10 ms.
 */
#include "gsttfxiir.h"

#include "gsttfxband.h"
#include "gsttfxpreset.h"

GST_DEBUG_CATEGORY_STATIC (gst_tfx_iir_debug);
#define GST_CAT_DEFAULT gst_tfx_iir_debug

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

  /* Of the streaming thread: the stage in use. */
  guint64 id;
  TfxDesign last;
  TfxStage *moving; /* for parameter ramps; reused */
  TfxDesigner *designer;
} GstTfxIirPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstTfxIir, gst_tfx_iir, GST_TYPE_TFX_ELEMENT,
    G_ADD_PRIVATE (GstTfxIir) G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET,
        gst_tfx_preset_init) GST_DEBUG_CATEGORY_INIT (gst_tfx_iir_debug,
        "tfxiir", 0, "Designed recursive filters"));

#define PRIVATE(self)                                                          \
  ((GstTfxIirPrivate *)gst_tfx_iir_get_instance_private (self))

/* A design and its result.  Not zeroed, since that would take longer than a design. */
typedef struct
{
  TfxDesign design;
  gdouble rate;
  TfxDesigner *designer;
  TfxStage *stage; /* to move to a point of a curve; NULL: make sections */
  gint n_sos;
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
} Making;

static gboolean
gst_tfx_iir_make_sections (const GstTfxBand *band, gpointer data)
{
  Making *making = data;
  gboolean edges = gst_tfx_band_has_edges (band);

  making->design.mode = band->mode;
  making->design.lower_hz = edges ? band->lower : band->cutoff;
  making->design.upper_hz = edges ? band->upper : 0.0;
  if (making->stage)
    return tfx_designer_move (making->designer, &making->design, making->rate,
               making->stage) == 0;
  making->n_sos = tfx_designer_sections (making->designer, &making->design,
      making->rate, making->sos);
  return making->n_sos >= 0;
}

/* Reads the properties: the frequencies into @band, the others into @making. */
static void
gst_tfx_iir_ask (GstTfxIir *self, const GstTfxBuild *build, GstTfxBand *band,
    Making *making)
{
  GstTfxIirPrivate *priv = PRIVATE (self);

  if (!priv->designer)
    priv->designer = tfx_designer_new ();
  making->design = (TfxDesign){ 0 };
  making->rate = build->rate;
  making->designer = priv->designer;
  making->stage = NULL;
  GST_OBJECT_LOCK (self);
  *band = priv->band;
  making->design.order = priv->order;
  GST_OBJECT_UNLOCK (self);
  making->design.mode = band->mode;
  GST_TFX_IIR_GET_CLASS (self)->describe (self, &making->design);
}

/* Designs the filter, with the frequencies in range.  FALSE if there is none. */
static gboolean
gst_tfx_iir_design (GstTfxIir *self, const GstTfxBuild *build,
    const GstTfxBand *band, Making *making)
{
  GstTfxBand asked = *band, used;
  gdouble margin;

  if (!gst_tfx_band_meet (&asked, build->rate, gst_tfx_iir_make_sections,
          making, &used, &margin))
    return FALSE;
  if (margin > 0.0 || gst_tfx_element_has_clamped (GST_TFX_ELEMENT (self)))
    gst_tfx_band_report (&asked, &used, GST_TFX_ELEMENT (self), build->rate,
        margin);
  return TRUE;
}

/* Whether the design differs from the stage in frequencies and ripples alone. */
static gboolean
gst_tfx_iir_is_same_kind (const GstTfxIirPrivate *priv, const Making *making)
{
  return priv->last.order == making->design.order &&
         priv->last.mode == making->design.mode &&
         priv->last.family == making->design.family;
}

static TfxChain *
gst_tfx_iir_build_chain (GstTfxElement *element, GstTfxBuild *build,
    GError **error)
{
  GstTfxIir *self = GST_TFX_IIR (element);
  GstTfxIirPrivate *priv = PRIVATE (self);
  TfxStage *stage;
  TfxChain *chain;
  GstTfxBand band;
  Making making;

  gst_tfx_iir_ask (self, build, &band, &making);
  if (!gst_tfx_iir_design (self, build, &band, &making)) {
    const gchar *fault = NULL;

    tfx_design_check (&making.design, build->rate, &fault);
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        fault);
    return NULL;
  }
  if (gst_tfx_band_has_edges (&band))
    GST_DEBUG_OBJECT (self, "%s, order %u, %g to %g Hz: %d sections",
        gst_tfx_mode_get_nick (band.mode), making.design.order,
        making.design.lower_hz, making.design.upper_hz, making.n_sos);
  else
    GST_DEBUG_OBJECT (self, "%s, order %u, %g Hz: %d sections",
        gst_tfx_mode_get_nick (band.mode), making.design.order,
        making.design.lower_hz, making.n_sos);
  /* A filter of another kind is another stage, since it cannot use the state. */
  if (priv->last.order > 0 && !gst_tfx_iir_is_same_kind (priv, &making))
    priv->id = tfx_stage_new_id ();
  stage = tfx_stage_new_sections (priv->id, making.sos, making.n_sos);
  chain = tfx_chain_append (NULL, stage);
  tfx_stage_unref (&stage);
  if (!chain)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory");
  priv->last = making.design;
  tfx_stage_unref (&priv->moving);
  priv->moving = tfx_stage_new_sections (priv->id, making.sos, making.n_sos);
  return chain;
}

/* Moves the stage to other frequencies or ripples, without allocating.  FALSE if the
 * filter is of another kind. */
static gboolean
gst_tfx_iir_move_stage (GstTfxElement *element, GstTfxBuild *build)
{
  GstTfxIir *self = GST_TFX_IIR (element);
  GstTfxIirPrivate *priv = PRIVATE (self);
  GstTfxBand band;
  Making making;

  gst_tfx_iir_ask (self, build, &band, &making);
  if (!priv->moving || !gst_tfx_iir_is_same_kind (priv, &making))
    return FALSE;
  if (build->point > 0) {
    making.stage = priv->moving;
    if (gst_tfx_iir_design (self, build, &band, &making))
      return gst_tfx_element_set_stage (element, build, priv->moving);
    making.stage = NULL;
  }
  if (!gst_tfx_iir_design (self, build, &band, &making))
    return FALSE;
  /* (A change that waits for the end of a cross-fade holds a reference.) */
  if (!tfx_stage_reuse_sections (priv->moving, making.sos, making.n_sos)) {
    tfx_stage_unref (&priv->moving);
    priv->moving = tfx_stage_new_sections (priv->id, making.sos, making.n_sos);
  }
  return priv->moving &&
         gst_tfx_element_set_stage (element, build, priv->moving);
}

static void
gst_tfx_iir_reserve (GstTfxElement *element, const GstTfxBuild *build)
{
  gst_tfx_element_reserve_stage (element, PRIVATE (GST_TFX_IIR (element))->id,
      TFX_GRID_FRAMES, GST_OBJECT (element)->control_bindings != NULL);
}

static void
gst_tfx_iir_stop (GstTfxElement *element)
{
  GstTfxIirPrivate *priv = PRIVATE (GST_TFX_IIR (element));

  tfx_stage_unref (&priv->moving);
  tfx_designer_free (&priv->designer);
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
    gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
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
  GstTfxElementClass *element_class = GST_TFX_ELEMENT_CLASS (klass);

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
          "Filter order (band-pass and band-reject have twice the poles)", 1,
          TFX_DESIGN_MAX_ORDER, DEFAULT_ORDER,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |
              GST_PARAM_MUTABLE_PLAYING));

  element_class->build_chain = gst_tfx_iir_build_chain;
  element_class->move_stage = gst_tfx_iir_move_stage;
  element_class->reserve = gst_tfx_iir_reserve;
  element_class->stop = gst_tfx_iir_stop;
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_IIR, 0);
}

static void
gst_tfx_iir_init (GstTfxIir *self)
{
  GstTfxIirPrivate *priv = PRIVATE (self);

  gst_tfx_band_init (&priv->band);
  priv->order = DEFAULT_ORDER;
  priv->id = tfx_stage_new_id ();
}
