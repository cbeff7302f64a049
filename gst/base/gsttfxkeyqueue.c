/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyqueue.c: the queues of the key pads.
 */
#include "gsttfxkeyqueue.h"

/* ---- numbers of frames ---------------------------------------------------- */

/* The frame at a time of the segment. */
static gint64
find_frame (const GstSegment *segment, gint rate, GstClockTime time)
{
  const gdouble speed = ABS (segment->rate);
  guint64 running;
  gint64 frame;
  gint sign;

  sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, time,
      &running);
  frame = (gint64)gst_util_uint64_scale_round (running, rate, GST_SECOND);
  if (speed != 1.0)
    frame = (gint64)(frame * speed);
  return sign < 0 ? -frame : frame;
}

gint64
gst_tfx_keyqueue_place (GstTfxKeyPlace *place, const GstSegment *segment,
    gint rate, GstClockTime begin, gboolean is_discont, gint64 n_frames)
{
  const gboolean is_timed =
      segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (begin);
  const gint64 threshold =
      (gint64)rate * GST_TFX_TIMES_THRESHOLD / (gint64)GST_SECOND;
  gint64 first = place->is_set ? place->next : 0, stamped, off;

  if (is_timed) {
    stamped = find_frame (segment, rate, begin);
    off = ABS (stamped - first);
    if (off < threshold || !place->is_off)
      place->off_since = stamped;
    place->is_off = off >= threshold;
    if (!place->is_set || is_discont || off >= rate ||
        ABS (stamped - place->off_since) >= rate) {
      first = stamped;
      place->is_off = FALSE;
    }
  }
  place->is_set = TRUE;
  place->next = first + n_frames;
  return first;
}

/* ---- the queue of a key ---------------------------------------------------- */

void
gst_tfx_keyqueue_pop (GstTfxKey *key)
{
  GstTfxKeyItem *item = g_queue_pop_head (&key->items);

  key->n_queued -= item->n_frames;
  gst_buffer_unref (item->buffer);
  g_free (item);
}

void
gst_tfx_keyqueue_clear (GstTfxKey *key)
{
  while (key->items.head)
    gst_tfx_keyqueue_pop (key);
  key->place.is_set = FALSE;
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
  key->n_refused = 0;
}

void
gst_tfx_keyqueue_append (GstTfxKeys *keys, GstTfxKey *key,
    const GstTfxKeyItem *item)
{
  const gint64 n_late =
      CLAMP (keys->passed - item->begin, (gint64)0, item->n_frames);

  keys->n_dropped += n_late;
  key->end = MAX (key->end, item->begin + item->n_frames);
  if (n_late == item->n_frames) {
    gst_buffer_unref (item->buffer);
    return;
  }
  g_queue_push_tail (&key->items, g_memdup2 (item, sizeof *item));
  key->n_queued += item->n_frames;
}

/* Whether the queue must not become longer. */
static gboolean
is_full (const GstTfxKeys *keys, const GstTfxKey *key)
{
  const gint64 n_most =
      GST_TFX_KEYQUEUE_SECONDS * (gint64)keys->rate +
      (gint64)gst_util_uint64_scale (keys->latency, keys->rate, GST_SECOND);

  return key->n_queued >= n_most &&
         !(keys->is_waiting && key->end < keys->wanted);
}

gboolean
gst_tfx_keyqueue_wait (GstTfxKeys *keys, GstTfxKey *key, GstPad *pad,
    GstFlowReturn *flow)
{
  for (;;) {
    const gboolean is_off = key->pad != pad || key->is_flushing ||
                            keys->is_stopped || GST_PAD_IS_FLUSHING (pad);

    *flow = is_off ? GST_FLOW_FLUSHING : GST_FLOW_OK;
    if (is_off || keys->is_ended || key->is_unused ||
        (keys->rate == 0 && key->is_live))
      return FALSE;
    if (keys->rate > 0 && !is_full (keys, key))
      return TRUE;
    if (!key->is_live) {
      g_cond_wait (&keys->cond, &keys->lock);
      continue;
    }
    keys->n_dropped += ((GstTfxKeyItem *)key->items.head->data)->n_frames;
    gst_tfx_keyqueue_pop (key);
  }
}
