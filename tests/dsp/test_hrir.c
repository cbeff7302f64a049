/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_hrir.c: HRIR with a file whose kernels tell the direction and the ear: positions,
 * directions, texts and errors.  tests/gst/test_sofa.c compares with libmysofa.
 */
#include "common.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_TAPS 3

static void
file_free (TfxFile *file)
{
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
  snprintf (why, TFX_FILE_WHY_SIZE, "it does not fit");
  return -EINVAL;
}

/* The taps are the azimuth, the elevation and the ear, 1 or 2. */
static int
file_fit_ears (const TfxFile *file, double rate_hz,
    const TfxDirection *directions, unsigned n, TfxImpulse *impulse,
    char why[TFX_FILE_WHY_SIZE])
{
  if (rate_hz != 48000.0) {
    snprintf (why, TFX_FILE_WHY_SIZE, "it has another rate");
    return -EINVAL;
  }
  *impulse = (TfxImpulse){ test_alloc_f64 (2 * n * N_TAPS), 2 * n, N_TAPS, 0 };
  for (unsigned k = 0; k < 2 * n; k++) {
    impulse->taps[k * N_TAPS] = directions[k / 2].azimuth;
    impulse->taps[k * N_TAPS + 1] = directions[k / 2].elevation;
    impulse->taps[k * N_TAPS + 2] = 1 + k % 2;
  }
  return 0;
}

static TfxFile *
open_impulse (void *data, const char *name, char why[TFX_FILE_WHY_SIZE])
{
  TfxFile *file = test_alloc (sizeof *file);

  *file = (TfxFile){ .refs = 1,
    .n_channels = 2,
    .n_frames = N_TAPS,
    .rate_hz = 48000.0,
    .free = file_free,
    .is_same = file_is_same };
  if (strcmp (name, "x.wav") == 0)
    file->fit = file_fit;
  else
    file->fit_ears = file_fit_ears;
  return file;
}

static const TfxFileReader reader = { NULL, open_impulse, NULL, NULL };

static TfxExpr *
parse (const char *text, TfxExprError *error)
{
  return tfx_expr_parse_with_files (text, strlen (text), &reader, error);
}

/* ---- directions -------------------------------------------------------------------- */

/* An impulse in one channel gives the taps of its direction. */
static void
test_directions (void)
{
  static const struct
  {
    const char *text, *positions;
    unsigned n_in;
    double directions[10][2];
  } cases[] = {
    { "HRIR('x.sofa')", "FL FR", 2, { { 30, 0 }, { -30, 0 } } },
    { "HRIR('x.sofa')", "FL FR FC LFE BL BR", 6,
        { { 30, 0 }, { -30, 0 }, { 0, 0 }, { 0, 0 }, { 110, 0 },
            { -110, 0 } } },
    { "HRIR('x.sofa')", "FL FR FC LFE SL SR", 6,
        { { 30, 0 }, { -30, 0 }, { 0, 0 }, { 0, 0 }, { 110, 0 },
            { -110, 0 } } },
    { "HRIR('x.sofa')", "FL FR FC LFE BL BR SL SR TFL TFR", 10,
        { { 30, 0 }, { -30, 0 }, { 0, 0 }, { 0, 0 }, { 135, 0 }, { -135, 0 },
            { 90, 0 }, { -90, 0 }, { 45, 30 }, { -45, 30 } } },
    { "HRIR('x.sofa')", "BC TC LFE2", 3, { { 180, 0 }, { 0, 0 }, { 0, 90 } } },
    { "HRIR('x.sofa', azimuth=[-360, 5.5, 0], elevation=[1, -90, 0])", NULL, 3,
        { { -360, 1 }, { 5.5, -90 }, { 0, 0 } } },
    { "HRIR('x.sofa', azimuth=[10, 20], conv_mode='fft')", "FL FR", 2,
        { { 10, 0 }, { 20, 0 } } },
    { "HRIR('x.sofa')", NULL, 2, { { 30, 0 }, { -30, 0 } } },
    { "HRIR('x.sofa')", NULL, 1, { { 0, 0 } } },
    { "HRIR('x.sofa', azimuth=[7])", NULL, 1, { { 7, 0 } } },
  };
  TapMany many = tap_many ("the channels come from their directions");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint64_t lfe =
        (uint64_t)1 << TFX_POSITION_LFE | (uint64_t)1 << TFX_POSITION_LFE2;
    const unsigned n_in = cases[i].n_in, n_room = n_in > 2 ? n_in : 2;
    uint64_t left =
        cases[i].positions ? test_parse_positions (cases[i].positions) : 0;
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (cases[i].text, &error);
    TfxChain *chain = NULL;
    unsigned n_out = 0, n_most = 0;

    if (!expr || tfx_expr_build_at (expr, 48000.0, n_in, left, NULL, NULL,
                     &chain, &error) < 0) {
      tap_many_check (&many, false, "%s: %s", cases[i].text, error.message);
      tfx_expr_free (&expr);
      continue;
    }
    tfx_expr_channels (expr, n_in, &n_out, &n_most);
    tap_many_check (&many, n_out == 2 && n_most == n_room, "%s: %u of %u",
        cases[i].text, n_out, n_most);
    for (unsigned c = 0; c < n_in; c++, left &= left - 1) {
      const TfxFilterSpec spec = { 48000.0, n_room, TFX_SAMPLE_F64, 0 };
      TestFilter *filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
      const bool is_lfe = left & -left & lfe;
      double samples[N_TAPS * 10] = { 0.0 };
      bool is_right = true;

      samples[c] = 1.0;
      test_filter_pieces (filter, samples, n_room, N_TAPS, 2, SIZE_MAX, NULL);
      for (unsigned ear = 0; ear < 2; ear++) {
        const double *y = samples + ear;

        is_right = is_right &&
                   fabs (y[0] - cases[i].directions[c][0]) < 1e-12 &&
                   fabs (y[n_room] - cases[i].directions[c][1]) < 1e-12 &&
                   fabs (y[2 * n_room] - (is_lfe ? 1.5 : 1.0 + ear)) < 1e-12;
      }
      tap_many_check (&many, is_right, "%s at %s: channel %u is at %g, %g",
          cases[i].text, cases[i].positions ? cases[i].positions : "none", c,
          samples[0], samples[n_room]);
      test_filter_free (&filter);
    }
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* ---- texts and errors ---------------------------------------------------------------- */

static void
test_texts (void)
{
  static const char *const texts[][2] = {
    { "HRIR(location='x.sofa', elevation=None)", "HRIR('x.sofa')" },
    { "HRIR('x.sofa', 'fft', azimuth=(30,-30))",
        "HRIR('x.sofa', conv_mode='fft', azimuth=[30, -30])" },
    { "HRIR('x.sofa', azimuth=[0], elevation=[90])",
        "HRIR('x.sofa', azimuth=[0], elevation=[90])" },
  };
  TapMany many = tap_many ("texts print back");

  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    TfxExprError error = { 0 };
    TfxExpr *expr = parse (texts[i][0], &error);
    char *printed = expr ? tfx_expr_print (expr) : NULL;

    tap_many_check (&many, printed && strcmp (printed, texts[i][1]) == 0,
        "%s: %s", texts[i][0], printed ? printed : error.message);
    free (printed);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text;
    unsigned n_channels;
    double rate_hz;
    const char *message;
  } cases[] = {
    { "HRIR('x.sofa')", 3, 48000, "channel 0 has no position" },
    { "HRIR('x.sofa', azimuth=[30, -30])", 3, 48000,
        "azimuth of stage 'hrir0' (HRIR) has 2 numbers, but its input has 3" },
    { "HRIR('x.sofa', azimuth=[361])", 1, 48000,
        "azimuth of HRIR is 361 degrees, out of range" },
    { "HRIR('x.sofa', azimuth=[0], elevation=[91])", 1, 48000,
        "elevation of HRIR is 91 degrees, out of range" },
    { "HRIR('x.sofa', azimuth=[0, 1], elevation=[1])", 2, 48000,
        "elevation of HRIR has 1 number, but azimuth has 2" },
    { "HRIR('x.sofa', elevation=[1, 2])", 2, 48000,
        "has 2 numbers, but azimuth has 0" },
    { "HRIR('x.wav', azimuth=[0])", 1, 48000,
        "is 'x.wav', but must be a SOFA file" },
    { "HRIR('x.sofa', azimuth=[0])", 1, 44100, "it has another rate" },
    { "Convolve('x.sofa')", 2, 48000,
        "an impulse response for each direction; HRIR" },
    { "FIR('x.sofa')", 2, 48000, "an impulse response for each direction" },
  };
  TapMany many = tap_many ("each error names the fault");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxExprError error = { 0 };
    TfxChain *chain = NULL;
    TfxExpr *expr = parse (cases[i].text, &error);

    if (expr)
      tfx_expr_build (expr, cases[i].rate_hz, cases[i].n_channels, NULL, NULL,
          &chain, &error);
    tap_many_check (&many, !chain && strstr (error.message, cases[i].message),
        "%s: %s", cases[i].text, error.message);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "directions", test_directions },
  { "texts", test_texts },
  { "errors", test_errors },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
