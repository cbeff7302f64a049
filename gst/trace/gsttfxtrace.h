/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.h: records which filters run, for which elements and when: the
 * tracer "tfx", which writes a timeline of buffers and runs to a file, and NVTX
 * ranges, for NVIDIA Nsight Systems and other tools.
 *
 *   GST_TRACERS="tfx(file=trace.json)" gst-launch-1.0 …
 *
 * If nothing is recorded each run of a row only checks a pointer.
 */
#ifndef GST_TFX_TRACE_H
#define GST_TFX_TRACE_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* A run of a plan. */
typedef struct
{
  const gchar *what;         /* "run", "start", "finish" or "rest"; static */
  TfxFilter *const *filters; /* the row */
  gsize n, n_frames;
  /* Known after the run. */
  gsize n_stages, n_sections;
  gint err;       /* 0 or a negative errno value */
  TfxStats added; /* by this run */
  /*< private >*/
  GstClockTime start;
  GString *name, *args;
  GArray *arrows;
} GstTfxTraceRun;

/* The table of filters; NULL: nothing is recorded. */
extern GHashTable *gst_tfx_trace_filters;

#define gst_tfx_trace_is_on() G_UNLIKELY (gst_tfx_trace_filters != NULL)

/* The next four functions require gst_tfx_trace_is_on().  Any thread; all but
 * the first with filters locked. */

/* The element has this filter from now on. */
void gst_tfx_trace_name (const TfxFilter *filter, GstElement *element);

/* The filter is deferred for one buffer. */
void gst_tfx_trace_defer (const TfxFilter *filter);

/* Both in the thread of the run, which has no other run in between. */
void gst_tfx_trace_begin (GstTfxTraceRun *run);
void gst_tfx_trace_end (GstTfxTraceRun *run);

/* Registers the tracer, unless GStreamer was built without tracers, and looks
 * for an NVTX tool.  Call it when the plugin is loaded, before the first element
 * is made. */
void gst_tfx_trace_init (GstPlugin *plugin);

G_END_DECLS

#endif /* GST_TFX_TRACE_H */
