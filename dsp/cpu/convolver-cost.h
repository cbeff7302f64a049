/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-cost.h: what the loops of the FIR engine cost, see
 * TfxConvolverCost.  Written by tests/bench/fir_costs.c. */
#ifndef TFX_CONVOLVER_COST_H
#define TFX_CONVOLVER_COST_H

/* direct, sum_near, sum, sum_far, leaf, product, pass, call; float, then double */
/* clang-format off */
#define COST_c { \
    { 0.0446, 0.1841, 0.1787, 0.2345, 25.9, 1.2000, 0.1818, 48.2 }, \
    { 0.0864, 0.3560, 0.3501, 0.5781, 88.5, 1.0000, 0.3652, 32.3 } \
  }
#define COST_sse2 { \
    { 0.0424, 0.1834, 0.1778, 0.2333, 26.1, 1.2000, 0.1800, 53.5 }, \
    { 0.0860, 0.3618, 0.3480, 0.5361, 87.6, 1.0000, 0.3659, 32.2 } \
  }
#define COST_avx2 { \
    { 0.0175, 0.0747, 0.0823, 0.1473, 20.6, 0.5000, 0.0734, 66.2 }, \
    { 0.0355, 0.1404, 0.2479, 0.3833, 76.3, 0.5000, 0.1422, 59.1 } \
  }
#define COST_avx512 { \
    { 0.0082, 0.0412, 0.0698, 0.1392, 19.4, 0.5000, 0.0402, 71.8 }, \
    { 0.0175, 0.0763, 0.1425, 0.2768, 75.6, 0.5000, 0.0758, 52.8 } \
  }
/* clang-format on */

#endif
