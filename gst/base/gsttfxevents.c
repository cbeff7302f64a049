/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxevents.c: events and queries of a GstTfxElement.
 *
 * The filter keeps its state while the running time is continuous.
 */
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- segments ------------------------------------------------------------ */

static gboolean
gst_tfx_events_is_near (GstClockTime a, GstClockTime b)
{
  return GST_CLOCK_TIME_IS_VALID (a) && GST_CLOCK_TIME_IS_VALID (b) &&
         ABS (GST_CLOCK_DIFF (a, b)) <=
             (GstClockTimeDiff)GST_TFX_TIMES_THRESHOLD;
}

static GstClockTime
gst_tfx_events_find_begin (const GstSegment *segment)
{
  return segment->rate < 0.0 ? segment->stop : segment->start;
}

/* When the next frame begins in the new segment; none if that is not
 * contiguous. */
static GstClockTime
gst_tfx_events_find_next (GstTfxElementPrivate *priv, const GstSegment *next)
{
  const GstSegment *last = &priv->segment;
  const GstClockTime begin = gst_tfx_events_find_begin (next);
  GstClockTime end = priv->times.next, time;

  if (last->format != GST_FORMAT_TIME || next->format != GST_FORMAT_TIME ||
      (last->rate < 0.0) != (next->rate < 0.0) ||
      !GST_CLOCK_TIME_IS_VALID (begin) ||
      !GST_CLOCK_TIME_IS_VALID (gst_tfx_events_find_begin (last)))
    return GST_CLOCK_TIME_NONE;
  if (!GST_CLOCK_TIME_IS_VALID (end))
    end = gst_tfx_times_end (&priv->times, gst_tfx_events_find_begin (last),
        priv->times.n_since);
  time = gst_segment_to_running_time (last, GST_FORMAT_TIME,
      CLAMP (end, last->start, last->stop));
  /* An update: timestamps keep their running times. */
  if (gst_tfx_events_is_near (time,
          gst_segment_to_running_time (next, GST_FORMAT_TIME, end)))
    return end;
  if (gst_tfx_events_is_near (time,
          gst_segment_to_running_time (next, GST_FORMAT_TIME, begin)))
    return begin;
  return GST_CLOCK_TIME_NONE;
}

static void
gst_tfx_events_set_segment (GstTfxElementPrivate *priv,
    const GstSegment *segment)
{
  priv->segment = *segment;
  priv->times.is_backwards = segment->rate < 0.0;
}

static gboolean
gst_tfx_events_segment (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime next = GST_CLOCK_TIME_NONE;
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  if (priv->is_running) {
    next = gst_tfx_events_find_next (priv, segment);
    if (!GST_CLOCK_TIME_IS_VALID (next))
      gst_tfx_out_drain (self, "a segment that is not contiguous");
    else
      gst_tfx_times_move_stamps (&priv->times, next,
          gst_tfx_events_find_begin (segment));
  }
  GST_DEBUG_OBJECT (self, "%s %" GST_SEGMENT_FORMAT,
      GST_CLOCK_TIME_IS_VALID (next) ? "contiguous segment" : "segment",
      segment);
  gst_tfx_events_set_segment (priv, segment);
  priv->begins_segment = TRUE;
  return gst_tfx_out_event (self, event);
}

/* ---- the sink pad -------------------------------------------------------- */

void
gst_tfx_events_forget_position (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  __atomic_store_n (&priv->position_in, GST_CLOCK_TIME_NONE, __ATOMIC_RELAXED);
  __atomic_store_n (&priv->position_out, GST_CLOCK_TIME_NONE, __ATOMIC_RELAXED);
}

/* Drops held frames and events; sticky events are kept, except SEGMENT. */
static gboolean
gst_tfx_events_flush_stop (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GQueue kept = G_QUEUE_INIT;
  GstSegment segment;
  GstEvent *held;
  gboolean ok;

  while ((held = gst_tfx_times_take_event (&priv->times))) {
    if (GST_EVENT_IS_STICKY (held) &&
        GST_EVENT_TYPE (held) != GST_EVENT_SEGMENT)
      g_queue_push_tail (&kept, held);
    else
      gst_event_unref (held);
  }
  gst_tfx_out_reset (self, "flush");
  priv->discont_in = priv->discont_out = FALSE;
  gst_tfx_events_forget_position (self);
  gst_segment_init (&segment, GST_FORMAT_UNDEFINED);
  gst_tfx_events_set_segment (priv, &segment);
  ok = gst_pad_push_event (priv->src, event);
  while ((event = g_queue_pop_head (&kept)))
    gst_pad_push_event (priv->src, event);
  return ok;
}

gboolean
gst_tfx_events_sink (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstTfxElement *self = GST_TFX_ELEMENT (parent);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (priv->keys)
    gst_tfx_key_see_event (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_tfx_flight_drop (self);
  else if (GST_EVENT_IS_SERIALIZED (event))
    gst_tfx_flight_drain (self);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      return gst_tfx_caps_event (self, event);
    case GST_EVENT_SEGMENT:
      return gst_tfx_events_segment (self, event);
    case GST_EVENT_GAP:
      return gst_tfx_stream_gap (self, event);
    case GST_EVENT_FLUSH_STOP:
      return gst_tfx_events_flush_stop (self, event);
    case GST_EVENT_EOS:
      gst_tfx_out_drain (self, "end of stream");
      break;
    case GST_EVENT_SEGMENT_DONE:
      /* Without latency the next segment may be contiguous. */
      if (priv->delay > 0)
        gst_tfx_out_drain (self, "end of the segment");
      break;
    case GST_EVENT_STREAM_START:
      priv->bad_told = FALSE;
      gst_tfx_flight_ask_again (self);
      return gst_tfx_out_event (self, event);
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return gst_tfx_out_event (self, event);
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* ---- the source pad ------------------------------------------------------ */

/* Any thread. */
gboolean
gst_tfx_events_src (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstTfxElement *self = GST_TFX_ELEMENT (parent);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstSeekFlags flags = 0;
  gboolean ok;

  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE) {
    GST_DEBUG_OBJECT (self, "reconfigure: looks up the next element again");
    g_atomic_int_set (&priv->relinked, TRUE);
    gst_tfx_caps_see_link (self);
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    gst_event_parse_seek (event, NULL, NULL, &flags, NULL, NULL, NULL, NULL);
  if (!(flags & GST_SEEK_FLAG_FLUSH) || !g_atomic_int_get (&priv->has_keys))
    return gst_pad_event_default (pad, parent, event);
  gst_tfx_key_seek (self, TRUE);
  ok = gst_pad_event_default (pad, parent, event);
  gst_tfx_key_seek (self, FALSE);
  return ok;
}

/* ---- queries ------------------------------------------------------------- */

/* Answers with the stream time at the pad.  FALSE if it is unknown. */
static gboolean
gst_tfx_events_answer_position (GstTfxElement *self, GstPad *pad,
    GstQuery *query)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime position =
      __atomic_load_n (pad == priv->sink ? &priv->position_in
                                         : &priv->position_out,
          __ATOMIC_RELAXED);
  const GstSegment *segment;
  gboolean ok = FALSE;
  GstFormat format;
  GstEvent *event;

  gst_query_parse_position (query, &format, NULL);
  event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  if (format == GST_FORMAT_TIME && event &&
      GST_CLOCK_TIME_IS_VALID (position)) {
    gst_event_parse_segment (event, &segment);
    ok = segment->format == GST_FORMAT_TIME;
    if (ok)
      gst_query_set_position (query, format,
          gst_segment_to_stream_time (segment, format, position));
  }
  gst_clear_event (&event);
  return ok;
}

static gboolean
gst_tfx_events_answer_latency (GstTfxElement *self, GstQuery *query)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime latency, min, max;
  gboolean live;

  if (!gst_pad_peer_query (priv->sink, query))
    return FALSE;
  GST_OBJECT_LOCK (self);
  latency = priv->latency;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &min, &max);
  if (g_atomic_int_get (&priv->has_keys))
    gst_tfx_key_add_latency (self, &live, &min, &max);
  GST_DEBUG_OBJECT (self,
      "latency: upstream %" GST_TIME_FORMAT ", own %" GST_TIME_FORMAT,
      GST_TIME_ARGS (min), GST_TIME_ARGS (latency));
  min += latency;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += latency;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

/* Any thread. */
gboolean
gst_tfx_events_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstTfxElement *self = GST_TFX_ELEMENT (parent);
  GstCaps *filter, *caps;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      caps = gst_tfx_caps_query (self, pad, filter);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      /* Accepts them, so that the element's error explains the limit. */
      if (GST_PAD_IS_SINK (pad) && gst_tfx_caps_limits_channels (self)) {
        gst_query_parse_accept_caps (query, &caps);
        gst_query_set_accept_caps_result (query,
            gst_tfx_caps_is_in_template (pad, caps));
        return TRUE;
      }
      break;
    case GST_QUERY_ALLOCATION:
      if (GST_PAD_IS_SINK (pad))
        return gst_tfx_caps_allocation (self, query);
      break;
    case GST_QUERY_DRAIN:
      if (GST_PAD_IS_SINK (pad))
        gst_tfx_flight_drain (self);
      break;
    case GST_QUERY_CONTEXT:
      if (gst_tfx_cuda_answer_query (GST_ELEMENT (self), query,
              &gst_tfx_element_get_private (self)->device.context))
        return TRUE;
      break;
    case GST_QUERY_LATENCY:
      if (GST_PAD_IS_SRC (pad))
        return gst_tfx_events_answer_latency (self, query);
      break;
    case GST_QUERY_POSITION:
      if (gst_tfx_events_answer_position (self, pad, query))
        return TRUE;
      break;
    default:
      break;
  }
  return gst_pad_query_default (pad, parent, query);
}
