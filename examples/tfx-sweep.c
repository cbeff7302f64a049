/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-sweep.c: plays sound through a chain of filters, moves one parameter of
 * one stage meanwhile, and draws the response on the way.
 *
 *   tfx-sweep chain='low=LoButterworth(500) | Gain(2)' move=low::cutoff \
 *       from=500 to=8000 seconds=6 picture=sweep.png
 *
 * The stages of tfxchain are its children: "low::cutoff" is the property
 * "cutoff" of the child "low".  It can be set at any time, from any thread, and
 * the filter changes in place, without a click.  What the chain is then can be
 * read back from the property "chain".
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MS 20
#define N_CURVES 5 /* settings of which the response is drawn */

/* The response is that of an impulse of so many frames. */
#define RATE 48000
#define LENGTH 65536
#define N_POINTS 400

static const gchar usage[] =
    "Usage: tfx-sweep [chain=TEXT] [move=STAGE::PARAMETER] [from=X] [to=Y]\n"
    "           [seconds=S] [input=FILE] [output=FILE] [table=FILE] "
    "[picture=FILE]\n\n"
    "Plays INPUT (noise if there is none) through the chain and moves a\n"
    "parameter from X to Y within S seconds; to the loudspeaker, or to a WAV\n"
    "file OUTPUT. Prints the chain on the way, and leaves its responses in a\n"
    "table and in a picture (PNG), which takes gnuplot.\n";

typedef struct
{
  const gchar *chain, *move, *input, *output, *table, *picture;
  gdouble from, to, seconds;

  GstElement *pipeline, *filter;
  GMainLoop *loop;
  gchar *settings[N_CURVES]; /* the chain as it was, */
  gdouble numbers[N_CURVES]; /* and the parameter */
  guint n_settings;
  gboolean failed;
} App;

/* ---- what is asked -------------------------------------------------------------- */

static gboolean
read_option (App *app, const gchar *word)
{
  struct
  {
    const gchar *name;
    const gchar **text;
    gdouble *number;
  } options[] = {
    { "chain=", &app->chain, NULL },
    { "move=", &app->move, NULL },
    { "from=", NULL, &app->from },
    { "to=", NULL, &app->to },
    { "seconds=", NULL, &app->seconds },
    { "input=", &app->input, NULL },
    { "output=", &app->output, NULL },
    { "table=", &app->table, NULL },
    { "picture=", &app->picture, NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (options); i++) {
    const gchar *value = word + strlen (options[i].name);
    gchar *end;

    if (!g_str_has_prefix (word, options[i].name))
      continue;
    if (options[i].text) {
      *options[i].text = value;
      return TRUE;
    }
    *options[i].number = g_ascii_strtod (value, &end);
    if (end != value && *end == '\0' && isfinite (*options[i].number))
      return TRUE;
    g_printerr ("tfx-sweep: %.*s is no number: \"%s\"\n",
        (int)strlen (options[i].name) - 1, word, value);
    return FALSE;
  }
  g_printerr ("tfx-sweep: no such option: %s\n%s", word, usage);
  return FALSE;
}

/* ---- the parameter ---------------------------------------------------------------- */

/* Sets the parameter, whatever its type is. */
static gboolean
set_parameter (App *app, gdouble number)
{
  GstChildProxy *proxy = GST_CHILD_PROXY (app->filter);
  GValue asked = G_VALUE_INIT, value = G_VALUE_INIT;
  GParamSpec *spec;
  gboolean ok;

  if (!gst_child_proxy_lookup (proxy, app->move, NULL, &spec)) {
    g_printerr ("tfx-sweep: the chain has no %s\n", app->move);
    return FALSE;
  }
  g_value_init (&asked, G_TYPE_DOUBLE);
  g_value_set_double (&asked, number);
  g_value_init (&value, spec->value_type);
  ok = g_value_transform (&asked, &value) &&
       !g_param_value_validate (spec, &value);
  if (ok)
    gst_child_proxy_set_property (proxy, app->move, &value);
  else
    g_printerr ("tfx-sweep: %s cannot be %g\n", app->move, number);
  g_value_unset (&value);
  g_value_unset (&asked);
  return ok;
}

/* The parameter has gone a part of its way: 0 to 1. */
static void
move_to (App *app, gdouble part)
{
  gdouble number = app->from + part * (app->to - app->from);
  gchar *chain;

  if (!set_parameter (app, number)) {
    app->failed = TRUE;
    g_main_loop_quit (app->loop);
    return;
  }
  if (app->n_settings >= N_CURVES ||
      part < app->n_settings / (N_CURVES - 1.0) - 1e-9)
    return;
  g_object_get (app->filter, "chain", &chain, NULL);
  printf ("%5.1f %%  %s\n", 100.0 * part, chain);
  app->settings[app->n_settings] = chain;
  app->numbers[app->n_settings++] = number;
}

/* ---- playing ------------------------------------------------------------------------ */

static gboolean
on_timer (gpointer data)
{
  App *app = data;
  gint64 position = 0;
  gdouble part;

  if (!gst_element_query_position (app->pipeline, GST_FORMAT_TIME, &position))
    return G_SOURCE_CONTINUE;
  /* The settings that are drawn are gone through, not by. */
  part = MIN (position / (app->seconds * GST_SECOND),
      app->n_settings / (N_CURVES - 1.0));
  move_to (app, part);
  if (part < 1.0)
    return G_SOURCE_CONTINUE;
  gst_element_send_event (app->pipeline, gst_event_new_eos ());
  return G_SOURCE_REMOVE;
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  App *app = data;
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      g_printerr ("tfx-sweep: %s\n", error->message);
      app->failed = TRUE;
      g_main_loop_quit (app->loop);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, NULL);
      g_printerr ("warning: %s\n", error->message);
      break;
    case GST_MESSAGE_EOS:
      g_main_loop_quit (app->loop);
      break;
    default:
      break;
  }
  g_clear_error (&error);
  return G_SOURCE_CONTINUE;
}

static GstElement *
get_element (App *app, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (app->pipeline), name);

  /* The pipeline keeps it. */
  gst_object_unref (element);
  return element;
}

/* identity makes the sound pass as fast as it is heard, file or not. */
static gboolean
make_pipeline (App *app)
{
  gchar *line = g_strdup_printf ("%s ! audioconvert ! identity sync=true ! "
                                 "tfxchain name=filter ! "
                                 "audioconvert ! %s",
      app->input ? "filesrc name=in ! decodebin"
                 : "audiotestsrc wave=pink-noise samplesperbuffer=480 ! "
                   "audio/x-raw,rate=48000,channels=2",
      app->output ? "wavenc ! filesink name=out" : "autoaudiosink");
  GError *error = NULL;

  app->pipeline = gst_parse_launch (line, &error);
  g_free (line);
  if (error) {
    g_printerr ("tfx-sweep: %s\n", error->message);
    g_clear_error (&error);
    return FALSE;
  }
  if (app->input)
    g_object_set (get_element (app, "in"), "location", app->input, NULL);
  if (app->output)
    g_object_set (get_element (app, "out"), "location", app->output, NULL);
  app->filter = get_element (app, "filter");
  g_object_set (app->filter, "chain", app->chain, NULL);
  return TRUE;
}

static gboolean
play (App *app)
{
  GstBus *bus;
  guint watch;

  if (!make_pipeline (app))
    return FALSE;
  app->loop = g_main_loop_new (NULL, FALSE);
  bus = gst_element_get_bus (app->pipeline);
  watch = gst_bus_add_watch (bus, on_message, app);
  gst_object_unref (bus);

  /* What is wrong with the chain is told of by the element itself. */
  if (gst_element_set_state (app->pipeline, GST_STATE_READY) !=
      GST_STATE_CHANGE_FAILURE) {
    move_to (app, 0.0);
    if (!app->failed)
      gst_element_set_state (app->pipeline, GST_STATE_PLAYING);
  }
  if (!app->failed) {
    guint timer = g_timeout_add (STEP_MS, on_timer, app);

    g_main_loop_run (app->loop);
    if (g_main_context_find_source_by_id (NULL, timer))
      g_source_remove (timer);
  }
  gst_element_set_state (app->pipeline, GST_STATE_NULL);
  g_source_remove (watch);
  g_main_loop_unref (app->loop);
  gst_object_unref (app->pipeline);
  return !app->failed;
}

/* ---- the response ---------------------------------------------------------------------- */

/* An impulse through a chain, with nothing but appsrc and appsink around it.
 * FALSE if the chain gave no answer. */
static gboolean
measure_impulse (const gchar *chain, gdouble *response)
{
  GstElement *pipeline =
      gst_parse_launch ("appsrc name=in format=time "
                        "caps=audio/x-raw,format=" G_STRINGIFY (
                            F64LE) ",layout=interleaved,channels=1,"
                                   "rate=" G_STRINGIFY (
                                       RATE) " ! tfxchain "
                                             "name=filter ! appsink "
                                             "name=out sync=false",
          NULL);
  GstElement *in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  GstElement *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  gdouble one = 1.0;
  GstBuffer *impulse =
      gst_buffer_new_allocate (NULL, LENGTH * sizeof *response, NULL);
  GstSample *sample;

  gst_buffer_memset (impulse, 0, 0, LENGTH * sizeof *response);
  gst_buffer_fill (impulse, 0, &one, sizeof one);
  GST_BUFFER_PTS (impulse) = 0;
  g_object_set (filter, "chain", chain, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_app_src_push_buffer (GST_APP_SRC (in), impulse);
  gst_app_src_end_of_stream (GST_APP_SRC (in));
  sample = gst_app_sink_pull_sample (GST_APP_SINK (out));
  if (sample) {
    gst_buffer_extract (gst_sample_get_buffer (sample), 0, response,
        LENGTH * sizeof *response);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (in);
  gst_object_unref (filter);
  gst_object_unref (out);
  gst_object_unref (pipeline);
  return sample != NULL;
}

/* Even steps on a logarithmic axis, 20 Hz to 20 kHz. */
static gdouble
point_hz (guint k)
{
  return 20.0 * pow (1000.0, k / (N_POINTS - 1.0));
}

/* |sum over n of h[n] exp (-j 2 pi f n / rate)| in dB */
static gdouble
gain_db (const gdouble *response, gdouble hz)
{
  gdouble step = 2.0 * G_PI * hz / RATE, re = 0.0, im = 0.0;

  for (gsize i = 0; i < LENGTH; i++) {
    if (response[i] == 0.0)
      continue;
    re += response[i] * cos (step * i);
    im += response[i] * sin (step * i);
  }
  return 10.0 * log10 (re * re + im * im + 1e-30);
}

/* A column for each setting. */
static gboolean
write_table (App *app, FILE *file)
{
  gdouble *responses = g_new0 (gdouble, (gsize)N_CURVES * LENGTH);
  gboolean ok = TRUE;

  for (guint i = 0; i < app->n_settings && ok; i++)
    ok = measure_impulse (app->settings[i], responses + (gsize)i * LENGTH);
  fprintf (file, "Hz");
  for (guint i = 0; i < app->n_settings; i++)
    fprintf (file, "\t%s=%.4g", app->move, app->numbers[i]);
  for (guint k = 0; k < N_POINTS; k++) {
    fprintf (file, "\n%.6g", point_hz (k));
    for (guint i = 0; i < app->n_settings; i++)
      fprintf (file, "\t%.4f",
          gain_db (responses + (gsize)i * LENGTH, point_hz (k)));
  }
  fprintf (file, "\n");
  g_free (responses);
  return ok;
}

static gboolean
draw (App *app)
{
  gchar *folder = g_dir_make_tmp ("tfx-sweep-XXXXXX", NULL);
  gchar *table = app->table ? g_strdup (app->table)
                            : g_build_filename (folder, "table", NULL);
  gchar *arguments[] = { (gchar *)"gnuplot", (gchar *)"-c", (gchar *)CHAIN_GP,
    (gchar *)app->picture, table, (gchar *)app->chain, NULL };
  FILE *file = fopen (table, "w");
  GError *error = NULL;
  gint status = 0;
  gboolean ok = file != NULL;

  if (!ok)
    g_printerr ("tfx-sweep: cannot write %s\n", table);
  else if (!write_table (app, file))
    g_printerr ("tfx-sweep: no response of the chain\n");
  if (file)
    fclose (file);
  if (ok && app->picture) {
    ok = g_spawn_sync (NULL, arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
             NULL, NULL, &status, &error) &&
         g_spawn_check_wait_status (status, &error);
    if (ok)
      printf ("Picture: %s\n", app->picture);
    else
      g_printerr ("tfx-sweep: gnuplot: %s\n", error->message);
    g_clear_error (&error);
  }
  if (!app->table)
    remove (table);
  if (folder)
    remove (folder);
  g_free (table);
  g_free (folder);
  return ok;
}

int
main (int argc, char **argv)
{
  App app = { .chain =
                  "HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=1, "
                  "gain=0) | LoChebyshev1(12000)",
    .move = "eq::gain",
    .from = -12.0,
    .to = 12.0,
    .seconds = 4.0 };
  gboolean ok = TRUE;

  gst_init (&argc, &argv);
  for (int i = 1; i < argc && ok; i++)
    ok = read_option (&app, argv[i]);
  if (ok && !(app.seconds > 0.0)) {
    g_printerr ("tfx-sweep: seconds must be above 0\n");
    ok = FALSE;
  }
  ok = ok && play (&app);
  if (ok && (app.table || app.picture))
    ok = draw (&app);
  for (guint i = 0; i < app.n_settings; i++)
    g_free (app.settings[i]);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
