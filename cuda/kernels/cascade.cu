/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.cu: the kernels of cascade.h, by name.
 *
 *   tfx_cascade_f32_double_g6   groups of six sections, double arithmetic;
 *                               float in and out, and one group
 *   tfx_cascade_any_double_g6   float or double in and out, any number of
 *                               groups
 *
 * With CASCADE_NAME, _ONLY (CASCADE_FIXED or CASCADE_ANY), _REAL and _GROUP
 * defined there is that one only, which is how one is compiled at run time. */
#include "cascade.h"

/* Threads of a block and blocks of a multiprocessor, so that nothing spills
 * out of the registers that this leaves: 128 of a thread, 168 or 255.  Eight
 * warps take eight channels, which are a whole sector where they interleave. */
#define FIXED_THREADS(group) 256
#define FIXED_BLOCKS(group) 2
#define ANY_THREADS(group) ((group) < 5 ? 256 : 128)
#define ANY_BLOCKS(group) ((group) < 5 ? 2 : (group) < 6 ? 3 : 2)

/* The arguments of a kernel with its tables in them. */
static_assert (sizeof (TfxCascadeArgs) % 16 == 0, "the table follows at once");

template <typename R, int G> struct FixedArgs
{
  TfxCascadeArgs args;
  alignas (16) R table[TFX_FIXED_SIZE (G)];
};

#define CASCADE_FIXED(name, real, group)                                       \
  typedef FixedArgs<real, group> name##_args;                                  \
  TFX_KERNEL (name, name##_args, FIXED_THREADS (group), FIXED_BLOCKS (group))  \
  {                                                                            \
    TFX_DYNAMIC_SHARED (shared);                                               \
    cascade_run<float, real, group, true> (args.args, args.table, shared);     \
  }

#define CASCADE_ANY(name, real, group)                                         \
  TFX_KERNEL (name, TfxCascadeArgs, ANY_THREADS (group), ANY_BLOCKS (group))   \
  {                                                                            \
    TFX_DYNAMIC_SHARED (shared);                                               \
    cascade_run<real, real, group, false> (args, nullptr, shared);             \
  }

#ifdef CASCADE_NAME
CASCADE_ONLY (CASCADE_NAME, CASCADE_REAL, CASCADE_GROUP)
#else

#if TFX_FAST_DOUBLE
#define CASCADE_DOUBLE(group)                                                  \
  CASCADE_FIXED (tfx_cascade_f32_double_g##group, double, group)
#else
#define CASCADE_DOUBLE(group)
#endif

#if !TFX_FAST_DOUBLE || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
#define CASCADE_TWOFOLD(group)                                                 \
  CASCADE_FIXED (tfx_cascade_f32_twofold_g##group, Twofold, group)             \
  CASCADE_ANY (tfx_cascade_any_twofold_g##group, Twofold, group)
#else
#define CASCADE_TWOFOLD(group)
#endif

/* Double streams get double arithmetic everywhere. */
#define CASCADE_ALL(group)                                                     \
  CASCADE_DOUBLE (group)                                                       \
  CASCADE_TWOFOLD (group)                                                      \
  CASCADE_ANY (tfx_cascade_any_double_g##group, double, group)

CASCADE_ALL (1)
CASCADE_ALL (2)
CASCADE_ALL (3)
CASCADE_ALL (4)
CASCADE_ALL (5)
CASCADE_ALL (6)

#endif
