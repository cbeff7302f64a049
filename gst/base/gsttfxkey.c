/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkey.c: the main stream of an element with key pads: its channels, and
 * how it waits for its keys and copies them.
 */
#include "gsttfxkeyqueue.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* By how much a live key may come later than its latency.  The latency of the
 * element contains it. */
#define SLACK (10 * GST_MSECOND)

/* After it the main stream warns that a key of a file sends nothing. */
#define LONG_WAIT (5 * GST_SECOND)

/* ---- states ---------------------------------------------------------------- */

static void
free_key (gpointer data)
{
  gst_tfx_keyqueue_clear (data);
  g_free (data);
}

void
gst_tfx_key_init (GstTfxElement *self)
{
  GstTfxKeys *keys = g_new0 (GstTfxKeys, 1);

  g_mutex_init (&keys->lock);
  g_cond_init (&keys->cond);
  keys->list = g_ptr_array_new_with_free_func (free_key);
  keys->passed = keys->wanted = GST_TFX_KEYQUEUE_NOWHERE;
  gst_tfx_element_get_private (self)->keys = keys;
}

void
gst_tfx_key_free (GstTfxKeys *keys)
{
  if (!keys)
    return;
  g_ptr_array_unref (keys->list);
  g_mutex_clear (&keys->lock);
  g_cond_clear (&keys->cond);
  g_free (keys);
}

void
gst_tfx_key_reset (GstTfxElement *self, gboolean is_started)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  if (!keys)
    return;
  g_mutex_lock (&keys->lock);
  for (guint i = keys->list->len; i-- > 0;) {
    GstTfxKey *key = keys->list->pdata[i];

    gst_tfx_keyqueue_reset (key);
    key->n_channels = 0;
    if (!key->pad && !key->is_leaving)
      g_ptr_array_remove_index (keys->list, i);
  }
  g_atomic_int_set (&gst_tfx_element_get_private (self)->has_keys,
      keys->list->len > 0);
  gst_audio_info_init (&keys->info);
  keys->is_started = is_started;
  keys->is_stopped = keys->is_ended = keys->is_latency_known = FALSE;
  keys->has_warned = FALSE;
  keys->place = (GstTfxKeyPlace){ 0 };
  keys->passed = GST_TFX_KEYQUEUE_NOWHERE;
  keys->block = 0;
  if (is_started)
    keys->n_used = keys->n_silent = keys->n_dropped = 0;
  g_mutex_unlock (&keys->lock);
}

void
gst_tfx_key_change_state (GstTfxElement *self, GstStateChange transition)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  if (!keys)
    return;
  g_mutex_lock (&keys->lock);
  keys->is_stopped = transition == GST_STATE_CHANGE_PAUSED_TO_READY;
  keys->is_playing = transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
}

/* ---- channels -------------------------------------------------------------- */

gboolean
gst_tfx_key_get_channels (GstTfxElement *self, guint n_in, GstTfxChannels *n,
    guint *least)
{
  const GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean is_one = FALSE, is_open = FALSE;
  guint n_keys = 0, n_needed;

  *least = 1;
  *n = (GstTfxChannels){ 0 };
  if (klass->get_channels)
    is_one = klass->get_channels (self, n, least);
  if (g_atomic_int_get (&priv->has_keys)) {
    g_mutex_lock (&priv->keys->lock);
    for (guint i = 0; i < priv->keys->list->len; i++) {
      const GstTfxKey *key = priv->keys->list->pdata[i];

      n_keys += key->n_channels;
      is_open |= key->n_channels == 0 && (key->pad || priv->keys->is_started);
    }
    g_mutex_unlock (&priv->keys->lock);
    /* The keys may get other caps than the main stream is asked for. */
    if (n_in == 0) {
      *n = (GstTfxChannels){ 0 };
      *least = 1;
      return FALSE;
    }
  }
  n_needed = is_one ? n->in : *least;
  if (is_open && n_needed > n_in + n_keys)
    n_keys = n_needed - n_in;
  *least = *least > n_keys ? *least - n_keys : 1;
  if (!is_one) {
    const guint all = n_in + n_keys;

    *n = (GstTfxChannels){ n_in, n->out ? n->out : n_in, MAX (n->most, all),
      n_keys, n->out ? n->out : all };
    return FALSE;
  }
  n->key = n_keys;
  n->made = n->out;
  /* A Mix that makes another number of channels decides what is put out. */
  if (n->out == n->in && n->out > n_keys)
    n->out -= n_keys;
  n->in = n->in > n_keys ? n->in - n_keys : 0;
  return TRUE;
}

/* ---- waiting for the keys --------------------------------------------------- */

void
gst_tfx_key_see_event (GstTfxElement *self, GstEvent *event)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  const GstEventType type = GST_EVENT_TYPE (event);
  const gboolean is_done =
      type == GST_EVENT_EOS || type == GST_EVENT_SEGMENT_DONE;
  GstAudioInfo info;
  GstCaps *caps;

  g_mutex_lock (&keys->lock);
  if (type == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    if (gst_audio_info_from_caps (&info, caps))
      gst_tfx_keyqueue_set_info (keys, &info);
  } else if (type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP) {
    keys->place = (GstTfxKeyPlace){ 0 };
    keys->passed = GST_TFX_KEYQUEUE_NOWHERE;
  } else if (type == GST_EVENT_STREAM_START) {
    keys->is_latency_known = FALSE;
  }
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_FLUSH_STOP || is_done)
    keys->is_ended = type == GST_EVENT_EOS;
  for (guint i = 0; i < keys->list->len; i++) {
    GstTfxKey *key = keys->list->pdata[i];

    if (is_done)
      gst_tfx_keyqueue_clear (key);
    if (type == GST_EVENT_SEGMENT_DONE || type == GST_EVENT_SEGMENT)
      key->is_unused = type == GST_EVENT_SEGMENT_DONE;
  }
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
}

void
gst_tfx_key_seek (GstTfxElement *self, gboolean is_seeking)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  g_mutex_lock (&keys->lock);
  for (guint i = 0; i < keys->list->len; i++)
    ((GstTfxKey *)keys->list->pdata[i])->is_seeking = is_seeking;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
}

/* A key whose frames up to the wanted ones are still to come, or NULL. */
static GstTfxKey *
find_missing (const GstTfxKeys *keys)
{
  for (guint i = 0; i < keys->list->len; i++) {
    GstTfxKey *key = keys->list->pdata[i];

    if (key->pad && gst_pad_is_linked (key->pad) &&
        (key->is_seeking ||
            (!key->is_ended && (key->is_flushing || key->end < keys->wanted))))
      return key;
  }
  return NULL;
}

/* The latency of a pad's peer.  FALSE: it is not live. */
static gboolean
ask_latency (GstPad *pad, GstClockTime *min, GstClockTime *max)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean is_live = FALSE;

  *min = 0;
  *max = GST_CLOCK_TIME_NONE;
  if (gst_pad_peer_query (pad, query))
    gst_query_parse_latency (query, &is_live, min, max);
  gst_query_unref (query);
  return is_live;
}

/* Waits until something changes; live until the frames from @first on are due,
 * else for LONG_WAIT.  FALSE: the time is over. */
static gboolean
wait_for_change (GstTfxElement *self, GstTfxKeys *keys, gint64 first)
{
  const gdouble speed = ABS (gst_tfx_element_get_private (self)->segment.rate);
  GstClock *clock = gst_element_get_clock (GST_ELEMENT (self));
  GstClockTimeDiff left = LONG_WAIT;
  gboolean is_endless = keys->has_warned;

  if (keys->is_live) {
    is_endless = !keys->is_playing || !clock;
    left = (GstClockTimeDiff)(gst_element_get_base_time (GST_ELEMENT (self)) +
                              keys->latency);
    left += (GstClockTimeDiff)((gdouble)MAX (first, 0) * GST_SECOND /
                               keys->info.rate / speed);
    if (clock)
      left -= (GstClockTimeDiff)gst_clock_get_time (clock);
  }
  gst_clear_object (&clock);
  if (is_endless)
    g_cond_wait (&keys->cond, &keys->lock);
  return is_endless ||
         (left > 0 &&
             (g_cond_wait_until (&keys->cond, &keys->lock,
                  g_get_monotonic_time () + GST_TIME_AS_USECONDS (left) + 1) ||
                 keys->is_live));
}

GstFlowReturn
gst_tfx_key_wait (GstTfxElement *self, GstClockTime begin, gboolean is_discont,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxKeys *keys = priv->keys;
  GstFlowReturn flow = GST_FLOW_OK;
  guint number = 0;
  const GstTfxKey *key;
  GstTfxKeyPlace place;
  GstClockTime block;
  gboolean is_longer;
  gint64 first;

  if (n_frames == 0)
    return GST_FLOW_OK;
  g_mutex_lock (&keys->lock);
  block =
      gst_util_uint64_scale (n_frames, GST_SECOND, (guint64)keys->info.rate);
  is_longer = block > keys->block;
  keys->block = MAX (block, keys->block);
  if (is_longer) {
    g_mutex_unlock (&keys->lock);
    gst_tfx_keyqueue_change_latency (self);
    g_mutex_lock (&keys->lock);
  }
  keys->is_ended = FALSE;
  if (is_discont)
    keys->place.is_set = FALSE;
  place = keys->place;
  first = gst_tfx_keyqueue_place (&place, keys->info.rate,
      gst_tfx_keyqueue_time (&priv->segment, begin), FALSE, (gint64)n_frames);
  keys->wanted = place.next;
  g_cond_broadcast (&keys->cond);
  while (flow == GST_FLOW_OK && (key = find_missing (keys))) {
    number = key->number;
    if (GST_PAD_IS_FLUSHING (priv->sink) || keys->is_stopped) {
      flow = GST_FLOW_FLUSHING;
    } else if (!keys->is_latency_known) {
      GstClockTime min, max;
      gboolean is_live;

      g_mutex_unlock (&keys->lock);
      is_live = ask_latency (priv->sink, &min, &max);
      gst_tfx_key_add_latency (self, &is_live, &min, &max);
      g_mutex_lock (&keys->lock);
    } else if (key->thread == g_thread_self ()) {
      flow = GST_FLOW_ERROR;
    } else if (!wait_for_change (self, keys, first)) {
      if (keys->is_live)
        break;
      keys->has_warned = TRUE;
      g_mutex_unlock (&keys->lock);
      GST_ELEMENT_WARNING (self, STREAM, FAILED,
          ("The stream waits for key_%u, which sends nothing. If both come "
           "from one tee or demuxer, put a queue before each pad; for a key "
           "with gaps send GAP events.",
              number),
          (NULL));
      g_mutex_lock (&keys->lock);
    }
  }
  keys->wanted = GST_TFX_KEYQUEUE_NOWHERE;
  g_mutex_unlock (&keys->lock);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, STREAM, FAILED,
        ("One thread streams into the pads sink and key_%u, so it cannot wait "
         "for the key. Put a queue before each of them.",
            number),
        (NULL));
  return flow;
}

/* ---- copying the keys -------------------------------------------------------- */

void
gst_tfx_key_fill (GstTfxElement *self, GstBuffer *buffer, GstClockTime begin,
    gsize n_frames, gboolean is_reversed)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const guint n_all = priv->channels.in + priv->channels.key;
  GstTfxKeys *keys = priv->keys;
  guint channel = priv->channels.in;
  gboolean is_mapped;
  GstAudioBuffer to;
  gint64 first;

  is_mapped =
      priv->channels.key > 0 && n_frames > 0 &&
      gst_audio_buffer_map (&to, &priv->info, buffer, GST_MAP_READWRITE);
  g_mutex_lock (&keys->lock);
  first = gst_tfx_keyqueue_place (&keys->place, keys->info.rate,
      gst_tfx_keyqueue_time (&priv->segment, begin), FALSE, (gint64)n_frames);
  keys->passed = keys->place.next;
  for (guint i = 0; i < keys->list->len; i++) {
    GstTfxKey *key = keys->list->pdata[i];
    const guint n = MIN (key->n_channels, n_all - channel);
    const gint64 n_copied =
        is_mapped && n > 0
            ? gst_tfx_keyqueue_copy (key, &to, channel, n, first, is_reversed)
            : 0;

    keys->n_silent += n_frames - n_copied;
    keys->n_used += n_copied;
    gst_tfx_keyqueue_pass (key, keys->passed);
    channel += n;
  }
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  if (is_mapped)
    gst_audio_buffer_unmap (&to);
}

/* ---- latency and stats -------------------------------------------------------- */

void
gst_tfx_key_add_latency (GstTfxElement *self, gboolean *is_live,
    GstClockTime *min, GstClockTime *max)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  GstClockTime most = GST_CLOCK_TIME_NONE, key_min, key_max;
  gboolean has_pads = FALSE;

  if (!*is_live) {
    *min = 0;
    *max = GST_CLOCK_TIME_NONE;
  }
  g_mutex_lock (&keys->lock);
  keys->is_latency_known = TRUE;
  for (guint i = 0; i < keys->list->len; i++) {
    GstTfxKey *key = keys->list->pdata[i];
    GstPad *pad = key->pad;
    gboolean is_key_live;

    if (!pad)
      continue;
    has_pads = TRUE;
    gst_object_ref (pad);
    g_mutex_unlock (&keys->lock);
    is_key_live = ask_latency (pad, &key_min, &key_max);
    g_mutex_lock (&keys->lock);
    /* Without the lock another key may have come to its index. */
    key = i < keys->list->len ? keys->list->pdata[i] : NULL;
    if (key && key->pad == pad) {
      key->is_live = is_key_live;
      key_min += key->lag;
    }
    gst_object_unref (pad);
    *is_live |= is_key_live;
    *min = is_key_live ? MAX (*min, key_min) : *min;
    most = is_key_live ? MIN (most, key_max) : most;
  }
  if (*is_live && has_pads) {
    /* The queues of the keys hold a second more than the latency. */
    if (GST_CLOCK_TIME_IS_VALID (most))
      *max = MIN (*max, most + GST_TFX_KEYQUEUE_SECONDS * GST_SECOND + *min);
    /* The last frame of a buffer needs the key's frame of that time. */
    *min += keys->block + SLACK;
    if (GST_CLOCK_TIME_IS_VALID (*max))
      *max += keys->block + SLACK;
  }
  keys->is_live = *is_live;
  keys->latency = *is_live ? *min : 0;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
}

void
gst_tfx_key_add_stats (GstTfxElement *self, GstStructure *stats)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  g_mutex_lock (&keys->lock);
  gst_structure_set (stats, "key-frames", G_TYPE_UINT64, keys->n_used,
      "key-silent", G_TYPE_UINT64, keys->n_silent, "key-dropped", G_TYPE_UINT64,
      keys->n_dropped, NULL);
  g_mutex_unlock (&keys->lock);
}

void
gst_tfx_key_reset_stats (GstTfxElement *self)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  if (!keys)
    return;
  g_mutex_lock (&keys->lock);
  keys->n_used = keys->n_silent = keys->n_dropped = 0;
  g_mutex_unlock (&keys->lock);
}
