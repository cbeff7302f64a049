/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-rtsp.c: an RTSP server whose sound goes through a chain of filters.
 *
 *   tfx-rtsp source="autoaudiosrc" codec=opus \
 *       chain="HiButterworth(80) | eq=ParametricEQ(3000, q=1, gain=0)"
 *
 * It prints where to listen, such as rtsp://127.0.0.1:8554/sound, and the
 * latency of each stream, as GStreamer is told of it.  A line that is typed
 * meanwhile, such as eq::gain=4, sets a parameter of the chain.
 */
#include <glib-unix.h>
#include <gst/gst.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gchar usage[] =
    "Usage: tfx-rtsp [source=TEXT] [chain=TEXT] [codec=opus|L16|L24]\n"
    "           [address=A] [port=N] [path=/P] [timeout=SECONDS]\n\n"
    "source is a sound file, which each listener hears from its beginning, or\n"
    "live elements as gst-launch-1.0 takes them, which all listeners share.\n"
    "port=0 takes one that is free.  Who says nothing for the timeout is "
    "gone.\n";

static const struct
{
  const gchar *name, *elements;
} codecs[] = {
  { "opus", "audioresample ! opusenc bitrate=128000 ! rtpopuspay" },
  { "L16", "rtpL16pay" },
  { "L24", "rtpL24pay" },
};

typedef struct
{
  const gchar *source, *chain, *codec, *address, *port, *path, *timeout;
  GMainLoop *loop;
  GstRTSPSessionPool *pool;
  gint n_clients; /* atomic */
  guint timeout_s;
  GMutex lock;        /* of what follows */
  GstElement *filter; /* the chain that new streams get */
  GList *filters;     /* the chains of the streams that there are */
} App;

/* ---- what is asked -------------------------------------------------------------- */

static gboolean
read_option (App *app, const gchar *word)
{
  const struct
  {
    const gchar *name, **value;
  } options[] = {
    { "source=", &app->source },
    { "chain=", &app->chain },
    { "codec=", &app->codec },
    { "address=", &app->address },
    { "port=", &app->port },
    { "path=", &app->path },
    { "timeout=", &app->timeout },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (options); i++) {
    if (g_str_has_prefix (word, options[i].name)) {
      *options[i].value = word + strlen (options[i].name);
      return TRUE;
    }
  }
  g_printerr ("tfx-rtsp: no such option: %s\n%s", word, usage);
  return FALSE;
}

static gboolean
read_words (App *app)
{
  guint64 timeout_s = 0, port;

  if (!g_ascii_string_to_unsigned (app->port, 10, 0, 65535, &port, NULL)) {
    g_printerr ("tfx-rtsp: port must be 0 to 65535, not \"%s\"\n", app->port);
    return FALSE;
  }
  if (!g_ascii_string_to_unsigned (app->timeout, 10, 1, 86400, &timeout_s,
          NULL)) {
    g_printerr ("tfx-rtsp: timeout must be 1 to 86400 s, not \"%s\"\n",
        app->timeout);
    return FALSE;
  }
  app->timeout_s = (guint)timeout_s;
  if (app->path[0] == '/')
    return TRUE;
  g_printerr ("tfx-rtsp: path must begin with /, not \"%s\"\n", app->path);
  return FALSE;
}

/* NULL after a message. */
static const gchar *
find_codec (const gchar *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (codecs); i++) {
    if (strcmp (codecs[i].name, name) == 0)
      return codecs[i].elements;
  }
  g_printerr ("tfx-rtsp: codec must be opus, L16 or L24, not \"%s\"\n", name);
  return NULL;
}

static gboolean
is_file (const App *app)
{
  return g_file_test (app->source, G_FILE_TEST_IS_REGULAR);
}

/* A single word that is neither a file nor an element, which gst_parse_launch() takes for
 * the name of one. */
static gboolean
is_nothing (const App *app)
{
  GstElementFactory *factory;

  if (is_file (app) || strpbrk (app->source, " !"))
    return FALSE;
  factory = gst_element_factory_find (app->source);
  if (factory) {
    gst_object_unref (factory);
    return FALSE;
  }
  g_printerr ("tfx-rtsp: source is \"%s\", which is no file, and there is no "
              "element \"%s\"\n",
      app->source, app->source);
  return TRUE;
}

/* The elements of a stream, to be freed; NULL after a message. */
static gchar *
describe_stream (App *app)
{
  const gchar *codec = find_codec (app->codec);
  gchar *source, *text;

  if (!codec || is_nothing (app))
    return NULL;
  if (is_file (app)) {
    gchar *uri = gst_filename_to_uri (app->source, NULL);

    source = g_strdup_printf ("uridecodebin uri=\"%s\"", uri);
    g_free (uri);
  } else {
    source = g_strdup (app->source);
  }
  text = g_strdup_printf ("( %s ! audioconvert ! tfxchain name=chain ! "
                          "audioconvert ! %s name=pay0 pt=96 )",
      source, codec);
  g_free (source);
  return text;
}

/* What is wrong with the chain is told now, not when somebody wants to listen; so is
 * what is wrong with the elements. */
static gboolean
try_stream (App *app, const gchar *text)
{
  GError *error = NULL;
  GstElement *bin = gst_parse_launch (text, &error);
  GstBus *bus = gst_bus_new ();
  GstMessage *message = NULL;

  if (!error) {
    app->filter = gst_bin_get_by_name (GST_BIN (bin), "chain");
    gst_element_set_bus (app->filter, bus);
    g_object_set (app->filter, "chain", app->chain, NULL);
    gst_element_set_state (app->filter, GST_STATE_READY);
    gst_element_set_state (app->filter, GST_STATE_NULL);
    gst_element_set_bus (app->filter, NULL);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  }
  if (message)
    gst_message_parse_error (message, &error, NULL);
  if (error)
    g_printerr ("tfx-rtsp: %s\n", error->message);
  g_clear_pointer (&message, gst_message_unref);
  gst_object_unref (bus);
  gst_clear_object (&bin);
  if (!error)
    return TRUE;
  g_error_free (error);
  return FALSE;
}

/* ---- a stream --------------------------------------------------------------------- */

/* What all from a live source to this pad takes, in ms; -1 if it is not live. */
static gdouble
query_latency (GstPad *pad)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min = 0;
  gboolean is_live = FALSE;

  if (gst_pad_query (pad, query))
    gst_query_parse_latency (query, &is_live, &min, NULL);
  gst_query_unref (query);
  return is_live ? (gdouble)min / GST_MSECOND : -1.0;
}

static void
on_state (GstRTSPMedia *media, gint state, App *app)
{
  GstElement *bin = gst_rtsp_media_get_element (media);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (bin), "chain");
  GstElement *pay = gst_bin_get_by_name (GST_BIN (bin), "pay0");
  GstPad *in = gst_element_get_static_pad (filter, "sink");
  GstPad *before = gst_pad_get_peer (in);
  GstPad *behind = gst_element_get_static_pad (filter, "src");
  GstPad *out = gst_element_get_static_pad (pay, "src");
  gdouble all_ms = query_latency (out);

  if (state == GST_STATE_PLAYING && all_ms >= 0.0)
    printf ("latency %.3f ms, of which the chain has %.3f ms\n", all_ms,
        query_latency (behind) - query_latency (before));
  gst_object_unref (out);
  gst_object_unref (behind);
  gst_object_unref (before);
  gst_object_unref (in);
  gst_object_unref (pay);
  gst_object_unref (filter);
  gst_object_unref (bin);
}

static void
on_unprepared (GstRTSPMedia *media, App *app)
{
  GstElement *bin = gst_rtsp_media_get_element (media);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (bin), "chain");

  g_mutex_lock (&app->lock);
  app->filters = g_list_remove (app->filters, filter);
  g_mutex_unlock (&app->lock);
  printf ("a stream has ended\n");
  gst_object_unref (filter);
  gst_object_unref (bin);
}

/* A listener asks to hear a stream from its beginning.  GStreamer's server then seeks a
 * live source that can, for all who share it, and its version 1.22 may abort on the
 * way: no one seeks it. */
static GstPadProbeReturn
on_query (GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstFormat format;

  if (GST_QUERY_TYPE (query) != GST_QUERY_SEEKING)
    return GST_PAD_PROBE_OK;
  gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
  gst_query_set_seeking (query, format, FALSE, 0, -1);
  return GST_PAD_PROBE_HANDLED;
}

static void
forbid_seeks (GstElement *bin)
{
  GstElement *pay = gst_bin_get_by_name (GST_BIN (bin), "pay0");
  GstPad *out = gst_element_get_static_pad (pay, "src");

  gst_pad_add_probe (out, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, on_query, NULL,
      NULL);
  gst_object_unref (out);
  gst_object_unref (pay);
}

static void
on_media (GstRTSPMediaFactory *factory, GstRTSPMedia *media, App *app)
{
  GstElement *bin = gst_rtsp_media_get_element (media);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (bin), "chain");
  gchar *chain;

  if (!is_file (app))
    forbid_seeks (bin);
  g_mutex_lock (&app->lock);
  g_object_get (app->filter, "chain", &chain, NULL);
  g_object_set (filter, "chain", chain, NULL);
  g_free (chain);
  app->filters = g_list_prepend (app->filters, filter);
  g_mutex_unlock (&app->lock);
  g_signal_connect (media, "new-state", G_CALLBACK (on_state), app);
  g_signal_connect (media, "unprepared", G_CALLBACK (on_unprepared), app);
  gst_object_unref (filter);
  gst_object_unref (bin);
}

/* ---- who listens ------------------------------------------------------------------ */

static void
on_closed (GstRTSPClient *client, App *app)
{
  printf ("a listener went, %d there\n",
      g_atomic_int_add (&app->n_clients, -1) - 1);
}

static void
on_session (GstRTSPClient *client, GstRTSPSession *session, App *app)
{
  gst_rtsp_session_set_timeout (session, app->timeout_s);
}

static void
on_client (GstRTSPServer *server, GstRTSPClient *client, App *app)
{
  printf ("a listener came, %d there\n",
      g_atomic_int_add (&app->n_clients, 1) + 1);
  g_signal_connect (client, "closed", G_CALLBACK (on_closed), app);
  g_signal_connect (client, "new-session", G_CALLBACK (on_session), app);
}

/* Those who went without a word: their streams end. */
static gboolean
clean_up (gpointer data)
{
  gst_rtsp_session_pool_cleanup (((App *)data)->pool);
  return G_SOURCE_CONTINUE;
}

/* ---- what is typed ---------------------------------------------------------------- */

/* To be unset. */
static gboolean
read_value (GValue *value, GParamSpec *spec, const gchar *text)
{
  g_value_init (value, spec->value_type);
  return gst_value_deserialize (value, text) &&
         !g_param_value_validate (spec, value);
}

/* STAGE::PARAMETER=VALUE, of the chain that new streams get and of those that
 * there are. */
static void
set_parameter (App *app, gchar *line)
{
  gchar *text = strchr (line, '=');
  GValue value = G_VALUE_INIT;
  GParamSpec *spec;

  if (!text) {
    g_printerr ("tfx-rtsp: not STAGE::PARAMETER=VALUE: %s\n", line);
    return;
  }
  *text++ = '\0';
  g_mutex_lock (&app->lock);
  if (!gst_child_proxy_lookup (GST_CHILD_PROXY (app->filter), line, NULL,
          &spec)) {
    g_printerr ("tfx-rtsp: the chain has no %s\n", line);
  } else if (!read_value (&value, spec, text)) {
    g_printerr ("tfx-rtsp: %s cannot be %s\n", line, text);
  } else {
    gst_child_proxy_set_property (GST_CHILD_PROXY (app->filter), line, &value);
    for (GList *l = app->filters; l; l = l->next)
      gst_child_proxy_set_property (l->data, line, &value);
  }
  g_mutex_unlock (&app->lock);
  if (G_IS_VALUE (&value))
    g_value_unset (&value);
}

static gboolean
on_typed (GIOChannel *channel, GIOCondition condition, gpointer data)
{
  gchar *line = NULL;
  GIOStatus status = g_io_channel_read_line (channel, &line, NULL, NULL, NULL);

  if (status == G_IO_STATUS_NORMAL && *g_strstrip (line))
    set_parameter (data, line);
  g_free (line);
  return status == G_IO_STATUS_NORMAL;
}

/* ---- the server ------------------------------------------------------------------- */

static gboolean
on_signal (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_CONTINUE;
}

static GstRTSPServer *
start_server (App *app, const gchar *text)
{
  GstRTSPServer *server = gst_rtsp_server_new ();
  GstRTSPMountPoints *mounts = gst_rtsp_server_get_mount_points (server);
  GstRTSPThreadPool *threads = gst_rtsp_server_get_thread_pool (server);
  GstRTSPMediaFactory *factory = gst_rtsp_media_factory_new ();

  gst_rtsp_media_factory_set_launch (factory, text);
  gst_rtsp_media_factory_set_shared (factory, !is_file (app));
  g_signal_connect (factory, "media-configure", G_CALLBACK (on_media), app);
  gst_rtsp_mount_points_add_factory (mounts, app->path, factory);
  g_object_unref (mounts);
  /* Listeners are served in this thread, one request after the other. */
  gst_rtsp_thread_pool_set_max_threads (threads, 0);
  g_object_unref (threads);

  app->pool = gst_rtsp_server_get_session_pool (server);
  g_signal_connect (server, "client-connected", G_CALLBACK (on_client), app);
  gst_rtsp_server_set_address (server, app->address);
  gst_rtsp_server_set_service (server, app->port);
  if (gst_rtsp_server_attach (server, NULL) == 0) {
    g_printerr ("tfx-rtsp: cannot listen at %s, port %s\n", app->address,
        app->port);
    g_clear_object (&server);
  }
  return server;
}

static gboolean
serve (App *app)
{
  gchar *text = describe_stream (app);
  GstRTSPServer *server = NULL;
  gboolean ok;
  GIOChannel *typed = g_io_channel_unix_new (0);

  if (text && read_words (app) && try_stream (app, text))
    server = start_server (app, text);
  ok = server != NULL;
  if (ok) {
    printf ("rtsp://%s:%d%s\n", app->address,
        gst_rtsp_server_get_bound_port (server), app->path);
    app->loop = g_main_loop_new (NULL, FALSE);
    g_timeout_add_seconds (1, clean_up, app);
    g_io_add_watch (typed, G_IO_IN | G_IO_HUP, on_typed, app);
    g_unix_signal_add (SIGINT, on_signal, app->loop);
    g_unix_signal_add (SIGTERM, on_signal, app->loop);
    g_main_loop_run (app->loop);
    g_main_loop_unref (app->loop);
    g_object_unref (app->pool);
    g_object_unref (server);
  }
  gst_clear_object (&app->filter);
  g_io_channel_unref (typed);
  g_free (text);
  return ok;
}

int
main (int argc, char **argv)
{
  App app = { .source = "audiotestsrc is-live=true",
    .chain = "HiButterworth(80)",
    .codec = "opus",
    .address = "127.0.0.1",
    .port = "8554",
    .path = "/sound",
    .timeout = "60" };
  gboolean ok = TRUE;

  setvbuf (stdout, NULL, _IOLBF, 0);
  gst_init (&argc, &argv);
  for (int i = 1; i < argc && ok; i++)
    ok = read_option (&app, argv[i]);
  return ok && serve (&app) ? EXIT_SUCCESS : EXIT_FAILURE;
}
