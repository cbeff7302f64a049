/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-cost.h: what the loops of the FIR engine cost, see
 * TfxConvolverCost.  Written by tests/bench/fir_costs.c. */
#ifndef TFX_CONVOLVER_COST_H
#define TFX_CONVOLVER_COST_H

/* direct, direct_call, sum_near, sum, sum_far, leaf, product, pass, call;
 * float, then double */
/* clang-format off */
#define COST_c { \
    { 0.0447, 0.0000, 0.1832, 0.1784, 0.2252, 26.0, 0.9614, 0.1809, 40.3 }, \
    { 0.0866, 0.0000, 0.3652, 0.3488, 0.6799, 87.8, 1.3075, 0.3559, 25.4 } \
  }
#define COST_sse2 { \
    { 0.0419, 0.0000, 0.1823, 0.1807, 0.2532, 25.8, 0.9308, 0.1792, 39.9 }, \
    { 0.0862, 0.0000, 0.3588, 0.3520, 0.6388, 87.6, 1.3545, 0.3572, 20.4 } \
  }
#define COST_avx2 { \
    { 0.0173, 0.0450, 0.0760, 0.0835, 0.1440, 20.1, 0.6180, 0.0737, 38.2 }, \
    { 0.0354, 0.0500, 0.1537, 0.2317, 0.3705, 76.7, 0.7647, 0.1437, 44.3 } \
  }
#define COST_avx512 { \
    { 0.0081, 0.1850, 0.0421, 0.0707, 0.1428, 19.3, 0.5522, 0.0400, 46.6 }, \
    { 0.0168, 0.4200, 0.0794, 0.1509, 0.2703, 72.7, 0.6830, 0.0746, 48.1 } \
  }
/* clang-format on */

#endif
