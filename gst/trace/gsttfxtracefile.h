/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtracefile.h: a file of events in Chrome's trace format, for Perfetto
 * and chrome://tracing: a JSON array of objects.
 *
 * The file of a killed program is readable: events are written in batches, each
 * with the end of the array, which the next batch replaces.  A program that is
 * killed between two pages of a write leaves whole events without that end,
 * which the format allows.
 *
 * Format: "Trace Event Format" (Chromium), the events X, s, f and M.
 */
#ifndef GST_TFX_TRACE_FILE_H
#define GST_TFX_TRACE_FILE_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstTfxTraceFile GstTfxTraceFile;

/* The file is opened at the first event.  An error is logged once. */
GstTfxTraceFile *gst_tfx_trace_file_new (const gchar *path);
void gst_tfx_trace_file_free (GstTfxTraceFile *self);

/* The next two functions do not access the file, so they may be called with
 * locks held.  Any thread.  @args: "" or members of an object, as JSON. */

/* Adds a slice: what this thread did from @start to @end. */
void gst_tfx_trace_file_add_slice (GstTfxTraceFile *self, const gchar *category,
    const gchar *name, GstClockTime start, GstClockTime end, const gchar *args);

/* Adds the start or the end of the arrow of a buffer whose filter was left to
 * another element, in the slice of this thread at @time. */
void gst_tfx_trace_file_add_flow (GstTfxTraceFile *self, guint64 id,
    gboolean is_start, GstClockTime time);

/* Writes waiting events if they are many or old and no other thread writes, or if
 * @is_last.  Any thread, with no filter locked. */
void gst_tfx_trace_file_flush (GstTfxTraceFile *self, gboolean is_last);

G_END_DECLS

#endif /* GST_TFX_TRACE_FILE_H */
