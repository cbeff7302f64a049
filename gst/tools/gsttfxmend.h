/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmend.h: what GStreamer's encoders and muxers leave out of a file. */
#ifndef GST_TFX_MEND_H
#define GST_TFX_MEND_H

#include "gsttfxoutput.h"

G_BEGIN_DECLS

/* Whether the program copies cues, because a GstToc cannot hold all of their fields. */
gboolean gst_tfx_mend_copies_cues (const GstTfxOutput *output);

/* How many bytes a .flac keeps free for the cue sheet of the input. */
guint gst_tfx_mend_count_padding (const GstTfxOutput *output);

/* Before the first samples: an .mp3 begins with its tags and an empty frame. */
void gst_tfx_mend_begin (GstTfxOutput *output, GstPad *encoder_src);

/* Once the file is closed: writes its tags, its length in frames, the places of its channels,
 * and what is copied from the input.  FALSE with errno. */
gboolean gst_tfx_mend_finish (const GstTfxOutput *output, const gchar *path);

G_END_DECLS

#endif /* GST_TFX_MEND_H */
