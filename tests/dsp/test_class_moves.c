/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_class_moves.c: every number of every class of the catalogue jumps without a
 * click.
 */
#include "classcalls.h"
#include "common.h"
#include "jump.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

/* ---- an impulse response without a file ----------------------------------------- */

static void
file_free (TfxFile *file)
{
  free (file);
}

static bool
file_is_same (const TfxFile *a, const TfxFile *b)
{
  return true;
}

static int
file_fit (const TfxFile *file, double rate_hz, unsigned n_channels, int channel,
    TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE])
{
  *impulse = (TfxImpulse){ test_alloc (300 * sizeof (double)), 1, 300, 0 };
  for (unsigned i = 0; i < 300; i++)
    impulse->taps[i] = 0.02 * exp (-(double)i / 80.0);
  return 0;
}

static TfxFile *
open_impulse (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  TfxFile *file = test_alloc (sizeof *file);

  *file = (TfxFile){ 1, 1, 300, 0.0, file_free, file_is_same, file_fit };
  return file;
}

/* ---- jumps ----------------------------------------------------------------------- */

static TfxExpr *
parse (const char *text)
{
  static const TfxFileReader reader = { NULL, open_impulse, NULL, NULL };
  TfxExprError error;
  TfxExpr *expr =
      tfx_expr_parse_with_files (text, strlen (text), &reader, &error);

  if (!expr)
    tap_diag ("%s: %s", text, error.message);
  return expr;
}

typedef struct Bars
{
  TapMany calm, set;
} Bars;

/* 10 dB below the sine: a softer output before and after counts as that. */
#define LEAST (0.5 * 0.316)

static TestJump
scale (TestJump j)
{
  const double part = fmin (j.loud / LEAST, 1.0);

  j.high_db += 20.0 * log10 (part);
  j.bend *= part;
  j.peak_db += 20.0 * log10 (part);
  return j;
}

/* The reference without a click: a cross-fade of 10 ms between two filters that do not
 * change.  The second one has had the sine from the start, or its onset. */
static TestJump
find_fade (const TfxExpr *before, const TfxExpr *after)
{
  const TestJump a = scale (test_jump_fade (test_build_expr (before, 1),
      test_build_expr (after, 1), 1, TEST_FADE_REST));
  const TestJump b = scale (test_jump_fade (test_build_expr (before, 1),
      test_build_expr (after, 1), 1, TEST_FADE_BEGIN));

  return (TestJump){ fmax (a.high_db, b.high_db), fmax (a.bend, b.bend),
    fmax (a.peak_db, b.peak_db), a.loud };
}

#define MOST_HIGH_DB -80.0
#define MOST_BEND 1.2
#define MOST_PEAK_DB 1.0

static void
check_jump (Bars *bars, const TfxExpr *before, const TfxExpr *after,
    const char *what)
{
  const TestJump j = scale (test_jump_between (test_build_expr (before, 1),
      test_build_expr (after, 1), 1, 480));
  TestJump bar = { MOST_HIGH_DB, MOST_BEND, MOST_PEAK_DB, 0 };

  if (j.high_db > bar.high_db || j.bend > bar.bend || j.peak_db > bar.peak_db) {
    const TestJump fade = find_fade (before, after);

    bar.high_db = fmax (bar.high_db, fade.high_db + 1.0);
    bar.bend = fmax (bar.bend, MOST_BEND * fade.bend);
    bar.peak_db = fmax (bar.peak_db, MOST_PEAK_DB + fade.peak_db);
  }
  tap_many_check (&bars->calm,
      j.high_db <= bar.high_db && j.bend <= bar.bend &&
          j.peak_db <= bar.peak_db,
      "%s: %.1f of %.1f dB above 2 kHz, a second difference of %.2f of %.2f, "
      "peak %.2f of %.2f dB",
      what, j.high_db, bar.high_db, j.bend, bar.bend, j.peak_db, bar.peak_db);
}

/* To each of its values, and back. */
static void
check_number (Bars *bars, const char *call, const TfxExpr *expr,
    const TfxParam *param, int index)
{
  const double *way = class_number_way (tfx_expr_stage_class (expr, 0), param);

  for (unsigned i = 0;
       way && i < CLASS_CALLS_VALUES && (i == 0 || way[i] != 0.0); i++) {
    TfxExpr *to = tfx_expr_copy (expr), *from = tfx_expr_copy (expr);
    TfxExprError error = { 0 };
    char what[300];

    snprintf (what, sizeof what, "%s of %s [%d] to %g", param->name, call,
        index, way[i]);
    tap_many_check (&bars->set,
        tfx_expr_set_number (to, 0, param->name, (size_t)index, way[i],
            &error) == 0,
        "%s: %s", what, error.message);
    check_jump (bars, from, to, what);
    snprintf (what, sizeof what, "%s of %s [%d] back from %g", param->name,
        call, index, way[i]);
    check_jump (bars, to, from, what);
    tfx_expr_free (&to);
    tfx_expr_free (&from);
  }
  tap_many_check (&bars->set, way != NULL, "%s of %s is not listed",
      param->name, call);
}

static void
check_call (Bars *bars, const char *call)
{
  TfxExpr *expr = parse (call);
  const TfxClass *klass = expr ? tfx_expr_stage_class (expr, 0) : NULL;

  for (unsigned i = 0; klass && i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    TfxValue value;

    if (class_number_is_fixed (param) ||
        tfx_expr_get (expr, 0, param->name, &value) < 0)
      continue;
    if (value.type == TFX_VALUE_NUMBER)
      check_number (bars, call, expr, param, 0);
    for (size_t k = 0; value.type == TFX_VALUE_LIST && k < value.n_list; k++) {
      /* Of a section, its b0. */
      if (value.n_columns == 0 || k % value.n_columns == 0)
        check_number (bars, call, expr, param, (int)k);
    }
  }
  tfx_expr_free (&expr);
}

static void
test_jumps (void)
{
  Bars bars = { tap_many ("no click, or not more than that of a cross-fade"),
    tap_many ("each number is taken") };

  for (size_t i = 0; class_calls[i]; i++)
    check_call (&bars, class_calls[i]);
  tap_many_end (&bars.calm);
  tap_many_end (&bars.set);
}

/* ---- all of them ------------------------------------------------------------------ */

/* One of the calls moves each number of each class. */
static void
test_all (void)
{
  TapMany many = tap_many ("no number is left out");

  for (size_t c = 0; c < tfx_catalogue_n_classes (); c++) {
    const TfxClass *klass = tfx_catalogue_class (c);

    for (unsigned i = 0; i < klass->n_params; i++) {
      const TfxParam *param = &klass->params[i];
      bool is_moved = false;

      if (class_number_is_fixed (param) ||
          !(param->types & (TFX_VALUE_NUMBER | TFX_VALUE_LIST)))
        continue;
      for (size_t k = 0; !is_moved && class_calls[k]; k++) {
        TfxExpr *expr = parse (class_calls[k]);
        TfxValue value = { 0 };

        if (expr && tfx_expr_stage_class (expr, 0) == klass)
          tfx_expr_get (expr, 0, param->name, &value);
        is_moved = value.type & (TFX_VALUE_NUMBER | TFX_VALUE_LIST);
        tfx_expr_free (&expr);
      }
      tap_many_check (&many, is_moved, "%s of %s", param->name, klass->name);
    }
  }
  tap_many_end (&many);
}

/* Another number of branches or bands: what is before an echo in one is new. */
static void
test_branches (void)
{
  static const char *const texts[][2] = {
    { "Multiband(300, Align(3, 'ft'), None)",
        "Multiband([300, 400], Align(3, 'ft'), None, None)" },
    { "Multiband([300, 2000], None, None, Delay(128, mix=1))",
        "Multiband([300, 900, 2000], None, None, None, Delay(128, mix=1))" },
    { "(Gain(1) + LoButterworth(300))",
        "(Gain(1) + LoButterworth(300) + Align(3, 'ft'))" },
    { "(Gain(1) + Align(3, 'ft'))",
        "(LoButterworth(300) + (Gain(0.1) | Align(3, 'ft')) + Gain(0.5))" },
    { "(Gain(1) + (Gain(0.5) | Align(3, 'ft')))",
        "(Gain(1) + Gain(1) + (Gain(0.5) | Align(3, 'ft')))" },
  };
  TapMany many = tap_many ("no click with another number of branches");

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (int k = 0; k < 2; k++) {
      TfxExpr *from = parse (texts[i][k]), *to = parse (texts[i][1 - k]);
      TestJump j;

      tfx_expr_adopt_ids (to, from);
      j = test_jump_between (test_build_expr (from, 1), test_build_expr (to, 1),
          1, 480);
      tap_many_check (&many, j.high_db < -80.0 && j.bend < 1.5,
          "%s: %.1f dB above 2 kHz, a second difference of %.2f",
          texts[i][1 - k], j.high_db, j.bend);
      tfx_expr_free (&from);
      tfx_expr_free (&to);
    }
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "branches", test_branches },
  { "jumps", test_jumps },
  { "all", test_all },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
