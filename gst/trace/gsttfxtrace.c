/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.c: calls the hooks of tracers.
 */
#include "gsttfxtrace.h"

GstTfxTraceHooks *gst_tfx_trace_hooks;

void
gst_tfx_trace_add (GstTfxTraceHooks *hooks)
{
  hooks->next = gst_tfx_trace_hooks;
  gst_tfx_trace_hooks = hooks;
}

void
gst_tfx_trace_remove (GstTfxTraceHooks *hooks)
{
  GstTfxTraceHooks **at = &gst_tfx_trace_hooks;

  while (*at && *at != hooks)
    at = &(*at)->next;
  if (*at)
    *at = hooks->next;
}

void
gst_tfx_trace_name (const TfxFilter *filter, GstElement *element)
{
  for (GstTfxTraceHooks *to = gst_tfx_trace_hooks; to; to = to->next)
    if (to->name)
      to->name (filter, element);
}

void
gst_tfx_trace_defer (const TfxFilter *filter)
{
  for (GstTfxTraceHooks *to = gst_tfx_trace_hooks; to; to = to->next)
    if (to->defer)
      to->defer (filter);
}

void
gst_tfx_trace_begin (const GstTfxTraceRun *run)
{
  for (GstTfxTraceHooks *to = gst_tfx_trace_hooks; to; to = to->next)
    if (to->begin)
      to->begin (run);
}

void
gst_tfx_trace_end (const GstTfxTraceRun *run)
{
  for (GstTfxTraceHooks *to = gst_tfx_trace_hooks; to; to = to->next)
    if (to->end)
      to->end (run);
}
