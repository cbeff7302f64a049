/* SPDX-License-Identifier: LGPL-2.1-or-later
 * deeds.c: people on the way of a buffer.
 */
#include "deeds.h"

/* Nanoseconds by which a time may miss that of its frame: each element may
 * round where it begins. */
#define ROUNDING 20

static const gdouble factors[] = { 1.0, -1.0, 0.5, 2.0 };

const gchar *
tfx_deeds_name (TfxDeedsKind kind)
{
  static const gchar *const names[] = { "count", "read", "keep", "replace",
    "negate", "mute", "drop" };

  return names[kind];
}

/* ---- buffers of numbered frames ------------------------------------------ */

GstBuffer *
tfx_deeds_buffer (const GstAudioInfo *info, guint64 number, gsize n_frames)
{
  gdouble *samples = g_new (gdouble, n_frames * info->channels);
  GstBuffer *buffer;

  for (gsize i = 0; i < n_frames; i++) {
    for (gint ch = 0; ch < info->channels; ch++)
      samples[i * info->channels + ch] = (number + i + 1.0) * factors[ch % 4];
  }
  buffer = tfx_check_stamped (info, samples, n_frames, number);
  g_free (samples);
  return buffer;
}

gsize
tfx_deeds_n_frames (GstBuffer *buffer, const GstAudioInfo *info)
{
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);

  return meta ? meta->samples : gst_buffer_get_size (buffer) / info->bpf;
}

gdouble *
tfx_deeds_values (GstBuffer *buffer, GstCaps *caps, gsize *n_frames)
{
  GstAudioInfo info;
  gdouble *values;

  fail_unless (gst_audio_info_from_caps (&info, caps));
  values = tfx_check_samples (buffer, &info, n_frames);
  for (gsize i = 0; i < *n_frames; i++) {
    gdouble first = values[i * info.channels];

    for (gint ch = 1; ch < info.channels; ch++) {
      if (!tfx_model_is_same (values[i * info.channels + ch],
              first * factors[ch % 4])) {
        g_free (values);
        return NULL;
      }
    }
    values[i] = first;
  }
  return values;
}

gboolean
tfx_deeds_number (GstBuffer *buffer, const GstSegment *segment, gint rate,
    guint64 *number)
{
  guint64 time;
  GstClockTime due;

  if (!GST_BUFFER_PTS_IS_VALID (buffer) ||
      gst_segment_to_running_time_full (segment, GST_FORMAT_TIME,
          GST_BUFFER_PTS (buffer), &time) <= 0)
    return FALSE;
  *number = gst_util_uint64_scale_round (time, rate, GST_SECOND);
  due = gst_util_uint64_scale (*number, GST_SECOND, rate);
  return ABS (GST_CLOCK_DIFF (due, time)) <= ROUNDING;
}

/* ---- deeds ---------------------------------------------------------------- */

TfxDeeds *
tfx_deeds_new (TfxDeedsKind kind, TfxModelSpot *spot, gint rate)
{
  TfxDeeds *self = g_new0 (TfxDeeds, 1);

  self->kind = kind;
  self->spot = spot;
  self->rate = rate;
  g_queue_init (&self->kept);
  g_mutex_init (&self->lock);
  return self;
}

/* A buffer that was kept, with what is known of it. */
typedef struct
{
  GstBuffer *buffer;
  GstCaps *caps;
  guint64 number;
} Kept;

static void
complain (TfxDeeds *self, const gchar *what, guint64 number)
{
  if (!self->error)
    self->error = g_strdup_printf ("%s, who came by %s at frame "
                                   "%" G_GUINT64_FORMAT,
        tfx_deeds_name (self->kind), what, number);
}

static void
read_buffer (TfxDeeds *self, GstBuffer *buffer, GstCaps *caps, guint64 number)
{
  gsize n;
  g_autofree gdouble *values = tfx_deeds_values (buffer, caps, &n);

  if (values)
    tfx_model_spot_see (self->spot, number, values, n);
  else
    complain (self, "channels that do not agree", number);
}

/* Reads the oldest, or lets go of it. */
static void
release (TfxDeeds *self, gboolean reads)
{
  Kept *kept = g_queue_pop_head (&self->kept);

  if (reads)
    read_buffer (self, kept->buffer, kept->caps, kept->number);
  gst_buffer_unref (kept->buffer);
  gst_caps_unref (kept->caps);
  g_free (kept);
}

void
tfx_deeds_end (TfxDeeds *self)
{
  while (!g_queue_is_empty (&self->kept))
    release (self, TRUE);
}

void
tfx_deeds_read_one (TfxDeeds *self)
{
  g_mutex_lock (&self->lock);
  if (!g_queue_is_empty (&self->kept))
    release (self, TRUE);
  g_mutex_unlock (&self->lock);
}

void
tfx_deeds_free (TfxDeeds *self)
{
  tfx_deeds_end (self);
  g_mutex_clear (&self->lock);
  g_free (self->error);
  g_free (self);
}

/* Another buffer with the same memory. */
static GstBuffer *
share_memory (GstBuffer *buffer)
{
  GstBuffer *other = gst_buffer_new ();

  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    gst_buffer_append_memory (other, gst_buffer_get_memory (buffer, i));
  gst_buffer_copy_into (other, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  return other;
}

static void
keep (TfxDeeds *self, GstBuffer *buffer, GstCaps *caps, guint64 number)
{
  Kept *kept = g_new (Kept, 1);

  *kept = (Kept){ self->n % 2 ? share_memory (buffer) : gst_buffer_ref (buffer),
    gst_caps_ref (caps), number };
  g_queue_push_tail (&self->kept, kept);
  if (g_queue_get_length (&self->kept) > 3)
    release (self, self->n % 2);
}

/* The same samples in memory of its own. */
static GstBuffer *
replace (GstBuffer *buffer)
{
  GstBuffer *other = gst_buffer_copy_deep (buffer);

  gst_buffer_unref (buffer);
  return other;
}

/* Writes to all samples. */
static GstBuffer *
multiply (GstBuffer *buffer, const GstAudioInfo *info, gdouble factor)
{
  GstMapInfo map;

  buffer = gst_buffer_make_writable (buffer);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  if (GST_AUDIO_INFO_WIDTH (info) == 32) {
    for (gsize i = 0; i < map.size / sizeof (gfloat); i++)
      ((gfloat *)(gpointer)map.data)[i] *= factor;
  } else {
    for (gsize i = 0; i < map.size / sizeof (gdouble); i++)
      ((gdouble *)(gpointer)map.data)[i] *= factor;
  }
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static GstBuffer *
do_deed (TfxDeeds *self, GstBuffer *buffer, GstCaps *caps, guint64 number,
    const GstAudioInfo *info)
{
  const gsize n = tfx_deeds_n_frames (buffer, info);

  switch (self->kind) {
    case TFX_DEEDS_READ:
      read_buffer (self, buffer, caps, number);
      break;
    case TFX_DEEDS_KEEP:
      if (self->n % 3 == 0)
        keep (self, buffer, caps, number);
      break;
    case TFX_DEEDS_REPLACE:
      if (self->n % 2)
        buffer = replace (buffer);
      break;
    case TFX_DEEDS_NEGATE:
      if (self->n % 3 == 0)
        break;
      buffer = multiply (buffer, info, -1.0);
      tfx_model_spot_mark (self->spot, TFX_MODEL_NEGATE, number, n);
      break;
    case TFX_DEEDS_MUTE:
      if (self->n % 4)
        break;
      buffer = multiply (buffer, info, 0.0);
      tfx_model_spot_mark (self->spot, TFX_MODEL_MUTE, number, n);
      break;
    case TFX_DEEDS_DROP:
      if (self->n % 5)
        break;
      tfx_model_spot_mark (self->spot, TFX_MODEL_DROP, number, n);
      gst_clear_buffer (&buffer);
      break;
    default:
      break;
  }
  return buffer;
}

GstBuffer *
tfx_deeds_take (TfxDeeds *self, GstPad *pad, GstBuffer *buffer)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const GstSegment *segment;
  GstAudioInfo info;
  guint64 number = 0;

  g_mutex_lock (&self->lock);
  self->n++;
  if (!event || !caps) {
    /* Where the pad stops just now both have gone, and the buffer goes
     * nowhere. */
    if (!GST_PAD_IS_FLUSHING (pad))
      complain (self, "a buffer without caps or segment", number);
  } else {
    gst_event_parse_segment (event, &segment);
    fail_unless (gst_audio_info_from_caps (&info, caps));
    if (!tfx_deeds_number (buffer, segment, self->rate, &number)) {
      complain (self, "a time of no frame", number);
    } else {
      tfx_model_spot_visit (self->spot, number,
          tfx_deeds_n_frames (buffer, &info));
      buffer = do_deed (self, buffer, caps, number, &info);
    }
  }
  g_mutex_unlock (&self->lock);
  gst_clear_event (&event);
  gst_clear_caps (&caps);
  return buffer;
}

static GstPadProbeReturn
probe_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  info->data = tfx_deeds_take (data, pad, info->data);
  return info->data ? GST_PAD_PROBE_OK : GST_PAD_PROBE_HANDLED;
}

gulong
tfx_deeds_probe (TfxDeeds *self, GstPad *pad)
{
  return gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, probe_buffer, self,
      NULL);
}

static GstFlowReturn
chain_ghost (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  buffer = tfx_deeds_take (pad->chaindata, pad, buffer);
  return buffer ? gst_proxy_pad_chain_default (pad, parent, buffer)
                : GST_FLOW_OK;
}

void
tfx_deeds_ghost (TfxDeeds *self, GstPad *ghost)
{
  self->spot->sees_all = TRUE;
  gst_pad_set_chain_function_full (ghost, chain_ghost, self, NULL);
}
