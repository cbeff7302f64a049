/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.h: tells a tracer which filters run, for whom and when.
 *
 * As long as there is no tracer that is a look at a pointer for each run of a row.
 */
#ifndef GST_TFX_TRACE_H
#define GST_TFX_TRACE_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* A plan has run. */
typedef struct
{
  const gchar *what;         /* "run", "start", "finish" or "rest"; static */
  TfxFilter *const *filters; /* the row */
  gsize n;
  gsize n_frames, n_stages, n_sections;
  gint err; /* 0 or a negative errno value */
  GstClockTime start, end;
  TfxStats added; /* by this run */
} GstTfxTraceRun;

/* Any thread; the last two with locks of filters held. */
typedef struct
{
  /* The filter that the element has from now on. */
  void (*name) (const TfxFilter *filter, GstElement *element);
  /* It is left to others for one buffer. */
  void (*defer) (const TfxFilter *filter);
  void (*run) (const GstTfxTraceRun *run);
} GstTfxTraceHooks;

/* NULL: there is no tracer.  Set before there is an element. */
extern const GstTfxTraceHooks *gst_tfx_trace_hooks;

#define gst_tfx_trace_is_on() G_UNLIKELY (gst_tfx_trace_hooks != NULL)

G_END_DECLS

#endif /* GST_TFX_TRACE_H */
