/* SPDX-License-Identifier: LGPL-2.1-or-later
 * deck.c: the same stream through the same elements on the CPU and on the
 * device, and what comes out of both.
 */
#include "deck.h"

#include <math.h>
#include <string.h>

static gchar *
replace (const gchar *text, const gchar *word, const gchar *by)
{
  gchar **parts = g_strsplit (text, word, 0);
  gchar *made = g_strjoinv (by, parts);

  g_strfreev (parts);
  return made;
}

static gchar *
launch_for (const gchar *launch, DeckSide side)
{
  gchar *half = replace (launch, "DEVICE",
      side == DECK_CPU ? "device=cpu" : "device=cuda");
  gchar *whole = replace (half, "MEMORY",
      side == DECK_CPU ? "capsfilter caps=audio/x-raw"
                       : "capsfilter caps=\"audio/x-raw(memory:CUDAMemory)\"");

  g_free (half);
  return whole;
}

static void watch (Deck *deck);

Deck *
deck_new (const gchar *launch, DeckSide side, const GstAudioInfo *info)
{
  Deck *deck = g_new0 (Deck, 1);
  gchar *line = launch_for (launch, side);
  GError *error = NULL;
  GstElement *bin = gst_parse_bin_from_description (line, TRUE, &error);

  fail_unless (bin && !error, "%s: %s", line, error ? error->message : "");
  /* Before it starts: what it says then counts too. */
  deck->bus = gst_bus_new ();
  gst_element_set_bus (bin, deck->bus);
  deck->h = gst_harness_new_with_element (bin, "sink", "src");
  /* It has a reference of its own. */
  gst_object_unref (bin);
  deck->launch = launch;
  watch (deck);
  deck->samples = g_array_new (FALSE, FALSE, sizeof (gdouble));
  deck->times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));
  deck_set_info (deck, info);
  g_free (line);
  return deck;
}

void
deck_free (Deck *deck)
{
  gst_element_set_bus (deck->h->element, NULL);
  gst_harness_teardown (deck->h);
  gst_object_unref (deck->bus);
  g_array_unref (deck->samples);
  g_array_unref (deck->times);
  g_mutex_clear (&deck->lock);
  g_cond_clear (&deck->cond);
  g_free (deck);
}

GstElement *
deck_element (Deck *deck, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (deck->h->element), name);

  fail_unless (element != NULL, "no element %s", name);
  return element;
}

GstPad *
deck_pad (Deck *deck, const gchar *element, const gchar *name)
{
  GstElement *found = deck_element (deck, element);
  GstPad *pad = gst_element_get_static_pad (found, name);

  gst_object_unref (found);
  return pad;
}

guint64
deck_stat (Deck *deck, const gchar *name, const gchar *field)
{
  GstElement *element = deck_element (deck, name);
  guint64 value = tfx_check_stat (element, field);

  gst_object_unref (element);
  return value;
}

gchar *
deck_text (Deck *deck, const gchar *name, const gchar *field)
{
  GstElement *element = deck_element (deck, name);
  GstStructure *stats;
  gchar *text;

  g_object_get (element, "stats", &stats, NULL);
  text = g_strdup (gst_structure_get_string (stats, field));
  gst_structure_free (stats);
  gst_object_unref (element);
  return text;
}

gboolean
deck_runs_on (Deck *deck, const gchar *name, const gchar *device)
{
  gchar *text = deck_text (deck, name, "device");
  const gboolean same = g_strcmp0 (text, device) == 0;

  g_free (text);
  return same;
}

void
deck_expect_stat (Deck *deck, const gchar *name, const gchar *field,
    guint64 wanted)
{
  const guint64 have = deck_stat (deck, name, field);

  fail_unless (have == wanted,
      "%s: %s has %" G_GUINT64_FORMAT " %s, not %" G_GUINT64_FORMAT,
      deck->launch, name, have, field, wanted);
}

void
deck_set (Deck *deck, const gchar *name, const gchar *property,
    const gchar *value)
{
  g_autoptr (GstElement) element = deck_element (deck, name);

  gst_util_set_object_arg (G_OBJECT (element), property, value);
}

void
deck_set_info (Deck *deck, const GstAudioInfo *info)
{
  deck->info = *info;
  tfx_check_set_info (deck->h, info);
}

void
deck_restart (Deck *deck)
{
  fail_unless (gst_element_set_state (deck->h->element, GST_STATE_PLAYING) !=
               GST_STATE_CHANGE_FAILURE);
  /* The pads have forgotten what they knew. */
  gst_pad_set_active (deck->h->sinkpad, FALSE);
  gst_pad_set_active (deck->h->sinkpad, TRUE);
  gst_pad_set_active (deck->h->srcpad, FALSE);
  gst_pad_set_active (deck->h->srcpad, TRUE);
  gst_harness_push_event (deck->h, gst_event_new_stream_start ("again"));
  deck_set_info (deck, &deck->info);
}

/* ---- in --------------------------------------------------------------------------- */

GstFlowReturn
deck_push (Deck *deck, gsize n_frames)
{
  gdouble *x = tfx_check_noise (n_frames * deck->info.channels,
      1 + deck->n_in % 1000003);
  GstBuffer *buffer = tfx_check_stamped (&deck->info, x, n_frames, deck->n_in);

  deck->n_in += n_frames;
  g_free (x);
  return gst_harness_push (deck->h, buffer);
}

void
deck_push_many (Deck *deck, gsize n_frames, gsize most)
{
  for (gsize n; n_frames > 0; n_frames -= n) {
    n = MIN (n_frames, most);
    fail_unless_equals_int (deck_push (deck, n), GST_FLOW_OK);
  }
}

void
deck_push_event (Deck *deck, GstEvent *event)
{
  fail_unless (gst_harness_push_event (deck->h, event));
}

void
deck_drain (Deck *deck)
{
  g_autoptr (GstQuery) query = gst_query_new_drain ();

  gst_pad_peer_query (deck->h->srcpad, query);
}

/* ---- out --------------------------------------------------------------------------- */

/* With the caps that it comes with; the lock is held. */
static void
take_buffer (Deck *deck, GstBuffer *buffer)
{
  GstCaps *caps = gst_pad_get_current_caps (deck->h->sinkpad);
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstAudioInfo info;
  GstMapInfo map;
  gdouble *x;
  gsize n;

  fail_unless (gst_audio_info_from_caps (&info, caps));
  gst_caps_unref (caps);
  g_array_append_val (deck->times, pts);
  deck->n_buffers++;
  if (gst_memory_is_type (gst_buffer_peek_memory (buffer, 0),
          "gst.cuda.memory"))
    deck->n_device_buffers++;
  if (deck->may_lose && !gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    deck->n_frames += gst_buffer_get_size (buffer) / info.bpf;
    return;
  }
  if (deck->may_lose)
    gst_buffer_unmap (buffer, &map);
  x = tfx_check_samples (buffer, &info, &n);
  g_array_append_vals (deck->samples, x, n * info.channels);
  deck->n_frames += n;
  g_free (x);
}

static GstPadProbeReturn
take (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Deck *deck = data;

  g_mutex_lock (&deck->lock);
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    take_buffer (deck, GST_PAD_PROBE_INFO_BUFFER (info));
  } else if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) ==
             GST_EVENT_EOS) {
    deck->n_ends++;
    g_cond_signal (&deck->cond);
  }
  g_mutex_unlock (&deck->lock);
  return GST_PAD_PROBE_OK;
}

static void
watch (Deck *deck)
{
  g_mutex_init (&deck->lock);
  g_cond_init (&deck->cond);
  gst_harness_set_drop_buffers (deck->h, TRUE);
  gst_pad_add_probe (deck->h->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take,
      deck, NULL);
}

void
deck_end (Deck *deck)
{
  gint64 deadline = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;
  guint n_ends = deck->n_ends + 1;
  gboolean in_time = TRUE;

  deck_push_event (deck, gst_event_new_eos ());
  g_mutex_lock (&deck->lock);
  while (deck->n_ends < n_ends && in_time)
    in_time = g_cond_wait_until (&deck->cond, &deck->lock, deadline);
  g_mutex_unlock (&deck->lock);
  fail_unless (in_time, "no end");
}

/* ---- the two ------------------------------------------------------------------------- */

gdouble
deck_distance_db (const Deck *a, const Deck *b)
{
  const gdouble *x = (const gdouble *)(gpointer)a->samples->data;
  const gdouble *y = (const gdouble *)(gpointer)b->samples->data;
  gdouble peak = 0;

  if (a->samples->len != b->samples->len)
    return INFINITY;
  for (guint i = 0; i < a->samples->len; i++)
    peak = MAX (peak, fabs (x[i]));
  return 20.0 * log10 (tfx_check_distance (x, y, a->samples->len) / peak);
}

void
deck_expect_same_times (const Deck *a, const Deck *b, const gchar *what)
{
  fail_unless_equals_uint64 (a->n_frames, b->n_frames);
  fail_unless_equals_uint64 (a->n_buffers, b->n_buffers);
  for (guint i = 0; i < a->times->len; i++) {
    GstClockTime x = g_array_index (a->times, GstClockTime, i);
    GstClockTime y = g_array_index (b->times, GstClockTime, i);

    fail_unless (x == y,
        "%s: buffer %u at %" GST_TIME_FORMAT " and %" GST_TIME_FORMAT, what, i,
        GST_TIME_ARGS (x), GST_TIME_ARGS (y));
  }
}

void
deck_expect_same (const Deck *a, const Deck *b, gdouble close_db,
    const gchar *what)
{
  const gdouble db = deck_distance_db (a, b);

  deck_expect_same_times (a, b, what);
  fail_unless (db < close_db, "%s: %g dB", what, db);
  tfx_check_expect_no_warning (b->bus);
}
