/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwav.h: what wavenc leaves out of a WAV. */
#ifndef GST_TFX_WAV_H
#define GST_TFX_WAV_H

#include <stdio.h>

#include <gst/gst.h>

G_BEGIN_DECLS

/* A file that wavenc has written gets its channels' places, which are given by the mask of
 * GStreamer's caps (0: none), the byte that makes an odd chunk even, its texts as a chunk LIST
 * (or an empty string), and what the input (or NULL), if that is a WAV too, says in "bext" and
 * "iXML".  FALSE with errno. */
gboolean
gst_tfx_wav_mend (FILE *file, FILE *input, guint64 mask, const GString *info);

G_END_DECLS

#endif /* GST_TFX_WAV_H */
