/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_settings.c: any bytes as a preset of another program, and as a chain.
 *
 * Invariants: a fault that names the place or the file in UTF-8, or a chain, which
 * builds at 48 kHz and stereo or is refused with a reason. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "file.h"
#include "gsttfxchainfile.h"
#include "gsttfxchainreader.h"

#define RATE 48000

static unsigned long n_built, n_out_of_range, n_faults, n_chains;

/* ---- what must hold ------------------------------------------------------------------ */

static void
check_fault (const gchar *fault, gsize size)
{
  guint64 line = 0;

  FUZZ_MUST (fault && g_utf8_validate (fault, -1, NULL));
  n_out_of_range += strstr (fault, "out of range") != NULL;
  if (g_str_has_prefix (fault, "line ")) {
    gchar *end;

    line = g_ascii_strtoull (fault + 5, &end, 10);
    FUZZ_MUST (line >= 1 && line <= size + 1);
    FUZZ_MUST (g_str_has_prefix (end, " of the filter settings: "));
    FUZZ_MUST (strchr (end, '\n'));
  } else if (!strstr (fault, " (line ") &&
             !g_str_has_prefix (fault, "the preset: ")) {
    FUZZ_MUST (g_str_has_prefix (fault, "cannot read the chain from '"));
  }
}

static void
check_error (const TfxExprError *error)
{
  FUZZ_MUST (error->code < 0);
  FUZZ_MUST (strlen (error->message) > 5);
  FUZZ_MUST (g_utf8_validate (error->message, -1, NULL));
  FUZZ_MUST (g_utf8_validate (error->rendered, -1, NULL));
  FUZZ_MUST (strstr (error->rendered, error->message));
}

static void
check_build (const TfxExpr *expr)
{
  TfxExprError error = { 0 };
  TfxChain *chain = NULL;

  /* (A channel may be missing.) */
  if (tfx_expr_build (expr, RATE, 2, NULL, NULL, &chain, &error) < 0) {
    check_error (&error);
    return;
  }
  FUZZ_MUST (chain);
  tfx_chain_unref (&chain);
  n_built++;
}

/* A chain that settings were converted to. */
static void
check_converted (const gchar *chain, const gchar *path)
{
  gchar *call = g_strdup_printf ("FilterSettings('%s')", path);
  GPtrArray *files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  const GstTfxChainSeen *seen;
  TfxExprError error = { 0 }, error_in_file = { 0 };
  TfxExpr *expr = tfx_expr_parse (chain, strlen (chain), &error);
  TfxExpr *in_file =
      gst_tfx_chain_reader_parse (call, NULL, files, NULL, &error_in_file);

  FUZZ_MUST (files->len >= 1);
  seen = files->pdata[0];
  FUZZ_MUST (strcmp (seen->path, path) == 0 && seen->version.is_there);
  FUZZ_MUST (!in_file == !*chain);
  FUZZ_MUST (expr);
  if (in_file) {
    FUZZ_MUST (tfx_expr_equal (in_file, expr));
    check_build (in_file);
  }
  if (!in_file) {
    check_error (&error_in_file);
    FUZZ_MUST (error_in_file.line == 1 && error_in_file.column > 0);
  }
  tfx_expr_free (&expr);
  tfx_expr_free (&in_file);
  g_ptr_array_unref (files);
  g_free (call);
}

/* The same bytes where a chain is looked for, and the chain without the file. */
static void
check_as_chain (const gchar *text, gsize size)
{
  TfxExprError error = { 0 };
  TfxExpr *expr = tfx_expr_parse (text, size, &error);

  if (!expr)
    check_error (&error);
  tfx_expr_free (&expr);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *path = fuzz_file_write (data, size);
  gchar *fault = NULL, *fault_of_any = NULL;
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);
  gchar *chain =
      gst_tfx_chain_file_read_preset (path, path, NULL, notes, &fault);
  gchar *any = gst_tfx_chain_file_read (path, NULL, NULL, &fault_of_any);

  fuzz_begin (data, size);
  FUZZ_MUST (!chain == (fault != NULL) && !any == (fault_of_any != NULL));
  if (chain && strstr (chain, "Convolve(")) {
    /* The file is not there. */
    FUZZ_MUST (any);
    n_chains++;
  } else if (chain) {
    FUZZ_MUST (any && strcmp (any, chain) == 0);
    check_converted (chain, path);
  } else {
    n_faults++;
    check_fault (fault, size);
  }
  if (any) {
    FUZZ_MUST (g_utf8_validate (any, -1, NULL));
    n_chains += !chain;
  } else {
    check_fault (fault_of_any, size);
  }
  for (guint i = 0; i < notes->len; i++)
    FUZZ_MUST (g_utf8_validate (notes->pdata[i], -1, NULL));
  check_as_chain ((const gchar *)data, size);
  g_ptr_array_unref (notes);
  g_free (any);
  g_free (chain);
  g_free (fault_of_any);
  g_free (fault);
  return 0;
}

#ifndef TFX_FUZZER

#include "chaingen.h"

static const char *const tokens[] = { "Filter", "Filter 1: ON ",
  "Preamp: ", "Filter Settings", "GraphicEQ: ", "Channel: L",
  "Include: ", "Device: all", "\nCopy: L=0.5*R+", "\nDelay: 2 ms",
  "\nfilters:\n", "{\"output\": ", "bandwidth", "&a ", "*a", "[", "{", "}",
  "- ", ":", "ON", "OFF", "None", "PK", "LSC", "HSC 12dB", "LS 6 dB", "Modal",
  "Fc ", " Hz", "kHz", "Gain ", " dB", "Q ", "BW Oct ", "\n", "\r\n", "\r",
  "\t", " ", ",", ".", "-", "+", "1e309", "1e-320", "1,000", "1.000,5", "0x10",
  "nan", "inf", "1'000", "\xc2\xa0", "\xa0", "\xe2\x80\xaf", "\xe2\x80\x99",
  "\xef\xbb\xbf", "\xff\xfe", "\xc3\xa9", "%s", "Gain(0.5)" };

static const gchar *
pick (uint64_t *state, const gchar *const *words)
{
  return words[chaingen_below (state, g_strv_length ((gchar **)words))];
}

/* Lines that mostly are right. */
static size_t
generate (uint64_t *state, char *text, size_t size)
{
  static const gchar *const types[] = { "PK", "PEQ", "Modal", "LP", "LPQ", "HP",
    "HPQ", "BP", "NO", "Notch", "AP", "LS", "LSQ", "HS", "HSQ", "LSC", "HSC",
    "LP1", "HP1", "All pass", "LS Q", "LSC 6 dB", "HSC 9.5dB", "LS 12dB",
    "None", "pk", "XO", NULL };
  static const gchar *const frequencies[] = { "Fc 63 Hz ", "Fc 1,245 Hz ",
    "Fc 8.000 Hz ", "Fc 1.245,5 Hz ", "Fc 1 000 Hz ", "Fc 2.5 kHz ", "Fc 8k ",
    "Fc 20000 ", "Fc 99999 Hz ", "Fc 0 Hz ", "Fc 1e3 Hz ", "", NULL };
  static const gchar *const gains[] = { "Gain -5.00 dB ", "Gain 3,5 dB ",
    "Gain +12dB ", "Gain 0 dB ", "Gain -1e2 dB ", "Gain 2 ", "", NULL };
  static const gchar *const widths[] = { "Q 4.00", "Q 0,71", "Q 1e-3", "Q 0",
    "Q 100", "BW Oct 0.5", "BW Oct 1/3", "T60 target 300 ms", "", NULL };
  static const gchar *const others[] = { "Preamp: -6.5 dB", "Preamp: 3,5dB",
    "# none", "Room EQ V5.31", "Filter 2: OFF PK", "Dated: 1-Jan-2024 10:00:00",
    "Device: all", "", NULL };
  static const gchar *const ends[] = { "\n", "\n", "\r\n", "\r", NULL };
  const gchar *end = pick (state, ends);
  const guint n_lines = 1 + chaingen_below (state, 8);
  size_t n = 0;

  for (guint i = 0; i < n_lines; i++) {
    if (chaingen_below (state, 4) == 0) {
      n += g_snprintf (text + n, size - n, "%s%s", pick (state, others), end);
      continue;
    }
    n += g_snprintf (text + n, size - n, "Filter %u: ON %s ", i + 1,
        pick (state, types));
    n += g_snprintf (text + n, size - n, "%s%s", pick (state, frequencies),
        pick (state, gains));
    n += g_snprintf (text + n, size - n, "%s%s", pick (state, widths), end);
  }
  return n;
}

static bool
judge (unsigned long n_runs, char *line, size_t size)
{
  g_snprintf (line, size,
      "%lu settings built, %lu out of range, %lu faults, %lu chains", n_built,
      n_out_of_range, n_faults, n_chains);
  return n_built >= n_runs / 20 && n_faults >= n_runs / 10 &&
         n_out_of_range >= n_runs / 100 && n_chains >= n_runs / 500;
}

int
main (int argc, char **argv)
{
  const FuzzTarget target = { tokens, G_N_ELEMENTS (tokens), generate, false,
    judge };

  return fuzz_main (&target, argc, argv);
}

#endif /* TFX_FUZZER */
