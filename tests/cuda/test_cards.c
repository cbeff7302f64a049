/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cards.c: the stand-in as a card: its limits, and what it does not
 * forgive. */
#include "common-cuda.h"
#include "tap.h"

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

static CUdeviceptr
memory_new (size_t size)
{
  CUdeviceptr memory = 0;

  d->mem_alloc (&memory, size);
  return memory;
}

/* Puts the launch of a kernel of faulty.h on its way. */
static CUresult
launch (const TestDevice *o, const char *name, CUdeviceptr data, unsigned n)
{
  FaultyArgs args = { data, n, 0 };
  void *arguments[] = { &args };
  CUfunction function;
  CUresult result = d->module_get_function (&function, o->module, name);

  if (result == CUDA_SUCCESS)
    result = d->launch_kernel (function, 1, 1, 1, N, 1, 1, N * sizeof (float),
        o->stream, arguments, NULL);
  return result;
}

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

  for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
    char name[128] = "";
    CUfunction function;
    CUresult most, more;
    TestDevice o;

    test_cuda_set ("TFX_STANDIN_CARD", cards[i].name);
    test_device_open (&o, 0);
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
    test_device_close (&o);
  }
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
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

  test_cuda_set ("TFX_STANDIN_CARD", "3070");
  test_cuda_set ("TFX_STANDIN_ASYNC", "late");
  test_device_open (&o, 0);
  memory = memory_new (N * 4);
  other = memory_new (N * 4);
  d->mem_host_alloc (&pinned, N * 4, 0);
  memset (pinned, 0, N * 4);
  d->memcpy_htod_async (memory, pinned, N * 4, o.stream);
  tap_many_check (&many, d->mem_free_host (pinned) != CUDA_SUCCESS,
      "pinned memory that is to be uploaded");
  tap_many_check (&many, d->mem_free (memory) != CUDA_SUCCESS,
      "memory that is to be written");
  d->stream_synchronize (o.stream);
  launch (&o, "standin_good", memory, 0);
  tap_many_check (&many, d->mem_free (memory) != CUDA_SUCCESS,
      "memory that a kernel is to use");
  tap_many_check (&many, d->mem_free (other) == CUDA_SUCCESS,
      "memory that nobody needs is not freed");
  d->stream_synchronize (o.stream);
  tap_many_check (&many,
      d->mem_free (memory) == CUDA_SUCCESS &&
          d->mem_free_host (pinned) == CUDA_SUCCESS,
      "nor is any when all is done");
  test_device_close (&o);
  test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
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

  test_cuda_set ("TFX_STANDIN_CARD", "a100");
  test_cuda_set ("TFX_STANDIN_DEVICES", "2");
  test_device_open (&o, 0);
  memory = memory_new (N * 4);
  d->memset_d8_async (memory, 0, N * 4, o.stream);
  d->mem_host_alloc (&pinned, N * 4, 0);
  memset (pinned, 0, N * 4);
  tap_many_check (&many, launch (&o, "standin_good", memory, 0) == CUDA_SUCCESS,
      "its own memory");
  tap_many_check (&many,
      launch (&o, "standin_good", (uintptr_t)pinned, 0) == CUDA_SUCCESS,
      "pinned memory");
  tap_many_check (&many,
      launch (&o, "standin_good", (uintptr_t)pageable, 0) != CUDA_SUCCESS,
      "pageable memory is taken");
  test_device_open (&second, 1);
  tap_many_check (&many,
      launch (&second, "standin_good", memory, 0) != CUDA_SUCCESS,
      "another device's memory is taken");
  test_device_close (&second);
  d->mem_free (memory);
  d->mem_free_host (pinned);
  test_device_close (&o);
  free (pageable);
  test_cuda_set ("TFX_STANDIN_DEVICES", NULL);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
  tap_many_end (&many);
}

static void
test_sticky (void)
{
  TapMany many = tap_many ("a fault stays until the context is gone");
  CUdeviceptr memory;
  TestDevice o;

  test_cuda_set ("TFX_STANDIN_CARD", "h100");
  test_device_open (&o, 0);
  memory = memory_new (N * 4);
  d->memset_d8_async (memory, 0, N * 4, o.stream);
  launch (&o, "standin_diverges", memory, N / 2);
  tap_many_check (&many,
      d->stream_synchronize (o.stream) == CUDA_ERROR_LAUNCH_FAILED, "waiting");
  tap_many_check (&many, d->mem_free (memory) == CUDA_ERROR_LAUNCH_FAILED,
      "freeing");
  tap_many_check (&many,
      launch (&o, "standin_good", memory, 0) == CUDA_ERROR_LAUNCH_FAILED,
      "launching");
  test_device_close (&o);
  test_device_open (&o, 0);
  memory = memory_new (N * 4);
  d->memset_d8_async (memory, 0, N * 4, o.stream);
  tap_many_check (&many,
      launch (&o, "standin_good", memory, 0) == CUDA_SUCCESS &&
          d->mem_free (memory) == CUDA_SUCCESS,
      "a new context");
  test_device_close (&o);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
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

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
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
    test_cuda_set ("TFX_STANDIN_CARD", cases[i].card);
    test_cuda_set ("TFX_STANDIN_DRIVER", cases[i].driver);
    test_device_open (&o, 0);
    result = d->module_load_data (&module, image);
    tap_many_check (&many, result == cases[i].result,
        "case %zu on %s: %d, not %d", i, cases[i].card, (int)result,
        (int)cases[i].result);
    if (module)
      d->module_unload (module);
    test_device_close (&o);
  }
  test_cuda_set ("TFX_STANDIN_DRIVER", NULL);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
  tap_many_end (&many);
}

static const TapTest tests[] = {
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
  d = tfx_driver_get (NULL);
  if (!d || !test_cuda_is_standin ()) {
    printf ("1..0 # SKIP this is not the stand-in\n");
    return 0;
  }
  return tap_main (argc, argv, tests);
}
