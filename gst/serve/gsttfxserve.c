/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserve.c: gst-tfx serve: a sound through a chain that clients of a network see and
 * change.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "gsttfxchainreader.h"
#include "gsttfxoptions.h"
#include "gsttfxserverhttp.h"
#include "gsttfxtool.h"

#define LOOK_MSEC 100
#define DEFAULT_PORT 8390
#define TOKEN_BYTES 24

typedef struct Server
{
  GstTfxOptions options; /* the chain alone */
  gchar *input, *source, *sink, *listen, *token_file, *files, *presets, *config;
  gint port;
  gboolean is_loop;
  gchar *token; /* or NULL */
  GMainLoop *loop;
  GstTfxServerStream *stream;
  GstTfxServerApi *api;
  GstTfxServerHttp *http;
  GstTfxToolStatus status;
} Server;

/* ---- the token ------------------------------------------------------------------------ */

/* Writes a new token to a file that only its owner may read.  NULL with an error. */
static gchar *
make_token (const gchar *path, GError **error)
{
  guint8 bytes[TOKEN_BYTES];
  GString *token = g_string_new (NULL);

  if (getentropy (bytes, sizeof bytes) < 0)
    g_error ("there is no source of random numbers");
  for (gsize i = 0; i < sizeof bytes; i++)
    g_string_append_printf (token, "%02x", bytes[i]);
  if (g_file_set_contents_full (path, token->str, -1,
          G_FILE_SET_CONTENTS_CONSISTENT, 0600, error))
    return g_string_free (token, FALSE);
  g_string_free (token, TRUE);
  return NULL;
}

/* The token of a file, which is made if there is none.  NULL after a message. */
static gchar *
read_token (const gchar *path)
{
  gchar *token = NULL;
  GError *error = NULL;
  GStatBuf status;

  if (g_stat (path, &status) < 0 && errno == ENOENT) {
    token = make_token (path, &error);
  } else if (g_file_get_contents (path, &token, NULL, &error)) {
    g_strstrip (token);
    if (status.st_mode & 077)
      g_set_error (&error, G_FILE_ERROR, G_FILE_ERROR_PERM,
          "others may read %s: chmod 600 %s", path, path);
    else if (strlen (token) < 16)
      g_set_error (&error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
          "%s has a token of less than 16 characters", path);
  }
  if (!error)
    return token;
  gst_tfx_tool_error ("%s", error->message);
  g_error_free (error);
  g_free (token);
  return NULL;
}

/* ---- serving -------------------------------------------------------------------------- */

static void
take_notice (const gchar *warning, gboolean is_over, gpointer data)
{
  Server *server = data;

  if (is_over) {
    gst_tfx_tool_error ("%s", warning);
    server->status = GST_TFX_TOOL_FAILED;
    g_main_loop_quit (server->loop);
  } else if (warning) {
    g_printerr ("warning: %s\n", warning);
    gst_tfx_server_api_emit_warning (server->api, warning);
  } else {
    gst_tfx_server_api_emit_state (server->api);
  }
}

static gboolean
look (gpointer data)
{
  Server *server = data;

  if (gst_tfx_tool_is_interrupted ())
    g_main_loop_quit (server->loop);
  return G_SOURCE_CONTINUE;
}

/* The chain of the command line, with full names of files. */
static gboolean
set_first_chain (Server *server)
{
  TfxExprError fault;
  gchar *text = gst_tfx_chain_reader_make_absolute (server->options.chain, ".",
      NULL, &fault);
  TfxExpr *expr =
      text ? gst_tfx_chain_reader_parse (text, NULL, NULL, NULL, &fault) : NULL;

  if (expr)
    gst_tfx_server_stream_set_chain (server->stream, text, expr);
  else
    gst_tfx_tool_error ("%s", fault.rendered);
  g_free (text);
  return expr != NULL;
}

static gboolean
begin (Server *server, GError **error)
{
  guint16 port;

  server->stream =
      gst_tfx_server_stream_new (server->input ? server->input : "-",
          server->source, server->sink, server->is_loop, take_notice, server,
          error);
  if (!server->stream)
    return FALSE;
  server->http = gst_tfx_server_http_new (server->listen, server->token);
  server->api = gst_tfx_server_api_new (server->stream, server->files,
      server->presets, gst_tfx_server_http_emit, server->http);
  if (!set_first_chain (server) ||
      (server->files && g_chdir (server->files) < 0))
    return FALSE;
  if (!gst_tfx_server_stream_start (server->stream, error))
    return FALSE;
  port = gst_tfx_server_http_listen (server->http, server->api,
      (guint16)server->port, error);
  if (port && !server->options.quiet)
    g_printerr ("http://%s:%u/%s%s\n",
        server->listen ? server->listen : "localhost", port,
        server->token ? "#token=" : "", server->token ? server->token : "");
  return port != 0;
}

static void
serve (Server *server)
{
  GError *error = NULL;
  guint looks;

  server->loop = g_main_loop_new (NULL, FALSE);
  if (begin (server, &error)) {
    server->status = GST_TFX_TOOL_OK;
    looks = g_timeout_add (LOOK_MSEC, look, server);
    g_main_loop_run (server->loop);
    g_source_remove (looks);
  } else {
    server->status = GST_TFX_TOOL_FAILED;
    if (error)
      gst_tfx_tool_error ("%s", error->message);
    g_clear_error (&error);
  }
  g_clear_pointer (&server->api, gst_tfx_server_api_free);
  g_clear_pointer (&server->http, gst_tfx_server_http_free);
  g_clear_pointer (&server->stream, gst_tfx_server_stream_free);
  g_main_loop_unref (server->loop);
}

GstTfxToolStatus
gst_tfx_serve_run (gint argc, gchar **argv)
{
  Server server = { .port = DEFAULT_PORT, .status = GST_TFX_TOOL_USAGE };
  GOptionEntry entries[12 + GST_TFX_OPTIONS_N_CHAIN] = {
    { "input", 'i', 0, G_OPTION_ARG_STRING, &server.input,
        "file or URI to play; default: the microphone", "SOUND" },
    { "source", 's', 0, G_OPTION_ARG_STRING, &server.source,
        "GStreamer elements to use as the microphone (autoaudiosrc)",
        "ELEMENTS" },
    { "sink", 'o', 0, G_OPTION_ARG_STRING, &server.sink,
        "GStreamer elements to play to (autoaudiosink)", "ELEMENTS" },
    { "loop", 0, 0, G_OPTION_ARG_NONE, &server.is_loop, "repeat the file",
        NULL },
    { "port", 0, 0, G_OPTION_ARG_INT, &server.port, "TCP port; 0: any (8390)",
        "PORT" },
    { "listen", 0, 0, G_OPTION_ARG_STRING, &server.listen,
        "address or name to listen at; default: this machine alone",
        "ADDRESS" },
    { "token-file", 0, 0, G_OPTION_ARG_FILENAME, &server.token_file,
        "file with the token that clients need; made if there is none",
        "FILE" },
    { "files", 0, 0, G_OPTION_ARG_FILENAME, &server.files,
        "folder of the files that clients may name in chains", "FOLDER" },
    { "presets", 0, 0, G_OPTION_ARG_FILENAME, &server.presets,
        "folder of presets, NAME.chain", "FOLDER" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &server.options.quiet,
        "print errors and warnings only", NULL },
  };

  gst_tfx_options_list_chain (&server.options, entries + 10);
  if (gst_tfx_tool_parse ("CHAIN",
          "Plays a sound through a chain that programs and web pages see and "
          "change.",
          "Examples:\n"
          "  gst-tfx serve 'eq=ParametricEQ(1000, 1, 0)'\n"
          "  gst-tfx serve --input song.flac --loop --chain-file room.chain\n",
          entries, &argc, &argv) &&
      gst_tfx_options_find_chain (&server.options, argc, argv, "serve") &&
      gst_tfx_options_read_chain (&server.options)) {
    if (server.port < 0 || server.port > 65535)
      gst_tfx_tool_error ("port is %d, but must be from 0 to 65535",
          server.port);
    else if (server.listen && !server.token_file)
      gst_tfx_tool_error ("--listen needs --token-file");
    else if (!server.token_file ||
             (server.token = read_token (server.token_file)))
      serve (&server);
  }
  gst_tfx_options_clear (&server.options);
  g_free (server.input);
  g_free (server.source);
  g_free (server.sink);
  g_free (server.listen);
  g_free (server.token_file);
  g_free (server.token);
  g_free (server.files);
  g_free (server.presets);
  return server.status;
}
