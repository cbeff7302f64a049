/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwavpack.h: the checksums of WavPack. */
#ifndef GST_TFX_WAVPACK_H
#define GST_TFX_WAVPACK_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Calls `bad` in the streaming thread for each block of a wavpackdec whose samples do not
 * have its checksum.  Floats, 8 bits, lossy blocks and more than two channels are not
 * checked. */
void gst_tfx_wavpack_watch (GstElement *decoder, void (*bad) (gpointer data),
    gpointer data);

G_END_DECLS

#endif /* GST_TFX_WAVPACK_H */
