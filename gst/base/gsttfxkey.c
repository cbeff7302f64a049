/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkey.c: the main stream of an element with key pads: its channels, and
 * how it waits for its keys and copies them.
 */
#include "gsttfxkeyqueue.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* By how much a live key may come later than its latency: added to the latency
 * of the element. */
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
  keys->passed = GST_TFX_KEYQUEUE_NOWHERE;
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

/* The number of key channels; *is_open: a key has no caps yet. */
static guint
count_channels (GstTfxKeys *keys, gboolean *is_open)
{
  guint n = 0;

  g_mutex_lock (&keys->lock);
  *is_open = FALSE;
  for (guint i = 0; i < keys->list->len; i++) {
    const GstTfxKey *key = keys->list->pdata[i];

    n += key->n_channels;
    *is_open |= key->n_channels == 0 && (key->pad || keys->is_started);
  }
  g_mutex_unlock (&keys->lock);
  return n;
}

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
    n_keys = count_channels (priv->keys, &is_open);
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

/* Waits until something changes.  FALSE: the frames from @first on are due. */
static gboolean
wait_live (GstTfxElement *self, GstTfxKeys *keys, gint64 first)
{
  GstClock *clock =
      keys->is_playing ? gst_element_get_clock (GST_ELEMENT (self)) : NULL;
  const gdouble speed = ABS (gst_tfx_element_get_private (self)->segment.rate);
  GstClockTime due;
  GstClockTimeDiff left;

  if (!clock) {
    g_cond_wait (&keys->cond, &keys->lock);
    return TRUE;
  }
  due = gst_element_get_base_time (GST_ELEMENT (self)) + keys->latency +
        (GstClockTime)((gdouble)gst_util_uint64_scale (MAX (first, 0),
                           GST_SECOND, GST_AUDIO_INFO_RATE (&keys->info)) /
                       speed);
  left = GST_CLOCK_DIFF (gst_clock_get_time (clock), due);
  gst_object_unref (clock);
  if (left <= 0)
    return FALSE;
  g_cond_wait_until (&keys->cond, &keys->lock,
      g_get_monotonic_time () + GST_TIME_AS_USECONDS (left) + 1);
  return TRUE;
}

/* Waits until something changes, or for a while: then it warns, once. */
static void
wait_file (GstTfxElement *self, GstTfxKeys *keys, const GstTfxKey *key)
{
  const gint64 end = g_get_monotonic_time () + GST_TIME_AS_USECONDS (LONG_WAIT);
  const guint number = key->number;

  if (keys->has_warned) {
    g_cond_wait (&keys->cond, &keys->lock);
  } else if (!g_cond_wait_until (&keys->cond, &keys->lock, end)) {
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

static GstFlowReturn
wait_for_keys (GstTfxElement *self, GstTfxKeys *keys, gint64 first)
{
  GstPad *sink = gst_tfx_element_get_private (self)->sink;
  const GstTfxKey *key;

  while ((key = find_missing (keys))) {
    if (GST_PAD_IS_FLUSHING (sink) || keys->is_stopped)
      return GST_FLOW_FLUSHING;
    if (!keys->is_latency_known) {
      GstClockTime min, max;
      gboolean is_live;

      g_mutex_unlock (&keys->lock);
      is_live = ask_latency (sink, &min, &max);
      gst_tfx_key_add_latency (self, &is_live, &min, &max);
      g_mutex_lock (&keys->lock);
      continue;
    }
    if (key->thread == g_thread_self ()) {
      const guint number = key->number;

      g_mutex_unlock (&keys->lock);
      GST_ELEMENT_ERROR (self, STREAM, FAILED,
          ("One thread streams into the pads sink and key_%u, so it cannot "
           "wait for the key. Put a queue before each of them.",
              number),
          (NULL));
      g_mutex_lock (&keys->lock);
      return GST_FLOW_ERROR;
    }
    GST_LOG_OBJECT (self, "waits for key_%u up to frame %" G_GINT64_FORMAT,
        key->number, keys->wanted);
    if (!keys->is_live)
      wait_file (self, keys, key);
    else if (!wait_live (self, keys, first))
      return GST_FLOW_OK;
  }
  return GST_FLOW_OK;
}

GstFlowReturn
gst_tfx_key_wait (GstTfxElement *self, GstClockTime begin, gboolean is_discont,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxKeys *keys = priv->keys;
  GstFlowReturn flow = GST_FLOW_OK;
  gint64 first;
  GstTfxKeyPlace place;

  if (n_frames == 0)
    return GST_FLOW_OK;
  g_mutex_lock (&keys->lock);
  keys->is_ended = FALSE;
  if (is_discont)
    keys->place.is_set = FALSE;
  place = keys->place;
  first = gst_tfx_keyqueue_place (&place, GST_AUDIO_INFO_RATE (&keys->info),
      gst_tfx_keyqueue_time (&priv->segment, begin), FALSE, (gint64)n_frames);
  keys->wanted = place.next;
  keys->is_waiting = TRUE;
  g_cond_broadcast (&keys->cond);
  flow = wait_for_keys (self, keys, first);
  keys->is_waiting = FALSE;
  g_mutex_unlock (&keys->lock);
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
  const GstTfxKeyItem *item;
  gboolean is_mapped;
  GstAudioBuffer to;
  gint64 first;

  is_mapped =
      priv->channels.key > 0 && n_frames > 0 &&
      gst_audio_buffer_map (&to, &priv->info, buffer, GST_MAP_READWRITE);
  g_mutex_lock (&keys->lock);
  first = gst_tfx_keyqueue_place (&keys->place,
      GST_AUDIO_INFO_RATE (&keys->info),
      gst_tfx_keyqueue_time (&priv->segment, begin), FALSE, (gint64)n_frames);
  keys->passed = keys->place.next;
  for (guint i = 0; i < keys->list->len; i++) {
    GstTfxKey *key = keys->list->pdata[i];
    const guint n = MIN (key->n_channels, n_all - channel);
    gint64 n_copied = 0;

    if (is_mapped && n > 0)
      n_copied =
          gst_tfx_keyqueue_copy (key, &to, channel, n, first, is_reversed);
    n_copied = MIN (n_copied, (gint64)n_frames);
    keys->n_silent += n_frames - n_copied;
    keys->n_used += n_copied;
    while ((item = g_queue_peek_head (&key->items)) &&
           item->begin + item->n_frames <= keys->passed)
      gst_tfx_keyqueue_pop (key);
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
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);

  g_mutex_lock (&keys->lock);
  keys->is_latency_known = TRUE;
  for (guint i = 0; i < keys->list->len; i++) {
    const GstTfxKey *key = keys->list->pdata[i];

    if (key->pad)
      g_ptr_array_add (pads, gst_object_ref (key->pad));
  }
  if (!*is_live) {
    *min = 0;
    *max = GST_CLOCK_TIME_NONE;
  }
  for (guint i = 0; i < pads->len; i++) {
    gboolean is_key_live;

    g_mutex_unlock (&keys->lock);
    is_key_live = ask_latency (pads->pdata[i], &key_min, &key_max);
    g_mutex_lock (&keys->lock);
    for (guint k = 0; k < keys->list->len; k++) {
      if (((GstTfxKey *)keys->list->pdata[k])->pad == pads->pdata[i])
        ((GstTfxKey *)keys->list->pdata[k])->is_live = is_key_live;
    }
    *is_live |= is_key_live;
    *min = is_key_live ? MAX (*min, key_min) : *min;
    most = is_key_live ? MIN (most, key_max) : most;
  }
  if (*is_live && pads->len > 0) {
    /* The queues of the keys hold a second more than the latency. */
    if (GST_CLOCK_TIME_IS_VALID (most))
      *max = MIN (*max, most + GST_TFX_KEYQUEUE_SECONDS * GST_SECOND + *min);
    *min += SLACK;
    if (GST_CLOCK_TIME_IS_VALID (*max))
      *max += SLACK;
  }
  keys->is_live = *is_live;
  keys->latency = *is_live ? *min : 0;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  g_ptr_array_unref (pads);
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
