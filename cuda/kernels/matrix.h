/* SPDX-License-Identifier: LGPL-2.1-or-later
 * matrix.h: products of small matrices of doubles, by a whole warp.
 *
 * With g = lane / 4 and t = lane % 4 a lane has a = A[g][t] of eight rows by four,
 * b = B[t][g] of four by eight, and of their product C[g][2 t] and C[g][2 t + 1].
 * (PTX ISA, "mma.m8n8k4" and "mma.m16n8k4".) */
#ifndef TFX_KERNEL_MATRIX_H
#define TFX_KERNEL_MATRIX_H

#include "platform.h"

/* Compute capabilities with fast double arithmetic; on others DMMA is slow too, and
 * for 11.0 it is not known. */
#if defined(__CUDA_ARCH__) && TFX_FAST_DOUBLE && __CUDA_ARCH__ >= 800 &&       \
    __CUDA_ARCH__ <= 1000
#define TFX_HAS_MATRIX 1

/* c += A b, of eight rows. */
TFX_DEVICE_FN void
matrix_add (const double (&a)[1], double b, double (&c)[1][2])
{
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0][0]), "+d"(c[0][1])
               : "d"(a[0]), "d"(b));
}

/* Of sixteen. */
TFX_DEVICE_FN void
matrix_add (const double (&a)[2], double b, double (&c)[2][2])
{
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+d"(c[0][0]), "+d"(c[0][1]), "+d"(c[1][0]), "+d"(c[1][1])
               : "d"(a[0]), "d"(a[1]), "d"(b));
#else
  for (int i = 0; i < 2; i++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                 "{%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[i][0]), "+d"(c[i][1])
                 : "d"(a[i]), "d"(b));
#endif
}

#else
#define TFX_HAS_MATRIX 0
#endif

#endif
