/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxprocess.c: gst-tfx process: files through a chain.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "gsttfxbatch.h"

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

/* --out DIR FILE…, or IN OUT [CHAIN]. */
static gboolean
collect (GstTfxBatch *batch, GstTfxOptions *options, const Names *from,
    gint argc, gchar **argv, GPtrArray *names)
{
  const gboolean has_chain = gst_tfx_options_has_chain (options);

  if (!options->out) {
    if (argc == 4 && !has_chain) {
      if (!gst_tfx_options_check_order (argc, argv))
        return FALSE;
      options->chain = g_strdup (argv[3]);
    } else if (argc != 3) {
      gst_tfx_tool_error ("process takes IN OUT CHAIN, or --out DIR --chain "
                          "CHAIN FILE…; gst-tfx process --help tells more");
      return FALSE;
    }
    if (!gst_tfx_options_read (options))
      return FALSE;
    gst_tfx_batch_add (batch, argv[1], g_strdup (argv[2]));
    return TRUE;
  }
  if (argc < 2 && !from->path) {
    gst_tfx_tool_error ("--out takes files to process, behind it or by "
                        "--files-from");
    return FALSE;
  }
  for (gint i = 1; i < argc; i++)
    g_ptr_array_add (names, g_strdup (argv[i]));
  if ((from->path && !read_names (from, names)) ||
      !gst_tfx_options_read (options) || !gst_tfx_batch_open_folder (batch))
    return FALSE;
  for (guint i = 0; i < names->len; i++) {
    if (!gst_tfx_batch_add_to_folder (batch, g_ptr_array_index (names, i)))
      return FALSE;
  }
  return TRUE;
}

static const gchar summary[] =
    "Filters sound files: any format that GStreamer decodes, written as the "
    "name "
    "of the output says (.wav, .flac, .ogg, .opus, .mp3 …), with the rate, the "
    "channels, the sample format and the tags of the input.";
static const gchar description[] =
    "An output appears under its name only when it is whole.  With --out, what "
    "is done is written down in DIR, so that the same command goes on where it "
    "was "
    "interrupted.\n\n"
    "Exit status: 0 all is done; 1 a file failed; 2 the command line or the "
    "chain "
    "is wrong; 130 interrupted.\n\n"
    "Examples:\n"
    "  gst-tfx process voice.wav clean.flac 'HiButterworth(80) | Gain(2)'\n"
    "  gst-tfx process --out filtered --chain 'Hum(50)' recordings/*.wav\n"
    "  gst-tfx process --loudness -23 programme.wav levelled.wav\n"
    "  find . -name '*.flac' -print0 | gst-tfx process --out filtered -0 \\\n"
    "      --files-from - --chain-file chain.txt\n";

GstTfxToolStatus
gst_tfx_process_run (gint argc, gchar **argv)
{
  GstTfxOptions options = { .n_jobs = (gint)g_get_num_processors () };
  Names from = { NULL };
  GOptionEntry entries[GST_TFX_OPTIONS_N_ENTRIES + 3] = {
    { "files-from", 'T', 0, G_OPTION_ARG_FILENAME, &from.path,
        "a file with names of inputs, one a line; - is standard input",
        "FILE" },
    { "null", '0', 0, G_OPTION_ARG_NONE, &from.with_nul,
        "these names have a NUL behind them, as find -print0 writes", NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list (&options, entries + 2);
  if (gst_tfx_tool_parse ("IN OUT CHAIN | --out DIR --chain CHAIN FILE…",
          summary, description, entries, &argc, &argv)) {
    GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
    GstTfxBatch *batch = gst_tfx_batch_new (&options);

    if (collect (batch, &options, &from, argc, argv, names)) {
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
