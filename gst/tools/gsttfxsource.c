/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsource.c: how a sound file is read.
 */
#include "gsttfxsource.h"

#include "gsttfxcut.h"

/* Only what it pushes is to be had. */
static GstPadProbeReturn
push_only (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_SCHEDULING)
    return GST_PAD_PROBE_OK;
  gst_query_set_scheduling (query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0);
  gst_query_add_scheduling_mode (query, GST_PAD_MODE_PUSH);
  return GST_PAD_PROBE_HANDLED;
}

/* What is behind the end of the sound does not come. */
static GstPadProbeReturn
clip (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const guint64 end = *(const guint64 *)data;
  const guint64 from = GST_BUFFER_OFFSET (buffer);

  if (from >= end)
    return GST_PAD_PROBE_DROP;
  if (from + gst_buffer_get_size (buffer) > end) {
    buffer = gst_buffer_make_writable (buffer);
    gst_buffer_set_size (buffer, (gssize)(end - from));
    info->data = buffer;
  }
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_source_set_path (GstElement *filesrc, const gchar *path)
{
  GstPad *pad = gst_element_get_static_pad (filesrc, "src");
  const goffset end = gst_tfx_cut_find_end (path);
  guint64 *last;

  g_object_set (filesrc, "location", path, NULL);
  /* Where wavparse (GStreamer 1.22) pulls, it looks behind the byte that fills an odd
   * chunk up, and takes the end of the file for that of the sound; that of an RF64 goes
   * to the end of the file for it. */
  if (end >= 0) {
    last = g_new (guint64, 1);
    *last = (guint64)end;
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, push_only, NULL,
        NULL);
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, clip, last, g_free);
  }
  gst_object_unref (pad);
}
