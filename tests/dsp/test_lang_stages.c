/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_stages.c: the stages of an expression: names, parameters, ids, and chains of
 * values out of range at their rate. */
#include "common.h"
#include "core/kind.h"
#include "plain.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  TfxExpr *expr =
      test_parse ("Gain(1) | gain0=Gain(2) | (eq=ParametricEQ(1, 1, 1) "
                  "+ ParametricEQ(1, 1, 1)) | Gain(3) | Notch(1, 1)");

  tap_check (tfx_expr_n_stages (expr) == 6, "six stages");
  for (size_t i = 0; i < 6; i++) {
    const char *name = tfx_expr_stage_name (expr, i);

    tap_check (strcmp (name, wanted[i]) == 0 &&
                   tfx_expr_find (expr, name) == (int)i,
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

/* Whether a value is of this type with this number (of a list the second) and word. */
static bool
is_value (const TfxExpr *expr, size_t stage, const char *param,
    TfxValueType type, double number, const char *word)
{
  TfxValue value = { 0 };

  return tfx_expr_get (expr, stage, param, &value) == 0 && value.type == type &&
         (value.n_list == 2 ? value.list[1] : value.number) == number &&
         strcmp (value.word, word) == 0;
}

/* A number, or the code of the error. */
static double
number_of (const TfxExpr *expr, size_t stage, const char *param, size_t index)
{
  double number = 0.0;
  const int code = tfx_expr_get_number (expr, stage, param, index, &number);

  return code < 0 ? code : number;
}

static void
test_get (void)
{
  TfxExpr *expr = test_parse ("Butterworth('bp', [100, 200]) | Gain(2, 'db') | "
                              "Delay(bpm=100)");
  TfxValue value;

  tap_check (is_value (expr, 0, "cutoff", TFX_VALUE_LIST, 200, ""), "a list");
  tap_check (is_value (expr, 0, "btype", TFX_VALUE_WORD, 0, "bandpass"),
      "a word, in its canonical form");
  tap_check (is_value (expr, 0, "order", TFX_VALUE_NUMBER, 4, ""), "a default");
  tap_check (is_value (expr, 1, "clamp", TFX_VALUE_BOOL, 0, ""), "a bool");
  tap_check (is_value (expr, 2, "delay_samples", TFX_VALUE_NONE, 0, ""),
      "None");
  tap_check (number_of (expr, 0, "cutoff", 1) == 200 &&
                 number_of (expr, 1, "gain", 0) == 2,
      "numbers");
  tap_check (number_of (expr, 0, "cutoff", 2) == -EINVAL &&
                 number_of (expr, 1, "gain", 1) == -EINVAL &&
                 number_of (expr, 0, "btype", 0) == -EINVAL,
      "no such numbers");
  tap_check (tfx_expr_get (expr, 0, "q", &value) == -ENOENT &&
                 tfx_expr_get (expr, 3, "gain", &value) == -EINVAL,
      "no such parameter, no such stage");
  tfx_expr_free (&expr);
}

/* clang-format off */
#define NUMBER(x) { .type = TFX_VALUE_NUMBER, .number = x }
#define WORD { .type = TFX_VALUE_WORD, .word = "sideways" }
/* clang-format on */

static void
test_set (void)
{
  static const struct
  {
    size_t stage;
    const char *param;
    TfxValue value;
    int code;
    const char *part;
  } refused[] = {
    { 0, "gain", NUMBER (121), -ERANGE,
        "gain of stage 'eq' (ParametricEQ) is 121 dB, out of range "
        "(-120 to 120 dB)" },
    { 0, "gain", NUMBER (-121), -ERANGE, "-120 to 120 dB" },
    { 0, "gain", NUMBER (NAN), -ERANGE, "not a finite number" },
    { 0, "q", NUMBER (INFINITY), -ERANGE, "finite" },
    { 0, "q", WORD, -EINVAL, "must be a number, not a string" },
    { 0, "q", { .type = TFX_VALUE_NONE }, -EINVAL, "a number, not None" },
    { 0, "frequncy", NUMBER (1), -ENOENT,
        "stage 'eq' (ParametricEQ) has no parameter 'frequncy'; did you mean "
        "'frequency'?" },
    { 1, "order", NUMBER (2.5), -EINVAL, "must be an integer" },
    { 1, "btype", WORD, -EINVAL, "unknown value 'sideways'" },
    { 7, "order", NUMBER (2), -EINVAL, "there is no stage 7" },
  };
  TfxExpr *expr = test_parse ("eq=ParametricEQ(1000, 2, 3) | "
                              "Butterworth('lp', 100) | FIR([1, 2, 3])");
  double edges[] = { 300, 400 }, upside_down[] = { 400, 300 };
  TfxValue list = { .type = TFX_VALUE_LIST, .list = edges, .n_list = 2 };
  TfxExprError error;
  TfxChain *chain = NULL;
  uint64_t id = tfx_expr_stage_id (expr, 0), id1 = tfx_expr_stage_id (expr, 1);

  tap_check (tfx_expr_set_number (expr, 0, "gain", 0, -6, &error) == 0 &&
                 tfx_expr_set_number (expr, 0, "frequency", 0, 50, &error) == 0,
      "numbers");
  tap_check (tfx_expr_stage_id (expr, 0) == id, "the same filter");
  /* A set that fails changes no value. */
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    const int code = tfx_expr_set (expr, refused[i].stage, refused[i].param,
        &refused[i].value, &error);

    tap_check (code == refused[i].code && error.line == 0 &&
                   strstr (error.message, refused[i].part) &&
                   prints (expr, "eq=ParametricEQ(50, q=2, gain=-6) | "
                                 "Butterworth('lowpass', 100) | "
                                 "FIR([1, 2, 3])"),
        "%s: %s", refused[i].param, error.message);
  }

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
  TfxExpr *expr = test_parse ("eq=ParametricEQ(1, 1, 1) | FIR([1]) | "
                              "LogFilterBank(2)");
  TfxExpr *copy = tfx_expr_copy (expr), *empty = test_parse ("");
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

/* What the rate does not allow is replaced by something that works, or refused. */
static void
test_rate (void)
{
  static const struct
  {
    const char *text;
    double rate_hz;
    int code;
    unsigned n_reports;
    const char *part; /* of the last report, or of the error */
  } cases[] = {
    { "LoButterworth(24000)", 48000, 0, 1,
        "cutoff of stage 'lobutterworth0' (LoButterworth) is 24000 Hz, out of "
        "range at 48000 Hz (0.048–23999.952); using 23999.952 Hz" },
    { "LoButterworth(23999)", 48000, 0, 0, "" },
    { "x=HiChebyshev1(1e6)", 8000, 0, 1,
        "cutoff of stage 'x' (HiChebyshev1) is "
        "1000000 Hz" },
    { "Butterworth('bp', [100, 30000])", 48000, 0, 1,
        "cutoff[1] of stage 'butterworth0' (Butterworth) is 30000 Hz" },
    { "Butterworth('bp', [50000, 90000])", 48000, 0, 2, "90000 Hz" },
    { "Elliptic('bs', [23000, 90000])", 48000, 0, 1, "90000 Hz" },
    { "LinkwitzRiley('hp', 90000)", 48000, 0, 1, "90000 Hz" },
    { "ParametricEQ(30000, 1, 6)", 44100, 0, 1, "frequency of stage" },
    { "BiquadLPF(22050, 1)", 44100, 0, 1, "22050 Hz" },
    { "HiShelving(30000, 1, 2)", 44100, 0, 1, "30000 Hz" },
    { "LogFilterBank(31)", 32000, 0, 1, "f_max of stage 'logfilterbank0'" },
    { "LogFilterBank(31, 20000, 30000)", 32000, 0, 2, "f_min of stage" },
    { "m=Multiband([100, 30000, 40000], None, LoButterworth(50000), None, "
      "None)",
        48000, 0, 3,
        "crossovers[2] of stage 'm' (Multiband) is 40000 Hz, out of range at "
        "48000 Hz" },
    { "Multiband(30000, None, None)", 48000, 0, 1, "crossovers of stage" },
    { "GraphicEQ([6, 3], 30000, 40000)", 48000, 0, 1,
        "f_min of stage 'graphiceq0' (GraphicEQ) is 30000 Hz, out of range at "
        "48000 Hz" },
    { "GraphicEQ([6, 3, 6])", 8000, 0, 0, "" },
    { "DesignableFIR(30000, 31)", 48000, 0, 1, "cutoff of stage" },
    { "DesignableFIR([1000, 30000, 40000], 31)", 48000, 0, 2, "40000 Hz" },
    { "LoButterworth(1e-9)", 384000, 0, 1, "1e-9 Hz" },
    { "Gain(1)", 0, -EINVAL, 0, "sample rate" },
    { "Gain(1)", NAN, -EINVAL, 0, "sample rate" },
    { "Gain(1)", INFINITY, -EINVAL, 0, "sample rate" },
    { "x=LoButterworth(100, fs=44100)", 48000, -EINVAL, 0,
        "fs of stage 'x' (LoButterworth) is 44100 Hz, but the sample "
        "rate of the stream is 48000 Hz" },
    { "Delay(bpm=10000, delay_time='1/999')", 8000, -EINVAL, 0,
        "less than one sample" },
    { "Delay(bpm=1, delay_time='4/1')", 48000, -E2BIG, 0, "samples in total" },
    { "Elliptic('bp', [100, 200], 64, 1, 20)", 48000, -EINVAL, 0, "order" },
    { "Loudness(-23, lookahead=30) | Loudness(-20, lookahead=30) | "
      "Loudness(-26, lookahead=30)",
        192000, -E2BIG, 0,
        "delays of the chain are 17280000 samples in total" },
    { "Normalize(1, window=60) | Normalize(1, window=60) | Normalize(1, "
      "window=60)",
        192000, -E2BIG, 0, "delays of the chain are" },
    { "(Limiter(-1, 10) | Limiter(-2, 10) | Limiter(-3, 10)) | "
      "(Limiter(-4, 10, true_peak=True) | Limiter(-5, 10) | Limiter(-6, 10)) | "
      "(Limiter(-7, 10) | Limiter(-8, 10) | Limiter(-9, 10))",
        192000, -E2BIG, 0, "delays of the chain are" },
    { "Loudness(-23)", 4000, -EINVAL, 0, "from 4001 to 1310720 Hz" },
    { "Loudness(None)", 1310730, -EINVAL, 0, "from 4001 to 1310720 Hz" },
    { "Denoise()", 3072001, -EINVAL, 0, "must be at most 3072000 Hz" },
  };
  TapMany many = tap_many ("reported and built, or refused");

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxExpr *expr = test_parse (cases[i].text);
    Reports reports = { 0 };
    TfxExprError error = { 0 };
    TfxChain *chain = NULL;
    const int code = tfx_expr_build (expr, cases[i].rate_hz, 2, take_report,
        &reports, &chain, &error);
    const char *said = code < 0 ? error.message : reports.text;

    tap_many_check (&many, code == cases[i].code && !chain == (code < 0),
        "%s: %d %s", cases[i].text, code, error.message);
    tap_many_check (&many,
        reports.n == cases[i].n_reports && reports.n_odd == 0 &&
            strstr (said, cases[i].part),
        "%s: %u reports, \"%s\"", cases[i].text, reports.n, said);
    if (chain) {
      /* Somewhere in the audible range it must do something sane. */
      const PlainResponse r = plain_response (chain, 900.0, cases[i].rate_hz);

      tap_many_check (&many, isfinite (r.h.re) && isfinite (r.h.im),
          "%s: not finite", cases[i].text);
    }
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* An order out of its range is kept; the nearest valid one is built, reported and
 * printed, so that the printed text can be read. */
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
    TfxExpr *expr = test_parse (cases[i].text), *read = NULL;
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

    /* Not prepared, and prepared. */
    for (unsigned k = 0; k < 2 && read; k++) {
      TfxChain *chain = NULL, *expected = test_build_expr (read, 1);
      Reports reports = { 0 };
      PlainResponse r, e;

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
      tfx_expr_prepare (expr, 48000, 1, 0, NULL);
    }
    free (printed);
    tfx_expr_free (&read);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* Look-ahead in frames: rounded as Python rounds, or to gain blocks. */
static void
test_latencies (void)
{
  static const struct
  {
    const char *text;
    size_t n_frames;
  } cases[] = { { "Limiter(-1, 0.00099)", 48 }, { "Limiter(-1, 0.00101)", 48 },
    { "Normalize(1, window=0.05)", 1200 }, { "Loudness(-23)", 144000 },
    { "Loudness(None)", 0 }, { "Denoise()", 1536 },
    { "Limiter(-1, 0.001, true_peak=True)", 48 },
    { "Limiter(-1, 10, true_peak=True)", 480256 },
    { "FIR([0, 0, 1, 0.5], delay='peak')", 2 }, { "FIR([1, 2], delay=5)", 1 },
    { "FIR([0, 1], delay=1) | FIR([0, 0, -1], delay=2)", 3 },
    { "FIR([0, 1], delay=1) + Gain(1)", 1 }, { "FIR([0, 1])", 0 },
    { "Multiband([50, 500], Limiter(-1, 0.001) | FIR([0, 1], delay=1), "
      "Limiter(-1, 0.0005), None)",
        49 } };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxChain *chain = test_build (cases[i].text, 2);

    tap_check (tfx_chain_latency (chain) == cases[i].n_frames, "%s: %zu frames",
        cases[i].text, tfx_chain_latency (chain));
    tfx_chain_unref (&chain);
  }
}

/* A delay that is taken out as latency is not part of the response, of two kernels that
 * are one neither. */
static void
test_latency_response (void)
{
  const TfxFilterSpec spec = { 48000, 1, TFX_SAMPLE_F64, 0 };
  TfxChain *chain =
      test_build ("FIR([0, 0, 1], delay=2) | FIR([0, 2], delay=1)", 1);
  TfxChain *joined = NULL;
  TfxFilter *filter = NULL;
  TfxComplex h;

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
}

/* The level that each class measures, and whether channels are linked. */
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
    TfxChain *chain = test_build (cases[i].text, 2);
    const TfxStage *stage = chain->stages[0];

    tap_check (stage->kind == &tfx_kind_agc &&
                   stage->u.agc.measure == cases[i].measure &&
                   stage->u.agc.is_linked == cases[i].is_linked,
        "%s", cases[i].text);
    tfx_chain_unref (&chain);
  }
}

/* The ids of an expression are those of its chain. */
static void
test_built_ids (void)
{
  TfxExpr *expr =
      test_parse ("Gain(2) | (Gain(3) + (Notch(50, 1) | FIR([1]))) | "
                  "LogFilterBank(3)");
  TfxChain *first = test_build_expr (expr, 2), *second;
  const TfxStage *sum, *bank, *bank2;
  bool same_bands = true;

  tfx_expr_set_number (expr, 4, "f_min", 0, 100, NULL);
  second = test_build_expr (expr, 2);
  tap_check (tfx_chain_n_stages (first) == 3, "three stages");
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
  /* the chains of a call, by their order */
  { "Multiband(500, Gain(1) | Notch(1, 1), Gain(2))",
      "Multiband(700, Notch(2, 1), Gain(1) | Gain(2))", { 0, 2, -1, 3 } },
  { "Multiband(500, Gain(1), None)",
      "Multiband([50, 500], None, None, Gain(1))", { 0, -1 } },
  { "Multiband(500, Gain(1), None)", "Multiband(500, Gain(1), None, order=2)",
      { -1, -1 } },
  { "m=Multiband(500, Gain(1), None, order=2) | Gain(2)",
      "Gain(3) + m=Multiband(90, None, x=FIR([1])) + Gain(4)",
      { -1, -1, -1, -1 } },
  { "m=Multiband(500, x=Gain(1) | Gain(2), None) | Gain(3)",
      "Gain(3) | m=Multiband(90, Gain(4), x=Gain(1))", { 3, 0, 2, 1 } },
  { "Gain(1) | Multiband(500, Gain(1), Multiband(50, Gain(2), None))",
      "Multiband(500, Gain(1), Multiband(60, Gain(3), None)) | Gain(1)",
      { 1, 2, 3, 4, -1 } },
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
    TfxExpr *old = test_parse (adoptions[i].old),
            *expr = test_parse (adoptions[i].text);

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
  old = test_parse (text[0]);
  expr = test_parse (text[1]);
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
