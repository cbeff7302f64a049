/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.cu: the kernels of cascade.h, by name.
 *
 *   tfx_cascade_f32_double_g6   groups of six sections, double arithmetic;
 *                               float in and out, and one group
 *   tfx_cascade_any_double_g6   float or double in and out, any number of
 *                               groups
 *
 * With CASCADE_NAME, _WORK, _REAL and _GROUP defined there is that one only,
 * which is how one is compiled at run time. */
#include "cascade.h"

/* Threads of a block and blocks of a multiprocessor, so that nothing spills
 * out of the registers that this leaves: 128 of a thread, or 168. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900
#define CASCADE_THREADS(group) ((group) < 5 ? 256 : 128)
#define CASCADE_BLOCKS(group) ((group) < 5 ? 2 : 3)
#else
#define CASCADE_THREADS(group) 256
#define CASCADE_BLOCKS(group) 2
#endif

#define CASCADE(name, work, real, group)                                       \
  TFX_KERNEL (name, TfxCascadeArgs, CASCADE_THREADS (group),                   \
      CASCADE_BLOCKS (group))                                                  \
  {                                                                            \
    TFX_DYNAMIC_SHARED (shared);                                               \
    cascade_run<work, real, group> (args, shared);                             \
  }

#ifdef CASCADE_NAME
CASCADE (CASCADE_NAME, CASCADE_WORK, CASCADE_REAL, CASCADE_GROUP)
#else

/* Devices of compute capability x.0 do double at half the speed of float, the
 * others, and some that run the machine code of 10.0, at a small fraction. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ % 100 == 0
#define CASCADE_DOUBLE(group)                                                  \
  CASCADE (tfx_cascade_f32_double_g##group, float, double, group)
#else
#define CASCADE_DOUBLE(group)
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ % 100 != 0 ||                     \
    __CUDA_ARCH__ >= 1000
#define CASCADE_TWOFOLD(group)                                                 \
  CASCADE (tfx_cascade_f32_twofold_g##group, float, Twofold, group)            \
  CASCADE (tfx_cascade_any_twofold_g##group, Twofold, Twofold, group)
#else
#define CASCADE_TWOFOLD(group)
#endif

/* Double streams get double arithmetic everywhere. */
#define CASCADE_ALL(group)                                                     \
  CASCADE_DOUBLE (group)                                                       \
  CASCADE_TWOFOLD (group)                                                      \
  CASCADE (tfx_cascade_any_double_g##group, double, double, group)

CASCADE_ALL (1)
CASCADE_ALL (2)
CASCADE_ALL (3)
CASCADE_ALL (4)
CASCADE_ALL (5)
CASCADE_ALL (6)

#endif
