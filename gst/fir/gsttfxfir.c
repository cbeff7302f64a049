/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfir.c: the element tfxfir.
 */

/**
 * SECTION:element-tfxfir
 * @title: tfxfir
 *
 * A filter with a finite impulse response: one that is designed here, as
 * scipy.signal.firwin does it, one given as numbers in #GstTfxFir:kernel, or
 * one read from a sound file, #GstTfxFir:kernel-location, which makes it a
 * convolution reverb.  A file comes before numbers, numbers before a design.
 *
 * A kernel may be anything from one tap to minutes long.  Short ones are summed
 * up tap by tap, long ones go through FFTs cut up so that they add no latency;
 * #GstTfxFir:method chooses by the cost.
 *
 * With #GstTfxFir:align, the default, the delay of a linear-phase (symmetric)
 * kernel is taken out of the stream: the output has the times of the input, as
 * many samples, and the delay is reported as latency.  A kernel that is not
 * symmetric, such as the response of a room, has no such delay and stays where
 * it is.
 *
 * A kernel that is set while playing takes over in a cross-fade of 10 ms.  The
 * delay of a running stream never shrinks; while it grows the output pauses
 * for as long, so that no sample is lost or doubled.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 audiotestsrc wave=white-noise ! tfxfir mode=low-pass cutoff=1000 taps=511 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=ticks ! tfxfir kernel="<0.5,0.0,0.0,0.25>" ! audioconvert ! autoaudiosink
 * gst-launch-1.0 filesrc location=speech.flac ! decodebin ! audioconvert ! tfxfir kernel-location=church.wav ! audioconvert ! autoaudiosink
 * ]|
 */
#include "gsttfxfir.h"

#include <string.h>

#include "gsttfxmaker.h"
#include "gsttfxready.h"

GST_DEBUG_CATEGORY_STATIC (gst_tfx_fir_debug);
#define GST_CAT_DEFAULT gst_tfx_fir_debug

#define DEFAULT_METHOD TFX_FIR_AUTO
#define DEFAULT_ALIGN TRUE

/* Seconds that nobody notices between the setting of a kernel and its effect. */
#define SHORT_WHILE 0.1

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_0,
  PROP_METHOD,
  PROP_ALIGN,
  PROP_RECIPE /* the first of GST_TFX_RECIPE_N_PROPERTIES */
};

struct _GstTfxFir
{
  GstTfxFilter parent;

  /* Under the object lock. */
  GstTfxRecipe recipe;
  TfxFirMethod method;
  gboolean align;

  /* Of the streaming thread. */
  GstTfxMaker maker;
  GstTfxReady ready;
  GstTfxPlacement running; /* the stage that runs */
  GstTfxPlacement offered; /* the one that was given out last */
};

G_DEFINE_TYPE_WITH_CODE (GstTfxFir, gst_tfx_fir, GST_TYPE_TFX_FILTER,
    GST_DEBUG_CATEGORY_INIT (gst_tfx_fir_debug, "tfxfir", 0, "FIR filter"));
GST_ELEMENT_REGISTER_DEFINE (tfxfir, "tfxfir", GST_RANK_NONE, GST_TYPE_TFX_FIR);

#define GST_TYPE_TFX_FIR_METHOD (gst_tfx_fir_method_get_type ())
static GType
gst_tfx_fir_method_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { TFX_FIR_AUTO, "Whichever is cheaper",
                                           "auto" },
    { TFX_FIR_DIRECT, "Tap by tap", "direct" },
    { TFX_FIR_FFT, "By FFT", "fft" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstTfxFirMethod", values));
  return type;
}

/* ---- the stage ---------------------------------------------------------------- */

static void
gst_tfx_fir_place (GstTfxPlacement *placement, const GstTfxPlacement *from)
{
  GstTfxKernel *old = placement->kernel;

  *placement = *from;
  if (placement->kernel)
    gst_tfx_kernel_ref (placement->kernel);
  gst_tfx_kernel_unref (old);
}

/* The step before the new kernel: the old one, later by as much as the delay
 * grows, and with so much past that the new one can start on it.
 *
 * A kernel of linear phase is worth waiting for, as its middle may lie beyond
 * the past that the old one has kept; so is what is there at once.  What a
 * longer impulse response of another kind does with a past that begins
 * somewhere is what it does at the start of any sound. */
static gboolean
gst_tfx_fir_find_step (const GstTfxPlacement *running,
    const GstTfxPlacement *target, gsize short_while, GstTfxPlacement *step,
    gsize *n_hold)
{
  gsize n_grown = target->delay - running->delay;
  gsize n_missing = 0;

  if (target->n_taps > running->n_taps)
    n_missing = target->n_taps - running->n_taps;
  if (!target->kernel->is_linear_phase && n_missing > short_while)
    n_missing = 0;
  if (n_grown == 0 && n_missing == 0)
    return FALSE;
  *step = *running;
  step->n_front += n_grown;
  step->n_taps += MAX (n_grown, n_missing);
  step->delay += n_grown;
  *n_hold = MAX (n_grown, n_missing);
  return TRUE;
}

/* The stage for a kernel, or for the step before it. */
static TfxStage *
gst_tfx_fir_make_stage (GstTfxFir *self, GstTfxPlacement *target,
    GstTfxBuild *build, GError **error)
{
  guint64 id = gst_tfx_filter_get_stage_id (GST_TFX_FILTER (self));
  GstTfxPlacement step;
  TfxStage *stage;

  if (build->is_running && self->running.kernel &&
      gst_tfx_fir_find_step (&self->running, target, SHORT_WHILE * build->rate,
          &step, &build->n_hold)) {
    /* It would cut a cross-fade short. */
    if (!build->is_settled) {
      build->n_hold = 0;
      build->ask_again = TRUE;
      return NULL;
    }
    build->at_once = TRUE;
    target = &step;
  } else {
    build->n_spare = target->n_front;
  }
  GST_DEBUG_OBJECT (self,
      "%s of %" G_GSIZE_FORMAT " taps, %" G_GSIZE_FORMAT
      " of them in front, delay %" G_GSIZE_FORMAT,
      build->at_once ? "step" : "kernel", target->n_taps, target->n_front,
      target->delay);
  stage = gst_tfx_ready_get (&self->ready, GST_TFX_FILTER (self), target, id,
      build, error);
  if (stage)
    gst_tfx_fir_place (&self->offered, target);
  return stage;
}

static TfxStage *
gst_tfx_fir_build_stage (GstTfxFilter *filter, GstTfxBuild *build,
    GError **error)
{
  GstTfxFir *self = GST_TFX_FIR (filter);
  guint rate = build->rate, n_channels = build->n_channels;
  gboolean may_wait = !build->is_running, align;
  GError *fault = NULL;
  GstTfxPlacement target = { NULL };
  GstTfxRecipe recipe;

  if (!build->was_refused)
    gst_tfx_fir_place (&self->running, &self->offered);

  GST_OBJECT_LOCK (self);
  gst_tfx_recipe_copy (&recipe, &self->recipe);
  target.method = self->method;
  align = self->align;
  GST_OBJECT_UNLOCK (self);

  target.kernel = gst_tfx_maker_get (&self->maker, filter, &recipe, rate,
      n_channels, may_wait, &fault);
  if (fault && self->maker.product.kernel) {
    /* There is one from before. */
    gst_tfx_filter_report_refusal (filter, fault);
    g_clear_error (&fault);
    target.kernel = gst_tfx_maker_get (&self->maker, filter, &recipe, rate,
        n_channels, may_wait, &fault);
  }
  gst_tfx_recipe_clear (&recipe);
  if (!target.kernel) {
    if (fault)
      g_propagate_error (error, fault);
    return NULL;
  }

  if (align)
    target.delay = target.kernel->delay;
  if (build->delay > target.delay) {
    target.n_front = build->delay - target.delay;
    target.delay = build->delay;
  }
  target.n_taps = target.kernel->n_taps + target.n_front;
  return gst_tfx_fir_make_stage (self, &target, build, error);
}

static gboolean
gst_tfx_fir_stop (GstBaseTransform *trans)
{
  GstTfxFir *self = GST_TFX_FIR (trans);
  static const GstTfxPlacement none;

  gst_tfx_maker_clear (&self->maker);
  gst_tfx_ready_clear (&self->ready);
  gst_tfx_fir_place (&self->running, &none);
  gst_tfx_fir_place (&self->offered, &none);
  return GST_BASE_TRANSFORM_CLASS (gst_tfx_fir_parent_class)->stop (trans);
}

/* ---- properties ----------------------------------------------------------------- */

static void
gst_tfx_fir_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  GstTfxFir *self = GST_TFX_FIR (object);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_METHOD:
      self->method = g_value_get_enum (value);
      break;
    case PROP_ALIGN:
      self->align = g_value_get_boolean (value);
      break;
    default:
      known = gst_tfx_recipe_set (&self->recipe, prop_id - PROP_RECIPE, value);
      break;
  }
  GST_OBJECT_UNLOCK (self);

  if (known)
    gst_tfx_filter_mark_dirty (GST_TFX_FILTER (self));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_tfx_fir_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxFir *self = GST_TFX_FIR (object);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_METHOD:
      g_value_set_enum (value, self->method);
      break;
    case PROP_ALIGN:
      g_value_set_boolean (value, self->align);
      break;
    default:
      known = gst_tfx_recipe_get (&self->recipe, prop_id - PROP_RECIPE, value);
      break;
  }
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_tfx_fir_install_properties (GObjectClass *gobject_class)
{
  /**
   * GstTfxFir:method:
   *
   * How to convolve.
   */
  g_object_class_install_property (gobject_class, PROP_METHOD,
      g_param_spec_enum ("method", "Method", "How to convolve",
          GST_TYPE_TFX_FIR_METHOD, DEFAULT_METHOD, PARAM_FLAGS));

  /**
   * GstTfxFir:align:
   *
   * Take the delay of a linear-phase kernel, half its length, out of the stream
   * and report it as latency.  Otherwise the filter is causal: nothing comes
   * before its time, and what it holds at the end is not heard.
   */
  g_object_class_install_property (gobject_class, PROP_ALIGN,
      g_param_spec_boolean ("align", "Align",
          "Take the filter's own delay out of the stream, as latency",
          DEFAULT_ALIGN, PARAM_FLAGS));
}

static void
gst_tfx_fir_finalize (GObject *object)
{
  gst_tfx_recipe_clear (&GST_TFX_FIR (object)->recipe);
  G_OBJECT_CLASS (gst_tfx_fir_parent_class)->finalize (object);
}

static void
gst_tfx_fir_class_init (GstTfxFirClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->set_property = gst_tfx_fir_set_property;
  gobject_class->get_property = gst_tfx_fir_get_property;
  gobject_class->finalize = gst_tfx_fir_finalize;
  gst_tfx_recipe_install_properties (gobject_class, PROP_RECIPE);
  gst_tfx_fir_install_properties (gobject_class);

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "FIR filter", "Filter/Effect/Audio",
      "Convolves with a designed kernel, an own one or a sound file",
      "the gst-tfx authors");
  GST_BASE_TRANSFORM_CLASS (klass)->stop = gst_tfx_fir_stop;
  GST_TFX_FILTER_CLASS (klass)->build_stage = gst_tfx_fir_build_stage;
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_FIR_METHOD, 0);
}

static void
gst_tfx_fir_init (GstTfxFir *self)
{
  gst_tfx_recipe_init (&self->recipe);
  self->method = DEFAULT_METHOD;
  self->align = DEFAULT_ALIGN;
}
