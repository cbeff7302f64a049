/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainreadings.c: element messages with the gains and loudness of a tfxchain's
 * stages.
 */
#include "gsttfxchainprivate.h"

static void
gst_tfx_chain_readings_post_now (GstTfxChain *self, GstClockTime end,
    GstClockTime duration, const GstSegment *segment)
{
  GPtrArray *stages = gst_tfx_chain_get_stages (self);
  GstStructure *message = gst_structure_new ("tfxchain", "endtime",
      G_TYPE_UINT64, end, "timestamp", G_TYPE_UINT64, end - duration,
      "duration", G_TYPE_UINT64, duration, "stream-time", G_TYPE_UINT64,
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, end - duration),
      "running-time", G_TYPE_UINT64,
      gst_segment_to_running_time (segment, GST_FORMAT_TIME, end - duration),
      NULL);

  for (guint i = 0; i < stages->len; i++) {
    GstTfxChainStage *stage = stages->pdata[i];
    GstStructure *stats =
        gst_tfx_chain_stage_take_stats (stage, GST_TFX_CHAIN_STAGE_MESSAGES);

    if (stats)
      gst_structure_set (message, GST_OBJECT_NAME (stage), GST_TYPE_STRUCTURE,
          stats, NULL);
    g_clear_pointer (&stats, gst_structure_free);
  }
  g_ptr_array_unref (stages);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), message));
}

/* Starts an interval.  It includes the elapsed part of the previous one, in another segment,
 * so that items of a playlist may be shorter than an interval. */
static void
gst_tfx_chain_readings_begin (GstTfxChain *self, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (self->last_message))
    self->message_late += self->last_end - self->last_message;
  else
    self->message_late = 0;
  self->last_message = time;
}

/* Whether a buffer continues the last one, after an update of the segment. */
static gboolean
gst_tfx_chain_readings_goes_on (const GstTfxChain *self, GstClockTime begin,
    GstClockTime end)
{
  return GST_CLOCK_TIME_IS_VALID (self->last_message) &&
         end >= self->last_end &&
         ABS (GST_CLOCK_DIFF (begin, self->last_end)) < GST_MSECOND;
}

void
gst_tfx_chain_readings_post (GstTfxElement *element, GstClockTime begin,
    GstClockTime end, const GstSegment *segment)
{
  GstTfxChain *self = (GstTfxChain *)element;
  const guint64 interval =
      __atomic_load_n (&self->message_interval, __ATOMIC_RELAXED);
  GstClockTime duration;

  if (G_LIKELY (interval == 0)) {
    self->last_message = GST_CLOCK_TIME_NONE;
    return;
  }
  if (!GST_CLOCK_TIME_IS_VALID (end) || segment->format != GST_FORMAT_TIME)
    return;
  /* An interval starts with the first buffer, after a seek or a new segment, with each
   * buffer in reverse playback, and when messages are enabled. */
  if (GST_CLOCK_TIME_IS_VALID (begin) &&
      !gst_tfx_chain_readings_goes_on (self, begin, end))
    gst_tfx_chain_readings_begin (self, begin);
  else if (!GST_CLOCK_TIME_IS_VALID (self->last_message) ||
           end < self->last_message)
    gst_tfx_chain_readings_begin (self, end);
  self->last_end = end;
  duration = end - self->last_message;
  if (duration + self->message_late < interval)
    return;
  gst_tfx_chain_readings_post_now (self, end, duration, segment);
  /* Keeps the excess, so that it does not accumulate. */
  self->message_late = (duration + self->message_late) % interval;
  self->last_message = end;
}
