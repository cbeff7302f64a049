/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_matrix.c: layouts of Convolve, matrices of kernels, against the golden values of
 * tests/golden/matrix.py; their texts, their positions, and how they change.
 */
#include "common.h"
#include "core/kind.h"
#include "jump.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files of noise ---------------------------------------------------------------- */

/* The noise of matrix.py. */
static double
next_noise (uint32_t *x)
{
  *x = 1664525u * *x + 1013904223u;
  return (double)*x / 2147483648.0 - 1.0;
}

/* Of the next file: channels, taps, and a gain. */
static unsigned n_file = 4;
static size_t n_taps = 50;
static uint32_t seed = 1;
static double gain = 1.0;

typedef struct File
{
  TfxFile file;
  double *taps; /* [n_channels][n_frames] */
} File;

static void
file_free (TfxFile *file)
{
  free (((File *)file)->taps);
  free (file);
}

static bool
file_is_same (const TfxFile *a, const TfxFile *b)
{
  return a == b;
}

static int
file_fit (const TfxFile *file, double rate_hz, unsigned n_channels, int channel,
    TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE])
{
  const size_t n = file->n_channels * file->n_frames;

  snprintf (why, TFX_FILE_WHY_SIZE, "it does not fit");
  if (n_channels != 0 || channel >= 0)
    return -EINVAL;
  *impulse = (TfxImpulse){ test_alloc (n * sizeof (double)), file->n_channels,
    file->n_frames, 0 };
  memcpy (impulse->taps, ((const File *)file)->taps, n * sizeof (double));
  return 0;
}

static TfxFile *
open_impulse (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  File *file = test_alloc (sizeof *file);
  uint32_t x = seed;

  file->file = (TfxFile){ 1, n_file, n_taps, 48000.0, file_free, file_is_same,
    file_fit };
  file->taps = test_alloc (n_file * n_taps * sizeof *file->taps);
  for (size_t i = 0; i < n_file * n_taps; i++)
    file->taps[i] =
        gain * next_noise (&x) * (1.0 - (double)(i % n_taps) / (double)n_taps);
  return &file->file;
}

static const TfxFileReader reader = { NULL, open_impulse, NULL };

static TfxExpr *
parse (const char *text, TfxExprError *error)
{
  return tfx_expr_parse_with_files (text, strlen (text), &reader, error);
}

/* The chain of a text, or the end of the program. */
static TfxChain *
build (const char *text, unsigned n_channels, uint64_t positions)
{
  TfxExprError error = { 0 };
  TfxExpr *expr = parse (text, &error);
  TfxChain *chain = NULL;

  if (!expr || tfx_expr_build_at (expr, 48000.0, n_channels, positions, NULL,
                   NULL, &chain, &error) < 0) {
    printf ("Bail out! %s: %s\n", text, error.message);
    exit (1);
  }
  tfx_expr_free (&expr);
  return chain;
}

/* Interleaved samples through a chain, which it takes, in place and in blocks of 1 to
 * `longest` frames at random. */
static void
run (TfxChain *chain, double *samples, unsigned n_channels, size_t n_frames,
    size_t longest, size_t hint)
{
  const TfxFilterSpec spec = { 48000.0, n_channels, TFX_SAMPLE_F64, hint };
  TestFilter *filter = test_filter_for (chain, &spec, tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  if (!filter || test_filter_pieces (filter, samples, n_channels, n_frames,
                     longest, SIZE_MAX, NULL) < 0) {
    printf ("Bail out! the chain does not run\n");
    exit (1);
  }
  test_filter_free (&filter);
}

/* ---- golden values ----------------------------------------------------------------- */

typedef struct Case
{
  unsigned n_in, n_out;
  size_t n_frames;
  char layout[400];
} Case;

/* Runs a case with this hint of the block length; samples[n_frames][*n_room]. */
static double *
run_case (const Case *c, size_t hint, unsigned *n_room)
{
  uint32_t x = seed;
  char text[500];
  double *samples;

  *n_room = c->n_in > c->n_out ? c->n_in : c->n_out;
  samples = test_alloc_f64 (c->n_frames * *n_room);
  memset (samples, 0, c->n_frames * *n_room * sizeof *samples);
  for (size_t i = 0; i < n_file * n_taps; i++)
    next_noise (&x);
  for (unsigned k = 0; k < c->n_in; k++) {
    for (size_t i = 0; i < c->n_frames; i++)
      samples[i * *n_room + k] = next_noise (&x);
  }
  snprintf (text, sizeof text, "Convolve('x', layout=%s)", c->layout);
  run (build (text, c->n_in, 0), samples, *n_room, c->n_frames,
      hint == 0 ? 900 : hint, hint);
  return samples;
}

static void
test_golden (void)
{
  static const size_t hints[] = { 0, 64, 256, 1024 };
  FILE *file = fopen (GOLDEN_DIR "/matrix.txt", "r");
  TapMany many = tap_many ("layouts are what SciPy makes of them");
  double *samples[4] = { NULL }, worst = 0.0;
  char line[500];
  unsigned n_room = 0, out;
  size_t frame, n_values = 0;
  Case c = { 0 };

  if (!file) {
    printf ("Bail out! no matrix.txt\n");
    exit (1);
  }
  while (fgets (line, sizeof line, file)) {
    double value;

    if (sscanf (line, "case %u %zu %u %u %zu %u %399[^\n]", &n_file, &n_taps,
            &c.n_in, &c.n_out, &c.n_frames, &seed, c.layout) == 7) {
      for (int i = 0; i < 4; i++) {
        free (samples[i]);
        samples[i] = run_case (&c, hints[i], &n_room);
      }
    } else if (sscanf (line, "y %u %zu %lf", &out, &frame, &value) == 3) {
      n_values++;
      for (int i = 0; i < 4; i++) {
        const double error = samples[i][frame * n_room + out] - value;

        worst = fmax (worst, fabs (error));
        /* of sums that are about 1 and more */
        tap_many_check (&many, fabs (error) < 1e-12,
            "%s, %zu taps, blocks of %zu, output %u, frame %zu: %g instead of "
            "%g",
            c.layout, n_taps, hints[i], out, frame, value + error, value);
      }
    }
  }
  tap_many_check (&many, n_values == 252, "%zu values", n_values);
  tap_many_end (&many);
  tap_diag ("largest error: %.1e", worst);
  for (int i = 0; i < 4; i++)
    free (samples[i]);
  fclose (file);
}

/* ---- texts --------------------------------------------------------------------------- */

static void
test_texts (void)
{
  static const char *const texts[][2] = {
    { "Convolve('x', layout='true-stereo')", NULL },
    { "Convolve('x', 0.5, layout=((0,1),(2,3)))",
        "Convolve('x', mix=0.5, layout=[[0, 1], [2, 3]])" },
    { "Convolve('x', layout=None)", "Convolve('x')" },
    { "Convolve('x', layout=[[-1, 3]])", NULL },
    { "ch[0, 2]: Convolve('x', layout='true-stereo')", NULL },
  };
  TapMany many = tap_many ("texts print back");

  n_file = 4;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *wanted = texts[i][1] ? texts[i][1] : texts[i][0];
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (texts[i][0], &error);
    char *text = expr ? tfx_expr_print (expr) : NULL;

    tap_many_check (&many, text && strcmp (text, wanted) == 0, "%s: %s %s",
        texts[i][0], text ? text : "", error.message);
    free (text);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* Errors of the text, or of building it for a stream. */
static void
test_errors (void)
{
  static const struct
  {
    unsigned n_file, n_channels; /* of the stream */
    const char *positions;       /* or NULL */
    const char *layout, *message;
  } cases[] = {
    { 2, 2, NULL, "'true-stereo'",
        "needs a file of 4 channels, but 'x' has 2" },
    { 4, 7, NULL, "'hesuvi'", "a file of 7 or 14 channels, but 'x' has 4" },
    { 4, 1, NULL, "'true-stereo'", "needs 2 channels, but its input has 1" },
    { 4, 3, NULL, "[[0, 1]]", "rows of 2 numbers, but its input has 3" },
    { 4, 2, NULL, "[[0, 4]]", "channel 4, but 'x' has 4 channels" },
    { 4, 2, NULL, "[[-1, -1]]", "no channel of the file, only -1" },
    { 4, 2, NULL, "[[0, -2]]", "layout of Convolve is -2, out of range" },
    { 4, 2, NULL, "[[0, 0.5]]", "must be an integer" },
    { 4, 2, NULL, "[0, 1]", "a list of rows" },
    { 4, 2, NULL, "'stereo'", "unknown value 'stereo'" },
    { 4, 2, NULL, "[[0, 1], [2, 3]], channel=1", "a layout and a channel" },
    { 4, 2, NULL, "[[0, 1]], mix=0.5", "must be 1 with a layout" },
    { 14, 2, NULL, "'hesuvi', mix=0.5", "must be 1 with a layout" },
    { 14, 3, "FL FR TFL", "'hesuvi'", "no kernels for channel 2 (TFL)" },
    { 14, 12, NULL, "'hesuvi'", "channel 6 (without a position)" },
    { 4, 2, NULL, "[[0, 1]]) | Convolve('x', layout='true-stereo'",
        "needs 2 channels, but its input has 1" },
  };
  TapMany many = tap_many ("each error says what is wrong");

  n_taps = 5;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExprError error = { 0 };
    TfxChain *chain = NULL;
    TfxExpr *expr;
    char text[200];

    n_file = cases[i].n_file;
    snprintf (text, sizeof text, "Convolve('x', layout=%s)", cases[i].layout);
    expr = parse (text, &error);
    if (expr)
      tfx_expr_build_at (expr, 48000.0, cases[i].n_channels,
          cases[i].positions ? test_parse_positions (cases[i].positions) : 0,
          NULL, NULL, &chain, &error);
    tap_many_check (&many, !chain && strstr (error.message, cases[i].message),
        "%s: %s", text, error.message);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* ---- positions ------------------------------------------------------------------------- */

/* An impulse in each channel of a stream gives the kernels of its loudspeaker. */
static void
test_positions (void)
{
  static const struct
  {
    const char *positions;
    int kernels[8][2]; /* of each channel: left, right */
  } cases[] = {
    { "FL FR", { { 0, 1 }, { 8, 7 } } },
    { "FC", { { 6, 13 } } },
    { "FL FR FC LFE SL SR",
        { { 0, 1 }, { 8, 7 }, { 6, 13 }, { 6, 13 }, { 2, 3 }, { 10, 9 } } },
    { "FL FR BL BR", { { 0, 1 }, { 8, 7 }, { 4, 5 }, { 12, 11 } } },
  };
  TapMany many = tap_many ("the channels of a stream find their loudspeakers");
  double taps[14][6];
  uint32_t x = 9;

  n_file = 14;
  n_taps = 6;
  seed = 9;
  for (int i = 0; i < 14 * 6; i++)
    taps[i / 6][i % 6] = next_noise (&x) * (1.0 - i % 6 / 6.0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint64_t positions = test_parse_positions (cases[i].positions);
    const unsigned n_in = (unsigned)__builtin_popcountll (positions);
    const unsigned n_room = n_in > 2 ? n_in : 2;

    for (unsigned k = 0; k < n_in; k++) {
      double samples[6 * 8] = { 0.0 };
      bool is_right = true;

      samples[k] = 1.0;
      run (build ("Convolve('x', layout='hesuvi')", n_in, positions), samples,
          n_room, 6, 6, 0);
      for (unsigned c = 0; c < 6 * n_room; c++) {
        const unsigned out = c % n_room;
        const double want =
            out < 2 ? taps[cases[i].kernels[k][out]][c / n_room] : 0.0;

        is_right = is_right && fabs (samples[c] - want) < 1e-15;
      }
      tap_many_check (&many, is_right, "%s, channel %u", cases[i].positions, k);
    }
  }
  tap_many_end (&many);
}

/* ---- with other stages, and responses ---------------------------------------------------- */

#define N 6000

static double *
noise_of (unsigned n_channels)
{
  double *samples = test_alloc_f64 (N * n_channels);

  test_noise_f64 (samples, N * n_channels);
  return samples;
}

static void
test_mix (void)
{
  double *dry = noise_of (2), *wet = test_copy_f64 (dry, 2 * N),
         *both = test_copy_f64 (dry, 2 * N);
  double most = 0.0;

  n_file = 4;
  n_taps = 400;
  run (build ("Convolve('x', layout=[[-1, 2], [1, 1]])", 2, 0), wet, 2, N, 300,
      0);
  run (build ("Convolve('x', 0.25, layout=[[-1, 2], [1, 1]])", 2, 0), both, 2,
      N, 300, 0);
  for (size_t i = 0; i < 2 * N; i++)
    most = fmax (most, fabs (both[i] - 0.75 * dry[i] - 0.25 * wet[i]));
  tap_check (most < 1e-12, "mix adds each channel to itself (%.1e)", most);
  free (dry);
  free (wet);
  free (both);
}

/* A FIR after a matrix, and one before it, act on the channels. */
static void
test_neighbours (void)
{
  static const char *const texts[][3] = {
    { "Convolve('x', layout='true-stereo')", "FIR([0.5, 0.25, 1])",
        "Convolve('x', layout='true-stereo') | FIR([0.5, 0.25, 1])" },
    { "FIR([0.5, 0.25, 1])", "Convolve('x', layout='true-stereo')",
        "FIR([0.5, 0.25, 1]) | Convolve('x', layout='true-stereo')" },
    { "Convolve('x', layout='true-stereo')",
        "Convolve('x', layout=[[2, -1], [0, 3]])",
        "Convolve('x', layout='true-stereo') | "
        "Convolve('x', layout=[[2, -1], [0, 3]])" },
    { "Convolve('x', layout='true-stereo')", "Gain(-2)",
        "Convolve('x', layout='true-stereo') | Gain(-2)" },
  };
  TapMany many = tap_many ("rows of stages");

  n_file = 4;
  n_taps = 20;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double *apart = noise_of (2), *row = test_copy_f64 (apart, 2 * N);
    double most = 0.0;

    run (build (texts[i][0], 2, 0), apart, 2, N, 100, 0);
    run (build (texts[i][1], 2, 0), apart, 2, N, 100, 0);
    run (build (texts[i][2], 2, 0), row, 2, N, 100, 0);
    for (size_t k = 0; k < 2 * N; k++)
      most = fmax (most, fabs (apart[k] - row[k]));
    tap_many_check (&many, most < 1e-12, "%s: %.1e", texts[i][2], most);
    free (apart);
    free (row);
  }
  tap_many_end (&many);
}

/* The response from an input to an output is that of its kernel. */
static void
test_response (void)
{
  TapMany many = tap_many ("responses");
  TfxChain *chain;
  double taps[4][30];
  uint32_t x = seed = 3;

  n_file = 4;
  n_taps = 30;
  for (int i = 0; i < 4 * 30; i++)
    taps[i / 30][i % 30] = next_noise (&x) * (1.0 - i % 30 / 30.0);
  chain = build ("Convolve('x', layout='true-stereo')", 2, 0);
  for (unsigned pair = 0; pair < 4; pair++) {
    const unsigned in = pair / 2, out = pair % 2;
    TfxComplex h[TFX_MIX_MAX_CHANNELS] = { { 0.0, 0.0 } };
    double re = 0.0, im = 0.0;

    h[in].re = 1.0;
    tfx_chain_spread (chain, h, 1000.0, 48000.0);
    for (int k = 0; k < 30; k++) {
      re += taps[pair][k] * cos (2.0 * M_PI * k / 48.0);
      im -= taps[pair][k] * sin (2.0 * M_PI * k / 48.0);
    }
    tap_many_check (&many, hypot (h[out].re - re, h[out].im - im) < 1e-13,
        "from %u to %u", in, out);
  }
  tap_many_end (&many);
  tfx_chain_unref (&chain);
}

/* ---- changes ----------------------------------------------------------------------------- */

/* The second chain, whose stage is the first of the other. */
static TfxChain *
build_after (const char *text, const char *before, TfxChain **first)
{
  TfxExpr *old = parse (before, NULL), *expr;
  TfxChain *chain = NULL;

  gain = 1.0;
  seed = 1;
  tfx_expr_build (old, 48000.0, 2, NULL, NULL, first, NULL);
  gain = 0.5;
  seed = 2;
  expr = parse (text, NULL);
  gain = 1.0;
  tfx_expr_adopt_ids (expr, old);
  tfx_expr_build (expr, 48000.0, 2, NULL, NULL, &chain, NULL);
  tfx_expr_free (&old);
  tfx_expr_free (&expr);
  return chain;
}

/* Other kernels, another matrix, another length, no matrix. */
static void
test_change (void)
{
  static const char *const texts[][2] = {
    { "c=Convolve('x', layout='true-stereo')",
        "c=Convolve('x', layout='true-stereo')" },
    { "c=Convolve('x', layout='true-stereo')",
        "c=Convolve('x', layout=[[3, -1], [0, 1]])" },
    { "c=Convolve('x', layout='true-stereo')", "c=Gain(0.5)" },
    { "Gain(1)", "Convolve('x', layout='true-stereo')" },
  };
  static const size_t lengths[] = { 40, 3000 };
  TapMany many = tap_many ("changes are without clicks");

  n_file = 4;
  for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
    TfxChain *first = NULL, *second;
    TestJump jump;

    n_taps = lengths[i % 2];
    second = build_after (texts[i / 2][1], texts[i / 2][0], &first);
    jump = test_jump_between (first, second, 2, 256);
    tap_many_check (&many, jump.high_db < -70.0 && jump.peak_db < 1.0,
        "%s to %s, %zu taps: %.1f dB above 2 kHz, peak %.1f dB",
        texts[i / 2][0], texts[i / 2][1], n_taps, jump.high_db, jump.peak_db);
  }
  tap_many_end (&many);
}

/* Kernels that no input needs are left out, and equal ones are one. */
static void
test_stage (void)
{
  const double a[2] = { 1.0, 0.5 }, b[2] = { 0.25, 0.125 }, c[2] = { 2.0, 1.0 };
  const double *kernels[] = { a, b, c, a };
  TfxStage *stage = tfx_stage_new_fir_matrix (1, 2,
      (const int[]){ 2, -1, 3, 0 }, kernels, 4, 2, TFX_FIR_AUTO);

  tap_check (stage && stage->u.fir.n_kernels == 2, "two kernels are left");
  tfx_stage_unref (&stage);
  stage = tfx_stage_new_fir_matrix (1, 2, (const int[]){ 4, -1, 3, 0 }, kernels,
      4, 2, TFX_FIR_AUTO);
  tap_check (!stage, "there is no kernel 4");
  stage = tfx_stage_new_fir_matrix (1, 2, (const int[]){ 0, -2, 3, 0 }, kernels,
      4, 2, TFX_FIR_AUTO);
  tap_check (!stage, "nor one of -2");
  stage = tfx_stage_new_fir_matrix (1, 1, (const int[]){ -1 }, kernels, 4, 2,
      TFX_FIR_AUTO);
  tap_check (!stage, "nor a matrix of none");
}

static const TapTest tests[] = {
  { "golden", test_golden },
  { "texts", test_texts },
  { "errors", test_errors },
  { "positions", test_positions },
  { "mix", test_mix },
  { "neighbours", test_neighbours },
  { "response", test_response },
  { "change", test_change },
  { "stage", test_stage },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
