/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwav.h: what wavenc leaves out of a WAV. */
#ifndef GST_TFX_WAV_H
#define GST_TFX_WAV_H

#include <stdio.h>

#include <gst/gst.h>

G_BEGIN_DECLS

gboolean gst_tfx_wav_is_file (FILE *file);

/* Completes a file that wavenc has written: the mask of its channels (GStreamer's; 0: none),
 * the byte that makes an odd chunk even, its texts as a chunk LIST (or an empty string), and
 * "bext", "iXML", cues and their names of the input (or NULL), if that is a WAV too.  FALSE
 * with errno. */
gboolean
gst_tfx_wav_mend (FILE *file, FILE *input, guint64 mask, const GString *info);

G_END_DECLS

#endif /* GST_TFX_WAV_H */
