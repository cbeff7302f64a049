/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcut.h: whether all of a sound file came that it says it has. */
#ifndef GST_TFX_CUT_H
#define GST_TFX_CUT_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns a message about missing sound, to be freed; NULL if the file is complete or
 * promises no length.  `came` is the duration decoded, or GST_CLOCK_TIME_NONE before
 * decoding. */
gchar *gst_tfx_cut_describe (const gchar *path, GstClockTime came);

/* Where the sound of a WAV ends that has an odd number of bytes, with the one behind it that
 * makes them even and nothing else; or that of an RF64 with anything behind it; or that of a
 * WAV that has 2 GiB of it or more, which is_long tells; -1: it is none of these. */
goffset gst_tfx_cut_find_end (const gchar *path, gboolean *is_long);

/* The files that one file has one after the other, a GstTfxLink each: the links of a
 * chained Ogg, several FLAC, or MP3 with tags in front.  None where
 * it is all one. */
GArray *gst_tfx_cut_find_links (const gchar *path);

G_END_DECLS

#endif /* GST_TFX_CUT_H */
