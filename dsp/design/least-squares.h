/* SPDX-License-Identifier: LGPL-2.1-or-later
 * least-squares.h: the solution of too many linear equations. */
#ifndef TFX_LEAST_SQUARES_H
#define TFX_LEAST_SQUARES_H

#include <stddef.h>

#define TFX_LEAST_SQUARES_MAX 32

/* x[n] such that |A x - b| is the least, for A of n_rows >= n rows and n <=
 * TFX_LEAST_SQUARES_MAX columns: a[n][n_rows], a column after the other.  a and
 * b[n_rows] are overwritten.  A column that depends on those before it gets
 * 0. */
void
tfx_least_squares (double *a, double *b, size_t n_rows, size_t n, double *x);

#endif /* TFX_LEAST_SQUARES_H */
