/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflac.h: what the header of a FLAC file says. */
#ifndef GST_TFX_FLAC_H
#define GST_TFX_FLAC_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* How long the sound in the file is by its header; GST_CLOCK_TIME_NONE if the file is
 * no FLAC, or its header leaves that open, as that of a stream does. */
GstClockTime gst_tfx_flac_read_duration (const gchar *path);

G_END_DECLS

#endif /* GST_TFX_FLAC_H */
