/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_standin.c: the stand-in for the driver itself: that it runs what is right, and
 * finds what is wrong; and as a card: its limits, and what it does not forgive. */
#include "chains.h"
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

/* Starts a kernel of faulty.h. */
static CUresult
start (const TestDevice *o, const char *name, CUdeviceptr data, unsigned n,
    unsigned grid)
{
  FaultyArgs args = { data, n, 0 };
  void *arguments[] = { &args };
  CUfunction function;
  CUresult result = d->module_get_function (&function, o->module, name);

  if (result == CUDA_SUCCESS)
    result = d->launch_kernel (function, grid, 1, 1, N, 1, 1,
        N * sizeof (float), o->stream, arguments, NULL);
  return result;
}

static CUresult
launch (const char *name, CUdeviceptr data, unsigned n, unsigned grid)
{
  CUresult result = start (&own, name, data, n, grid);

  return result == CUDA_SUCCESS ? d->stream_synchronize (own.stream) : result;
}

/* Opens a device of this card; close_card() forgets it. */
static void
open_card (const char *card, TestDevice *o)
{
  test_cuda_set ("TFX_STANDIN_CARD", card);
  test_device_open (o, 0);
}

static void
close_card (TestDevice *o)
{
  test_device_close (o);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
}

/* N floats on a device; zeros, if it is ready. */
static CUdeviceptr
memory_new (const TestDevice *o)
{
  CUdeviceptr memory = 0;

  d->mem_alloc (&memory, N * sizeof (float));
  if (o)
    d->memset_d8_async (memory, 0, N * sizeof (float), o->stream);
  return memory;
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

  for (size_t i = 0; i < N_OF (cases); i++) {
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

  for (size_t i = 0; i < N_OF (cases); i++) {
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

/* ---- cards -------------------------------------------------------------------- */

static int
attribute (CUdevice_attribute which)
{
  int value = -1;

  d->device_get_attribute (&value, which, 0);
  return value;
}

static void
test_limits (void)
{
  static const struct
  {
    const char *name, *title;
    int compute, n_multiprocessors, shared, ratio, integrated;
  } cards[] = {
    { "t4", "Tesla T4", 75, 40, 65536, 32, 0 },
    { "3070", "RTX 3070", 86, 46, 101376, 64, 0 },
    { "4090", "RTX 4090", 89, 128, 101376, 64, 0 },
    { "a100", "A100", 80, 108, 166912, 2, 0 },
    { "h100", "H100", 90, 132, 232448, 2, 0 },
    { "orin", "Orin", 87, 16, 166912, 64, 1 },
  };
  TapMany many = tap_many ("limits of cards");

  for (size_t i = 0; i < N_OF (cards); i++) {
    char name[128] = "";
    CUfunction function;
    CUresult most, more;
    TestDevice o;

    open_card (cards[i].name, &o);
    d->device_get_name (name, sizeof name, 0);
    d->module_get_function (&function, o.module, "standin_good");
    most = d->func_set_attribute (function,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cards[i].shared);
    more = d->func_set_attribute (function,
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cards[i].shared + 1);
    tap_many_check (&many,
        strstr (name, cards[i].title) && most == CUDA_SUCCESS &&
            more == CUDA_ERROR_INVALID_VALUE,
        "%s is \"%s\", shared memory %d, %d", cards[i].name, name, (int)most,
        (int)more);
    tap_many_check (&many,
        10 * attribute (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                    attribute (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) ==
                cards[i].compute &&
            attribute (CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) ==
                cards[i].n_multiprocessors &&
            attribute (
                CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO) ==
                cards[i].ratio &&
            attribute (CU_DEVICE_ATTRIBUTE_INTEGRATED) == cards[i].integrated,
        "%s has other properties", cards[i].name);
    close_card (&o);
  }
  tap_many_end (&many);
}

/* What queued work still needs must not be freed. */
static void
test_frees (void)
{
  TapMany many = tap_many ("frees that do not wait");
  CUdeviceptr memory, other;
  void *pinned;
  TestDevice o;

  test_cuda_set ("TFX_STANDIN_ASYNC", "late");
  open_card ("3070", &o);
  memory = memory_new (NULL);
  other = memory_new (NULL);
  d->mem_host_alloc (&pinned, N * 4, 0);
  memset (pinned, 0, N * 4);
  d->memcpy_htod_async (memory, pinned, N * 4, o.stream);
  tap_many_check (&many, d->mem_free_host (pinned) != CUDA_SUCCESS,
      "pinned memory before its upload");
  tap_many_check (&many, d->mem_free (memory) != CUDA_SUCCESS,
      "memory before it is written");
  d->stream_synchronize (o.stream);
  start (&o, "standin_good", memory, 0, 1);
  tap_many_check (&many, d->mem_free (memory) != CUDA_SUCCESS,
      "memory that a kernel is to use");
  tap_many_check (&many, d->mem_free (other) == CUDA_SUCCESS,
      "memory that nobody needs is not freed");
  d->stream_synchronize (o.stream);
  tap_many_check (&many,
      d->mem_free (memory) == CUDA_SUCCESS &&
          d->mem_free_host (pinned) == CUDA_SUCCESS,
      "nor is any when all is done");
  close_card (&o);
  test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
  tap_many_end (&many);
}

/* A kernel gets no pointer that its device does not reach. */
static void
test_reach (void)
{
  TapMany many = tap_many ("pointers that a device does not reach");
  float *pageable = test_alloc (N * 4);
  void *pinned;
  CUdeviceptr memory;
  TestDevice o, second;

  test_cuda_set ("TFX_STANDIN_DEVICES", "2");
  open_card ("a100", &o);
  memory = memory_new (&o);
  d->mem_host_alloc (&pinned, N * 4, 0);
  memset (pinned, 0, N * 4);
  tap_many_check (&many,
      start (&o, "standin_good", memory, 0, 1) == CUDA_SUCCESS,
      "its own memory");
  tap_many_check (&many,
      start (&o, "standin_good", (uintptr_t)pinned, 0, 1) == CUDA_SUCCESS,
      "pinned memory");
  tap_many_check (&many,
      start (&o, "standin_good", (uintptr_t)pageable, 0, 1) != CUDA_SUCCESS,
      "pageable memory is taken");
  test_device_open (&second, 1);
  tap_many_check (&many,
      start (&second, "standin_good", memory, 0, 1) != CUDA_SUCCESS,
      "another device's memory is taken");
  test_device_close (&second);
  d->mem_free (memory);
  d->mem_free_host (pinned);
  close_card (&o);
  free (pageable);
  test_cuda_set ("TFX_STANDIN_DEVICES", NULL);
  tap_many_end (&many);
}

static void
test_sticky (void)
{
  TapMany many = tap_many ("a fault stays until the context is gone");
  CUdeviceptr memory;
  TestDevice o;

  /* No other context is there. */
  test_device_close (&own);
  open_card ("h100", &o);
  memory = memory_new (&o);
  start (&o, "standin_diverges", memory, N / 2, 1);
  tap_many_check (&many,
      d->stream_synchronize (o.stream) == CUDA_ERROR_LAUNCH_FAILED, "waiting");
  tap_many_check (&many, d->mem_free (memory) == CUDA_ERROR_LAUNCH_FAILED,
      "freeing");
  tap_many_check (&many,
      start (&o, "standin_good", memory, 0, 1) == CUDA_ERROR_LAUNCH_FAILED,
      "launching");
  test_device_close (&o);
  test_device_open (&o, 0);
  memory = memory_new (&o);
  tap_many_check (&many,
      start (&o, "standin_good", memory, 0, 1) == CUDA_SUCCESS &&
          d->mem_free (memory) == CUDA_SUCCESS,
      "a new context");
  close_card (&o);
  test_device_open (&own, 0);
  tap_many_end (&many);
}

/* ---- images ------------------------------------------------------------------- */

/* The head of machine code, as CUDA 12 (ABI 7) and 13 (8) write it. */
static void
put_elf (unsigned char *to, unsigned arch, unsigned abi)
{
  memset (to, 0, 64);
  memcpy (to, "\177ELF", 4);
  to[8] = (unsigned char)abi;
  to[18] = 190;
  to[abi >= 8 ? 49 : 48] = (unsigned char)arch;
}

/* A fat binary of machine code and PTX 8.4, with no bytes in them. */
static void
put_fat (unsigned char *to, unsigned arch, unsigned ptx_arch)
{
  static const unsigned char magic[4] = { 0x50, 0xed, 0x55, 0xba };

  memset (to, 0, 16 + 2 * 64);
  memcpy (to, magic, 4);
  to[4] = 1;
  to[6] = 16;
  to[8] = 128;
  for (unsigned i = 0; i < 2; i++) {
    unsigned char *entry = to + 16 + 64 * i;

    entry[0] = i == 0 ? 2 : 1;
    entry[4] = 64;
    entry[24] = i == 0 ? 7 : 4;
    entry[26] = i == 0 ? 1 : 8;
    entry[28] = (unsigned char)(i == 0 ? arch : ptx_arch);
  }
}

static void
test_images (void)
{
  static const struct
  {
    const char *card, *driver;
    unsigned arch, abi, ptx; /* ABI 0: a fat binary; arch 0: PTX, of `abi` */
    CUresult result;
  } cases[] = {
    { "t4", NULL, 75, 8, 0, CUDA_SUCCESS },
    { "t4", NULL, 90, 8, 0, CUDA_ERROR_NO_BINARY_FOR_GPU },
    { "3070", NULL, 80, 8, 0, CUDA_SUCCESS },
    { "3070", NULL, 75, 8, 0, CUDA_ERROR_NO_BINARY_FOR_GPU },
    { "a100", NULL, 86, 8, 0, CUDA_ERROR_NO_BINARY_FOR_GPU },
    { "h100", "12040", 90, 7, 0, CUDA_SUCCESS },
    { "h100", "12040", 90, 8, 0, CUDA_ERROR_INVALID_IMAGE },
    { "h100", NULL, 80, 0, 75, CUDA_SUCCESS },
    { "t4", NULL, 80, 0, 80, CUDA_ERROR_INVALID_PTX },
    { "h100", "12030", 80, 0, 75, CUDA_ERROR_UNSUPPORTED_PTX_VERSION },
    { "t4", NULL, 0, 90, 75, CUDA_SUCCESS },
    { "t4", NULL, 0, 90, 90, CUDA_ERROR_INVALID_PTX },
    { "t4", "12080", 0, 87, 75, CUDA_SUCCESS },
    { "t4", "12080", 0, 90, 75, CUDA_ERROR_UNSUPPORTED_PTX_VERSION },
    { "t4", "12050", 0, 85, 75, CUDA_SUCCESS },
    { "t4", "12060", 0, 86, 75, CUDA_ERROR_UNSUPPORTED_PTX_VERSION },
  };
  TapMany many = tap_many ("images that a driver does not take");

  for (size_t i = 0; i < N_OF (cases); i++) {
    unsigned char image[256];
    CUmodule module = NULL;
    CUresult result;
    TestDevice o;

    if (cases[i].arch == 0)
      snprintf ((char *)image, sizeof image,
          ".version %u.%u\n.target sm_%u\n.address_size 64\n",
          cases[i].abi / 10, cases[i].abi % 10, cases[i].ptx);
    else if (cases[i].abi == 0)
      put_fat (image, cases[i].arch, cases[i].ptx);
    else
      put_elf (image, cases[i].arch, cases[i].abi);
    test_cuda_set ("TFX_STANDIN_DRIVER", cases[i].driver);
    open_card (cases[i].card, &o);
    result = d->module_load_data (&module, image);
    tap_many_check (&many, result == cases[i].result,
        "case %zu on %s: %d, not %d", i, cases[i].card, (int)result,
        (int)cases[i].result);
    if (module)
      d->module_unload (module);
    close_card (&o);
  }
  test_cuda_set ("TFX_STANDIN_DRIVER", NULL);
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "good", test_good },
  { "faults", test_faults },
  { "waiting", test_waiting },
  { "poison", test_poison },
  { "bounds", test_bounds },
  { "late", test_late },
  { "injection", test_injection },
  { "limits", test_limits },
  { "frees", test_frees },
  { "reach", test_reach },
  { "sticky", test_sticky },
  { "images", test_images },
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
