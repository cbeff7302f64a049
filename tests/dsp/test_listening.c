/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_listening.c: what changes the stereo image: Width, Crossfeed.
 */
#include "common.h"
#include "jump.h"
#include "plain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FRAMES 4000

/* ---- channels ---------------------------------------------------------------------- */

/* For one and two channels, also as a part of more. */
static void
test_stereo (void)
{
  static const struct
  {
    const char *text;
    unsigned n_channels;
    uint64_t positions;
    const char *error; /* or NULL */
  } cases[] = {
    { "Width(2)", 1, 0, NULL },
    { "Width(2)", 2, 0, NULL },
    { "Crossfeed()", 1, 0, NULL },
    { "Crossfeed()", 6, 0x3f, "is for stereo, but its input has 6 channels" },
    { "Crossfeed() | Mix([[1, 0], [0, 1], [0.5, 0.5]])", 2, 0, NULL },
    { "Width(2)", 3, 0, "is for stereo, but its input has 3 channels" },
    { "Gain(2) | w=Width(2)", 6, 0x3f,
        "ch[FL, FR]: Width(1.5) is for two of them" },
    { "ch[FL, FR]: Width(2)", 6, 0x3f, NULL },
    { "ch[1, 2]: Width(2); ch[0]: Width(0.5)", 3, 0, NULL },
    { "Width(2) | Mix([[1, 0], [0, 1], [0.5, 0.5]])", 2, 0, NULL },
  };
  TapMany many = tap_many ("channels of stereo classes");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExpr *expr = test_parse (cases[i].text);
    TfxExprError error = { 0 };
    TfxChain *chain = NULL;
    const int code = tfx_expr_build_at (expr, 48000.0, cases[i].n_channels,
        cases[i].positions, NULL, NULL, &chain, &error);

    tap_many_check (&many,
        cases[i].error
            ? code == -EINVAL && strstr (error.message, cases[i].error)
            : code == 0,
        "%s of %u channels: %d, %s", cases[i].text, cases[i].n_channels, code,
        error.message);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* ---- Width ------------------------------------------------------------------------- */

/* Middle and side of what comes out: the side is `amount` times as large. */
static void
test_width (void)
{
  TapMany many = tap_many ("the side is multiplied, the middle is not");
  static const double amounts[] = { 0.0, 0.5, 1.0, 3.25 };
  double *in = test_alloc_f64 (2 * N_FRAMES);

  test_noise_f64 (in, 2 * N_FRAMES);
  for (unsigned k = 0; k < 4; k++) {
    char text[40];
    double *out = test_copy_f64 (in, 2 * N_FRAMES), error = 0.0;
    TestFilter *filter;

    snprintf (text, sizeof text, "Width(%g)", amounts[k]);
    filter = test_filter_start_chain (test_build (text, 2), 2, NULL);
    test_filter_pieces (filter, out, 2, N_FRAMES, 300, 0, NULL);
    for (size_t i = 0; i < 2 * N_FRAMES; i += 2) {
      error = fmax (error, fabs (out[i] + out[i + 1] - in[i] - in[i + 1]));
      error = fmax (error,
          fabs (out[i] - out[i + 1] - amounts[k] * (in[i] - in[i + 1])));
    }
    tap_many_check (&many, error < 1e-14, "%s: %g", text, error);
    test_filter_free (&filter);
    free (out);
  }
  tap_many_end (&many);
  free (in);
}

/* A curve of the amount: the frame before each point has the value of the point.  The
 * jump of a set value is a ramp. */
static void
test_ramps (void)
{
  TfxExpr *expr = test_parse ("w=Width(1)");
  TfxMove *move = tfx_move_new ();
  TfxChain *chain = test_build ("w=Width(1)", 2);
  TestFilter *filter;
  double x[2 * 3 * TFX_GRID_FRAMES], amount[3] = { 1.0, 0.25, 2.0 };
  bool is_queued = true, is_reached = true;
  TestJump jump;

  tfx_chain_unref (&chain);
  tfx_expr_build (expr, 48000.0, 2, NULL, NULL, &chain, NULL);
  tfx_move_begin (move, expr, chain);
  tfx_move_follow (move, true);
  filter = test_filter_start_chain (chain, 2, NULL);
  for (size_t i = 0; i < 2 * 3 * TFX_GRID_FRAMES; i++)
    x[i] = i % 2 ? -1.0 : 1.0; /* side alone */
  for (unsigned k = 1; k < 3; k++) {
    TfxStage *stage = NULL;

    is_queued =
        is_queued &&
        tfx_expr_set_number (expr, 0, "amount", 0, amount[k], NULL) == 0 &&
        tfx_move_next (move, expr) == 0 &&
        tfx_move_design (move, 48000.0, 2, NULL, NULL, &stage, NULL) == 0 &&
        test_filter_queue_stage (filter, k * TFX_GRID_FRAMES,
            tfx_stage_ref (stage)) == 0;
  }
  test_filter_f64 (filter, x, 2, 3 * TFX_GRID_FRAMES);
  for (unsigned k = 1; k < 3; k++) {
    const double *frame = x + 2 * (k * TFX_GRID_FRAMES - 1);

    is_reached = is_reached && fabs (frame[0] - amount[k]) < 1e-12 &&
                 fabs (frame[1] + amount[k]) < 1e-12;
  }
  tap_check (is_queued && is_reached, "a curve of the width");
  test_filter_free (&filter);
  tfx_move_free (&move);
  tfx_expr_free (&expr);

  /* The same sine in both channels becomes the side. */
  jump =
      test_jump_between (test_build ("Mix([[1, 0], [0, -1]]) | w=Width(0.25)",
                             2),
          test_build ("Mix([[1, 0], [0, -1]]) | w=Width(4)", 2), 2, 480);
  tap_check (jump.high_db < -80.0 && jump.bend <= 1.5 && jump.loud > 1.9,
      "a width that jumps makes no click: %.1f dB, %.2f, to %.2f", jump.high_db,
      jump.bend, jump.loud);
}

/* ---- Crossfeed --------------------------------------------------------------------- */

/* At 0 Hz the own channel is `level` above the other one, and both add up to 1. */
static void
test_crossfeed (void)
{
  TapMany many = tap_many ("the level between the channels at 0 Hz");
  static const double levels[] = { 1.0, 4.5, 9.5, 15.0 };

  for (unsigned k = 0; k < 4; k++) {
    double x[2 * N_FRAMES];
    const double *last = x + 2 * N_FRAMES - 2;
    char text[40];
    TestFilter *filter;

    for (size_t i = 0; i < 2 * N_FRAMES; i++)
      x[i] = i % 2 == 0;
    snprintf (text, sizeof text, "Crossfeed(700, %g)", levels[k]);
    filter = test_filter_start_chain (test_build (text, 2), 2, NULL);
    test_filter_f64 (filter, x, 2, N_FRAMES);
    tap_many_check (&many,
        fabs (20.0 * log10 (last[0] / last[1]) - levels[k]) < 1e-9 &&
            fabs (last[0] + last[1] - 1.0) < 1e-12,
        "%s: %g and %g", text, last[0], last[1]);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* Values change between blocks of any length. */
static void
test_changes (void)
{
  static const char *const texts[][2] = {
    { "x=Width(0.5)", "x=Width(3)" },
    { "x=Crossfeed(700, 4.5)", "x=Crossfeed(1500, 9.5)" },
    { "x=Crossfeed(700, 4.5)", "x=Crossfeed(700, 4.5) | Width(2)" },
  };
  TapMany many = tap_many ("any split gives the same bits");
  TapMany clicks = tap_many ("changes make no click");
  double *x = test_alloc_f64 (2 * N_FRAMES);

  test_noise_f64 (x, 2 * N_FRAMES);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    TfxChain *first = test_build (texts[i][0], 2);
    TfxChain *next = test_build (texts[i][1], 2);
    const TestJump jump = test_jump_between (test_build (texts[i][0], 2),
        test_build (texts[i][1], 2), 2, 480);

    test_check_splits (&many, texts[i][1], first, next, N_FRAMES / 2, x,
        N_FRAMES, 2, NULL);
    tap_many_check (&clicks, jump.high_db < -80.0 && jump.bend <= 1.5,
        "%s: %.1f dB, %.2f", texts[i][1], jump.high_db, jump.bend);
    tfx_chain_unref (&first);
    tfx_chain_unref (&next);
  }
  free (x);
  tap_many_end (&many);
  tap_many_end (&clicks);
}

static const TapTest tests[] = {
  { "stereo", test_stereo },
  { "width", test_width },
  { "ramps", test_ramps },
  { "crossfeed", test_crossfeed },
  { "changes", test_changes },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
