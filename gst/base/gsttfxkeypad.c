/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeypad.c: the request pads key_%u, and their streaming threads.
 */
#include <stdio.h>

#include "gsttfxkeyqueue.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

#define FORMATS GST_AUDIO_NE (F32) ", " GST_AUDIO_NE (F64)
#define KEY_CAPS                                                               \
  "audio/x-raw, format = (string) { " FORMATS " }, "                           \
  "rate = (int) [ 1, MAX ], channels = (int) [ 1, 63 ], "                      \
  "layout = (string) { interleaved, non-interleaved }"

/* ---- the streaming thread of a key ----------------------------------------- */

/* Runs what is pending in a checked buffer, clips it, and puts its frames in
 * playback order.  Takes it; NULL if no frame remains. */
static GstBuffer *
prepare (GstTfxKey *key, GstBuffer *buffer)
{
  GstTfxScratch scratch = { NULL };

  if (gst_tfx_pending_is_in (buffer)) {
    buffer = gst_buffer_make_writable (buffer);
    gst_tfx_pending_settle (buffer);
  }
  if (key->segment.format == GST_FORMAT_TIME)
    buffer = gst_audio_buffer_clip (buffer, &key->segment, key->info.rate,
        GST_AUDIO_INFO_BPF (&key->info));
  if (buffer && key->segment.rate < 0.0) {
    buffer = gst_buffer_make_writable (buffer);
    gst_tfx_run_reverse (buffer, &key->info, &scratch);
    gst_tfx_scratch_clear (&scratch);
  }
  return buffer;
}

static GstFlowReturn
gst_tfx_key_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxElement *self = GST_TFX_ELEMENT (parent);
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  GstTfxKey *key = gst_pad_get_element_private (pad);
  const gboolean is_discont = GST_BUFFER_IS_DISCONT (buffer);
  const GstClockTime lag = key->lag;
  GstFlowReturn flow = GST_FLOW_OK;
  gchar *why = NULL;
  gssize n_frames = -1;
  GstClockTime begin;

  if (key->info.rate > 0)
    n_frames = gst_tfx_buffer_check (buffer, &key->info, &why);
  else
    why = g_strdup ("there are no caps");
  if (n_frames > 0)
    buffer = prepare (key, buffer);
  if (!buffer)
    return GST_FLOW_OK;
  if (n_frames > 0)
    n_frames = gst_tfx_buffer_check (buffer, &key->info, &why);
  begin = GST_BUFFER_PTS (buffer);
  if (key->segment.rate < 0.0 && GST_CLOCK_TIME_IS_VALID (begin))
    begin += MAX (n_frames, 0) * GST_SECOND / MAX (key->info.rate, 1);

  g_mutex_lock (&keys->lock);
  key->thread = g_thread_self ();
  if (n_frames <= 0 || !gst_tfx_keyqueue_wait (keys, key, pad, &flow)) {
    keys->n_dropped += MAX (n_frames, 0);
    gst_buffer_unref (buffer);
  } else if (!gst_tfx_keyqueue_append (keys, key, buffer, &key->info, n_frames,
                 gst_tfx_keyqueue_time (&key->segment, begin), is_discont)) {
    why = g_strdup_printf ("it has %d Hz and the main stream %d Hz, but one "
                           "rate must be at most 1000 times the other",
        key->info.rate, keys->info.rate);
  }
  g_cond_broadcast (&keys->cond);
  g_mutex_unlock (&keys->lock);
  if (key->lag != lag)
    gst_tfx_keyqueue_change_latency (self);
  if (!why)
    return flow;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT,
      ("Invalid input of %s: %s.", GST_PAD_NAME (pad), why), (NULL));
  g_free (why);
  return GST_FLOW_NOT_NEGOTIATED;
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
  const guint64 rate = (guint64)keys->info.rate;
  GstClockTime start, duration;
  guint64 n;

  gst_event_parse_gap (event, &start, &duration);
  if (!GST_CLOCK_TIME_IS_VALID (duration))
    duration = 0;
  n = gst_util_uint64_scale_round (start + duration, rate, GST_SECOND) -
      gst_util_uint64_scale_round (start, rate, GST_SECOND);
  if (key->segment.rate < 0.0)
    start += duration;
  gst_tfx_keyqueue_finish (keys, key);
  gst_tfx_keyqueue_place (&key->place, keys->info.rate,
      gst_tfx_keyqueue_time (&key->segment, start), FALSE, (gint64)n);
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
      gst_tfx_keyqueue_finish (keys, key);
      key->place = (GstTfxKeyPlace){ 0 };
      key->is_ended = key->is_unused = FALSE;
      break;
    case GST_EVENT_GAP:
      if (gst_tfx_keyqueue_wait (keys, key, pad, &flow))
        take_gap (keys, key, event);
      break;
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_EOS:
      gst_tfx_keyqueue_finish (keys, key);
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

/* The caps that the pad can have: after its first ones, the same number of
 * channels.  The rate of the main stream, which needs no resampler, is first.
 * A filter with no such caps gets the caps of the template, so that the
 * element's error explains the limit. */
static GstCaps *
get_caps (GstTfxKeys *keys, GstPad *pad, GstCaps *filter)
{
  const GstTfxKey *key = gst_pad_get_element_private (pad);
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *caps = gst_caps_copy (template), *best;

  g_mutex_lock (&keys->lock);
  if (key->info.rate > 0)
    gst_caps_set_simple (caps, "channels", G_TYPE_INT, key->info.channels,
        NULL);
  best = gst_caps_copy (caps);
  if (keys->info.rate > 0)
    gst_caps_set_simple (best, "rate", G_TYPE_INT, keys->info.rate, NULL);
  g_mutex_unlock (&keys->lock);
  gst_caps_append (best, caps);
  if (filter && !gst_caps_can_intersect (filter, best))
    gst_caps_replace (&best, template);
  if (filter)
    gst_caps_take (&best,
        gst_caps_intersect_full (filter, best, GST_CAPS_INTERSECT_FIRST));
  gst_caps_unref (template);
  return best;
}

/* Any thread. */
static gboolean
gst_tfx_key_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *filter, *caps;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      caps = get_caps (gst_tfx_keyqueue_get (GST_TFX_ELEMENT (parent)), pad,
          filter);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
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

  while (i < keys->list->len &&
         ((GstTfxKey *)keys->list->pdata[i])->number < number)
    i++;
  key = i < keys->list->len ? keys->list->pdata[i] : NULL;
  if (key && key->number == number)
    return key;
  key = g_new0 (GstTfxKey, 1);
  key->number = number;
  g_queue_init (&key->items);
  g_ptr_array_insert (keys->list, (gint)i, key);
  return key;
}

/* A pad was linked or unlinked. */
static void
see_link (GstPad *pad, GstPad *peer, GstTfxElement *self)
{
  gst_tfx_keyqueue_change_latency (self);
}

static GstPad *
gst_tfx_key_request (GstElement *element, GstPadTemplate *template,
    const gchar *name, const GstCaps *caps)
{
  GstTfxElement *self = GST_TFX_ELEMENT (element);
  GstTfxKeys *keys = gst_tfx_keyqueue_get (self);
  gchar made[16];
  guint number = 0;
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
  g_snprintf (made, sizeof made, "key_%u", number);
  key->pad = pad = gst_pad_new_from_template (template, made);
  gst_tfx_keyqueue_reset (key);
  gst_pad_set_element_private (pad, key);
  /* Other channels are accepted too: take_caps() posts an error about them. */
  GST_PAD_SET_ACCEPT_TEMPLATE (pad);
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
