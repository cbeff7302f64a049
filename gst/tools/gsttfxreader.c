/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxreader.c: the sound of a file, of an address or of standard input as one stream.
 *
 *   filesrc ! [parser !] decodebin ! audioconvert ! audioresample ! capsfilter
 *
 * The capsfilter has the rate and channels of the first stream, to which the converters
 * convert the others.  At the end of a link of a chained Ogg a new source and decoder read
 * the next one.
 * A decoder whose streams change by themselves is linked anew.
 */
#include "gsttfxreader.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gsttfxcodec.h"
#include "gsttfxcut.h"
#include "gsttfxogg.h"
#include "gsttfxrange.h"
#include "gsttfxsource.h"
#include "gsttfxvideo.h"
#include "gsttfxwavpack.h"

#define NO_SOUND "it has no audio that GStreamer can decode"

/* decodebin (GStreamer 1.22) may take the end of one link for that of all. */
#define LOST_LINK                                                              \
  "a link of this chained Ogg was lost (links of a file are not: do not pipe " \
  "it)"

/* Empty buffers in a row after which there is no end. */
#define MAX_EMPTY 1000

/* Containers round timestamps, some to milliseconds. */
#define MAX_JITTER (40 * GST_MSECOND)
#define MAX_ROUNDING GST_MSECOND
/* A lossy decoder may begin later than an MP4 says, or end earlier, by a frame of its codec;
 * Opus in Matroska by its delay. */
#define MAX_CODEC_FRAMES 2048
#define MAX_DELAY (8 * GST_MSECOND)

struct GstTfxReader
{
  gchar *path, *uri;
  GstTfxReaderFound found;
  gpointer data;
  GstElement *bin, *decoder, *convert, *resample, *filter;
  GstElement *source, *parser; /* or NULL */
  GstPad *sink;                /* of the first converter */
  gpointer used; /* decoder of the track that is read; only compared: atomic */
  GArray *links;
  guint link;

  gint has_sound, n_tracks; /* atomic */
  gint n_joins;             /* of links in standard input: atomic */
  guint64 window;           /* its last bytes */
  gboolean has_data;        /* its link has more than first pages */
  gint n_groups;            /* of streams that the decoder has had: atomic */
  gboolean keeps_video;

  /* Of the streaming thread. */
  GstAudioInfo first, info;
  gboolean has_begun; /* samples came */
  GstSegment segment;
  gboolean has_segment; /* that is new, so that timestamps may jump */
  gboolean is_joined;   /* a later part is running */
  gboolean is_stamped;  /* timestamps are the reader's own */
  gboolean is_exact;    /* the decoder is lossless */
  gboolean is_matroska;
  GstElement *container; /* that knows the duration of its tracks; or NULL */
  GstClockTime base;     /* the next sample's time is n_frames after it */
  guint64 n_frames, n_all, most_frames;
  GstClockTime came, before; /* in all, and before this link */
  GstClockTime start;        /* of the first sample of this link */
  guint n_empty, n_pending;
  gboolean is_decoding;
  gchar *damage;
};

gboolean
gst_tfx_reader_has_links (const GstTfxReader *reader)
{
  return reader->links && reader->links->len > 0;
}

/* ---- what is lost ------------------------------------------------------------------- */

static void G_GNUC_PRINTF (2, 3)
    note_damage (GstTfxReader *reader, const gchar *format, ...)
{
  va_list arguments;

  if (reader->damage)
    return;
  va_start (arguments, format);
  reader->damage = g_strdup_vprintf (format, arguments);
  va_end (arguments);
}

/* 0 before caps. */
static GstClockTime
count_time (const GstTfxReader *reader, guint64 n_frames)
{
  const gint rate_hz = GST_AUDIO_INFO_RATE (&reader->info);

  return rate_hz > 0
             ? gst_util_uint64_scale (n_frames, GST_SECOND, (guint64)rate_hz)
             : 0;
}

/* The end of the samples read so far, in seconds, for messages. */
static gdouble
find_place (const GstTfxReader *reader)
{
  return (gdouble)(reader->came + count_time (reader, reader->n_all)) /
         GST_SECOND;
}

static GstClockTime
find_next (const GstTfxReader *reader)
{
  return reader->base + count_time (reader, reader->n_frames);
}

/* A decoder marks what follows a frame that it has lost.  Encoders need timestamps without
 * a hole. */
static void
look_for_hole (GstTfxReader *reader, GstBuffer *buffer)
{
  const GstClockTime now = GST_BUFFER_PTS (buffer);
  const gboolean is_late =
      GST_CLOCK_TIME_IS_VALID (now) && now > find_next (reader) + MAX_JITTER;
  const gboolean is_hole =
      reader->has_begun && !reader->has_segment &&
      (is_late || GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));

  if (is_hole || GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED))
    note_damage (reader, "it is damaged: sound is missing at %.3f s",
        find_place (reader));
  if (is_hole && reader->path)
    reader->is_stamped = TRUE;
}

/* The duration of a container is that of its longest track.  Others do not say it, or
 * gsttfxcut.c knows better. */
static void
look_at_end (GstTfxReader *reader)
{
  const GstClockTime most_missing =
      reader->is_exact ? 0
      : reader->is_matroska
          ? MAX_DELAY
          : count_time (reader, MIN (reader->most_frames, MAX_CODEC_FRAMES));
  GstClockTime came;
  gint64 told;

  if (reader->is_decoding && reader->n_pending > 0)
    note_damage (reader, "it is damaged: its last sound is missing");
  if (!reader->has_begun || !reader->container ||
      reader->container->numsrcpads != 1 ||
      !gst_pad_peer_query_duration (reader->sink, GST_FORMAT_TIME, &told))
    return;
  came = reader->came - reader->before + count_time (reader, reader->n_all);
  if (reader->start + came + most_missing + MAX_ROUNDING < (GstClockTime)told)
    note_damage (reader,
        "it is cut off or damaged: it has %.3f s of the %.3f s given in its "
        "header",
        (gdouble)came / GST_SECOND, (gdouble)told / GST_SECOND);
}

/* The frames of each block of WavPack have a checksum, which its decoder ignores. */
static void
take_wavpack_error (gpointer data)
{
  GstTfxReader *reader = data;

  note_damage (reader, "it is damaged: a checksum is wrong at %.3f s",
      find_place (reader));
}

/* flacdec drops a frame that it cannot decode, and does not mark the next one.  (Headers
 * come before its first samples.) */
static GstPadProbeReturn
count_pending (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxReader *reader = data;

  /* Other tracks have decoders too. */
  if ((gpointer)GST_PAD_PARENT (pad) != g_atomic_pointer_get (&reader->used))
    return GST_PAD_PROBE_OK;
  if (GST_PAD_IS_SRC (pad)) {
    reader->n_pending = 0;
    reader->is_decoding = TRUE;
  } else if (reader->is_decoding && reader->n_pending++ > 0)
    note_damage (reader, "it is damaged: sound is missing at %.3f s",
        find_place (reader));
  return GST_PAD_PROBE_OK;
}

static void
watch_pending (GstTfxReader *reader, GstElement *decoder)
{
  static const gchar *const names[] = { "sink", "src" };
  GstPad *pad;

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    pad = gst_element_get_static_pad (decoder, names[i]);
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_pending, reader,
        NULL);
    gst_object_unref (pad);
  }
}

static void
take_element (GstBin *bin, GstBin *parent, GstElement *element, gpointer data)
{
  GstTfxReader *reader = data;
  GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *name = factory ? GST_OBJECT_NAME (factory) : "";

  reader->is_matroska |= strcmp (name, "matroskademux") == 0;
  if (strcmp (name, "matroskademux") == 0 || strcmp (name, "qtdemux") == 0 ||
      (strcmp (name, "flacparse") == 0 && gst_tfx_reader_has_links (reader)))
    reader->container = element;
  if (strcmp (name, "qtdemux") == 0 && !reader->path && !reader->uri)
    GST_ELEMENT_WARNING (reader->bin, STREAM, DEMUX,
        ("an MP4 in a pipe may lose its last frames (a file does not)"),
        (NULL));
  if (strcmp (name, "flacdec") == 0 || strcmp (name, "avdec_alac") == 0)
    reader->is_exact = TRUE;
  if (strcmp (name, "flacdec") == 0)
    watch_pending (reader, element);
  if (strcmp (name, "wavpackdec") == 0)
    gst_tfx_wavpack_watch (element, take_wavpack_error, reader);
}

/* ---- one stream --------------------------------------------------------------------- */

static void next_link (GstElement *bin, gpointer data);

/* wavparse (GStreamer 1.22) pushes nothing for ever where a chunk behind the sound is cut
 * off. */
static GstPadProbeReturn
end_empty (GstTfxReader *reader, GstPadProbeInfo *info)
{
  if (++reader->n_empty < MAX_EMPTY)
    return GST_PAD_PROBE_OK;
  gst_clear_buffer ((GstBuffer **)&info->data);
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_EOS;
  return GST_PAD_PROBE_HANDLED;
}

/* Sound may begin later than its container does.  (The duration of a Matroska is its last
 * timestamp.) */
static GstClockTime
find_start (const GstTfxReader *reader, GstBuffer *buffer)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer);
  const GstClockTime start =
      reader->is_matroska
          ? pts
          : gst_segment_to_stream_time (&reader->segment, GST_FORMAT_TIME, pts);

  return GST_CLOCK_TIME_IS_VALID (start) ? start : 0;
}

static GstPadProbeReturn
take_buffer (GstTfxReader *reader, GstPadProbeInfo *info)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const gsize size = gst_buffer_get_size (buffer);
  guint64 n_frames;

  if (size == 0)
    return end_empty (reader, info);
  reader->n_empty = 0;
  if (GST_AUDIO_INFO_BPF (&reader->info) == 0)
    return GST_PAD_PROBE_OK;
  n_frames = size / (gsize)GST_AUDIO_INFO_BPF (&reader->info);
  look_for_hole (reader, buffer);
  if (reader->came == reader->before && reader->n_all == 0)
    reader->start = find_start (reader, buffer);
  if (reader->is_stamped) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_PTS (buffer) = find_next (reader);
    GST_BUFFER_DURATION (buffer) = count_time (reader, n_frames);
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DISCONT);
    info->data = buffer;
  } else if (GST_BUFFER_PTS_IS_VALID (buffer)) {
    reader->base = GST_BUFFER_PTS (buffer);
    reader->n_frames = 0;
  }
  reader->n_frames += n_frames;
  reader->n_all += n_frames;
  reader->most_frames = MAX (reader->most_frames, n_frames);
  reader->has_begun = TRUE;
  reader->has_segment = FALSE;
  return GST_PAD_PROBE_OK;
}

/* Later timestamps count from here. */
static void
begin_part (GstTfxReader *reader)
{
  if (GST_AUDIO_INFO_RATE (&reader->info) == 0)
    return;
  reader->base = find_next (reader);
  reader->came += count_time (reader, reader->n_all);
  reader->n_frames = reader->n_all = 0;
}

static void
take_caps (GstTfxReader *reader, GstCaps *caps)
{
  GstAudioInfo info;
  GstCaps *fixed;

  if (!gst_audio_info_from_caps (&info, caps))
    return;
  begin_part (reader);
  reader->info = info;
  if (GST_AUDIO_INFO_RATE (&reader->first) == 0) {
    reader->first = info;
    fixed = gst_caps_copy (caps);
    gst_structure_remove_fields (gst_caps_get_structure (fixed, 0), "format",
        "layout", NULL);
    g_object_set (reader->filter, "caps", fixed, NULL);
    gst_caps_unref (fixed);
    if (reader->found)
      reader->found (&info, reader->data);
  } else if (GST_AUDIO_INFO_RATE (&info) !=
                 GST_AUDIO_INFO_RATE (&reader->first) ||
             GST_AUDIO_INFO_CHANNELS (&info) !=
                 GST_AUDIO_INFO_CHANNELS (&reader->first)) {
    GST_ELEMENT_WARNING (reader->bin, STREAM, FORMAT,
        ("at %.3f s it changes to %d Hz and %d channel%s, and is converted to "
         "%d Hz and %d",
            (gdouble)reader->came / GST_SECOND, GST_AUDIO_INFO_RATE (&info),
            GST_AUDIO_INFO_CHANNELS (&info),
            GST_AUDIO_INFO_CHANNELS (&info) == 1 ? "" : "s",
            GST_AUDIO_INFO_RATE (&reader->first),
            GST_AUDIO_INFO_CHANNELS (&reader->first)),
        (NULL));
  }
}

static GstPadProbeReturn
take_event (GstTfxReader *reader, GstPadProbeInfo *info)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstSegment segment;
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      take_caps (reader, caps);
      return GST_PAD_PROBE_OK;
    case GST_EVENT_SEGMENT:
      reader->has_segment = TRUE;
      gst_event_copy_segment (event, &reader->segment);
      if (reader->is_joined)
        return GST_PAD_PROBE_DROP;
      /* An open segment keeps later parts from being clipped at the end of the first. */
      if (gst_tfx_reader_has_links (reader)) {
        gst_event_copy_segment (event, &segment);
        segment.stop = segment.duration = GST_CLOCK_TIME_NONE;
        info->data = gst_event_new_segment (&segment);
        gst_event_unref (event);
      }
      return GST_PAD_PROBE_OK;
    case GST_EVENT_FLUSH_STOP:
      reader->is_stamped = reader->is_joined;
      return GST_PAD_PROBE_OK;
    case GST_EVENT_EOS:
      if (g_atomic_int_get (&reader->n_joins) >=
          MAX (g_atomic_int_get (&reader->n_groups), 1))
        GST_ELEMENT_ERROR (reader->bin, STREAM, DEMUX, (LOST_LINK), (NULL));
      look_at_end (reader);
      if (!gst_tfx_reader_has_links (reader) ||
          reader->link + 1 >= reader->links->len)
        return GST_PAD_PROBE_OK;
      gst_element_call_async (reader->bin, next_link, reader, NULL);
      return GST_PAD_PROBE_DROP;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_STREAM_COLLECTION:
    case GST_EVENT_STREAM_GROUP_DONE:
    case GST_EVENT_TAG:
    case GST_EVENT_TOC:
    case GST_EVENT_GAP:
      return reader->is_joined ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
    default:
      return GST_PAD_PROBE_OK;
  }
}

/* Upstream there is one link alone. */
static GstPadProbeReturn
take_upstream (const GstTfxReader *reader, GstPadProbeInfo *info)
{
  const gboolean is_query = info->type & GST_PAD_PROBE_TYPE_QUERY_UPSTREAM;
  const GstQueryType query =
      is_query ? GST_QUERY_TYPE (info->data) : GST_QUERY_UNKNOWN;

  if (!gst_tfx_reader_has_links (reader) && !reader->is_joined)
    return GST_PAD_PROBE_OK;
  return query == GST_QUERY_DURATION || query == GST_QUERY_SEEKING ||
                 query == GST_QUERY_POSITION ||
                 (!is_query && GST_EVENT_TYPE (info->data) == GST_EVENT_SEEK)
             ? GST_PAD_PROBE_DROP
             : GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
follow (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    return take_buffer (data, info);
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
    return take_event (data, info);
  return take_upstream (data, info);
}

/* Standard input: "OggS", a zero, and flags; flag 2 marks the first page of a stream. */
static GstPadProbeReturn
count_joins (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxReader *reader = data;
  GstMapInfo map;

  if (!gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ))
    return GST_PAD_PROBE_OK;
  for (gsize i = 0; i < map.size; i++) {
    if ((reader->window & G_GUINT64_CONSTANT (0xffffffffff)) ==
        G_GUINT64_CONSTANT (0x4f67675300)) {
      if (map.data[i] & 2 && reader->has_data)
        g_atomic_int_inc (&reader->n_joins);
      reader->has_data = !(map.data[i] & 2);
    }
    reader->window = reader->window << 8 | map.data[i];
  }
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  return GST_PAD_PROBE_OK;
}

/* ---- its elements ------------------------------------------------------------------- */

/* Through the ghost pads of bins. */
static void
note_used (GstTfxReader *reader, GstPad *pad)
{
  gst_object_ref (pad);
  while (pad && GST_IS_GHOST_PAD (pad)) {
    GstPad *target = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));

    gst_object_unref (pad);
    pad = target;
  }
  g_atomic_pointer_set (&reader->used, pad ? GST_PAD_PARENT (pad) : NULL);
  gst_clear_object (&pad);
}

/* A bin starts elements that it cannot order, such as a decoder without pads, in any order:
 * a decoder that is linked to an element in READY loses its first sound. */
static void
start_converters (GstTfxReader *reader)
{
  gst_element_sync_state_with_parent (reader->filter);
  gst_element_sync_state_with_parent (reader->resample);
  gst_element_sync_state_with_parent (reader->convert);
}

/* FALSE: the stream is copied. */
static gboolean
needs_decoder (GstElement *decoder, GstPad *pad, GstCaps *caps, gpointer data)
{
  const GstTfxReader *reader = data;

  return !reader->keeps_video || !gst_tfx_video_is_stream (caps);
}

static gboolean
is_sound (GstPad *pad)
{
  GstCaps *caps = gst_pad_query_caps (pad, NULL);
  const gboolean is_one =
      gst_caps_is_empty (caps) || gst_caps_is_any (caps) ||
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "audio/x-raw");

  gst_caps_unref (caps);
  return is_one;
}

/* The first track; or what takes its place. */
static void
take_pad (GstElement *decoder, GstPad *pad, gpointer data)
{
  GstTfxReader *reader = data;
  const gboolean is_new_group = g_atomic_int_get (&reader->n_groups) > 0;
  GstPad *before;

  if (reader->keeps_video && !is_sound (pad)) {
    if (is_new_group)
      GST_ELEMENT_ERROR (reader->bin, STREAM, DEMUX,
          ("its streams change at %.3f s, so its video cannot be kept",
              find_place (reader)),
          (NULL));
    else
      gst_tfx_video_add (reader->bin, pad, reader->container != NULL);
    return;
  }
  before = gst_pad_get_peer (reader->sink);
  if (!is_new_group)
    g_atomic_int_inc (&reader->n_tracks);
  if (before && is_new_group)
    gst_pad_unlink (before, reader->sink);
  if (!before || is_new_group) {
    if (is_new_group) {
      begin_part (reader);
      reader->is_joined = reader->is_stamped = TRUE;
    }
    start_converters (reader);
    gst_pad_link (pad, reader->sink);
    note_used (reader, pad);
    g_atomic_int_set (&reader->has_sound, TRUE);
  }
  g_clear_object (&before);
}

/* All that the decoder has is known: without sound nothing would ever end. */
static void
take_all_pads (GstElement *decoder, gpointer data)
{
  GstTfxReader *reader = data;

  g_atomic_int_inc (&reader->n_groups);
  if (!gst_tfx_reader_has_sound (reader))
    GST_ELEMENT_ERROR (decoder, STREAM, WRONG_TYPE, (NO_SOUND), (NULL));
}

/* NULL stays NULL. */
static GstElement *
add (GstTfxReader *reader, GstElement *element)
{
  if (element)
    gst_bin_add (GST_BIN (reader->bin), element);
  return element;
}

static void
drop (GstTfxReader *reader, GstElement **element)
{
  if (*element) {
    gst_element_set_state (*element, GST_STATE_NULL);
    gst_bin_remove (GST_BIN (reader->bin), *element);
    *element = NULL;
  }
}

static void
remove_link (GstTfxReader *reader)
{
  drop (reader, &reader->source);
  drop (reader, &reader->parser);
  drop (reader, &reader->decoder);
  reader->container = NULL;
  g_atomic_pointer_set (&reader->used, NULL);
  reader->n_pending = 0;
  reader->is_decoding = FALSE;
}

static void
watch_stdin (GstTfxReader *reader)
{
  GstPad *pad = gst_element_get_static_pad (reader->source, "src");

  g_object_set (reader->source, "fd", STDIN_FILENO, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_joins, reader, NULL);
  gst_object_unref (pad);
}

/* What reads the current link, or all.  FALSE with an error. */
static gboolean
add_link (GstTfxReader *reader, GError **error)
{
  const gboolean is_uri = !reader->path && reader->uri;
  const GstTfxLink *link;

  reader->decoder = add (reader,
      gst_element_factory_make (is_uri ? "uridecodebin" : "decodebin", NULL));
  if (gst_tfx_reader_has_links (reader)) {
    link = &g_array_index (reader->links, GstTfxLink, reader->link);
    reader->source =
        add (reader, gst_tfx_range_new (reader->path, link->start, link->end));
  } else if (reader->path) {
    reader->source = add (reader, gst_tfx_source_new (reader->path));
  } else if (!is_uri) {
    reader->source = add (reader, gst_element_factory_make ("fdsrc", NULL));
  }
  if (!reader->decoder || (!is_uri && !reader->source)) {
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "GStreamer has no elements to read it (Debian package "
        "gstreamer1.0-plugins-base)");
    return FALSE;
  }
  if (reader->path)
    reader->parser = add (reader, gst_tfx_source_new_parser (reader->path));
  else if (is_uri)
    g_object_set (reader->decoder, "uri", reader->uri, NULL);
  else
    watch_stdin (reader);
  if (reader->parser)
    gst_element_link_many (reader->source, reader->parser, reader->decoder,
        NULL);
  else if (reader->source)
    gst_element_link (reader->source, reader->decoder);
  g_object_set (reader->decoder, "expose-all-streams", FALSE, NULL);
  gst_util_set_object_arg (G_OBJECT (reader->decoder), "caps",
      "audio/x-raw(ANY)");
  if (!is_uri)
    g_signal_connect (reader->decoder, "autoplug-continue",
        G_CALLBACK (needs_decoder), reader);
  g_signal_connect (reader->decoder, "pad-added", G_CALLBACK (take_pad),
      reader);
  g_signal_connect (reader->decoder, "no-more-pads", G_CALLBACK (take_all_pads),
      reader);
  g_atomic_int_set (&reader->n_groups, 0);
  g_atomic_int_set (&reader->n_tracks, 0);
  g_atomic_int_set (&reader->has_sound, FALSE);
  return TRUE;
}

/* Not in a streaming thread, which would wait for itself.  The lock keeps the state of the
 * bin until its new elements have it. */
static void
next_link (GstElement *bin, gpointer data)
{
  GstTfxReader *reader = data;

  GST_STATE_LOCK (bin);
  remove_link (reader);
  begin_part (reader);
  reader->before = reader->came;
  reader->is_joined = reader->is_stamped = TRUE;
  reader->link++;
  if (add_link (reader, NULL)) {
    gst_element_sync_state_with_parent (reader->decoder);
    if (reader->parser)
      gst_element_sync_state_with_parent (reader->parser);
    gst_element_sync_state_with_parent (reader->source);
  }
  GST_STATE_UNLOCK (bin);
}

/* ---- what others see ---------------------------------------------------------------- */

static void
free_reader (gpointer data)
{
  GstTfxReader *reader = data;

  g_clear_object (&reader->sink);
  g_clear_pointer (&reader->links, g_array_unref);
  g_free (reader->damage);
  g_free (reader->path);
  g_free (reader->uri);
  g_free (reader);
}

static gboolean
is_stdin_file (void)
{
  struct stat status;

  return fstat (STDIN_FILENO, &status) == 0 && S_ISREG (status.st_mode) &&
         lseek (STDIN_FILENO, 0, SEEK_CUR) == 0;
}

GstTfxReader *
gst_tfx_reader_new (const gchar *path, const gchar *uri,
    GstTfxReaderFound found, gpointer data, GError **error)
{
  GstTfxReader *reader = g_new0 (GstTfxReader, 1);
  GstPad *pad;

  if (!path && !uri && is_stdin_file ())
    path = "/dev/stdin";
  reader->path = g_strdup (path);
  reader->uri = g_strdup (uri);
  reader->found = found;
  reader->data = data;
  reader->bin = gst_bin_new (NULL);
  g_object_set_data_full (G_OBJECT (reader->bin), "reader", reader,
      free_reader);
  /* The decoder of a later link is no change of the pipeline's state. */
  g_object_set (reader->bin, "async-handling", TRUE, NULL);
  g_signal_connect (reader->bin, "deep-element-added",
      G_CALLBACK (take_element), reader);
  reader->convert =
      add (reader, gst_element_factory_make ("audioconvert", NULL));
  reader->resample =
      add (reader, gst_element_factory_make ("audioresample", NULL));
  reader->filter = add (reader, gst_element_factory_make ("capsfilter", NULL));
  if (path)
    reader->links = gst_tfx_cut_find_links (path);
  if (!add_link (reader, error) || !reader->convert || !reader->resample) {
    gst_object_unref (gst_object_ref_sink (reader->bin));
    return NULL;
  }
  gst_element_link_many (reader->convert, reader->resample, reader->filter,
      NULL);
  pad = gst_element_get_static_pad (reader->filter, "src");
  gst_element_add_pad (reader->bin, gst_ghost_pad_new ("src", pad));
  gst_object_unref (pad);
  reader->sink = gst_element_get_static_pad (reader->convert, "sink");
  gst_tfx_codec_mend_input (reader->convert);
  gst_tfx_source_complete (reader->convert);
  gst_pad_add_probe (reader->sink,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_BOTH |
          GST_PAD_PROBE_TYPE_EVENT_FLUSH | GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
      follow, reader, NULL);
  return reader;
}

void
gst_tfx_reader_keep_video (GstTfxReader *reader)
{
  reader->keeps_video = TRUE;
}

GstElement *
gst_tfx_reader_get_bin (const GstTfxReader *reader)
{
  return reader->bin;
}

gboolean
gst_tfx_reader_has_sound (GstTfxReader *reader)
{
  return g_atomic_int_get (&reader->has_sound);
}

guint
gst_tfx_reader_count_tracks (GstTfxReader *reader)
{
  return (guint)g_atomic_int_get (&reader->n_tracks);
}

const gchar *
gst_tfx_reader_get_damage (const GstTfxReader *reader)
{
  return reader->damage;
}

const gchar *
gst_tfx_reader_get_path (const GstTfxReader *reader)
{
  return reader->path;
}

void
gst_tfx_reader_reset (GstTfxReader *reader)
{
  gst_tfx_video_clear (reader->bin);
  remove_link (reader);
  reader->link = 0;
  add_link (reader, NULL);
  gst_audio_info_init (&reader->first);
  gst_audio_info_init (&reader->info);
  reader->has_begun = reader->has_segment = FALSE;
  reader->is_joined = reader->is_stamped = FALSE;
  reader->base = reader->came = reader->before = 0;
  reader->n_frames = reader->n_all = reader->most_frames = 0;
  reader->n_empty = 0;
  g_clear_pointer (&reader->damage, g_free);
}
