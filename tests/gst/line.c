/* SPDX-License-Identifier: LGPL-2.1-or-later
 * line.c: a stream of numbered frames through elements, from a pad to a pad.
 */
#include "line.h"

#include "firs.h"

#include <math.h>
#include <string.h>

static GstStaticPadTemplate any_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---- the end -------------------------------------------------------------- */

/* The running time, before 0 too. */
static gint64
running_time (const GstSegment *segment, GstClockTime pts)
{
  guint64 time = 0;
  gint sign =
      gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, pts, &time);

  fail_unless (sign != 0, "a buffer without time");
  return sign * (gint64)time;
}

static void
hear_frames (TfxLine *self, gint64 number, const gdouble *samples, gsize n,
    gint n_channels)
{
  for (gsize i = 0; i < n; i++, number++) {
    if (number < 0 || number >= (gint64)self->n_frames) {
      fail ("frame %" G_GINT64_FORMAT " of %" G_GUINT64_FORMAT " is heard: %s",
          number, self->n_frames, self->launch);
      continue;
    }
    self->n_times[number]++;
    memcpy (&self->heard[number * n_channels], &samples[i * n_channels],
        n_channels * sizeof *samples);
  }
  self->n_heard += n;
  g_array_append_vals (self->sound, samples, n * n_channels);
}

static GstFlowReturn
hear_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  TfxLine *self = pad->chaindata;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo info;
  gint64 time, number, due;
  gdouble *samples;
  gsize n;

  fail_unless (caps && gst_audio_info_from_caps (&info, caps));
  gst_caps_unref (caps);
  time = running_time (&self->segment, GST_BUFFER_PTS (buffer));
  number = (gint64)floor ((gdouble)time * info.rate / GST_SECOND + 0.5);
  due = number < 0 ? 0 : gst_util_uint64_scale (number, GST_SECOND, info.rate);
  self->worst_late = MAX (self->worst_late, ABS (time - due));
  samples = tfx_check_samples (buffer, &info, &n);
  hear_frames (self, number, samples, n, info.channels);
  self->n_buffers++;
  g_free (samples);
  gst_buffer_unref (buffer);
  return self->flow;
}

static gboolean
hear_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  TfxLine *self = pad->eventdata;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_copy_segment (event, &self->segment);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    self->is_ended = TRUE;
  if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    self->n_gaps++;
  gst_event_unref (event);
  return TRUE;
}

/* ---- the line ------------------------------------------------------------- */

static void
link_ends (TfxLine *self)
{
  GstPad *pad = gst_element_get_static_pad (self->element, "sink");

  fail_unless_equals_int (gst_pad_link (self->src, pad), GST_PAD_LINK_OK);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (self->element, "src");
  fail_unless_equals_int (gst_pad_link (pad, self->sink), GST_PAD_LINK_OK);
  gst_object_unref (pad);
}

void
tfx_line_open (TfxLine *self, const gchar *launch, const GstAudioInfo *info,
    gboolean fuse, guint64 n_frames)
{
  GError *error = NULL;

  memset (self, 0, sizeof *self);
  self->element = gst_parse_bin_from_description (launch, TRUE, &error);
  fail_unless (self->element && !error, "%s: %s", launch,
      error ? error->message : "");
  gst_object_ref_sink (self->element);
  tfx_check_set_fuse (self->element, fuse);
  self->launch = g_strdup (launch);
  self->bus = gst_bus_new ();
  gst_element_set_bus (self->element, self->bus);
  self->src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  self->sink = gst_object_ref_sink (
      gst_pad_new_from_static_template (&any_template, "sink"));
  gst_pad_set_chain_function_full (self->sink, hear_buffer, self, NULL);
  gst_pad_set_event_function_full (self->sink, hear_event, self, NULL);
  link_ends (self);

  self->n_frames = n_frames;
  self->heard = g_new0 (gdouble, n_frames * info->channels + 1);
  self->n_times = g_new0 (guint, n_frames + 1);
  self->sound = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  gst_pad_set_active (self->sink, TRUE);
  fail_unless_equals_int (gst_element_set_state (self->element,
                              GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
  gst_pad_set_active (self->src, TRUE);
  tfx_line_push_start (self, "tfx");
  tfx_line_push_caps (self, info);
}

void
tfx_line_close (TfxLine *self)
{
  gst_pad_set_active (self->src, FALSE);
  gst_element_set_state (self->element, GST_STATE_NULL);
  gst_pad_set_active (self->sink, FALSE);
  gst_element_set_bus (self->element, NULL);
  gst_object_unref (self->bus);
  gst_object_unref (self->element);
  gst_object_unref (self->src);
  gst_object_unref (self->sink);
  g_array_unref (self->sound);
  g_free (self->launch);
  g_free (self->heard);
  g_free (self->n_times);
}

void
tfx_lines_close (TfxLines *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (*self); i++)
    tfx_line_close (&(*self)[i]);
}

GstElement *
tfx_line_get (TfxLine *self, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (self->element), name);

  fail_unless (element != NULL, "no element %s", name);
  return element;
}

GstObject *
tfx_line_find (TfxLine *self, const gchar *path, GParamSpec **spec)
{
  GObject *object = NULL;

  fail_unless (gst_child_proxy_lookup (GST_CHILD_PROXY (self->element), path,
                   &object, spec),
      "no %s", path);
  return GST_OBJECT (object);
}

void
tfx_line_set_impulse (TfxLine *self, const gchar *name, gsize n)
{
  g_autoptr (GstElement) element = tfx_line_get (self, name);
  g_autofree gdouble *taps = g_new0 (gdouble, 2 * n + 1);

  taps[n] = 1.0;
  tfx_firs_set_kernel (element, taps, 2 * n + 1);
}

/* ---- the stream ------------------------------------------------------------- */

void
tfx_line_push_start (TfxLine *self, const gchar *id)
{
  gst_pad_push_event (self->src, gst_event_new_stream_start (id));
}

void
tfx_line_push_caps (TfxLine *self, const GstAudioInfo *info)
{
  g_autoptr (GstCaps) caps = gst_audio_info_to_caps (info);

  self->info = *info;
  fail_unless (gst_pad_push_event (self->src, gst_event_new_caps (caps)));
}

static GstClockTime
time_of (const TfxLine *self, guint64 frame)
{
  return gst_util_uint64_scale (frame, GST_SECOND, self->info.rate);
}

void
tfx_line_push_segment (TfxLine *self, GstClockTime start, guint64 frame)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = start;
  segment.base = time_of (self, frame);
  fail_unless (
      gst_pad_push_event (self->src, gst_event_new_segment (&segment)));
}

GstFlowReturn
tfx_line_push (TfxLine *self, const gdouble *in, guint64 from, gsize n,
    GstClockTime start, guint64 start_frame, gint64 jitter)
{
  GstBuffer *buffer =
      tfx_check_stamped (&self->info, in + from * self->info.channels, n, from);
  gint64 pts = (gint64)GST_BUFFER_PTS (buffer) -
               (gint64)time_of (self, start_frame) + jitter;

  GST_BUFFER_PTS (buffer) = start + MAX (pts, 0);
  if (self->is_marked)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  self->is_marked = FALSE;
  return gst_pad_push (self->src, buffer);
}

void
tfx_line_play (TfxLine *self, const gdouble *in, guint64 from, guint64 to,
    gsize most)
{
  while (from < to) {
    gsize n = MIN (most, to - from);

    fail_unless_equals_int (tfx_line_push (self, in, from, n, 0, 0, 0),
        GST_FLOW_OK);
    from += n;
  }
}

void
tfx_line_end (TfxLine *self)
{
  GstMessage *message;

  gst_pad_push_event (self->src, gst_event_new_eos ());
  fail_unless (self->is_ended, "no end comes out");
  message =
      gst_bus_pop_filtered (self->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  if (message)
    fail ("%s", gst_structure_to_string (gst_message_get_structure (message)));
}

const gdouble *
tfx_line_sound (const TfxLine *self)
{
  return (const gdouble *)(gpointer)self->sound->data;
}

void
tfx_line_expect_whole (const TfxLine *self)
{
  /* Check writes each condition that it is asked for to a file. */
  for (guint64 i = 0; i < self->n_frames; i++) {
    if (self->n_times[i] != 1)
      fail ("frame %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
            " is heard %u times; %" G_GUINT64_FORMAT " came out",
          i, self->n_frames, self->n_times[i], self->n_heard);
  }
  fail_unless (self->worst_late <= 20, "late by %" G_GINT64_FORMAT " ns",
      self->worst_late);
}

gdouble
tfx_line_error_db (const gdouble *a, const gdouble *b, gsize n)
{
  gdouble error = 0.0, power = 0.0;

  for (gsize i = 0; i < n; i++) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    power += b[i] * b[i];
  }
  if (error == 0.0)
    return -400.0;
  return isfinite (error) ? 10.0 * log10 (error / power) : 400.0;
}
