/* SPDX-License-Identifier: LGPL-2.1-or-later
 * topostream.c: the stream through a topology, and what is heard at its ends.
 */
#include "topology.h"

#define LAST_ERA(self)                                                         \
  (&g_array_index ((self)->eras, TfxModelEra, (self)->eras->len - 1))

/* Without one a pad would take no other caps than its first. */
static GstStaticPadTemplate any_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* ---- the ends ------------------------------------------------------------- */

/* A buffer that is read later. */
typedef struct
{
  GstBuffer *buffer;
  GstCaps *caps;
  guint at; /* its first frame among those heard */
} Kept;

static void
read_buffer (TfxTopologyEnd *end, GstBuffer *buffer, GstCaps *caps, guint at)
{
  gsize n;
  g_autofree gdouble *values = tfx_deeds_values (buffer, caps, &n);

  if (!values)
    tfx_topology_complain (end->topology, "the channels do not agree");
  for (gsize i = 0; values && i < n; i++)
    g_array_index (end->heard, TfxModelFrame, at + i).value = values[i];
}

static void
read_kept (TfxTopologyEnd *end, guint n_most)
{
  while (g_queue_get_length (&end->kept) > n_most) {
    Kept *kept = g_queue_pop_head (&end->kept);

    read_buffer (end, kept->buffer, kept->caps, kept->at);
    gst_buffer_unref (kept->buffer);
    gst_caps_unref (kept->caps);
    g_free (kept);
  }
}

static GstFlowReturn
hear_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  TfxTopologyEnd *end = pad->chaindata;
  TfxTopology *self = end->topology;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const guint at = end->heard->len;
  guint64 number, duration;
  GstAudioInfo info;
  gsize n;

  fail_unless (caps && gst_audio_info_from_caps (&info, caps));
  n = tfx_deeds_n_frames (buffer, &info);
  if (!tfx_deeds_number (buffer, &end->segment, info.rate, &number))
    tfx_topology_complain (self,
        "a buffer comes at %" GST_TIME_FORMAT
        " in a segment that begins at %" GST_TIME_FORMAT
        " and has the base %" GST_TIME_FORMAT ", which is the time of no frame",
        GST_TIME_ARGS (GST_BUFFER_PTS (buffer)),
        GST_TIME_ARGS (end->segment.start), GST_TIME_ARGS (end->segment.base));
  duration = gst_util_uint64_scale (n, GST_SECOND, info.rate);
  if (ABS (GST_CLOCK_DIFF (GST_BUFFER_DURATION (buffer), duration)) > 20)
    tfx_topology_complain (self,
        "%u frames have the duration %" GST_TIME_FORMAT, (guint)n,
        GST_TIME_ARGS (GST_BUFFER_DURATION (buffer)));
  for (gsize i = 0; i < n; i++) {
    TfxModelFrame frame = { number + i, 0, 0.0 };

    g_array_append_val (end->heard, frame);
  }
  if (end->n_buffers++ % 3 == 2) {
    Kept *kept = g_new (Kept, 1);

    *kept = (Kept){ gst_buffer_ref (buffer), gst_caps_ref (caps), at };
    g_queue_push_tail (&end->kept, kept);
  } else {
    read_buffer (end, buffer, caps, at);
  }
  read_kept (end, 3);
  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
  return GST_FLOW_OK;
}

static gboolean
hear_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  TfxTopologyEnd *end = pad->eventdata;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_event_copy_segment (event, &end->segment);
  g_mutex_lock (&end->topology->lock);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    end->is_ended = TRUE;
    g_cond_broadcast (&end->topology->cond);
  }
  g_mutex_unlock (&end->topology->lock);
  gst_event_unref (event);
  return TRUE;
}

void
tfx_topology_open_ends (TfxTopology *self, guint n_ends)
{
  self->n_ends = n_ends;
  for (guint i = 0; i < n_ends; i++) {
    TfxTopologyEnd *end = &self->ends[i];

    end->topology = self;
    end->heard = g_array_new (FALSE, FALSE, sizeof (TfxModelFrame));
    end->pad = gst_object_ref_sink (
        gst_pad_new_from_static_template (&any_template, "sink"));
    gst_pad_set_chain_function_full (end->pad, hear_buffer, end, NULL);
    gst_pad_set_event_function_full (end->pad, hear_event, end, NULL);
  }
}

void
tfx_topology_close_ends (TfxTopology *self)
{
  for (guint i = 0; i < self->n_ends; i++) {
    TfxTopologyEnd *end = &self->ends[i];

    gst_pad_set_active (end->pad, FALSE);
    read_kept (end, 0);
    g_array_unref (end->heard);
    gst_object_unref (end->pad);
  }
}

/* ---- the stream ------------------------------------------------------------ */

static void
push_segment (TfxTopology *self)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = self->origin;
  gst_pad_push_event (self->src, gst_event_new_segment (&segment));
}

static void
push_caps (TfxTopology *self)
{
  g_autoptr (GstCaps) caps = gst_audio_info_to_caps (&self->info);

  gst_pad_push_event (self->src, gst_event_new_caps (caps));
}

static void
begin_era (TfxTopology *self)
{
  TfxModelEra era = { self->next, self->next, FALSE };

  g_array_append_val (self->eras, era);
  self->is_refused = FALSE;
}

static void
end_era (TfxTopology *self)
{
  LAST_ERA (self)->to = self->next;
  LAST_ERA (self)->is_cut = TRUE;
  self->next += 1000 - self->next % 1000;
}

void
tfx_topology_start (TfxTopology *self)
{
  begin_era (self);
  for (guint i = 0; i < self->n_ends; i++)
    gst_pad_set_active (self->ends[i].pad, TRUE);
  if (gst_element_set_state (self->bin, GST_STATE_PLAYING) !=
      GST_STATE_CHANGE_SUCCESS)
    tfx_topology_complain (self, "it does not start");
  gst_pad_set_active (self->src, TRUE);
  gst_pad_push_event (self->src, gst_event_new_stream_start ("tfx"));
  push_caps (self);
  push_segment (self);
}

void
tfx_topology_push (TfxTopology *self, gsize n_frames)
{
  GstBuffer *buffer;
  GstFlowReturn flow;

  g_mutex_lock (&self->driving);
  buffer = tfx_deeds_buffer (&self->info, self->next, n_frames);
  GST_BUFFER_PTS (buffer) -= self->origin;
  self->next += n_frames;
  LAST_ERA (self)->to = self->next;
  /* As a source does: one branch of a tee may still take what the other has
   * refused. */
  if (self->is_refused) {
    gst_buffer_unref (buffer);
    g_mutex_unlock (&self->driving);
    return;
  }
  flow = gst_pad_push (self->src, buffer);
  self->is_refused = flow != GST_FLOW_OK;
  if (self->is_refused && !g_atomic_int_get (&self->is_flushing))
    tfx_topology_complain (self,
        "the buffer up to frame %" G_GUINT64_FORMAT " meets '%s'", self->next,
        gst_flow_get_name (flow));
  g_mutex_unlock (&self->driving);
}

void
tfx_topology_push_segment (TfxTopology *self, guint kind)
{
  g_mutex_lock (&self->driving);
  /* The same again, or one that begins where that one ends, as in a playlist. */
  if (kind % 2)
    self->origin =
        gst_util_uint64_scale (self->next, GST_SECOND, self->info.rate);
  push_segment (self);
  g_mutex_unlock (&self->driving);
}

void
tfx_topology_push_format (TfxTopology *self, GRand *rand)
{
  gboolean is_wide = g_rand_boolean (rand), is_planar = g_rand_boolean (rand);

  g_mutex_lock (&self->driving);
  self->info =
      tfx_check_info (is_wide ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          self->info.rate, self->info.channels,
          self->has_planes && is_planar ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                                        : GST_AUDIO_LAYOUT_INTERLEAVED);
  push_caps (self);
  g_mutex_unlock (&self->driving);
}

void
tfx_topology_flush (TfxTopology *self)
{
  g_atomic_int_set (&self->is_flushing, TRUE);
  gst_pad_push_event (self->src, gst_event_new_flush_start ());
  g_mutex_lock (&self->driving);
  end_era (self);
  gst_pad_push_event (self->src, gst_event_new_flush_stop (TRUE));
  begin_era (self);
  push_segment (self);
  g_atomic_int_set (&self->is_flushing, FALSE);
  g_mutex_unlock (&self->driving);
}

static void
look_at_bus (TfxTopology *self, GstMessageType types)
{
  GstMessage *message;

  while ((message = gst_bus_pop (self->bus))) {
    if (GST_MESSAGE_TYPE (message) & types) {
      gchar *text =
          gst_structure_to_string (gst_message_get_structure (message));

      tfx_topology_complain (self, "%s: %s", GST_MESSAGE_TYPE_NAME (message),
          text);
      g_free (text);
    }
    gst_message_unref (message);
  }
}

void
tfx_topology_restart (TfxTopology *self, GstState low)
{
  g_atomic_int_set (&self->is_flushing, TRUE);
  gst_element_set_state (self->bin, low);
  g_mutex_lock (&self->driving);
  gst_pad_set_active (self->src, FALSE);
  for (guint i = 0; i < self->n_ends; i++)
    gst_pad_set_active (self->ends[i].pad, FALSE);
  /* Elements that are stopped while they negotiate warn of it. */
  look_at_bus (self, GST_MESSAGE_ERROR);
  end_era (self);
  tfx_topology_start (self);
  g_atomic_int_set (&self->is_flushing, FALSE);
  g_mutex_unlock (&self->driving);
}

/* ---- the verdict ----------------------------------------------------------- */

static void
wait_for_ends (TfxTopology *self)
{
  const gint64 until = g_get_monotonic_time () + 90 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n_ends; i++) {
    while (!self->ends[i].is_ended) {
      if (g_cond_wait_until (&self->cond, &self->lock, until))
        continue;
      if (!self->error)
        self->error = g_strdup_printf ("end %u hears of no end", i);
      break;
    }
  }
  g_mutex_unlock (&self->lock);
}

static GArray *
pass_branch (TfxTopology *self, const TfxTopologyBranch *branch, GArray *frames)
{
  for (guint i = 0; i < branch->nodes->len; i++) {
    const TfxTopologyNode *node = g_ptr_array_index (branch->nodes, i);
    g_autofree gchar *error =
        tfx_model_node_pass (node->model, &frames, self->eras);

    if (error)
      tfx_topology_complain (self, "%s", error);
  }
  return frames;
}

static void
judge_end (TfxTopology *self, guint i, const GArray *frames)
{
  g_autofree gchar *error = NULL;

  read_kept (&self->ends[i], 0);
  error = tfx_model_compare (self->ends[i].heard, frames, self->eras);
  if (error)
    tfx_topology_complain (self, "end %u: %s", i, error);
}

gchar *
tfx_topology_end (TfxTopology *self)
{
  GArray *frames;

  gst_pad_push_event (self->src, gst_event_new_eos ());
  wait_for_ends (self);
  look_at_bus (self, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  for (guint i = 0; i < self->deeds->len; i++) {
    TfxDeeds *deeds = g_ptr_array_index (self->deeds, i);

    tfx_deeds_end (deeds);
    if (deeds->error)
      tfx_topology_complain (self, "%s", deeds->error);
  }
  frames =
      pass_branch (self, &self->branches[0], tfx_model_source (self->eras));
  if (self->n_branches == 1) {
    judge_end (self, 0, frames);
  } else {
    for (guint i = 0; i < 2; i++) {
      g_autoptr (GArray) copy = g_array_copy (frames);

      copy = pass_branch (self, &self->branches[1 + i], copy);
      judge_end (self, i, copy);
    }
  }
  g_array_unref (frames);
  return g_strdup (self->error);
}
