/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxprocess.c: gst-tfx process: files through a chain.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "gsttfxbatch.h"
#include "gsttfxsource.h"

/* A file with names of files. */
typedef struct Names
{
  gchar *path; /* "-": standard input */
  gboolean with_nul;
} Names;

/* Names, one in a line or each with a NUL behind, of a file or of standard
 * input. */
static gboolean
read_names (const Names *from, GPtrArray *names)
{
  const gboolean is_stdin = strcmp (from->path, "-") == 0;
  FILE *file = is_stdin ? stdin : g_fopen (from->path, "re");
  const int end = from->with_nul ? '\0' : '\n';
  char *name = NULL;
  size_t size = 0;
  ssize_t n;
  gboolean is_read = file != NULL;

  while (file && (n = getdelim (&name, &size, end, file)) > 0) {
    if (name[n - 1] == end)
      name[n - 1] = '\0';
    if (*name)
      g_ptr_array_add (names, g_strdup (name));
  }
  if (!file || (ferror (file) && !gst_tfx_tool_is_interrupted ())) {
    gst_tfx_tool_error ("cannot read %s: %s", from->path, g_strerror (errno));
    is_read = FALSE;
  }
  free (name);
  if (file && !is_stdin)
    fclose (file);
  return is_read;
}

/* Those of other files are written behind their sound, once it has ended. */
static gboolean
holds_tags (const gchar *extension)
{
  static const gchar *const all[] = { "flac", "ogg", "oga", "opus", "mp3",
    NULL };

  return extension && g_strv_contains (all, extension);
}

/* Whether the sound can go to standard output; FALSE after a message. */
static gboolean
check_stdout (const GstTfxOptions *options)
{
  static const gchar *const seeking[] = { "m4a", "m4v", "mov", "mp4", NULL };

  if (options->json)
    gst_tfx_tool_error ("--json and the sound cannot both go to standard "
                        "output");
  else if (options->extension && g_strv_contains (seeking, options->extension))
    gst_tfx_tool_error ("an .%s cannot be written to standard output",
        options->extension);
  else if (options->replaygain && !holds_tags (options->extension))
    gst_tfx_tool_error ("--replaygain: a .%s on standard output has no tags",
        options->extension ? options->extension : "wav");
  else if (isatty (STDOUT_FILENO))
    gst_tfx_tool_error ("standard output is a terminal: redirect it to a file "
                        "or a pipe");
  else
    return TRUE;
  return FALSE;
}

/* A chain where a name is wanted; FALSE after a message. */
static gboolean
check_names (const GstTfxOptions *options, gint argc, gchar **argv)
{
  const gint at = gst_tfx_options_has_chain (options)
                      ? 0
                      : gst_tfx_options_look_for_chain (argc, argv);
  gchar *chain = at > 0 ? gst_tfx_options_quote (argv[at]) : NULL;
  gboolean is_good = FALSE;

  if (chain && options->out)
    gst_tfx_tool_error ("with --out, give the chain by --chain %s", chain);
  else if (chain && argc == 3)
    gst_tfx_tool_error ("there is no output: gst-tfx process %s OUT %s",
        argv[3 - at], chain);
  else
    is_good = TRUE;
  g_free (chain);
  return is_good;
}

/* IN OUT [CHAIN] */
static gboolean
collect_one (GstTfxBatch *batch, GstTfxOptions *options, gint argc,
    gchar **argv)
{
  if (!check_names (options, argc, argv))
    return FALSE;
  if (argc == 4 && !gst_tfx_options_has_chain (options)) {
    if (!gst_tfx_options_check_order (argc, argv))
      return FALSE;
    options->chain = g_strdup (argv[3]);
  } else if (argc != 3) {
    gst_tfx_tool_error ("process takes IN OUT CHAIN, or --out DIR --chain "
                        "CHAIN FILE… (see gst-tfx process --help)");
    return FALSE;
  }
  if (strcmp (argv[2], "-") == 0 && !check_stdout (options))
    return FALSE;
  if (options->manifest &&
      (strcmp (argv[1], "-") == 0 || strcmp (argv[2], "-") == 0)) {
    gst_tfx_tool_error ("--manifest needs files, not standard input or output");
    return FALSE;
  }
  if (!gst_tfx_options_read (options) || !gst_tfx_batch_open_manifest (batch))
    return FALSE;
  gst_tfx_batch_add (batch, argv[1], argv[2]);
  return TRUE;
}

/* A file, or a folder. */
static gboolean
collect_name (GstTfxBatch *batch, const GstTfxOptions *options,
    const gchar *name, guint *n_others)
{
  GPtrArray *files;
  gboolean is_good;

  if (!g_file_test (name, G_FILE_TEST_IS_DIR))
    return gst_tfx_batch_add_to_folder (batch, name, NULL);
  files = g_ptr_array_new_with_free_func (g_free);
  is_good = gst_tfx_source_list_folder (name, options->out, files, n_others);
  for (guint i = 0; is_good && i < files->len; i++)
    is_good =
        gst_tfx_batch_add_to_folder (batch, g_ptr_array_index (files, i), name);
  g_ptr_array_unref (files);
  return is_good;
}

/* --out DIR FILE… */
static gboolean
collect_many (GstTfxBatch *batch, GstTfxOptions *options, const Names *from,
    gint argc, gchar **argv, GPtrArray *names)
{
  guint n_others = 0;

  if (argc < 2 && !from->path) {
    gst_tfx_tool_error ("--out takes files or folders to process, as further "
                        "arguments or by --files-from");
    return FALSE;
  }
  if (!check_names (options, argc, argv))
    return FALSE;
  for (gint i = 1; i < argc; i++)
    g_ptr_array_add (names, g_strdup (argv[i]));
  if ((from->path && !read_names (from, names)) ||
      !gst_tfx_options_read (options) || !gst_tfx_batch_open_folder (batch) ||
      !gst_tfx_batch_open_manifest (batch))
    return FALSE;
  for (guint i = 0; i < names->len; i++) {
    if (!collect_name (batch, options, g_ptr_array_index (names, i), &n_others))
      return FALSE;
  }
  if (n_others > 0 && !options->quiet)
    g_printerr ("skipped %u file%s without the extension of a sound file\n",
        n_others, n_others == 1 ? "" : "s");
  return TRUE;
}

static const gchar summary[] =
    "Filters sound files. It reads any format that GStreamer decodes, and "
    "writes .wav, .flac, .ogg, .opus, .mp3, .mka, .wv and .m4a, by the name of "
    "the output. Rate, channels, sample format and tags are kept, unless "
    "--rate or --bits is given.";
static const gchar description[] =
    "IN may be - (standard input), OUT may be - (standard output: .wav, or "
    "what --extension names).\n\n"
    "With --out, a folder means all sound files in it and in its folders, "
    "which are kept. DIR has a journal of the files that are done: the same "
    "command continues an interrupted run.\n\n"
    "An output appears under its name when it is complete.\n\n"
    "Exit status: 0 all files are done; 1 a file failed; 2 wrong command line "
    "or chain; 130 interrupted.\n\n"
    "Examples:\n"
    "  gst-tfx process voice.wav clean.flac 'HiButterworth(80) | Gain(2)'\n"
    "  gst-tfx process --out filtered --chain 'Hum(50)' recordings\n"
    "  gst-tfx process --loudness -23 programme.wav levelled.wav\n"
    "  gst-tfx process --album --replaygain --out tagged album\n"
    "  arecord -f cd | gst-tfx process - - 'HiButterworth(80)' | aplay\n"
    "  find . -name '*.flac' -print0 | gst-tfx process --out filtered -0 \\\n"
    "      --files-from - --chain-file chain.txt\n";

GstTfxToolStatus
gst_tfx_process_run (gint argc, gchar **argv)
{
  GstTfxOptions options = { .n_jobs = (gint)g_get_num_processors () };
  Names from = { NULL };
  GOptionEntry entries[GST_TFX_OPTIONS_N_ENTRIES + 6] = {
    { "album", 0, 0, G_OPTION_ARG_NONE, &options.album,
        "with --loudness: one gain for all files; with --replaygain: album "
        "tags too",
        NULL },
    { "files-from", 'T', 0, G_OPTION_ARG_FILENAME, &from.path,
        "read the names of the inputs from FILE, one per line; - is standard "
        "input",
        "FILE" },
    { "key", 'k', 0, G_OPTION_ARG_FILENAME, &options.key,
        "a file whose channels follow those of each input, for key=… in the "
        "chain; they are not written",
        "FILE" },
    { "manifest", 0, 0, G_OPTION_ARG_FILENAME, &options.manifest,
        "record how each output was made, for gst-tfx verify", "FILE" },
    { "null", '0', 0, G_OPTION_ARG_NONE, &from.with_nul,
        "these names end with a NUL, as find -print0 writes them", NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list (&options, entries + 5);
  if (gst_tfx_tool_parse ("IN OUT CHAIN | --out DIR --chain CHAIN FILE|FOLDER…",
          summary, description, entries, &argc, &argv)) {
    GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
    GstTfxBatch *batch = gst_tfx_batch_new (&options);

    if (options.out ? collect_many (batch, &options, &from, argc, argv, names)
                    : collect_one (batch, &options, argc, argv)) {
      gst_tfx_batch_run (batch);
      status = gst_tfx_batch_summarise (batch);
    }
    gst_tfx_batch_free (batch);
    g_ptr_array_unref (names);
  }
  gst_tfx_options_clear (&options);
  g_free (from.path);
  return status;
}
