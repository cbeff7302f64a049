/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtracer.h: the tracer "tfx", which writes a timeline of buffers and runs
 * to a file.
 *
 *   GST_TRACERS="tfx(file=trace.json)" gst-launch-1.0 …
 */
#ifndef GST_TFX_TRACER_H
#define GST_TFX_TRACER_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns FALSE if GStreamer was built without tracers. */
gboolean gst_tfx_tracer_register (GstPlugin *plugin);

G_END_DECLS

#endif /* GST_TFX_TRACER_H */
