/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeypad.c: the request pads key_%u, and their streaming threads.
 */
#include <stdio.h>

#include "gsttfxkeyqueue.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Seconds at another rate that are dropped while upstream renegotiates. */
#define REFUSED_SECONDS 2

#define FORMATS GST_AUDIO_NE (F32) ", " GST_AUDIO_NE (F64)
#define KEY_CAPS                                                               \
  "audio/x-raw, format = (string) { " FORMATS " }, "                           \
  "rate = (int) [ 1, MAX ], channels = (int) [ 1, 65536 ], "                   \
  "layout = (string) { interleaved, non-interleaved }"

/* ---- the streaming thread of a key ----------------------------------------- */

/* The caps that the pad can have: the rate of the main stream, and after its
 * first caps the same number of channels. */
static GstCaps *
get_caps (GstTfxKeys *keys, GstTfxKey *key, GstPad *pad)
{
  GstCaps *caps = gst_caps_make_writable (gst_pad_get_pad_template_caps (pad));

  g_mutex_lock (&keys->lock);
  if (keys->rate > 0)
    gst_caps_set_simple (caps, "rate", G_TYPE_INT, keys->rate, NULL);
  if (key->info.rate > 0)
    gst_caps_set_simple (caps, "channels", G_TYPE_INT, key->info.channels,
        NULL);
  g_mutex_unlock (&keys->lock);
  return caps;
}

/* A buffer at another rate than the main stream: asks upstream for that rate,
 * once, or posts an error. */
static GstFlowReturn
refuse_rate (GstTfxElement *self, GstTfxKey *key, GstPad *pad, gint64 n_frames)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  GstCaps *caps = get_caps (keys, key, pad);
  GstCaps *possible = gst_pad_peer_query_caps (pad, caps);
  const gboolean is_possible = !gst_caps_is_empty (possible);
  gint rate;

  gst_caps_unref (possible);
  gst_caps_unref (caps);
  if (is_possible && key->n_refused == 0)
    gst_pad_push_event (pad, gst_event_new_reconfigure ());
  key->n_refused += n_frames;
  g_mutex_lock (&keys->lock);
  keys->n_dropped += n_frames;
  rate = keys->rate;
  g_mutex_unlock (&keys->lock);
  if (is_possible &&
      key->n_refused <= REFUSED_SECONDS * (gint64)key->info.rate) {
    GST_WARNING_OBJECT (pad,
        "dropped %" G_GINT64_FORMAT " frames at %d Hz: the stream has %d Hz",
        n_frames, key->info.rate, rate);
    return GST_FLOW_OK;
  }
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("%s has %d Hz, but the stream at the sink pad has %d Hz. Put "
       "audioresample before %s.",
          GST_PAD_NAME (pad), key->info.rate, rate, GST_PAD_NAME (pad)),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Checks and clips a buffer, and runs what is pending in it.  Takes it; NULL
 * with *flow if no frame remains. */
static GstBuffer *
check_buffer (GstTfxElement *self, GstTfxKey *key, GstPad *pad,
    GstBuffer *buffer, GstFlowReturn *flow)
{
  gchar *why = NULL;

  *flow = GST_FLOW_OK;
  if (key->info.rate == 0)
    why = g_strdup ("there are no caps");
  else
    gst_tfx_buffer_check (buffer, &key->info, &why);
  if (why) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Invalid input of %s: %s.", GST_PAD_NAME (pad), why), (NULL));
    g_free (why);
    gst_buffer_unref (buffer);
    *flow = GST_FLOW_NOT_NEGOTIATED;
    return NULL;
  }
  if (gst_tfx_pending_is_in (buffer)) {
    buffer = gst_buffer_make_writable (buffer);
    gst_tfx_pending_settle (buffer);
  }
  if (key->segment.format != GST_FORMAT_TIME)
    return buffer;
  return gst_audio_buffer_clip (buffer, &key->segment, key->info.rate,
      GST_AUDIO_INFO_BPF (&key->info));
}

static GstFlowReturn
gst_tfx_key_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxElement *self = GST_TFX_ELEMENT (parent);
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  GstTfxKey *key = gst_pad_get_element_private (pad);
  const gboolean is_discont = GST_BUFFER_IS_DISCONT (buffer);
  GstTfxKeyItem item = { .info = key->info };
  GstClockTime begin;
  GstFlowReturn flow;
  gboolean is_other_rate;
  GstAudioMeta *meta;

  buffer = check_buffer (self, key, pad, buffer, &flow);
  if (!buffer)
    return flow;
  meta = gst_buffer_get_audio_meta (buffer);
  item.buffer = buffer;
  item.n_frames = (gint64)(meta ? meta->samples
                                : gst_buffer_get_size (buffer) /
                                      GST_AUDIO_INFO_BPF (&key->info));
  item.is_reversed = key->segment.rate < 0.0;
  begin = gst_tfx_keyqueue_begin (&key->segment, GST_BUFFER_PTS (buffer),
      item.n_frames * GST_SECOND / key->info.rate);
  if (item.n_frames == 0) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }

  g_mutex_lock (&keys->lock);
  key->thread = g_thread_self ();
  if (!gst_tfx_keyqueue_wait (keys, key, pad, &flow)) {
    keys->n_dropped += item.n_frames;
    g_mutex_unlock (&keys->lock);
    gst_buffer_unref (buffer);
    return flow;
  }
  is_other_rate = keys->rate != key->info.rate;
  if (!is_other_rate) {
    item.begin = gst_tfx_keyqueue_place (&key->place, &key->segment, keys->rate,
        begin, is_discont, item.n_frames);
    gst_tfx_keyqueue_append (keys, key, &item);
    g_cond_broadcast (&keys->cond);
  }
  g_mutex_unlock (&keys->lock);
  if (is_other_rate) {
    flow = refuse_rate (self, key, pad, item.n_frames);
    gst_buffer_unref (buffer);
  }
  return flow;
}

static gboolean
take_caps (GstTfxElement *self, GstTfxKey *key, GstPad *pad, GstCaps *caps)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  gboolean is_new;
  GstAudioInfo info;

  if (!gst_audio_info_from_caps (&info, caps))
    return FALSE;
  GST_INFO_OBJECT (pad, "key caps %" GST_PTR_FORMAT, caps);
  if (key->info.rate > 0 && key->info.channels != info.channels) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("%s changes from %d to %d channels. Put audioconvert before it.",
            GST_PAD_NAME (pad), key->info.channels, info.channels),
        (NULL));
    return FALSE;
  }
  key->n_refused = 0;
  g_mutex_lock (&keys->lock);
  key->info = info;
  is_new = key->n_channels != (guint)info.channels;
  key->n_channels = info.channels;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  /* The main stream changes the number of channels before its next buffer. */
  if (is_new)
    gst_tfx_element_mark_ready (self);
  return TRUE;
}

/* The frames in a gap are silent. */
static void
take_gap (GstTfxKeys *keys, GstTfxKey *key, GstEvent *event)
{
  const guint64 rate = (guint64)keys->rate;
  GstClockTime start, duration;
  guint64 n;

  gst_event_parse_gap (event, &start, &duration);
  if (!GST_CLOCK_TIME_IS_VALID (duration))
    duration = 0;
  n = gst_util_uint64_scale_round (start + duration, rate, GST_SECOND) -
      gst_util_uint64_scale_round (start, rate, GST_SECOND);
  gst_tfx_keyqueue_place (&key->place, &key->segment, keys->rate,
      gst_tfx_keyqueue_begin (&key->segment, start, duration), FALSE,
      (gint64)n);
  key->end = MAX (key->end, key->place.next);
}

static gboolean
gst_tfx_key_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstTfxElement *self = GST_TFX_ELEMENT (parent);
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  GstTfxKey *key = gst_pad_get_element_private (pad);
  const GstEventType type = GST_EVENT_TYPE (event);
  gboolean ok = TRUE;
  GstFlowReturn flow;
  GstCaps *caps;

  if (type == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    ok = take_caps (self, key, pad, caps);
  }
  g_mutex_lock (&keys->lock);
  key->thread = GST_EVENT_IS_SERIALIZED (event) &&
                        type != GST_EVENT_FLUSH_STOP &&
                        type != GST_EVENT_STREAM_START
                    ? g_thread_self ()
                    : NULL;
  switch (type) {
    case GST_EVENT_STREAM_START:
      keys->is_latency_known = FALSE;
      key->is_ended = FALSE;
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &key->segment);
      key->place.is_set = key->is_ended = key->is_unused = FALSE;
      break;
    case GST_EVENT_GAP:
      if (gst_tfx_keyqueue_wait (keys, key, pad, &flow))
        take_gap (keys, key, event);
      break;
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_EOS:
      key->is_ended = TRUE;
      break;
    case GST_EVENT_FLUSH_START:
      key->is_flushing = TRUE;
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_tfx_keyqueue_clear (key);
      gst_segment_init (&key->segment, GST_FORMAT_UNDEFINED);
      key->is_flushing = key->is_seeking = key->is_ended = FALSE;
      break;
    default:
      break;
  }
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  gst_event_unref (event);
  return ok;
}

/* The filter's caps that the pad can have; if there are none, those that it
 * accepts, so that the element's error explains the limit. */
static GstCaps *
intersect (GstPad *pad, GstCaps *filter, GstCaps *caps)
{
  GstCaps *found =
      gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  GstCaps *template = gst_pad_get_pad_template_caps (pad);

  if (gst_caps_is_empty (found))
    gst_caps_take (&found,
        gst_caps_intersect_full (filter, template, GST_CAPS_INTERSECT_FIRST));
  gst_caps_unref (template);
  return found;
}

/* Any thread. */
static gboolean
gst_tfx_key_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (GST_TFX_ELEMENT (parent));
  GstCaps *filter, *caps, *possible;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      caps = get_caps (keys, gst_pad_get_element_private (pad), pad);
      gst_query_parse_caps (query, &filter);
      if (filter)
        gst_caps_take (&caps, intersect (pad, filter, caps));
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      /* Accepts another rate, so that upstream can renegotiate it, or the
       * element's error explains the limit. */
      gst_query_parse_accept_caps (query, &caps);
      possible = gst_pad_get_pad_template_caps (pad);
      gst_query_set_accept_caps_result (query,
          gst_caps_is_subset (caps, possible));
      gst_caps_unref (possible);
      return TRUE;
    case GST_QUERY_ALLOCATION:
      return FALSE;
    case GST_QUERY_DRAIN:
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* ---- pads ------------------------------------------------------------------ */

/* Finds a key, or adds it. */
static GstTfxKey *
find_key (GstTfxKeys *keys, guint number)
{
  guint i = 0;
  GstTfxKey *key;

  for (; i < keys->list->len; i++) {
    key = keys->list->pdata[i];
    if (key->number == number)
      return key;
    if (key->number > number)
      break;
  }
  key = g_new0 (GstTfxKey, 1);
  key->number = number;
  g_queue_init (&key->items);
  g_ptr_array_insert (keys->list, (gint)i, key);
  return key;
}

/* A pad was linked or unlinked: the latency may be another one. */
static void
see_link (GstPad *pad, GstPad *peer, GstTfxElement *self)
{
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);

  g_mutex_lock (&keys->lock);
  keys->is_latency_known = FALSE;
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

static GstPad *
gst_tfx_key_request (GstElement *element, GstPadTemplate *template,
    const gchar *name, const GstCaps *caps)
{
  GstTfxElement *self = GST_TFX_ELEMENT (element);
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  guint number = 0;
  gchar *made;
  GstPad *pad;
  GstTfxKey *key;

  g_mutex_lock (&keys->lock);
  if (!name || sscanf (name, "key_%u", &number) != 1) {
    number = 0;
    while (find_key (keys, number)->pad || find_key (keys, number)->is_leaving)
      number++;
  }
  key = find_key (keys, number);
  if (key->pad || key->is_leaving) {
    g_mutex_unlock (&keys->lock);
    GST_WARNING_OBJECT (self, "there is a pad key_%u", number);
    return NULL;
  }
  made = g_strdup_printf ("key_%u", number);
  key->pad = pad = gst_pad_new_from_template (template, made);
  g_free (made);
  gst_tfx_keyqueue_reset (key);
  gst_pad_set_element_private (pad, key);
  g_mutex_unlock (&keys->lock);

  gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_key_chain));
  gst_pad_set_event_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_key_event));
  gst_pad_set_query_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_key_query));
  g_signal_connect_object (pad, "linked", G_CALLBACK (see_link), self, 0);
  g_signal_connect_object (pad, "unlinked", G_CALLBACK (see_link), self, 0);
  gst_element_add_pad (element, pad);
  g_atomic_int_set (&gst_tfx_element_get_private (self)->has_keys, TRUE);
  return pad;
}

static void
gst_tfx_key_release (GstElement *element, GstPad *pad)
{
  GstTfxElement *self = GST_TFX_ELEMENT (element);
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  GstTfxKey *key = gst_pad_get_element_private (pad);

  g_mutex_lock (&keys->lock);
  key->pad = NULL;
  key->is_leaving = TRUE;
  gst_tfx_keyqueue_clear (key);
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  g_mutex_lock (&keys->lock);
  key->is_leaving = FALSE;
  g_mutex_unlock (&keys->lock);
}

void
gst_tfx_key_install (GstElementClass *klass)
{
  GstCaps *caps = gst_caps_from_string (KEY_CAPS);

  gst_element_class_add_pad_template (klass,
      gst_pad_template_new ("key_%u", GST_PAD_SINK, GST_PAD_REQUEST, caps));
  gst_caps_unref (caps);
  klass->request_new_pad = GST_DEBUG_FUNCPTR (gst_tfx_key_request);
  klass->release_pad = GST_DEBUG_FUNCPTR (gst_tfx_key_release);
}
