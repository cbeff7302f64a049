/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcheck.c: gst-tfx check and gst-tfx list: the chain language.
 */
#include <stdlib.h>
#include <string.h>

#include "gsttfxchainreader.h"
#include "gsttfxoptions.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

/* ---- check ---------------------------------------------------------------------- */

static GstTfxToolStatus
check (const gchar *text, gdouble rate_hz, gint n_channels)
{
  TfxExprError error;
  TfxExpr *expr = gst_tfx_chain_reader_parse (text, NULL, NULL, &error);
  const unsigned n_usual = expr ? tfx_expr_find_channels (expr, 2) : 0;
  TfxChain *chain = NULL;
  gboolean is_good =
      expr && tfx_expr_build (expr, rate_hz,
                  n_channels > 0 ? (unsigned)n_channels : n_usual,
                  gst_tfx_options_tell_clamp, NULL, &chain, &error) == 0;
  char *canonical = expr ? tfx_expr_print (expr) : NULL;

  if (expr && !is_good)
    tfx_expr_place_error (&error, text, strlen (text));
  if (is_good && canonical)
    g_print ("%s\n", canonical);
  else
    g_printerr ("%s\n", is_good ? "memory is short" : error.rendered);
  is_good = is_good && canonical;
  free (canonical);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
  return is_good ? GST_TFX_TOOL_OK : GST_TFX_TOOL_USAGE;
}

GstTfxToolStatus
gst_tfx_check_run (gint argc, gchar **argv)
{
  gdouble rate_hz = 48000.0;
  gint n_channels = -1; /* not said */
  GstTfxOptions options = { NULL };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 3] = {
    { "rate", 'r', 0, G_OPTION_ARG_DOUBLE, &rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "channels", 'c', 0, G_OPTION_ARG_INT, &n_channels,
        "number of channels (2, or what the chain is for)", "N" },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&options, entries + 2);
  entries[2].short_name = '\0'; /* -c are channels */
  if (gst_tfx_tool_parse ("CHAIN",
          "Reads a chain and prints it as it is understood, or what is wrong "
          "with it.",
          "The exit status is 0 if the chain is good, else 2.", entries, &argc,
          &argv) &&
      gst_tfx_options_find_chain (&options, argc, argv, "check")) {
    if (!(rate_hz > 0.0))
      gst_tfx_tool_error ("rate is %g Hz, but must be above 0", rate_hz);
    else if (n_channels != -1 && (n_channels < 1 || n_channels > 1024))
      gst_tfx_tool_error ("channels is %d, but must be from 1 to 1024",
          n_channels);
    else if (argc == 2 || gst_tfx_options_read_chain (&options))
      status = check (options.chain, rate_hz, n_channels);
  }
  gst_tfx_options_clear (&options);
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
  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];

    if (param->flags & TFX_PARAM_STREAM)
      continue;
    g_print ("%s%s", separator, param->name);
    print_default (param);
    separator = ", ";
  }
  g_print (")\n    %s\n", klass->doc);
}

static void
print_params (const TfxClass *klass)
{
  g_print ("\n");
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

  if (!gst_tfx_tool_parse ("[CLASS…]",
          "Lists the classes of the chain language, or the parameters of "
          "some.",
          NULL, entries, &argc, &argv))
    return GST_TFX_TOOL_USAGE;
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
