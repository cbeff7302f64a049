/* SPDX-License-Identifier: LGPL-2.1-or-later
 * uppers.h: whether code left the upper halves of vector registers in use.  Instructions
 * without AVX that follow wait for them, some 60 ns on processors that do so.
 *
 * TEST_UPPERS: the core is built so that none are. */
#ifndef TFX_TEST_UPPERS_H
#define TFX_TEST_UPPERS_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(TEST_UPPERS)

#include <cpuid.h>

/* What the processor holds to be in use, of the halves above 128 and above 256 bits. */
static inline unsigned
uppers_in_use (void)
{
  unsigned low, high;

  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low & 0x44;
}

/* Whether this processor tells, and takes them for free where they are set to 0. */
static inline bool
uppers_can_be_told (void)
{
  unsigned a = 0, b, c, d;
  bool is_told;

  if (!__builtin_cpu_supports ("avx") ||
      !__get_cpuid_count (0xd, 1, &a, &b, &c, &d) || !(a & 4))
    return false;
  __asm__ volatile("vcmptrueps %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
  is_told = uppers_in_use () != 0;
  __asm__ volatile("vzeroupper" ::: "xmm0");
  return is_told && uppers_in_use () == 0;
}

static inline bool
uppers_are_left (void)
{
  static int can_be_told; /* 1 or -1 when it is known */
  int told = __atomic_load_n (&can_be_told, __ATOMIC_RELAXED);

  if (told == 0) {
    told = uppers_can_be_told () ? 1 : -1;
    __atomic_store_n (&can_be_told, told, __ATOMIC_RELAXED);
    return false; /* they are free now */
  }
  return told > 0 && uppers_in_use () != 0;
}

#else

static inline bool
uppers_are_left (void)
{
  return false;
}

#endif
#endif
