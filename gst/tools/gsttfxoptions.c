/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoptions.c: what the commands that run a chain are told.
 */
#include "gsttfxoptions.h"

#include <string.h>

#include "gsttfxchainfile.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

void
gst_tfx_options_list_chain (GstTfxOptions *options, GOptionEntry *entries)
{
  const GOptionEntry own[GST_TFX_OPTIONS_N_CHAIN] = {
    { "chain", 'c', 0, G_OPTION_ARG_STRING, &options->chain, "the chain",
        "CHAIN" },
    { "chain-file", 'C', 0, G_OPTION_ARG_FILENAME, &options->chain_file,
        "a file with the chain, or with filter settings exported by REW",
        "FILE" },
    { "preset", 'p', 0, G_OPTION_ARG_STRING, &options->preset,
        "a preset of tfxchain", "NAME" },
  };

  memcpy (entries, own, sizeof own);
}

void
gst_tfx_options_list (GstTfxOptions *options, GOptionEntry *entries)
{
  const GOptionEntry
      own[GST_TFX_OPTIONS_N_ENTRIES - GST_TFX_OPTIONS_N_CHAIN] = {
        { "out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
            "folder for the outputs", "DIR" },
        { "base", 'b', 0, G_OPTION_ARG_FILENAME, &options->base,
            "folder whose folders are those of the outputs too", "DIR" },
        { "journal", 0, 0, G_OPTION_ARG_FILENAME, &options->journal,
            "where it is written down what is done (.gst-tfx-journal in --out)",
            "FILE" },
        { "extension", 'e', 0, G_OPTION_ARG_STRING, &options->extension,
            "of the outputs (the input's, or wav)", "EXT" },
        { "jobs", 'j', 0, G_OPTION_ARG_INT, &options->n_jobs,
            "files at once (one for each core)", "N" },
        { "force", 'f', 0, G_OPTION_ARG_NONE, &options->overwrite,
            "overwrite outputs that are there", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &options->json,
            "a line of JSON for each file", NULL },
        { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "errors alone",
            NULL },
      };

  gst_tfx_options_list_chain (options, entries);
  memcpy (entries + GST_TFX_OPTIONS_N_CHAIN, own, sizeof own);
}

void
gst_tfx_options_clear (GstTfxOptions *options)
{
  g_free (options->chain);
  g_free (options->chain_file);
  g_free (options->preset);
  g_free (options->out);
  g_free (options->base);
  g_free (options->journal);
  g_free (options->extension);
}

/* The chain of a preset, with the values that the preset has. */
static gchar *
read_preset (const gchar *name)
{
  GstElement *element = gst_tfx_tool_make_chain ();
  gchar *chain = NULL, **names, *list;

  if (!element)
    return NULL;
  if (gst_preset_load_preset (GST_PRESET (element), name)) {
    g_object_get (element, "chain", &chain, NULL);
  } else {
    names = gst_preset_get_preset_names (GST_PRESET (element));
    list = names ? g_strjoinv (", ", names) : g_strdup ("none");
    gst_tfx_tool_error ("there is no preset '%s'; there are: %s", name, list);
    g_free (list);
    g_strfreev (names);
  }
  gst_object_unref (element);
  return chain;
}

gboolean
gst_tfx_options_read_chain (GstTfxOptions *options)
{
  TfxExprError error;
  gchar *fault = NULL;
  TfxExpr *expr;

  if (!!options->chain + !!options->chain_file + !!options->preset > 1) {
    gst_tfx_tool_error (
        "of --chain, --chain-file and --preset more than one is "
        "given");
    return FALSE;
  }
  if (options->chain_file) {
    options->chain = gst_tfx_chain_file_read (options->chain_file, &fault);
    if (!options->chain) {
      gst_tfx_tool_error ("%s", fault);
      g_free (fault);
      return FALSE;
    }
  }
  if (options->preset) {
    options->chain = read_preset (options->preset);
    return options->chain != NULL;
  }
  if (!options->chain) {
    gst_tfx_tool_error ("there is no chain");
    return FALSE;
  }
  expr = tfx_expr_parse (options->chain, strlen (options->chain), &error);
  if (!expr) {
    g_printerr ("error: the chain: %s\n", error.rendered);
    return FALSE;
  }
  tfx_expr_free (&expr);
  return TRUE;
}

gboolean
gst_tfx_options_take_chain (GstTfxOptions *options, gint argc, gchar **argv,
    const gchar *usage)
{
  if (argc == 3 && !options->chain && !options->chain_file &&
      !options->preset) {
    options->chain = g_strdup (argv[2]);
  } else if (argc != 2) {
    gst_tfx_tool_error ("%s", usage);
    return FALSE;
  }
  return gst_tfx_options_read_chain (options);
}
