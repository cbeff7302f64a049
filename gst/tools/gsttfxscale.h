/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxscale.h: the vertical scale of a picture. */
#ifndef GST_TFX_SCALE_H
#define GST_TFX_SCALE_H

#include <glib.h>

G_BEGIN_DECLS

/* The range of a picture; both 0: not chosen yet. */
typedef struct GstTfxScale
{
  gdouble low, high;
} GstTfxScale;

/* Reads "-30:12", in dB; NULL chooses nothing.  FALSE after a message. */
gboolean gst_tfx_scale_read (const gchar *text, GstTfxScale *scale);

/* Distance of lines that divide a range in at most eight: 1, 2 or 5 of a decade. */
gdouble gst_tfx_scale_choose_step (gdouble range);

/* Makes room for values[n] in dB, and keeps the room that there is: all of them if
 * they are within 60 dB, else the upper 60 dB, or down to below the lobes of a stop
 * band. */
void
gst_tfx_scale_add_gains (GstTfxScale *scale, const gdouble *values, gsize n);

/* Rounds the room outwards, with a margin. */
void gst_tfx_scale_finish (GstTfxScale *scale, gdouble least);

G_END_DECLS

#endif /* GST_TFX_SCALE_H */
