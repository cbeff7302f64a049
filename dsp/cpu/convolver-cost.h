/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-cost.h: what the loops of the FIR engine cost, see
 * TfxConvolverCost.  Written by tests/bench/fir_costs.c. */
#ifndef TFX_CONVOLVER_COST_H
#define TFX_CONVOLVER_COST_H

/* direct, direct_call, sum_near, sum, sum_far, leaf[3], pass, call;
 * float, then double */
/* clang-format off */
#define COST_c { \
    { 0.0565, 0.0000, 0.2020, 0.2380, 0.3911, { 32.4, 30.6, 27.9 }, 0.2132, 76.7 }, \
    { 0.1023, 0.0627, 0.3978, 0.5108, 2.1887, { 54.3, 52.8, 51.4 }, 0.4549, 71.2 } \
  }
#define COST_sse2 { \
    { 0.0503, 0.0000, 0.1965, 0.2427, 0.3439, { 31.7, 30.6, 28.1 }, 0.2078, 81.9 }, \
    { 0.0983, 0.0000, 0.3504, 0.4844, 2.6388, { 53.1, 52.1, 50.7 }, 0.4236, 206.9 } \
  }
#define COST_avx2 { \
    { 0.0201, 0.0133, 0.0855, 0.1481, 0.2138, { 26.4, 16.6, 13.9 }, 0.0857, 101.9 }, \
    { 0.0379, 0.0062, 0.1580, 0.3207, 0.5834, { 37.6, 28.5, 28.0 }, 0.1885, 85.0 } \
  }
#define COST_avx512 { \
    { 0.0185, 0.1111, 0.0810, 0.1462, 0.2263, { 23.1, 14.4, 13.8 }, 0.0962, 69.8 }, \
    { 0.0351, 0.1065, 0.1638, 0.2900, 0.4961, { 22.3, 25.0, 23.2 }, 0.1827, 83.1 } \
  }
/* clang-format on */

#endif
