/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_new_kind.c: examples/tremolo.c, added to the catalogue by the lines that
 * CONTRIBUTING.md shows, is a class like any other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define N_FRAMES 4800
#define N_CHANNELS 2
#define N (N_FRAMES * N_CHANNELS)

static double
gain_at (double phase, double depth)
{
  return 1.0 - depth * (1.0 - cos (2.0 * M_PI * phase)) / 2.0;
}

static void
test_formula (void)
{
  TfxChain *chain =
      test_build ("Tremolo(7, depth=0.8) | Gain(0.5)", N_CHANNELS);
  double *x = test_alloc_f64 (N), worst = 0.0;
  const char *kernel;

  test_noise_f64 (x, N);
  for (size_t k = 0; (kernel = test_kernel (k)); k++) {
    const TfxFilterSpec spec = { 48000.0, N_CHANNELS, TFX_SAMPLE_F64, 0 };
    TestFilter *row = test_filter_for (chain, &spec, test_backend_for (kernel));
    double *y = test_copy_f64 (x, N);

    test_filter_f64 (row, y, N_CHANNELS, N_FRAMES);
    for (size_t i = 0; i < N; i++) {
      const double phase = 7.0 / 48000.0 * (double)(i / N_CHANNELS);

      worst = fmax (worst, fabs (y[i] - 0.5 * x[i] * gain_at (phase, 0.8)));
    }
    test_filter_free (&row);
    free (y);
  }
  tap_check (worst < 1e-12, "equals its formula, %.1e off", worst);
  free (x);
  tfx_chain_unref (&chain);
}

static void
test_language (void)
{
  static const char text[] = "Tremolo(5, depth=2)";
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);

  tap_check (!expr && error.column == 18,
      "a depth out of its range is an error at its place: %u %s", error.column,
      error.message);
  tfx_expr_free (&expr);
  expr = test_parse ("tremolo(5)");
  tap_check (tfx_expr_n_stages (expr) == 1, "its name in lower case is known");
  tfx_expr_free (&expr);
  tap_check (tfx_catalogue_find ("Tremolo") &&
                 !tfx_catalogue_class (tfx_catalogue_n_classes ()),
      "it is in the catalogue");
}

/* Another depth is a ramp, another stage a cross-fade. */
static void
test_changes (void)
{
  TapMany many = tap_many ("any split gives the same output");
  TfxExpr *expr = test_parse ("Tremolo(7, depth=0.8)");
  TfxChain *first = test_build_expr (expr, N_CHANNELS), *ramp;
  TfxChain *other = test_build ("Tremolo(3) | Gain(0.5)", N_CHANNELS);
  double *x = test_alloc_f64 (N);
  const char *kernel;

  tfx_expr_set_number (expr, 0, "depth", 0, 0.2, NULL);
  ramp = test_build_expr (expr, N_CHANNELS);
  test_noise_f64 (x, N);
  for (size_t k = 0; (kernel = test_kernel (k)); k++) {
    test_check_splits (&many, "Tremolo, a ramp", first, ramp, 1600, x, N_FRAMES,
        N_CHANNELS, kernel);
    test_check_splits (&many, "Tremolo, a cross-fade", first, other, 1600, x,
        N_FRAMES, N_CHANNELS, kernel);
  }
  tap_many_end (&many);
  free (x);
  tfx_expr_free (&expr);
  tfx_chain_unref (&first);
  tfx_chain_unref (&ramp);
  tfx_chain_unref (&other);
}

static const TapTest tests[] = {
  { "formula", test_formula },
  { "language", test_language },
  { "changes", test_changes },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
