/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcut.h: truncation check: whether a sound file is complete.
 */
#ifndef GST_TFX_CUT_H
#define GST_TFX_CUT_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns a message about missing sound, to be freed; NULL if the file is
 * complete or promises no length.  `came` is the duration decoded, or
 * GST_CLOCK_TIME_NONE before decoding. */
gchar *gst_tfx_cut_describe (const gchar *path, GstClockTime came);

/* Returns the end of the sound of a WAV or RF64 that needs repair, or -1: a WAV
 * whose sound has an odd number of bytes and is followed by the padding byte
 * alone, an RF64 with anything after its sound, or a WAV with 2 GiB of sound or
 * more (*is_long). */
goffset gst_tfx_cut_find_end (const gchar *path, gboolean *is_long);

/* Returns the GstTfxLinks of a file that is several files in a row: chained
 * Ogg, several FLAC, or MP3 with tags before each.  Empty if the file is a
 * single one. */
GArray *gst_tfx_cut_find_links (const gchar *path);

G_END_DECLS

#endif /* GST_TFX_CUT_H */
