/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxringout.h: the tail of a chain: its output after the end of its input. */
#ifndef GST_TFX_RINGOUT_H
#define GST_TFX_RINGOUT_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* The tail ends after the last sample above -120 dBFS; feeding stops after 10 s without one, or
 * after 60 s. */
#define GST_TFX_RINGOUT_AUTO ((gint64)-1)

typedef struct GstTfxRingout
{
  gint64 tail; /* in ns, of silence behind the input; or GST_TFX_RINGOUT_AUTO */

  /* The lengths of input and output, in frames at that rate. */
  gint rate_hz;
  guint64 n_in, n_out;

  /* Of the streaming thread. */
  GstAudioInfo in, out;
  GstClockTime next;
  gboolean has_ended, is_releasing;
  guint64 n_held;
  GQueue held; /* quiet buffers */
} GstTfxRingout;

/* Counts the frames into and out of the element, and feeds it the tail before EOS.  A probe
 * of its source pad that is added later does not see what is held back. */
void gst_tfx_ringout_follow (GstTfxRingout *ringout, GstElement *chain);

void gst_tfx_ringout_clear (GstTfxRingout *ringout);

G_END_DECLS

#endif /* GST_TFX_RINGOUT_H */
