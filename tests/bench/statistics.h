/* SPDX-License-Identifier: LGPL-2.1-or-later
 * statistics.h: what is robust of a few noisy values. */
#ifndef STATISTICS_H
#define STATISTICS_H

/* The quantile q (0 to 1) of x[n], interpolated; n > 0. */
double statistics_quantile (const double *x, unsigned n, double q);

/* The median of x[i] / y[i]; n > 0. */
double statistics_ratio (const double *x, const double *y, unsigned n);

#endif /* STATISTICS_H */
