/* SPDX-License-Identifier: LGPL-2.1-or-later
 * host.h: the names of CUDA C++ that the kernels use, for the host.
 *
 * A thread of a block is a fiber of grid.c; whatever makes lanes or threads
 * meet switches between them. */
#ifndef TFX_STANDIN_HOST_H
#define TFX_STANDIN_HOST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grid.h"

using std::isfinite;

#define TFX_DEVICE_FN static inline
#define TFX_PREFETCH(address) ((void)(address))

#define TFX_KERNEL(name, args_type, threads, blocks)                           \
  static void name (const args_type &args);                                    \
  static void name##_run (const void *args)                                    \
  {                                                                            \
    name (*(const args_type *)args);                                           \
  }                                                                            \
  static StandinKernel name##_kernel = { #name, sizeof (args_type), threads,   \
    name##_run, NULL };                                                        \
  __attribute__ ((constructor)) static void name##_register (void)             \
  {                                                                            \
    standin_kernel_register (&name##_kernel);                                  \
  }                                                                            \
  static void name (const args_type &args)

#define TFX_DYNAMIC_SHARED(name) unsigned char *name = standin_self->shared

#define TFX_OPAQUE(x) __asm__ volatile("" : "+r"(x))

struct StandinIndex
{
  unsigned x;
};

#define threadIdx (StandinIndex{ standin_self->thread })
#define blockIdx (StandinIndex{ standin_self->block })
#define blockDim (StandinIndex{ standin_self->block_dim })
#define gridDim (StandinIndex{ standin_self->grid_dim })

#define __syncthreads() standin_sync_threads (__FILE__, __LINE__)
#define __syncwarp() ((void)standin_share (0, __FILE__, __LINE__))
#define TFX_SLEEP(ns) standin_sleep ()
#define __threadfence() ((void)0)

/* ---- warps ------------------------------------------------------------------ */

#define __shfl_up_sync(mask, value, delta, width)                              \
  host_shuffle_up (mask, value, delta, width, __FILE__, __LINE__)
#define __shfl_sync(mask, value, lane, width)                                  \
  host_shuffle (mask, value, lane, width, __FILE__, __LINE__)
#define __all_sync(mask, value)                                                \
  (host_ballot (mask, value, __FILE__, __LINE__) == 0xffffffffu)
#define __ballot_sync(mask, value) host_ballot (mask, value, __FILE__, __LINE__)

template <typename T>
static inline T
host_shared_value (const uint64_t *values, unsigned lane)
{
  T value;

  memcpy (&value, &values[lane], sizeof value);
  return value;
}

template <typename T>
static inline const uint64_t *
host_share (unsigned mask, T value, const char *file, int line)
{
  uint64_t bits = 0;

  if (mask != 0xffffffffu)
    standin_fail (file, line, "a warp function with a part of the lanes");
  memcpy (&bits, &value, sizeof value);
  return standin_share (bits, file, line);
}

template <typename T>
static inline T
host_shuffle_up (unsigned mask, T value, unsigned delta, unsigned width,
    const char *file, int line)
{
  const uint64_t *values = host_share (mask, value, file, line);
  unsigned lane = standin_self->thread % 32;

  return (lane & (width - 1)) >= delta
             ? host_shared_value<T> (values, lane - delta)
             : value;
}

template <typename T>
static inline T
host_shuffle (unsigned mask, T value, unsigned from, unsigned width,
    const char *file, int line)
{
  const uint64_t *values = host_share (mask, value, file, line);
  unsigned lane = standin_self->thread % 32;

  return host_shared_value<T> (values,
      (lane & ~(width - 1)) | (from & (width - 1)));
}

static inline unsigned
host_ballot (unsigned mask, bool value, const char *file, int line)
{
  const uint64_t *values = host_share (mask, (unsigned)value, file, line);
  unsigned bits = 0;

  for (unsigned lane = 0; lane < 32; lane++)
    bits |= (unsigned)(values[lane] != 0) << lane;
  return bits;
}

/* ---- arithmetic ---------------------------------------------------------------- */

/* Compiled with -ffp-contract=off: every operation rounds once, by its name. */
#define __fma_rn(a, b, c) __builtin_fma (a, b, c)
#define __dmul_rn(a, b) ((double)(a) * (double)(b))
#define __dadd_rn(a, b) ((double)(a) + (double)(b))
#define __dsub_rn(a, b) ((double)(a) - (double)(b))
#define __fmaf_rn(a, b, c) __builtin_fmaf (a, b, c)
#define __fmul_rn(a, b) ((float)(a) * (float)(b))
#define __fadd_rn(a, b) ((float)(a) + (float)(b))
#define __fsub_rn(a, b) ((float)(a) - (float)(b))

template <typename To, typename From>
static inline To
host_bits (From from)
{
  To to;

  static_assert (sizeof to == sizeof from, "sizes differ");
  memcpy (&to, &from, sizeof to);
  return to;
}

#define __double_as_longlong(x) host_bits<long long, double> (x)
#define __longlong_as_double(x) host_bits<double, long long> (x)
#define __float_as_uint(x) host_bits<unsigned, float> (x)
#define __uint_as_float(x) host_bits<float, unsigned> (x)
#define __clz(x) __builtin_clz ((unsigned)(x))

static inline unsigned
__brev (unsigned x)
{
  unsigned y = 0;

  for (unsigned i = 0; i < 32; i++)
    y |= (x >> i & 1) << (31 - i);
  return y;
}

template <typename T>
static inline void
load_fresh (const T *from, T *a, T *b)
{
  *a = from[0];
  *b = from[1];
}

static inline unsigned
atomicAdd (unsigned *at, unsigned value)
{
  unsigned old = *at;

  *at = old + value;
  return old;
}

#endif
