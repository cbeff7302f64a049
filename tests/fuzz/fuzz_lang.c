/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_lang.c: any text through the parser, the printer and the builder.
 *
 * For libFuzzer: compile with -fsanitize=fuzzer,address,undefined and
 * -DTFX_FUZZER.  Without it this is a program of its own:
 *
 *   fuzz_lang [RUNS [SEED [FILE...]]]
 *
 * runs that many random texts and mutations of the files (200000 by default)
 * and speaks TAP.  What must hold: an error with a message and a place, or an
 * expression whose text reads back as the same expression. */
#include "lang/expr.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define MUST(condition)                                                        \
  do {                                                                         \
    if (!(condition))                                                          \
      fail (#condition, __LINE__);                                             \
  } while (0)

static const uint8_t *now;
static size_t now_size;
static unsigned long n_chains, n_errors, n_built;

static void
fail (const char *what, int line)
{
  printf ("not ok 1 - line %d: %s\n# the text, %zu bytes:\n", line, what,
      now_size);
  fwrite (now, 1, now_size, stdout);
  printf ("\n1..1\n");
  fflush (stdout);
  abort ();
}

static void
check_error (const TfxExprError *error, bool has_place)
{
  MUST (error->code < 0);
  MUST (strlen (error->message) > 5);
  MUST (strlen (error->message) < sizeof error->message - 1);
  MUST (strlen (error->rendered) < sizeof error->rendered - 1);
  MUST (strstr (error->rendered, error->message));
  if (has_place && error->line > 0) {
    const char *caret = strrchr (error->rendered, '\n');

    MUST (error->column > 0);
    MUST (caret && caret[strlen (caret) - 1] == '^');
  }
}

static void
report (const TfxExprClamp *clamped, void *data)
{
  MUST (
      clamped->stage && clamped->param && clamped->unit && clamped->message[0]);
  MUST (clamped->asked != clamped->used);
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
check_build (TfxExpr *expr, double rate_hz, unsigned n_channels)
{
  TfxExprError error;
  TfxChain *chain = NULL;
  unsigned n_reports = 0, n_again = 0;

  if (tfx_expr_build (expr, rate_hz, n_channels, report, &n_reports, &chain,
          &error) < 0) {
    check_error (&error, false);
    MUST (!chain);
    return;
  }
  n_built++;
  MUST (chain);
  tfx_chain_unref (&chain);

  /* Again, of stages that were kept. */
  tfx_expr_prepare (expr, rate_hz, n_channels, NULL);
  MUST (tfx_expr_build (expr, rate_hz, n_channels, report, &n_again, &chain,
            &error) == 0);
  MUST (n_again == n_reports);
  tfx_chain_unref (&chain);
}

/* Every value that an expression has may be set again. */
static void
check_parameters (TfxExpr *expr)
{
  for (size_t i = 0; i < tfx_expr_n_stages (expr); i++) {
    const TfxClass *klass = tfx_expr_stage_class (expr, i);

    MUST (tfx_expr_find (expr, tfx_expr_stage_name (expr, i)) == (int)i);
    for (unsigned k = 0; k < klass->n_params; k++) {
      TfxValue value;

      MUST (tfx_expr_get (expr, i, klass->params[k].name, &value) == 0);
      MUST (tfx_expr_set (expr, i, klass->params[k].name, &value, NULL) == 0);
    }
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const double rates[] = { 48000, 8000, 44100, 384000, 1 };
  TfxExprError error = { 0 };
  TfxExpr *expr, *again, *copy;
  char *text, *text_again;

  now = data;
  now_size = size;
  expr = tfx_expr_parse ((const char *)data, size, &error);
  if (!expr) {
    n_errors++;
    check_error (&error, true);
    return 0;
  }
  n_chains++;
  text = tfx_expr_print (expr);
  MUST (text);
  again = tfx_expr_parse (text, strlen (text), &error);
  MUST (again);
  MUST (tfx_expr_equal (expr, again));
  text_again = tfx_expr_print (again);
  MUST (text_again && strcmp (text, text_again) == 0);

  copy = tfx_expr_copy (expr);
  MUST (copy && tfx_expr_equal (expr, copy));
  check_parameters (copy);
  MUST (tfx_expr_equal (expr, copy));
  MUST (tfx_expr_adopt_ids (again, expr) == 0);
  for (size_t i = 0; i < tfx_expr_n_stages (expr); i++)
    MUST (tfx_expr_stage_id (again, i) == tfx_expr_stage_id (expr, i));
  if (is_cheap (expr))
    check_build (expr, rates[size % 5], 1 + size % 3);

  free (text);
  free (text_again);
  tfx_expr_free (&expr);
  tfx_expr_free (&again);
  tfx_expr_free (&copy);
  return 0;
}

#ifndef TFX_FUZZER

#include <unistd.h>

#include "chaingen.h"
#include "part.h"

#define MAX_TEXT 4096
#define MAX_SEEDS 256

static char seeds[MAX_SEEDS][MAX_TEXT];
static size_t seed_lengths[MAX_SEEDS];
static unsigned n_seeds;

static void
add_seed (const char *path)
{
  FILE *file = fopen (path, "rb");

  if (!file || n_seeds == MAX_SEEDS) {
    printf ("Bail out! cannot take %s\n", path);
    exit (1);
  }
  seed_lengths[n_seeds] = fread (seeds[n_seeds], 1, MAX_TEXT, file);
  n_seeds++;
  fclose (file);
}

static const char *const tokens[] = { "|", "+", "-", "(", ")", "[", "]", ",",
  "=", ".", "'", "\"", "\\", "#", "\n", "None", "True", "False", "Gain(",
  "FIR([", "FIR('a b', ", "Convolve('", "channel=", "x=", "fx.filter.",
  "cutoff=", "q=", "order=", "1e309", "1e-320", "0x1f", "1_000", "007", "'db'",
  "'bandpass'", "('kaiser', 8)", "\xc3\xa9", "\xe2\x80\x98", "\xff", "*", "/",
  ":", ";", "LogFilterBank(31)", "Delay(bpm=120)", "window=", "lambda", "65536",
  "-1", "\\x41", "((((((((", "))))))))" };

static size_t
insert (char *text, size_t n, size_t at, const char *bytes, size_t n_bytes)
{
  if (n + n_bytes > MAX_TEXT)
    return n;
  memmove (text + at + n_bytes, text + at, n - at);
  memcpy (text + at, bytes, n_bytes);
  return n + n_bytes;
}

static size_t
mutate (uint64_t *state, char *text, size_t n)
{
  size_t at = chaingen_below (state, (unsigned)n + 1);
  size_t span = 1 + chaingen_below (state, 1u << chaingen_below (state, 6));
  char byte = (char)chaingen_random (state);
  const char *token;

  if (span > n - at)
    span = n - at;
  switch (chaingen_below (state, 6)) {
    case 0: /* another byte */
      if (at < n)
        text[at] = byte;
      return n;
    case 1: /* one more */
      return insert (text, n, at, &byte, 1);
    case 2: /* a token more */
      token = tokens[chaingen_below (state, sizeof tokens / sizeof tokens[0])];
      return insert (text, n, at, token, strlen (token));
    case 3: /* a part less */
      memmove (text + at, text + at + span, n - at - span);
      return n - span;
    case 4: { /* a part twice */
      char part[64];
      memcpy (part, text + at, span);
      return insert (text, n, at, part, span);
    }
    default: { /* a part of another seed */
      unsigned other = chaingen_below (state, n_seeds);
      size_t from = chaingen_below (state, (unsigned)seed_lengths[other] + 1);

      if (span > seed_lengths[other] - from)
        span = seed_lengths[other] - from;
      return insert (text, n, at, seeds[other] + from, span);
    }
  }
}

static size_t
make_text (uint64_t *state, char *text)
{
  size_t n;
  unsigned i, n_mutations;

  if (n_seeds == 0 || chaingen_below (state, 2) == 0) {
    n = chaingen_write (state, 1 + chaingen_below (state, 8), text, MAX_TEXT);
  } else {
    i = chaingen_below (state, n_seeds);
    n = seed_lengths[i];
    memcpy (text, seeds[i], n);
  }
  n_mutations =
      chaingen_below (state, 2)
          ? 0
          : 1 + chaingen_below (state, 1u << chaingen_below (state, 5));
  for (i = 0; i < n_mutations && n_seeds > 0; i++)
    n = mutate (state, text, n);
  return n;
}

int
main (int argc, char **argv)
{
  unsigned long n_runs = argc > 1 ? strtoul (argv[1], NULL, 10) : 200000;
  uint64_t state = argc > 2 ? strtoull (argv[2], NULL, 10) : 1;
  char text[MAX_TEXT];
  bool passed;

  if (part_is_wanted ())
    n_runs /= 4;
  state = state * 0x9e3779b97f4a7c15ull + 1;
  for (int i = 3; i < argc; i++)
    add_seed (argv[i]);
  for (unsigned i = 0; i < n_seeds; i++)
    LLVMFuzzerTestOneInput ((const uint8_t *)seeds[i], seed_lengths[i]);
  for (unsigned long i = 0; i < n_runs; i++) {
    size_t n;
    uint8_t *exact;

    if (i % 1000 == 0)
      alarm (120); /* a text that takes for ever ends the program */
    n = make_text (&state, text);
    /* Memory of just that size: the sanitizer sees a byte too far. */
    exact = malloc (n ? n : 1);
    if (!exact)
      return 1;
    memcpy (exact, text, n);
    LLVMFuzzerTestOneInput (exact, n);
    free (exact);
  }
  /* Else the texts would not reach what they are for. */
  passed = n_chains >= n_runs / 10 && n_errors >= n_runs / 10 &&
           n_built >= n_runs / 20;
  printf ("%s 1 - %lu runs: %lu chains, %lu of them built, and %lu errors\n",
      passed ? "ok" : "not ok", n_runs, n_chains, n_built, n_errors);
  printf ("1..1\n");
  return passed ? 0 : 1;
}

#endif /* TFX_FUZZER */
