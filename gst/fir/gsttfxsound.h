/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsound.h: impulse responses in sound files.
 */
#ifndef GST_TFX_SOUND_H
#define GST_TFX_SOUND_H

#include <glib.h>

G_BEGIN_DECLS

/* The largest magnitude of a sample, or of any tap: float32 has some room to
 * sum them up. */
#define GST_TFX_SOUND_MAX 1e30

/* Immutable; any thread. */
typedef struct
{
  guint rate; /* Hz */
  guint n_channels;
  gsize n_frames;
  gdouble *samples; /* [n_channels][n_frames], full scale is 1 */
} GstTfxSound;

/* Reads a file, of any kind that libsndfile knows, for a stream of @n_channels:
 * it must have one channel, or as many.  NULL with a text for the user if that
 * cannot be done, or if there is nothing in it that could be a kernel. */
GstTfxSound *
gst_tfx_sound_read (const gchar *path, guint n_channels, GError **error);

/* Whether a sound of @n_has channels does for a stream of @n_channels; if not,
 * there is a text for the user. */
gboolean gst_tfx_sound_fits (guint n_has, guint n_channels, const gchar *path,
    GError **error);

/* The same impulse response for another rate: the response to a frequency is
 * what it was.  What begins at full strength rings before its beginning when
 * its band is limited: *n_lead says by how many frames.  @path is for the
 * user's text. */
GstTfxSound *gst_tfx_sound_resample (const GstTfxSound *self, guint rate,
    const gchar *path, gsize *n_lead, GError **error);

GstTfxSound *gst_tfx_sound_ref (GstTfxSound *self);
void gst_tfx_sound_unref (GstTfxSound *self);

G_END_DECLS

#endif /* GST_TFX_SOUND_H */
