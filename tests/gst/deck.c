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
  g_free (deck);
}

GstElement *
deck_element (Deck *deck, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (deck->h->element), name);

  fail_unless (element != NULL, "no element %s", name);
  return element;
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

void
deck_set (Deck *deck, const gchar *name, const gchar *property,
    const gchar *value)
{
  GstElement *element = deck_element (deck, name);

  gst_util_set_object_arg (G_OBJECT (element), property, value);
  gst_object_unref (element);
}

void
deck_set_info (Deck *deck, const GstAudioInfo *info)
{
  deck->info = *info;
  tfx_check_set_info (deck->h, info);
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

/* ---- out --------------------------------------------------------------------------- */

/* The caps that the buffer was pushed with may not be those of the input: the
 * format is that of the source's present caps. */
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
  if (gst_memory_is_type (gst_buffer_peek_memory (buffer, 0),
          "gst.cuda.memory"))
    deck->n_device_buffers++;
  if (deck->may_lose && !gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    deck->n_frames += gst_buffer_get_size (buffer) / info.bpf;
    gst_buffer_unref (buffer);
    return;
  }
  if (deck->may_lose)
    gst_buffer_unmap (buffer, &map);
  x = tfx_check_samples (buffer, &info, &n);
  g_array_append_vals (deck->samples, x, n * info.channels);
  g_array_append_val (deck->times, pts);
  deck->n_frames += n;
  deck->n_buffers++;
  g_free (x);
  gst_buffer_unref (buffer);
}

void
deck_take (Deck *deck)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (deck->h)))
    take_buffer (deck, buffer);
}

void
deck_end (Deck *deck)
{
  GstBuffer *buffer;

  deck_push_event (deck, gst_event_new_eos ());
  while (gst_harness_pull_until_eos (deck->h, &buffer) && buffer)
    take_buffer (deck, buffer);
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
