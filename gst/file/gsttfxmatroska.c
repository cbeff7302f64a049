/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmatroska.c: whether a Matroska or WebM file has all of its sound.
 *
 * A file is truncated if its packets end before its duration, if the decoded
 * sound ends before the last packet of its track, or, without a duration (live
 * muxers), if an element is incomplete.  The tolerance is one packet.
 */
#include "gsttfxmatroska.h"

#include <string.h>

#include "gsttfxbytes.h"

#define INFO 0x1549a966
#define TIMESTAMP_SCALE 0x2ad7b1
#define DURATION 0x4489
#define TRACKS 0x1654ae6b
#define TRACK_ENTRY 0xae
#define TRACK_NUMBER 0xd7
#define TRACK_TYPE 0x83
#define CLUSTER 0x1f43b675
#define TIMESTAMP 0xe7
#define BLOCK_GROUP 0xa0
#define BLOCK 0xa1
#define BLOCK_DURATION 0x9b
#define SIMPLE_BLOCK 0xa3

#define VIDEO 1
#define SOUND 2

/* Decoders drop the delay of an encoder, which may be longer than a packet;
 * timestamps are rounded. */
#define MAX_DELAY (10 * GST_MSECOND)

/* Times are in units of the file. */
typedef struct Track
{
  guint64 number, type;
  gboolean has_blocks;
  gint64 first, last, step; /* of timestamps; the longest step */
} Track;

typedef struct Scan
{
  guint64 scale_ns;
  gdouble duration; /* 0: unknown */
  gint64 cluster;   /* timestamp */
  gint64 end;       /* of packets with their own duration */
  gint64 block;     /* timestamp of the last one */
  GArray *tracks;
} Scan;

gsize
gst_tfx_matroska_read_head (const guint8 *bytes, gsize n, guint32 *id,
    guint64 *size)
{
  gsize n_id = 1, n_size = 1;
  guint64 most;

  while (n_id <= 4 && n > 0 && !(bytes[0] & 0x80 >> (n_id - 1)))
    n_id++;
  if (n_id > 4 || n <= n_id)
    return 0;
  while (n_size <= 8 && !(bytes[n_id] & 0x80 >> (n_size - 1)))
    n_size++;
  if (n_size > 8 || n < n_id + n_size)
    return 0;
  most = (G_GUINT64_CONSTANT (1) << 7 * n_size) - 1;
  *id = (guint32)gst_tfx_bytes_get_be (bytes, n_id);
  *size = gst_tfx_bytes_get_be (bytes + n_id, n_size) & most;
  if (*size == most)
    *size = GST_TFX_MATROSKA_UNKNOWN;
  return n_id + n_size;
}

static gdouble
read_float (const guint8 *bytes, gsize n)
{
  const guint64 bits = gst_tfx_bytes_get_be (bytes, n);
  const guint32 low = (guint32)bits;
  gfloat single;
  gdouble number;

  memcpy (&single, &low, sizeof single);
  memcpy (&number, &bits, sizeof number);
  return n == sizeof single ? (gdouble)single : n == sizeof number ? number : 0;
}

/* Reads a block, which starts with the number of its track and its timestamp
 * relative to the cluster. */
static void
take_block (Scan *scan, const guint8 *bytes, gsize n)
{
  gsize n_number = 1;
  guint64 number;

  while (n_number <= 8 && n > 0 && !(bytes[0] & 0x80 >> (n_number - 1)))
    n_number++;
  if (n < n_number + 2)
    return;
  number = gst_tfx_bytes_get_be (bytes, n_number) &
           ((G_GUINT64_CONSTANT (1) << 7 * n_number) - 1);
  scan->block =
      scan->cluster + (gint16)gst_tfx_bytes_get_be (bytes + n_number, 2);
  for (guint i = 0; i < scan->tracks->len; i++) {
    Track *track = &g_array_index (scan->tracks, Track, i);

    if (track->number != number)
      continue;
    if (!track->has_blocks)
      track->first = track->last = scan->block;
    track->has_blocks = TRUE;
    track->step = MAX (track->step, scan->block - track->last);
    track->last = MAX (track->last, scan->block);
  }
}

/* Stores the value of an element. */
static void
take_value (Scan *scan, guint32 id, const guint8 *bytes, gsize n)
{
  const guint64 number = n <= 8 ? gst_tfx_bytes_get_be (bytes, n) : 0;
  Track *track = scan->tracks->len > 0 ? &g_array_index (scan->tracks, Track,
                                             scan->tracks->len - 1)
                                       : NULL;

  switch (id) {
    case TIMESTAMP_SCALE:
      scan->scale_ns = number;
      break;
    case DURATION:
      scan->duration = read_float (bytes, n);
      break;
    case TRACK_NUMBER:
      if (track)
        track->number = number;
      break;
    case TRACK_TYPE:
      if (track)
        track->type = number;
      break;
    case TIMESTAMP:
      scan->cluster =
          (gint64)MIN (number, G_MAXINT32 * G_GINT64_CONSTANT (1000));
      break;
    case BLOCK:
    case SIMPLE_BLOCK:
      take_block (scan, bytes, n);
      break;
    case BLOCK_DURATION:
      if (number < G_MAXINT32)
        scan->end = MAX (scan->end, scan->block + (gint64)number);
      break;
    default:
      break;
  }
}

/* Reads elements up to the end of the segment.  Returns the offset of the first
 * incomplete one, or -1. */
static goffset
read_elements (Scan *scan, FILE *file, goffset size)
{
  goffset at = 0, end = size, cluster = size;
  guint8 bytes[24];
  const Track track = { 0 };
  guint64 n;
  guint32 id;
  gsize head, n_bytes;

  for (; at < end; at += (goffset)n) {
    n_bytes = (gsize)MIN (sizeof bytes, (guint64)(size - at));
    if (!gst_tfx_bytes_read_at (file, at, bytes, n_bytes) ||
        (head = gst_tfx_matroska_read_head (bytes, n_bytes, &id, &n)) == 0)
      return at;
    if (at >= cluster)
      cluster = end;
    if (n == GST_TFX_MATROSKA_UNKNOWN) {
      if (id != GST_TFX_MATROSKA_SEGMENT && id != CLUSTER)
        return at;
      n = (guint64)(end - at) - head;
      cluster = end;
    }
    if (n > (guint64)(cluster - at) - head)
      return at;
    at += (goffset)head;
    switch (id) {
      case GST_TFX_MATROSKA_SEGMENT:
        end = cluster = at + (goffset)n;
        n = 0;
        break;
      case CLUSTER:
        cluster = at + (goffset)n;
        n = 0;
        break;
      case TRACK_ENTRY:
        g_array_append_val (scan->tracks, track);
        n = 0;
        break;
      case INFO:
      case TRACKS:
      case BLOCK_GROUP:
        n = 0;
        break;
      default:
        take_value (scan, id, bytes + head,
            (gsize)MIN (n, (guint64)(n_bytes - head)));
        break;
    }
  }
  return -1;
}

static GstClockTime
convert (const Scan *scan, gint64 time)
{
  return gst_util_uint64_scale ((guint64)MAX (time, 0), scan->scale_ns, 1);
}

static gchar *
describe (GstClockTime came, GstClockTime told, const gchar *by)
{
  return g_strdup_printf ("it is cut off or damaged: it has %.3f s of the "
                          "%.3f s given %s",
      (gdouble)came / GST_SECOND, (gdouble)told / GST_SECOND, by);
}

gchar *
gst_tfx_matroska_check (FILE *file, goffset size, GstClockTime came)
{
  Scan scan = { .scale_ns = GST_MSECOND,
    .tracks = g_array_new (FALSE, FALSE, sizeof (Track)) };
  const goffset broken = read_elements (&scan, file, size);
  const Track *sound = NULL;
  GstClockTime told, packets;
  gchar *missing = NULL;

  for (guint i = 0; i < scan.tracks->len; i++) {
    const Track *track = &g_array_index (scan.tracks, Track, i);

    if (!sound && track->type == SOUND)
      sound = track;
    if (track->has_blocks)
      scan.end = MAX (scan.end,
          track->last +
              (track->type == SOUND || track->type == VIDEO ? track->step : 0));
  }
  told = scan.duration > 0 && scan.duration < G_MAXINT32 * 1e3
             ? convert (&scan, (gint64)scan.duration)
             : 0;
  packets = sound ? convert (&scan, sound->last - sound->first) : 0;
  if (told > convert (&scan, scan.end) + MAX_DELAY)
    missing = describe (convert (&scan, scan.end), told, "in its header");
  else if (told == 0 && broken >= 0)
    missing = g_strdup_printf ("it is cut off or damaged: the element at byte "
                               "%" G_GOFFSET_FORMAT " is incomplete",
        broken);
  else if (sound && packets > convert (&scan, sound->step) + MAX_DELAY &&
           came < packets - convert (&scan, sound->step) - MAX_DELAY)
    missing = describe (came, packets, "by its packets");
  g_array_unref (scan.tracks);
  return missing;
}
