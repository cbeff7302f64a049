/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_stages.c: the stages of an expression: names, parameters, ids, and
 * what is built of values that the rate does not allow.
 */
#include "lang/expr.h"
#include "plain.h"
#include "core/kind.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxExpr *
parse (const char *text)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);

  if (!expr) {
    printf ("Bail out! %s\n", error.message);
    exit (1);
  }
  return expr;
}

static bool
prints (const TfxExpr *expr, const char *wanted)
{
  char *text = tfx_expr_print (expr);
  bool same = text && strcmp (text, wanted) == 0;

  if (!same)
    tap_diag ("%s, not %s", text, wanted);
  free (text);
  return same;
}

/* ---- names -------------------------------------------------------------------- */

static void
test_names (void)
{
  static const char *const wanted[] = { "gain1", "gain0", "eq", "parametriceq0",
    "gain2", "notch0" };
  TfxExpr *expr = parse ("Gain(1) | gain0=Gain(2) | (eq=ParametricEQ(1, 1, 1) "
                         "+ ParametricEQ(1, 1, 1)) | Gain(3) | Notch(1, 1)");

  tap_check (tfx_expr_n_stages (expr) == 6, "six stages");
  for (size_t i = 0; i < 6; i++) {
    const char *name = tfx_expr_stage_name (expr, i);

    tap_check (strcmp (name, wanted[i]) == 0 &&
                   tfx_expr_find (expr, name) == (int)i &&
                   tfx_expr_stage_is_named (expr, i) == (i == 1 || i == 2),
        "stage %zu is %s", i, name);
  }
  tap_check (tfx_expr_find (expr, "gain7") == -ENOENT &&
                 !tfx_expr_stage_name (expr, 6) &&
                 !tfx_expr_stage_class (expr, 6) &&
                 tfx_expr_stage_id (expr, 6) == 0,
      "there are no others");
  tap_check (tfx_expr_stage_class (expr, 2) ==
                 tfx_catalogue_find ("ParametricEQ"),
      "classes");
  tfx_expr_free (&expr);
  tap_check (!expr, "free clears the pointer");
  tfx_expr_free (&expr);
}

/* ---- parameters ------------------------------------------------------------------ */

static void
test_get (void)
{
  TfxExpr *expr = parse ("Butterworth('bp', [100, 200]) | Gain(2, 'db') | "
                         "Delay(bpm=100)");
  TfxValue value;
  double x = 0;

  tap_check (tfx_expr_get (expr, 0, "cutoff", &value) == 0 &&
                 value.type == TFX_VALUE_LIST && value.n_list == 2 &&
                 value.list[1] == 200,
      "a list");
  tap_check (tfx_expr_get (expr, 0, "btype", &value) == 0 &&
                 value.type == TFX_VALUE_WORD &&
                 strcmp (value.word, "bandpass") == 0,
      "a word, in its canonical form");
  tap_check (tfx_expr_get (expr, 0, "order", &value) == 0 &&
                 value.type == TFX_VALUE_NUMBER && value.number == 4,
      "a default");
  tap_check (tfx_expr_get (expr, 1, "clamp", &value) == 0 &&
                 value.type == TFX_VALUE_BOOL && value.number == 0,
      "a bool");
  tap_check (tfx_expr_get (expr, 2, "delay_samples", &value) == 0 &&
                 value.type == TFX_VALUE_NONE,
      "None");
  tap_check (tfx_expr_get_number (expr, 0, "cutoff", 1, &x) == 0 && x == 200 &&
                 tfx_expr_get_number (expr, 1, "gain", 0, &x) == 0 && x == 2,
      "numbers");
  tap_check (tfx_expr_get_number (expr, 0, "cutoff", 2, &x) == -EINVAL &&
                 tfx_expr_get_number (expr, 1, "gain", 1, &x) == -EINVAL &&
                 tfx_expr_get_number (expr, 0, "btype", 0, &x) == -EINVAL,
      "no such numbers");
  tap_check (tfx_expr_get (expr, 0, "q", &value) == -ENOENT &&
                 tfx_expr_get (expr, 3, "gain", &value) == -EINVAL,
      "no such parameter, no such stage");
  tfx_expr_free (&expr);
}

/* A set that fails: its code, a part of the message, and nothing changed. */
static void
check_refused (TfxExpr *expr, size_t stage, const char *param, TfxValue value,
    int code, const char *part)
{
  char *before = tfx_expr_print (expr), *after;
  TfxExprError error = { 0 };
  int found = tfx_expr_set (expr, stage, param, &value, &error);

  after = tfx_expr_print (expr);
  tap_check (found == code && strstr (error.message, part) && error.line == 0 &&
                 strcmp (before, after) == 0,
      "%s: %s", param, error.message);
  free (before);
  free (after);
}

static TfxValue
number (double x)
{
  return (TfxValue){ .type = TFX_VALUE_NUMBER, .number = x };
}

static void
test_set (void)
{
  TfxExpr *expr = parse ("eq=ParametricEQ(1000, 2, 3) | "
                         "Butterworth('lp', 100) | FIR([1, 2, 3])");
  double edges[] = { 300, 400 }, upside_down[] = { 400, 300 };
  TfxValue list = { .type = TFX_VALUE_LIST, .list = edges, .n_list = 2 };
  TfxValue word = { .type = TFX_VALUE_WORD, .word = "sideways" };
  TfxValue none = { .type = TFX_VALUE_NONE };
  TfxExprError error;
  TfxChain *chain = NULL;
  uint64_t id = tfx_expr_stage_id (expr, 0), id1 = tfx_expr_stage_id (expr, 1);

  tap_check (tfx_expr_set_number (expr, 0, "gain", 0, -6, &error) == 0 &&
                 tfx_expr_set_number (expr, 0, "frequency", 0, 50, &error) == 0,
      "numbers");
  tap_check (tfx_expr_stage_id (expr, 0) == id, "the same filter");
  check_refused (expr, 0, "gain", number (121), -ERANGE,
      "gain of stage 'eq' (ParametricEQ) is 121 dB, out of range "
      "(-120 to 120 dB)");
  check_refused (expr, 0, "gain", number (-121), -ERANGE, "-120 to 120 dB");
  check_refused (expr, 0, "gain", number (NAN), -ERANGE, "not a finite number");
  check_refused (expr, 0, "q", number (INFINITY), -ERANGE, "finite");
  check_refused (expr, 0, "q", word, -EINVAL, "must be a number, not a string");
  check_refused (expr, 0, "q", none, -EINVAL, "must be a number, not None");
  check_refused (expr, 0, "frequncy", number (1), -ENOENT,
      "stage 'eq' (ParametricEQ) has no parameter 'frequncy'; did you mean "
      "'frequency'?");
  check_refused (expr, 1, "order", number (2.5), -EINVAL, "must be an integer");
  check_refused (expr, 1, "btype", word, -EINVAL, "unknown value 'sideways'");
  check_refused (expr, 7, "order", number (2), -EINVAL, "there is no stage 7");

  /* From a low-pass to a band-pass, one parameter after the other. */
  tap_check (tfx_expr_set_word (expr, 1, "btype", "bp", &error) == 0 &&
                 tfx_expr_build (expr, 48000, 1, NULL, NULL, &chain, &error) ==
                     -EINVAL &&
                 strstr (error.message,
                     "'butterworth0' (Butterworth) must be a "
                     "list of two frequencies"),
      "half way it cannot be built: %s", error.message);
  tap_check (tfx_expr_stage_id (expr, 1) != id1, "another filter, another id");
  id1 = tfx_expr_stage_id (expr, 1);
  tap_check (tfx_expr_set (expr, 1, "cutoff", &list, &error) == 0 &&
                 tfx_expr_build (expr, 48000, 1, NULL, NULL, &chain, &error) ==
                     0,
      "then it can");
  tap_check (tfx_expr_stage_id (expr, 1) == id1,
      "frequencies keep the filter what it is");
  tfx_chain_unref (&chain);
  edges[0] = 1;
  tap_check (tfx_expr_set_number (expr, 1, "cutoff", 0, 350, &error) == 0 &&
                 tfx_expr_set_number (expr, 2, "b", 2, 7, &error) == 0 &&
                 prints (expr, "eq=ParametricEQ(50, q=2, gain=-6) | "
                               "Butterworth('bandpass', [350, 400]) | "
                               "FIR([1, 2, 7])"),
      "elements of a list; the caller's list was copied");
  tap_check (tfx_expr_set_number (expr, 1, "cutoff", 1, -2, &error) ==
                     -ERANGE &&
                 tfx_expr_set_number (expr, 1, "cutoff", 2, 5, &error) ==
                     -EINVAL &&
                 tfx_expr_set_number (expr, 0, "gain", 1, 5, &error) ==
                     -EINVAL &&
                 prints (expr, "eq=ParametricEQ(50, q=2, gain=-6) | "
                               "Butterworth('bandpass', [350, 400]) | "
                               "FIR([1, 2, 7])"),
      "a bad element changes nothing");
  list.list = upside_down;
  tap_check (tfx_expr_set (expr, 1, "cutoff", &list, &error) == 0 &&
                 tfx_expr_check (expr, &error) == -ERANGE,
      "a band upside down: %s", error.message);
  tfx_expr_free (&expr);
}

static void
test_copy (void)
{
  TfxExpr *expr = parse ("eq=ParametricEQ(1, 1, 1) | FIR([1]) | "
                         "LogFilterBank(2)");
  TfxExpr *copy = tfx_expr_copy (expr), *empty = parse ("");
  TfxExpr *copied_empty = tfx_expr_copy (empty);

  tap_check (tfx_expr_equal (expr, copy) &&
                 tfx_expr_stage_id (expr, 0) == tfx_expr_stage_id (copy, 0) &&
                 tfx_expr_stage_id (expr, 2) == tfx_expr_stage_id (copy, 2),
      "a copy is the same filters");
  tfx_expr_set_number (copy, 1, "b", 0, 2, NULL);
  tap_check (!tfx_expr_equal (expr, copy), "and has its own values");
  tap_check (copied_empty && tfx_expr_equal (empty, copied_empty) &&
                 tfx_expr_n_stages (empty) == 0 && prints (empty, ""),
      "an empty one");
  tfx_expr_free (&expr);
  tfx_expr_free (&copy);
  tfx_expr_free (&empty);
  tfx_expr_free (&copied_empty);
}

/* ---- building ------------------------------------------------------------------- */

typedef struct Reports
{
  unsigned n, n_odd; /* of the latter the numbers make no sense */
  char text[512];
} Reports;

static void
take_report (const TfxExprClamp *clamped, void *data)
{
  Reports *reports = data;

  reports->n++;
  snprintf (reports->text, sizeof reports->text, "%s", clamped->message);
  if (clamped->asked == clamped->used ||
      !(clamped->lowest <= clamped->used &&
          clamped->used <= clamped->highest) ||
      (clamped->lowest <= clamped->asked &&
          clamped->asked <= clamped->highest) ||
      strstr (clamped->message, clamped->stage) == NULL ||
      strstr (clamped->message, clamped->param) == NULL)
    reports->n_odd++;
}

/* What the rate does not allow is replaced by something that works. */
static void
test_rate (void)
{
  static const struct
  {
    const char *text;
    double rate_hz;
    unsigned n_reports;
    const char *part;
  } cases[] = {
    { "LoButterworth(24000)", 48000, 1,
        "cutoff of stage 'lobutterworth0' (LoButterworth) is 24000 Hz, out of "
        "range at 48000 Hz (0.048–23999.952); using 23999.952 Hz" },
    { "LoButterworth(23999)", 48000, 0, "" },
    { "x=HiChebyshev1(1e6)", 8000, 1,
        "cutoff of stage 'x' (HiChebyshev1) is "
        "1000000 Hz" },
    { "Butterworth('bp', [100, 30000])", 48000, 1,
        "cutoff[1] of stage 'butterworth0' (Butterworth) is 30000 Hz" },
    { "Butterworth('bp', [50000, 90000])", 48000, 2, "90000 Hz" },
    { "Elliptic('bs', [23000, 90000])", 48000, 1, "90000 Hz" },
    { "LinkwitzRiley('hp', 90000)", 48000, 1, "90000 Hz" },
    { "ParametricEQ(30000, 1, 6)", 44100, 1, "frequency of stage" },
    { "BiquadLPF(22050, 1)", 44100, 1, "22050 Hz" },
    { "HiShelving(30000, 1, 2)", 44100, 1, "30000 Hz" },
    { "LogFilterBank(31)", 32000, 1, "f_max of stage 'logfilterbank0'" },
    { "LogFilterBank(31, 20000, 30000)", 32000, 2, "f_min of stage" },
    { "GraphicEQ([6, 3], 30000, 40000)", 48000, 1,
        "f_min of stage 'graphiceq0' (GraphicEQ) is 30000 Hz, out of range at "
        "48000 Hz" },
    { "GraphicEQ([6, 3, 6])", 8000, 0, "" },
    { "DesignableFIR(30000, 31)", 48000, 1, "cutoff of stage" },
    { "DesignableFIR([1000, 30000, 40000], 31)", 48000, 2, "40000 Hz" },
    { "LoButterworth(1e-9)", 384000, 1, "1e-9 Hz" },
  };
  TapMany many = tap_many ("reported and built");

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxExpr *expr = parse (cases[i].text);
    Reports reports = { 0 };
    TfxExprError error = { 0 };
    TfxChain *chain = NULL;
    int code = tfx_expr_build (expr, cases[i].rate_hz, 1, take_report, &reports,
        &chain, &error);

    tap_many_check (&many, code == 0 && chain, "%s: %d %s", cases[i].text, code,
        error.message);
    tap_many_check (&many,
        reports.n == cases[i].n_reports && reports.n_odd == 0 &&
            strstr (reports.text, cases[i].part),
        "%s: %u reports, the last \"%s\"", cases[i].text, reports.n,
        reports.text);
    if (chain) {
      /* Somewhere in the audible range it must do something sane. */
      PlainResponse r = plain_response (chain, 900.0, cases[i].rate_hz);
      tap_many_check (&many, isfinite (r.h.re) && isfinite (r.h.im),
          "%s: not finite", cases[i].text);
    }
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* An order out of its range is kept as it was set; the nearest one that works
 * is built, reported, and printed, so that what is printed can be read. */
static void
test_order (void)
{
  static const struct
  {
    const char *text, *printed;
    int asked, used;
    const char *part;
  } cases[] = {
    { "x=LoButterworth(900)", "x=LoButterworth(900, order=64)", 70, 64,
        "order of stage 'x' (LoButterworth) is 70, but must be from 1 to 64; "
        "using 64" },
    { "x=LoButterworth(900)", "x=LoButterworth(900, order=64)", 389, 64,
        "389" },
    { "x=LoButterworth(900)", "x=LoButterworth(900, order=64)", 64, 64, "" },
    { "x=HiButterworth(900, order=6, order_scale='db')",
        "x=HiButterworth(900, order=6, order_scale='db')", 5, 6,
        "from 6 to 389, as order_scale is 'db'" },
    { "x=HiButterworth(900, order=6, order_scale='db')",
        "x=HiButterworth(900, order=389, order_scale='db')", 389, 389, "" },
    { "x=Butterworth('bp', [800, 900])",
        "x=Butterworth('bandpass', [800, 900], order=64)", 65, 64, "is 65" },
    { "x=LoLinkwitzRiley(900)", "x=LoLinkwitzRiley(900)", 5, 4,
        "must be even, from 2 to 128; using 4" },
    { "x=LoLinkwitzRiley(900)", "x=LoLinkwitzRiley(900, order=128)", 300, 128,
        "even" },
    { "x=LoLinkwitzRiley(900, order=12, order_scale='db')",
        "x=LoLinkwitzRiley(900, order=17, order_scale='db')", 20, 17,
        "must give an even order" },
    { "x=LoLinkwitzRiley(900, order=12, order_scale='db')",
        "x=LoLinkwitzRiley(900, order=24, order_scale='db')", 21, 24,
        "using 24" },
    { "x=LoLinkwitzRiley(900, order=12, order_scale='db')",
        "x=LoLinkwitzRiley(900, order=773, order_scale='db')", 778, 773,
        "from 12 to 773" },
  };
  TapMany many = tap_many ("nearest order");

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxExpr *expr = parse (cases[i].text), *read = NULL;
    char *printed;
    double order = 0;
    int code = tfx_expr_set_number (expr, 0, "order", 0, cases[i].asked, NULL);

    tap_many_check (&many,
        code == 0 && tfx_expr_check (expr, NULL) == 0 &&
            tfx_expr_get_number (expr, 0, "order", 0, &order) == 0 &&
            order == cases[i].asked,
        "%s: order is %g", cases[i].text, order);
    printed = tfx_expr_print (expr);
    tap_many_check (&many, strcmp (printed, cases[i].printed) == 0, "%s",
        printed);
    read = tfx_expr_parse (printed, strlen (printed), NULL);
    tap_many_check (&many, read != NULL, "%s cannot be read", printed);

    /* As it is, and designed before. */
    for (unsigned k = 0; k < 2 && read; k++) {
      TfxChain *chain = NULL, *expected = NULL;
      Reports reports = { 0 };
      PlainResponse r, e;

      tfx_expr_build (read, 48000, 1, NULL, NULL, &expected, NULL);
      code =
          tfx_expr_build (expr, 48000, 1, take_report, &reports, &chain, NULL);
      tap_many_check (&many,
          code == 0 && reports.n == (cases[i].asked != cases[i].used) &&
              strstr (reports.text, cases[i].part),
          "%s: %d, %u reports, \"%s\"", printed, code, reports.n, reports.text);
      if (code == 0) {
        r = plain_response (chain, 900.0, 48000);
        e = plain_response (expected, 900.0, 48000);
        tap_many_check (&many, r.h.re == e.h.re && r.h.im == e.h.im,
            "%s: not as if read", printed);
      }
      tfx_chain_unref (&chain);
      tfx_chain_unref (&expected);
      tfx_expr_prepare (expr, 48000, 1, NULL);
    }
    free (printed);
    tfx_expr_free (&read);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

static void
test_not_built (void)
{
  static const struct
  {
    const char *text;
    double rate_hz;
    int code;
    const char *part;
  } cases[] = {
    { "Gain(1)", 0, -EINVAL, "sample rate" },
    { "Gain(1)", NAN, -EINVAL, "sample rate" },
    { "Gain(1)", INFINITY, -EINVAL, "sample rate" },
    { "x=LoButterworth(100, fs=44100)", 48000, -EINVAL,
        "fs of stage 'x' (LoButterworth) is 44100 Hz, but the sample "
        "rate of the stream is 48000 Hz" },
    { "Delay(bpm=10000, delay_time='1/999')", 8000, -EINVAL,
        "less than one sample" },
    { "Delay(bpm=1, delay_time='4/1')", 48000, -E2BIG, "samples in total" },
    { "Elliptic('bp', [100, 200], 64, 1, 20)", 48000, -EINVAL, "order" },
    { "Loudness(-23, lookahead=30) | Loudness(-20, lookahead=30) | "
      "Loudness(-26, lookahead=30)",
        192000, -E2BIG, "delays of the chain are 17280000 samples in total" },
    { "Normalize(1, window=60) | Normalize(1, window=60) | Normalize(1, "
      "window=60)",
        192000, -E2BIG, "delays of the chain are" },
    { "(Limiter(-1, 10) | Limiter(-2, 10) | Limiter(-3, 10)) | "
      "(Limiter(-4, 10, true_peak=True) | Limiter(-5, 10) | Limiter(-6, 10)) | "
      "(Limiter(-7, 10) | Limiter(-8, 10) | Limiter(-9, 10))",
        192000, -E2BIG, "delays of the chain are" },
    { "Loudness(-23)", 4000, -EINVAL, "from 4001 to 1310720 Hz" },
    { "Loudness(None)", 1310730, -EINVAL, "from 4001 to 1310720 Hz" },
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxExpr *expr = parse (cases[i].text);
    TfxExprError error = { 0 };
    TfxChain *chain = NULL;
    int code =
        tfx_expr_build (expr, cases[i].rate_hz, 2, NULL, NULL, &chain, &error);

    tap_check (code == cases[i].code && !chain &&
                   strstr (error.message, cases[i].part),
        "%s: %s", cases[i].text, error.message);
    tfx_expr_free (&expr);
  }
}

/* What looks ahead, to the frame: rounded as Python rounds, or to cells. */
static void
test_latencies (void)
{
  static const struct
  {
    const char *text;
    size_t n_frames;
  } cases[] = { { "Limiter(-1, 0.00099)", 48 }, { "Limiter(-1, 0.00101)", 48 },
    { "Normalize(1, window=0.05)", 1200 }, { "Loudness(-23)", 144000 },
    { "Loudness(None)", 0 }, { "Limiter(-1, 0.001, true_peak=True)", 48 },
    { "Limiter(-1, 10, true_peak=True)", 480256 },
    { "FIR([0, 0, 1, 0.5], delay='peak')", 2 }, { "FIR([1, 2], delay=5)", 1 },
    { "FIR([0, 1], delay=1) | FIR([0, 0, -1], delay=2)", 3 },
    { "FIR([0, 1], delay=1) + Gain(1)", 1 }, { "FIR([0, 1])", 0 } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxExpr *expr = parse (cases[i].text);
    TfxChain *chain = NULL;

    tfx_expr_build (expr, 48000, 2, NULL, NULL, &chain, NULL);
    tap_check (chain && tfx_chain_latency (chain) == cases[i].n_frames,
        "%s: %zu frames", cases[i].text, chain ? tfx_chain_latency (chain) : 0);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
}

/* A delay that is taken out as latency is not part of the response, of two kernels that
 * are one neither. */
static void
test_latency_response (void)
{
  TfxExpr *expr = parse ("FIR([0, 0, 1], delay=2) | FIR([0, 2], delay=1)");
  const TfxFilterSpec spec = { 48000, 1, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = NULL, *joined = NULL;
  TfxFilter *filter = NULL;
  TfxComplex h;

  tfx_expr_build (expr, 48000, 1, NULL, NULL, &chain, NULL);
  if (tfx_filter_new (chain, &spec, &filter) == 0)
    tfx_filter_get_chain (filter, &joined);
  tap_check (joined && tfx_chain_n_stages (joined) == 1 &&
                 tfx_chain_latency (joined) == 3,
      "two kernels are one, as late as both");
  if (joined) {
    h = tfx_chain_response_at (joined, 0, 5000.0, 48000.0);
    tap_check (fabs (h.re - 2.0) < 1e-9 && fabs (h.im) < 1e-9, "%g + %g j",
        h.re, h.im);
    tfx_chain_unref (&joined);
  }
  tfx_filter_unref (&filter);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
}

/* Whose level it is, and of what. */
static void
test_agcs (void)
{
  static const struct
  {
    const char *text;
    TfxAgcMeasure measure;
    bool is_linked;
  } cases[] = { { "Limiter(-1, true_peak=True)", TFX_AGC_TRUE_PEAK, false },
    { "Limiter(-1, true_peak=True, link=True)", TFX_AGC_TRUE_PEAK, true },
    { "Normalize(1)", TFX_AGC_PEAK, true },
    { "Normalize(1, 'rms')", TFX_AGC_RMS, true },
    { "Normalize(1, 'per-channel')", TFX_AGC_PEAK, false },
    { "Loudness(-23)", TFX_AGC_LOUDNESS, true } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxExpr *expr = parse (cases[i].text);
    const TfxAgc *l = NULL;
    TfxChain *chain = NULL;

    tfx_expr_build (expr, 48000, 2, NULL, NULL, &chain, NULL);
    if (chain && chain->stages[0]->kind == &tfx_kind_agc)
      l = &chain->stages[0]->u.agc;
    tap_check (l && l->measure == cases[i].measure &&
                   l->is_linked == cases[i].is_linked,
        "%s", cases[i].text);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
}

/* The ids of an expression are those of its chain. */
static void
test_built_ids (void)
{
  TfxExpr *expr = parse ("Gain(2) | (Gain(3) + (Notch(50, 1) | FIR([1]))) | "
                         "LogFilterBank(3)");
  TfxChain *first = NULL, *second = NULL;
  const TfxStage *sum, *bank, *bank2;
  bool same_bands = true;

  tfx_expr_build (expr, 48000, 2, NULL, NULL, &first, NULL);
  tfx_expr_set_number (expr, 4, "f_min", 0, 100, NULL);
  tfx_expr_build (expr, 48000, 2, NULL, NULL, &second, NULL);
  tap_check (first && second && tfx_chain_n_stages (first) == 3,
      "three stages");
  sum = first->stages[1];
  tap_check (sum->kind == &tfx_kind_sum && sum->u.sum.n == 2 &&
                 tfx_chain_n_stages (sum->u.sum.branches[1]) == 2,
      "a sum of two branches");
  tap_check (first->stages[0]->id == tfx_expr_stage_id (expr, 0) &&
                 sum->u.sum.branches[0]->stages[0]->id ==
                     tfx_expr_stage_id (expr, 1) &&
                 sum->u.sum.branches[1]->stages[1]->id ==
                     tfx_expr_stage_id (expr, 3) &&
                 sum->id != 0 && sum->id == second->stages[1]->id,
      "each with its id");
  bank = first->stages[2];
  bank2 = second->stages[2];
  for (size_t i = 0; i < 3; i++)
    same_bands = same_bands && bank->u.sum.branches[i]->stages[0]->id ==
                                   bank2->u.sum.branches[i]->stages[0]->id;
  tap_check (same_bands && bank->u.sum.n == 3 && bank->id == bank2->id,
      "the bands of a bank keep theirs");
  tfx_chain_unref (&first);
  tfx_chain_unref (&second);
  tfx_expr_free (&expr);
}

/* ---- adopting ids ------------------------------------------------------------------ */

/* For each stage of `text` the stage of `old` that it is: -1 for none. */
static const struct
{
  const char *old, *text;
  int wanted[8];
} adoptions[] = {
  { "Gain(1) | Notch(50, 1)", "Gain(2) | Notch(60, 2)", { 0, 1 } },
  /* put in and taken out */
  { "Gain(1) | Notch(50, 1)", "FIR([1]) | Gain(1) | Notch(50, 1)",
      { -1, 0, 1 } },
  { "Gain(1) | FIR([1]) | Notch(50, 1)", "Gain(1) | Notch(50, 1)", { 0, 2 } },
  { "Gain(1) | Gain(2) | Gain(3)", "Gain(1) | Gain(3)", { 0, 2 } },
  { "Notch(1, 1) | Notch(2, 1)", "Notch(1, 1) | Gain(1) | Notch(2, 1)",
      { 0, -1, 1 } },
  { "Gain(1) | Notch(1, 1) | FIR([1]) | Gain(2)",
      "Notch(1, 1) | FIR([1]) | Gain(2)", { 1, 2, 3 } },
  { "Gain(1) | Gain(2) | Gain(3) | Gain(4)", "Gain(9) | Gain(3)", { 0, 2 } },
  { "Gain(1) | Gain(2)", "Gain(7) | Gain(1)", { 0, 1 } },
  /* names */
  { "a=Notch(1, 1) | b=Notch(2, 1)", "b=Notch(2, 1) | a=Notch(1, 1)",
      { 1, 0 } },
  { "a=Notch(1, 1) | b=Notch(2, 1)", "b=Notch(2, 1)", { 1 } },
  { "a=Notch(1, 1)", "b=Notch(1, 1)", { -1 } },
  { "a=Notch(1, 1)", "a=Gain(1)", { -1 } },
  { "a=Notch(1, 1)", "Notch(1, 1)", { 0 } },
  { "Notch(1, 1)", "a=Notch(1, 1)", { 0 } },
  { "a=Notch(1, 1) | Notch(2, 1)", "Notch(2, 1) | a=Notch(1, 1)", { 1, 0 } },
  { "Gain(1) | a=Notch(1, 1) | Gain(2)", "Gain(4) | a=Notch(2, 1)", { 0, 1 } },
  { "Gain(1) | a=Notch(1, 1) | Gain(2)", "a=Notch(2, 1) | Gain(4)", { 1, 2 } },
  { "a=Gain(1) | b=Notch(1, 1)", "Gain(1) + (a=Gain(2) | b=Notch(2, 1))",
      { -1, 0, 1 } },
  /* another filter of the same class */
  { "LoButterworth(100)", "LoButterworth(200)", { 0 } },
  { "LoButterworth(100)", "LoButterworth(100, 6)", { -1 } },
  { "a=LoButterworth(100)", "a=LoButterworth(100, 6)", { -1 } },
  { "Butterworth('lp', 100)", "Butterworth('hp', 100)", { -1 } },
  { "LoButterworth(100)", "HiButterworth(100)", { -1 } },
  { "DesignableFIR(100, 31)", "DesignableFIR(100, 51)", { 0 } },
  { "LogFilterBank(3)", "LogFilterBank(3, 50)", { 0 } },
  { "LogFilterBank(3)", "LogFilterBank(4)", { -1 } },
  /* branches */
  { "Gain(1) + Notch(1, 1)", "Gain(2) + Notch(2, 1)", { 0, 1 } },
  { "Gain(1) + Notch(1, 1)", "Gain(1) + FIR([1]) + Notch(1, 1)", { 0, -1, 1 } },
  { "Gain(1) + Notch(1, 1)", "(FIR([1]) | Gain(1)) + Notch(1, 1)",
      { -1, 0, 1 } },
  { "(FIR([1]) | Gain(1)) + Notch(1, 1)", "Gain(1) + Notch(1, 1)", { 1, 2 } },
  { "(Gain(1) | FIR([1])) + (Notch(1, 1) | Gain(2))", "(Notch(1, 1) | Gain(2))",
      { -1, -1 } },
  { "(Gain(1) | FIR([1])) + (Notch(1, 1) | FIR([2])) + Gain(3)",
      "(Notch(1, 1) | FIR([2])) + Gain(3)", { 2, 3, 4 } },
  /* a sum is the one whose stages stayed */
  { "(Gain(1) + Notch(1, 1)) | (Notch(2, 1) + FIR([1]))",
      "Notch(3, 1) + FIR([2])", { 2, 3 } },
  { "Gain(1) | ((Gain(2) | Notch(1, 1)) + FIR([1])) | (Notch(2, 1) + Gain(3))",
      "Gain(4) | (Notch(3, 1) + Gain(5))", { 0, 4, 5 } },
  /* the chain of a channel, in any order */
  { "ch[0]: Notch(1, 1); ch[1]: Notch(2, 1)",
      "ch[1]: Notch(2, 1); ch[0]: Notch(1, 1)", { 1, 0 } },
  { "Gain(1) | (ch[0]: Gain(2); ch[1, 2]: Notch(2, 1) | Gain(3))",
      "Gain(1) | (ch[1, 2]: Gain(4); ch[0]: FIR([1]) | Gain(5))",
      { 0, 3, -1, 1 } },
  { "ch[0]: Gain(1)", "ch[1]: Gain(1)", { -1 } },
  { "ch[0]: Gain(1)", "ch[0]: Notch(1, 1)", { -1 } },
  { "", "Gain(1)", { -1 } },
  { "Gain(1)", "", { 0 } },
};

static void
test_adopt (void)
{
  TapMany many = tap_many ("stages that stayed keep their ids");

  for (size_t i = 0; i < sizeof adoptions / sizeof adoptions[0]; i++) {
    TfxExpr *old = parse (adoptions[i].old), *expr = parse (adoptions[i].text);

    tap_many_check (&many, tfx_expr_adopt_ids (expr, old) == 0, "%s",
        adoptions[i].text);
    for (size_t k = 0; k < tfx_expr_n_stages (expr); k++) {
      int found = -1;

      for (size_t j = 0; j < tfx_expr_n_stages (old); j++) {
        if (tfx_expr_stage_id (old, j) == tfx_expr_stage_id (expr, k))
          found = (int)j;
      }
      tap_many_check (&many, found == adoptions[i].wanted[k],
          "%s to %s: stage %zu is %d, not %d", adoptions[i].old,
          adoptions[i].text, k, found, adoptions[i].wanted[k]);
    }
    tfx_expr_free (&old);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* The largest expressions that there are, with nothing in common at the ends,
 * in a time that nobody waits for. */
static void
test_adopt_large (void)
{
  enum
  {
    N = 1000
  };
  static char text[2][N * 40];
  TfxExpr *old, *expr;
  unsigned n_kept = 0;

  for (unsigned k = 0; k < 2; k++) {
    size_t n = (size_t)sprintf (text[k], k ? "FIR([1])" : "Reverb()");

    for (unsigned i = 0; i < N; i++)
      n += (size_t)sprintf (text[k] + n, " | %s",
          (i / 3 + i * k) % 2 ? "Gain(1)" : "Notch(1, 1)");
    sprintf (text[k] + n, k ? " | FIR([1])" : " | Reverb()");
  }
  old = parse (text[0]);
  expr = parse (text[1]);
  tfx_expr_adopt_ids (expr, old);
  for (size_t i = 0; i < tfx_expr_n_stages (expr); i++) {
    for (size_t k = 0; k < tfx_expr_n_stages (old); k++)
      n_kept += tfx_expr_stage_id (expr, i) == tfx_expr_stage_id (old, k);
  }
  tap_check (n_kept > N / 2 && n_kept <= N, "%u of %u kept", n_kept, N);
  tfx_expr_free (&old);
  tfx_expr_free (&expr);
}

static const TapTest tests[] = {
  { "names", test_names },
  { "get", test_get },
  { "set", test_set },
  { "copy", test_copy },
  { "rate", test_rate },
  { "order", test_order },
  { "not-built", test_not_built },
  { "latencies", test_latencies },
  { "latency-response", test_latency_response },
  { "agcs", test_agcs },
  { "built-ids", test_built_ids },
  { "adopt", test_adopt },
  { "adopt-large", test_adopt_large },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
