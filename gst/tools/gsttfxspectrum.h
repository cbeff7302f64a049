/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxspectrum.h: the mean spectrum of samples. */
#ifndef GST_TFX_SPECTRUM_H
#define GST_TFX_SPECTRUM_H

#include <glib.h>

G_BEGIN_DECLS

/* Levels are means over such a part of an octave. */
#define GST_TFX_SPECTRUM_LINES 24

typedef struct GstTfxSpectrum GstTfxSpectrum;

/* A segment has more frames than the rate has Hz: higher ones would take memory
 * without end. */
#define GST_TFX_SPECTRUM_MAX_RATE_HZ 10000000

/* So that what a Hann window lets leak from 100 Hz is 140 dB down at 20 Hz. */
#define GST_TFX_SPECTRUM_BIN_HZ 0.8

/* rate_hz: from 1 to this.  Bins are at most bin_hz apart. */
GstTfxSpectrum *
gst_tfx_spectrum_new (gint rate_hz, gint n_channels, gdouble bin_hz);
void gst_tfx_spectrum_free (GstTfxSpectrum *s);

/* The number of frames of a segment. */
gsize gst_tfx_spectrum_get_length (const GstTfxSpectrum *s);
/* Forgets all samples. */
void gst_tfx_spectrum_reset (GstTfxSpectrum *s);

/* x: interleaved [n_frames][n_channels] */
void gst_tfx_spectrum_add (GstTfxSpectrum *s, const gdouble *x, gsize n_frames);
/* At the end, before a level is asked for.  A sound shorter than a segment is
 * padded with silence. */
void gst_tfx_spectrum_finish (GstTfxSpectrum *s);

/* Mean power density around freq_hz, in dB; between bins where the band is narrower
 * than one.  NaN above half the rate. */
gdouble gst_tfx_spectrum_get_level (const GstTfxSpectrum *s, gdouble freq_hz);
guint64 gst_tfx_spectrum_get_n_frames (const GstTfxSpectrum *s);
/* The largest sample: 1 is full scale. */
gdouble gst_tfx_spectrum_get_peak (const GstTfxSpectrum *s);

G_END_DECLS

#endif /* GST_TFX_SPECTRUM_H */
