/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_memory.c: each allocation of the language fails once: an error, and
 * nothing lost.
 */
#include "heap.h"
#include "lang/expr.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "eq=ParametricEQ(1000, 2, 3) | (LoButterworth(100) + (FIR([1, 2, 3, 4, 5, "
    "6, 7, 8, 9, 10]) | Gain(2)) + Butterworth('bp', [1, 2])) | "
    "LogFilterBank(5) | DesignableFIR(1000, 31) | "
    "DesignableFIR([1, 2, 3], 31, window='parzen') | Delay(bpm=120) | Reverb()";

static TfxExpr *expr, *other;

/* Each runs once with every allocation failing in turn; true if it succeeded.
 */
static bool
try_parse (TfxExprError *error)
{
  TfxExpr *made = tfx_expr_parse (text, sizeof text - 1, error);
  bool done = made != NULL;

  tfx_expr_free (&made);
  return done;
}

static bool
try_copy (TfxExprError *error)
{
  TfxExpr *made = tfx_expr_copy (expr);
  bool done = made != NULL;

  error->code = done ? 0 : -ENOMEM;
  tfx_expr_free (&made);
  return done;
}

static bool
try_print (TfxExprError *error)
{
  char *made = tfx_expr_print (expr);
  bool done = made != NULL;

  error->code = done ? 0 : -ENOMEM;
  free (made);
  return done;
}

static bool
try_build (TfxExprError *error)
{
  TfxChain *chain = NULL;
  bool done = tfx_expr_build (expr, 48000, 2, NULL, NULL, &chain, error) == 0;

  tfx_chain_unref (&chain);
  return done;
}

/* Without memory less is kept, and what is built is the same. */
static bool
try_prepare (TfxExprError *error)
{
  TfxExpr *made = tfx_expr_copy (expr);
  size_t n_sections = 1, n_taps = 1;

  if (made) {
    tfx_expr_prepare (made, 48000, 2);
    tfx_expr_effort (made, 48000, 2, &n_sections, &n_taps);
  }
  error->code = -ENOMEM;
  tfx_expr_free (&made);
  return n_sections == 0 && n_taps == 0;
}

static bool
try_set (TfxExprError *error)
{
  double taps[] = { 1, 2, 3 };
  TfxValue value = { .type = TFX_VALUE_LIST, .list = taps, .n_list = 3 };
  TfxExpr *before = other;
  int stage = tfx_expr_find (other, "fir0");
  bool done = tfx_expr_set (other, (size_t)stage, "b", &value, error) == 0;

  return done && before == other;
}

static bool
try_adopt (TfxExprError *error)
{
  error->code = tfx_expr_adopt_ids (other, expr);
  return error->code == 0;
}

static void
check (const char *name, bool (*run) (TfxExprError *), unsigned min_allocations)
{
  TapMany many = tap_many (name);
  unsigned n = 0;
  bool done = false;

  while (!done && n++ < 10000) {
    TfxExprError error = { 0 };
    long before = heap_n_alive (), after;

    heap_watch (n);
    done = run (&error);
    heap_unwatch ();
    after = heap_n_alive ();
    if (!done)
      tap_many_check (&many, error.code == -ENOMEM, "allocation %u: code %d", n,
          error.code);
    tap_many_check (&many, run == try_set ? after <= before : after == before,
        "allocation %u: %ld more than before", n, after - before);
  }
  tap_many_check (&many, done && n > min_allocations, "%u allocations", n - 1);
  tap_many_end (&many);
}

static void
test_all (void)
{
  expr = tfx_expr_parse (text, sizeof text - 1, NULL);
  other = tfx_expr_parse ("Gain(1) | FIR([1, 2, 3]) | Gain(2)", 34, NULL);
  tap_check (expr && other, "with all memory");
  check ("parse", try_parse, 20);
  check ("copy", try_copy, 20);
  check ("print", try_print, 2);
  check ("build", try_build, 30);
  check ("prepare", try_prepare, 30);
  check ("set", try_set, 0);
  check ("adopt", try_adopt, 1);
  tfx_expr_free (&expr);
  tfx_expr_free (&other);
}

static const TapTest tests[] = { { "memory", test_all }, { NULL, NULL } };

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
