/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtracefile.h: a file of events in Chrome's trace format, for Perfetto and
 * chrome://tracing: a JSON array of objects.
 *
 * A program that is killed leaves a file that can be read: events are written some
 * at a time, each time with the end of the array, which the next ones overwrite.
 * Killed between two pages of a write it leaves whole events without that end,
 * which the format allows.
 *
 * Format: "Trace Event Format" (Chromium), the events X, s, f and M.
 */
#ifndef GST_TFX_TRACE_FILE_H
#define GST_TFX_TRACE_FILE_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstTfxTraceFile GstTfxTraceFile;

/* Opened with the first event.  What goes wrong then is told of once, in the
 * log. */
GstTfxTraceFile *gst_tfx_trace_file_new (const gchar *path);
void gst_tfx_trace_file_free (GstTfxTraceFile *self);

/* Any thread, in all of these; also with locks held, since they do not wait for the
 * disk.  @args: "" or members of an object, as JSON. */

/* What this thread did from @start to @end. */
void gst_tfx_trace_file_add_slice (GstTfxTraceFile *self, const gchar *category,
    const gchar *name, GstClockTime start, GstClockTime end, const gchar *args);

/* An arrow from a slice of this thread (@is_start) to another one: the slices
 * that there are at @time. */
void gst_tfx_trace_file_add_flow (GstTfxTraceFile *self, guint64 id,
    const gchar *name, gboolean is_start, GstClockTime time);

/* Any thread, with no lock of a filter held: writes what waits, if it is much or
 * old, or if it is the last. */
void gst_tfx_trace_file_flush (GstTfxTraceFile *self, gboolean is_last);

G_END_DECLS

#endif /* GST_TFX_TRACE_FILE_H */
