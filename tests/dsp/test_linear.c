/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_linear.c: LinearPhase: its magnitude between the points of its design, its latency,
 * and values of its chain that are set.  (catalogue.txt has taps.)
 */
#include "common.h"
#include "core/stage.h"
#include "plain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

static double
magnitude (const TfxChain *chain, double freq_hz, double rate_hz)
{
  const TfxComplex h = plain_response (chain, freq_hz, rate_hz).h;

  return hypot (h.re, h.im);
}

/* The largest difference of two magnitudes, in dB of the peak of the second: near 0 Hz and
 * half the rate, where corners are, over octaves, and around one frequency. */
static double
find_error_db (const TfxChain *made, const TfxChain *chain, double rate_hz,
    double around_hz)
{
  double error = 0.0, peak = 0.0;

  for (unsigned i = 0; i < 900; i++) {
    const double part = (i % 300) / 299.0;
    const double octaves = 0.5 * rate_hz * exp2 (-20.0 * part);
    const double f = i < 300   ? octaves
                     : i < 600 ? 0.5 * rate_hz - octaves
                               : around_hz * (0.9 + 0.2 * part);
    const double is = magnitude (made, f, rate_hz);
    const double should = magnitude (chain, f, rate_hz);

    error = fmax (error, fabs (is - should));
    peak = fmax (peak, should);
  }
  error = fmax (error,
      fabs (magnitude (made, 0, rate_hz) - magnitude (chain, 0, rate_hz)));
  return 20.0 * log10 (error / peak);
}

static const struct
{
  const char *chain;
  double rate_hz;
  size_t n_taps;
  double around_hz;
} followed[] = {
  { "Gain(-2)", RATE, 8191, 1000 },
  { "ParametricEQ(1000, 1, 3)", RATE, 8191, 1000 },
  { "ParametricEQ(1000, 1, 3)", 44100, 8191, 1000 },
  { "ParametricEQ(1000, 1, 3)", 96000, 16383, 1000 },
  { "ParametricEQ(1000, 1, 3)", 8000, 2047, 1000 },
  { "ParametricEQ(60, 3, 9) | LoShelving(120, 0.7, -3, 'db') | Gain(-1)", RATE,
      32767, 60 },
  { "HiButterworth(80, 2)", RATE, 8191, 80 },
  { "HiButterworth(80, 3)", RATE, 16383, 80 },
  { "HiButterworth(80, 4)", RATE, 8191, 80 },
  { "HiLinkwitzRiley(80, 2)", RATE, 8191, 80 },
  { "LoButterworth(1000, 1)", RATE, 8191, 1000 },
  { "LoElliptic(5000, stopband_attenuation=60)", RATE, 8191, 8000 },
  { "GraphicEQ([4, 2, 0, 0, 0, 0, 0, 1, 2, 2])", RATE, 16383, 31 },
  { "Multiband([200, 2000], Gain(2), HiShelving(900, 0.7, 2), Gain(0.5))", RATE,
      8191, 200 },
  { "Gain(1) + (Gain(0.5) | BiquadBPF(900, 2))", RATE, 8191, 900 },
};

static void
test_magnitude (void)
{
  TapMany magnitudes =
      tap_many ("the magnitude of the chain, to -100 dB of its peak");
  TapMany phases = tap_many ("linear phase: symmetric, with latency");
  TapMany lengths = tap_many ("the length without taps");
  double worst_db = -INFINITY;

  for (size_t i = 0; i < sizeof followed / sizeof *followed; i++) {
    char text[200];
    TfxChain *made, *chain;
    const TfxStage *stage;
    bool is_symmetric = true;
    double error_db;
    size_t n;

    snprintf (text, sizeof text, "LinearPhase(%s)", followed[i].chain);
    made = test_build_at (text, followed[i].rate_hz, 1);
    chain = test_build_at (followed[i].chain, followed[i].rate_hz, 1);
    stage = made->stages[0];
    n = stage->u.fir.n_taps;
    error_db =
        find_error_db (made, chain, followed[i].rate_hz, followed[i].around_hz);
    worst_db = fmax (worst_db, error_db);
    tap_many_check (&magnitudes, error_db <= -100.0, "%s: %.1f dB", text,
        error_db);
    for (size_t k = 0; k < n; k++)
      is_symmetric =
          is_symmetric && stage->u.fir.taps[k] == stage->u.fir.taps[n - 1 - k];
    tap_many_check (&phases,
        is_symmetric && tfx_chain_latency (made) == (n - 1) / 2,
        "%s: %zu taps, latency %zu", text, n, tfx_chain_latency (made));
    tap_many_check (&lengths, n == followed[i].n_taps, "%s: %zu taps", text, n);
    tfx_chain_unref (&made);
    tfx_chain_unref (&chain);
  }
  tap_diag ("the magnitudes differ by %.1f dB of the peak", worst_db);
  tap_many_end (&magnitudes);
  tap_many_end (&phases);
  tap_many_end (&lengths);
}

/* A corner of the magnitude needs more taps than there are: an error names how far it is
 * off, and given taps are this far off. */
static void
test_corner (void)
{
  static const char *const corners[] = { "HiButterworth(80, 1)", "Notch(50, 2)",
    "BiquadBPF(1000, 2)" };
  static const double around_hz[] = { 80, 50, 1000 };

  for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
    char text[120];
    TfxExprError error = { 0 };
    TfxChain *chain = test_build (corners[i], 1), *made = NULL;
    int code, first_db = 0, most_db = 0;
    double found_db;
    TfxExpr *expr;

    snprintf (text, sizeof text, "x=LinearPhase(%s)", corners[i]);
    expr = test_parse (text);
    code = tfx_expr_build (expr, RATE, 1, NULL, NULL, &made, &error);
    tap_check (code == -ERANGE &&
                   sscanf (error.message,
                       "stage 'x' (LinearPhase) needs taps=, because its chain "
                       "cannot be followed to -100 dB: the magnitude is true "
                       "to %d dB of its peak with taps=8191, and to %d dB with "
                       "131071, the most there are",
                       &first_db, &most_db) == 2 &&
                   most_db < first_db && most_db > -100,
        "%s: %d, %s", text, code, error.message);
    tfx_expr_free (&expr);
    snprintf (text, sizeof text, "LinearPhase(%s, taps=8191)", corners[i]);
    made = test_build (text, 1);
    found_db = find_error_db (made, chain, RATE, around_hz[i]);
    tap_check (found_db <= first_db + 0.5 && found_db > first_db - 6.0,
        "%s: %.1f dB, not %d", text, found_db, first_db);
    tfx_chain_unref (&made);
    tfx_chain_unref (&chain);
  }
}

/* A peak of 0.0001 Hz between the points of the grid. */
static void
test_narrow (void)
{
  TfxExpr *expr = test_parse ("LinearPhase(ParametricEQ(1, 10000, 12))");
  TfxExprError error = { 0 };
  TfxChain *made = NULL;
  const int code = tfx_expr_build (expr, RATE, 1, NULL, NULL, &made, &error);

  tap_check (code == -ERANGE && strstr (error.message, "to -3 dB with 131071"),
      "%d, %s", code, error.message);
  tfx_expr_free (&expr);
}

/* The taps of the only stage are those of another text. */
static bool
has_taps_of (TfxExpr *expr, const char *text)
{
  TfxChain *made = test_build_expr (expr, 2), *other = test_build (text, 2);
  const TfxStage *a = made->stages[0], *b = other->stages[0];
  const bool is_same = a->u.fir.n_taps == b->u.fir.n_taps &&
                       memcmp (a->u.fir.taps, b->u.fir.taps,
                           a->u.fir.n_taps * sizeof *a->u.fir.taps) == 0;

  tfx_chain_unref (&made);
  tfx_chain_unref (&other);
  return is_same;
}

/* Values of the chain, also of a stage deep in it, make new taps, whether the old ones
 * were prepared or not. */
static void
test_values (void)
{
  TfxExpr *expr = test_parse ("x=LinearPhase(Multiband(900, "
                              "b=ParametricEQ(500, 1, 3), None), taps=99)");
  TfxChain *chain = test_build_expr (expr, 2);
  TfxMove *move = tfx_move_new ();
  size_t n_sections, n_taps;

  tfx_move_begin (move, expr, chain);
  tfx_expr_set_number (expr, 2, "gain", 0, -3, NULL);
  tap_check (tfx_move_next (move, expr) == -ENOTSUP, "they do not move");
  tap_check (has_taps_of (expr,
                 "LinearPhase(Multiband(900, ParametricEQ(500, 1, -3), None), "
                 "taps=99)"),
      "a value that is set");
  tfx_expr_prepare (expr, RATE, 2, 0, NULL);
  tfx_expr_effort (expr, RATE, 2, 0, &n_sections, &n_taps);
  tap_check (n_taps == 0, "the taps are prepared, %zu are left", n_taps);
  tfx_expr_set_number (expr, 2, "gain", 0, 9, NULL);
  tfx_expr_effort (expr, RATE, 2, 0, &n_sections, &n_taps);
  tap_check (n_taps >= 99, "and not those of another value, %zu", n_taps);
  tap_check (has_taps_of (expr,
                 "LinearPhase(Multiband(900, ParametricEQ(500, 1, 9), None), "
                 "taps=99)"),
      "a value that is set after that");
  tfx_expr_set_number (expr, 1, "crossovers", 0, 700, NULL);
  tfx_expr_set_number (expr, 0, "taps", 0, 31, NULL);
  tap_check (has_taps_of (expr,
                 "LinearPhase(Multiband(700, ParametricEQ(500, 1, 9), None), "
                 "taps=31)"),
      "a crossover, and taps");
  tfx_move_free (&move);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
}

/* One kernel for all channels; and a frequency of the chain that is out of range is
 * reported, each time that the chain is built. */
static void
note (const TfxExprClamp *clamp, void *data)
{
  char *text = data;

  snprintf (text + strlen (text), 400 - strlen (text), "%s;", clamp->message);
}

static void
test_stream (void)
{
  TfxExpr *expr = test_parse (
      "LinearPhase(eq=HiShelving(30000, 0.7, 2) | Gain(2), taps=31)");
  char reports[3][400] = { "" };

  for (unsigned i = 0; i < 3; i++) {
    TfxChain *chain = NULL;

    if (i == 1)
      tfx_expr_prepare (expr, RATE, 3, 0, NULL);
    tap_check (tfx_expr_build (expr, RATE, 3, note, reports[i], &chain, NULL) ==
                       0 &&
                   chain->n_stages == 1 &&
                   chain->stages[0]->u.fir.n_kernels == 1,
        "one kernel");
    tfx_chain_unref (&chain);
  }
  tap_check (strstr (reports[0],
                 "cutoff of stage 'eq' (HiShelving) is 30000") &&
                 strcmp (reports[0], reports[1]) == 0 &&
                 strcmp (reports[0], reports[2]) == 0,
      "reported: %s %s", reports[0], reports[2]);
  tfx_expr_free (&expr);
}

/* Sections whose product is too large for doubles. */
static void
test_infinite (void)
{
  char text[8192] = "LinearPhase(SOS([[1e6, 0, 0, 1, 0, 0]])";
  TfxExprError error = { 0 };
  TfxChain *chain = NULL;
  TfxExpr *expr;
  int code;

  for (unsigned i = 0; i < 60; i++)
    strcat (text, " | SOS([[1e6, 0, 0, 1, 0, 0]])");
  strcat (text, ", taps=3)");
  expr = test_parse (text);
  code = tfx_expr_build (expr, RATE, 1, NULL, NULL, &chain, &error);
  tap_check (code < 0 && strstr (error.message, "is not finite"), "%s",
      error.message);
  tfx_expr_free (&expr);
}

static const TapTest tests[] = {
  { "magnitude", test_magnitude },
  { "corner", test_corner },
  { "narrow", test_narrow },
  { "values", test_values },
  { "stream", test_stream },
  { "infinite", test_infinite },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
