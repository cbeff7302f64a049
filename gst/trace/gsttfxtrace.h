/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.h: tells tracers which filters run, for whom and when.
 *
 * As long as there is none that is a look at a pointer for each run of a row.
 */
#ifndef GST_TFX_TRACE_H
#define GST_TFX_TRACE_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* A plan that runs. */
typedef struct
{
  const gchar *what;         /* "run", "start", "finish" or "rest"; static */
  TfxFilter *const *filters; /* the row */
  gsize n;
  GstClockTime start;
  /* Known when it has run. */
  gsize n_frames, n_stages, n_sections;
  gint err; /* 0 or a negative errno value */
  GstClockTime end;
  TfxStats added; /* by this run */
} GstTfxTraceRun;

/* Who is told.  Any thread; all but the first with locks of filters held.  NULL:
 * it does not want to know. */
typedef struct _GstTfxTraceHooks GstTfxTraceHooks;
struct _GstTfxTraceHooks
{
  /* The filter that the element has from now on. */
  void (*name) (const TfxFilter *filter, GstElement *element);
  /* It is left to others for one buffer. */
  void (*defer) (const TfxFilter *filter);
  /* Both by the thread that runs it; no other run of its lies between. */
  void (*begin) (const GstTfxTraceRun *run);
  void (*end) (const GstTfxTraceRun *run);
  GstTfxTraceHooks *next;
};

/* NULL: nobody is told. */
extern GstTfxTraceHooks *gst_tfx_trace_hooks;

#define gst_tfx_trace_is_on() G_UNLIKELY (gst_tfx_trace_hooks != NULL)

/* Before there is an element, and when there is none any more. */
void gst_tfx_trace_add (GstTfxTraceHooks *hooks);
void gst_tfx_trace_remove (GstTfxTraceHooks *hooks);

/* Tell them all. */
void gst_tfx_trace_name (const TfxFilter *filter, GstElement *element);
void gst_tfx_trace_defer (const TfxFilter *filter);
void gst_tfx_trace_begin (const GstTfxTraceRun *run);
void gst_tfx_trace_end (const GstTfxTraceRun *run);

G_END_DECLS

#endif /* GST_TFX_TRACE_H */
