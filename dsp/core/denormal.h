/* SPDX-License-Identifier: LGPL-2.1-or-later
 * denormal.h: a scope in which denormal numbers count as zero.
 *
 * A filter that rings out passes through the denormal range, where some
 * processors take a hundred times longer.  The caller's mode is put back. */
#ifndef TFX_DENORMAL_H
#define TFX_DENORMAL_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

typedef uint64_t TfxDenormalMode;

static inline TfxDenormalMode
tfx_denormal_enter (void)
{
#if defined(__SSE2__)
  TfxDenormalMode mode = _mm_getcsr ();
  _mm_setcsr ((unsigned)mode | 0x8040); /* flush to zero, denormals are zero */
  return mode;
#elif defined(__aarch64__)
  TfxDenormalMode mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  __asm__ volatile("msr fpcr, %0" : : "r"(mode | (1u << 24)));
  return mode;
#else
  return 0;
#endif
}

static inline void
tfx_denormal_leave (TfxDenormalMode mode)
{
#if defined(__SSE2__)
  _mm_setcsr ((unsigned)mode);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
  (void)mode;
#endif
}

#endif
