/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxlength.c: trims a decoder's output to the frames of the recording.
 *
 * Demuxers of GStreamer 1.22 count nanoseconds: a stream has a frame more or less than its
 * file says.  qtdemux takes the last packet for one behind the end, and of the silence at the
 * ends of an .mp3 mpegaudioparse knows what LAME writes, not FFmpeg.
 */
#include "gsttfxlength.h"

#include <string.h>

#include <gst/audio/audio.h>

#include "gsttfxbytes.h"
#include "gsttfxogg.h"

/* In frames at a rate. */
typedef struct Length
{
  guint rate_hz;
  guint64 n_skipped; /* at the start */
  guint64 n_frames;  /* behind these */
  /* Of an MP4: offsets of the letters "edts", and of the duration of the movie, which
   * becomes this; or 0. */
  goffset edits, movie;
  guint32 movie_duration;
  guint64 n_came;
} Length;

/* ---- Ogg ------------------------------------------------------------------------------ */

/* FALSE: it has several streams, or no end. */
static gboolean
read_ogg (FILE *file, goffset size, Length *length)
{
  goffset at;
  gsize n;
  guint8 first[64], *page = gst_tfx_ogg_read_last (file, size, &at, &n);
  const gboolean is_read =
      page && gst_tfx_bytes_read_at (file, 0, first, sizeof first) &&
      memcmp (first + 14, page + 14, 4) == 0;

  if (is_read) {
    length->n_frames = gst_tfx_bytes_get_le (page + 6, 8);
    if (memcmp (first + 28, "\1vorbis", 7) == 0) {
      length->rate_hz = (guint)gst_tfx_bytes_get_le (first + 40, 4);
    } else if (memcmp (first + 28, "\177FLAC", 5) == 0) {
      length->rate_hz = (guint)(gst_tfx_bytes_get_be (first + 55, 3) >> 4);
    } else if (memcmp (first + 28, "OpusHead", 8) == 0) {
      length->rate_hz = 48000;
      length->n_frames -=
          MIN (length->n_frames, gst_tfx_bytes_get_le (first + 38, 2));
    }
  }
  g_free (page);
  return is_read && length->n_frames < G_MAXINT64;
}

/* ---- MP3 ------------------------------------------------------------------------------ */

/* The decoder's own delay in frames, besides the encoder's. */
#define DECODER_DELAY 529

static gboolean
read_mp3 (FILE *file, Length *length)
{
  static const guint rates[] = { 44100, 48000, 32000 };
  guint8 head[10], frame[192];
  goffset at = 0;
  guint version, delays;
  gsize xing;
  guint64 n;

  if (gst_tfx_bytes_read_at (file, 0, head, sizeof head) &&
      memcmp (head, "ID3", 3) == 0)
    at = 10 + (head[6] << 21 | head[7] << 14 | head[8] << 7 | head[9]);
  if (!gst_tfx_bytes_read_at (file, at, frame, sizeof frame) ||
      (xing = gst_tfx_bytes_find_xing (frame)) == 0 || (frame[2] >> 2 & 3) == 3)
    return FALSE;
  version = frame[1] >> 3 & 3;
  /* With the numbers of frames and bytes, a table and a quality: LAME's follow these. */
  if ((memcmp (frame + xing, "Xing", 4) != 0 &&
          memcmp (frame + xing, "Info", 4) != 0) ||
      (frame[xing + 7] & 15) != 15 ||
      (memcmp (frame + xing + 120, "Lavf", 4) != 0 &&
          memcmp (frame + xing + 120, "Lavc", 4) != 0))
    return FALSE;
  n = gst_tfx_bytes_get_be (frame + xing + 8, 4) * (version == 3 ? 1152 : 576);
  delays = (guint)gst_tfx_bytes_get_be (frame + xing + 141, 3);
  if (n < (delays >> 12) + (delays & 0xfff))
    return FALSE;
  length->rate_hz = rates[frame[2] >> 2 & 3] >> (version == 3      ? 0
                                                    : version == 2 ? 1
                                                                   : 2);
  length->n_skipped = (delays >> 12) + DECODER_DELAY;
  length->n_frames = n - (delays >> 12) - (delays & 0xfff);
  return TRUE;
}

/* ---- MP4 ------------------------------------------------------------------------------ */

/* Numbers of the movie and of its first audio track. */
typedef struct Track
{
  guint32 movie_scale, media_scale;
  guint64 duration, edited, media_time;
  goffset edits, movie;
  guint n_sounds, n_edits, n_boxes;
  gboolean is_sound;
} Track;

/* Of boxes in each other, and of all. */
#define MAX_DEPTH 8
#define MAX_BOXES (1 << 20)

static void
read_boxes (FILE *file, goffset at, goffset end, guint depth, Track *track);

/* Video, chapters and pictures have tracks too. */
static void
read_track (FILE *file, goffset at, goffset end, guint depth, Track *movie)
{
  Track track = { .movie_scale = movie->movie_scale,
    .movie = movie->movie,
    .n_boxes = movie->n_boxes };

  read_boxes (file, at, end, depth, &track);
  movie->n_boxes = track.n_boxes;
  if (!track.is_sound || movie->n_sounds++ > 0)
    return;
  track.n_sounds = 1;
  track.is_sound = FALSE;
  *movie = track;
}

/* Boxes up to an offset, and those in them. */
static void
read_boxes (FILE *file, goffset at, goffset end, guint depth, Track *track)
{
  guint8 head[48];
  goffset size;

  for (; at + 8 <= end && depth < MAX_DEPTH && track->n_boxes < MAX_BOXES &&
         gst_tfx_bytes_read_at (file, at, head, 8);
       at += size, track->n_boxes++) {
    goffset inner = at + 8;

    size = (goffset)gst_tfx_bytes_get_be (head, 4);
    if (size == 1 && gst_tfx_bytes_read_at (file, inner, head + 8, 8)) {
      size = (goffset)gst_tfx_bytes_get_be (head + 8, 8);
      inner += 8;
    }
    if (size < 8 || size > end - at)
      return;
    if (memcmp (head + 4, "edts", 4) == 0)
      track->edits = at + 4;
    if (memcmp (head + 4, "trak", 4) == 0) {
      read_track (file, inner, at + size, depth + 1, track);
    } else if (memcmp (head + 4, "moov", 4) == 0 ||
               memcmp (head + 4, "mdia", 4) == 0 || track->edits == at + 4) {
      read_boxes (file, inner, at + size, depth + 1, track);
    } else if (size >= 32 &&
               gst_tfx_bytes_read_at (file, inner, head + 8, 24) &&
               head[8] == 0) {
      /* (Of version 0; the others are for more than 2^32 frames.) */
      if (memcmp (head + 4, "mvhd", 4) == 0) {
        track->movie_scale = (guint32)gst_tfx_bytes_get_be (head + 20, 4);
        track->movie = inner + 16;
      } else if (memcmp (head + 4, "mdhd", 4) == 0) {
        track->media_scale = (guint32)gst_tfx_bytes_get_be (head + 20, 4);
        track->duration = gst_tfx_bytes_get_be (head + 24, 4);
      } else if (memcmp (head + 4, "hdlr", 4) == 0) {
        track->is_sound = memcmp (head + 16, "soun", 4) == 0;
      }
    } else if (memcmp (head + 4, "elst", 4) == 0 && size >= 28 &&
               gst_tfx_bytes_read_at (file, inner, head + 8, 20) &&
               head[8] == 0) {
      track->n_edits = (guint)gst_tfx_bytes_get_be (head + 12, 4);
      track->edited = gst_tfx_bytes_get_be (head + 16, 4);
      track->media_time = gst_tfx_bytes_get_be (head + 20, 4);
    }
  }
}

/* The durations of a movie may be in milliseconds, those of a track are in frames.  FALSE:
 * it has no audio track.  (Of several the first one is read.) */
static gboolean
read_mp4 (FILE *file, goffset size, Length *length)
{
  Track track = { 0 };
  guint64 n_edited;

  read_boxes (file, 0, size, 0, &track);
  if (track.n_sounds == 0 || track.media_scale == 0 || track.movie_scale == 0 ||
      track.n_edits != 1 || track.media_time >= track.duration)
    return FALSE;
  length->rate_hz = track.media_scale;
  length->edits = track.edits;
  length->movie = track.movie;
  length->movie_duration = (guint32)gst_util_uint64_scale_ceil (track.duration,
      track.movie_scale, track.media_scale);
  length->n_skipped = track.media_time;
  length->n_frames = track.duration - track.media_time;
  n_edited = gst_util_uint64_scale (track.edited + 1, track.media_scale,
      track.movie_scale);
  if (track.edited > 0 && n_edited < length->n_frames)
    length->n_frames = gst_util_uint64_scale_round (track.edited,
        track.media_scale, track.movie_scale);
  return TRUE;
}

/* ---- what comes ------------------------------------------------------------------------ */

/* Leaves out frames at both ends. */
static GstPadProbeReturn
trim (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Length *length = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCaps *caps = gst_pad_get_current_caps (pad);
  guint64 from, to, n, first, last;
  GstAudioInfo audio;

  if (!caps || !gst_audio_info_from_caps (&audio, caps)) {
    gst_clear_caps (&caps);
    return GST_PAD_PROBE_OK;
  }
  gst_caps_unref (caps);
  n = gst_buffer_get_size (buffer) / (gsize)GST_AUDIO_INFO_BPF (&audio);
  from = gst_util_uint64_scale (length->n_skipped,
      (guint64)GST_AUDIO_INFO_RATE (&audio), length->rate_hz);
  to = gst_util_uint64_scale_round (length->n_skipped + length->n_frames,
      (guint64)GST_AUDIO_INFO_RATE (&audio), length->rate_hz);
  first = length->n_came < from ? MIN (from - length->n_came, n) : 0;
  last = length->n_came < to ? MIN (to - length->n_came, n) : 0;
  length->n_came += n;
  if (first >= last)
    return n > 0 ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  if (first > 0 || last < n)
    info->data = gst_audio_buffer_truncate (buffer, GST_AUDIO_INFO_BPF (&audio),
        (gsize)first, (gsize)(last - first));
  /* What the edit list leaves out has no time. */
  if (length->edits > 0 && GST_BUFFER_PTS_IS_VALID (info->data)) {
    info->data = gst_buffer_make_writable (info->data);
    GST_BUFFER_PTS (info->data) -= MIN (GST_BUFFER_PTS (info->data),
        gst_util_uint64_scale (length->n_skipped, GST_SECOND, length->rate_hz));
  }
  return GST_PAD_PROBE_OK;
}

/* Puts four bytes into a buffer, if it has that place of the file. */
static GstBuffer *
put (GstBuffer *buffer, goffset at, const void *bytes)
{
  at -= (goffset)GST_BUFFER_OFFSET (buffer);
  if (at < 0 || at + 4 > (goffset)gst_buffer_get_size (buffer))
    return buffer;
  buffer = gst_buffer_make_writable (buffer);
  gst_buffer_fill (buffer, (gsize)at, bytes, 4);
  return buffer;
}

/* Hides the edit list: the movie has all of the track. */
static GstPadProbeReturn
hide (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const Length *length = data;
  const guint32 duration = GUINT32_TO_BE (length->movie_duration);

  if (!GST_BUFFER_OFFSET_IS_VALID (GST_PAD_PROBE_INFO_BUFFER (info)))
    return GST_PAD_PROBE_OK;
  info->data = put (GST_PAD_PROBE_INFO_BUFFER (info), length->edits, "free");
  info->data = put (info->data, length->movie, &duration);
  return GST_PAD_PROBE_OK;
}

/* A decoder clips at the end of its segment. */
static GstPadProbeReturn
open_end (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstSegment segment;

  if (GST_EVENT_TYPE (info->data) != GST_EVENT_SEGMENT)
    return GST_PAD_PROBE_OK;
  gst_event_copy_segment (info->data, &segment);
  segment.stop = GST_CLOCK_TIME_NONE;
  gst_event_unref (info->data);
  info->data = gst_event_new_segment (&segment);
  return GST_PAD_PROBE_OK;
}

static void
take_element (GstBin *pipeline, GstBin *bin, GstElement *element, gpointer data)
{
  Length *length = data;
  GstElementFactory *factory = gst_element_get_factory (element);
  GstPad *sink = factory ? gst_element_get_static_pad (element, "sink") : NULL;

  if (sink && length->edits > 0 &&
      strcmp (GST_OBJECT_NAME (factory), "qtdemux") == 0)
    gst_pad_add_probe (sink,
        GST_PAD_PROBE_TYPE_PULL | GST_PAD_PROBE_TYPE_BUFFER, hide, length,
        NULL);
  else if (sink && gst_element_factory_list_is_type (factory,
                       GST_ELEMENT_FACTORY_TYPE_DECODER))
    gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, open_end,
        NULL, NULL);
  gst_clear_object (&sink);
}

void
gst_tfx_length_follow (GstElement *pipeline, GstElement *convert,
    const gchar *path)
{
  goffset size;
  FILE *file = gst_tfx_bytes_open (path, &size, NULL);
  Length length = { 0 }, *own;
  gboolean is_read = FALSE;
  guint8 head[12];
  GstPad *pad;

  if (file && gst_tfx_bytes_read_at (file, 0, head, sizeof head)) {
    if (memcmp (head, "OggS", 4) == 0)
      is_read = read_ogg (file, size, &length);
    else if (memcmp (head + 4, "ftyp", 4) == 0)
      is_read = read_mp4 (file, size, &length);
    else
      is_read = read_mp3 (file, &length);
  }
  if (file)
    fclose (file);
  if (!is_read || length.rate_hz == 0)
    return;
  own = g_memdup2 (&length, sizeof length);
  pad = gst_element_get_static_pad (convert, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, trim, own, NULL);
  g_object_set_data_full (G_OBJECT (pipeline), "length", own, g_free);
  g_signal_connect (pipeline, "deep-element-added", G_CALLBACK (take_element),
      own);
  gst_object_unref (pad);
}
