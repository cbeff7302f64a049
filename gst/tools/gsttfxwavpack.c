/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwavpack.c: the checksums of WavPack (WavPack 4 & 5 Binary File Format), which
 * wavpackdec ignores: it is silent in place of a bad block.
 */
#include "gsttfxwavpack.h"

#include <gst/audio/audio.h>

#include "gsttfxbytes.h"

/* Of the flags in the header of a block. */
#define BYTES_STORED 0x3
#define IS_MONO 0x4
#define IS_LOSSY 0x8
#define IS_FLOAT 0x80
#define IS_FIRST_AND_LAST 0x1800
#define SHIFT(flags) ((flags) >> 13 & 0x1f)
#define IS_TWICE 0x40000000 /* one channel becomes two */

#define HEADER 32

/* A block's content: a byte for its kind, and words, counted by one byte or three. */
#define KIND(byte) ((byte)&0x3f)
#define IS_LONG 0x80
#define EXTENSION 0x09

typedef struct Watch
{
  void (*bad) (gpointer data);
  gpointer data;
  guint32 n_frames, flags, sum; /* of the block that is being decoded */
  guint shift; /* by which its samples were shorter when they were summed up */
} Watch;

/* The low bits that 32-bit samples have in common, or that are stored apart: four
 * numbers of bits. */
static guint
find_extension (const guint8 *bytes, gsize size)
{
  gsize at = HEADER, head, n;

  for (; at + 2 < size; at += head + n) {
    head = bytes[at] & IS_LONG ? 4 : 2;
    if (at + head > size)
      break;
    n = 2 * gst_tfx_bytes_get_le (bytes + at + 1, head - 1);
    if (KIND (bytes[at]) == EXTENSION && n == 4 && at + head + n <= size) {
      bytes += at + head;
      return MIN (31u, (guint)(bytes[0] + bytes[1] + bytes[2] + bytes[3]));
    }
  }
  return 0;
}

static GstPadProbeReturn
take_block (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Watch *watch = data;
  GstMapInfo map;

  watch->n_frames = 0;
  if (!gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ))
    return GST_PAD_PROBE_OK;
  if (map.size >= HEADER) {
    watch->n_frames = (guint32)gst_tfx_bytes_get_le (map.data + 20, 4);
    watch->flags = (guint32)gst_tfx_bytes_get_le (map.data + 24, 4);
    watch->sum = (guint32)gst_tfx_bytes_get_le (map.data + 28, 4);
    watch->shift = SHIFT (watch->flags) + find_extension (map.data, map.size);
  }
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  return GST_PAD_PROBE_OK;
}

/* Modulo 2^32: three times the sum and the sample, for each sample. */
static guint32
sum_up (const guint8 *bytes, gsize n_samples, gsize width, guint step,
    guint shift)
{
  guint32 sum = G_MAXUINT32, sample;

  for (gsize i = 0; i < n_samples; i += step) {
    sample = (guint32)gst_tfx_bytes_get_le (bytes + i * width, width);
    sample <<= 32 - 8 * width;
    sum = 3 * sum +
          (guint32)((gint32)sample >> MIN (31u, 32 - 8 * width + shift));
  }
  return sum;
}

static GstPadProbeReturn
take_samples (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Watch *watch = data;
  const guint32 flags = watch->flags;
  const gsize width = (flags & BYTES_STORED) + 1;
  const guint n_channels = flags & IS_MONO ? 1 : 2;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo audio;
  GstMapInfo map;

  if (caps && gst_audio_info_from_caps (&audio, caps) &&
      (flags & IS_FIRST_AND_LAST) == IS_FIRST_AND_LAST &&
      !(flags & (IS_LOSSY | IS_FLOAT)) && width > 1 &&
      (gsize)GST_AUDIO_INFO_DEPTH (&audio) == 8 * width &&
      (gsize)GST_AUDIO_INFO_BPF (&audio) == width * n_channels &&
      G_BYTE_ORDER == G_LITTLE_ENDIAN &&
      gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ)) {
    if (map.size == watch->n_frames * width * n_channels &&
        sum_up (map.data, watch->n_frames * n_channels, width,
            flags & IS_TWICE ? 2 : 1, watch->shift) != watch->sum)
      watch->bad (watch->data);
    gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  }
  gst_clear_caps (&caps);
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_wavpack_watch (GstElement *decoder, void (*bad) (gpointer data),
    gpointer data)
{
  GstPad *sink = gst_element_get_static_pad (decoder, "sink");
  GstPad *src = gst_element_get_static_pad (decoder, "src");
  Watch *watch = g_new0 (Watch, 1);

  watch->bad = bad;
  watch->data = data;
  g_object_set_data_full (G_OBJECT (decoder), "gst-tfx-watch", watch, g_free);
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, take_block, watch, NULL);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, take_samples, watch, NULL);
  gst_object_unref (sink);
  gst_object_unref (src);
}
