/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoutput.c: chooses the encoder's input format from the chain's output.
 *
 * The encoder is made when the first samples come: the codec of the input and all tags
 * are known then.
 *
 * How many channels a chain has is known once its caps come.  audioconvert would mix those
 * whose layout the encoder does not name, down to two if it likes; so they get another
 * name on their way into it, and keep their number.
 */
#include "gsttfxoutput.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <gst/audio/audio.h>

#include "gsttfxmend.h"
#include "gsttfxresample.h"
#include "gsttfxtags.h"
#include "gsttfxtool.h"
#include "gsttfxvideo.h"

/* ---- on the way in -------------------------------------------------------------------- */

static void
set_format (GstTfxOutput *output, GstCaps *caps)
{
  GstCaps *before = NULL;

  g_object_get (output->format, "caps", &before, NULL);
  if (!before || !gst_caps_is_equal (before, caps))
    g_object_set (output->format, "caps", caps, NULL);
  gst_clear_caps (&before);
}

/* (Two channels need not say where they are.) */
static guint64
get_mask (const GstAudioInfo *info)
{
  const gint n = GST_AUDIO_INFO_CHANNELS (info);
  guint64 mask = 0;

  if (n > 1 && !GST_AUDIO_INFO_IS_UNPOSITIONED (info) &&
      !gst_audio_channel_positions_to_mask (info->position, n, FALSE, &mask))
    mask = 0;
  return mask;
}

static const GstAudioFormatInfo *
find_format (const gchar *name)
{
  return gst_audio_format_get_info (gst_audio_format_from_string (name));
}

/* Samples that nothing has changed need no dither, unless they lose bits. */
static void
take_format (GstTfxOutput *output, const GstCaps *caps)
{
  const GstTfxJob *job = output->job;
  const gchar *name =
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "format");
  const GstAudioFormatInfo *format = name ? find_format (name) : NULL;

  output->is_integer = format && GST_AUDIO_FORMAT_INFO_IS_INTEGER (format);
  if (output->is_integer && !output->is_changed && !job->dither &&
      job->format && output->rate_hz == job->rate_hz &&
      output->encoded_hz == output->rate_hz &&
      GST_AUDIO_FORMAT_INFO_DEPTH (format) >=
          GST_AUDIO_FORMAT_INFO_DEPTH (find_format (job->format)))
    gst_util_set_object_arg (G_OBJECT (output->convert), "dithering", "none");
}

/* The caps by which the encoder gets what comes; NULL with a message if it does not take
 * them. */
static GstEvent *
name_caps (GstTfxOutput *output, GstEvent *event)
{
  const GstTfxJob *job = output->job;
  GError *error = NULL;
  GstEvent *named = NULL;
  GstCaps *caps, *chosen;
  GstAudioInfo info;

  gst_event_parse_caps (event, &caps);
  if (!gst_audio_info_from_caps (&info, caps))
    return gst_event_ref (event);
  output->rate_hz = GST_AUDIO_INFO_RATE (&info);
  output->n_channels = GST_AUDIO_INFO_CHANNELS (&info);
  output->label = output->mask = get_mask (&info);
  /* (16 bits are kept of a source.) */
  chosen = gst_tfx_codec_choose (output->codec, output->encoder,
      job->bits     ? gst_tfx_codec_get_format (job->bits)
      : job->format ? job->format
                    : GST_AUDIO_NE (S16),
      output->rate_hz, output->n_channels, &output->label, &error);
  if (chosen) {
    gst_structure_get_int (gst_caps_get_structure (chosen, 0), "rate",
        &output->encoded_hz);
    gst_tfx_resample_set_rate (output->resample, output->encoded_hz);
    set_format (output, chosen);
    take_format (output, chosen);
    output->is_double = GST_AUDIO_INFO_WIDTH (&info) == 64;
    gst_caps_unref (chosen);
    caps = gst_caps_copy (caps);
    /* (wavpackenc of GStreamer 1.22 writes noise of one channel that has a place.) */
    if (output->n_channels == 1)
      gst_structure_remove_field (gst_caps_get_structure (caps, 0),
          "channel-mask");
    /* audioresample delays the samples if its caps differ in the mask, though the rates
     * are equal. */
    else if (output->label != output->mask ||
             !gst_structure_has_field (gst_caps_get_structure (caps, 0),
                 "channel-mask"))
      gst_caps_set_simple (caps, "channel-mask", GST_TYPE_BITMASK,
          output->label, NULL);
    named = gst_event_new_caps (caps);
    gst_caps_unref (caps);
  } else {
    GST_ELEMENT_ERROR (output->convert, STREAM, FORMAT, ("%s", error->message),
        (NULL));
    g_clear_error (&error);
  }
  return named;
}

/* Sets what differs from the encoder's defaults. */
static void
set_up (GstTfxOutput *output)
{
  GstElement *mux = gst_bin_get_by_name (GST_BIN (output->encoder), "mux");
  GstIterator *setters =
      gst_bin_iterate_all_by_interface (GST_BIN (output->encoder),
          GST_TYPE_TAG_SETTER);
  GValue item = G_VALUE_INIT;

  /* An edit list has frames, then. */
  if (mux && output->codec->container == GST_TFX_CONTAINER_MP4)
    g_object_set (mux, "movie-timescale", output->rate_hz, NULL);
  gst_clear_object (&mux);
  while (gst_iterator_next (setters, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);
    const gchar *name = GST_OBJECT_NAME (gst_element_get_factory (element));

    /* Muxers get none: the program writes what these leave out. */
    if (strcmp (name, "flacenc") == 0 || strcmp (name, "vorbisenc") == 0 ||
        strcmp (name, "opusenc") == 0)
      gst_tfx_tags_set (output->tags, GST_TAG_SETTER (element),
          output->codec->container == GST_TFX_CONTAINER_OGG);
    if (output->codec->container == GST_TFX_CONTAINER_FLAC)
      g_object_set (element, "padding", gst_tfx_mend_count_padding (output),
          NULL);
    if (strcmp (name, "opusenc") == 0)
      g_object_set (element, "bitrate",
          gst_tfx_codec_get_opus_bitrate (output->n_channels), NULL);
    g_value_reset (&item);
  }
  gst_iterator_free (setters);
}

/* Makes the encoder, and gives it all that came before the samples.  FALSE with a message. */
static gboolean
begin (GstTfxOutput *output)
{
  const GstTfxJob *job = output->job;
  GstObject *pipeline = gst_object_get_parent (GST_OBJECT (output->convert));
  GError *error = NULL;
  GstEvent *named;
  GstSegment segment;
  GstPad *pad;

  output->codec = gst_tfx_codec_find (job->extension, job->codec,
      job->keeps_codec ? gst_tfx_codec_get_input (output->input) : NULL,
      job->must_keep_codec, job->keep_video, &error);
  if (output->codec &&
      gst_tfx_codec_check (output->codec, job->bits, job->output_hz, &error))
    output->encoder = gst_tfx_codec_make (output->codec, &error);
  if (output->encoder)
    gst_bin_add (GST_BIN (pipeline), output->encoder);
  if (!output->encoder) {
    GST_ELEMENT_ERROR (output->convert, STREAM, ENCODE, ("%s", error->message),
        (NULL));
    g_error_free (error);
    gst_object_unref (pipeline);
    return FALSE;
  }
  gst_object_unref (pipeline);
  named = name_caps (output, output->caps);
  if (!named)
    return FALSE;
  gst_tfx_tags_clean (output->tags,
      job->source || job->from_stdin ? NULL : job->input,
      output->is_changed || job->has_replaygain);
  gst_tfx_tags_add_gains (output->tags, &job->gain_tags,
      output->codec->container == GST_TFX_CONTAINER_OGG &&
          strcmp (output->codec->name, "opus") == 0);
  set_up (output);
  gst_tfx_codec_mend_samples (output->codec, output->encoder,
      output->n_channels);
  pad = gst_element_get_static_pad (output->encoder, "src");
  gst_tfx_mend_begin (output, pad);
  gst_object_unref (pad);
  gst_element_link_many (output->format, output->encoder, output->sink, NULL);
  gst_element_sync_state_with_parent (output->encoder);
  if (output->reader && !gst_tfx_video_link (output->reader, output->codec,
                            output->encoder, &output->n_copied, &error)) {
    GST_ELEMENT_ERROR (output->convert, STREAM, MUX, ("%s", error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  output->has_begun = TRUE;
  pad = gst_element_get_static_pad (output->resample, "sink");
  gst_pad_send_event (pad, named);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  if (output->toc && !gst_tfx_mend_copies_cues (output))
    gst_pad_send_event (pad, gst_event_ref (output->toc));
  gst_object_unref (pad);
  return TRUE;
}

/* Any number of channels in any places is taken for now. */
static gboolean
answer (GstQuery *query)
{
  GstCaps *caps, *filter;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_set_accept_caps_result (query, TRUE);
    return TRUE;
  }
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return FALSE;
  gst_query_parse_caps (query, &filter);
  caps = gst_caps_from_string ("audio/x-raw, layout=interleaved");
  if (filter) {
    GstCaps *both =
        gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (caps);
    caps = both;
  }
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  return TRUE;
}

/* Almost always all fit: their bits, without the sign, are in the order of their values,
 * and quicker to compare. */
static gboolean
all_fit (const gfloat *x, gsize n, gfloat *peak)
{
  const gfloat full = 1.0f;
  guint32 bits, most = 0, bits_full;

  for (gsize i = 0; i < n; i++) {
    memcpy (&bits, &x[i], sizeof bits);
    bits &= 0x7fffffff;
    most = MAX (most, bits);
  }
  memcpy (&bits_full, &full, sizeof bits_full);
  memcpy (peak, &most, sizeof *peak);
  return most <= bits_full;
}

/* Counts the samples that clip on conversion to integers.  (A NaN is none.) */
static void
look_at_floats (GstTfxOutput *output, const gfloat *x, gsize n)
{
  gfloat peak = 0.0f;

  if (!all_fit (x, n, &peak)) {
    peak = 0.0f;
    for (gsize i = 0; i < n; i++) {
      if (fabsf (x[i]) > peak)
        peak = fabsf (x[i]);
      output->n_clipped += fabsf (x[i]) > 1.0f;
    }
  }
  output->peak = MAX (output->peak, (gdouble)peak);
}

static void
look_at_doubles (GstTfxOutput *output, const gdouble *x, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (fabs (x[i]) > output->peak)
      output->peak = fabs (x[i]);
    output->n_clipped += fabs (x[i]) > 1.0;
  }
}

/* The samples follow each other: encoders drop what comes behind a time that a demuxer has
 * rounded, or flags as a new beginning. */
static GstBuffer *
take_samples (GstTfxOutput *output, GstBuffer *buffer)
{
  const guint64 before = output->n_frames;
  GstMapInfo map;
  gsize n;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return buffer;
  n = map.size / (output->is_double ? sizeof (gdouble) : sizeof (gfloat));
  output->n_frames += n / (gsize)MAX (output->n_channels, 1);
  if (output->is_integer && output->is_double)
    look_at_doubles (output, (const gdouble *)(gpointer)map.data, n);
  else if (output->is_integer)
    look_at_floats (output, (const gfloat *)(gpointer)map.data, n);
  gst_buffer_unmap (buffer, &map);
  buffer = gst_tfx_resample_stamp (buffer, before, output->n_frames,
      output->rate_hz);
  GST_BUFFER_PTS (buffer) += output->start;
  return buffer;
}

static GstPadProbeReturn
count_bytes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxOutput *output = data;

  output->n_bytes += gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info));
  if (output->n_bytes <= GST_TFX_OUTPUT_MOST_WAV || output->job->to_stdout)
    return GST_PAD_PROBE_OK;
  g_atomic_int_set (&output->is_full, TRUE);
  return GST_PAD_PROBE_DROP;
}

/* Holds events until the first samples, so that all tags are known when the encoder
 * starts. */
static GstPadProbeReturn
take_event (GstTfxOutput *output, GstPadProbeInfo *info)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info), *named;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_TAG:
      if (!output->has_begun)
        gst_tfx_tags_merge (output->tags, event);
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_CAPS:
      if (output->has_begun) {
        named = name_caps (output, event);
        if (!named)
          return GST_PAD_PROBE_DROP;
        gst_event_unref (event);
        info->data = named;
        return GST_PAD_PROBE_OK;
      }
      gst_event_replace (&output->caps, event);
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &output->segment);
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_GAP:
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_TOC:
      if (output->has_begun)
        return gst_tfx_mend_copies_cues (output) ? GST_PAD_PROBE_DROP
                                                 : GST_PAD_PROBE_OK;
      gst_event_replace (&output->toc, event);
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_EOS:
      if (!output->has_begun && output->caps)
        begin (output);
      return GST_PAD_PROBE_OK;
    default:
      return GST_PAD_PROBE_OK;
  }
}

/* The sound stays beside the picture. */
static GstClockTime
find_start (const GstTfxOutput *output, GstBuffer *buffer)
{
  const GstClockTime start = gst_segment_to_running_time (&output->segment,
      GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));

  return GST_CLOCK_TIME_IS_VALID (start) ? start : 0;
}

static GstPadProbeReturn
follow (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxOutput *output = data;

  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM)
    return answer (GST_PAD_PROBE_INFO_QUERY (info)) ? GST_PAD_PROBE_HANDLED
                                                    : GST_PAD_PROBE_OK;
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
    return take_event (output, info);
  if (!output->has_begun && (!output->caps || !begin (output))) {
    gst_clear_buffer ((GstBuffer **)&info->data);
    GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_NOT_NEGOTIATED;
    return GST_PAD_PROBE_HANDLED;
  }
  if (output->n_copied > 0 && output->n_frames == 0)
    output->start = find_start (output, GST_PAD_PROBE_INFO_BUFFER (info));
  info->data = take_samples (output, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

/* flacenc asks for frames first, then for the time; aiffparse (GStreamer 1.22) takes the one
 * question for the other, with a message of a fault.  The duration of the input is not that of an
 * output with a tail. */
static GstPadProbeReturn
drop_query (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const GstTfxOutput *output = data;
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstFormat format = GST_FORMAT_TIME;

  if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION)
    gst_query_parse_duration (query, &format, NULL);
  if (GST_QUERY_TYPE (query) == GST_QUERY_DURATION && output->job->tail != 0)
    return GST_PAD_PROBE_DROP;
  return format == GST_FORMAT_TIME ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

void
gst_tfx_output_follow (GstTfxOutput *output)
{
  GstPad *pad = gst_element_get_static_pad (output->format, "src"), *sink;

  output->tags = gst_tag_list_new_empty ();
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, drop_query, output,
      NULL);
  if (strcmp (output->job->extension, "wav") == 0)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_bytes, output,
        NULL);
  gst_object_unref (pad);
  /* On the peer, so that events sent to the pad itself do not reach the probe. */
  sink = gst_element_get_static_pad (output->resample, "sink");
  pad = gst_pad_get_peer (sink);
  gst_object_unref (sink);
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
          GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      follow, output, NULL);
  gst_object_unref (pad);
}

void
gst_tfx_output_clear (GstTfxOutput *output)
{
  if (output->tags)
    gst_tag_list_unref (output->tags);
  gst_clear_event (&output->caps);
  gst_clear_event (&output->toc);
}

/* ---- standard output ------------------------------------------------------------------- */

/* Sets the sizes in a header of a WAV to those of an unknown length. */
static GstBuffer *
open_sizes (GstBuffer *buffer)
{
  GstMapInfo map;
  gsize data = 12;

  buffer = gst_buffer_make_writable (buffer);
  if (gst_buffer_map (buffer, &map, GST_MAP_READWRITE)) {
    while (data + 8 <= map.size && memcmp (map.data + data, "data", 4) != 0)
      data++;
    if (data + 8 <= map.size) {
      memset (map.data + 4, 0xff, 4);
      memset (map.data + data + 4, 0xff, 4);
    }
    gst_buffer_unmap (buffer, &map);
  }
  return buffer;
}

/* Whether a buffer of a WAV is the header or sound: texts after that would be taken for
 * sound, as the header has no length. */
static gboolean
take_wav (GstTfxOutput *output, GstPadProbeInfo *info)
{
  const gsize size = gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info));

  if (!output->has_header) {
    output->has_header = TRUE;
    info->data = open_sizes (info->data);
    return TRUE;
  }
  output->n_sent += size;
  return output->n_sent <= output->n_bytes;
}

/* Encoders seek back to the header once they know the length: a pipe cannot, so what
 * comes after the second segment is dropped. */
static GstPadProbeReturn
write_once (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxOutput *output = data;

  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM) {
    if (GST_QUERY_TYPE (info->data) != GST_QUERY_SEEKING)
      return GST_PAD_PROBE_OK;
    gst_query_set_seeking (info->data, GST_FORMAT_BYTES, FALSE, 0, -1);
    return GST_PAD_PROBE_HANDLED;
  }
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (info->data) != GST_EVENT_SEGMENT)
      return GST_PAD_PROBE_OK;
    output->n_segments++;
  } else if (output->n_segments == 1 &&
             strcmp (output->job->extension, "wav") == 0 &&
             !take_wav (output, info)) {
    return GST_PAD_PROBE_DROP;
  }
  return output->n_segments > 1 ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

void
gst_tfx_output_set_stdout (GstTfxOutput *output, GstElement *sink)
{
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  const gint flags = fcntl (STDOUT_FILENO, F_GETFL);
  const gboolean is_file = lseek (STDOUT_FILENO, 0, SEEK_CUR) == 0 &&
                           flags >= 0 && !(flags & O_APPEND);

  g_object_set (sink, "fd", STDOUT_FILENO, NULL);
  if (!is_file)
    gst_pad_add_probe (pad,
        GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
            GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER,
        write_once, output, NULL);
  gst_object_unref (pad);
}

/* ---- what is told ----------------------------------------------------------------------- */

/* Reads the encoder's input format; FALSE if it got no caps. */
static gboolean
read_info (GstElement *encoder, GstAudioInfo *info)
{
  GstCaps *caps = gst_tfx_tool_get_caps (encoder, "sink");
  const gboolean is_read = caps && gst_audio_info_from_caps (info, caps);

  gst_clear_caps (&caps);
  return is_read;
}

void
gst_tfx_output_tell (GstTfxOutput *output)
{
  const GstTfxJob *job = output->job;
  GstAudioInfo info;
  gint n_left;

  if (!output->encoder || !read_info (output->encoder, &info))
    return;
  n_left = GST_AUDIO_INFO_CHANNELS (&info);
  output->n_encoded = gst_util_uint64_scale_round (output->n_frames,
      (guint64)output->encoded_hz, (guint64)MAX (output->rate_hz, 1));
  if (n_left < output->n_channels)
    g_printerr ("warning: %s: %d channels are mixed down to %d, all that a "
                ".%s takes\n",
        job->input, output->n_channels, n_left, job->extension);
  else if (!gst_tfx_codec_has_layout (output->codec, output->mask,
               output->label))
    g_printerr ("warning: %s: a .%s has no name for this layout of %d "
                "channels: they keep their order under another one\n",
        job->input, job->extension, n_left);
  if (GST_AUDIO_INFO_RATE (&info) < output->rate_hz)
    g_printerr ("warning: %s: resampled from %d to %d Hz: a .%s does not "
                "support the rate\n",
        job->input, output->rate_hz, GST_AUDIO_INFO_RATE (&info),
        job->extension);
}
