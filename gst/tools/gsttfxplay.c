/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxplay.c: gst-tfx play: a file, an address or a microphone through a chain to
 * the loudspeakers, with keys that change it.
 */
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <glib-unix.h>
#include <gst/gst.h>

#include "gsttfxchainreader.h"
#include "gsttfxknobs.h"
#include "gsttfxoptions.h"
#include "gsttfxpipeline.h"
#include "gsttfxtool.h"

/* Between two looks at signals and the position. */
#define LOOK_MSEC 100
#define SEEK_NS (5 * GST_SECOND)

typedef struct Player
{
  GstTfxOptions options; /* the chain alone */
  gchar *source, *sink;
  const gchar *sound;
  GstElement *pipeline, *chain;
  GMainLoop *loop;
  GstTfxKnobs *knobs;
  gchar *missing;   /* what the decoder lacks; or NULL */
  gchar *bypassed;  /* the chain while it is bypassed, else NULL */
  GArray *numbers;  /* of its knobs */
  gboolean is_late; /* it looks ahead */
  gboolean has_turned, is_paused, shows_state;
  GstTfxToolStatus status;
} Player;

#define KEYS                                                                   \
  "  space  pause, continue\n"                                                 \
  "  < >    seek back or forward by 5 s\n"                                     \
  "  n p    select the next (or Tab) or previous parameter\n"                  \
  "  + -    change it\n"                                                       \
  "  l      list all parameters\n"                                             \
  "  b      bypass the chain, and use it again\n"                              \
  "  ?      show these keys\n"                                                 \
  "  q      quit, and print the chain if it was changed\n"

/* To standard error, in place of the line with the position. */
static void G_GNUC_PRINTF (2, 3)
    print_line (const Player *player, const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("%s%s", player->shows_state ? "\r\033[K" : "", text);
  g_free (text);
}

/* ---- what the keys do -------------------------------------------------------------------- */

static gboolean
looks_ahead (Player *player)
{
  const gdouble hz = 1000.0;
  GVariant *response = NULL;
  guint64 latency = 0;

  g_signal_emit_by_name (player->chain, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1, sizeof hz), 0,
      &response);
  if (response) {
    g_variant_lookup (response, "latency", "t", &latency);
    g_variant_unref (response);
  }
  return latency > 0;
}

/* Sets the chain again, from its file if it has one, and restores its parameters. */
static void
take_chain_up (Player *player)
{
  if (player->options.chain_file)
    g_object_set (player->chain, "location", player->options.chain_file, NULL);
  else
    g_object_set (player->chain, "chain", player->bypassed, NULL);
  gst_tfx_knobs_write (player->knobs, player->numbers);
  g_clear_pointer (&player->numbers, g_array_unref);
  g_clear_pointer (&player->bypassed, g_free);
}

/* One that looks ahead comes and goes in a flush, at a standstill. */
static void
toggle_bypass (Player *player)
{
  if (!player->bypassed)
    player->is_late = looks_ahead (player);
  if (player->is_late && !gst_tfx_pipeline_can_seek (player->pipeline)) {
    print_line (player, "a chain with latency can be bypassed only where the "
                        "sound can be sought\n");
    return;
  }
  if (player->is_late) {
    gst_element_set_state (player->pipeline, GST_STATE_PAUSED);
    gst_element_get_state (player->pipeline, NULL, NULL, GST_SECOND);
  }
  if (player->bypassed) {
    take_chain_up (player);
  } else {
    g_object_get (player->chain, "chain", &player->bypassed, NULL);
    player->numbers = gst_tfx_knobs_read (player->knobs);
    g_object_set (player->chain, "chain", "", NULL);
  }
  if (player->is_late) {
    gst_tfx_pipeline_seek (player->pipeline, 0);
    if (!player->is_paused)
      gst_element_set_state (player->pipeline, GST_STATE_PLAYING);
  }
}

static void
toggle_pause (Player *player)
{
  player->is_paused = !player->is_paused;
  gst_element_set_state (player->pipeline,
      player->is_paused ? GST_STATE_PAUSED : GST_STATE_PLAYING);
}

static void
turn_knob (Player *player, gint direction)
{
  gst_tfx_knobs_turn (player->knobs, direction);
  player->has_turned = TRUE;
}

static void
list_knobs (Player *player)
{
  gchar *list = gst_tfx_knobs_list (player->knobs);

  print_line (player, "%s", list);
  g_free (list);
}

/* With the values that it has now, and full names of files: to be used anywhere. */
static void
print_chain (Player *player)
{
  const gchar *file = player->options.chain_file;
  gchar *chain, *folder, *absolute = NULL;
  TfxExprError error;

  if (player->bypassed)
    take_chain_up (player);
  g_object_get (player->chain, "chain", &chain, NULL);
  if (file) {
    folder = g_path_get_dirname (file);
    absolute = gst_tfx_chain_reader_make_absolute (chain, folder, NULL, &error);
    g_free (folder);
  }
  g_print ("%s\n", absolute ? absolute : chain);
  g_free (absolute);
  g_free (chain);
}

static void
take_key (Player *player, gchar key)
{
  switch (key) {
    case ' ':
      toggle_pause (player);
      break;
    case '+':
    case '=':
      turn_knob (player, 1);
      break;
    case '-':
      turn_knob (player, -1);
      break;
    case '\t':
    case 'n':
      gst_tfx_knobs_select (player->knobs, 1);
      break;
    case 'p':
      gst_tfx_knobs_select (player->knobs, -1);
      break;
    case '>':
    case '.':
      gst_tfx_pipeline_seek (player->pipeline, SEEK_NS);
      break;
    case '<':
    case ',':
      gst_tfx_pipeline_seek (player->pipeline, -(gint64)SEEK_NS);
      break;
    case 'b':
      toggle_bypass (player);
      break;
    case 'l':
      list_knobs (player);
      break;
    case '?':
      print_line (player, KEYS);
      break;
    case 'q':
      g_main_loop_quit (player->loop);
      break;
    default:
      break;
  }
}

static gboolean
read_keys (gint file, GIOCondition condition, gpointer data)
{
  gchar keys[64];
  const gssize n = read (file, keys, sizeof keys);

  for (gssize i = 0; i < n; i++)
    take_key (data, keys[i]);
  return n > 0;
}

/* ---- playing ------------------------------------------------------------------------------- */

static gboolean
look (gpointer data)
{
  Player *player = data;
  gint64 position = 0;
  gchar *knob;

  if (gst_tfx_tool_is_interrupted ()) {
    player->status = GST_TFX_TOOL_INTERRUPTED;
    g_main_loop_quit (player->loop);
  }
  if (!player->shows_state)
    return G_SOURCE_CONTINUE;
  gst_element_query_position (player->pipeline, GST_FORMAT_TIME, &position);
  g_printerr ("\r\033[K%.1f s%s%s", (gdouble)position / GST_SECOND,
      player->is_paused ? "  paused" : "",
      player->bypassed ? "  without the chain" : "");
  knob = player->bypassed ? NULL : gst_tfx_knobs_tell (player->knobs);
  if (knob)
    g_printerr ("  %s", knob);
  g_free (knob);
  return G_SOURCE_CONTINUE;
}

static gboolean
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Player *player = data;
  GError *error = NULL;
  gchar *warning;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_EOS:
      g_main_loop_quit (player->loop);
      break;
    case GST_MESSAGE_ELEMENT:
      gst_tfx_tool_note_missing (message, &player->missing);
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (player->pipeline));
      break;
    case GST_MESSAGE_ERROR:
      error = gst_tfx_tool_take_error (message, player->missing);
      gst_tfx_tool_error ("%s: %s", player->sound, error->message);
      player->status = GST_TFX_TOOL_FAILED;
      g_main_loop_quit (player->loop);
      break;
    case GST_MESSAGE_WARNING:
      warning = gst_tfx_tool_take_warning (message);
      if (warning)
        print_line (player, "warning: %s\n", warning);
      g_free (warning);
      break;
    default:
      break;
  }
  g_clear_error (&error);
  return G_SOURCE_CONTINUE;
}

static gboolean
build (Player *player, const gchar *sound)
{
  GError *error = NULL;

  player->pipeline = gst_tfx_pipeline_new (sound, player->source,
      "tfxchain name=chain", player->sink, &error);
  if (!player->pipeline) {
    gst_tfx_tool_error ("%s", error->message);
    g_clear_error (&error);
    return FALSE;
  }
  player->chain = gst_bin_get_by_name (GST_BIN (player->pipeline), "chain");
  if (player->options.chain_file)
    g_object_set (player->chain, "location", player->options.chain_file,
        "watch", TRUE, NULL);
  else
    g_object_set (player->chain, "chain", player->options.chain, NULL);
  return TRUE;
}

static void
play (Player *player)
{
  GstBus *bus = gst_element_get_bus (player->pipeline);
  struct termios before, raw;
  const gboolean is_terminal = tcgetattr (STDIN_FILENO, &before) == 0;
  guint keys, looks;

  if (is_terminal) {
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr (STDIN_FILENO, TCSANOW, &raw);
  }
  player->loop = g_main_loop_new (NULL, FALSE);
  gst_bus_add_watch (bus, take_message, player);
  keys = g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP, read_keys, player);
  looks = g_timeout_add (LOOK_MSEC, look, player);
  gst_element_set_state (player->pipeline, GST_STATE_PLAYING);
  g_main_loop_run (player->loop);
  gst_element_set_state (player->pipeline, GST_STATE_NULL);
  if (g_main_context_find_source_by_id (NULL, keys))
    g_source_remove (keys);
  g_source_remove (looks);
  gst_bus_remove_watch (bus);
  g_main_loop_unref (player->loop);
  gst_object_unref (bus);
  if (player->shows_state)
    g_printerr ("\r\033[K");
  if (is_terminal)
    tcsetattr (STDIN_FILENO, TCSANOW, &before);
  if (player->has_turned)
    print_chain (player);
}

GstTfxToolStatus
gst_tfx_play_run (gint argc, gchar **argv)
{
  Player player = { .status = GST_TFX_TOOL_USAGE };
  GstTfxOptions *options = &player.options;
  GError *error = NULL;
  GOptionEntry entries[4 + GST_TFX_OPTIONS_N_CHAIN] = {
    { "source", 's', 0, G_OPTION_ARG_STRING, &player.source,
        "GStreamer elements to use as the microphone (autoaudiosrc)",
        "ELEMENTS" },
    { "sink", 'o', 0, G_OPTION_ARG_STRING, &player.sink,
        "GStreamer elements to play to (autoaudiosink)", "ELEMENTS" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "print errors only",
        NULL },
  };

  gst_tfx_options_list_chain (options, entries + 3);
  if (gst_tfx_tool_parse ("SOUND CHAIN",
          "Plays a file, a URI (https://…) or the microphone (-) through a "
          "chain.",
          "The file of --chain-file is read again when it is "
          "saved.\n\nKeys:\n" KEYS "\n"
          "Examples:\n"
          "  gst-tfx play voice.wav 'HiButterworth(80)'\n"
          "  gst-tfx play --chain-file voice.chain -\n",
          entries, &argc, &argv) &&
      gst_tfx_options_take_chain (options, argc, argv,
          "play takes SOUND CHAIN (see gst-tfx play --help)") &&
      build (&player, argv[1])) {
    player.shows_state = !options->quiet && isatty (STDERR_FILENO);
    player.status = GST_TFX_TOOL_OK;
    player.sound = argv[1];
    if (gst_tfx_tool_find_devices (player.pipeline, &error)) {
      player.knobs = gst_tfx_knobs_new (player.chain);
      play (&player);
      gst_tfx_knobs_free (player.knobs);
    } else {
      gst_tfx_tool_error ("%s", error->message);
      g_clear_error (&error);
      gst_element_set_state (player.pipeline, GST_STATE_NULL);
      player.status = GST_TFX_TOOL_FAILED;
    }
  }
  gst_clear_object (&player.chain);
  gst_clear_object (&player.pipeline);
  gst_tfx_options_clear (options);
  g_free (player.bypassed);
  g_clear_pointer (&player.numbers, g_array_unref);
  g_free (player.missing);
  g_free (player.source);
  g_free (player.sink);
  return player.status;
}
