/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulsefile.h: impulse responses in files.
 */
#ifndef GST_TFX_IMPULSE_FILE_H
#define GST_TFX_IMPULSE_FILE_H

#include "gsttfximpulse.h"

G_BEGIN_DECLS

/* Reads a file, of any kind that libsndfile knows or with numbers as text, for a
 * stream of @n_channels: it must have one channel, or as many; 0: of any.  NULL with a text for the user if that
 * cannot be done, or if there is nothing in it that could be a kernel. */
GstTfxImpulse *
gst_tfx_impulse_file_read (const gchar *path, guint n_channels, GError **error);

/* What was read from @path, for a stream: resampled if it has another rate.
 * The response to a frequency stays what it was.  NULL with a text for the
 * user if it has not the channels for that, or cannot be resampled. */
GstTfxImpulse *gst_tfx_impulse_file_fit (GstTfxImpulse *impulse, guint rate,
    guint n_channels, const gchar *path, GError **error);

G_END_DECLS

#endif /* GST_TFX_IMPULSE_FILE_H */
