/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserve.c: gst-tfx-serve, the program of gst-tfx serve: a sound through a chain that clients of a network see and
 * change.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "gsttfxchainfile.h"
#include "gsttfxchainreader.h"
#include "gsttfxoptions.h"
#include "gsttfxserver.h"

#define LOOK_MSEC 200
#define DEFAULT_PORT 8390
#define TOKEN_BYTES 24
#define LEAST_TOKEN 16
#define GROUP "serve"

/* Of the files that are read again when they are saved. */
typedef struct Versions
{
  GstTfxChainVersion config, chain;
} Versions;

typedef struct Server
{
  GstTfxOptions options; /* the chain alone */
  gchar *input, *source, *sink, *listen, *host, *token_file, *files, *presets,
      *config;
  gint port;
  gboolean is_loop, is_chain_given; /* on the command line */
  gchar *token;                     /* or NULL */
  Versions read, last; /* when they were read, and when they were looked at */
  GMainLoop *loop;
  GstTfxServerStream *stream;
  GstTfxServerApi *api;
  GstTfxServerHttp *http;
  GstTfxToolStatus status;
} Server;

/* ---- the token ------------------------------------------------------------------------ */

/* The token of a file, which is made for its owner alone, with its folder, if there is none.
 * NULL with an error. */
static gchar *
read_token (const gchar *path, GError **error)
{
  g_autofree gchar *token = NULL, *folder = g_path_get_dirname (path);
  guint8 bytes[TOKEN_BYTES];
  GStatBuf status;

  if (g_stat (path, &status) < 0 && errno == ENOENT) {
    if (getentropy (bytes, sizeof bytes) < 0)
      g_error ("there are no random numbers");
    token = g_malloc0 (2 * TOKEN_BYTES + 1);
    for (gsize i = 0; i < sizeof bytes; i++)
      g_snprintf (token + 2 * i, 3, "%02x", bytes[i]);
    g_mkdir_with_parents (folder, 0700);
    return g_file_set_contents_full (path, token, -1,
               G_FILE_SET_CONTENTS_CONSISTENT, 0600, error)
               ? g_steal_pointer (&token)
               : NULL;
  }
  if (!g_file_get_contents (path, &token, NULL, error))
    return NULL;
  g_strstrip (token);
  if (status.st_mode & 077)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_PERM,
        "others may read the token: chmod 600 %s", path);
  else if (strlen (token) < LEAST_TOKEN)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "the token in %s must have %d characters or more", path, LEAST_TOKEN);
  else
    return g_steal_pointer (&token);
  return NULL;
}

/* ---- the configuration file ------------------------------------------------------------- */

/* Sets the options that were not given.  FALSE after a message. */
static gboolean
read_config (const Server *server, const GOptionEntry *entries)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) keys = NULL;

  if (g_key_file_load_from_file (file, server->config, G_KEY_FILE_NONE, &error))
    keys = g_key_file_get_keys (file, GROUP, NULL, &error);
  for (gsize i = 0; keys && keys[i] && !error; i++) {
    const GOptionEntry *entry = entries;

    if (server->is_chain_given && (g_str_has_prefix (keys[i], "chain") ||
                                      strcmp (keys[i], "preset") == 0))
      continue;
    while (entry->long_name && strcmp (entry->long_name, keys[i]) != 0)
      entry++;
    if (!entry->long_name)
      g_set_error (&error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND,
          "there is no option '%s'", keys[i]);
    else if (entry->arg == G_OPTION_ARG_INT && *(gint *)entry->arg_data == -1)
      *(gint *)entry->arg_data =
          g_key_file_get_integer (file, GROUP, keys[i], &error);
    else if (entry->arg == G_OPTION_ARG_NONE && !*(gint *)entry->arg_data)
      *(gint *)entry->arg_data =
          g_key_file_get_boolean (file, GROUP, keys[i], &error);
    else if ((entry->arg == G_OPTION_ARG_STRING ||
                 entry->arg == G_OPTION_ARG_FILENAME) &&
             !*(gchar **)entry->arg_data)
      *(gchar **)entry->arg_data =
          g_key_file_get_string (file, GROUP, keys[i], &error);
    if (g_error_matches (error, G_KEY_FILE_ERROR,
            G_KEY_FILE_ERROR_INVALID_VALUE)) {
      g_autofree gchar *value =
          g_key_file_get_value (file, GROUP, keys[i], NULL);

      g_clear_error (&error);
      g_set_error (&error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE,
          "%s is '%s', but must be %s", keys[i], value,
          entry->arg == G_OPTION_ARG_INT ? "a whole number" : "true or false");
    }
  }
  if (error)
    gst_tfx_tool_error ("%s: %s", server->config, error->message);
  return !error;
}

/* Sets the chain of the options, with full names of files.  FALSE after a message. */
static gboolean
set_chain (Server *server, const GstTfxOptions *options)
{
  TfxExprError fault = { 0 };
  g_autofree gchar *text =
      gst_tfx_chain_reader_make_absolute (options->chain, ".", NULL, &fault);

  if (text)
    return gst_tfx_server_api_set_chain (server->api, text);
  gst_tfx_tool_error ("%s", fault.rendered);
  return FALSE;
}

/* The options of the command line, which are keys of the file too. */
#define N_ENTRIES (13 + GST_TFX_OPTIONS_N_CHAIN)

static void
list_entries (Server *server, GOptionEntry entries[N_ENTRIES])
{
  const GOptionEntry own[] = {
    { "input", 'i', 0, G_OPTION_ARG_STRING, &server->input,
        "file or URI to play (default: the microphone)", "SOUND" },
    { "source", 's', 0, G_OPTION_ARG_STRING, &server->source,
        "GStreamer elements to use as the microphone (autoaudiosrc)",
        "ELEMENTS" },
    { "sink", 'o', 0, G_OPTION_ARG_STRING, &server->sink,
        "GStreamer elements to play to (autoaudiosink)", "ELEMENTS" },
    { "loop", 0, 0, G_OPTION_ARG_NONE, &server->is_loop, "repeat the file",
        NULL },
    { "port", 0, 0, G_OPTION_ARG_INT, &server->port,
        "TCP port (8390); 0: any that is free", "PORT" },
    { "listen", 0, 0, G_OPTION_ARG_STRING, &server->listen,
        "address or name to listen at (default: this machine alone)",
        "ADDRESS" },
    { "host", 0, 0, G_OPTION_ARG_STRING, &server->host,
        "name of this server at a proxy", "NAME" },
    { "token-file", 0, 0, G_OPTION_ARG_FILENAME, &server->token_file,
        "file with the token of clients; made if there is none", "FILE" },
    { "files", 0, 0, G_OPTION_ARG_FILENAME, &server->files,
        "folder of files that clients may name in chains", "FOLDER" },
    { "presets", 0, 0, G_OPTION_ARG_FILENAME, &server->presets,
        "folder of presets that clients load and save", "FOLDER" },
    { "config", 0, 0, G_OPTION_ARG_FILENAME, &server->config,
        "file with options; its chain is read again when it is saved", "FILE" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &server->options.quiet,
        "print errors and warnings only", NULL },
  };

  memset (entries, 0, N_ENTRIES * sizeof *entries);
  memcpy (entries, own, sizeof own);
  gst_tfx_options_list_chain (&server->options, entries + G_N_ELEMENTS (own));
}

static void
clear (Server *server)
{
  gst_tfx_options_clear (&server->options);
  g_free (server->input);
  g_free (server->source);
  g_free (server->sink);
  g_free (server->listen);
  g_free (server->host);
  g_free (server->token_file);
  g_free (server->files);
  g_free (server->presets);
  g_free (server->config);
  g_free (server->token);
}

/* Reads the chain again.  A wrong one is reported, and the old one stays.  The same chain
 * does not undo what clients have set. */
static void
reload (Server *server)
{
  Server fresh = { .config = g_strdup (server->config), .port = -1 };
  GOptionEntry entries[N_ENTRIES];
  gboolean is_good = TRUE;

  list_entries (&fresh, entries);
  if (server->is_chain_given)
    fresh.options.chain_file = g_strdup (server->options.chain_file);
  else
    is_good = read_config (&fresh, entries);
  if (is_good && gst_tfx_options_read_chain (&fresh.options) &&
      strcmp (fresh.options.chain, server->options.chain) != 0 &&
      set_chain (server, &fresh.options)) {
    GstTfxOptions before = server->options;

    server->options = fresh.options;
    fresh.options = before;
  }
  clear (&fresh);
}

/* ---- serving -------------------------------------------------------------------------- */

static void
take_notice (const gchar *warning, gboolean is_over, gpointer data)
{
  Server *server = data;

  if (is_over) {
    gst_tfx_tool_error ("%s%s%s", server->input ? server->input : "",
        server->input ? ": " : "", warning);
    server->status = GST_TFX_TOOL_FAILED;
    g_main_loop_quit (server->loop);
  } else if (warning) {
    g_printerr ("warning: %s\n", warning);
    gst_tfx_server_api_emit_warning (server->api, warning);
  } else {
    gst_tfx_server_api_emit_state (server->api);
  }
}

static Versions
look_at_files (const Server *server)
{
  Versions versions = { 0 };

  if (server->config && !server->is_chain_given)
    versions.config = gst_tfx_chain_file_look (server->config);
  if (server->options.chain_file)
    versions.chain = gst_tfx_chain_file_look (server->options.chain_file);
  return versions;
}

static gboolean
look (gpointer data)
{
  Server *server = data;
  const Versions now = look_at_files (server);

  if (gst_tfx_tool_is_interrupted ())
    g_main_loop_quit (server->loop);
  /* A program may save in several steps. */
  if (memcmp (&now, &server->last, sizeof now) == 0 &&
      memcmp (&now, &server->read, sizeof now) != 0) {
    server->read = now;
    reload (server);
  }
  server->last = now;
  return G_SOURCE_CONTINUE;
}

/* Starts the sound and listens.  FALSE with an error, or after a message. */
static gboolean
begin (Server *server, GError **error)
{
  const gchar *name = server->listen ? server->listen : "localhost";
  const gboolean is_ipv6 = strchr (name, ':') != NULL;
  g_autofree gchar *token =
      server->token ? g_uri_escape_string (server->token, NULL, FALSE) : NULL;
  guint16 port;

  server->stream =
      gst_tfx_server_stream_new (server->input ? server->input : "-",
          server->source, server->sink, server->is_loop, take_notice, server,
          error);
  if (!server->stream)
    return FALSE;
  server->api =
      gst_tfx_server_api_new (server->stream, server->files, server->presets);
  server->http = gst_tfx_server_http_new (server->api, server->listen,
      server->host, server->token);
  if (!set_chain (server, &server->options) ||
      !gst_tfx_tool_find_devices (server->stream->pipeline, error))
    return FALSE;
  gst_tfx_server_stream_set_playing (server->stream, TRUE);
  port =
      gst_tfx_server_http_listen (server->http, (guint16)server->port, error);
  if (port && !server->options.quiet)
    g_print ("http://%s%s%s:%u/%s%s\n", is_ipv6 ? "[" : "", name,
        is_ipv6 ? "]" : "", port, token ? "#token=" : "", token ? token : "");
  return port != 0;
}

static void
serve (Server *server)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GError) error = NULL;
  guint looks = g_timeout_add (LOOK_MSEC, look, server);

  server->loop = loop;
  server->status = GST_TFX_TOOL_FAILED;
  if (begin (server, &error)) {
    server->status = GST_TFX_TOOL_OK;
    g_main_loop_run (loop);
  } else if (error) {
    gst_tfx_tool_error ("%s", error->message);
  }
  g_source_remove (looks);
  g_clear_pointer (&server->api, gst_tfx_server_api_free);
  g_clear_pointer (&server->http, gst_tfx_server_http_free);
  g_clear_pointer (&server->stream, gst_tfx_server_stream_free);
}

/* Reads the rest of the options.  FALSE after a message. */
static gboolean
complete (Server *server, gint argc, gchar **argv, const GOptionEntry *entries)
{
  g_autoptr (GError) error = NULL;

  server->is_chain_given =
      argc > 1 || gst_tfx_options_has_chain (&server->options);
  if (server->is_chain_given &&
      !gst_tfx_options_find_chain (&server->options, argc, argv, "serve"))
    return FALSE;
  if ((server->config && !read_config (server, entries)) ||
      !gst_tfx_options_read_chain (&server->options))
    return FALSE;
  if (server->files && !g_file_test (server->files, G_FILE_TEST_IS_DIR)) {
    gst_tfx_tool_error ("%s: it is not a folder", server->files);
    return FALSE;
  }
  if (server->presets && g_mkdir_with_parents (server->presets, 0700) < 0) {
    gst_tfx_tool_error ("%s: %s", server->presets, g_strerror (errno));
    return FALSE;
  }
  if (server->port == -1)
    server->port = DEFAULT_PORT;
  if (server->port < 0 || server->port > G_MAXUINT16) {
    gst_tfx_tool_error ("port is %d, but must be from 0 to %d", server->port,
        G_MAXUINT16);
    return FALSE;
  }
  if (server->listen && !server->token_file) {
    gst_tfx_tool_error ("--listen needs --token-file");
    return FALSE;
  }
  server->read = look_at_files (server);
  if (server->token_file)
    server->token = read_token (server->token_file, &error);
  if (error)
    gst_tfx_tool_error ("%s", error->message);
  return !error;
}

int
main (int argc, char **argv)
{
  Server server = { .port = -1, .status = GST_TFX_TOOL_USAGE };
  GOptionEntry entries[N_ENTRIES];

  gst_tfx_tool_start ();
  argv[0] = (char *)"serve"; /* in --help and messages */
  list_entries (&server, entries);
  if (gst_tfx_tool_parse ("CHAIN",
          "Plays a sound through a chain that web pages and programs see and "
          "change.",
          "Examples:\n"
          "  gst-tfx serve 'eq=ParametricEQ(1000, 1, 0)'\n"
          "  gst-tfx serve --input song.flac --loop --chain-file room.chain\n",
          entries, &argc, &argv) &&
      complete (&server, argc, argv, entries))
    serve (&server);
  clear (&server);
  return (int)gst_tfx_tool_close_streams (server.status);
}
