/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.h: notifies tracers which filters run, for which elements and
 * when.
 *
 * Without a tracer each run of a row only checks a pointer.
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
  gsize n;
  GstClockTime start;
  /* Known after the run. */
  gsize n_frames, n_stages, n_sections;
  gint err; /* 0 or a negative errno value */
  GstClockTime end;
  TfxStats added; /* by this run */
} GstTfxTraceRun;

/* The callbacks of a tracer, or NULL.  Any thread; all but the first with
 * filters locked. */
typedef struct _GstTfxTraceHooks GstTfxTraceHooks;
struct _GstTfxTraceHooks
{
  /* The element has this filter from now on. */
  void (*name) (const TfxFilter *filter, GstElement *element);
  /* The filter is deferred for one buffer. */
  void (*defer) (const TfxFilter *filter);
  /* Both in the thread of the run, which has no other run in between. */
  void (*begin) (const GstTfxTraceRun *run);
  void (*end) (const GstTfxTraceRun *run);
  GstTfxTraceHooks *next;
};

/* The list of tracers; NULL: none. */
extern GstTfxTraceHooks *gst_tfx_trace_hooks;

#define gst_tfx_trace_is_on() G_UNLIKELY (gst_tfx_trace_hooks != NULL)

/* Call before the first element is made, and after the last one is freed. */
void gst_tfx_trace_add (GstTfxTraceHooks *hooks);
void gst_tfx_trace_remove (GstTfxTraceHooks *hooks);

/* Call the hooks of all tracers. */
void gst_tfx_trace_name (const TfxFilter *filter, GstElement *element);
void gst_tfx_trace_defer (const TfxFilter *filter);
void gst_tfx_trace_begin (const GstTfxTraceRun *run);
void gst_tfx_trace_end (const GstTfxTraceRun *run);

G_END_DECLS

#endif /* GST_TFX_TRACE_H */
