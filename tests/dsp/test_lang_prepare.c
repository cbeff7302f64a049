/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_prepare.c: stages designed before the chain: the chain is the same, and
 * changed stages are designed again. */
#include "common.h"
#include "core/kind.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "eq=ParametricEQ(1000, 2, 3) | (LoButterworth(100, order=6) + "
    "Butterworth('bp', [100, 30000])) | LogFilterBank(5) | "
    "fir=DesignableFIR([1000, 21000, 40000], 301) | FIR([1, 2, 3]) | "
    "Delay(delay_samples=9, strategy='ping-pong') | "
    "Multiband([20, 40000], LoButterworth(50000), FIR([4, 3, 2]), Echo(5))";

/* The stages with these numbers. */
enum
{
  EQ = 0,
  LOW = 1,
  OWN = 5
};

typedef struct Reports
{
  unsigned n;
  char text[8][320];
} Reports;

static void
take_report (const TfxExprClamp *clamped, void *data)
{
  Reports *reports = data;

  if (reports->n < 8)
    snprintf (reports->text[reports->n], sizeof reports->text[0], "%s",
        clamped->message);
  reports->n++;
}

/* Whether this much is left to design. */
static bool
has_effort (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    size_t n_sections, size_t n_taps)
{
  size_t sections, taps;

  tfx_expr_effort (expr, rate_hz, n_channels, 0, &sections, &taps);
  if (sections != n_sections || taps != n_taps)
    tap_diag ("%zu sections and %zu taps", sections, taps);
  return sections == n_sections && taps == n_taps;
}

static bool is_same_chain (const TfxChain *a, const TfxChain *b);

/* Whether two stages do the same to the bit. */
static bool
is_same_stage (const TfxStage *a, const TfxStage *b)
{
  bool same = a->kind == b->kind;

  if (same && a->kind != &tfx_kind_sum)
    return a->kind->is_same_structure (a, b) && a->kind->is_same (a, b);
  same = same && a->u.sum.n == b->u.sum.n;
  for (size_t i = 0; same && i < a->u.sum.n; i++)
    same = is_same_chain (a->u.sum.branches[i], b->u.sum.branches[i]);
  return same;
}

static bool
is_same_chain (const TfxChain *a, const TfxChain *b)
{
  bool same = a && b && a->n_stages == b->n_stages;

  for (size_t i = 0; same && i < a->n_stages; i++)
    same = is_same_stage (a->stages[i], b->stages[i]);
  return same;
}

/* The same chain with the same reports, each time. */
static void
test_same (void)
{
  TfxExpr *plain = test_parse (text), *expr = test_parse (text);
  Reports reports[3] = { { 0 } };
  TfxChain *chains[3] = { NULL };

  tap_check (has_effort (expr, 48000, 2, 1 + 4 + 4 + 5 + 3, 301 + 3 + 3),
      "no stage is designed yet");
  tfx_expr_prepare (expr, 48000, 2, 0, NULL);
  tap_check (has_effort (expr, 48000, 2, 0, 0), "all are designed");
  tfx_expr_build (plain, 48000, 2, take_report, &reports[0], &chains[0], NULL);
  tfx_expr_build (expr, 48000, 2, take_report, &reports[1], &chains[1], NULL);
  tfx_expr_build (expr, 48000, 2, take_report, &reports[2], &chains[2], NULL);
  tap_check (is_same_chain (chains[0], chains[1]), "the same chain");
  tap_check (chains[1]->stages[0] == chains[2]->stages[0] &&
                 chains[1]->stages[3] == chains[2]->stages[3],
      "of the very same stages");
  tap_check (reports[0].n == 4 &&
                 memcmp (&reports[0], &reports[1], sizeof reports[0]) == 0,
      "with the same reports");
  tap_check (memcmp (&reports[1], &reports[2], sizeof reports[1]) == 0,
      "each time that it is built");
  for (size_t i = 0; i < 3; i++)
    tfx_chain_unref (&chains[i]);
  tfx_expr_free (&plain);
  tfx_expr_free (&expr);
}

/* What changes is designed again, and nothing else. */
static void
test_changes (void)
{
  TfxExpr *expr = test_parse (text), *other;
  TfxChain *before, *after, *plain;

  tfx_expr_prepare (expr, 48000, 2, 0, NULL);
  before = test_build_expr (expr, 2);
  tap_check (has_effort (expr, 44100, 2, 17, 307), "another rate");
  tap_check (has_effort (expr, 48000, 1, 17, 307), "other channels");

  tfx_expr_set_number (expr, EQ, "gain", 0, -3, NULL);
  tap_check (has_effort (expr, 48000, 2, 1, 0), "a value");
  tfx_expr_set_number (expr, OWN, "b", 1, 7, NULL);
  tap_check (has_effort (expr, 48000, 2, 1, 3), "a number of a list");
  tfx_expr_set_number (expr, LOW, "order", 0, 7, NULL);
  tap_check (has_effort (expr, 48000, 2, 1 + 4, 3), "an order");
  after = test_build_expr (expr, 2);
  other = test_parse ("eq=ParametricEQ(1000, 2, -3) | (LoButterworth(100, "
                      "order=7) + Butterworth('bp', [100, 30000])) | "
                      "LogFilterBank(5) | fir=DesignableFIR([1000, 21000, "
                      "40000], 301) | FIR([1, 7, 3]) | "
                      "Delay(delay_samples=9, strategy='ping-pong') | "
                      "Multiband([20, 40000], LoButterworth(50000), FIR([4, 3, "
                      "2]), Echo(5))");
  plain = test_build_expr (other, 2);
  tfx_expr_free (&other);
  tap_check (is_same_chain (after, plain), "the chain of the new values");
  tap_check (before->stages[3] == after->stages[3], "of old stages and new");
  tfx_chain_unref (&before);
  tfx_chain_unref (&after);
  tfx_chain_unref (&plain);

  /* At another rate the same is done anew. */
  tfx_expr_prepare (expr, 8000, 1, 0, NULL);
  after = plain = NULL;
  tfx_expr_build (expr, 8000, 1, NULL, NULL, &after, NULL);
  tfx_expr_build (expr, 8000, 1, NULL, NULL, &plain, NULL);
  tap_check (is_same_chain (after, plain) && has_effort (expr, 8000, 1, 0, 0) &&
                 has_effort (expr, 48000, 2, 17, 307),
      "another rate takes the place of the first");
  tfx_chain_unref (&after);
  tfx_chain_unref (&plain);
  tfx_expr_free (&expr);
}

/* A stage has the id of its node. */
static void
test_ids (void)
{
  TfxExpr *old = test_parse ("fir=DesignableFIR(1000, 301) | Notch(50, 1)");
  TfxExpr *expr = test_parse ("fir=DesignableFIR(1000, 301) | Notch(60, 1)");
  TfxExpr *copy;
  TfxChain *chain;

  tfx_expr_prepare (old, 48000, 2, 0, NULL);
  tfx_expr_prepare (expr, 48000, 2, 0, NULL);
  tfx_expr_adopt_ids (expr, old);
  tap_check (has_effort (expr, 48000, 2, 1, 301), "adopted ids");
  tfx_expr_take_prepared (expr, old);
  tap_check (has_effort (expr, 48000, 2, 1, 0),
      "taken over where the values are the same");
  chain = test_build_expr (expr, 2);
  tap_check (chain->stages[0]->id == tfx_expr_stage_id (old, 0) &&
                 chain->stages[1]->id == tfx_expr_stage_id (old, 1) &&
                 chain->stages[1]->id == tfx_expr_stage_id (expr, 1),
      "the stages have the adopted ids");
  tfx_chain_unref (&chain);

  copy = tfx_expr_copy (old);
  tap_check (has_effort (copy, 48000, 2, 0, 0), "a copy has them too");
  tfx_expr_set_number (copy, 1, "q", 0, 2, NULL);
  tap_check (has_effort (copy, 48000, 2, 1, 0) &&
                 has_effort (old, 48000, 2, 0, 0),
      "and its own changes");
  tfx_expr_free (&copy);

  copy = test_parse ("fir=DesignableFIR(1000, 301) | Notch(50, 1)");
  tfx_expr_take_prepared (copy, old);
  tap_check (has_effort (copy, 48000, 2, 1, 301),
      "stages of other ids keep theirs");
  tfx_expr_free (&copy);
  tfx_expr_free (&old);
  tfx_expr_free (&expr);
}

/* Building, not preparing, reports a stage that cannot be made. */
static void
test_faults (void)
{
  TfxExpr *expr = test_parse ("Gain(2) | LoButterworth(100, fs=44100)");
  TfxChain *chain = NULL;
  TfxExprError error;

  tfx_expr_prepare (expr, 48000, 2, 0, NULL);
  tap_check (tfx_expr_build (expr, 48000, 2, NULL, NULL, &chain, &error) < 0 &&
                 strstr (error.message, "fs of stage"),
      "not at this rate: %s", error.message);
  tfx_expr_prepare (expr, 44100, 2, 0, NULL);
  tap_check (has_effort (expr, 44100, 2, 0, 0), "but at the other one");
  tfx_expr_prepare (expr, 0, 2, 0, NULL);
  tap_check (has_effort (expr, 44100, 2, 0, 0), "no rate changes nothing");

  /* Values that do not fit each other, and the same put right. */
  tfx_expr_free (&expr);
  expr = test_parse ("Butterworth('lowpass', 100)");
  tfx_expr_set_word (expr, 0, "btype", "bandpass", NULL);
  tfx_expr_prepare (expr, 48000, 2, 0, NULL);
  tap_check (tfx_expr_build (expr, 48000, 2, NULL, NULL, &chain, NULL) < 0,
      "a band of one edge");
  tfx_expr_set_word (expr, 0, "btype", "highpass", NULL);
  tfx_expr_prepare (expr, 48000, 2, 0, NULL);
  tap_check (has_effort (expr, 48000, 2, 0, 0), "put right");
  tfx_expr_free (&expr);
}

static const TapTest tests[] = {
  { "same", test_same },
  { "changes", test_changes },
  { "ids", test_ids },
  { "faults", test_faults },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
