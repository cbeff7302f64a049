/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.cu: the kernels of cascade.h, by name.
 *
 *   tfx_cascade_f32_double_g6    float samples, double arithmetic, one group
 *   tfx_cascade_f32_double_m6    the same, any number of groups
 *   tfx_cascade_f64_double_g6    double samples, any number of groups
 *
 * With CASCADE_NAME, _IO, _WORK, _REAL and _GROUP defined there is that one
 * only, which is how one is compiled at run time. */
#include "cascade.h"

/* Threads of a block and blocks of a multiprocessor, so that nothing spills
 * out of the registers that this leaves: 128 of a thread, or 168. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900
#define CASCADE_THREADS(group) ((group) < 5 ? 256 : 128)
#define CASCADE_BLOCKS(group) ((group) < 5 ? 2 : 3)
#else
#define CASCADE_THREADS(group) 256
#define CASCADE_BLOCKS(group) 2
#endif

#define CASCADE(name, io, work, real, group)                                   \
  TFX_KERNEL (name, TfxCascadeArgs, CASCADE_THREADS (group),                   \
      CASCADE_BLOCKS (group))                                                  \
  {                                                                            \
    TFX_DYNAMIC_SHARED (shared);                                               \
    cascade_run<io, work, real, group> (args, shared);                         \
  }

#ifdef CASCADE_NAME
CASCADE (CASCADE_NAME, CASCADE_IO, CASCADE_WORK, CASCADE_REAL, CASCADE_GROUP)
#else

/* Devices of compute capability x.0 do double at half the speed of float, the
 * others, and some that run the machine code of 10.0, at a small fraction. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ % 100 == 0
#define CASCADE_DOUBLE(group)                                                  \
  CASCADE (tfx_cascade_f32_double_g##group, float, float, double, group)
#define CASCADE_DOUBLE_MANY(group)                                             \
  CASCADE (tfx_cascade_f32_double_m##group, float, double, double, group)
#else
#define CASCADE_DOUBLE(group)
#define CASCADE_DOUBLE_MANY(group)
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ % 100 != 0 ||                     \
    __CUDA_ARCH__ >= 1000
#define CASCADE_TWOFOLD(group)                                                 \
  CASCADE (tfx_cascade_f32_twofold_g##group, float, float, Twofold, group)
#define CASCADE_TWOFOLD_MANY(group)                                            \
  CASCADE (tfx_cascade_f32_twofold_m##group, float, Twofold, Twofold, group)
#else
#define CASCADE_TWOFOLD(group)
#define CASCADE_TWOFOLD_MANY(group)
#endif

#define CASCADE_ALL(group)                                                     \
  CASCADE_DOUBLE (group)                                                       \
  CASCADE_TWOFOLD (group)                                                      \
  CASCADE (tfx_cascade_f64_double_g##group, double, double, double, group)

CASCADE_ALL (1)
CASCADE_ALL (2)
CASCADE_ALL (3)
CASCADE_ALL (4)
CASCADE_ALL (5)
CASCADE_ALL (6)
CASCADE_DOUBLE_MANY (4)
CASCADE_DOUBLE_MANY (5)
CASCADE_DOUBLE_MANY (6)
CASCADE_TWOFOLD_MANY (4)
CASCADE_TWOFOLD_MANY (5)
CASCADE_TWOFOLD_MANY (6)

#endif
