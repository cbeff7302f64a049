/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_channels.c: channels that are mixed, and channels with chains of their own:
 * the language, what the engine makes of it, and how it changes.
 */
#include "buffer.h"
#include "common.h"
#include "core/backend.h"
#include "plain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

static TfxExpr *
parse (const char *text, TfxExprError *error)
{
  return tfx_expr_parse (text, strlen (text), error);
}

/* ---- the language ---------------------------------------------------------------- */

static void
test_texts (void)
{
  static const char *const texts[][2] = {
    { "Mix([[0, 1], [1, 0]])", NULL },
    { "Mix(gains=((0.5,0.5),))", "Mix([[0.5, 0.5]])" },
    { "ch[0]: Gain(2); ch[1]: Gain(3)", NULL },
    { "ch [ 0:3 ] : Gain(2) | Notch(50, 10) ;",
        "ch[0, 1, 2]: Gain(2) | Notch(50, q=10)" },
    { "ch[4, 0, 5:7]: Gain(2)", "ch[0, 4, 5, 6]: Gain(2)" },
    { "Gain(1) | (ch[1]: Gain(2) + Gain(3)) | Gain(4)", NULL },
    { "ch[1]: a=Gain(2) + Gain(3); ch[0]: Gain(4)",
        "ch[1]: a=Gain(2) + Gain(3); ch[0]: Gain(4)" },
    { "ch[0, 1]: (ch[0]: Gain(2)); ch[2]: ((Gain(5)))",
        "ch[0, 1]: (ch[0]: Gain(2)); ch[2]: Gain(5)" },
    { "(ch[0]: Gain(2)) + Gain(3)", NULL },
    { "ch=Gain(2) | Gain(3)", NULL },
    { "(ch[0]: Gain(2))", "ch[0]: Gain(2)" },
    { "ch[63]: Gain(2)", NULL },
    { "ch[LFE]: Gain(2)", NULL },
    { "ch[ FR,FL ,2]:Gain(2);ch[TBR]: Gain(3)",
        "ch[2, FL, FR]: Gain(2); ch[TBR]: Gain(3)" },
    { "ch[SL, SR]: (ch[1]: Gain(2)); ch[LFE2]: Gain(5)", NULL },
  };
  TapMany many = tap_many ("texts print back");

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *wanted = texts[i][1] ? texts[i][1] : texts[i][0];
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (texts[i][0], &error);
    char *text = expr ? tfx_expr_print (expr) : NULL;
    TfxExpr *again = text ? parse (text, &error) : NULL;
    TfxExpr *copy = expr ? tfx_expr_copy (expr) : NULL;

    tap_many_check (&many,
        again && strcmp (text, wanted) == 0 && tfx_expr_equal (expr, again) &&
            tfx_expr_equal (expr, copy),
        "%s: %s %s", texts[i][0], text ? text : "", error.message);
    free (text);
    tfx_expr_free (&expr);
    tfx_expr_free (&again);
    tfx_expr_free (&copy);
  }
  tap_many_end (&many);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text, *message;
    unsigned column;
  } cases[] = {
    { "Mix([1, 0])", "a list of rows", 5 },
    { "Mix([[1, 0], [1]])", "the rows have different lengths", 14 },
    { "Mix([[]])", "the row is empty", 6 },
    { "ch[0] Gain(2)", "':' after ch", 7 },
    { "ch[x]: Gain(2)", "the number of a channel", 4 },
    { "ch[lfe]: Gain(2)", "its position, such as LFE", 4 },
    { "ch[FL:FR]: Gain(2)", "',' or ']'", 6 },
    { "ch[0:FR]: Gain(2)", "the number of a channel", 6 },
    { "ch[FL]: Gain(2); ch[LFE, FL]: Gain(3)", "channel FL already has a chain",
        26 },
    { "ch[1]: Gain(2); ch[1 FL]: Gain(3)", "channel 1 already has a chain",
        20 },
    { "ch[]: Gain(2)", "the number of a channel", 4 },
    { "ch[64]: Gain(2)", "whole number from 0 to 63", 4 },
    { "ch[1.5]: Gain(2)", "whole number", 4 },
    { "ch[3:3]: Gain(2)", "3:3 has no channels", 4 },
    { "ch[0]: Gain(2); ch[1, 0]: Gain(3)", "channel 0 already has a chain",
        23 },
    { "ch[0]: Gain(2); Gain(3)", "ch[…]: after ';'", 17 },
    { "ch[0]: ; ch[1]: Gain(2)", "a stage", 8 },
    { "Gain(1) | ch[0]: Gain(2)", "need parentheses", 11 },
    { "Gain(1); Gain(2)", "'|' (series)", 8 },
    { "(ch[0]: Gain(2)", "not closed", 1 },
    /* Wrong for any input. */
    { "ch[0:2]: Mix([[1]])", "rows of 1 number, but its input has 2 channels",
        10 },
    { "Gain(1) | (ch[0:2]: Gain(3) | m=Mix([[1, 2]]))",
        "makes 1 channel from 2, but inside ch[…]", 33 },
    { "Mix([[1, 0, 0]]) | Mix([[1, 0]])", "but its input has 1 channel", 20 },
    { "Mix([[1], [1], [1]]) | (ch[0]: Gain(1); ch[2:4]: Gain(2))",
        "ch[3] is out of range: there are 3 channels", 41 },
    { "Mix([[1], [1]]) + (Gain(2) | Mix([[1]]))",
        "this one has 1 channel, those before it 2", 20 },
  };
  TapMany many = tap_many ("each error names its column");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (cases[i].text, &error);

    tap_many_check (&many,
        !expr && strstr (error.message, cases[i].message) &&
            error.column == cases[i].column,
        "%s: %u: %s", cases[i].text, error.column, error.message);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* Errors that depend on the channels of the stream come when the chain is built. */
static void
test_counts (void)
{
  static const struct
  {
    const char *text;
    unsigned n_channels, n_out, n_most;
    const char *message; /* NULL: it is good */
  } cases[] = {
    { "Mix([[0, 1], [1, 0]])", 2, 2, 2, NULL },
    { "Mix([[0, 1], [1, 0]])", 3, 0, 0,
        "rows of 2 numbers, but its input has 3" },
    { "Mix([[1], [1]])", 1, 2, 2, NULL },
    { "Mix([[1], [1], [0]]) | Mix([[1, 1, 1]])", 1, 1, 3, NULL },
    { "Mix([[1], [1]]) | Mix([[1, 1, 1]])", 1, 0, 0,
        "its input has 2 channels" },
    { "Mix([[1], [1]]) + Gain(1)", 1, 0, 0,
        "branches of a sum have different" },
    { "Mix([[1], [1]]) + Mix([[2], [3]])", 1, 2, 2, NULL },
    { "Mix([[2]]) + Gain(1)", 1, 1, 1, NULL },
    { "ch[2]: Gain(1)", 2, 0, 0, "ch[2] is out of range: there are 2" },
    { "ch[2]: Gain(1)", 3, 3, 3, NULL },
    { "ch[0]: Mix([[1, 0], [0, 1]])", 2, 0, 0, "its input has 1 channel" },
    { "ch[0, 1]: Mix([[1, 1]])", 2, 0, 0, "as many rows" },
    { "Mix([[1, 0], [0, 1], [1, 1]]) | (ch[2]: Gain(2))", 2, 3, 3, NULL },
  };
  TapMany many = tap_many ("channels that come and go");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (cases[i].text, &error);
    TfxChain *chain = NULL;
    unsigned n_out = 0, n_most = 0;

    if (expr && tfx_expr_build (expr, RATE, cases[i].n_channels, NULL, NULL,
                    &chain, &error) == 0) {
      unsigned least;
      const unsigned n_in = tfx_expr_n_inputs (expr, &least);

      /* Any number of inputs gives any number of outputs. */
      tap_many_check (&many,
          n_in == cases[i].n_channels ||
              (n_in == 0 && strncmp (cases[i].text, "ch[2]", 5) == 0),
          "%s: %u come in", cases[i].text, n_in);
      tfx_expr_channels (expr, cases[i].n_channels, &n_out, &n_most);
    }
    tap_many_check (&many,
        cases[i].message
            ? !chain && strstr (error.message, cases[i].message)
            : chain && n_out == cases[i].n_out && n_most == cases[i].n_most,
        "%s: %u, %u, %s", cases[i].text, n_out, n_most, error.message);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* A gain of each channel, by its position. */
static void
test_positions (void)
{
  static const struct
  {
    const char *text, *positions;
    double gains[6];
    const char *message; /* NULL: it is good */
    unsigned n_more;     /* channels without positions */
  } cases[] = {
    { "ch[LFE]: Gain(2)", "FL, FR, LFE", { 1, 1, 2 }, NULL },
    { "ch[LFE]: Gain(2)", "FL, FR, FC, LFE, SL, SR", { 1, 1, 1, 2, 1, 1 },
        NULL },
    { "ch[SR, FL]: (ch[1]: Gain(3)); ch[1]: Gain(5)", "FL, FR, SL, SR",
        { 1, 5, 1, 3 }, NULL },
    { "ch[1, 3]: (ch[SR]: Gain(3); ch[0]: Gain(5))", "FL, FR, SL, SR",
        { 1, 5, 1, 3 }, NULL },
    { "Gain(2) | (ch[FC]: Gain(3)) + (ch[FR]: Gain(4))", "FL, FR, FC",
        { 4, 10, 8 }, NULL },
    { "Mix([[1, 0], [0, 1], [0, 0]]) | Mix([[1, 0, 0], [0, 1, 0]]) | "
      "(ch[FR]: Gain(2))",
        "FL, FR", { 1, 2 }, NULL },
    { "Gain(2) | (ch[LFE]: Gain(2))", "FL, FR", { 0 },
        "ch[LFE] is missing: the channels are FL, FR" },
    { "ch[FL, LFE, SL]: Gain(2)", "FL, FR", { 0 }, "ch[LFE, SL] is missing" },
    { "ch[FL, FR]: (ch[LFE]: Gain(2))", "FL, FR, LFE", { 0 },
        "ch[LFE] is missing: the channels are FL, FR" },
    { "ch[FL]: Gain(2)", "", { 0 }, "the channels have none here" },
    { "Mix([[1, 0], [0, 1], [1, 1]]) | (ch[FL]: Gain(2))", "FL, FR", { 0 },
        "the channels have none here" },
    { "ch[1]: Gain(2); ch[FR]: Gain(2)", "FL, FR", { 0 },
        "channel 1 already has a chain" },
    { "ch[0, FL]: FIR([1, 0.5])", "FL, FR", { 0 },
        "channel 0 already has a chain" },
    /* Channels behind those that have positions. */
    { "ch[LFE]: Gain(2); ch[3]: Gain(3)", "FL, FR, LFE", { 1, 1, 2, 3, 1 },
        NULL, 2 },
    { "ch[LFE]: Gain(2); ch[2]: Gain(3)", "FL, FR, LFE", { 0 },
        "channel 2 already has a chain", 1 },
    { "ch[SL]: Gain(2)", "FL, FR", { 0 }, "ch[SL] is missing", 1 },
  };
  TapMany many = tap_many ("channels by position");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (cases[i].text, &error);
    TfxChain *chain = NULL;
    const uint64_t positions = test_parse_positions (cases[i].positions);
    const unsigned n =
        (positions ? (unsigned)__builtin_popcountll (positions) : 2) +
        cases[i].n_more;
    char printed[TFX_POSITIONS_TEXT_SIZE];
    bool is_right;

    tfx_positions_print (positions, printed);
    is_right = expr && strcmp (printed, cases[i].positions) == 0 &&
               (tfx_expr_build_at (expr, RATE, n, positions, NULL, NULL, &chain,
                    &error) == 0) == !cases[i].message;
    if (is_right && cases[i].message)
      is_right = strstr (error.message, cases[i].message) != NULL;
    for (unsigned c = 0; is_right && chain && c < n; c++)
      is_right =
          tfx_chain_response_at (chain, c, 1000, RATE).re == cases[i].gains[c];
    tap_many_check (&many, is_right, "%s at %s: %s", cases[i].text, printed,
        error.message);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* The channel count of a chain for which the caller gives none. */
static void
test_find_channels (void)
{
  static const struct
  {
    const char *text;
    unsigned least, n_channels;
    const char *positions;
  } cases[] = {
    { "Gain(2)", 2, 2, "" },
    { "ch[5]: Gain(2)", 2, 6, "" },
    { "ch[FL]: Gain(2)", 1, 2, "FL, FR" },
    { "ch[LFE]: Gain(2)", 2, 3, "FL, FR, LFE" },
    { "ch[LFE]: Gain(2)", 6, 6, "FL, FR, FC, LFE, BL, BR" },
    { "ch[LFE]: (ch[0]: Gain(2)); ch[3]: Gain(3)", 2, 4, "FL, FR, FC, LFE" },
    { "(ch[SL]: Gain(2)) | Mix([[1, 1]])", 2, 2, "FL, SL" },
  };
  TapMany many = tap_many ("the least channels that a chain needs");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExpr *expr = parse (cases[i].text, NULL);
    char printed[TFX_POSITIONS_TEXT_SIZE];
    uint64_t positions;
    const unsigned n =
        tfx_expr_find_channels (expr, cases[i].least, &positions);

    tfx_positions_print (positions, printed);
    tap_many_check (&many,
        n == cases[i].n_channels && strcmp (printed, cases[i].positions) == 0,
        "%s: %u, %s", cases[i].text, n, printed);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

static void
test_ids (void)
{
  TfxExpr *old = parse ("ch[0]: Gain(2); ch[1]: Notch(50, 1) | Gain(3)", NULL);
  TfxExpr *same = parse ("ch[0]: Gain(5); ch[1]: Gain(3)", NULL);
  TfxExpr *other = parse ("ch[0, 1]: Gain(2)", NULL);

  tfx_expr_adopt_ids (same, old);
  tfx_expr_adopt_ids (other, old);
  tap_check (tfx_expr_stage_id (same, 0) == tfx_expr_stage_id (old, 0) &&
                 tfx_expr_stage_id (same, 1) == tfx_expr_stage_id (old, 2),
      "stages of the same channels stay the same");
  tap_check (tfx_expr_stage_id (other, 0) != tfx_expr_stage_id (old, 0),
      "those of other channels are others");
  tfx_expr_free (&old);
  tfx_expr_free (&same);
  tfx_expr_free (&other);
}

static void
test_set (void)
{
  TfxExpr *expr = parse ("Mix([[1, 0], [0, 1]])", NULL);
  double swap[] = { 0, 1, 1, 0 };
  TfxValue value = { .type = TFX_VALUE_LIST, .list = swap, .n_list = 4 };
  char *text;

  tap_check (tfx_expr_set (expr, 0, "gains", &value, NULL) == 0,
      "a list takes the rows that there are");
  text = tfx_expr_print (expr);
  tap_check (strcmp (text, "Mix([[0, 1], [1, 0]])") == 0, "%s", text);
  free (text);
  value.n_list = 3;
  tap_check (tfx_expr_set (expr, 0, "gains", &value, NULL) == -ERANGE,
      "unless they do not fit");
  tfx_expr_free (&expr);
}

/* ---- the engine ------------------------------------------------------------------ */

static const struct
{
  unsigned n_channels;
  const char *text;
} chains[] = {
  { 1, "ch[0]: LoButterworth(1000)" },
  { 2, "Mix([[0, 1], [1, 0]])" },
  { 2, "Mix([[0.5, 0.5], [0.5, -0.5]]) | LoButterworth(300) | "
       "Mix([[1, 1], [1, -1]])" },
  { 2, "ch[1]: HiButterworth(500, order=7)" },
  { 2, "ch[0]: LoButterworth(2000, order=3) | Gain(0.5); ch[1]: Notch(50, 2)" },
  { 3, "LoButterworth(9000) | (ch[0, 2]: HiButterworth(100) | "
       "FIR([1, 0.5, -0.25])) | Gain(0.3)" },
  { 4, "(ch[0, 1, 3]: LoChebyshev1(3000) | Gain(2)) | (ch[2]: Gain(3))" },
  { 5, "ch[1:4]: (ch[0, 2]: LoButterworth(700)) | Delay(20, mix=0.5); ch[4]: "
       "Gain(0) + LoButterworth(50)" },
  { 6, "ch[0, 1, 4, 5]: HiLinkwitzRiley(80); ch[3]: LoLinkwitzRiley(120) | "
       "Compressor(-30)" },
  { 6, "ch[0, 2, 4]: Reverb(0.3); ch[1, 5]: Delay(30, strategy='ping-pong')" },
  { 8, "ch[0, 3, 4, 7]: Compressor(-20, link=True); ch[1]: FIR([0, 0, 1])" },
  { 2, "(ch[0]: Limiter(-6, lookahead=0.001)) | Gain(2)" },
  { 4, "ch[0, 3]: (ch[1]: Limiter(-6, lookahead=0.001)); ch[1]: Gain(2)" },
  { 2, "(ch[1]: LoButterworth(500)) + HiButterworth(500)" },
  { 8, "ch[0:5]: LoButterworth(300, order=6) | Delay(9, mix=1); "
       "ch[5:8]: HiButterworth(200, order=6)" },
  { 8, "ch[0:4]: LoButterworth(300, order=6) | Delay(9, mix=1); "
       "ch[4:8]: HiButterworth(200, order=6) | Delay(7, mix=1)" },
  { 3, "ch[0]: ParametricEQ(900, q=1, gain=0); ch[1]: Delay(7) | Gain(2)" },
  { 4, "ch[0]: HiButterworth(80, order=5) | Delay(40, mix=1); "
       "ch[1]: HiButterworth(90, order=6) | Limiter(-6, lookahead=0.001); "
       "ch[3]: LoButterworth(120, order=6) | FIR([0, 1]); "
       "ch[2]: ParametricEQ(500, q=2, gain=6) | ParametricEQ(5000, q=2, "
       "gain=3)" },
};

#define N_FRAMES 3000

/* Runs noise through the engine, in blocks of any length, in place or not; the largest
 * difference from plain_run(), as a part of its largest value. */
static double
compare (TfxChain *chain, unsigned n_channels, TfxSample type, bool is_planar,
    const char *kernel)
{
  const TestLayout layout =
      is_planar ? TEST_LAYOUT_PLANAR : TEST_LAYOUT_INTERLEAVED;
  const size_t n = n_channels * (size_t)N_FRAMES;
  const TfxFilterSpec spec = { RATE, n_channels, type, 0 };
  double *x = test_alloc_f64 (n), *plain = test_alloc_f64 (n);
  double worst = 0, most = 1e-9;
  TestBuffer source = test_buffer_new (layout, type, n_channels, N_FRAMES, 0);
  TestBuffer to = test_buffer_new (layout, type, n_channels, N_FRAMES, 0);
  TestFilter *row =
      test_filter_for (chain, &spec, tfx_cpu_backend_for (kernel));
  int code = row ? 0 : -EINVAL;

  for (size_t i = 0; i < n; i++) {
    plain[i] = (float)tap_random_uniform (-1, 1);
    x[i % N_FRAMES * n_channels + i / N_FRAMES] = plain[i];
  }
  test_buffer_set (&source, x);
  test_buffer_set (&to, x);
  for (size_t i = 0, k; code == 0 && i < N_FRAMES; i += k) {
    TfxBlock in, out;

    k = 1 + tap_random_below (1700);
    k = k < N_FRAMES - i ? k : N_FRAMES - i;
    in = test_block_part (tap_random_below (2) ? &to.block : &source.block, i,
        k);
    out = test_block_part (&to.block, i, k);
    code = test_filter_run (row, &in, &out);
  }
  plain_run (chain, plain, n_channels, N_FRAMES);
  test_buffer_get (&to, x);
  for (size_t i = 0; i < n; i++) {
    const double want = plain[i % n_channels * N_FRAMES + i / n_channels];

    most = fmax (most, fabs (want));
    worst = test_worse (worst, fabs (x[i] - want));
  }
  test_filter_free (&row);
  test_buffer_clear (&source);
  test_buffer_clear (&to);
  free (x);
  free (plain);
  return code == 0 ? worst / most : INFINITY;
}

static void
test_engine (void)
{
  TapMany many = tap_many ("each channel has its own chain");

  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
    TfxChain *chain = test_build (chains[i].text, chains[i].n_channels);

    for (size_t k = 0; tfx_cpu_kernel (k); k++) {
      for (int form = 0; form < 4; form++) {
        const TfxSample type = form & 1 ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32;
        /* (Dynamics have logarithms of that precision.) */
        const double bound = type == TFX_SAMPLE_F64 ? 1e-8 : 1e-5;
        const double found = compare (chain, chains[i].n_channels, type,
            form & 2, tfx_cpu_kernel (k));

        tap_many_check (&many, found < bound, "%s (%s, %d): %g", chains[i].text,
            tfx_cpu_kernel (k), form, found);
      }
    }
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

#define N_IMPULSE 32768

/* How far the magnitude of a response is from 0 dB, at most. */
static double
find_ripple (const double *x)
{
  double worst = 0.0;

  for (double f = 20.0; f < 20000.0; f *= 1.1) {
    double re = 0.0, im = 0.0;

    for (size_t i = 0; i < N_IMPULSE; i++) {
      const double angle = 2.0 * M_PI * fmod (f * (double)i, RATE) / RATE;

      re += x[i] * cos (angle);
      im += x[i] * sin (angle);
    }
    worst = fmax (worst, fabs (10.0 * log10 (re * re + im * im)));
  }
  return worst;
}

static void
test_crossover (void)
{
  TfxChain *chain =
      test_build ("Mix([[1], [1], [1]]) | (ch[0]: LoLinkwitzRiley(300) | "
                  "AllPass(3000, "
                  "q=0.7071067811865476); ch[1]: HiLinkwitzRiley(300) | "
                  "LoLinkwitzRiley(3000); ch[2]: HiLinkwitzRiley(300) | "
                  "HiLinkwitzRiley(3000))",
          1);
  TestFilter *row = test_filter_start_chain (chain, 3, NULL);
  double *x = calloc (N_IMPULSE, 3 * sizeof *x), ripple;

  x[0] = 1.0;
  tap_check (row && test_filter_f64 (row, x, 3, N_IMPULSE) == 0, "it runs");
  for (size_t i = 0; i < N_IMPULSE; i++)
    x[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];
  ripple = find_ripple (x);
  tap_check (ripple < 0.01, "the bands add up to what came in: %g dB", ripple);
  test_filter_free (&row);
  free (x);
}

/* ---- changes ---------------------------------------------------------------------- */

/* A sine through a chain that becomes another one after 10000 frames (takes both): the
 * largest second difference, relative to the larger one before and after. */
static double
find_bend (TfxChain *before, TfxChain *after, unsigned n_channels)
{
  TestFilter *row = test_filter_start_chain (before, n_channels, NULL);
  double *x = test_alloc_f64 (20000 * n_channels), steady = 0, moving = 0;

  for (size_t i = 0; i < 20000 * n_channels; i++)
    x[i] = sin (2.0 * M_PI * 300.0 / RATE * (double)(i / n_channels));
  if (test_filter_pieces (row, x, n_channels, 20000, 0, 10000, after) != 0)
    moving = INFINITY;
  for (size_t i = 4000 * n_channels; i < 19999 * n_channels; i++) {
    const double d = fabs (x[i + n_channels] - 2.0 * x[i] + x[i - n_channels]);

    if (i >= 9998 * n_channels && i < 12000 * n_channels)
      moving = fmax (moving, d);
    else
      steady = fmax (steady, d);
  }
  test_filter_free (&row);
  free (x);
  return moving / steady;
}

static void
test_changes (void)
{
  static const struct
  {
    unsigned n_channels;
    const char *before, *after;
  } cases[] = {
    { 2, "m=Mix([[1, 0], [0, 1]])", "m=Mix([[0, 1], [1, 0]])" },
    { 2, "m=Mix([[1, 0], [0, 1]])", "m=Mix([[0.2, -1], [0.7, 0]])" },
    { 2, "", "m=Mix([[0.2, -1], [0.7, 0]])" },
    { 2, "ch[0]: a=Gain(1)", "ch[0]: a=Gain(0.2)" },
    { 2, "ch[0]: a=LoButterworth(500)", "ch[1]: a=LoButterworth(500)" },
    { 3, "ch[0, 1]: a=LoButterworth(500)", "ch[0, 2]: a=LoButterworth(900)" },
    { 2, "ch[1]: a=LoButterworth(500, 2)",
        "ch[1]: a=LoButterworth(500, 5) | Gain(0.5)" },
    { 2, "ch[0]: Gain(1); ch[1]: a=Compressor(-20)",
        "ch[0]: Gain(1); ch[1]: a=Compressor(-40)" },
    { 3, "LoButterworth(500)", "ch[0, 1, 2]: LoButterworth(500)" },
  };
  TapMany many = tap_many ("no click");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExpr *old = parse (cases[i].before, NULL);
    TfxExpr *expr = parse (cases[i].after, NULL);
    double bend;

    tfx_expr_adopt_ids (expr, old);
    bend = find_bend (test_build_expr (old, cases[i].n_channels),
        test_build_expr (expr, cases[i].n_channels), cases[i].n_channels);
    tap_many_check (&many, bend < 1.5, "%s to %s: %g times", cases[i].before,
        cases[i].after, bend);
    tfx_expr_free (&old);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

static bool
runs_any_unit (const TfxStage *stage)
{
  return true;
}

/* Before the first frame, with another structure: a longer echo. */
static void
test_branch_at_rest (void)
{
  TfxExpr *expr = test_parse ("ch[1]: a=Delay(5, mix=0.5)");
  const TfxTap tap = { .delay = 7, .gain = 2.0 };
  TestFilter *row =
      test_filter_start_chain (test_build_expr (expr, 3), 3, NULL);
  double x[96], y[96];

  tap_check (test_filter_set_stage (row,
                 tfx_stage_new_delay (tfx_expr_stage_id (expr, 0), 1.0, &tap,
                     1)) == 0,
      "a longer echo is set before the first frame");
  test_noise_f64 (x, 96);
  memcpy (y, x, sizeof y);
  test_filter_f64 (row, y, 3, 32);
  for (size_t i = 95; i >= 21; i--)
    x[i] += i % 3 == 1 ? 2.0 * x[i - 21] : 0.0;
  tap_check (test_difference (y, x, 96) < 1e-12, "for its channel alone");
  test_filter_free (&row);
  tfx_expr_free (&expr);
}

/* A stage of a branch has the channels of the branch also where it is set alone, and
 * after a change of the sample type. */
static void
test_branch_settings (void)
{
  TfxExpr *expr = test_parse ("ch[1]: a=Delay(5, mix=0.5) | b=Mix([[2]])");
  const uint64_t id = tfx_expr_stage_id (expr, 1);
  const double two = 3.0;
  TfxBackend device = *tfx_cpu_backend ();
  TestFilter *row =
      test_filter_start_chain (test_build_expr (expr, 3), 3, NULL);
  double x[96];

  device.uses_units = false;
  device.can_run = runs_any_unit;
  test_noise_f64 (x, 96);
  tap_check (test_filter_f64 (row, x, 3, 32) == 0, "it runs");
  tap_check (tfx_filter_runs_on (row->filter, tfx_cpu_backend ()) &&
                 tfx_filter_runs_on (row->filter, &device),
      "also on a device that runs its stages");
  tap_check (test_filter_set_stage (row, tfx_stage_new_mix (id, 1, &two)) == 0,
      "a mix of one channel fits");
  tap_check (test_filter_queue_stage (row, 128,
                 tfx_stage_new_mix (id, 1, &two)) == 0,
      "also as an automation event");
  tap_check (test_filter_set_format (row, TFX_SAMPLE_F32, 64) == 0,
      "another sample type");
  tap_check (test_filter_f64 (row, x, 3, 32) == 0, "and it still runs");
  test_filter_free (&row);
  tfx_expr_free (&expr);
}

static const TapTest tests[] = { { "texts", test_texts },
  { "errors", test_errors }, { "counts", test_counts },
  { "positions", test_positions }, { "find-channels", test_find_channels },
  { "ids", test_ids }, { "set", test_set }, { "engine", test_engine },
  { "crossover", test_crossover }, { "changes", test_changes },
  { "branch-settings", test_branch_settings },
  { "branch-at-rest", test_branch_at_rest }, { NULL, NULL } };

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
