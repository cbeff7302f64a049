/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_svf_design.c: designs as state-variable filters against those in long
 * double, over the grid of tests/golden/designs.txt.
 */
#include "common.h"
#include "golden.h"
#include "core/stage.h"
#include "tap.h"

#include <math.h>

/* The largest of the response over the pass band. */
static double
response_error (const GoldenDesign *g, const TfxSos *sos, size_t n)
{
  double worst = 0.0;

  for (size_t i = 0; i < g->n_points; i++) {
    const GoldenPoint *p = &g->points[i];
    const TestQuadComplex exact = { p->exact.re, p->exact.im };

    worst = fmax (worst, test_complex_distance (test_response_quad (sos, n,
                                                    p->freq_hz, g->rate_hz),
                             exact));
  }
  return worst;
}

/* That of the poles, as coefficients. */
static double
pole_error (const TfxSos *sos, const TfxSos *want, size_t n)
{
  double worst = 0.0;

  for (size_t k = 0; k < n; k++) {
    worst = fmax (worst, fabs (sos[k].a1 - want[k].a1));
    worst = fmax (worst, fabs (sos[k].a2 - want[k].a2));
  }
  return worst;
}

static void
test_moved (void)
{
  Golden *golden = golden_open ("designs.txt");
  TapMany many = tap_many ("a design for a point of a curve is right");
  TfxDesigner *designer = tfx_designer_new ();
  double worst = 0.0, worst_pole = 0.0;
  unsigned n_exact = 0;
  GoldenDesign g;
  char text[TEST_TEXT_SIZE];

  while (golden && golden_next (golden, &g)) {
    TfxSos want[TFX_DESIGN_MAX_SECTIONS];
    const int n = tfx_design_sections (&g.design, g.rate_hz, want);
    const TfxSos zero[TFX_DESIGN_MAX_SECTIONS] = { { 0 } };
    TfxStage *stage = tfx_stage_new_sections (1, zero, (size_t)n);
    const int ret = tfx_designer_move (designer, &g.design, g.rate_hz, stage);
    double error = INFINITY, pole = INFINITY, bound = 0.0;

    if (ret == 0) {
      const TfxSos *sos = stage->u.sections.sos;

      error = response_error (&g, sos, (size_t)n);
      pole = pole_error (sos, want, (size_t)n);
      bound = fmax (1e-11, 4.0 * response_error (&g, want, (size_t)n));
      n_exact += !stage->u.sections.has_shapes;
    }
    test_design_text (&g.design, g.rate_hz, text);
    tap_many_check (&many, error <= bound && pole <= 1e-14,
        "%s: off by %.3g of %.3g, its poles by %.3g", text, error, bound, pole);
    worst = fmax (worst, error / bound);
    worst_pole = fmax (worst_pole, pole);
    tfx_stage_unref (&stage);
  }
  tap_diag ("off by %.3g of the bound, poles by %.3g; %u in long double", worst,
      worst_pole, n_exact);
  tap_many_end (&many);
  tfx_designer_free (&designer);
  if (golden)
    golden_close (golden);
}

static const TapTest tests[] = {
  { "moved", test_moved },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
