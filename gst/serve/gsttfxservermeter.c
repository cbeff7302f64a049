/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxservermeter.c: levels, loudness and spectrum of a running stream.
 *
 * The ring has one writer and one reader.  The writer announces the frames that it is about
 * to overwrite, copies, and then publishes their end; the reader copies, and discards what
 * was announced in the meantime.  It divides the frames into blocks, by the time at which
 * they come; so each client gets all peaks, whenever it asks.
 */
#include <math.h>
#include <string.h>

#include <gst/audio/audio.h>

#include "gsttfxmeter.h"
#include "gsttfxserver.h"
#include "gsttfxspectrum.h"

/* More than a spectrum takes; memory for channels that are not there is not touched. */
#define RING_FRAMES (1u << 17)
#define PART_FRAMES 1024
#define BLOCKS (10 * GST_TFX_SERVER_BLOCKS_HZ)
/* A stream in large buffers has blocks without frames. */
#define EMPTY_BLOCKS (GST_TFX_SERVER_BLOCKS_HZ / 2)
/* Bins of the spectrum: segments of 8192 frames at 48 kHz. */
#define BIN_HZ 6.0

struct GstTfxServerMeter
{
  /* Atomic. */
  /* Bits of gfloat, interleaved. */
  guint32 ring[RING_FRAMES * GST_TFX_SERVER_METER_CHANNELS];
  guint64 n_announced, n_written; /* frames */
  guint64 n_clipped;
  guint64 format; /* rate in Hz << 32 | channels; 0: none */

  GstAudioInfo info; /* of the streaming thread */

  /* Of the reader. */
  guint64 seen;     /* format */
  guint64 position; /* of the next block */
  guint64 n_blocks;
  guint n_frames[BLOCKS];
  gfloat peak[BLOCKS][GST_TFX_SERVER_METER_CHANNELS]; /* squares */
  gfloat sum[BLOCKS][GST_TFX_SERVER_METER_CHANNELS];
  GstTfxMeter *loudness;    /* or NULL */
  GstTfxSpectrum *spectrum; /* or NULL */
  gdouble part[PART_FRAMES * GST_TFX_SERVER_METER_CHANNELS];
};

/* ---- the streaming thread ---------------------------------------------------------- */

static void
write_samples (GstTfxServerMeter *self, const GstMapInfo *map,
    const GstAudioInfo *info)
{
  const gsize n_channels = (gsize)info->channels;
  const gsize n = map->size / (gsize)info->bpf;
  const gboolean is_double = GST_AUDIO_INFO_WIDTH (info) == 64;
  gsize slot = self->n_written % RING_FRAMES * n_channels;
  guint64 n_clipped = 0;

  __atomic_store_n (&self->n_announced, self->n_written + n, __ATOMIC_RELAXED);
  __atomic_thread_fence (__ATOMIC_RELEASE);
  for (gsize i = 0; i < n * n_channels; i++) {
    const gfloat sample =
        is_double ? (gfloat)((const gdouble *)(gpointer)map->data)[i]
                  : ((const gfloat *)(gpointer)map->data)[i];
    guint32 bits;

    memcpy (&bits, &sample, sizeof bits);
    __atomic_store_n (&self->ring[slot], bits, __ATOMIC_RELAXED);
    slot = slot + 1 < RING_FRAMES * n_channels ? slot + 1 : 0;
    n_clipped += fabsf (sample) > 1.0f;
  }
  if (n_clipped > 0)
    __atomic_fetch_add (&self->n_clipped, n_clipped, __ATOMIC_RELAXED);
  __atomic_store_n (&self->n_written, self->n_written + n, __ATOMIC_RELEASE);
}

static GstPadProbeReturn
take (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstTfxServerMeter *self = data;
  GstAudioInfo *info = &self->info;
  GstMapInfo map;
  GstCaps *caps;

  if (probe->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (probe->data) != GST_EVENT_CAPS)
      return GST_PAD_PROBE_OK;
    gst_event_parse_caps (probe->data, &caps);
    if (!gst_audio_info_from_caps (info, caps))
      gst_audio_info_init (info);
    /* Positions continue in the ring of a new format. */
    __atomic_store_n (&self->format,
        (guint64)info->rate << 32 | (guint64)info->channels, __ATOMIC_RELEASE);
  } else if (info->channels > 0 &&
             info->channels <= GST_TFX_SERVER_METER_CHANNELS &&
             gst_buffer_map (probe->data, &map, GST_MAP_READ)) {
    write_samples (self, &map, info);
    gst_buffer_unmap (probe->data, &map);
  }
  return GST_PAD_PROBE_OK;
}

/* ---- the reader ---------------------------------------------------------------------- */

guint64
gst_tfx_server_meter_count_clipped (const GstTfxServerMeter *self)
{
  return __atomic_load_n (&self->n_clipped, __ATOMIC_RELAXED);
}

/* The number of channels; 0: none.  A new format resets the reader. */
static guint
look_at_format (GstTfxServerMeter *self)
{
  const guint64 format = __atomic_load_n (&self->format, __ATOMIC_ACQUIRE);
  const gint rate_hz = (gint)(format >> 32), n_channels = (gint)(guint32)format;
  GstAudioInfo info;

  if (n_channels == 0 || n_channels > GST_TFX_SERVER_METER_CHANNELS)
    return 0;
  if (format != self->seen) {
    self->seen = format;
    self->position = __atomic_load_n (&self->n_written, __ATOMIC_ACQUIRE);
    memset (self->n_frames, 0, sizeof self->n_frames);
    gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, rate_hz, n_channels,
        NULL);
    if (self->loudness)
      gst_tfx_meter_set_format (self->loudness, &info);
    g_clear_pointer (&self->spectrum, gst_tfx_spectrum_free);
    self->spectrum = gst_tfx_spectrum_new (rate_hz, n_channels, BIN_HZ);
  }
  return (guint)n_channels;
}

/* Copies frames from a position to the part, at most PART_FRAMES, and moves it past
 * them; first past what has been overwritten.  Returns their number. */
static gsize
copy_part (GstTfxServerMeter *self, guint n_channels, guint64 *position)
{
  const guint64 end = __atomic_load_n (&self->n_written, __ATOMIC_ACQUIRE);
  gsize n, slot;

  if (end > RING_FRAMES && *position < end - RING_FRAMES)
    *position = end - RING_FRAMES / 2;
  if (*position > end)
    *position = end;
  n = MIN (end - *position, PART_FRAMES);
  slot = *position % RING_FRAMES * n_channels;
  for (gsize i = 0; i < n * n_channels; i++) {
    const guint32 bits = __atomic_load_n (&self->ring[slot], __ATOMIC_RELAXED);
    gfloat sample;

    memcpy (&sample, &bits, sizeof sample);
    self->part[i] = isfinite (sample) ? sample : 0.0;
    slot = slot + 1 < RING_FRAMES * n_channels ? slot + 1 : 0;
  }
  __atomic_thread_fence (__ATOMIC_ACQUIRE);
  *position += n;
  /* The writer has come round to these frames. */
  if (__atomic_load_n (&self->n_announced, __ATOMIC_RELAXED) >
      *position - n + RING_FRAMES)
    return 0;
  return n;
}

gdouble
gst_tfx_server_meter_round (gdouble db)
{
  return rint (32.0 * db) / 32.0;
}

void
gst_tfx_server_meter_advance (GstTfxServerMeter *self)
{
  const guint n_channels = look_at_format (self);
  const guint block = (guint)(self->n_blocks++ % BLOCKS);
  gfloat *peak = self->peak[block], *sum = self->sum[block];
  gsize n;

  self->n_frames[block] = 0;
  memset (peak, 0, sizeof *self->peak);
  memset (sum, 0, sizeof *self->sum);
  while (n_channels > 0 &&
         (n = copy_part (self, n_channels, &self->position)) > 0) {
    for (gsize i = 0; i < n * n_channels; i++) {
      const gfloat square = (gfloat)(self->part[i] * self->part[i]);

      peak[i % n_channels] = MAX (peak[i % n_channels], square);
      sum[i % n_channels] += square;
    }
    self->n_frames[block] += (guint)n;
    if (self->loudness)
      gst_tfx_meter_add (self->loudness, self->part, n);
  }
}

void
gst_tfx_server_meter_read (GstTfxServerMeter *self, guint64 from,
    GstTfxServerLevels *levels)
{
  gdouble peak[GST_TFX_SERVER_METER_CHANNELS] = { 0.0 };
  gdouble sum[GST_TFX_SERVER_METER_CHANNELS] = { 0.0 };
  const guint64 oldest = self->n_blocks - MIN (self->n_blocks, BLOCKS);
  gsize n_frames = 0;

  levels->n_channels = look_at_format (self);
  for (guint64 at = self->n_blocks;
       at > oldest &&
       (at > from || (n_frames == 0 && at + EMPTY_BLOCKS > from));
       at--) {
    const guint block = (guint)((at - 1) % BLOCKS);

    n_frames += self->n_frames[block];
    for (guint i = 0; i < levels->n_channels && self->n_frames[block] > 0;
         i++) {
      peak[i] = MAX (peak[i], self->peak[block][i]);
      sum[i] += self->sum[block][i];
    }
  }
  for (guint i = 0; i < levels->n_channels; i++) {
    const gdouble mean = n_frames ? sum[i] / (gdouble)n_frames : 0.0;

    levels->peak_db[i] = gst_tfx_server_meter_round (10.0 * log10 (peak[i]));
    levels->rms_db[i] = gst_tfx_server_meter_round (10.0 * log10 (mean));
  }
}

gdouble
gst_tfx_server_meter_read_loudness (GstTfxServerMeter *self)
{
  GstTfxLoudness loudness;

  look_at_format (self);
  gst_tfx_meter_read (self->loudness, &loudness);
  return gst_tfx_server_meter_round (loudness.momentary);
}

guint
gst_tfx_server_meter_read_spectrum (GstTfxServerMeter *self,
    const gdouble *freq_hz, gdouble *db, guint n)
{
  const guint n_channels = look_at_format (self);
  const guint64 end = __atomic_load_n (&self->n_written, __ATOMIC_ACQUIRE);
  guint64 position;
  gsize length, n_part;

  if (n_channels == 0 || end == 0)
    return 0;
  length = gst_tfx_spectrum_get_length (self->spectrum);
  position = end > length ? end - length : 0;
  gst_tfx_spectrum_reset (self->spectrum);
  while (
      position < end && (n_part = copy_part (self, n_channels, &position)) > 0)
    gst_tfx_spectrum_add (self->spectrum, self->part, n_part);
  gst_tfx_spectrum_finish (self->spectrum);
  for (guint i = 0; i < n; i++)
    db[i] = gst_tfx_server_meter_round (
        gst_tfx_spectrum_get_level (self->spectrum, freq_hz[i]));
  return n;
}

/* ---- lifetime ------------------------------------------------------------------------ */

GstTfxServerMeter *
gst_tfx_server_meter_new (GstPad *pad, gboolean has_loudness)
{
  GstTfxServerMeter *self = g_new0 (GstTfxServerMeter, 1);

  if (has_loudness) {
    self->loudness = gst_tfx_meter_new ();
    gst_tfx_meter_skip_true_peaks (self->loudness);
  }
  gst_audio_info_init (&self->info);
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take,
      self, NULL);
  return self;
}

void
gst_tfx_server_meter_free (GstTfxServerMeter *self)
{
  g_clear_pointer (&self->spectrum, gst_tfx_spectrum_free);
  g_clear_pointer (&self->loudness, gst_tfx_meter_free);
  g_free (self);
}
