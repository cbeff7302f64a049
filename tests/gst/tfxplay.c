/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfxplay.c: pipelines in the tests, and what comes out of them.
 */
#include "tfxplay.h"

#include <math.h>
#include <string.h>

static void
catch_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad,
    TfxCaught *caught)
{
  GstMapInfo map;
  GstClockTime pts = GST_BUFFER_PTS (buffer);

  g_mutex_lock (&caught->lock);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_array_append_vals (caught->samples, map.data, map.size / sizeof (gfloat));
  gst_buffer_unmap (buffer, &map);
  if (caught->n_buffers++ == 0)
    caught->first_time = pts;
  else if (pts != caught->next_time)
    caught->contiguous = FALSE;
  caught->next_time = pts + GST_BUFFER_DURATION (buffer);
  g_mutex_unlock (&caught->lock);
}

static GstPadProbeReturn
forget_on_flush (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  TfxCaught *caught = data;

  if (GST_EVENT_TYPE (info->data) == GST_EVENT_FLUSH_STOP) {
    g_mutex_lock (&caught->lock);
    g_array_set_size (caught->samples, 0);
    caught->n_buffers = 0;
    g_mutex_unlock (&caught->lock);
  }
  return GST_PAD_PROBE_OK;
}

GstElement *
tfx_play_make (const gchar *launch, TfxCaught *caught)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error), *sink;
  GstPad *pad;

  fail_unless (pipeline && !error, "%s: %s", launch,
      error ? error->message : "");
  if (!caught)
    return pipeline;

  memset (caught, 0, sizeof *caught);
  g_mutex_init (&caught->lock);
  caught->contiguous = TRUE;
  caught->samples = g_array_new (FALSE, FALSE, sizeof (gfloat));
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (catch_buffer), caught);
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH, forget_on_flush,
      caught, NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
  return pipeline;
}

void
tfx_caught_clear (TfxCaught *caught)
{
  g_array_unref (caught->samples);
  g_mutex_clear (&caught->lock);
}

void
tfx_play_run (GstElement *pipeline, GstMessageType expected)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autofree gchar *text = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  fail_unless (message != NULL, "neither end nor error");
  if (gst_message_get_structure (message))
    text = gst_structure_to_string (gst_message_get_structure (message));
  fail_unless (GST_MESSAGE_TYPE (message) == expected, "%s from %s: %s",
      GST_MESSAGE_TYPE_NAME (message), GST_MESSAGE_SRC_NAME (message), text);
}

void
tfx_play_stop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

void
tfx_play (const gchar *launch, TfxCaught *caught)
{
  GstElement *pipeline = tfx_play_make (launch, caught);

  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  tfx_play_stop (pipeline);
}

gdouble
tfx_caught_distance (const TfxCaught *a, const TfxCaught *b)
{
  gdouble largest = 0.0;

  fail_unless_equals_int (a->samples->len, b->samples->len);
  for (guint i = 0; i < a->samples->len; i++) {
    const gdouble d = fabs ((gdouble)g_array_index (a->samples, gfloat, i) -
                            g_array_index (b->samples, gfloat, i));

    if (!isfinite (d))
      return INFINITY;
    largest = MAX (largest, d);
  }
  return largest;
}

gfloat *
tfx_caught_floats (TfxCaught *caught)
{
  return (gfloat *)(gpointer)caught->samples->data;
}

void
tfx_play_drain (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
}
