/* SPDX-License-Identifier: LGPL-2.1-or-later
 * platform.h: what the kernels need of CUDA C++, for nvcc and NVRTC.  With
 * TFX_KERNEL_HOST the same sources are compiled for the host, and host.h gives
 * the same names another meaning. */
#ifndef TFX_KERNEL_PLATFORM_H
#define TFX_KERNEL_PLATFORM_H

#ifdef TFX_KERNEL_HOST
#include <host.h>
#else

#define TFX_DEVICE_FN static __device__ __forceinline__

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define TFX_CONSTANT __grid_constant__
#define TFX_SLEEP(ns) __nanosleep (ns)
#else
#define TFX_CONSTANT
#define TFX_SLEEP(ns) __threadfence ()
#endif

/* A kernel with the one argument `args`; blocks of up to THREADS threads, at
 * least BLOCKS of them on a multiprocessor. */
#define TFX_KERNEL(name, args_type, threads, blocks)                           \
  extern "C" __global__ void __launch_bounds__ (threads, blocks)               \
      name (const TFX_CONSTANT args_type args)

/* Prefetches an address. */
#define TFX_PREFETCH(address)                                                  \
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address))

/* Hides where a number comes from, so that what is computed from it stays where
 * it is used and does not occupy registers across a loop. */
#define TFX_OPAQUE(x) asm volatile("" : "+r"(x))

#define TFX_DYNAMIC_SHARED(name)                                               \
  extern __shared__ __align__ (16) unsigned char name[]

/* Two numbers that another block may have written during this launch. */
TFX_DEVICE_FN void
load_fresh (const float *from, float *a, float *b)
{
  float2 v = __ldcg ((const float2 *)from);

  *a = v.x;
  *b = v.y;
}

TFX_DEVICE_FN void
load_fresh (const double *from, double *a, double *b)
{
  double2 v = __ldcg ((const double2 *)from);

  *a = v.x;
  *b = v.y;
}

#endif

/* Devices of compute capability x.0 do double at half the speed of float, the
 * others, and some that run the machine code of 10.0, at a small fraction. */
#if !defined(__CUDA_ARCH__) ||                                                 \
    (__CUDA_ARCH__ % 100 == 0 && __CUDA_ARCH__ < 1200)
#define TFX_FAST_DOUBLE 1
#else
#define TFX_FAST_DOUBLE 0
#endif

#define TFX_WARP 32
#define TFX_ALL_LANES 0xffffffffu

typedef unsigned long long tfx_u64;

#endif
