/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-parallel.h: a cascade as a sum of sections that all have its input. */
#ifndef TFX_CASCADE_PARALLEL_H
#define TFX_CASCADE_PARALLEL_H

#include "kernels.h"

/* Part c1 u' + c2 u'' of the output, where u = x - a1 u' - a2 u''. */
typedef struct TfxParallelPart
{
  double c1, c2;
} TfxParallelPart;

/* The parts of n_sos sections, and the factor of the input itself.  False if
 * they would not be exact enough. */
bool tfx_cascade_parallel_set (const TfxSos *sos, size_t n_sos,
    TfxParallelPart *parts, double *direct);

/* u[n_sos][2], u' and u'' of each part, to the cascade's s1 and s2 of each
 * section, s[n_sos][2]; and back. */
void tfx_cascade_parallel_export (const TfxSos *sos, size_t n_sos,
    const double (*u)[2], double (*s)[2]);
void tfx_cascade_parallel_import (const TfxSos *sos, size_t n_sos,
    const double (*s)[2], double (*u)[2]);

#endif
