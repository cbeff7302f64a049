/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-stats.c: runs a pipeline to its end and prints the stats property of
 * the tfx elements in it.
 *
 *   tfx-stats filesrc location=a.flac ! decodebin ! audioconvert ! \
 *       tfxbutterworth cutoff=500 ! fakesink
 *
 * A line for each element, from source to sink: its name, then the fields as
 * name=value.  The last line is the sum of their process times, in ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <gst/gst.h>

static gboolean
has_stats (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), "stats");

  return factory && g_str_has_prefix (GST_OBJECT_NAME (factory), "tfx") &&
         pspec && pspec->value_type == GST_TYPE_STRUCTURE;
}

static gboolean
print_field (GQuark field, const GValue *value, gpointer unused)
{
  gchar *text = gst_value_serialize (value);

  printf (" %s=%s", g_quark_to_string (field), text ? text : "?");
  g_free (text);
  return TRUE;
}

/* Prints one element's line and adds its process time to *ns. */
static void
print_stats (GstElement *element, guint64 *ns)
{
  GstStructure *stats = NULL;
  guint64 process_ns = 0;

  g_object_get (element, "stats", &stats, NULL);
  printf ("%s", GST_OBJECT_NAME (element));
  if (stats) {
    gst_structure_foreach (stats, print_field, NULL);
    gst_structure_get_uint64 (stats, "process-time", &process_ns);
    gst_structure_free (stats);
  }
  printf ("\n");
  *ns += process_ns;
}

/* The elements of the pipeline that have stats, from source to sink. */
static GList *
find_elements (GstElement *pipeline)
{
  GstIterator *it = gst_bin_iterate_sorted (GST_BIN (pipeline));
  GValue item = G_VALUE_INIT;
  GList *found = NULL;

  /* Sinks come first; the pipeline does not change while this runs. */
  while (gst_iterator_next (it, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);

    if (has_stats (element))
      found = g_list_prepend (found, gst_object_ref (element));
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (it);
  return found;
}

/* Plays to the end of the stream; FALSE after an error. */
static gboolean
play (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *msg;
  gboolean ok;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  msg = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  ok = GST_MESSAGE_TYPE (msg) == GST_MESSAGE_EOS;
  if (!ok) {
    GError *error = NULL;

    gst_message_parse_error (msg, &error, NULL);
    g_printerr ("tfx-stats: %s: %s\n", GST_MESSAGE_SRC_NAME (msg),
        error->message);
    g_error_free (error);
  }
  gst_message_unref (msg);
  gst_object_unref (bus);
  return ok;
}

int
main (int argc, char **argv)
{
  GstElement *pipeline;
  GError *error = NULL;
  gboolean ok;

  gst_init (&argc, &argv);
  if (argc < 2) {
    g_printerr ("Usage: tfx-stats ELEMENT [PROPERTY=VALUE ...] ! ...\n");
    return EXIT_FAILURE;
  }
  pipeline = gst_parse_launchv ((const gchar **)argv + 1, &error);
  if (!pipeline || error) {
    g_printerr ("tfx-stats: %s\n", error ? error->message : "no pipeline");
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return EXIT_FAILURE;
  }
  /* A single element is no pipeline; one that can be played is needed. */
  if (!GST_IS_PIPELINE (pipeline)) {
    GstElement *element = pipeline;

    pipeline = gst_pipeline_new (NULL);
    gst_bin_add (GST_BIN (pipeline), element);
  }
  ok = play (pipeline);
  if (ok) {
    GList *elements = find_elements (pipeline);
    guint64 ns = 0;

    for (GList *l = elements; l; l = l->next)
      print_stats (l->data, &ns);
    g_list_free_full (elements, gst_object_unref);
    printf ("total process-time=%" G_GUINT64_FORMAT "\n", ns);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
