/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_memory.c: each allocation of the language fails once: an error, and
 * nothing lost.
 */
#include "chaingen.h"
#include "heap.h"
#include "lang/expr.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "eq=ParametricEQ(1000, 2, 3) | (LoButterworth(100) + (FIR([1, 2, 3, 4, 5, "
    "6, 7, 8, 9, 10]) | Gain(2)) + Butterworth('bp', [1, 2])) | "
    "LogFilterBank(5) | Multiband(9, Gain(1) | FIR([1]), None) | "
    "DesignableFIR(1000, 31) | "
    "DesignableFIR([1, 2, 3], 31, window='parzen') | Delay(bpm=120) | "
    "Reverb() | Curve([[20, 1], [30, 2]], phase='minimum', taps=31) | "
    "LinearPhase(Notch(50, 1) | Gain(2), taps=31) | Align(9.5, 'samples') | "
    "Width(2) | Crossfeed() | DynamicEQ(99, 1) | "
    "Gate(key=[1], key_filter=HiButterworth(99) | Hum(50, harmonics=2)) | "
    "FIR([3, 1, 2], phase='minimum') | LoudnessContour(50, taps=31) | "
    "Denoise(9) | Denoise(9, profile=[[9, -60]]) | "
    "Curve([[20, 1]], 'mixed', 31) | DeEss()";

static TfxExpr *expr, *other;

typedef enum
{
  PARSE,
  COPY,
  PRINT,
  BUILD,
  PREPARE, /* without memory less is kept, and what is built is the same */
  SET,
  ADOPT,
  N_JOBS
} Job;

/* True if it succeeded. */
static bool
run (Job job, TfxExprError *error)
{
  double taps[] = { 1, 2, 3 };
  const TfxValue value = { .type = TFX_VALUE_LIST, .list = taps, .n_list = 3 };
  size_t n_sections = 1, n_taps = 1;
  TfxExpr *made = NULL;
  TfxChain *chain = NULL;
  char *printed = NULL;

  switch (job) {
    case PARSE:
      made = tfx_expr_parse (text, sizeof text - 1, error);
      break;
    case BUILD:
      error->code = tfx_expr_build (expr, 48000, 2, NULL, NULL, &chain, error);
      break;
    case SET:
      error->code = tfx_expr_set (other, (size_t)tfx_expr_find (other, "fir0"),
          "b", &value, error);
      break;
    case ADOPT:
      error->code = tfx_expr_adopt_ids (other, expr);
      break;
    case PRINT:
      printed = tfx_expr_print (expr);
      error->code = printed ? 0 : -ENOMEM;
      break;
    default:
      made = tfx_expr_copy (expr);
      error->code = made ? 0 : -ENOMEM;
  }
  if (job == PREPARE && made) {
    tfx_expr_prepare (made, 48000, 2, 0, NULL);
    tfx_expr_effort (made, 48000, 2, 0, &n_sections, &n_taps);
    error->code = n_sections == 0 && n_taps == 0 ? 0 : -ENOMEM;
  }
  tfx_expr_free (&made);
  tfx_chain_unref (&chain);
  free (printed);
  return error->code == 0;
}

/* Each job runs once with every allocation failing in turn. */
static void
test_all (void)
{
  static const struct
  {
    const char *name;
    unsigned min_allocations;
  } jobs[N_JOBS] = { { "parse", 20 }, { "copy", 20 }, { "print", 2 },
    { "build", 30 }, { "prepare", 20 }, { "set", 0 }, { "adopt", 1 } };

  expr = tfx_expr_parse (text, sizeof text - 1, NULL);
  other = tfx_expr_parse ("Gain(1) | FIR([1, 2, 3]) | Gain(2)", 34, NULL);
  tap_check (expr && other, "with all memory");
  for (Job job = 0; job < N_JOBS; job++) {
    TapMany many = tap_many (jobs[job].name);
    bool done = false;
    unsigned n = 0;

    while (!done && n++ < 10000) {
      const long before = heap_n_alive ();
      TfxExprError error = { 0 };
      long more;

      heap_watch (n);
      done = run (job, &error);
      heap_unwatch ();
      more = heap_n_alive () - before;
      tap_many_check (&many, done || error.code == -ENOMEM,
          "allocation %u: code %d", n, error.code);
      tap_many_check (&many, job == SET ? more <= 0 : more == 0,
          "allocation %u: %ld more than before", n, more);
    }
    tap_many_check (&many, done && n > jobs[job].min_allocations,
        "%u allocations", n - 1);
    tap_many_end (&many);
  }
  tfx_expr_free (&expr);
  tfx_expr_free (&other);
}

/* An expression without stages needs no memory; it can be adopted from, copied, built
 * and printed. */
static void
test_nothing (void)
{
  TfxExpr *nothing, *copy;
  TfxChain *chain = NULL;
  HeapCounts counts;
  char *printed;
  long before = heap_n_alive ();

  heap_watch_from (1);
  nothing = tfx_expr_empty ();
  copy = nothing ? tfx_expr_copy (nothing) : NULL;
  counts = heap_unwatch ();
  tap_check (nothing && counts.n_allocations == 0,
      "an expression without stages takes no memory");
  tap_check (copy != NULL, "nor does its copy");
  tap_check (tfx_expr_n_stages (nothing) == 0 &&
                 tfx_expr_find (nothing, "x") == -ENOENT &&
                 tfx_expr_equal (nothing, copy) &&
                 tfx_expr_check (nothing, NULL) == 0,
      "it has no stages");
  printed = tfx_expr_print (nothing);
  tap_check (printed && !*printed, "and no text");
  free (printed);
  tap_check (tfx_expr_build (nothing, 48000, 2, NULL, NULL, &chain, NULL) ==
                     0 &&
                 tfx_chain_n_stages (chain) == 0,
      "and makes an empty chain");
  tfx_chain_unref (&chain);

  expr = tfx_expr_parse (text, sizeof text - 1, NULL);
  tap_check (tfx_expr_adopt_ids (expr, nothing) == 0 &&
                 tfx_expr_adopt_ids (nothing, expr) == 0,
      "it adopts no ids, and gives none");
  tfx_expr_take_prepared (expr, nothing);
  tfx_expr_prepare (nothing, 48000, 2, 0, NULL);
  tfx_expr_free (&expr);
  tfx_expr_free (&copy);
  tap_check (!copy && tfx_expr_n_stages (nothing) == 0,
      "freeing one leaves the others");
  tfx_expr_free (&nothing);
  tap_check (heap_n_alive () == before, "no leak");
}

/* An application's use of two texts, one after the other; any step may fail. */
static void
use (const char *first, const char *second)
{
  TfxExpr *before = tfx_expr_parse (first, strlen (first), NULL);
  TfxExpr *now = tfx_expr_parse (second, strlen (second), NULL);
  TfxExpr *copy;
  TfxChain *chain = NULL;

  if (!before)
    before = tfx_expr_empty ();
  if (!now)
    now = tfx_expr_empty ();
  tfx_expr_prepare (before, 44100, 2, 0, NULL);
  tfx_expr_adopt_ids (now, before);
  tfx_expr_take_prepared (now, before);
  copy = tfx_expr_copy (now);
  if (copy) {
    char *printed = tfx_expr_print (copy);

    for (size_t i = 0; i < tfx_expr_n_stages (copy); i++) {
      const TfxClass *klass = tfx_expr_stage_class (copy, i);
      TfxValue value;

      tfx_expr_get (copy, i, klass->params[0].name, &value);
      tfx_expr_set (copy, i, klass->params[0].name, &value, NULL);
      tfx_expr_set_number (copy, i, klass->params[0].name, 0, 2.0, NULL);
    }
    tfx_expr_build (copy, 44100, 2, NULL, NULL, &chain, NULL);
    tfx_chain_unref (&chain);
    free (printed);
  }
  tfx_expr_free (&copy);
  tfx_expr_free (&before);
  tfx_expr_free (&now);
}

/* Random texts: one allocation fails, or all from one on. */
static void
test_random (void)
{
  TapMany many = tap_many ("random texts");
  uint64_t state = tap_random () | 1;
  unsigned n_failures = 0;

  for (unsigned round = 0; round < 100; round++) {
    char first[2000], second[2000];
    unsigned n_allocations;
    long before;

    chaingen_write (&state, 1 + round % 12, first, sizeof first);
    chaingen_write (&state, 1 + round % 12, second, sizeof second);
    if (round % 3 == 0)
      strcpy (second, first);
    before = heap_n_alive ();
    heap_watch (0);
    use (first, second);
    n_allocations = heap_unwatch ().n_allocations;
    for (unsigned fail = 1; fail <= n_allocations;
         fail += 1 + n_allocations / 100) {
      heap_watch (fail);
      use (first, second);
      heap_unwatch ();
      heap_watch_from (fail);
      use (first, second);
      heap_unwatch ();
      n_failures += 2;
    }
    tap_many_check (&many, heap_n_alive () == before,
        "%ld more than before: %s", heap_n_alive () - before, first);
  }
  tap_diag ("%u runs without memory", n_failures);
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "memory", test_all },
  { "nothing", test_nothing },
  { "random", test_random },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
