/* SPDX-License-Identifier: LGPL-2.1-or-later
 * golden.c: see golden.h.
 */
#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_ORIGIN 1e-3

typedef struct Golden
{
  const char *name;
  FILE *file; /* NULL: none is open */
  char *line; /* read, not yet used, if has_line */
  size_t line_size;
  bool has_line;
  unsigned line_number;
} Golden;

static void
golden_fail (const Golden *golden)
{
  printf ("Bail out! %s:%u is not as designs.py writes it\n", golden->name,
      golden->line_number);
  exit (1);
}

/* The next line that is no comment stands in golden->line. */
static bool
golden_peek (Golden *golden)
{
  while (!golden->has_line) {
    if (getline (&golden->line, &golden->line_size, golden->file) < 0)
      return false;
    golden->line_number++;
    golden->has_line = golden->line[0] != '#';
  }
  return true;
}

static int
golden_index (Golden *golden, const char *word, const char *const *words)
{
  for (int i = 0; words[i]; i++)
    if (!strcmp (words[i], word))
      return i;
  golden_fail (golden);
  return -1;
}

static void
golden_read_head (Golden *golden, GoldenDesign *d)
{
  static const char *const families[] = { "butter", "cheby1", "cheby2", "ellip",
    NULL };
  static const char *const modes[] = { "low", "high", "band", "stop", NULL };
  char family[16], mode[16];

  *d = (GoldenDesign){ 0 };
  if (sscanf (golden->line, "design %15s %15s %u %lf %lf %lf %lf %lf", family,
          mode, &d->design.order, &d->rate_hz, &d->design.lower_hz,
          &d->design.upper_hz, &d->design.ripple_db,
          &d->design.attenuation_db) != 8)
    golden_fail (golden);
  d->design.family = (TfxFamily)golden_index (golden, family, families);
  d->design.mode = (TfxMode)golden_index (golden, mode, modes);
}

/* Roots as RE, RE,IM for a pair, each with *N for N of them. */
static size_t
golden_read_roots (Golden *golden, TfxComplex *roots)
{
  char *text = golden->line + 1;
  size_t n = 0;

  while (*text == ' ') {
    TfxComplex root = { 0, 0 };
    unsigned long count = 1;

    root.re = strtod (text + 1, &text);
    if (*text == ',')
      root.im = strtod (text + 1, &text);
    if (*text == '*')
      count = strtoul (text + 1, &text, 10);
    for (; count; count--) {
      if (n + (root.im ? 2 : 1) > TFX_DESIGN_MAX_ROOTS)
        golden_fail (golden);
      roots[n++] = root;
      if (root.im)
        roots[n++] = (TfxComplex){ root.re, -root.im };
    }
  }
  if (*text != '\n')
    golden_fail (golden);
  return n;
}

static void
golden_read_line (Golden *golden, GoldenDesign *d)
{
  const char *line = golden->line;
  GoldenPoint *p = &d->points[d->n_points];
  GoldenDelay *g = &d->delays[d->n_delays];
  TfxSos *s = &d->sos[d->n_sos];

  if (d->n_points >= GOLDEN_MAX_POINTS || d->n_delays >= GOLDEN_MAX_POINTS ||
      d->n_sos > TFX_DESIGN_MAX_SECTIONS)
    golden_fail (golden);
  if (sscanf (line, "sos %lf %lf %lf %lf %lf", &s->b0, &s->b1, &s->b2, &s->a1,
          &s->a2) == 5) {
    d->n_sos++;
  } else if (sscanf (line, "h %lf %lf %lf %lf %lf", &p->freq_hz, &p->exact.re,
                 &p->exact.im, &p->scipy_deviation.re,
                 &p->scipy_deviation.im) == 5) {
    d->n_points++;
  } else if (sscanf (line, "g %lf %lf %lf", &g->freq_hz, &g->exact,
                 &g->scipy) == 3) {
    d->n_delays++;
  } else if (line[0] == 'z') {
    d->scipy.n_zeros = golden_read_roots (golden, d->scipy.zeros);
    d->exact.n_zeros = golden_read_roots (golden, d->exact.zeros);
  } else if (line[0] == 'p') {
    d->scipy.n_poles = golden_read_roots (golden, d->scipy.poles);
    d->exact.n_poles = golden_read_roots (golden, d->exact.poles);
  } else if (line[0] == 'Z') {
    d->exact.n_zeros = golden_read_roots (golden, d->exact.zeros);
    d->roots_differ = true;
  } else if (line[0] == 'P') {
    d->exact.n_poles = golden_read_roots (golden, d->exact.poles);
    d->roots_differ = true;
  } else if (sscanf (line, "k %lf %lf", &d->scipy.gain, &d->exact.gain) != 2 &&
             sscanf (line, "s %lf %lf", &d->sosfreqz_error, &d->sos_error) !=
                 2) {
    golden_fail (golden);
  }
}

bool
golden_next (const char *name, GoldenDesign *design)
{
  static Golden golden;

  if (!golden.file) {
    char path[4096];

    snprintf (path, sizeof path, "%s/%s", GOLDEN_DIR, name);
    golden.name = name;
    golden.line_number = 0;
    golden.has_line = false;
    golden.file = fopen (tap_data (path), "r");
    if (!golden.file)
      golden_fail (&golden);
  }
  if (!golden_peek (&golden)) {
    fclose (golden.file);
    free (golden.line);
    golden = (Golden){ 0 };
    return false;
  }
  golden_read_head (&golden, design);
  test_design_text (&design->design, design->rate_hz, design->text);
  golden.has_line = false;
  while (golden_peek (&golden) && strncmp (golden.line, "design ", 7) != 0) {
    golden_read_line (&golden, design);
    golden.has_line = false;
  }
  return true;
}

double
golden_roots_distance (const TfxComplex *found, const TfxComplex *wanted,
    size_t n)
{
  bool taken[TFX_DESIGN_MAX_ROOTS] = { false };
  double worst = 0;

  for (size_t i = 0; i < n; i++) {
    double best = INFINITY;
    size_t match = 0;

    for (size_t k = 0; k < n; k++) {
      double d = hypot (found[i].re - wanted[k].re, found[i].im - wanted[k].im);
      if (!taken[k] && d < best) {
        best = d;
        match = k;
      }
    }
    taken[match] = true;
    best /= fmax (hypot (wanted[match].re, wanted[match].im), NEAR_ORIGIN);
    /* Not fmax(): a NaN is the worst of all. */
    if (!(best <= worst))
      worst = best;
  }
  return worst;
}
