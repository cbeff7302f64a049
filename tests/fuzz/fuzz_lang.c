/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_lang.c: any text through the parser, the printer and the builder.
 *
 * What must hold: an error with a message and a place, or an expression whose text
 * reads back as the same expression. */
#include "lang/expr.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static unsigned long n_chains, n_errors, n_built;

static void
check_error (const TfxExprError *error, bool has_place)
{
  FUZZ_MUST (error->code < 0);
  FUZZ_MUST (strlen (error->message) > 5);
  FUZZ_MUST (strlen (error->message) < sizeof error->message - 1);
  FUZZ_MUST (strlen (error->rendered) < sizeof error->rendered - 1);
  FUZZ_MUST (strstr (error->rendered, error->message));
  if (has_place && error->line > 0) {
    const char *caret = strrchr (error->rendered, '\n');

    FUZZ_MUST (error->column > 0);
    FUZZ_MUST (caret && caret[strlen (caret) - 1] == '^');
  }
}

static void
report (const TfxExprClamp *clamped, void *data)
{
  FUZZ_MUST (
      clamped->stage && clamped->param && clamped->unit && clamped->message[0]);
  FUZZ_MUST (clamped->asked != clamped->used);
  (*(unsigned *)data)++;
}

/* Long kernels take long to design. */
static bool
is_cheap (const TfxExpr *expr)
{
  for (size_t i = 0; i < tfx_expr_n_stages (expr); i++) {
    double n_taps;

    if (tfx_expr_get_number (expr, i, "num_taps", 0, &n_taps) == 0 &&
        n_taps > 512.0)
      return false;
  }
  return true;
}

static void
check_build (TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions)
{
  TfxExprError error;
  TfxChain *chain = NULL;
  unsigned n_reports = 0, n_again = 0;

  if (tfx_expr_build_at (expr, rate_hz, n_channels, positions, report,
          &n_reports, &chain, &error) < 0) {
    check_error (&error, false);
    FUZZ_MUST (!chain);
    return;
  }
  n_built++;
  FUZZ_MUST (chain);
  tfx_chain_unref (&chain);

  /* Again, of stages that were kept. */
  tfx_expr_prepare (expr, rate_hz, n_channels, 0, NULL);
  FUZZ_MUST (tfx_expr_build_at (expr, rate_hz, n_channels, positions, report,
                 &n_again, &chain, &error) == 0);
  FUZZ_MUST (n_again == n_reports);
  tfx_chain_unref (&chain);
}

/* Every value that an expression has may be set again. */
static void
check_parameters (TfxExpr *expr)
{
  for (size_t i = 0; i < tfx_expr_n_stages (expr); i++) {
    const TfxClass *klass = tfx_expr_stage_class (expr, i);

    FUZZ_MUST (tfx_expr_find (expr, tfx_expr_stage_name (expr, i)) == (int)i);
    for (unsigned k = 0; k < klass->n_params; k++) {
      TfxValue value;

      FUZZ_MUST (tfx_expr_get (expr, i, klass->params[k].name, &value) == 0);
      FUZZ_MUST (
          tfx_expr_set (expr, i, klass->params[k].name, &value, NULL) == 0);
    }
  }
}

/* An order or a delay out of range prints as the value in use: copies these parameters
 * from `from` to `to`. */
static void
restore_fitted (TfxExpr *to, const TfxExpr *from)
{
  static const char *const params[] = { "order", "delay" };
  double value;

  for (size_t i = 0; i < tfx_expr_n_stages (from); i++)
    for (size_t k = 0; k < sizeof params / sizeof *params; k++)
      if (tfx_expr_get_number (from, i, params[k], 0, &value) == 0)
        tfx_expr_set_number (to, i, params[k], 0, value, NULL);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const double rates[] = { 48000, 8000, 44100, 384000, 1 };
  TfxExprError error = { 0 };
  TfxExpr *expr, *again, *copy;
  char *text, *text_again;
  uint64_t positions;
  unsigned n_channels;

  fuzz_begin (data, size);
  expr = tfx_expr_parse ((const char *)data, size, &error);
  if (!expr) {
    n_errors++;
    check_error (&error, true);
    return 0;
  }
  n_chains++;
  text = tfx_expr_print (expr);
  FUZZ_MUST (text);
  again = tfx_expr_parse (text, strlen (text), &error);
  FUZZ_MUST (again);
  restore_fitted (again, expr);
  FUZZ_MUST (tfx_expr_equal (expr, again));
  text_again = tfx_expr_print (again);
  FUZZ_MUST (text_again && strcmp (text, text_again) == 0);

  copy = tfx_expr_copy (expr);
  FUZZ_MUST (copy && tfx_expr_equal (expr, copy));
  check_parameters (copy);
  FUZZ_MUST (tfx_expr_equal (expr, copy));
  FUZZ_MUST (tfx_expr_adopt_ids (again, expr) == 0);
  for (size_t i = 0; i < tfx_expr_n_stages (expr); i++)
    FUZZ_MUST (tfx_expr_stage_id (again, i) == tfx_expr_stage_id (expr, i));
  n_channels = tfx_expr_find_channels (expr, 1 + size % 3, &positions);
  if (is_cheap (expr))
    check_build (expr, rates[size % 5], size & 1 ? 1 + size % 3 : n_channels,
        positions);

  free (text);
  free (text_again);
  tfx_expr_free (&expr);
  tfx_expr_free (&again);
  tfx_expr_free (&copy);
  return 0;
}

#ifndef TFX_FUZZER

#include "chaingen.h"

static const char *const tokens[] = { "|", "+", "-", "(", ")", "[", "]", ",",
  "=", ".", "'", "\"", "\\", "#", "\n", "None", "True", "False", "Gain(",
  "FIR([", "FIR('a b', ", "Convolve('", "channel=", "x=", "fx.filter.",
  "cutoff=", "q=", "order=", "1e309", "1e-320", "0x1f", "1_000", "007", "'db'",
  "'bandpass'", "('kaiser', 8)", "\xc3\xa9", "\xe2\x80\x98", "\xff", "*", "/",
  ":", ";", "LogFilterBank(31)", "Delay(bpm=120)", "window=", "lambda", "65536",
  "-1", "ch[LFE]: ", "\\x41", "((((((((", "))))))))" };

static size_t
generate (uint64_t *state, char *text, size_t size)
{
  return chaingen_write (state, 1 + chaingen_below (state, 8), text, size);
}

/* Else the texts would not reach what they are for. */
static bool
judge (unsigned long n_runs, char *line, size_t size)
{
  snprintf (line, size, "%lu chains, %lu of them built, and %lu errors",
      n_chains, n_built, n_errors);
  return n_chains >= n_runs / 10 && n_errors >= n_runs / 10 &&
         n_built >= n_runs / 20;
}

int
main (int argc, char **argv)
{
  const FuzzTarget target = { tokens, sizeof tokens / sizeof tokens[0],
    generate, false, judge };

  return fuzz_main (&target, argc, argv);
}

#endif /* TFX_FUZZER */
