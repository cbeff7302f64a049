/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsource.h: how a sound file is read. */
#ifndef GST_TFX_SOURCE_H
#define GST_TFX_SOURCE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* audioconvert (GStreamer 1.22) ends the program where there are more. */
#define GST_TFX_SOURCE_MOST_CHANNELS 63

/* An element that reads a file; NULL: GStreamer has none. */
GstElement *gst_tfx_source_new (const gchar *path);

/* The parser to put before decodebin, or NULL.  For a WAV of 2 GiB or more it is
 * "wavparse", with ignore-length.  For an AIFF it is "aiffparse": on a busy machine
 * decodebin (GStreamer 1.22) loses the first sound of one in a hundred, as the parser that
 * it starts itself puts it out before it is held. */
GstElement *gst_tfx_source_new_parser (const gchar *path);

/* Adds the sound files in a folder and the folders in it to `files`, in order; counts the
 * others.  Hidden ones, links to folders and the folder `except` (or NULL) are left out.
 * FALSE after a message. */
gboolean gst_tfx_source_list_folder (const gchar *folder, const gchar *except,
    GPtrArray *files, guint *n_others);

/* Takes caps of a decoder and gives those in which each channel has a place, or none
 * has. */
GstCaps *gst_tfx_source_complete_caps (GstCaps *caps);
/* An element gets such caps where a decoder will be linked, and an error comes in place of
 * more channels than it takes. */
void gst_tfx_source_complete (GstElement *convert);

G_END_DECLS

#endif /* GST_TFX_SOURCE_H */
