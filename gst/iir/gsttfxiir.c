/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxiir.c: the elements tfxbutterworth and tfxchebyshev, and their base
 * class GstTfxIir.
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

/**
 * SECTION:element-tfxbutterworth
 * @title: tfxbutterworth
 *
 * A Butterworth filter has the flattest pass band of all filters of its order.
 * It is 3 dB down at the cutoff and falls by 6 dB per octave and order beyond
 * it.
 *
 * Use it where the pass band must keep its level.  tfxchebyshev is steeper for
 * the same order, but has ripple.  Like any recursive filter of high order it
 * delays the frequencies near the cutoff and rings there.
 *
 * The filter works in double precision, in second-order sections, for every
 * order and every cutoff; 20 Hz at order 64 is fine.  The design is that of
 * scipy.signal.butter.
 *
 * The element implements #GstPreset; a preset has the properties of the filter.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 audiotestsrc wave=white-noise ! tfxbutterworth mode=low-pass cutoff=1000 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 filesrc location=speech.flac ! decodebin ! audioconvert ! tfxbutterworth mode=high-pass cutoff=80 order=4 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=pink-noise num-buffers=500 ! tfxbutterworth mode=band-pass lower-frequency=300 upper-frequency=3400 ! audioconvert ! wavenc ! filesink location=telephone.wav
 * gst-launch-1.0 audiotestsrc wave=pink-noise ! tfxbutterworth @preset="Telephone band" ! audioconvert ! autoaudiosink
 * ]|
 */

/**
 * SECTION:element-tfxchebyshev
 * @title: tfxchebyshev
 *
 * A Chebyshev filter, steeper than a Butterworth filter of the same order.
 *
 * Type 1 has ripple in the pass band: the gain is between 0 dB and minus
 * #GstTfxChebyshev:ripple, and equals the latter at the cutoff.  More ripple
 * makes it steeper.
 *
 * Type 2 has a smooth pass band and ripple in the stop band: beyond the cutoff
 * the gain is at least #GstTfxChebyshev:attenuation below the pass band.  The
 * cutoff is the edge of the stop band; the slope is before it.  More
 * attenuation makes it less steep.
 *
 * The filter works in double precision, in second-order sections, for every
 * order and every cutoff; 20 Hz at order 64 is fine.  The designs are those of
 * scipy.signal.cheby1 and cheby2.
 *
 * The element implements #GstPreset; a preset has the properties of the filter.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 audiotestsrc wave=white-noise ! tfxchebyshev mode=low-pass cutoff=1000 order=8 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 filesrc location=speech.flac ! decodebin ! audioconvert ! tfxchebyshev mode=high-pass cutoff=60 order=6 ripple=0.5 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=pink-noise num-buffers=500 ! tfxchebyshev type=2 attenuation=60 mode=band-reject lower-frequency=900 upper-frequency=1100 ! audioconvert ! wavenc ! filesink location=notched.wav
 * gst-launch-1.0 audiotestsrc wave=pink-noise ! tfxchebyshev @preset="Rumble filter" ! audioconvert ! autoaudiosink
 * ]|
 */
#include "gsttfxiir.h"

#include "gsttfxband.h"
#include "gsttfxpreset.h"

GST_DEBUG_CATEGORY_STATIC (gst_tfx_iir_debug);
#define GST_CAT_DEFAULT gst_tfx_iir_debug

#define DEFAULT_ORDER 4
#define DEFAULT_TYPE 1
#define DEFAULT_RIPPLE 0.1
#define DEFAULT_ATTENUATION 40.0

/* In dB.  Within these limits a filter of any order exists at some cutoff;
 * outside, its poles are too close to the unit circle for double precision. */
#define MIN_DECIBEL 1e-6
#define MAX_RIPPLE 100.0
#define MAX_ATTENUATION 200.0

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |       \
      GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_MODE = 1, /* and the next three: gst_tfx_band_install_properties() */
  PROP_CUTOFF,
  PROP_LOWER_FREQUENCY,
  PROP_UPPER_FREQUENCY,
  PROP_ORDER,
  PROP_TYPE,
  PROP_RIPPLE,
  PROP_ATTENUATION
};

/* The base class has the fields of both subclasses. */
G_DECLARE_FINAL_TYPE (GstTfxIir, gst_tfx_iir, GST, TFX_IIR, GstTfxElement)
struct _GstTfxIir
{
  GstTfxElement parent;

  /* The values of the properties, under the object lock. */
  GstTfxBand band;
  gint order;
  gint type;                   /* Chebyshev: 1 or 2; 0: Butterworth */
  gdouble ripple, attenuation; /* dB */

  /* Of the streaming thread: the stage in use. */
  guint64 id;
  TfxDesign last;
  TfxStage *moving; /* for parameter ramps; reused */
  TfxDesigner *designer;
};

/* The field of each property. */
static const gsize fields[] = {
  [PROP_MODE] = G_STRUCT_OFFSET (GstTfxIir, band.mode),
  [PROP_CUTOFF] = G_STRUCT_OFFSET (GstTfxIir, band.cutoff),
  [PROP_LOWER_FREQUENCY] = G_STRUCT_OFFSET (GstTfxIir, band.lower),
  [PROP_UPPER_FREQUENCY] = G_STRUCT_OFFSET (GstTfxIir, band.upper),
  [PROP_ORDER] = G_STRUCT_OFFSET (GstTfxIir, order),
  [PROP_TYPE] = G_STRUCT_OFFSET (GstTfxIir, type),
  [PROP_RIPPLE] = G_STRUCT_OFFSET (GstTfxIir, ripple),
  [PROP_ATTENUATION] = G_STRUCT_OFFSET (GstTfxIir, attenuation),
};

typedef GstTfxIir GstTfxButterworth, GstTfxChebyshev;
typedef GstTfxIirClass GstTfxButterworthClass, GstTfxChebyshevClass;
static GType gst_tfx_butterworth_get_type (void);
static GType gst_tfx_chebyshev_get_type (void);

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstTfxIir, gst_tfx_iir, GST_TYPE_TFX_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_tfx_preset_init)
        GST_DEBUG_CATEGORY_INIT (gst_tfx_iir_debug, "tfxiir", 0,
            "Designed recursive filters"));
G_DEFINE_TYPE (GstTfxButterworth, gst_tfx_butterworth, gst_tfx_iir_get_type ());
G_DEFINE_TYPE (GstTfxChebyshev, gst_tfx_chebyshev, gst_tfx_iir_get_type ());
GST_ELEMENT_REGISTER_DEFINE (tfxbutterworth, "tfxbutterworth", GST_RANK_NONE,
    gst_tfx_butterworth_get_type ());
GST_ELEMENT_REGISTER_DEFINE (tfxchebyshev, "tfxchebyshev", GST_RANK_NONE,
    gst_tfx_chebyshev_get_type ());

/* ---- the stage ----------------------------------------------------------- */

/* Reads the properties: the frequencies into @band, the others into @design.
 * Returns TRUE if at most frequencies and ripples differ from the last design:
 * its stage can be moved. */
static gboolean
gst_tfx_iir_read (GstTfxIir *self, GstTfxBand *band, TfxDesign *design)
{
  const TfxDesign *last = &self->last;

  GST_OBJECT_LOCK (self);
  *band = self->band;
  *design = (TfxDesign){ .family = self->type == 0   ? TFX_FAMILY_BUTTERWORTH
                                   : self->type == 1 ? TFX_FAMILY_CHEBYSHEV1
                                                     : TFX_FAMILY_CHEBYSHEV2,
    .mode = self->band.mode,
    .order = self->order,
    .ripple_db = self->ripple,
    .attenuation_db = self->attenuation };
  GST_OBJECT_UNLOCK (self);
  return design->family == last->family && design->mode == last->mode &&
         design->order == last->order;
}

/* Designs the filter, with the nearest valid frequencies: into @stage, or if
 * that is %NULL into sos[TFX_DESIGN_MAX_SECTIONS].  Returns the number of
 * sections, 0 for a stage, or a negative errno value if there is no filter. */
static gint
gst_tfx_iir_design (GstTfxIir *self, const GstTfxBand *band, gdouble rate,
    TfxDesign *design, TfxStage *stage, TfxSos *sos)
{
  TfxDesigner *designer = self->designer;
  GstTfxElement *element = GST_TFX_ELEMENT (self);
  GstTfxEdges edges = gst_tfx_band_get_edges (band);
  gint n;

  do {
    design->lower_hz = edges.lower_hz;
    design->upper_hz = edges.upper_hz;
    n = stage ? tfx_designer_move (designer, design, rate, stage)
              : tfx_designer_sections (designer, design, rate, sos);
  } while (n < 0 && gst_tfx_band_fit (band, rate, &edges));
  if (n >= 0 && (edges.margin > 0.0 || gst_tfx_element_has_clamped (element)))
    gst_tfx_band_report (band, &edges, element, rate);
  GST_LOG_OBJECT (self,
      "lower %g Hz, upper %g Hz, ripple %g dB, attenuation %g dB: %d",
      design->lower_hz, design->upper_hz, design->ripple_db,
      design->attenuation_db, n);
  return n;
}

static TfxChain *
gst_tfx_iir_build_chain (GstTfxElement *element, GstTfxBuild *build,
    GError **error)
{
  GstTfxIir *self = GST_TFX_IIR (element);
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const gchar *fault = NULL;
  TfxDesign design;
  TfxStage *stage;
  TfxChain *chain;
  GstTfxBand band;
  gboolean is_same_kind;
  gint n_sos;

  if (!self->designer)
    self->designer = tfx_designer_new ();
  is_same_kind = gst_tfx_iir_read (self, &band, &design);
  n_sos = gst_tfx_iir_design (self, &band, build->rate, &design, NULL, sos);
  if (n_sos < 0) {
    tfx_design_check (&design, build->rate, &fault);
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        fault);
    return NULL;
  }
  GST_DEBUG_OBJECT (self, "%s, order %u, lower %g Hz, upper %g Hz: %d sections",
      gst_tfx_band_get_nick (&band), design.order, design.lower_hz,
      design.upper_hz, n_sos);
  /* A filter of another kind cannot use the state: it is another stage. */
  if (!is_same_kind)
    self->id = tfx_stage_new_id ();
  stage = tfx_stage_new_sections (self->id, sos, n_sos);
  chain = tfx_chain_append (NULL, stage);
  tfx_stage_unref (&stage);
  if (!chain)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory");
  self->last = design;
  tfx_stage_unref (&self->moving);
  self->moving = tfx_stage_new_sections (self->id, sos, n_sos);
  return chain;
}

/* Moves the stage to other frequencies or ripples, without allocating.  FALSE
 * if the filter is of another kind.  Points of curves are designed into the
 * stage, which is faster and exact to rounding. */
static gboolean
gst_tfx_iir_move_stage (GstTfxElement *element, GstTfxBuild *build)
{
  GstTfxIir *self = GST_TFX_IIR (element);
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  TfxDesign design;
  GstTfxBand band;
  gint n_sos;

  if (!gst_tfx_iir_read (self, &band, &design) || !self->moving)
    return FALSE;
  if (build->point == 0 || gst_tfx_iir_design (self, &band, build->rate,
                               &design, self->moving, NULL) < 0) {
    n_sos = gst_tfx_iir_design (self, &band, build->rate, &design, NULL, sos);
    if (n_sos < 0)
      return FALSE;
    /* A change that waits for the end of a cross-fade may hold the stage. */
    if (!tfx_stage_reuse_sections (self->moving, sos, n_sos)) {
      tfx_stage_unref (&self->moving);
      self->moving = tfx_stage_new_sections (self->id, sos, n_sos);
    }
  }
  return self->moving &&
         gst_tfx_element_set_stage (element, build, self->moving);
}

static void
gst_tfx_iir_reserve (GstTfxElement *element, const GstTfxBuild *build)
{
  gst_tfx_element_reserve_stage (element, GST_TFX_IIR (element)->id,
      TFX_GRID_FRAMES, GST_OBJECT (element)->control_bindings != NULL);
}

static void
gst_tfx_iir_stop (GstTfxElement *element)
{
  GstTfxIir *self = GST_TFX_IIR (element);

  tfx_stage_unref (&self->moving);
  tfx_designer_free (&self->designer);
}

/* ---- the classes --------------------------------------------------------- */

/* Of the subclasses too. */
static void
gst_tfx_iir_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  GstTfxIir *self = GST_TFX_IIR (object);

  GST_OBJECT_LOCK (self);
  gst_tfx_band_set_field (G_STRUCT_MEMBER_P (self, fields[prop_id]), value);
  GST_OBJECT_UNLOCK (self);
  gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
}

static void
gst_tfx_iir_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxIir *self = GST_TFX_IIR (object);

  GST_OBJECT_LOCK (self);
  gst_tfx_band_get_field (G_STRUCT_MEMBER_P (self, fields[prop_id]), value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_tfx_iir_class_init (GstTfxIirClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstTfxElementClass *element_class = GST_TFX_ELEMENT_CLASS (klass);

  gobject_class->set_property = gst_tfx_iir_set_property;
  gobject_class->get_property = gst_tfx_iir_get_property;
  gst_tfx_band_install_properties (gobject_class, PROP_MODE);

  /**
   * GstTfxIir:order:
   *
   * The order of the analog prototype, as in SciPy: a band mode has twice as
   * many poles.
   */
  g_object_class_install_property (gobject_class, PROP_ORDER,
      g_param_spec_int ("order", "Order",
          "Filter order (band-pass and band-reject have twice the poles)", 1,
          TFX_DESIGN_MAX_ORDER, DEFAULT_ORDER, PARAM_FLAGS));

  element_class->build_chain = gst_tfx_iir_build_chain;
  element_class->move_stage = gst_tfx_iir_move_stage;
  element_class->reserve = gst_tfx_iir_reserve;
  element_class->stop = gst_tfx_iir_stop;
  gst_type_mark_as_plugin_api (gst_tfx_iir_get_type (), 0);
}

static void
gst_tfx_iir_init (GstTfxIir *self)
{
  gst_tfx_band_init (&self->band);
  self->order = DEFAULT_ORDER;
}

static void
gst_tfx_butterworth_class_init (GstTfxButterworthClass *klass)
{
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Butterworth filter", "Filter/Effect/Audio",
      "Low-pass, high-pass, band-pass or band-reject with a flat pass band",
      "the gst-tfx authors");
}

static void
gst_tfx_butterworth_init (GstTfxButterworth *self)
{
}

static void
gst_tfx_chebyshev_class_init (GstTfxChebyshevClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->set_property = gst_tfx_iir_set_property;
  gobject_class->get_property = gst_tfx_iir_get_property;

  /**
   * GstTfxChebyshev:type:
   *
   * 1: ripple in the pass band.  2: ripple in the stop band.
   */
  g_object_class_install_property (gobject_class, PROP_TYPE,
      g_param_spec_int ("type", "Type",
          "Chebyshev type: 1 (pass-band ripple) or 2 (stop-band ripple)", 1, 2,
          DEFAULT_TYPE, PARAM_FLAGS));

  /**
   * GstTfxChebyshev:ripple:
   *
   * Ripple of the gain in the pass band, in dB.  Type 1 only.
   */
  g_object_class_install_property (gobject_class, PROP_RIPPLE,
      g_param_spec_double ("ripple", "Ripple",
          "Pass-band ripple in dB (type 1)", MIN_DECIBEL, MAX_RIPPLE,
          DEFAULT_RIPPLE, PARAM_FLAGS));

  /**
   * GstTfxChebyshev:attenuation:
   *
   * Distance of the stop band below the pass band, in dB.  Type 2 only.
   */
  g_object_class_install_property (gobject_class, PROP_ATTENUATION,
      g_param_spec_double ("attenuation", "Attenuation",
          "Stop-band attenuation in dB (type 2)", MIN_DECIBEL, MAX_ATTENUATION,
          DEFAULT_ATTENUATION, PARAM_FLAGS));

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Chebyshev filter", "Filter/Effect/Audio",
      "Low-pass, high-pass, band-pass or band-reject with steep edges",
      "the gst-tfx authors");
}

static void
gst_tfx_chebyshev_init (GstTfxChebyshev *self)
{
  self->type = DEFAULT_TYPE;
  self->ripple = DEFAULT_RIPPLE;
  self->attenuation = DEFAULT_ATTENUATION;
}
