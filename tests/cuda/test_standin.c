/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_standin.c: the stand-in for the driver itself: that it runs what is
 * right, and finds what is wrong. */
#include "common-cuda.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 256 /* threads of a block */

typedef struct FaultyArgs
{
  CUdeviceptr data;
  unsigned n, unused;
} FaultyArgs;

static const TfxDriver *d;
static TestDevice own;

static CUresult
launch (const char *name, CUdeviceptr data, unsigned n, unsigned grid)
{
  FaultyArgs args = { data, n, 0 };
  void *arguments[] = { &args };
  CUfunction function;
  CUresult result = d->module_get_function (&function, own.module, name);

  if (result == CUDA_SUCCESS)
    result = d->launch_kernel (function, grid, 1, 1, N, 1, 1,
        N * sizeof (float), own.stream, arguments, NULL);
  if (result == CUDA_SUCCESS)
    result = d->stream_synchronize (own.stream);
  return result;
}

static CUdeviceptr
floats_new (const float *values, size_t n)
{
  CUdeviceptr memory = 0;

  d->mem_alloc (&memory, n * sizeof *values);
  d->memcpy_htod_async (memory, values, n * sizeof *values, own.stream);
  d->stream_synchronize (own.stream);
  return memory;
}

static void
test_good (void)
{
  static const char *const orders[] = { "forward", "reverse", "random:5" };
  TapMany many = tap_many ("a sum over a block");

  for (unsigned i = 0; i < 3; i++) {
    float values[4 * N], sums[4 * N], sum = 0;
    CUdeviceptr memory;

    for (unsigned k = 0; k < 4 * N; k++)
      values[k] = (float)(k % 7);
    test_cuda_set ("TFX_STANDIN_ORDER", orders[i]);
    memory = floats_new (values, 4 * N);
    tap_many_check (&many,
        launch ("standin_good", memory, 0, 4) == CUDA_SUCCESS, "%s fails",
        orders[i]);
    d->memcpy_dtoh_async (sums, memory, sizeof sums, own.stream);
    d->stream_synchronize (own.stream);
    for (unsigned k = 0; k < 4 * N; k++) {
      sum = k % N == 0 ? values[k] : sum + values[k];
      tap_many_check (&many, sums[k] == sum, "%s: sum %u is %g, not %g",
          orders[i], k, sums[k], sum);
    }
    d->mem_free (memory);
  }
  test_cuda_set ("TFX_STANDIN_ORDER", NULL);
  tap_many_end (&many);
}

static void
test_faults (void)
{
  static const struct
  {
    const char *name;
    unsigned n;
  } cases[] = { { "standin_diverges", N / 2 }, { "standin_meets_apart", 32 },
    { "standin_shuffles_apart", 16 }, { "standin_overruns", N } };
  TapMany many = tap_many ("faults of kernels are found");
  float values[N] = { 0 };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CUdeviceptr memory = floats_new (values, N);
    CUresult result = launch (cases[i].name, memory, cases[i].n, 1);

    tap_many_check (&many, result != CUDA_SUCCESS, "%s passes", cases[i].name);
    d->mem_free (memory);
    /* And the next one is none the worse for it. */
    memory = floats_new (values, N);
    tap_many_check (&many,
        launch ("standin_good", memory, 0, 1) == CUDA_SUCCESS,
        "after %s a good one fails", cases[i].name);
    d->mem_free (memory);
  }
  tap_many_end (&many);
}

/* Waiting for a block that has not begun ends well in one order only, unless
 * all run at a time. */
static void
test_waiting (void)
{
  static const struct
  {
    const char *order, *resident;
    bool good;
  } cases[] = { { "forward", "1", true }, { "reverse", "1", false },
    { "reverse", "4", true } };
  TapMany many = tap_many ("a wait without tickets");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float values[N] = { 0 };
    CUdeviceptr memory = floats_new (values, N);
    CUresult result;

    test_cuda_set ("TFX_STANDIN_ORDER", cases[i].order);
    test_cuda_set ("TFX_STANDIN_RESIDENT", cases[i].resident);
    result = launch ("standin_waits", memory, 0, 4);
    tap_many_check (&many, (result == CUDA_SUCCESS) == cases[i].good,
        "%s, %s at a time: %d", cases[i].order, cases[i].resident, (int)result);
    d->mem_free (memory);
  }
  test_cuda_set ("TFX_STANDIN_ORDER", NULL);
  test_cuda_set ("TFX_STANDIN_RESIDENT", NULL);
  tap_many_end (&many);
}

static void
test_poison (void)
{
  float values[N];
  CUdeviceptr memory;
  bool poisoned = true;

  d->mem_alloc (&memory, sizeof values);
  d->memcpy_dtoh_async (values, memory, sizeof values, own.stream);
  d->stream_synchronize (own.stream);
  for (unsigned i = 0; i < N; i++)
    poisoned = poisoned && isnan (values[i]);
  tap_check (poisoned, "fresh device memory is no number");
  launch ("standin_reads_shared", memory, 0, 1);
  d->memcpy_dtoh_async (values, memory, sizeof values, own.stream);
  d->stream_synchronize (own.stream);
  for (unsigned i = 0; i < N; i++)
    poisoned = poisoned && isnan (values[i]);
  tap_check (poisoned, "nor is shared memory");
  d->mem_free (memory);
}

static void
test_bounds (void)
{
  TapMany many = tap_many ("copies outside of an allocation are found");
  char host[128] = { 0 };
  CUdeviceptr memory;

  d->mem_alloc (&memory, 100);
  tap_many_check (&many,
      d->memcpy_htod_async (memory, host, 100, own.stream) == CUDA_SUCCESS,
      "all of it");
  tap_many_check (&many,
      d->memcpy_htod_async (memory, host, 101, own.stream) != CUDA_SUCCESS,
      "a byte too many");
  tap_many_check (&many,
      d->memcpy_dtoh_async (host, memory + 50, 51, own.stream) != CUDA_SUCCESS,
      "too far on");
  tap_many_check (&many,
      d->memcpy_dtoh_async (host, memory - 1, 10, own.stream) != CUDA_SUCCESS,
      "before it");
  tap_many_check (&many,
      d->memset_d8_async (memory, 0, 200, own.stream) != CUDA_SUCCESS, "a set");
  tap_many_check (&many,
      d->memcpy_htod_async ((uintptr_t)host, host, 10, own.stream) !=
          CUDA_SUCCESS,
      "to the host");
  d->mem_free (memory);
  tap_many_check (&many,
      d->memcpy_htod_async (memory, host, 100, own.stream) != CUDA_SUCCESS,
      "after it was freed");
  tap_many_check (&many, d->mem_free (memory) != CUDA_SUCCESS, "freed twice");
  tap_many_end (&many);
}

/* Late: a copy from pinned memory reads it during the wait, one from other memory
 * at once; an event completes all earlier work. */
static void
test_late (void)
{
  CUdeviceptr memory;
  CUevent event;
  char *pinned, host[2] = { 1, 0 }, back = 0;

  test_cuda_set ("TFX_STANDIN_ASYNC", "late");
  d->mem_alloc (&memory, 2);
  d->mem_host_alloc ((void **)&pinned, 2, 0);
  d->event_create (&event, CU_EVENT_DISABLE_TIMING);
  pinned[0] = 1;
  d->memcpy_htod_async (memory, pinned, 1, own.stream);
  pinned[0] = 2; /* too early */
  d->memcpy_htod_async (memory + 1, host, 1, own.stream);
  host[0] = 2; /* has been read */
  d->event_record (event, own.stream);
  d->event_synchronize (event);
  d->memcpy_dtoh_async (&back, memory, 1, own.stream);
  tap_check (back == 2, "late: pinned memory is read when it is waited for");
  d->memcpy_dtoh_async (&back, memory + 1, 1, own.stream);
  tap_check (back == 1, "late: other memory is read at once");
  pinned[1] = 7;
  d->memcpy_dtoh_async (pinned + 1, memory, 1, own.stream);
  tap_check (pinned[1] == 7, "late: pinned memory is written late");
  d->stream_synchronize (own.stream);
  tap_check (pinned[1] == 2, "late: and when it is waited for");
  d->event_destroy (event);
  d->mem_free (memory);
  d->mem_free_host (pinned);
  test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
}

static void
test_injection (void)
{
  CUdeviceptr memory = 0;
  CUresult results[5];

  test_cuda_set ("TFX_STANDIN_FAIL", "cuMemAlloc_v2:2,2");
  for (unsigned i = 0; i < 3; i++) {
    results[i] = d->mem_alloc (&memory, 10);
    if (results[i] == CUDA_SUCCESS)
      d->mem_free (memory);
  }
  tap_check (results[0] == CUDA_SUCCESS &&
                 results[1] == CUDA_ERROR_OUT_OF_MEMORY &&
                 results[2] == CUDA_SUCCESS,
      "the second call fails, with the code that was asked for");
  test_cuda_set ("TFX_STANDIN_FAIL", "2,719,sticky");
  for (unsigned i = 0; i < 3; i++)
    results[i] = d->stream_synchronize (own.stream);
  tap_check (results[0] == CUDA_SUCCESS && results[1] == 719 &&
                 results[2] == 719,
      "sticky: so do all after it");
  test_cuda_set ("TFX_STANDIN_FAIL", NULL);
  tap_check (d->stream_synchronize (own.stream) == CUDA_SUCCESS,
      "until it is over");
}

static const TapTest tests[] = {
  { "good", test_good },
  { "faults", test_faults },
  { "waiting", test_waiting },
  { "poison", test_poison },
  { "bounds", test_bounds },
  { "late", test_late },
  { "injection", test_injection },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int status;

  /* As a card it forgives less: test_cards.c. */
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
