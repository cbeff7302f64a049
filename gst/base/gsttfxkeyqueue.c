/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyqueue.c: the queues of the key pads.
 */
#include <string.h>

#include "gsttfxkeyqueue.h"

/* Of a key, and what GstAudioConverter converts. */
#define MAX_CHANNELS 63

/* The largest ratio of two rates: the table of the resampler grows with it. */
#define MAX_RATIO 1000

/* The largest full table of coefficients.  A phase has about 1600 bytes, times
 * the ratio of the rates if that of the key is higher. */
#define MAX_PHASES 4096

/* ---- numbers of frames ---------------------------------------------------- */

/* Multiplies a number on the axis, rounded to the nearest. */
static gint64
scale (gint64 number, guint64 num, guint64 denom)
{
  const gint64 scaled =
      (gint64)gst_util_uint64_scale_round (ABS (number), num, denom);

  return number < 0 ? -scaled : scaled;
}

gint64
gst_tfx_keyqueue_time (const GstSegment *segment, GstClockTime begin)
{
  const gdouble speed = ABS (segment->rate);
  guint64 running;
  gint sign;

  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (begin))
    return GST_TFX_KEYQUEUE_NOWHERE;
  sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, begin,
      &running);
  if (speed != 1.0)
    running = (guint64)((gdouble)running * speed);
  return sign < 0 ? -(gint64)running : (gint64)running;
}

gint64
gst_tfx_keyqueue_place (GstTfxKeyPlace *place, gint rate, gint64 time,
    gboolean is_discont, gint64 n_frames)
{
  const gint64 threshold =
      (gint64)rate * GST_TFX_TIMES_THRESHOLD / (gint64)GST_SECOND;
  gint64 first = place->next, stamped, off;

  if (time != GST_TFX_KEYQUEUE_NOWHERE) {
    stamped = scale (time, rate, GST_SECOND);
    off = ABS (stamped - first);
    if (!place->is_set || is_discont || off >= rate ||
        (off >= threshold && ABS (stamped - place->last_good) >= rate))
      first = stamped;
    if (off < threshold || first == stamped)
      place->last_good = stamped;
  }
  place->is_set = TRUE;
  place->next = first + n_frames;
  return first;
}

/* ---- the queue of a key ---------------------------------------------------- */

static void
free_item (GstTfxKeyItem *item)
{
  gst_clear_buffer (&item->buffer);
  g_free (item->samples);
  g_free (item);
}

static void
pop (GstTfxKey *key)
{
  GstTfxKeyItem *item = g_queue_pop_head (&key->items);

  key->n_queued -= item->n_frames;
  free_item (item);
}

void
gst_tfx_keyqueue_clear (GstTfxKey *key)
{
  while (key->items.head)
    pop (key);
  g_clear_pointer (&key->converter, gst_audio_converter_free);
  key->place = (GstTfxKeyPlace){ 0 };
  key->end = GST_TFX_KEYQUEUE_NOWHERE;
}

void
gst_tfx_keyqueue_reset (GstTfxKey *key)
{
  gst_tfx_keyqueue_clear (key);
  gst_audio_info_init (&key->info);
  gst_segment_init (&key->segment, GST_FORMAT_UNDEFINED);
  key->is_ended = key->is_flushing = key->is_seeking = FALSE;
  key->is_unused = FALSE;
  key->thread = NULL;
}

/* Converts the frames of an item, or silence, and appends up to n_most frames of
 * the output.  Takes the item's buffer. */
static void
convert (GstTfxKeys *keys, GstTfxKey *key, GstTfxKeyItem item, gint64 n_most)
{
  const gsize n =
      gst_audio_converter_get_out_frames (key->converter, item.n_in);
  GstAudioMeta *meta =
      item.buffer ? gst_buffer_get_audio_meta (item.buffer) : NULL;
  gpointer planes[MAX_CHANNELS], out;
  g_autofree gpointer silence = NULL;
  GstAudioBuffer from;
  gboolean is_mapped;

  out = item.samples = g_malloc (n * GST_AUDIO_INFO_BPS (&keys->info) *
                                 GST_AUDIO_INFO_CHANNELS (&item.info));
  is_mapped = item.buffer &&
              gst_audio_buffer_map (&from, meta ? &meta->info : &item.info,
                  item.buffer, GST_MAP_READ);
  if (!is_mapped) {
    /* (For NULL the converter writes only the first bytes of the silence.) */
    silence = g_malloc0 (item.n_in * GST_AUDIO_INFO_BPF (&item.info));
    for (guint i = 0; i < MAX_CHANNELS; i++)
      planes[i] = silence;
  }
  gst_audio_converter_samples (key->converter, 0,
      is_mapped ? from.planes : planes, item.n_in, &out, n);
  if (is_mapped)
    gst_audio_buffer_unmap (&from);
  item.begin = key->run_begin + key->n_out;
  item.n_frames = MIN ((gint64)n, n_most);
  key->n_out += item.n_frames;
  key->end = MAX (key->end, item.begin + item.n_frames);
  key->n_queued += item.n_frames;
  g_queue_push_tail (&key->items, g_memdup2 (&item, sizeof item));
  keys->n_dropped +=
      CLAMP (keys->passed - item.begin, (gint64)0, item.n_frames);
}

void
gst_tfx_keyqueue_finish (GstTfxKeys *keys, GstTfxKey *key)
{
  GstTfxKeyItem rest = { .info = key->run_info };
  gint64 n_left;

  if (!key->converter)
    return;
  n_left = scale (key->n_in, keys->info.rate, key->run_info.rate) - key->n_out;
  rest.n_in = 2 * gst_audio_converter_get_max_latency (key->converter);
  if (n_left > 0)
    convert (keys, key, rest, n_left);
  g_clear_pointer (&key->converter, gst_audio_converter_free);
}

/* Begins a run at a frame. */
static void
begin_run (GstTfxKeys *keys, GstTfxKey *key, const GstAudioInfo *info,
    gint64 first)
{
  GstStructure *options = gst_structure_new ("options",
      GST_AUDIO_CONVERTER_OPT_RESAMPLER_METHOD, GST_TYPE_AUDIO_RESAMPLER_METHOD,
      GST_AUDIO_RESAMPLER_METHOD_KAISER, NULL);
  GstAudioInfo out = *info;
  gint n_phases;

  out.finfo = keys->info.finfo;
  out.rate = keys->info.rate;
  out.layout = GST_AUDIO_LAYOUT_INTERLEAVED;
  out.bpf = GST_AUDIO_INFO_BPS (&out) * out.channels;
  gst_audio_resampler_options_set_quality (GST_AUDIO_RESAMPLER_METHOD_KAISER,
      10, info->rate, out.rate, options);
  n_phases = out.rate / gst_util_greatest_common_divisor (info->rate, out.rate);
  /* An interpolated table adds a delay of less than a frame. */
  if (n_phases <= MAX_PHASES / MAX (info->rate / out.rate, 1))
    gst_structure_set (options, GST_AUDIO_RESAMPLER_OPT_FILTER_MODE,
        GST_TYPE_AUDIO_RESAMPLER_FILTER_MODE,
        GST_AUDIO_RESAMPLER_FILTER_MODE_FULL,
        GST_AUDIO_RESAMPLER_OPT_FILTER_INTERPOLATION,
        GST_TYPE_AUDIO_RESAMPLER_FILTER_INTERPOLATION,
        GST_AUDIO_RESAMPLER_FILTER_INTERPOLATION_NONE, NULL);
  key->converter = gst_audio_converter_new (GST_AUDIO_CONVERTER_FLAG_NONE,
      (GstAudioInfo *)info, &out, options);
  key->lag = gst_util_uint64_scale (gst_audio_converter_get_max_latency (
                                        key->converter),
      GST_SECOND, info->rate);
  key->run_info = *info;
  key->run_begin = first;
  key->n_in = key->n_out = 0;
}

gboolean
gst_tfx_keyqueue_append (GstTfxKeys *keys, GstTfxKey *key, GstBuffer *buffer,
    const GstAudioInfo *info, gint64 n_in, gint64 time, gboolean is_discont)
{
  const gint64 from = GST_AUDIO_INFO_RATE (info);
  const gint64 to = GST_AUDIO_INFO_RATE (&keys->info);
  const gint64 next = key->place.next;
  GstTfxKeyItem item = { buffer, *info, n_in };
  gint64 first;

  if (from > to * MAX_RATIO || to > from * MAX_RATIO) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  first = gst_tfx_keyqueue_place (&key->place, (gint)to, time, is_discont, 0);
  if (key->converter &&
      (first != next || !gst_audio_info_is_equal (&key->run_info, info)))
    gst_tfx_keyqueue_finish (keys, key);
  if (!key->converter)
    begin_run (keys, key, info, first);
  key->n_in += n_in;
  key->place.next = key->run_begin + scale (key->n_in, to, from);
  /* The timestamp is exact at any rate, unless it jitters. */
  item.time = scale (first, GST_SECOND, to);
  if (ABS (time - item.time) < (gint64)GST_SECOND / to)
    item.time = time;
  convert (keys, key, item, G_MAXINT64);
  return TRUE;
}

void
gst_tfx_keyqueue_set_info (GstTfxKeys *keys, const GstAudioInfo *info)
{
  const gint from = GST_AUDIO_INFO_RATE (&keys->info);
  const gint to = GST_AUDIO_INFO_RATE (info);
  GstTfxKeyItem *item;

  if (from == to &&
      GST_AUDIO_INFO_FORMAT (&keys->info) == GST_AUDIO_INFO_FORMAT (info))
    return;
  keys->info = *info;
  if (from != to) {
    keys->place = (GstTfxKeyPlace){ 0 };
    keys->passed = GST_TFX_KEYQUEUE_NOWHERE;
  }
  for (guint i = 0; i < keys->list->len; i++) {
    GstTfxKey *key = keys->list->pdata[i];
    const gint64 end = key->end, next = key->place.next;
    GQueue items = key->items;
    gint64 last = GST_TFX_KEYQUEUE_NOWHERE; /* end of the item before */

    g_queue_init (&key->items);
    key->n_queued = 0;
    gst_tfx_keyqueue_clear (key);
    if (from > 0 && end != GST_TFX_KEYQUEUE_NOWHERE) {
      key->end = scale (end, to, from);
      key->place.next = scale (next, to, from);
    }
    while ((item = g_queue_pop_head (&items))) {
      if (item->buffer)
        gst_tfx_keyqueue_append (keys, key, g_steal_pointer (&item->buffer),
            &item->info, item->n_in, item->time, item->begin != last);
      last = item->begin + item->n_frames;
      free_item (item);
    }
    if (key->is_ended)
      gst_tfx_keyqueue_finish (keys, key);
  }
}

gint64
gst_tfx_keyqueue_copy (const GstTfxKey *key, GstAudioBuffer *to, guint channel,
    guint n_channels, gint64 first, gboolean is_reversed)
{
  const gssize size = GST_AUDIO_INFO_BPS (&to->info);
  const gboolean is_planar =
      to->info.layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  const gssize step = is_planar ? size : GST_AUDIO_INFO_BPF (&to->info);
  const gint64 end = first + (gint64)to->n_samples;
  const guint8 *in;
  guint8 *out;
  gint64 n_copied = 0, at;

  for (GList *l = key->items.head; l; l = l->next) {
    const GstTfxKeyItem *item = l->data;
    const guint n_all = GST_AUDIO_INFO_CHANNELS (&item->info);
    const gint64 from = MAX (first, item->begin);
    const gint64 n = MIN (end, item->begin + item->n_frames) - from;

    for (guint c = 0; c < MIN (n_channels, n_all); c++) {
      at = is_reversed ? end - 1 - from : from - first;
      in = item->samples + ((from - item->begin) * n_all + c) * size;
      out = (guint8 *)to->planes[is_planar ? channel + c : 0] + at * step +
            (is_planar ? 0 : (channel + c) * size);
      for (gint64 f = 0; f < n;
           f++, in += n_all * size, out += is_reversed ? -step : step) {
        if (size == 8)
          memcpy (out, in, 8);
        else
          memcpy (out, in, 4);
      }
    }
    n_copied += MAX (n, 0);
  }
  return MIN (n_copied, end - first);
}

void
gst_tfx_keyqueue_pass (GstTfxKey *key, gint64 end)
{
  const GstTfxKeyItem *item;

  while ((item = g_queue_peek_head (&key->items)) &&
         item->begin + item->n_frames <= end)
    pop (key);
}

/* ---- latency and room ----------------------------------------------------- */

void
gst_tfx_keyqueue_change_latency (GstTfxElement *self)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  g_mutex_lock (&keys->lock);
  keys->is_latency_known = FALSE;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

gboolean
gst_tfx_keyqueue_wait (GstTfxKeys *keys, GstTfxKey *key, GstPad *pad,
    GstFlowReturn *flow)
{
  for (;;) {
    const guint64 rate = GST_AUDIO_INFO_RATE (&keys->info);
    const guint64 n_most =
        GST_TFX_KEYQUEUE_SECONDS * rate +
        gst_util_uint64_scale (keys->latency, rate, GST_SECOND);
    const gboolean is_off = key->pad != pad || key->is_flushing ||
                            keys->is_stopped || GST_PAD_IS_FLUSHING (pad);

    *flow = is_off ? GST_FLOW_FLUSHING : GST_FLOW_OK;
    if (is_off || keys->is_ended || key->is_unused ||
        (rate == 0 && key->is_live))
      return FALSE;
    if (rate > 0 && (key->n_queued < (gint64)n_most || key->end < keys->wanted))
      return TRUE;
    if (!key->is_live) {
      g_cond_wait (&keys->cond, &keys->lock);
      continue;
    }
    keys->n_dropped += ((GstTfxKeyItem *)key->items.head->data)->n_frames;
    pop (key);
  }
}
