/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsource.h: how a sound file is read. */
#ifndef GST_TFX_SOURCE_H
#define GST_TFX_SOURCE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The file for a filesrc, before it runs. */
void gst_tfx_source_set_path (GstElement *filesrc, const gchar *path);

G_END_DECLS

#endif /* GST_TFX_SOURCE_H */
