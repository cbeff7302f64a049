/* SPDX-License-Identifier: LGPL-2.1-or-later
 * matrices.cu: products of matrices, and prefetches, for the interpreter's own
 * test: a kernel for each shape.  To be compiled for compute capability 9.0. */
#include "kernels/platform.h"

struct MatricesArgs
{
  const double *a, *b, *c; /* M x K, K x 8, M x 8, each row by row */
  double *d;
  unsigned n; /* lanes that take part; of a prefetch: how many numbers on */
  unsigned unused;
};

/* Where a lane's numbers lie: its row of A, and its column of B; its column of A,
 * and its row of B. */
struct Lane
{
  unsigned g = threadIdx.x >> 2, t = threadIdx.x & 3;
};

TFX_KERNEL (matrices_m8n8k4, MatricesArgs, 32, 1)
{
  const Lane l;
  unsigned to = 8 * l.g + 2 * l.t;

  if (threadIdx.x < args.n)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                 "{%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(args.d[to]), "=d"(args.d[to + 1])
                 : "d"(args.a[4 * l.g + l.t]), "d"(args.b[8 * l.t + l.g]),
                 "d"(args.c[to]), "d"(args.c[to + 1]));
}

TFX_KERNEL (matrices_m16n8k4, MatricesArgs, 32, 1)
{
  const Lane l;
  unsigned to = 8 * l.g + 2 * l.t, low = to + 8 * 8;

  if (threadIdx.x < args.n)
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64.rn "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=d"(args.d[to]), "=d"(args.d[to + 1]), "=d"(args.d[low]),
                 "=d"(args.d[low + 1])
                 : "d"(args.a[4 * l.g + l.t]), "d"(args.a[4 * (l.g + 8) + l.t]),
                 "d"(args.b[8 * l.t + l.g]), "d"(args.c[to]),
                 "d"(args.c[to + 1]), "d"(args.c[low]), "d"(args.c[low + 1]));
}

/* In place: the sums are targets and sources. */
TFX_KERNEL (matrices_m16n8k8, MatricesArgs, 32, 1)
{
  const Lane l;
  unsigned to = 8 * l.g + 2 * l.t, low = to + 8 * 8;
  unsigned left = 8 * l.g + l.t;
  double d[4] = { args.c[to], args.c[to + 1], args.c[low], args.c[low + 1] };

  if (threadIdx.x < args.n)
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(args.a[left]), "d"(args.a[left + 64]),
                 "d"(args.a[left + 4]), "d"(args.a[left + 68]),
                 "d"(args.b[8 * l.t + l.g]), "d"(args.b[8 * (l.t + 4) + l.g]));
  args.d[to] = d[0];
  args.d[to + 1] = d[1];
  args.d[low] = d[2];
  args.d[low + 1] = d[3];
}

TFX_KERNEL (matrices_prefetch, MatricesArgs, 32, 1)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(args.a + args.n));
  asm volatile("prefetch.global.L1 [%0];" ::"l"(args.a + args.n));
}
