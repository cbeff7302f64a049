/* SPDX-License-Identifier: LGPL-2.1-or-later
 * golden.h: reads the text files of tests/golden, the values of scipy.signal;
 * their generator designs.py says what the lines mean.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include "tfx.h"

#include <stdbool.h>
#include <stddef.h>

#define GOLDEN_MAX_POINTS 18

typedef struct GoldenPoint
{
  double freq_hz;
  TfxComplex exact;
  TfxComplex scipy_deviation; /* SciPy / exact - 1; may be NaN */
} GoldenPoint;

typedef struct GoldenDelay
{
  double freq_hz;
  double exact, scipy; /* samples */
} GoldenDelay;

typedef struct GoldenDesign
{
  TfxDesign design;
  double rate_hz;
  TfxZpk scipy;
  TfxZpk exact; /* SciPy's roots where these are right to 1e-13 */
  bool roots_differ;
  double sosfreqz_error, sos_error;
  size_t n_points, n_delays, n_sos;
  GoldenPoint points[GOLDEN_MAX_POINTS];
  GoldenDelay delays[GOLDEN_MAX_POINTS];
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
} GoldenDesign;

typedef struct Golden Golden;

/* Opens a file; NULL, after a diagnostic, if that fails. */
Golden *golden_open (const char *name);
/* The next design; false at the end.  A line that cannot be read ends the
 * program as a failure. */
bool golden_next (Golden *golden, GoldenDesign *design);
void golden_close (Golden *golden);

/* Matches each root with the nearest that is left; the largest distance
 * relative to the wanted root's magnitude, or, nearer to the origin than 1e-3,
 * relative to that: all of the unit circle is far away from it. */
double golden_roots_distance (const TfxComplex *found, const TfxComplex *wanted,
    size_t n);

#endif /* TEST_GOLDEN_H */
