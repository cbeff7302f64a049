/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gst-tfx.c: the command line program: chains of filters over files.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gsttfxtool.h"

typedef struct Command
{
  const gchar *name, *summary;
  GstTfxToolRun run;
} Command;

/* Becomes gst-tfx-serve, which alone needs libsoup.  It is in the folder of this program,
 * or in the next one of a build. */
static GstTfxToolStatus
exec_server (gint argc, gchar **argv)
{
  g_autofree gchar *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree gchar *folder =
      g_path_get_dirname (self ? self : "/proc/self/exe");
  g_autofree gchar *path = g_build_filename (folder, "gst-tfx-serve", NULL);
  g_autofree gchar *built =
      g_build_filename (folder, "../serve/gst-tfx-serve", NULL);

  argv[0] = path;
  execv (path, argv);
  if (errno == ENOENT)
    execv (built, argv);
  gst_tfx_tool_error ("cannot run %s: %s (Debian: install gst-tfx-serve; a "
                      "build needs libsoup 3 and JSON-GLib)",
      path, g_strerror (errno));
  return GST_TFX_TOOL_USAGE;
}

static const Command commands[] = {
  { "process", "filter sound files", gst_tfx_process_run },
  { "verify", "verify the files of a manifest", gst_tfx_verify_run },
  { "watch", "filter files as they arrive in a folder", gst_tfx_watch_run },
  { "play", "play a file or the microphone through a chain", gst_tfx_play_run },
  { "serve", "play through a chain that web pages and programs change",
      exec_server },
  { "record", "record the microphone through a chain", gst_tfx_record_run },
  { "loudness", "measure the loudness of sound files", gst_tfx_loudness_run },
  { "check", "check a chain and report its errors", gst_tfx_check_run },
  { "response", "print or draw the frequency response of a chain",
      gst_tfx_response_run },
  { "spectrum", "print or draw the mean spectra of sound files",
      gst_tfx_spectra_run },
  { "bench", "measure the speed of a chain on this machine",
      gst_tfx_bench_run },
  { "devices", "show which devices run a chain, and why", gst_tfx_devices_run },
  { "list", "list the classes of the chain language, and presets",
      gst_tfx_list_run },
};

static const gchar examples[] =
    "Examples:\n"
    "  gst-tfx process voice.wav clean.flac 'HiButterworth(80) | Gain(2)'\n"
    "  gst-tfx process --out filtered --chain 'Hum(50)' recordings\n  gst-tfx "
    "loudness programme.wav\n"
    "  gst-tfx check 'LoButterworth(1000, order=8)'\n"
    "  gst-tfx list Butterworth\n";

static void
print_help (void)
{
  g_print ("Usage: gst-tfx COMMAND [ARGUMENT…]\n\nCommands:\n");
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-10s%s\n", commands[i].name, commands[i].summary);
  g_print ("\ngst-tfx COMMAND --help describes a command, gst-tfx list CLASS a "
           "class.\n\n");
  g_print ("%s", examples);
}

/* faad drops the first and the last frames of AAC: a file fails without
 * gstreamer1.0-libav. */
static void
avoid_faad (void)
{
  GstPluginFeature *faad =
      gst_registry_lookup_feature (gst_registry_get (), "faad");

  if (!faad)
    return;
  gst_plugin_feature_set_rank (faad, GST_RANK_NONE);
  gst_object_unref (faad);
}

int
main (int argc, char **argv)
{
  gst_tfx_tool_start ();

  /* "help COMMAND" is "COMMAND --help". */
  if (argc == 3 && strcmp (argv[1], "help") == 0) {
    argv[1] = argv[2];
    argv[2] = (char *)"--help";
  }
  if (argc < 2 || strcmp (argv[1], "help") == 0 ||
      strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0) {
    print_help ();
    return argc < 2 ? GST_TFX_TOOL_USAGE : GST_TFX_TOOL_OK;
  }
  if (strcmp (argv[1], "--version") == 0) {
    g_print ("gst-tfx %s\n", VERSION);
    return GST_TFX_TOOL_OK;
  }
  if (strcmp (argv[1], "play") != 0)
    avoid_faad ();
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++) {
    if (strcmp (argv[1], commands[i].name) == 0)
      return (int)gst_tfx_tool_close_streams (
          commands[i].run (argc - 1, argv + 1));
  }
  gst_tfx_tool_error ("there is no command '%s' (gst-tfx --help lists them)",
      argv[1]);
  return GST_TFX_TOOL_USAGE;
}
