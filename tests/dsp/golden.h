/* SPDX-License-Identifier: LGPL-2.1-or-later
 * golden.h: reads the text files of tests/golden, the values of scipy.signal;
 * their generator designs.py says what the lines mean.
 */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include "common.h"

#include <stdbool.h>
#include <stddef.h>

#define GOLDEN_MAX_POINTS 20

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
  char text[TEST_TEXT_SIZE]; /* of test_design_text() */
  TfxZpk scipy;
  TfxZpk exact; /* SciPy's roots where these are right to 1e-13 */
  bool roots_differ;
  double sosfreqz_error, sos_error;
  size_t n_points, n_delays, n_sos;
  GoldenPoint points[GOLDEN_MAX_POINTS];
  GoldenDelay delays[GOLDEN_MAX_POINTS];
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS + 1];
} GoldenDesign;

/* The next design of a file; false at the end, which closes it.  One file is open at a
 * time.  A file or a line that cannot be read ends the program as a failure. */
bool golden_next (const char *name, GoldenDesign *design);

/* Matches each root with the nearest that is left; the largest distance
 * relative to the wanted root's magnitude, or, nearer to the origin than 1e-3,
 * relative to that: all of the unit circle is far away from it. */
double golden_roots_distance (const TfxComplex *found, const TfxComplex *wanted,
    size_t n);

#endif /* TEST_GOLDEN_H */
