/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcheck.c: gst-tfx check and gst-tfx list: the chain language.
 */
#include <stdlib.h>
#include <string.h>

#include "gsttfxchainreader.h"
#include "gsttfxexplain.h"
#include "gsttfxnotes.h"
#include "gsttfxoptions.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

/* ---- check ---------------------------------------------------------------------- */

typedef struct Check
{
  GstTfxOptions options; /* the chain, quiet and json */
  gdouble rate_hz;
  gchar *channels; /* NULL: not given */
  guint n_channels;
  guint64 positions;
} Check;

/* The chain alone, what it does, or that as JSON; then the notes. */
static void
print_chain (const Check *check, const GstTfxExplainSpec *spec)
{
  GPtrArray *notes = gst_tfx_notes_find (spec->expr, spec->rate_hz);
  char *canonical;

  for (guint i = 0; i < check->options.notes->len; i++)
    g_ptr_array_insert (notes, (gint)i,
        g_strdup (check->options.notes->pdata[i]));
  if (check->options.json) {
    gst_tfx_explain_print_json (spec, notes);
  } else if (check->options.quiet) {
    canonical = tfx_expr_print (spec->expr);
    g_print ("%s\n", canonical ? canonical : "");
    free (canonical);
  } else {
    gst_tfx_explain_print (spec);
  }
  for (guint i = 0; !check->options.json && i < notes->len; i++)
    g_printerr ("%snote: %s\n", i == 0 && !check->options.quiet ? "\n" : "",
        (const gchar *)notes->pdata[i]);
  g_ptr_array_unref (notes);
}

/* Prints the warning, and records the value that is used. */
static void
take_clamp (const TfxExprClamp *clamped, void *data)
{
  GstTfxExplainSpec *spec = data;
  const GstTfxExplainClamp clamp = { (gsize)tfx_expr_find (spec->expr,
                                         clamped->stage),
    clamped->param, clamped->index, clamped->used };

  gst_tfx_options_tell_clamp (clamped, NULL);
  g_array_append_val (spec->clamps, clamp);
}

/* "6", or "FL,FR,LFE". */
static gboolean
read_channels (Check *check)
{
  guint64 number;
  gchar **names;
  gboolean is_good;

  if (!check->channels)
    return TRUE;
  if (g_ascii_string_to_unsigned (check->channels, 10, 1, 1024, &number,
          NULL)) {
    check->n_channels = (guint)number;
    return TRUE;
  }
  names = g_strsplit (check->channels, ",", -1);
  is_good = names[0] != NULL;
  for (gsize i = 0; names[i]; i++) {
    const gint position = tfx_position_find (g_strstrip (names[i]));

    is_good = is_good && position >= 0;
    check->positions |= is_good ? (guint64)1 << position : 0;
    check->n_channels++;
  }
  is_good = is_good &&
            check->n_channels == (guint)__builtin_popcountll (check->positions);
  if (!is_good)
    gst_tfx_tool_error ("channels is %s, but must be from 1 to 1024, or "
                        "positions, such as FL,FR,LFE",
        check->channels);
  g_strfreev (names);
  return is_good;
}

static GstTfxToolStatus
run_check (Check *check)
{
  const gchar *text = check->options.chain;
  const gboolean is_read = check->options.notes != NULL;
  TfxExprError error;
  TfxExpr *expr;
  GArray *clamps = g_array_new (FALSE, FALSE, sizeof (GstTfxExplainClamp));
  GstTfxExplainSpec spec = { NULL, NULL, check->rate_hz, 0, 0, clamps };
  TfxChain *chain = NULL;
  gboolean is_good;

  if (!is_read)
    check->options.notes = g_ptr_array_new_with_free_func (g_free);
  spec.expr = expr = gst_tfx_chain_reader_parse (text, NULL, NULL,
      is_read ? NULL : check->options.notes, &error);
  if (expr)
    spec.n_channels = tfx_expr_find_channels (expr,
        check->n_channels ? check->n_channels : 2, &spec.positions);
  if (check->n_channels)
    spec.n_channels = check->n_channels;
  if (check->positions)
    spec.positions = check->positions;
  else if (spec.positions &&
           (guint)__builtin_popcountll (spec.positions) != spec.n_channels)
    spec.positions = tfx_positions_default (spec.n_channels);
  is_good = expr && tfx_expr_build_at (expr, check->rate_hz, spec.n_channels,
                        spec.positions, take_clamp, &spec, &chain, &error) == 0;
  if (expr && !is_good)
    tfx_expr_place_error (&error, text, strlen (text));
  spec.chain = chain;
  if (is_good)
    print_chain (check, &spec);
  else if (expr || !gst_tfx_options_tell_file (text))
    g_printerr ("%s\n", error.rendered);
  g_array_unref (clamps);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
  return is_good ? GST_TFX_TOOL_OK : GST_TFX_TOOL_USAGE;
}

GstTfxToolStatus
gst_tfx_check_run (gint argc, gchar **argv)
{
  Check check = { { NULL }, 48000.0, NULL, 0, 0 };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 5] = {
    { "rate", 'r', 0, G_OPTION_ARG_DOUBLE, &check.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "channels", 0, 0, G_OPTION_ARG_STRING, &check.channels,
        "number of channels, or their positions, such as FL,FR,LFE (2, or what "
        "the chain is for)",
        "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &check.options.json,
        "the same as a line of JSON", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &check.options.quiet,
        "print the chain alone", NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&check.options, entries + 4);
  if (gst_tfx_tool_parse ("CHAIN",
          "Reads a chain, and prints it in its canonical form, the values and "
          "gain of each stage, its latency, and notes on values that look "
          "like slips; or what is wrong with it.",
          "The exit status is 0 if the chain is good, else 2.", entries, &argc,
          &argv) &&
      gst_tfx_options_find_chain (&check.options, argc, argv, "check")) {
    if (!(check.rate_hz > 0.0))
      gst_tfx_tool_error ("rate is %g Hz, but must be above 0", check.rate_hz);
    else if (read_channels (&check) &&
             (argc == 2 || gst_tfx_options_read_chain (&check.options)))
      status = run_check (&check);
  }
  gst_tfx_options_clear (&check.options);
  g_free (check.channels);
  return status;
}

/* ---- list ------------------------------------------------------------------------ */

static void
print_default (const TfxParam *param)
{
  const TfxValue *value = &param->initial;

  if (param->flags & TFX_PARAM_REQUIRED)
    return;
  switch (value->type) {
    case TFX_VALUE_NUMBER:
      g_print ("=%.15g", value->number);
      break;
    case TFX_VALUE_BOOL:
      g_print ("=%s", value->number != 0.0 ? "True" : "False");
      break;
    case TFX_VALUE_WORD:
      g_print ("='%s'", value->word);
      break;
    default:
      g_print ("=None");
      break;
  }
}

static void
print_class (const TfxClass *klass)
{
  const gchar *separator = "";

  g_print ("%s(", klass->name);
  for (guint i = 0; i <= klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];

    for (guint k = 0; i == klass->n_positional && k < klass->min_chains; k++) {
      g_print ("%schain%s", separator,
          k + 1 == klass->min_chains && k + 1 < klass->max_chains ? ", …" : "");
      separator = ", ";
    }
    if (i == klass->n_params || (param->flags & TFX_PARAM_STREAM))
      continue;
    g_print ("%s%s", separator, param->name);
    print_default (param);
    separator = ", ";
  }
  if (klass->chain_name)
    g_print ("%s%s=None", separator, klass->chain_name);
  g_print (")\n    %s\n", klass->doc);
}

static void
print_params (const TfxClass *klass)
{
  g_print ("\n");
  if (klass->chain_doc)
    g_print ("  %-22s%s\n", klass->chain_name ? klass->chain_name : "chain",
        klass->chain_doc);
  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];

    if (param->flags & TFX_PARAM_STREAM)
      continue;
    g_print ("  %-22s%s%s%s%s\n", param->name, param->doc,
        *param->unit ? " (" : "", param->unit, *param->unit ? ")" : "");
    for (const TfxWord *word = param->words; word && word->word; word++)
      g_print ("  %-22s  '%s'\n", "", word->word);
  }
  g_print ("\n  Example: %s\n", klass->example);
}

GstTfxToolStatus
gst_tfx_list_run (gint argc, gchar **argv)
{
  const GOptionEntry entries[] = { { NULL } };
  const TfxClass *klass;
  TfxExprError error;
  gchar *call;

  if (!gst_tfx_tool_parse ("[CLASS…] | presets",
          "Lists the classes of the chain language, the parameters of some, or "
          "the presets.",
          NULL, entries, &argc, &argv))
    return GST_TFX_TOOL_USAGE;
  if (argc == 2 && strcmp (argv[1], "presets") == 0)
    return gst_tfx_options_print_presets ();
  for (gsize i = 0; argc < 2 && i < tfx_catalogue_n_classes (); i++)
    print_class (tfx_catalogue_class (i));
  for (gint i = 1; i < argc; i++) {
    klass = tfx_catalogue_find (argv[i]);
    if (!klass) {
      /* The language's own message, which names near ones. */
      call = g_strconcat (argv[i], "()", NULL);
      if (!tfx_expr_parse (call, strlen (call), &error))
        gst_tfx_tool_error ("%s", error.message);
      g_free (call);
      return GST_TFX_TOOL_USAGE;
    }
    print_class (klass);
    print_params (klass);
  }
  return GST_TFX_TOOL_OK;
}
