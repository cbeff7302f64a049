/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-eq.c: an equaliser with a window.
 *
 *   tfx-eq --input=song.flac
 *   tfx-eq --input=pulse --output=equalised.wav
 *
 * Five bands are five stages of one tfxchain.  Stages are children of the element,
 * and their parameters are properties: a slider needs no more than a binding from
 * its adjustment to the property, and what moves is heard without a click.  The
 * curve is what the chain says of itself (tfx-eq-plot.c).
 */
#include <glib-unix.h>
#include <stdlib.h>
#include <string.h>

#include "tfx-eq.h"

#define METER_NS "30000000"
#define SPECTRUM_NS "90000000"
#define FALL_DB 2.0 /* in each of these */

static const Band the_bands[N_BANDS] = {
  { "bass", "Bass shelf", "LoShelving", "cutoff", 80.0, 0.71,
      { 0.21, 0.52, 0.89, 1.0 } },
  { "low", "Low", "ParametricEQ", "frequency", 250.0, 1.0,
      { 0.10, 0.65, 0.65, 1.0 } },
  { "middle", "Middle", "ParametricEQ", "frequency", 1000.0, 1.0,
      { 0.36, 0.68, 0.27, 1.0 } },
  { "high", "High", "ParametricEQ", "frequency", 4000.0, 1.0,
      { 0.90, 0.58, 0.10, 1.0 } },
  { "treble", "Treble shelf", "HiShelving", "cutoff", 10000.0, 0.71,
      { 0.83, 0.31, 0.51, 1.0 } },
};

/* ---- the sound ------------------------------------------------------------------ */

/* What a level element has heard. */
static void
set_meter (Meter *meter, const GstStructure *level)
{
  const GValueArray *rms =
      g_value_get_boxed (gst_structure_get_value (level, "rms"));
  const GValueArray *peak =
      g_value_get_boxed (gst_structure_get_value (level, "decay"));

  for (guint i = 0; i < N_CHANNELS; i++) {
    guint channel = MIN (i, rms->n_values - 1);

    meter->rms_db[i] = g_value_get_double (&rms->values[channel]);
    meter->peak_db[i] = g_value_get_double (&peak->values[channel]);
  }
  gtk_widget_queue_draw (meter->area);
}

/* It rises at once and falls slowly. */
static void
set_spectrum (Plot *plot, const GstStructure *spectrum)
{
  const GValue *list = gst_structure_get_value (spectrum, "magnitude");
  guint n = gst_value_list_get_size (list);

  if (n != plot->n_spectrum)
    plot->spectrum_db = g_renew (gfloat, plot->spectrum_db, n);
  for (guint i = 0; i < n; i++) {
    gfloat now_db = g_value_get_float (gst_value_list_get_value (list, i));

    plot->spectrum_db[i] = i < plot->n_spectrum
                               ? MAX (now_db, plot->spectrum_db[i] - FALL_DB)
                               : now_db;
  }
  plot->n_spectrum = n;
  gtk_widget_queue_draw (plot->area);
}

/* The last line of what is said for developers names the file. */
static void
show_error (App *app, const gchar *message, const gchar *debug)
{
  const gchar *line = debug ? strrchr (debug, '\n') : NULL;
  gchar *text = g_strdup_printf ("%s%s%s", message, line ? " " : "",
      line ? line + 1 : "");

  window_show_error (app, text);
  g_free (text);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  App *app = data;
  const GstStructure *about = gst_message_get_structure (message);
  const gchar *from = GST_MESSAGE_SRC_NAME (message);
  GError *error = NULL;
  gchar *debug = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_structure_has_name (about, "level"))
        set_meter (g_str_equal (from, "in") ? &app->in : &app->out, about);
      else if (gst_structure_has_name (about, "spectrum"))
        set_spectrum (&app->plot, about);
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, &debug);
      app->failed = TRUE;
      gst_element_set_state (app->pipeline, GST_STATE_NULL);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      break;
    case GST_MESSAGE_EOS:
      /* A file is heard again and again, and written once. */
      if (app->output)
        g_application_quit (G_APPLICATION (app->application));
      else
        gst_element_seek_simple (app->pipeline, GST_FORMAT_TIME,
            GST_SEEK_FLAG_FLUSH, 0);
      break;
    default:
      break;
  }
  if (error)
    show_error (app, error->message, debug);
  g_free (debug);
  g_clear_error (&error);
  return G_SOURCE_CONTINUE;
}

static gchar *
make_source (const App *app)
{
  if (!app->input || g_str_equal (app->input, "noise"))
    return g_strdup ("audiotestsrc is-live=true wave=pink-noise volume=0.3");
  if (g_str_equal (app->input, "pulse"))
    return g_strdup ("pulsesrc");
  return g_strdup ("uridecodebin name=file");
}

/* To a file as fast as it is heard, so that sliders can be moved meanwhile. */
static gboolean
make_pipeline (App *app, GError **error)
{
  gchar *source = make_source (app);
  gchar *line = g_strdup_printf ("%s ! audioconvert ! audioresample ! %s "
                                 "level name=in interval=" METER_NS
                                 " ! tfxchain name=filter ! "
                                 "level name=out interval=" METER_NS
                                 " ! spectrum bands=2048 "
                                 "interval=" SPECTRUM_NS
                                 " threshold=-100 ! audioconvert ! %s",
      source, app->output ? "audio/x-raw,channels=2 ! clocksync !" : "",
      app->output ? "audio/x-raw,format=S24LE ! wavenc ! filesink name=output"
                  : "autoaudiosink");
  GstElement *file, *output;

  app->pipeline = gst_parse_launch (line, error);
  g_free (line);
  g_free (source);
  if (!app->pipeline)
    return FALSE;
  app->plot.filter = gst_bin_get_by_name (GST_BIN (app->pipeline), "filter");
  file = gst_bin_get_by_name (GST_BIN (app->pipeline), "file");
  output = gst_bin_get_by_name (GST_BIN (app->pipeline), "output");
  if (output)
    g_object_set (output, "location", app->output, NULL);
  if (file) {
    gchar *uri = gst_uri_is_valid (app->input)
                     ? g_strdup (app->input)
                     : gst_filename_to_uri (app->input, NULL);

    g_object_set (file, "uri", uri, NULL);
    g_free (uri);
  }
  gst_clear_object (&file);
  gst_clear_object (&output);
  return TRUE;
}

/* One chain for all of them. */
static void
set_chain (App *app)
{
  GString *chain = g_string_new (NULL);

  for (guint b = 0; b < N_BANDS; b++) {
    const Band *band = &the_bands[b];

    g_string_append_printf (chain, "%s%s=%s(%g, q=%g, gain=0%s)",
        b > 0 ? " | " : "", band->name, band->class_name, band->hz, band->q,
        g_str_has_suffix (band->class_name, "Shelving") ? ", gain_scale='db'"
                                                        : "");
  }
  g_object_set (app->plot.filter, "chain", chain->str, NULL);
  g_string_free (chain, TRUE);
}

/* A WAV file's header is written at the end. */
static void
stop (App *app)
{
  GstBus *bus = gst_element_get_bus (app->pipeline);
  gchar *chain;

  g_source_remove (app->watch);
  if (app->output && !app->failed) {
    gst_element_send_event (app->pipeline, gst_event_new_eos ());
    gst_message_unref (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  }
  gst_object_unref (bus);
  gst_element_set_state (app->pipeline, GST_STATE_NULL);
  g_object_get (app->plot.filter, "chain", &chain, NULL);
  g_print ("%s\n", chain);
  g_free (chain);
}

/* ---- the program ------------------------------------------------------------------ */

static void
on_activate (GtkApplication *application, gpointer data)
{
  App *app = data;
  GstBus *bus = gst_element_get_bus (app->pipeline);

  set_chain (app);
  gtk_window_present (GTK_WINDOW (window_new (app)));
  app->watch = gst_bus_add_watch (bus, on_message, app);
  gst_object_unref (bus);
  gst_element_set_state (app->pipeline, GST_STATE_PLAYING);
}

static gboolean
on_signal (gpointer application)
{
  g_application_quit (application);
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  App app = { .plot.selected = -1, .in.title = "In", .out.title = "Out" };
  GOptionEntry options[] = {
    { "input", 'i', 0, G_OPTION_ARG_STRING, &app.input,
        "noise (default), pulse, a sound file or a URI", "INPUT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &app.output,
        "a WAV file in place of the loudspeaker", "FILE" },
    { "light", 0, 0, G_OPTION_ARG_NONE, &app.is_light, "dark on light", NULL },
    { NULL }
  };
  GOptionContext *context = g_option_context_new ("- an equaliser");
  GError *error = NULL;

  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) ||
      !make_pipeline (&app, &error)) {
    g_printerr ("tfx-eq: %s\n", error->message);
    return EXIT_FAILURE;
  }
  g_option_context_free (context);
  memcpy (app.bands, the_bands, sizeof app.bands);
  app.plot.bands = app.bands;
  app.plot.is_light = app.is_light;
  app.in.is_light = app.out.is_light = &app.is_light;
  app.application = gtk_application_new (NULL, G_APPLICATION_NON_UNIQUE);
  g_signal_connect (app.application, "activate", G_CALLBACK (on_activate),
      &app);
  g_unix_signal_add (SIGINT, on_signal, app.application);
  g_unix_signal_add (SIGTERM, on_signal, app.application);
  g_application_run (G_APPLICATION (app.application), 0, NULL);
  if (app.watch)
    stop (&app);
  g_object_unref (app.application);
  gst_object_unref (app.plot.filter);
  gst_object_unref (app.pipeline);
  g_free (app.plot.spectrum_db);
  g_free (app.input);
  g_free (app.output);
  return app.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
