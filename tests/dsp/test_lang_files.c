/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang_files.c: files in a chain: their names in the text, what is read, and
 * the stages that they become.
 */
#include "common.h"
#include "heap.h"
#include "lang/expr.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

/* ---- a reader without files --------------------------------------------------------- */

/* Two channels: tap k of channel c is (c + 1) scale / (k + 1). */
#define N_TAPS 5u

typedef struct File
{
  TfxFile file;
  double scale;
} File;

static int n_files;          /* that are there */
static char last_name[9000]; /* that was asked for */
static double scale = 1.0;   /* of the next file */

static double
tap_of (unsigned channel, size_t k)
{
  return (channel + 1) / (double)(k + 1);
}

static void
file_free (TfxFile *file)
{
  n_files--;
  free (file);
}

static bool
file_is_same (const TfxFile *a, const TfxFile *b)
{
  return ((const File *)a)->scale == ((const File *)b)->scale;
}

static int
file_fit (const TfxFile *file, double rate_hz, unsigned n_channels, int channel,
    TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE])
{
  const unsigned n = channel < 0 ? 2 : 1;

  if (n > 1 && n_channels != n) {
    snprintf (why, TFX_FILE_WHY_SIZE, "%u and %u channels", n, n_channels);
    return -EINVAL;
  }
  *impulse =
      (TfxImpulse){ malloc (n * N_TAPS * sizeof (double)), n, N_TAPS, 1 };
  if (!impulse->taps) {
    snprintf (why, TFX_FILE_WHY_SIZE, "memory is short");
    return -ENOMEM;
  }
  for (unsigned c = 0; c < n; c++) {
    for (size_t k = 0; k < N_TAPS; k++)
      impulse->taps[c * N_TAPS + k] =
          ((const File *)file)->scale * tap_of (c + (channel > 0), k);
  }
  return 0;
}

static TfxFile *
open_impulse (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  File *file = strcmp (name, "none") == 0 ? NULL : malloc (sizeof *file);

  snprintf (last_name, sizeof last_name, "%s", name);
  if (!file) {
    snprintf (why, TFX_FILE_WHY_SIZE, "there is no such file");
    return NULL;
  }
  *file =
      (File){ { 1, 2, N_TAPS, 0.0, file_free, file_is_same, file_fit }, scale };
  n_files++;
  return &file->file;
}

static char *
read_settings (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  const char *chain = strcmp (name, "bad") == 0
                          ? "Notch(50, 1) | Notch(0, 1)"
                          : "Notch(50, 1) | ParametricEQ(100, 2, -3)";
  char *text = strcmp (name, "none") == 0 ? NULL : malloc (strlen (chain) + 1);

  snprintf (why, TFX_FILE_WHY_SIZE, "there is no such file");
  return text ? strcpy (text, chain) : NULL;
}

/* The name is the text. */
static char *
read_text (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  snprintf (why, TFX_FILE_WHY_SIZE, "there is no such file");
  return strcmp (name, "none") == 0 ? NULL : strdup (name);
}

static const TfxFileReader reader = { NULL, open_impulse, read_settings,
  read_text };

static TfxExpr *
parse (const char *text, TfxExprError *error)
{
  return tfx_expr_parse_with_files (text, strlen (text), &reader, error);
}

/* ---- the text ----------------------------------------------------------------------- */

static bool
is_printed (const TfxExpr *expr, const char *text)
{
  char *printed = expr ? tfx_expr_print (expr) : NULL;
  const bool is_same = printed && strcmp (printed, text) == 0;

  if (printed && !is_same)
    tap_diag ("%s", printed);
  free (printed);
  return is_same;
}

/* The reader gets a name of any length and any letters unchanged, and the canonical
 * text reads back. */
static void
test_names (void)
{
  static const char *const texts[][3] = {
    { "FIR('a.wav')", "a.wav", NULL },
    { "FIR(b=\"a b/it's.wav\")", "a b/it's.wav", "FIR('a b/it\\'s.wav')" },
    { "FIR((\"C:\\\\x\\ty\\x07\"))", "C:\\x\ty\x07",
        "FIR('C:\\\\x\\ty\\x07')" },
    { "Convolve('\xc3\xa9\xff \"q\"', 0.5)", "\xc3\xa9\xff \"q\"",
        "Convolve('\xc3\xa9\\xff \"q\"', mix=0.5)" },
    { "r=Convolve(location='a', channel=1, conv_mode='fft')", "a",
        "r=Convolve('a', conv_mode='fft', channel=1)" },
  };
  TapMany many = tap_many ("names");
  char text[8200] = "FIR('";

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *canonical = texts[i][2] ? texts[i][2] : texts[i][0];
    TfxExpr *expr = parse (texts[i][0], NULL);
    const bool is_asked = strcmp (last_name, texts[i][1]) == 0;
    TfxExpr *again = parse (canonical, NULL);

    tap_many_check (&many, is_asked && is_printed (expr, canonical), "%s",
        texts[i][0]);
    tap_many_check (&many, again && expr && tfx_expr_equal (again, expr),
        "%s: read back", canonical);
    tfx_expr_free (&expr);
    tfx_expr_free (&again);
  }
  memset (text + 5, 'x', 8000);
  strcpy (text + 8005, "')");
  {
    TfxExpr *expr = parse (text, NULL);

    tap_many_check (&many,
        strlen (last_name) == 8000 && is_printed (expr, text), "a long one");
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
  tap_check (n_files == 0, "all files are let go of (%d)", n_files);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text;
    unsigned column;
    const char *message;
  } cases[] = {
    { "Gain(2) | FIR('none')", 15, "b of FIR: there is no such file" },
    { "Convolve(location='none')", 19,
        "location of Convolve: there is no such" },
    { "FIR('')", 5, "b of FIR: the name of the file is empty" },
    { "FIR(2)", 5, "a list of numbers or the name of a file, not a number" },
    { "FIR(room)", 5, "the name of a file must be in quotes: 'room'" },
    { "Convolve([1])", 10, "the name of a file, not a list of numbers" },
    { "FIR('a', channel=2)", 1, "channel of FIR is 2, but 'a' has 2 channels" },
    { "FIR('a', channel=-1)", 18, "channel of FIR is -1, out of range" },
    { "FIR([1], channel=0)", 1, "the taps are numbers" },
    { "ch[0]: Gain(2); ch[1:4]: Gain(3) | Convolve('a')", 36,
        "stage 'convolve0' (Convolve): 'a' has 2 channels, but the input has "
        "3; "
        "channel=0 uses its first channel for all" },
    { "ch[0]: f=FIR('a')", 10, "'a' has 2 channels, but the input has 1" },
    { "Convolve('a', mix=2)", 19, "mix of Convolve is 2, out of range" },
    { "Gain('123456789 123456789 123456789 123456789 123456789 123456789 "
      "1234')",
        6, "the string is longer than 63 bytes" },
    { "FilterSettings('none')", 16, "FilterSettings: there is no such file" },
    { "Gain(2) | FilterSettings('bad')", 26,
        "FilterSettings: cutoff of Notch" },
    { "x=FilterSettings('a')", 1, "it cannot have a name" },
    { "FilterSettings()", 16,
        "the name of a file in quotes, such as 'rew.txt'" },
    { "FilterSettings('a', 1)", 19, "expected ')'" },
    { "FilterSettings", 15, "expected '('" },
  };
  TapMany many = tap_many ("errors have their place");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (cases[i].text, &error);

    tap_many_check (&many,
        !expr && error.column == cases[i].column &&
            strstr (error.message, cases[i].message),
        "%s: column %u: %s", cases[i].text, error.column, error.message);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
  tap_check (n_files == 0, "all files are let go of (%d)", n_files);
}

static void
test_settings (void)
{
  TfxExpr *expr = parse ("Gain(2) | FilterSettings('a') | "
                         "(FilterSettings(location=\"b\") + Gain(3))",
      NULL);

  tap_check (is_printed (expr,
                 "Gain(2) | Notch(50, q=1) | ParametricEQ(100, q=2, gain=-3) | "
                 "((Notch(50, q=1) | ParametricEQ(100, q=2, gain=-3)) + "
                 "Gain(3))"),
      "filter settings are stages of their own");
  tap_check (expr && tfx_expr_find (expr, "parametriceq1") >= 0, "with names");
  tfx_expr_free (&expr);
}

/* ---- the stages --------------------------------------------------------------------- */

#define N_FRAMES 16u

/* What each channel k of the output has to begin with, from frame `at` on. */
static void
test_stages (void)
{
  static const struct
  {
    const char *text;
    unsigned n_channels;
    double factor[3]; /* of each channel: on 1 / (k + 1) */
    double direct;    /* and on frame 1, where the file's time 0 is */
  } cases[] = {
    { "FIR('a')", 2, { 1, 2 }, 0 },
    { "FIR('a', channel=0)", 3, { 1, 1, 1 }, 0 },
    { "FIR('a', conv_mode='fft', channel=1)", 2, { 2, 2 }, 0 },
    { "Convolve('a', 0.25)", 2, { 0.25, 0.5 }, 0.75 },
    { "Convolve('a', 0, channel=1)", 1, { 0 }, 1 },
    { "FIR('a') + FIR('a', channel=0)", 2, { 2, 3 }, 0 },
    /* Its taps are of minimum phase. */
    { "FIR('a', phase='minimum')", 2, { 1, 2 }, 0 },
    { "ch[2, 0]: FIR('a') | Gain(2)", 3, { 2, 0, 4 }, 0 },
    { "Mix([[0.5, 0.5, 0], [0.5, 0, 0.5]]) | FIR('a') | Mix([[1, 0], [0, 1], "
      "[0, 0]])",
        3, { 1, 2, 0 }, 0 },
  };
  TapMany many = tap_many ("what comes out is what is in the file");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const unsigned n = cases[i].n_channels;
    const TfxFilterSpec spec = { RATE, n, TFX_SAMPLE_F64, 0 };
    double out[3 * N_FRAMES] = { 1.0, n > 1, n > 2 }, worst = 0.0;
    TfxExpr *expr = parse (cases[i].text, NULL);
    TfxChain *chain = test_build_expr (expr, n);
    TestFilter *row = test_filter_for (chain, &spec, tfx_cpu_backend ());
    const bool is_done = row && test_filter_f64 (row, out, n, N_FRAMES) == 0;

    test_filter_free (&row);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
    for (unsigned c = 0; c < n; c++) {
      for (size_t k = 0; k < N_FRAMES; k++) {
        double y = k < N_TAPS ? cases[i].factor[c] / (double)(k + 1) : 0.0;

        if (k == 1)
          y += cases[i].direct;
        /* (The channel without a chain.) */
        if (cases[i].text[0] == 'c' && c == 1)
          y = k == 0 ? 1.0 : 0.0;
        worst = fmax (worst, fabs (out[k * n + c] - y));
      }
    }
    tap_many_check (&many, is_done && worst < 1e-12, "%s: %g", cases[i].text,
        worst);
  }
  tap_many_end (&many);
}

static void
test_refusals (void)
{
  TfxExprError error = { 0 };
  TfxExpr *expr = parse ("a=FIR('a')", NULL);
  TfxChain *chain = NULL;

  tap_check (tfx_expr_build (expr, RATE, 3, NULL, NULL, &chain, &error) ==
                     -EINVAL &&
                 strstr (error.message, "stage 'a' (FIR): 'a' has 2 channels, "
                                        "but the input has 3"),
      "the channels of the stream: %s", error.message);
  tfx_expr_free (&expr);
  expr = tfx_expr_parse ("FIR('a')", 8, NULL);
  tap_check (expr &&
                 tfx_expr_build (expr, RATE, 2, NULL, NULL, &chain, &error) ==
                     -ENOENT &&
                 strstr (error.message, "files cannot be read here"),
      "what was not read: %s", error.message);
  tfx_expr_free (&expr);
}

/* ---- another time ------------------------------------------------------------------- */

static TfxStage *
first_stage (const TfxExpr *expr)
{
  TfxStage *stage = NULL;

  tfx_expr_build_stage (expr, 0, RATE, 2, 0, &stage, NULL);
  return stage;
}

/* Read again, the same file is the same stage and needs no design; another one is
 * another setting of it. */
static void
test_again (void)
{
  TfxExpr *old = parse ("FIR('a') | Gain(2)", NULL), *same, *other;
  TfxStage *before, *after;
  size_t n_sections, n_taps, n_taps_other;

  same = parse ("FIR('a') | Gain(3)", NULL);
  scale = 2.0;
  other = parse ("FIR('a') | Gain(3)", NULL);
  scale = 1.0;
  tfx_expr_prepare (old, RATE, 2, 0, NULL);
  tfx_expr_adopt_ids (same, old);
  tfx_expr_take_prepared (same, old);
  tfx_expr_adopt_ids (other, old);
  tfx_expr_take_prepared (other, old);
  before = first_stage (old);
  after = first_stage (same);
  tap_check (before && before == after, "the same file is the same stage");
  tfx_stage_unref (&after);
  after = first_stage (other);
  tap_check (after && after != before &&
                 tfx_stage_id (after) == tfx_stage_id (before),
      "another one is another setting of it");
  tfx_expr_effort (same, RATE, 2, 0, &n_sections, &n_taps);
  tfx_expr_effort (other, RATE, 2, 0, &n_sections, &n_taps_other);
  tap_check (n_taps == 0 && n_taps_other == N_TAPS, "%zu and %zu taps", n_taps,
      n_taps_other);
  tap_check (!tfx_expr_equal (same, other), "they are not equal");
  tfx_stage_unref (&before);
  tfx_stage_unref (&after);
  tfx_expr_free (&old);
  tfx_expr_free (&same);
  tfx_expr_free (&other);
  tap_check (n_files == 0, "all files are let go of (%d)", n_files);
}

/* ---- memory --------------------------------------------------------------------- */

/* Each allocation fails in turn: an error, and no leak. */
static void
test_memory (void)
{
  static const char text[] =
      "FIR('a b') | FilterSettings('x') | c=Convolve('d', mix=0.5)";
  TapMany many = tap_many ("short memory");
  bool is_done = false;
  unsigned n = 0;

  while (!is_done && n++ < 1000) {
    const long before = heap_n_alive ();
    TfxExprError error = { 0 };
    TfxExpr *expr, *copy = NULL;
    TfxChain *chain = NULL;

    heap_watch (n);
    expr = parse (text, &error);
    if (expr)
      copy = tfx_expr_copy (expr);
    if (copy)
      is_done = tfx_expr_build (copy, RATE, 2, NULL, NULL, &chain, &error) == 0;
    tfx_chain_unref (&chain);
    tfx_expr_free (&copy);
    tfx_expr_free (&expr);
    heap_unwatch ();
    tap_many_check (&many, heap_n_alive () == before && n_files == 0,
        "allocation %u: %ld more, %d files", n, heap_n_alive () - before,
        n_files);
  }
  tap_many_check (&many, is_done && n > 20, "%u allocations", n);
  tap_many_end (&many);
}

/* ---- curves ------------------------------------------------------------------------- */

/* A text and its points, up to a frequency of 0. */
static const struct
{
  const char *text;
  double points[8];
} curves[] = {
  { "20 -3\n1000 0.5", { 20, -3, 1000, 0.5 } },
  { "# a\n* b\n; c\n% d\n\n \t20\t-3 \r\n1e3;+.5\r\n", { 20, -3, 1000, 0.5 } },
  { "20 -3\r1000 0.5\r", { 20, -3, 1000, 0.5 } },
  { "20,-3\n1000,5", { 20, -3, 1000, 5 } },
  { "20, -3\n1000, 0.5", { 20, -3, 1000, 0.5 } },
  { "20.5,-3\n1000.25,0.5", { 20.5, -3, 1000.25, 0.5 } },
  { "20,5 -3,25\n1000 0", { 20.5, -3.25, 1000, 0 } },
  { "20,5;-3\n1,000;0,5", { 0 } }, /* not rising */
  { "0,125 -3,5\n1,000 0", { 0.125, -3.5, 1, 0 } },
  { "* Freq(Hz) SPL(dB) Phase(degrees)\n20 70 -1\n30 71.5 2",
      { 20, 70, 30, 71.5 } },
  { "frequency,raw\n20,-3\n30,1", { 20, -3, 30, 1 } },
  { "frequency,raw,error,Equalization,target\n20,1,2,3,4\n30,5,6,-7.5,8",
      { 20, 3, 30, -7.5 } },
  { "GraphicEQ: 20 -84; 30 1.5; 40 0", { 20, -84, 30, 1.5, 40, 0 } },
  { "# AutoEq\n  graphiceq : 20 -84;30 1,5;\n\n", { 20, -84, 30, 1.5 } },
};

static void
test_curves (void)
{
  TapMany many = tap_many ("the points of a file, and its name in the text");

  for (size_t i = 0; i < sizeof curves / sizeof *curves; i++) {
    const double *points = curves[i].points;
    char why[TFX_FILE_WHY_SIZE] = "";
    TfxValue value = { .type = TFX_VALUE_TEXT, .text = (char *)curves[i].text };
    const TfxParam *param = &tfx_catalogue_find ("Curve")->params[0];
    const int code = tfx_arguments_read_file (&value, param, &reader, why);
    size_t n = 0;

    while (n < 8 && points[n] > 0.0)
      n += 2;
    tap_many_check (&many,
        code == (n > 0 ? 0 : -ERANGE) && value.n_list == n &&
            (n == 0 || memcmp (value.list, points, n * sizeof *points) == 0),
        "%s: %d, %zu points, %s", curves[i].text, code, value.n_list / 2, why);
    free (value.list);
  }
  tap_many_end (&many);
}

/* What is wrong with a text. */
static void
test_wrong_curves (void)
{
  static const char *const texts[][2] = {
    { "none", "there is no such file" },
    { "# nothing\n", "it has no rows" },
    { "20 -3\n30", "line 2 has no frequency and gain: '30'" },
    { "20 -3\n30 x", "line 2 has no frequency and gain: '30 x'" },
    { "20 -3\nfrequency,raw", "line 2 has no frequency and gain" },
    { "a,b\nc,d\n20,1", "line 2 has no frequency and gain: 'c,d'" },
    { "20 1 2 3", "line 1 has no frequency and gain" },
    { "20 nan", "line 1 has no frequency and gain" },
    { "20 0x10", "line 1 has no frequency and gain" },
    { "20 1e999", "line 1 has no frequency and gain" },
    { "f,equalization,x\n20,1", "" },
    { "f,raw,x,equalization\n20,1,2", "line 2 has no frequency and gain" },
    { "0 1",
        "line 1 has the point '0 1', which is at 0 Hz, but must be above" },
    { "20 1\n30 121", "which is 121 dB, out of range (-300 to 120 dB)" },
    { "20 1\n20 2",
        "line 2 has the point '20 2', which is at 20 Hz, but must be "
        "above the one before it (20 Hz)" },
    { "1,000 -3\n2,000 1", "line 1 has a comma that may be a decimal mark" },
    { "900 -3\n1,000 1", "line 2 has a comma that may be a decimal mark" },
    { "20,5 -3\n30 1.5",
        "line 1 has a decimal comma, but line 2 a decimal point" },
    { "Preamp: -6 dB\nGraphicEQ: 20 1", "line 1 has no frequency and gain" },
    { "GraphicEQ: 20 1\nFilter 1: ON", "line 2 is not a part of a GraphicEQ" },
    { "a title\nGraphicEQ: 20 1", "line 1 is not a part of a GraphicEQ" },
    { "20 1\nGraphicEQ: 30 1", "line 2 is not a part of a GraphicEQ" },
    { "GraphicEQ: 20 1; 30", "line 1 has no frequency and gain: '30'" },
    { "GraphicEQ: 20 1; 19 2", "has the point '19 2'" },
    { "GraphicEQ:", "it has no rows" },
  };
  TapMany many = tap_many ("a wrong curve names its line");

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char why[TFX_FILE_WHY_SIZE] = "";
    TfxValue value = { .type = TFX_VALUE_TEXT, .text = (char *)texts[i][0] };
    const TfxParam *param = &tfx_catalogue_find ("Curve")->params[0];
    const int code = tfx_arguments_read_file (&value, param, &reader, why);

    tap_many_check (&many,
        *texts[i][1] ? code < 0 && !value.list && strstr (why, texts[i][1])
                     : code == 0,
        "%s: %d, %s", texts[i][0], code, why);
    free (value.list);
  }
  tap_many_end (&many);
}

/* In a chain: the points are used and the name is printed; other points are another
 * value, and a text without a reader cannot be built. */
static void
test_curve_chain (void)
{
  static const char text[] = "Curve('100 -6', phase='minimum', taps=31)";
  TfxExpr *expr = parse (text, NULL), *list, *unread;
  TfxChain *chain = NULL, *other = NULL;
  TfxExprError error = { 0 };
  TfxValue a, b;

  list = parse ("Curve([[100, -6]], phase='minimum', taps=31)", NULL);
  unread = tfx_expr_parse (text, strlen (text), NULL);
  tap_check (expr && list && unread && is_printed (expr, text),
      "the name is printed");
  if (!expr || !list || !unread)
    return;
  tap_check (tfx_expr_build (expr, RATE, 1, NULL, NULL, &chain, NULL) == 0 &&
                 tfx_expr_build (list, RATE, 1, NULL, NULL, &other, NULL) ==
                     0 &&
                 tfx_chain_response_at (chain, 0, 100.0, RATE).re ==
                     tfx_chain_response_at (other, 0, 100.0, RATE).re,
      "the points are those of a list");
  tap_check (tfx_expr_build (unread, RATE, 1, NULL, NULL, &chain, &error) ==
                     -ENOENT &&
                 strstr (error.message, "files cannot be read here"),
      "unread: %s", error.message);
  tfx_expr_get (expr, 0, "points", &a);
  tfx_expr_get (unread, 0, "points", &b);
  tap_check (!tfx_value_equal (&a, &b) && tfx_value_equal (&a, &a) &&
                 a.n_list == 2,
      "other points are another value");
  tfx_chain_unref (&chain);
  tfx_chain_unref (&other);
  tfx_expr_free (&expr);
  tfx_expr_free (&list);
  tfx_expr_free (&unread);
}

/* The same for a Denoise. */
static void
test_profile (void)
{
  static const char text[] = "Denoise(profile='100 -60')";
  TfxExpr *expr = parse (text, NULL);
  TfxExpr *unread = tfx_expr_parse (text, strlen (text), NULL);
  TfxChain *chain = NULL;
  TfxExprError error = { 0 };

  tap_check (is_printed (expr, text) &&
                 tfx_expr_build (expr, RATE, 1, NULL, NULL, &chain, NULL) == 0,
      "a profile is read");
  tfx_chain_unref (&chain);
  tap_check (tfx_expr_build (unread, RATE, 1, NULL, NULL, &chain, &error) ==
                     -ENOENT &&
                 strstr (error.message, "files cannot be read here"),
      "unread: %s", error.message);
  tfx_expr_free (&expr);
  tfx_expr_free (&unread);
}

static const TapTest tests[] = {
  { "names", test_names },
  { "errors", test_errors },
  { "settings", test_settings },
  { "stages", test_stages },
  { "refusals", test_refusals },
  { "again", test_again },
  { "memory", test_memory },
  { "curves", test_curves },
  { "wrong-curves", test_wrong_curves },
  { "curve-chain", test_curve_chain },
  { "profile", test_profile },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
