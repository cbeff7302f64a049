/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbutterworth.c: the element tfxbutterworth.
 */

/**
 * SECTION:element-tfxbutterworth
 * @title: tfxbutterworth
 *
 * A Butterworth filter has the flattest pass band of all filters of its order.
 * It is 3 dB down at the cutoff and falls by 6 dB per octave and order beyond it.
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
#include "gsttfxbutterworth.h"

GST_DEBUG_CATEGORY_STATIC (gst_tfx_butterworth_debug);
#define GST_CAT_DEFAULT gst_tfx_butterworth_debug

struct _GstTfxButterworth
{
  GstTfxIir parent;
};

G_DEFINE_TYPE_WITH_CODE (GstTfxButterworth, gst_tfx_butterworth,
    GST_TYPE_TFX_IIR,
    GST_DEBUG_CATEGORY_INIT (gst_tfx_butterworth_debug, "tfxbutterworth", 0,
        "Butterworth filter"));
GST_ELEMENT_REGISTER_DEFINE (tfxbutterworth, "tfxbutterworth", GST_RANK_NONE,
    GST_TYPE_TFX_BUTTERWORTH);

static void
gst_tfx_butterworth_describe (GstTfxIir *iir, TfxDesign *design)
{
  design->family = TFX_FAMILY_BUTTERWORTH;
  GST_LOG_OBJECT (iir, "order %u", design->order);
}

static void
gst_tfx_butterworth_class_init (GstTfxButterworthClass *klass)
{
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Butterworth filter", "Filter/Effect/Audio",
      "Low-pass, high-pass, band-pass or band-reject with a flat pass band",
      "the gst-tfx authors");
  GST_TFX_IIR_CLASS (klass)->describe = gst_tfx_butterworth_describe;
}

static void
gst_tfx_butterworth_init (GstTfxButterworth *self)
{
}
