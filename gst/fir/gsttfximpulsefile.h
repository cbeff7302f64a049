/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulsefile.h: impulse responses in files.
 */
#ifndef GST_TFX_IMPULSE_FILE_H
#define GST_TFX_IMPULSE_FILE_H

#include "gsttfximpulse.h"

G_BEGIN_DECLS

/* Reads a sound file that libsndfile supports, or a text file of numbers, for a stream
 * of @n_channels (0: any number): it must have one channel, or @n_channels.  NULL with
 * an error for the user if it cannot be read or is not a kernel. */
GstTfxImpulse *
gst_tfx_impulse_file_read (const gchar *path, guint n_channels, GError **error);

/* Fits an impulse response, read from @path, to a stream: resamples it if the rates
 * differ, and keeps its frequency response.  NULL with an error for the user if the
 * channels do not match, or it cannot be resampled. */
GstTfxImpulse *gst_tfx_impulse_file_fit (GstTfxImpulse *impulse, guint rate,
    guint n_channels, const gchar *path, GError **error);

G_END_DECLS

#endif /* GST_TFX_IMPULSE_FILE_H */
