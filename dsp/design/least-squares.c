/* SPDX-License-Identifier: LGPL-2.1-or-later
 * least-squares.c: A = Q R by the modified Gram-Schmidt process, with b as one
 * column more (A. Bjorck, Numerical Methods for Least Squares Problems, 1996). */
#include "least-squares.h"

#include <math.h>

/* A column with a smaller remainder depends on the columns before it. */
#define RANK_TOLERANCE 1e-12

static double
dot (const double *a, const double *b, size_t n)
{
  double sum = 0.0;

  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Takes the part along q, of length 1, out of a; returns it. */
static double
take_out (double *a, const double *q, size_t n)
{
  const double part = dot (a, q, n);

  for (size_t i = 0; i < n; i++)
    a[i] -= part * q[i];
  return part;
}

void
tfx_least_squares (double *a, double *b, size_t n_rows, size_t n, double *x)
{
  double r[TFX_LEAST_SQUARES_MAX][TFX_LEAST_SQUARES_MAX];
  double length[TFX_LEAST_SQUARES_MAX];

  for (size_t k = 0; k < n; k++)
    length[k] = sqrt (dot (a + k * n_rows, a + k * n_rows, n_rows));
  for (size_t k = 0; k < n; k++) {
    double *q = a + k * n_rows;

    r[k][k] = sqrt (dot (q, q, n_rows));
    if (!(r[k][k] > RANK_TOLERANCE * length[k])) {
      r[k][k] = 0.0;
      continue;
    }
    for (size_t i = 0; i < n_rows; i++)
      q[i] /= r[k][k];
    for (size_t j = k + 1; j < n; j++)
      r[k][j] = take_out (a + j * n_rows, q, n_rows);
    x[k] = take_out (b, q, n_rows);
  }
  for (size_t k = n; k-- > 0;) {
    if (r[k][k] == 0.0) {
      x[k] = 0.0;
      continue;
    }
    for (size_t j = k + 1; j < n; j++)
      x[k] -= r[k][j] * x[j];
    x[k] /= r[k][k];
  }
}
