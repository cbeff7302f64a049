/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresample.c: resamples to another rate, with an exact number of frames.
 *
 *   audioresample ! capsfilter
 *
 * audioresample (GStreamer 1.22) may end a few frames early, and restarts at a
 * discontinuity.  Its default, cubic interpolation of filter coefficients, delays the sound
 * by 1/32 of an input frame; without interpolation errors are below -130 dB.
 */
#include "gsttfxresample.h"

#include <gst/audio/audio.h>

/* The coefficients of a phase take about 200 * 8 bytes, times the ratio of a lower rate.
 * Tables above 26 MB are interpolated linearly instead: errors below -100 dB. */
#define MAX_PHASES 16384

/* Zeros after the end, in frames of the lower rate; the filter has about 200 taps there. */
#define N_ZEROS 128
#define MAX_ZERO_BUFFERS 16

/* Of two rates: files may claim any rate, which would take any memory. */
#define MAX_RATIO 1000

typedef struct Resample
{
  GstElement *element, *filter;
  GstSegment segment; /* of the input */
  GstClockTime start; /* running time of the first frame */
  gint from_hz, to_hz;
  gsize frame; /* bytes */
  guint64 n_came, n_sent, n_stamped;
  gboolean is_ending;
} Resample;

GstBuffer *
gst_tfx_resample_stamp (GstBuffer *buffer, guint64 start, guint64 end,
    gint rate_hz)
{
  const guint64 rate = (guint64)MAX (rate_hz, 1);

  buffer = gst_buffer_make_writable (buffer);
  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (start, GST_SECOND, rate);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) =
      gst_util_uint64_scale (end, GST_SECOND, rate) - GST_BUFFER_PTS (buffer);
  GST_BUFFER_OFFSET (buffer) = GST_BUFFER_OFFSET_END (buffer) =
      GST_BUFFER_OFFSET_NONE;
  GST_BUFFER_FLAG_UNSET (buffer,
      GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC);
  return buffer;
}

/* Selects a full or an interpolated table of coefficients, by the rates.  FALSE with a
 * message: the rates are too far apart. */
static gboolean
take_caps (Resample *resample, GstCaps *caps)
{
  GstAudioInfo info;
  gboolean is_small;
  guint64 n_phases;

  if (!gst_audio_info_from_caps (&info, caps))
    return TRUE;
  resample->from_hz = GST_AUDIO_INFO_RATE (&info);
  resample->frame = (gsize)GST_AUDIO_INFO_BPF (&info);
  if (resample->from_hz > (gint64)resample->to_hz * MAX_RATIO ||
      resample->to_hz > (gint64)resample->from_hz * MAX_RATIO) {
    GST_ELEMENT_ERROR (resample->element, STREAM, FORMAT,
        ("its rate is %d Hz, but must be from %d to %" G_GINT64_FORMAT
         " Hz for an output of %d Hz",
            resample->from_hz, (resample->to_hz + MAX_RATIO - 1) / MAX_RATIO,
            (gint64)resample->to_hz * MAX_RATIO, resample->to_hz),
        (NULL));
    return FALSE;
  }
  n_phases = (guint64)(resample->to_hz /
                       gst_util_greatest_common_divisor (resample->from_hz,
                           resample->to_hz));
  is_small = n_phases * (guint64)MAX (resample->from_hz / resample->to_hz, 1) <=
             MAX_PHASES;
  gst_util_set_object_arg (G_OBJECT (resample->element),
      "sinc-filter-interpolation", is_small ? "none" : "linear");
  gst_util_set_object_arg (G_OBJECT (resample->element), "sinc-filter-mode",
      is_small ? "full" : "interpolated");
  return TRUE;
}

static guint64
count_wanted (const Resample *resample)
{
  return gst_util_uint64_scale_round (resample->n_came,
      (guint64)resample->to_hz, (guint64)MAX (resample->from_hz, 1));
}

/* Pushes zeros until the resampler has returned the last frame. */
static void
push_end (Resample *resample, GstPad *sink)
{
  const gsize n = N_ZEROS * resample->frame *
                  (gsize)MAX (resample->from_hz / resample->to_hz, 1);
  GstFlowReturn flow = GST_FLOW_OK;

  resample->is_ending = TRUE;
  for (guint i = 0; i < MAX_ZERO_BUFFERS && flow == GST_FLOW_OK &&
                    resample->n_sent < count_wanted (resample);
       i++) {
    GstBuffer *zeros = gst_buffer_new_and_alloc (n);

    gst_buffer_memset (zeros, 0, 0, n);
    flow = gst_pad_chain (sink, zeros);
  }
}

static GstPadProbeReturn
take_input (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Resample *resample = data;
  const guint64 start = resample->n_stamped;
  GstSegment segment;
  GstCaps *caps;
  gsize n;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    n = gst_buffer_get_size (info->data) / MAX (resample->frame, 1);
    if (start == 0)
      resample->start = gst_segment_to_running_time (&resample->segment,
          GST_FORMAT_TIME, GST_BUFFER_PTS (info->data));
    resample->n_stamped += n;
    if (!resample->is_ending)
      resample->n_came += n;
    info->data = gst_tfx_resample_stamp (info->data, start, start + n,
        resample->from_hz);
    if (GST_CLOCK_TIME_IS_VALID (resample->start))
      GST_BUFFER_PTS (info->data) += resample->start;
    return GST_PAD_PROBE_OK;
  }
  switch (GST_EVENT_TYPE (info->data)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (info->data, &caps);
      return take_caps (resample, caps) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
    case GST_EVENT_SEGMENT:
      /* A segment after samples would restart the resampler. */
      if (resample->n_came > 0)
        return GST_PAD_PROBE_DROP;
      gst_event_copy_segment (info->data, &resample->segment);
      gst_segment_init (&segment, GST_FORMAT_TIME);
      gst_event_unref (info->data);
      info->data = gst_event_new_segment (&segment);
      return GST_PAD_PROBE_OK;
    case GST_EVENT_EOS:
      /* (Refused caps leave no rates.) */
      if (resample->n_came > 0)
        push_end (resample, pad);
      return GST_PAD_PROBE_OK;
    default:
      return GST_PAD_PROBE_OK;
  }
}

/* Drops frames after the last one. */
static GstPadProbeReturn
trim (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Resample *resample = data;
  const gsize n = gst_buffer_get_size (info->data) / resample->frame;
  const gsize n_left =
      (gsize)MIN (n, count_wanted (resample) - resample->n_sent);

  resample->n_sent += n_left;
  if (n > 0 && n_left == 0)
    return GST_PAD_PROBE_DROP;
  if (n_left < n)
    info->data = gst_audio_buffer_truncate (info->data, (gint)resample->frame,
        0, n_left);
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_resample_set_rate (GstElement *bin, gint rate_hz)
{
  Resample *resample = g_object_get_data (G_OBJECT (bin), "resample");
  GstCaps *caps;

  if (resample->to_hz == rate_hz)
    return;
  resample->to_hz = rate_hz;
  caps = gst_caps_new_simple ("audio/x-raw", "layout", G_TYPE_STRING,
      "interleaved", "rate", G_TYPE_INT, rate_hz, NULL);
  g_object_set (resample->filter, "caps", caps, NULL);
  gst_caps_unref (caps);
}

GstElement *
gst_tfx_resample_new (gint rate_hz)
{
  GstElement *element = gst_element_factory_make ("audioresample", NULL);
  GstElement *bin, *filter;
  Resample *resample;
  GstPad *pad;

  if (!element)
    return NULL;
  resample = g_new0 (Resample, 1);
  resample->element = element;
  g_object_set (element, "quality", 10, NULL);
  resample->filter = filter = gst_element_factory_make ("capsfilter", NULL);
  gst_segment_init (&resample->segment, GST_FORMAT_TIME);
  bin = gst_bin_new (NULL);
  g_object_set_data_full (G_OBJECT (bin), "resample", resample, g_free);
  if (rate_hz > 0)
    gst_tfx_resample_set_rate (bin, rate_hz);
  gst_bin_add_many (GST_BIN (bin), element, filter, NULL);
  gst_element_link (element, filter);
  pad = gst_element_get_static_pad (element, "sink");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      take_input, resample, NULL);
  gst_element_add_pad (bin, gst_ghost_pad_new ("sink", pad));
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, trim, resample, NULL);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (filter, "src");
  gst_element_add_pad (bin, gst_ghost_pad_new ("src", pad));
  gst_object_unref (pad);
  return bin;
}
