/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxringout.c: the tail of a chain: its output after the end of its input.
 *
 * The chain gets silence before EOS.  Where the tail has no fixed length, quiet output is
 * held back until louder output follows, and dropped at the end.
 */
#include "gsttfxringout.h"

#include <math.h>

#include "gsttfxtool.h"

#define QUIET 1e-6 /* -120 dBFS */
#define QUIET_SECONDS 10
#define MAX_SECONDS 60
#define BLOCK_FRAMES 4096

static gboolean
is_quiet (const GstAudioInfo *info, gconstpointer data, gsize i)
{
  return GST_AUDIO_INFO_WIDTH (info) == 64
             ? !(fabs (((const gdouble *)data)[i]) > QUIET)
             : !(fabsf (((const gfloat *)data)[i]) > (gfloat)QUIET);
}

/* Counts the frames up to the last loud one. */
static gsize
count_loud (const GstAudioInfo *info, GstBuffer *buffer)
{
  GstMapInfo map;
  gsize n;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return 0;
  n = map.size / (gsize)(GST_AUDIO_INFO_WIDTH (info) / 8);
  while (n > 0 && is_quiet (info, map.data, n - 1))
    n--;
  gst_buffer_unmap (buffer, &map);
  return (n + (gsize)GST_AUDIO_INFO_CHANNELS (info) - 1) /
         (gsize)GST_AUDIO_INFO_CHANNELS (info);
}

/* Copies frames [from, to). */
static GstBuffer *
copy_part (const GstTfxRingout *ringout, GstBuffer *buffer, gsize from,
    gsize to)
{
  const gsize bpf = (gsize)GST_AUDIO_INFO_BPF (&ringout->out);
  GstBuffer *part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL,
      from * bpf, (to - from) * bpf);

  if (GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_PTS (part) =
        GST_BUFFER_PTS (buffer) +
        gst_util_uint64_scale (from, GST_SECOND, (guint64)ringout->rate_hz);
  GST_BUFFER_DURATION (part) =
      gst_util_uint64_scale (to - from, GST_SECOND, (guint64)ringout->rate_hz);
  return part;
}

static GstFlowReturn
release (GstTfxRingout *ringout, GstPad *pad)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *buffer;

  ringout->is_releasing = TRUE;
  while (flow == GST_FLOW_OK && (buffer = g_queue_pop_head (&ringout->held)))
    flow = gst_pad_push (pad, buffer);
  ringout->is_releasing = FALSE;
  ringout->n_out += ringout->n_held;
  ringout->n_held = 0;
  return flow;
}

/* Holds quiet frames back after the end of the input, until a loud one. */
static GstPadProbeReturn
take_tail (GstTfxRingout *ringout, GstPad *pad, GstPadProbeInfo *info)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const guint64 came = ringout->n_out + ringout->n_held;
  const gsize n =
      gst_buffer_get_size (buffer) / (gsize)GST_AUDIO_INFO_BPF (&ringout->out);
  const gsize n_input =
      ringout->n_in > came ? (gsize)MIN (ringout->n_in - came, n) : 0;
  const gsize n_kept = MAX (n_input, count_loud (&ringout->out, buffer));
  GstFlowReturn flow = GST_FLOW_OK;

  if (n_kept > 0) {
    flow = release (ringout, pad);
    ringout->n_out += n_kept;
  }
  if (n_kept < n)
    g_queue_push_tail (&ringout->held, copy_part (ringout, buffer, n_kept, n));
  ringout->n_held += n - n_kept;
  info->data = n_kept > 0 && flow == GST_FLOW_OK
                   ? copy_part (ringout, buffer, 0, n_kept)
                   : NULL;
  gst_buffer_unref (buffer);
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = flow;
  return info->data ? GST_PAD_PROBE_OK : GST_PAD_PROBE_HANDLED;
}

static GstPadProbeReturn
take_output (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxRingout *ringout = data;
  GstCaps *caps;

  if (ringout->is_releasing)
    return GST_PAD_PROBE_OK;
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS) {
      gst_event_parse_caps (info->data, &caps);
      gst_audio_info_from_caps (&ringout->out, caps);
    }
    return GST_PAD_PROBE_OK;
  }
  if (GST_AUDIO_INFO_BPF (&ringout->out) == 0)
    return GST_PAD_PROBE_OK;
  if (ringout->has_ended && ringout->tail == GST_TFX_RINGOUT_AUTO)
    return take_tail (ringout, pad, info);
  ringout->n_out += gst_buffer_get_size (info->data) /
                    (gsize)GST_AUDIO_INFO_BPF (&ringout->out);
  return GST_PAD_PROBE_OK;
}

static void
feed (GstTfxRingout *ringout, GstPad *pad)
{
  const guint64 rate_hz = (guint64)ringout->rate_hz;
  const gboolean is_auto = ringout->tail == GST_TFX_RINGOUT_AUTO;
  GstFlowReturn flow = GST_FLOW_OK;
  guint64 left = is_auto ? MAX_SECONDS * rate_hz
                         : gst_util_uint64_scale_round (ringout->tail, rate_hz,
                               GST_SECOND);

  while (left > 0 && flow == GST_FLOW_OK && !gst_tfx_tool_is_interrupted () &&
         !(is_auto && ringout->n_held >= QUIET_SECONDS * rate_hz)) {
    const guint64 n = MIN (left, BLOCK_FRAMES);
    const gsize size = (gsize)n * (gsize)GST_AUDIO_INFO_BPF (&ringout->in);
    GstBuffer *silence = gst_buffer_new_allocate (NULL, size, NULL);

    gst_buffer_memset (silence, 0, 0, size);
    GST_BUFFER_PTS (silence) = ringout->next;
    GST_BUFFER_DURATION (silence) =
        gst_util_uint64_scale (n, GST_SECOND, rate_hz);
    if (GST_CLOCK_TIME_IS_VALID (ringout->next))
      ringout->next += GST_BUFFER_DURATION (silence);
    flow = gst_pad_chain (pad, silence);
    left -= n;
  }
}

static GstPadProbeReturn
take_input (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxRingout *ringout = data;
  GstBuffer *buffer;
  GstCaps *caps;
  gsize n;

  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_STREAM_START) {
      ringout->n_in = ringout->n_out = 0;
    } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS) {
      gst_event_parse_caps (info->data, &caps);
      gst_audio_info_from_caps (&ringout->in, caps);
      ringout->rate_hz = GST_AUDIO_INFO_RATE (&ringout->in);
    } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_EOS &&
               ringout->rate_hz > 0 && !ringout->has_ended) {
      ringout->has_ended = TRUE;
      feed (ringout, pad);
    }
  } else if (ringout->rate_hz > 0 && !ringout->has_ended) {
    buffer = GST_PAD_PROBE_INFO_BUFFER (info);
    n = gst_buffer_get_size (buffer) / (gsize)GST_AUDIO_INFO_BPF (&ringout->in);
    ringout->n_in += n;
    ringout->next = GST_BUFFER_PTS (buffer);
    if (GST_CLOCK_TIME_IS_VALID (ringout->next))
      ringout->next +=
          gst_util_uint64_scale (n, GST_SECOND, (guint64)ringout->rate_hz);
  }
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_ringout_follow (GstTfxRingout *ringout, GstElement *chain)
{
  GstPad *sink = gst_element_get_static_pad (chain, "sink");
  GstPad *src = gst_element_get_static_pad (chain, "src");

  gst_audio_info_init (&ringout->in);
  gst_audio_info_init (&ringout->out);
  g_queue_init (&ringout->held);
  ringout->next = GST_CLOCK_TIME_NONE;
  gst_pad_add_probe (sink,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      take_input, ringout, NULL);
  gst_pad_add_probe (src,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      take_output, ringout, NULL);
  gst_object_unref (sink);
  gst_object_unref (src);
}

void
gst_tfx_ringout_clear (GstTfxRingout *ringout)
{
  g_queue_clear_full (&ringout->held, (GDestroyNotify)gst_buffer_unref);
}
