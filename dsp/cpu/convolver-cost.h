/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-cost.h: what the loops of the FIR engine cost, see
 * TfxConvolverCost; written by bench_fir --costs. */
#ifndef TFX_CONVOLVER_COST_H
#define TFX_CONVOLVER_COST_H

/* direct, sum, sum_far, leaf, pass, call; float, then double */
#define COST_c                                                                 \
  {                                                                            \
    { 0.175, 0.3, 0.4, 35, 1.5, 60 },                                          \
    {                                                                          \
      0.15, 0.4, 0.6, 100, 1.5, 60                                             \
    }                                                                          \
  }
#define COST_sse2                                                              \
  {                                                                            \
    { 0.045, 0.12, 0.2, 33, 0.12, 50 },                                        \
    {                                                                          \
      0.08, 0.25, 0.4, 90, 0.25, 50                                            \
    }                                                                          \
  }
#define COST_avx2                                                              \
  {                                                                            \
    { 0.020, 0.06, 0.12, 25, 0.06, 45 },                                       \
    {                                                                          \
      0.035, 0.12, 0.25, 80, 0.12, 45                                          \
    }                                                                          \
  }
#define COST_avx512                                                            \
  {                                                                            \
    { 0.010, 0.04, 0.10, 22, 0.04, 40 },                                       \
    {                                                                          \
      0.018, 0.08, 0.2, 78, 0.08, 40                                           \
    }                                                                          \
  }

#endif
