/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_move.c: a value that moves is designed alone, as the whole chain
 * would be, and allocates nothing.
 */
#include "common.h"
#include "core/branches.h"
#include "core/kind.h"
#include "heap.h"
#include "lang/class.h"
#include "plain.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RATE 48000.0

static PlainResponse
respond (TfxStage *stage)
{
  TfxChain *chain = tfx_chain_append (NULL, stage);
  PlainResponse response = plain_response (chain, 900.0, RATE);

  tfx_chain_unref (&chain);
  return response;
}

/* The whole expression, built; its gain in front is 2. */
static PlainResponse
respond_whole (const TfxExpr *expr)
{
  PlainResponse response = { 0 };
  TfxChain *chain = NULL;

  if (tfx_expr_build (expr, RATE, 2, NULL, NULL, &chain, NULL) < 0)
    return response;
  response = plain_response (chain, 900.0, RATE);
  tfx_chain_unref (&chain);
  return response;
}

static bool
is_near (PlainResponse whole, PlainResponse part)
{
  double re = whole.h.re - 2.0 * part.h.re, im = whole.h.im - 2.0 * part.h.im;
  double size = whole.h.re * whole.h.re + whole.h.im * whole.h.im;

  return size > 0.0 && re * re + im * im <= 1e-24 * size;
}

/* The next stage that was set, designed; NULL: there is none, or it is not possible. */
static TfxStage *
design_next (TfxMove *move, const TfxExpr *expr, unsigned n_channels)
{
  TfxStage *stage = NULL;

  return tfx_move_next (move, expr) == 0 &&
                 tfx_move_design (move, RATE, n_channels, NULL, NULL, &stage,
                     NULL) == 0
             ? stage
             : NULL;
}

/* Moves one number of stage 1 of the expression. */
static void
check_number (TapMany *many, TfxMove *move, TfxExpr *expr,
    const TfxParam *param, size_t *latency, unsigned *n_shapes)
{
  const TfxClass *klass = tfx_expr_stage_class (expr, 1);
  const bool is_rebuilt = klass->ops->is_rebuilt;
  HeapCounts counts;
  TfxStage *stage = NULL;
  TfxValue value;
  size_t index;
  double number;
  int code, next, design = 1;

  tfx_expr_get (expr, 1, param->name, &value);
  index = value.n_list ? value.n_list - 1 : 0;
  number = (value.n_list ? value.list[index] : value.number) * 1.25 + 0.5;
  heap_watch (0);
  code = tfx_expr_set_number (expr, 1, param->name, index, number, NULL);
  next = tfx_move_next (move, expr);
  if (next == 0)
    design = tfx_move_design (move, RATE, 2, NULL, NULL, &stage, NULL);
  counts = heap_unwatch ();
  if (code < 0)
    return;
  if (is_rebuilt) {
    tap_many_check (many, next == -ENOTSUP, "%s of %s: %d", param->name,
        klass->name, next);
    tfx_move_begin (move, expr, NULL);
    return;
  }
  /* Another latency is another structure. */
  if (design == 0 && tfx_stage_latency (stage) != *latency)
    counts.n_allocations--;
  *latency = design == 0 ? tfx_stage_latency (stage) : *latency;
  tap_many_check (many,
      next == 0 && design == 0 && counts.n_allocations == 0 &&
          tfx_stage_id (stage) == tfx_expr_stage_id (expr, 1) &&
          is_near (respond_whole (expr), respond (stage)),
      "%s of %s: %d, %d, %u allocations", param->name, klass->name, next,
      design, counts.n_allocations);
  tap_many_check (many, tfx_move_next (move, expr) == -ENOENT, "%s: once",
      klass->name);
  tfx_move_follow (move, true);
  design = tfx_move_design (move, RATE, 2, NULL, NULL, &stage, NULL);
  tfx_move_follow (move, false);
  tap_many_check (many,
      design == 0 && is_near (respond_whole (expr), respond (stage)),
      "%s of %s: for a point of a curve: %d", param->name, klass->name, design);
  *n_shapes +=
      stage->kind == &tfx_kind_sections && stage->u.sections.has_shapes;
}

/* Each number of the example of each class. */
static void
test_classes (void)
{
  TapMany many = tap_many ("as the whole chain would be, without memory");
  TfxMove *move = tfx_move_new ();
  unsigned n_shapes = 0;

  for (size_t c = 0; c < tfx_catalogue_n_classes (); c++) {
    const TfxClass *klass = tfx_catalogue_class (c);
    TfxStage *stage = NULL;
    size_t latency = 0;
    TfxExpr *expr;
    char text[300];

    snprintf (text, sizeof text, "Gain(2) | x=%s", klass->example);
    expr = test_parse (text);
    tfx_move_begin (move, expr, NULL);
    if (tfx_move_take (move, expr, 1) == 0 &&
        tfx_move_design (move, RATE, 2, NULL, NULL, &stage, NULL) == 0)
      latency = tfx_stage_latency (stage);
    for (unsigned i = 0; i < klass->n_params; i++) {
      if ((klass->params[i].types & TFX_VALUE_NUMBER) &&
          !(klass->params[i].flags &
              (TFX_PARAM_STREAM | TFX_PARAM_INTEGER | TFX_PARAM_STRUCTURE)))
        check_number (&many, move, expr, &klass->params[i], &latency,
            &n_shapes);
    }
    tfx_expr_free (&expr);
  }
  tap_check (many.n_cases > 150, "%lu checks", many.n_cases);
  tap_check (n_shapes > 10, "%u numbers the quick way along a curve", n_shapes);
  tfx_move_free (&move);
  tap_many_end (&many);
}

/* Both edges of a band, which are a list. */
static void
test_edges (void)
{
  TfxExpr *expr =
      test_parse ("Gain(2) | x=Butterworth('bandpass', [300, 3400])");
  TfxMove *move = tfx_move_new ();
  HeapCounts counts;
  TfxStage *stage = NULL;
  bool ok = true;

  tfx_move_begin (move, expr, NULL);
  ok &= tfx_move_take (move, expr, 1) == 0 &&
        tfx_move_reserve (move, RATE, 2, 1) == 0;
  heap_watch (0);
  for (unsigned i = 0; i < 100; i++) {
    double edges[] = { 200.0 + i, 2000.0 + i };
    TfxValue value = { .type = TFX_VALUE_LIST, .list = edges, .n_list = 2 };

    if (i % 2)
      ok &= tfx_expr_set (expr, 1, "cutoff", &value, NULL) == 0;
    else
      ok &= tfx_expr_set_number (expr, 1, "cutoff", i % 4 / 2, edges[i % 4 / 2],
                NULL) == 0;
    stage = design_next (move, expr, 2);
    ok &= stage != NULL;
  }
  counts = heap_unwatch ();
  tap_check (ok && counts.n_allocations == 0, "edges move: %u allocations",
      counts.n_allocations);
  tap_check (is_near (respond_whole (expr), respond (stage)),
      "to where they are set");
  tfx_move_free (&move);
  tfx_expr_free (&expr);
}

/* Several stages, and what is no move. */
static void
test_order (void)
{
  TfxExpr *expr = test_parse (
      "a=LoButterworth(1000) | (b=Gain(2) + c=HiShelving(1000, 1, 2))");
  TfxExpr *copy, *again;
  TfxMove *move = tfx_move_new ();
  TfxStage *stage = NULL;

  tfx_expr_set_number (expr, 0, "cutoff", 0, 900, NULL);
  tfx_move_begin (move, expr, NULL);
  tap_check (tfx_move_next (move, expr) == -ENOENT, "what is in force");

  tfx_expr_set_number (expr, 2, "q", 0, 2, NULL);
  tfx_expr_set_number (expr, 0, "cutoff", 0, 2000, NULL);
  copy = tfx_expr_copy (expr);
  stage = design_next (move, copy, 1);
  tap_check (stage && tfx_stage_id (stage) == tfx_expr_stage_id (expr, 2) &&
                 stage->u.sections.n == 1,
      "one after the other, of a copy");
  tfx_expr_set_number (expr, 2, "q", 0, 3, NULL);
  stage = design_next (move, expr, 1);
  tap_check (stage && tfx_stage_id (stage) == tfx_expr_stage_id (expr, 0) &&
                 stage->u.sections.n == 3,
      "the second");
  stage = design_next (move, expr, 1);
  tap_check (stage && tfx_stage_id (stage) == tfx_expr_stage_id (expr, 2),
      "and the first one, which was set again");
  tap_check (tfx_move_next (move, expr) == -ENOENT, "no more");

  tfx_expr_set_number (expr, 0, "order", 0, 5, NULL);
  tap_check (tfx_move_next (move, expr) == 0, "the same order moves nowhere");
  tfx_expr_set_number (expr, 0, "order", 0, 6, NULL);
  tap_check (tfx_move_next (move, expr) == -ENOTSUP, "another order");
  tfx_move_begin (move, expr, NULL);
  tap_check (tfx_move_next (move, expr) == -ENOENT, "is in force");
  again = test_parse ("a=LoButterworth(1000)");
  tap_check (tfx_move_next (move, again) == -ENOTSUP, "another expression");
  tap_check (tfx_move_next (move, tfx_expr_empty ()) == -ENOTSUP,
      "an empty one");
  tfx_move_free (&move);
  tfx_expr_free (&expr);
  tfx_expr_free (&copy);
  tfx_expr_free (&again);
}

/* Stages in the chains of a call move; its own values do not. */
static void
test_chains (void)
{
  TfxExpr *expr = test_parse ("Gain(1) | m=Multiband([90, 500], Gain(2), None, "
                              "ch[0]: x=LoButterworth(900))");
  TfxChain *chain = test_build_expr (expr, 2);
  TfxMove *move = tfx_move_new ();
  TfxStage *stage;

  tfx_move_begin (move, expr, chain);
  tfx_expr_set_number (expr, 3, "cutoff", 0, 800, NULL);
  tfx_expr_set_number (expr, 2, "gain", 0, 5, NULL);
  stage = design_next (move, expr, 2);
  tap_check (stage && tfx_stage_id (stage) == tfx_expr_stage_id (expr, 3) &&
                 tfx_branches_find (chain, tfx_stage_id (stage)),
      "a stage in a chain of a chain");
  stage = design_next (move, expr, 2);
  tap_check (stage && stage->u.gain == 5.0 &&
                 tfx_branches_find (chain, tfx_stage_id (stage)),
      "one in a chain");
  tfx_expr_set_number (expr, 1, "crossovers", 1, 600, NULL);
  tap_check (tfx_move_next (move, expr) == -ENOTSUP, "not a crossover");
  tfx_move_free (&move);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
}

/* Values of a stage with a key filter move, and keep the filter; those of the filter do
 * not. */
static void
test_key_filter (void)
{
  TfxExpr *expr = test_parse ("c=Compressor(key_filter=n=Notch(50, 1))");
  TfxChain *chain = test_build_expr (expr, 2);
  TfxMove *move = tfx_move_new ();
  const TfxStage *running = chain->stages[0];
  TfxStage *stage;

  tfx_move_begin (move, expr, NULL);
  tap_check (tfx_move_take (move, expr, 0) == -ENOTSUP, "not before it runs");
  tfx_move_begin (move, expr, chain);
  tfx_expr_set_number (expr, 0, "threshold", 0, -30, NULL);
  stage = design_next (move, expr, 2);
  tap_check (stage && stage->u.dynamics.threshold_db == -30.0 &&
                 running->u.dynamics.n_key_sos == 1 &&
                 tfx_stage_is_same_structure (stage, running) &&
                 memcmp (stage->u.dynamics.key_sos, running->u.dynamics.key_sos,
                     sizeof (TfxSos)) == 0,
      "a threshold, with the same filter");
  tfx_expr_set_number (expr, 1, "cutoff", 0, 60, NULL);
  tap_check (tfx_move_next (move, expr) == -ENOTSUP, "not the filter");
  tfx_move_free (&move);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
}

/* A stage of one of two channels has one, also where it moves. */
static void
test_channels (void)
{
  TfxExpr *expr =
      test_parse ("ch[0]: d=Delay(100, mix=0.3, strategy='ping-pong')");
  TfxMove *move = tfx_move_new ();
  TfxStage *stage = NULL;

  tfx_move_begin (move, expr, NULL);
  tfx_expr_set_number (expr, 0, "mix", 0, 0.5, NULL);
  stage = design_next (move, expr, 2);
  tap_check (stage && stage->u.delay.n_taps > 0 &&
                 !stage->u.delay.taps[0].swap &&
                 stage->u.delay.taps[0].gain == 0.5,
      "no echo goes to a channel that is not there");
  tfx_move_free (&move);
  tfx_expr_free (&expr);
}

static unsigned n_reports;

static void
count_report (const TfxExprClamp *clamped, void *data)
{
  n_reports++;
  *(double *)data = clamped->used;
}

/* A value out of range is reported, values that do not fit each other are an error, and
 * the next one is designed. */
static void
test_clamped (void)
{
  TfxExpr *expr =
      test_parse ("a=LoButterworth(1000) | b=HiShelving(1000, 1, 2)");
  TfxMove *move = tfx_move_new ();
  TfxExprError error = { 0 };
  TfxStage *stage = NULL;
  double used = 0.0;

  tfx_move_begin (move, expr, NULL);
  tfx_expr_set_number (expr, 0, "cutoff", 0, 30000, NULL);
  tfx_expr_set_number (expr, 1, "gain", 0, -3, NULL);
  tfx_expr_set_number (expr, 1, "q", 0, 2, NULL);
  tap_check (tfx_move_next (move, expr) == 0 &&
                 tfx_move_design (move, RATE, 1, count_report, &used, &stage,
                     &error) == 0 &&
                 n_reports == 1 && used < 24000.0 && used > 23000.0,
      "a cutoff above half the rate");
  tap_check (tfx_move_next (move, expr) == 0 &&
                 tfx_move_design (move, RATE, 1, NULL, NULL, &stage, &error) ==
                     -ERANGE &&
                 strstr (error.message, "gain of stage 'b' (HiShelving) is -3"),
      "%s", error.message);
  tfx_expr_set_number (expr, 1, "gain", 0, 3, NULL);
  tap_check (design_next (move, expr, 1), "another gain");
  tfx_move_free (&move);
  tfx_expr_free (&expr);
}

static const TapTest tests[] = {
  { "classes", test_classes },
  { "edges", test_edges },
  { "order", test_order },
  { "chains", test_chains },
  { "key-filter", test_key_filter },
  { "channels", test_channels },
  { "clamped", test_clamped },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
