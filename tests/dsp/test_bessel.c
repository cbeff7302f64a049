/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_bessel.c: Bessel prototypes against scipy.signal.besselap, and what they
 * are for. */
#include "common.h"
#include "design/prototype.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE 1e-12

/* How far the nearest pole is, relative to its magnitude. */
static double
find_distance (const TfxPrototype *p, double re, double im)
{
  double nearest = INFINITY;

  for (unsigned i = 0; i < p->n_factors; i++)
    nearest = fmin (nearest,
        hypot (p->factors[i].re - re, fabs (p->factors[i].im) - im));
  return nearest / hypot (re, im);
}

static void
test_poles (void)
{
  FILE *file = fopen (tap_data (GOLDEN_DIR "/bessel.txt"), "r");
  TapMany many = tap_many ("poles are SciPy's to 1e-12");
  char *line = NULL;
  size_t size = 0;
  unsigned n_lines = 0;
  double worst = 0.0;

  while (file && getline (&line, &size, file) >= 0) {
    char *at = line;
    TfxDesign d = { .family = TFX_FAMILY_BESSEL };
    TfxPrototype p;
    unsigned n = 0;

    if (line[0] == '#')
      continue;
    n_lines++;
    d.norm = (TfxNorm)strtol (at, &at, 10);
    d.order = (unsigned)strtol (at, &at, 10);
    tfx_prototype_init (&p, &d);
    while (*at == ' ') {
      double re = strtod (at + 1, &at), im = strtod (at + 1, &at);
      double off = find_distance (&p, re, im);

      n++;
      worst = fmax (worst, off);
      tap_many_check (&many, off <= TOLERANCE,
          "norm %d, order %u: %.17g,%.17g is %.2g off", (int)d.norm, d.order,
          re, im, off);
    }
    tap_many_check (&many, n == p.n_factors, "norm %d, order %u: %u poles",
        (int)d.norm, d.order, p.n_factors);
  }
  tap_diag ("at most %.2g off", worst);
  tap_check (n_lines == 54, "%u lines of bessel.txt", n_lines);
  tap_many_end (&many);
  free (line);
  if (file)
    fclose (file);
}

/* Far below half the rate, where the bilinear transform bends nothing. */
static void
test_meaning (void)
{
  const double rate_hz = 4e6, cutoff_hz = 100.0, delay = 1.0 / (2 * M_PI * 100);
  TapMany many = tap_many ("norm 'delay' is a delay, 'mag' is 3 dB down");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];

  for (unsigned order = 1; order <= 20; order++) {
    TfxDesign d = { .family = TFX_FAMILY_BESSEL,
      .order = order,
      .lower_hz = cutoff_hz,
      .norm = TFX_NORM_MAGNITUDE };
    int n = tfx_design_sections (&d, rate_hz, sos);
    TfxComplex h = { 0, 0 };
    double found;

    if (n > 0)
      h = tfx_response_at (sos, (size_t)n, cutoff_hz, rate_hz);
    tap_many_check (&many, fabs (hypot (h.re, h.im) - sqrt (0.5)) < 1e-6,
        "order %u: %g at the cutoff", order, hypot (h.re, h.im));
    d.norm = TFX_NORM_DELAY;
    n = tfx_design_sections (&d, rate_hz, sos);
    found = n > 0 ? tfx_response_group_delay (sos, (size_t)n, 1.0, rate_hz) : 0;
    tap_many_check (&many, fabs (found / rate_hz / delay - 1) < 2e-4,
        "order %u: a delay of %g s", order, found / rate_hz);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "poles", test_poles },
  { "meaning", test_meaning },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
