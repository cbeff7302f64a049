/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchebyshev.c: the element tfxchebyshev.
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
#include "gsttfxchebyshev.h"

GST_DEBUG_CATEGORY_STATIC (gst_tfx_chebyshev_debug);
#define GST_CAT_DEFAULT gst_tfx_chebyshev_debug

#define DEFAULT_TYPE 1
#define DEFAULT_RIPPLE 0.1
#define DEFAULT_ATTENUATION 40.0

/* In dB.  Within these limits a filter of any order exists at some cutoff; outside, its
 * poles are too close to the unit circle for double precision. */
#define MIN_DECIBEL 1e-6
#define MAX_RIPPLE 100.0
#define MAX_ATTENUATION 200.0

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |       \
      GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_0,
  PROP_TYPE,
  PROP_RIPPLE,
  PROP_ATTENUATION
};

struct _GstTfxChebyshev
{
  GstTfxIir parent;

  /* Under the object lock. */
  gint type;
  gdouble ripple, attenuation; /* dB */
};

G_DEFINE_TYPE_WITH_CODE (GstTfxChebyshev, gst_tfx_chebyshev, GST_TYPE_TFX_IIR,
    GST_DEBUG_CATEGORY_INIT (gst_tfx_chebyshev_debug, "tfxchebyshev", 0,
        "Chebyshev filter"));
GST_ELEMENT_REGISTER_DEFINE (tfxchebyshev, "tfxchebyshev", GST_RANK_NONE,
    GST_TYPE_TFX_CHEBYSHEV);

static void
gst_tfx_chebyshev_describe (GstTfxIir *iir, TfxDesign *design)
{
  GstTfxChebyshev *self = GST_TFX_CHEBYSHEV (iir);

  GST_OBJECT_LOCK (self);
  design->family =
      self->type == 2 ? TFX_FAMILY_CHEBYSHEV2 : TFX_FAMILY_CHEBYSHEV1;
  design->ripple_db = self->ripple;
  design->attenuation_db = self->attenuation;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self, "type %d, order %u, ripple %g dB, attenuation %g dB",
      design->family == TFX_FAMILY_CHEBYSHEV2 ? 2 : 1, design->order,
      design->ripple_db, design->attenuation_db);
}

static void
gst_tfx_chebyshev_set_property (GObject *object, guint prop_id,
    const GValue *value, GParamSpec *pspec)
{
  GstTfxChebyshev *self = GST_TFX_CHEBYSHEV (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_TYPE:
      self->type = g_value_get_int (value);
      break;
    case PROP_RIPPLE:
      self->ripple = g_value_get_double (value);
      break;
    case PROP_ATTENUATION:
      self->attenuation = g_value_get_double (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
  gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
}

static void
gst_tfx_chebyshev_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxChebyshev *self = GST_TFX_CHEBYSHEV (object);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_TYPE:
      g_value_set_int (value, self->type);
      break;
    case PROP_RIPPLE:
      g_value_set_double (value, self->ripple);
      break;
    case PROP_ATTENUATION:
      g_value_set_double (value, self->attenuation);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_tfx_chebyshev_class_init (GstTfxChebyshevClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->set_property = gst_tfx_chebyshev_set_property;
  gobject_class->get_property = gst_tfx_chebyshev_get_property;

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
  GST_TFX_IIR_CLASS (klass)->describe = gst_tfx_chebyshev_describe;
}

static void
gst_tfx_chebyshev_init (GstTfxChebyshev *self)
{
  self->type = DEFAULT_TYPE;
  self->ripple = DEFAULT_RIPPLE;
  self->attenuation = DEFAULT_ATTENUATION;
}
