/* SPDX-License-Identifier: LGPL-2.1-or-later
 * statistics.c: quantiles of a few values. */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

double
statistics_quantile (const double *x, unsigned n, double q)
{
  double *sorted = malloc (n * sizeof *sorted);
  double at = q * (n - 1), low;
  unsigned i = (unsigned)at;

  if (!sorted)
    return NAN;
  memcpy (sorted, x, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare);
  low = sorted[i];
  if (i + 1 < n)
    low += (at - i) * (sorted[i + 1] - low);
  free (sorted);
  return low;
}

double
statistics_ratio (const double *x, const double *y, unsigned n)
{
  double *ratio = malloc (n * sizeof *ratio), median;

  if (!ratio)
    return NAN;
  for (unsigned i = 0; i < n; i++)
    ratio[i] = x[i] / y[i];
  median = statistics_quantile (ratio, n, 0.5);
  free (ratio);
  return median;
}
