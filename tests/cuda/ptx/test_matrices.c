/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_matrices.c: what the interpreter of PTX makes of products of matrices and
 * of prefetches: the kernels of matrices.cu. */
#include "chains.h"
#include "common-cuda.h"
#include "counts.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 8
#define MAX_M 16
#define MAX_K 8
#define WARP 32

typedef struct MatricesArgs
{
  CUdeviceptr a, b, c, d;
  unsigned n, unused;
} MatricesArgs;

typedef struct Matrices
{
  double a[MAX_M * MAX_K], b[MAX_K * N], c[MAX_M * N], d[MAX_M * N];
} Matrices;

static const struct
{
  const char *name;
  int m, k;
} shapes[] = { { "matrices_m8n8k4", 8, 4 }, { "matrices_m16n8k4", 16, 4 },
  { "matrices_m16n8k8", 16, 8 } };

static const TfxDriver *d;
static TestDevice own;

/* Copies them there and back. */
static CUresult
launch (const char *name, Matrices *x, unsigned n)
{
  CUdeviceptr memory = 0;
  CUfunction function;
  CUresult result = d->module_get_function (&function, own.module, name);

  d->mem_alloc (&memory, sizeof *x);
  MatricesArgs args = { memory + offsetof (Matrices, a),
    memory + offsetof (Matrices, b), memory + offsetof (Matrices, c),
    memory + offsetof (Matrices, d), n, 0 };
  void *arguments[] = { &args };
  d->memcpy_htod_async (memory, x, sizeof *x, own.stream);
  if (result == CUDA_SUCCESS)
    result = d->launch_kernel (function, 1, 1, 1, WARP, 1, 1, 0, own.stream,
        arguments, NULL);
  if (result == CUDA_SUCCESS)
    result = d->stream_synchronize (own.stream);
  d->memcpy_dtoh_async (x, memory, sizeof *x, own.stream);
  d->stream_synchronize (own.stream);
  d->mem_free (memory);
  return result;
}

static void
fill (Matrices *x)
{
  double *all = (double *)x;

  for (size_t i = 0; i < sizeof *x / sizeof *all; i++)
    all[i] = sin ((double)(i * i + 1));
}

static double
element (const Matrices *x, int n_k, int row, int column)
{
  double sum = x->c[row * N + column];

  for (int k = 0; k < n_k; k++)
    sum = fma (x->a[row * n_k + k], x->b[k * N + column], sum);
  return sum;
}

static void
test_products (void)
{
  static const char *const divergences[] = { "0", "1", "2" };
  TapMany many = tap_many ("products of matrices");

  for (size_t i = 0; i < 3 * N_OF (shapes); i++) {
    const char *name = shapes[i / 3].name;
    Matrices x, before;

    test_cuda_set ("TFX_STANDIN_DIVERGENCE", divergences[i % 3]);
    fill (&x);
    before = x;
    tap_many_check (&many, launch (name, &x, WARP) == CUDA_SUCCESS, "%s fails",
        name);
    for (int e = 0; e < shapes[i / 3].m * N; e++) {
      double expected = element (&before, shapes[i / 3].k, e / N, e % N);
      tap_many_check (&many, x.d[e] == expected, "%s: D[%d][%d] is %g, not %g",
          name, e / N, e % N, x.d[e], expected);
    }
  }
  test_cuda_set ("TFX_STANDIN_DIVERGENCE", NULL);
  tap_many_end (&many);
}

static void
test_apart (void)
{
  TapMany many = tap_many ("lanes that miss a product are found");
  Matrices x;

  fill (&x);
  for (size_t i = 0; i < N_OF (shapes); i++)
    tap_many_check (&many, launch (shapes[i].name, &x, 31) != CUDA_SUCCESS,
        "%s passes", shapes[i].name);
  tap_many_end (&many);
}

static void
test_prefetch (void)
{
  const unsigned n = sizeof (Matrices) / sizeof (double);
  Matrices x;

  fill (&x);
  tap_check (launch ("matrices_prefetch", &x, n - 1) == CUDA_SUCCESS,
      "a prefetch");
  tap_check (launch ("matrices_prefetch", &x, n) != CUDA_SUCCESS,
      "a prefetch beyond the memory is found");
}

/* A multiply-add of doubles for each that a lane has a share in; one instruction
 * of the warp. */
static void
test_counts (void)
{
  char path[] = "/tmp/tfx-matrices-XXXXXX";
  int fd = mkstemp (path);
  TapMany many = tap_many ("products of matrices count as multiply-adds");

  for (size_t i = 0; i < N_OF (shapes); i++) {
    double each = shapes[i].m * N * shapes[i].k / WARP;
    Matrices x;
    Counts c;

    fill (&x);
    test_cuda_set ("TFX_STANDIN_COUNTS", path);
    launch (shapes[i].name, &x, WARP);
    test_cuda_set ("TFX_STANDIN_COUNTS", NULL);
    tap_many_check (&many, counts_read (&c, path, WARP),
        "no launch was counted");
    tap_many_check (&many,
        c.kinds[COUNT_FP64] == each && c.warps[COUNT_FP64] == each &&
            c.mma_multiplies == each && c.mma_issued == 1,
        "%s: %g FP64, %g a warp, of it %g in %g instructions", shapes[i].name,
        c.kinds[COUNT_FP64], c.warps[COUNT_FP64], c.mma_multiplies,
        c.mma_issued);
  }
  close (fd);
  unlink (path);
  tap_many_end (&many);
}

/* Whether a device of compute capability 9.0 takes the statement. */
static void
test_syntax (void)
{
#define MMA "mma.sync.aligned."
#define F64 ".f64.f64.f64.f64 "
  static const struct
  {
    const char *target, *statement;
    bool good;
  } cases[] = {
    { "80", MMA "m8n8k4.row.col" F64 "{%x0,%x1}, {%x2}, {%x3}, {%x0,%x1}",
        true },
    { "90",
        MMA "m8n8k4.row.col.rn" F64 "{%x0, _}, {%x2}, {%x3}, "
            "{0d0000000000000000,%x1}",
        true },
    { "75", MMA "m8n8k4.row.col" F64 "{%x0,%x1}, {%x2}, {%x3}, {%x0,%x1}",
        false },
    { "80",
        MMA "m16n8k4.row.col" F64
            "{%x0,%x1,%x2,%x3}, {%x0,%x1}, {%x3}, {%x0,%x1,%x2,%x3}",
        false },
    { "90",
        MMA "m16n8k4.row.col" F64
            "{%x0,%x1,%x2,%x3}, {%x0,%x1}, {%x3}, {%x0,%x1,%x2,%x3}",
        true },
    { "90", MMA "m8n8k4.row.col" F64 "{%x0,%x1}, %x2, %x3, {%x0,%x1}", false },
    { "90", MMA "m8n8k4.row.col" F64 "{%x0,%x1}, {%x2}, {%x3}, {%x0}", false },
    { "90", MMA "m8n8k4.col.col" F64 "{%x0,%x1}, {%x2}, {%x3}, {%x0,%x1}",
        false },
    { "90", MMA "m8n8k4.row.col.rz" F64 "{%x0,%x1}, {%x2}, {%x3}, {%x0,%x1}",
        false },
    { "90", "prefetch.global.L2 [%x0+128]", true },
    { "90", "prefetch.global.L2::evict_last [%x0]", false },
  };
  TapMany many = tap_many ("how it is written");

  for (size_t i = 0; i < N_OF (cases); i++) {
    char text[512];
    CUmodule made;
    CUresult result;

    snprintf (text, sizeof text,
        ".version 8.0\n.target sm_%s\n.address_size 64\n"
        ".visible .entry k(\n.param .u64 p\n)\n{\n.reg .b64 %%x<4>;\n"
        "%s;\nret;\n}\n",
        cases[i].target, cases[i].statement);
    result = d->module_load_data (&made, text);
    tap_many_check (&many, (result == CUDA_SUCCESS) == cases[i].good,
        "sm_%s, %s: %d", cases[i].target, cases[i].statement, (int)result);
    if (result == CUDA_SUCCESS)
      d->module_unload (made);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "products", test_products },
  { "apart", test_apart },
  { "prefetch", test_prefetch },
  { "counts", test_counts },
  { "syntax", test_syntax },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int status;

  test_cuda_set ("TFX_STANDIN_CARD", NULL);
  d = tfx_driver_get (NULL);
  if (!d || !test_cuda_is_standin ()) {
    printf ("1..0 # SKIP this is not the stand-in\n");
    return 0;
  }
  test_device_open (&own, 0);
  status = tap_main (argc, argv, tests);
  test_device_close (&own);
  return status;
}
