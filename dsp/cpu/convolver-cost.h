/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-cost.h: what the loops of the FIR engine cost, see
 * TfxConvolverCost.  Written by tests/bench/fir_costs.c. */
#ifndef TFX_CONVOLVER_COST_H
#define TFX_CONVOLVER_COST_H

/* direct, sum_near, sum, sum_far, leaf, pass, call; float, then double */
/* clang-format off */
#define COST_c { \
    { 0.0480, 0.1944, 0.1870, 0.2373, 27.6, 0.1986, 100.9 }, \
    { 0.0914, 0.3789, 0.3854, 0.5687, 90.4, 0.3780, 86.9 } \
  }
#define COST_sse2 { \
    { 0.0447, 0.1920, 0.1879, 0.2392, 27.0, 0.1914, 50.0 }, \
    { 0.0899, 0.3676, 0.3937, 0.6606, 91.5, 0.3745, 81.9 } \
  }
#define COST_avx2 { \
    { 0.0190, 0.0773, 0.0852, 0.1482, 21.1, 0.0761, 70.9 }, \
    { 0.0367, 0.1497, 0.2482, 0.3450, 78.7, 0.1472, 116.5 } \
  }
#define COST_avx512 { \
    { 0.0082, 0.0431, 0.0722, 0.1335, 20.0, 0.0412, 72.4 }, \
    { 0.0174, 0.0802, 0.1526, 0.2748, 76.7, 0.0771, 128.1 } \
  }
/* clang-format on */

#endif
