/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoptions.c: the options of the commands that run a chain.
 */
#include "gsttfxoptions.h"

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "gsttfxchainfile.h"
#include "gsttfxchainreader.h"
#include "gsttfxcodec.h"
#include "gsttfxnotes.h"
#include "gsttfxringout.h"
#include "gsttfxtool.h"

#define MIN_LUFS -70.0
#define MIN_PEAK_DB -20.0
/* By EBU R 128. */
#define USUAL_PEAK_DB -1.0
#define MAX_TAIL_SECONDS 3600.0
#define MAX_JOBS 1024
#define MIN_HZ 100
#define MAX_HZ 10000000

void
gst_tfx_options_list_chain (GstTfxOptions *options, GOptionEntry *entries)
{
  const GOptionEntry own[GST_TFX_OPTIONS_N_CHAIN] = {
    /* (A file name is not converted, whatever the locale.) */
    { "chain", 'c', 0, G_OPTION_ARG_FILENAME, &options->chain, "the chain",
        "CHAIN" },
    { "chain-file", 'C', 0, G_OPTION_ARG_FILENAME, &options->chain_file,
        "a file with the chain, or a preset of REW, Equalizer APO, EasyEffects "
        "or CamillaDSP",
        "FILE" },
    { "preset", 'p', 0, G_OPTION_ARG_STRING, &options->preset,
        "a preset (gst-tfx list presets)", "NAME" },
  };

  memcpy (entries, own, sizeof own);
}

gboolean
gst_tfx_options_has_chain (const GstTfxOptions *options)
{
  return options->chain || options->chain_file || options->preset;
}

void
gst_tfx_options_list (GstTfxOptions *options, GOptionEntry *entries)
{
  const GOptionEntry own[GST_TFX_OPTIONS_N_ENTRIES -
                         GST_TFX_OPTIONS_N_CHAIN] = {
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &options->out,
        "folder for the outputs", "DIR" },
    { "base", 'b', 0, G_OPTION_ARG_FILENAME, &options->base,
        "keep the folders of the inputs below DIR", "DIR" },
    { "journal", 0, 0, G_OPTION_ARG_FILENAME, &options->journal,
        "journal of finished files (.gst-tfx-journal in --out)", "FILE" },
    { "extension", 'e', 0, G_OPTION_ARG_STRING, &options->extension,
        "extension of the outputs (that of the input, or wav)", "EXT" },
    { "codec", 0, 0, G_OPTION_ARG_STRING, &options->codec,
        "codec of the outputs (that of the input where the extension is "
        "the same)",
        "NAME" },
    { "bits", 0, 0, G_OPTION_ARG_STRING, &options->bits,
        "sample format of the outputs: 16, 24, 32 or float (that of the "
        "input)",
        "BITS" },
    { "rate", 'r', 0, G_OPTION_ARG_STRING, &options->rate,
        "sample rate of the outputs; the chain runs at that of the input",
        "HZ" },
    { "loudness", 'l', 0, G_OPTION_ARG_STRING, &options->loudness,
        "normalize to this integrated loudness by EBU R 128, in two passes",
        "LUFS" },
    { "true-peak", 0, 0, G_OPTION_ARG_STRING, &options->true_peak,
        "with --loudness: limit true peaks to this level (-1)", "DB" },
    { "replaygain", 0, 0, G_OPTION_ARG_NONE, &options->replaygain,
        "write ReplayGain tags (in .opus R128 tags), in two passes", NULL },
    { "tail", 0, 0, G_OPTION_ARG_STRING, &options->tail,
        "continue for this time after the end of the input: 3s, 500ms, or "
        "auto",
        "TIME" },
    { "dither", 0, 0, G_OPTION_ARG_STRING, &options->dither,
        "dither of outputs with 20 bits or fewer: none, rpdf, tpdf (the "
        "default) or tpdf-hf",
        "NAME" },
    { "noise-shaping", 0, 0, G_OPTION_ARG_STRING, &options->noise_shaping,
        "noise shaping of outputs with 20 bits or fewer: none (the "
        "default), error-feedback, simple, medium or high",
        "NAME" },
    { "jobs", 'j', 0, G_OPTION_ARG_INT, &options->n_jobs,
        "number of files to process at once (one per core)", "N" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &options->overwrite,
        "overwrite existing outputs", NULL },
    { "allow-cut", 0, 0, G_OPTION_ARG_NONE, &options->allow_cut,
        "process truncated or damaged files too, with a warning", NULL },
    { "keep-video", 0, 0, G_OPTION_ARG_NONE, &options->keep_video,
        "copy video and subtitles too, into a .mkv, .mp4, .m4v or .mov", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json,
        "print one JSON object per file and line", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options->quiet, "print errors only",
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
  g_free (options->codec);
  g_free (options->loudness);
  g_free (options->true_peak);
  g_free (options->tail);
  g_free (options->dither);
  g_free (options->noise_shaping);
  g_free (options->bits);
  g_free (options->rate);
  g_free (options->manifest);
  g_free (options->key);
  g_clear_pointer (&options->notes, g_ptr_array_unref);
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
    list = names ? g_strjoinv ("', '", names) : g_strdup ("");
    if (*list)
      gst_tfx_tool_error ("there is no preset '%s'; the presets are '%s'", name,
          list);
    else
      gst_tfx_tool_error ("there is no preset '%s', nor any other: "
                          "GST_PRESET_PATH names the folder with presets",
          name);
    g_free (list);
    g_strfreev (names);
  }
  gst_object_unref (element);
  return chain;
}

GstTfxToolStatus
gst_tfx_options_print_presets (void)
{
  GstElement *element = gst_tfx_tool_make_chain ();
  gchar **names;

  if (!element)
    return GST_TFX_TOOL_FAILED;
  names = gst_preset_get_preset_names (GST_PRESET (element));
  for (gsize i = 0; names && names[i]; i++)
    g_print ("%s\n", names[i]);
  g_strfreev (names);
  gst_object_unref (element);
  return GST_TFX_TOOL_OK;
}

gboolean
gst_tfx_options_is_chain (const gchar *text)
{
  TfxExpr *expr = strchr (text, '(') && !g_file_test (text, G_FILE_TEST_EXISTS)
                      ? tfx_expr_parse (text, strlen (text), NULL)
                      : NULL;
  const gboolean is_valid = expr != NULL;

  tfx_expr_free (&expr);
  return is_valid;
}

gchar *
gst_tfx_options_quote (const gchar *chain)
{
  return g_strdup_printf (strchr (chain, '\'') ? "\"%s\"" : "'%s'", chain);
}

gint
gst_tfx_options_look_for_chain (gint argc, gchar **argv)
{
  gint at = argc - 1;

  while (at > 0 && !gst_tfx_options_is_chain (argv[at]))
    at--;
  return at;
}

gboolean
gst_tfx_options_tell_file (const gchar *chain)
{
  gchar *text, *fault = NULL;

  if (!g_file_test (chain, G_FILE_TEST_IS_REGULAR))
    return FALSE;
  text = gst_tfx_chain_file_read (chain, NULL, NULL, &fault);
  if (text)
    gst_tfx_tool_error ("%s is a file: use --chain-file %s", chain, chain);
  else
    gst_tfx_tool_error ("%s is a file without a chain: give the chain in "
                        "quotes, or by --chain-file",
        chain);
  g_free (fault);
  g_free (text);
  return TRUE;
}

gboolean
gst_tfx_options_find_chain (GstTfxOptions *options, gint argc, gchar **argv,
    const gchar *command)
{
  if (argc != (gst_tfx_options_has_chain (options) ? 1 : 2)) {
    gst_tfx_tool_error ("%s takes one chain, in quotes, or in a file: "
                        "--chain-file",
        command);
    return FALSE;
  }
  if (argc == 2)
    options->chain = g_strdup (argv[1]);
  return TRUE;
}

gboolean
gst_tfx_options_check_order (gint argc, gchar **argv)
{
  const gint at = gst_tfx_options_look_for_chain (argc, argv);
  GString *names;
  gchar *chain;

  if (at == 0 || at == argc - 1)
    return TRUE;
  names = g_string_new (NULL);
  for (gint i = 1; i < argc; i++) {
    if (i != at)
      g_string_append_printf (names, "%s ", argv[i]);
  }
  chain = gst_tfx_options_quote (argv[at]);
  gst_tfx_tool_error ("the chain comes last: gst-tfx %s %s%s", argv[0],
      names->str, chain);
  g_free (chain);
  g_string_free (names, TRUE);
  return FALSE;
}

/* The contents of a file with a chain; NULL after a message. */
static gchar *
read_file (const gchar *location, GPtrArray *notes)
{
  TfxExprError error;
  gchar *fault = NULL, *chain = NULL, *folder;
  gchar *text = gst_tfx_chain_file_read (location, NULL, notes, &fault);

  if (!text) {
    gst_tfx_tool_error ("%s", fault);
    g_free (fault);
    return NULL;
  }
  if (!*text) {
    gst_tfx_tool_error ("%s: the file is empty, or no filter in it is ON",
        location);
    g_free (text);
    return NULL;
  }
  folder = g_path_get_dirname (location);
  chain = gst_tfx_chain_reader_make_absolute (text, folder, notes, &error);
  if (!chain)
    g_printerr ("error: the chain: %s\n", error.rendered);
  g_free (folder);
  g_free (text);
  return chain;
}

gboolean
gst_tfx_options_read_chain (GstTfxOptions *options)
{
  TfxExprError error;
  TfxExpr *expr;

  if (!!options->chain + !!options->chain_file + !!options->preset > 1) {
    gst_tfx_tool_error (
        "only one of --chain, --chain-file and --preset can be given");
    return FALSE;
  }
  options->notes = g_ptr_array_new_with_free_func (g_free);
  if (options->chain_file) {
    options->chain = read_file (options->chain_file, options->notes);
    return options->chain != NULL;
  }
  if (options->preset) {
    options->chain = read_preset (options->preset);
    return options->chain != NULL;
  }
  if (!options->chain) {
    gst_tfx_tool_error ("there is no chain: give it in quotes, or by --chain, "
                        "--chain-file or --preset");
    return FALSE;
  }
  expr = gst_tfx_chain_reader_parse (options->chain, NULL, NULL, options->notes,
      &error);
  if (!expr) {
    if (!gst_tfx_options_tell_file (options->chain))
      g_printerr ("error: the chain: %s\n", error.rendered);
    return FALSE;
  }
  tfx_expr_free (&expr);
  return TRUE;
}

gchar *
gst_tfx_options_name_chain (const GstTfxOptions *options)
{
  TfxExprError error;
  TfxExpr *expr = options->chain_file
                      ? gst_tfx_chain_reader_parse (options->chain, NULL, NULL,
                            NULL, &error)
                      : NULL;
  char *printed = expr ? tfx_expr_print (expr) : NULL;
  gchar *name = g_strdup (printed ? printed : options->chain);

  free (printed);
  tfx_expr_free (&expr);
  return name;
}

void
gst_tfx_options_tell_clamp (const TfxExprClamp *clamped, void *data)
{
  g_printerr ("warning: %s\n", clamped->message);
}

/* ---- notes on the chain ------------------------------------------------------------- */

/* Less than this is the distance of a loudspeaker. */
#define MIN_LATE_MS 10.0

/* The impulse response in the file of a FIR stage that leaves its delay in the
 * stream; NULL if there is none. */
static TfxFile *
find_causal_file (const TfxExpr *expr, gsize stage)
{
  TfxValue delay, location;

  if (tfx_expr_get (expr, stage, "channel", &delay) < 0 ||
      tfx_expr_get (expr, stage, "delay", &delay) < 0 ||
      delay.type != TFX_VALUE_NUMBER || delay.number != 0.0)
    return NULL;
  if (tfx_expr_get (expr, stage, "location", &location) < 0)
    tfx_expr_get (expr, stage, "b", &location);
  return location.file;
}

/* A note for each file whose peak is late. */
static void
tell_late_peaks (const TfxExpr *expr)
{
  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    TfxFile *file = find_causal_file (expr, i);
    const gdouble rate_hz = file && file->rate_hz > 0.0 ? file->rate_hz : 48e3;
    gchar why[TFX_FILE_WHY_SIZE];
    TfxImpulse impulse;
    gdouble ms;

    if (!file || !file->fit ||
        file->fit (file, rate_hz, file->n_channels, -1, &impulse, why) < 0)
      continue;
    ms = 1000.0 * (gdouble)tfx_impulse_find_peak (&impulse) / rate_hz;
    if (ms >= MIN_LATE_MS)
      g_printerr ("note: stage '%s' delays the sound by %.1f ms, where its "
                  "impulse response has its peak; delay='peak' removes this\n",
          tfx_expr_stage_name (expr, i), ms);
    free (impulse.taps);
  }
}

/* The rate of the audio is not known yet. */
#define USUAL_RATE_HZ 48e3

/* Prints the notes on values that look like slips. */
static void
tell_notes (const GstTfxOptions *options)
{
  TfxExprError error;
  TfxExpr *expr;
  GPtrArray *notes;

  if (options->quiet)
    return;
  expr = gst_tfx_chain_reader_parse (options->chain, NULL, NULL, NULL, &error);
  if (!expr)
    return;
  if (tfx_expr_n_stages (expr) == 0)
    g_printerr ("warning: the chain is empty: it filters nothing\n");
  for (guint i = 0; i < options->notes->len; i++)
    g_printerr ("note: %s\n", (const gchar *)options->notes->pdata[i]);
  notes = gst_tfx_notes_find (expr, USUAL_RATE_HZ);
  for (guint i = 0; i < notes->len; i++)
    g_printerr ("note: %s\n", (const gchar *)notes->pdata[i]);
  g_ptr_array_unref (notes);
  tell_late_peaks (expr);
  tfx_expr_free (&expr);
}

/* ---- the options of process and watch -------------------------------------------------- */

static gboolean
read_level (const gchar *name, const gchar *text, gdouble least,
    const gchar *unit, gdouble *level)
{
  gchar *end;

  *level = g_ascii_strtod (text, &end);
  if (end != text && *end == '\0' && *level >= least && *level <= 0.0)
    return TRUE;
  gst_tfx_tool_error ("%s is '%s', but must be from %g to 0 %s", name, text,
      least, unit);
  return FALSE;
}

/* Without a unit the time is in seconds. */
static gboolean
read_tail (GstTfxOptions *options)
{
  gchar *end;
  gdouble seconds;

  if (strcmp (options->tail, "auto") == 0) {
    options->tail_ns = GST_TFX_RINGOUT_AUTO;
    return TRUE;
  }
  seconds = g_ascii_strtod (options->tail, &end);
  if (strcmp (end, "ms") == 0)
    seconds /= 1000.0;
  if (end != options->tail &&
      (*end == '\0' || strcmp (end, "s") == 0 || strcmp (end, "ms") == 0) &&
      seconds >= 0.0 && seconds <= MAX_TAIL_SECONDS) {
    options->tail_ns = (gint64)(seconds * GST_SECOND + 0.5);
    return TRUE;
  }
  gst_tfx_tool_error ("tail is '%s', but must be auto, or from 0 to %g s, such "
                      "as 3s or 500ms",
      options->tail, MAX_TAIL_SECONDS);
  return FALSE;
}

gboolean
gst_tfx_options_read_format (GstTfxOptions *options)
{
  guint64 rate_hz = 0;

  if (options->bits && !gst_tfx_codec_get_format (options->bits)) {
    gst_tfx_tool_error ("bits is '%s', but must be 16, 24, 32 or float",
        options->bits);
    return FALSE;
  }
  if (options->rate && !g_ascii_string_to_unsigned (options->rate, 10, MIN_HZ,
                           MAX_HZ, &rate_hz, NULL)) {
    gst_tfx_tool_error ("rate is '%s', but must be a whole number from %d "
                        "to %d Hz",
        options->rate, MIN_HZ, MAX_HZ);
    return FALSE;
  }
  options->output_hz = (gint)rate_hz;
  return TRUE;
}

gboolean
gst_tfx_options_check_jobs (gint n_jobs)
{
  const gboolean is_good = n_jobs >= 1 && n_jobs <= MAX_JOBS;

  if (!is_good)
    gst_tfx_tool_error ("jobs is %d, but must be from 1 to %d", n_jobs,
        MAX_JOBS);
  return is_good;
}

gboolean
gst_tfx_options_read (GstTfxOptions *options)
{
  static const gchar *const dithers[] = { "none", "rpdf", "tpdf", "tpdf-hf",
    NULL };
  static const gchar *const shapings[] = { "none", "error-feedback", "simple",
    "medium", "high", NULL };

  if (options->loudness && !read_level ("loudness", options->loudness, MIN_LUFS,
                               "LUFS", &options->target_lufs))
    return FALSE;
  if (options->keep_video && (options->rate || options->manifest)) {
    gst_tfx_tool_error ("--keep-video and %s cannot both be given",
        options->rate ? "--rate" : "--manifest");
    return FALSE;
  }
  options->most_peak_db = USUAL_PEAK_DB;
  if (options->true_peak && !read_level ("true-peak", options->true_peak,
                                MIN_PEAK_DB, "dBTP", &options->most_peak_db))
    return FALSE;
  if (options->true_peak && !options->loudness) {
    gst_tfx_tool_error ("--true-peak needs --loudness");
    return FALSE;
  }
  if (options->album && !options->loudness && !options->replaygain) {
    gst_tfx_tool_error ("--album needs --loudness or --replaygain");
    return FALSE;
  }
  if (options->manifest &&
      (options->album || options->replaygain || options->key)) {
    gst_tfx_tool_error ("--manifest cannot record --album, --replaygain or "
                        "--key");
    return FALSE;
  }
  if (options->tail && !read_tail (options))
    return FALSE;
  if (!gst_tfx_options_check_jobs (options->n_jobs))
    return FALSE;
  if (options->dither && !g_strv_contains (dithers, options->dither)) {
    gst_tfx_tool_error ("dither is '%s', but must be none, rpdf, tpdf or "
                        "tpdf-hf",
        options->dither);
    return FALSE;
  }
  if (options->noise_shaping &&
      !g_strv_contains (shapings, options->noise_shaping)) {
    gst_tfx_tool_error ("noise-shaping is '%s', but must be none, "
                        "error-feedback, simple, medium or high",
        options->noise_shaping);
    return FALSE;
  }
  if (!gst_tfx_options_read_format (options))
    return FALSE;
  if ((options->loudness || options->replaygain || options->bits ||
          options->rate) &&
      !gst_tfx_options_has_chain (options)) {
    options->chain = g_strdup ("");
    return TRUE;
  }
  if (!gst_tfx_options_read_chain (options))
    return FALSE;
  tell_notes (options);
  return TRUE;
}

/* Digests of the files that a chain names, a line for each; free it. */
static gchar *
describe_files (const gchar *chain)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  GString *lines = g_string_new (NULL);
  TfxExprError error;
  TfxExpr *expr = gst_tfx_chain_reader_parse (chain, NULL, files, NULL, &error);

  for (guint i = 0; i < files->len; i++) {
    const GstTfxChainSeen *seen = files->pdata[i];
    gchar *content = NULL, *digest;
    gsize size;

    if (!g_file_get_contents (seen->path, &content, &size, NULL))
      continue;
    digest = g_compute_checksum_for_data (G_CHECKSUM_SHA256,
        (const guchar *)content, size);
    g_string_append_printf (lines, "\n%s", digest);
    g_free (digest);
    g_free (content);
  }
  tfx_expr_free (&expr);
  g_ptr_array_unref (files);
  return g_string_free (lines, FALSE);
}

/* Describes the key by its name, size and time, without reading it; free it. */
static gchar *
describe_key (const gchar *key)
{
  GStatBuf status = { 0 };

  if (!key || g_stat (key, &status) < 0)
    return g_strdup ("");
  return g_strdup_printf ("\nkey %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
      key, (gint64)status.st_size, (gint64)status.st_mtime);
}

gchar *
gst_tfx_options_digest (const GstTfxOptions *options)
{
  gchar *files = describe_files (options->chain);
  gchar *key = describe_key (options->key);
  gchar *text = g_strconcat (options->chain, files,
      options->loudness ? "\nloudness " : "",
      options->loudness ? options->loudness : "",
      options->true_peak ? "\ntrue-peak " : "",
      options->true_peak ? options->true_peak : "",
      options->codec ? "\ncodec " : "", options->codec ? options->codec : "",
      options->dither ? "\ndither " : "",
      options->dither ? options->dither : "",
      options->noise_shaping ? "\nnoise-shaping " : "",
      options->noise_shaping ? options->noise_shaping : "",
      options->bits ? "\nbits " : "", options->bits ? options->bits : "",
      options->rate ? "\nrate " : "", options->rate ? options->rate : "",
      options->replaygain ? "\nreplaygain" : "", options->tail ? "\ntail " : "",
      options->tail ? options->tail : "",
      options->keep_video ? "\nkeep-video" : "", key, NULL);
  gchar *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);

  g_free (files);
  g_free (key);
  g_free (text);
  return digest;
}

gboolean
gst_tfx_options_take_chain (GstTfxOptions *options, gint argc, gchar **argv,
    const gchar *usage)
{
  if (argc == 3 && !gst_tfx_options_has_chain (options)) {
    if (!gst_tfx_options_check_order (argc, argv))
      return FALSE;
    options->chain = g_strdup (argv[2]);
  } else if (argc != 2 || (!gst_tfx_options_has_chain (options) &&
                              gst_tfx_options_is_chain (argv[1]))) {
    gst_tfx_tool_error ("%s", usage);
    return FALSE;
  }
  if (!gst_tfx_options_read_chain (options))
    return FALSE;
  tell_notes (options);
  return TRUE;
}
