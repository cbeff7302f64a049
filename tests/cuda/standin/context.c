/* SPDX-License-Identifier: LGPL-2.1-or-later
 * context.c: devices and contexts of the stand-in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

#define MAX_DEVICES 8
#define MAX_STACK 32

static bool initialised;
static CUcontext contexts;
static CUcontext primary[MAX_DEVICES];

/* The thread's stack of current contexts. */
static __thread CUcontext stack[MAX_STACK];
static __thread int depth;

static int
n_devices (void)
{
  long n = standin_setting ("TFX_STANDIN_DEVICES", 1);

  return n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : (int)n;
}

static bool
is_valid (CUcontext context)
{
  for (CUcontext c = contexts; c; c = c->next) {
    if (c == context)
      return true;
  }
  return false;
}

CUcontext
standin_context (void)
{
  if (depth == 0 || !is_valid (stack[depth - 1]))
    return NULL;
  return stack[depth - 1];
}

void
standin_context_spoil (CUcontext context, CUresult result)
{
  if (context && is_valid (context) && standin_is_strict ())
    context->fault = result;
}

/* Contexts and devices can be asked for, and left, all the same. */
CUresult
standin_context_check (const char *function)
{
  CUcontext context = standin_context ();
  bool is_asked = strcmp (function, "cuCtxSynchronize") != 0 &&
                  (strncmp (function, "cuCtx", 5) == 0 ||
                      strncmp (function, "cuDevice", 8) == 0 ||
                      strncmp (function, "cuDriver", 8) == 0 ||
                      strcmp (function, "cuInit") == 0);

  return context && !is_asked ? context->fault : CUDA_SUCCESS;
}

static CUcontext
context_new (CUdevice device)
{
  CUcontext context = calloc (1, sizeof *context);

  context->device = device;
  context->next = contexts;
  contexts = context;
  return context;
}

static void
context_free (CUcontext context)
{
  if (context->is_hung) {
    standin_fault (CUDA_ERROR_UNKNOWN,
        "a context is freed while a kernel does not end");
    return;
  }
  standin_streams_drop (context);
  standin_memory_drop (context);
  for (CUcontext *link = &contexts; *link; link = &(*link)->next) {
    if (*link != context)
      continue;
    *link = context->next;
    break;
  }
  free (context);
}

/* ---- the driver and its devices --------------------------------------------------- */

STANDIN_API
cuInit (unsigned flags)
{
  CUresult result;

  standin_hold ();
  result = standin_enter (__func__);
  if (result == CUDA_SUCCESS && n_devices () == 0)
    result = CUDA_ERROR_NO_DEVICE;
  if (result == CUDA_SUCCESS)
    initialised = true;
  return standin_leave (result);
}

static CUresult
device_enter (const char *function, int device)
{
  CUresult result = standin_enter (function);

  if (result == CUDA_SUCCESS && !initialised)
    result = CUDA_ERROR_NOT_INITIALIZED;
  if (result == CUDA_SUCCESS && (device < 0 || device >= n_devices ()))
    result = CUDA_ERROR_INVALID_DEVICE;
  return result;
}

STANDIN_API
cuDriverGetVersion (int *version)
{
  CUresult result = standin_enter (__func__);

  *version = standin_driver_version ();
  return standin_leave (result);
}

STANDIN_API
cuDeviceGetCount (int *count)
{
  CUresult result = standin_enter (__func__);

  *count = n_devices ();
  return standin_leave (result);
}

STANDIN_API
cuDeviceGet (CUdevice *device, int ordinal)
{
  CUresult result = device_enter (__func__, ordinal);

  *device = ordinal;
  return standin_leave (result);
}

STANDIN_API
cuDeviceGetName (char *name, int size, CUdevice device)
{
  CUresult result = device_enter (__func__, device);

  if (standin_is_strict ())
    snprintf (name, (size_t)size, "stand-in %d for %s", device,
        standin_card ()->title);
  else
    snprintf (name, (size_t)size, "stand-in %d", device);
  return standin_leave (result);
}

STANDIN_API
cuDeviceGetUuid (CUuuid *uuid, CUdevice device)
{
  CUresult result = device_enter (__func__, device);

  memset (uuid, 0, sizeof *uuid);
  uuid->bytes[0] = (char)(device + 1);
  return standin_leave (result);
}

STANDIN_API
cuDeviceGetAttribute (int *value, CUdevice_attribute attribute, CUdevice device)
{
  CUresult result = device_enter (__func__, device);
  const StandinCard *card = standin_card ();

  *value = 0;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = 32;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = card->n_multiprocessors;
      break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      *value = 1000 * card->clock_mhz;
      break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      *value = 1000 * card->memory_mhz;
      break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      *value = card->bus_bits;
      break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      *value = card->is_integrated;
      break;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      *value = 512;
      break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      *value = 1;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = card->compute / 10;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = card->compute % 10;
      break;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
      *value = card->n_float / card->n_double;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      *value = 48 * 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = card->block_shared * 1024;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      *value = card->shared * 1024;
      break;
    default:
      break;
  }
  return standin_leave (result);
}

STANDIN_API
cuDeviceCanAccessPeer (int *can, CUdevice device, CUdevice peer)
{
  CUresult result = device_enter (__func__, device);

  *can = 0;
  return standin_leave (result);
}

/* ---- contexts ----------------------------------------------------------------------- */

STANDIN_API
cuCtxCreate_v2 (CUcontext *context, unsigned flags, CUdevice device)
{
  CUresult result;

  standin_hold ();
  result = device_enter (__func__, device);
  if (result == CUDA_SUCCESS && depth == MAX_STACK)
    result = CUDA_ERROR_OUT_OF_MEMORY;
  if (result == CUDA_SUCCESS) {
    *context = context_new (device);
    stack[depth++] = *context;
  }
  return standin_leave (result);
}

STANDIN_API
cuCtxDestroy_v2 (CUcontext context)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS && !is_valid (context))
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS) {
    if (depth > 0 && stack[depth - 1] == context)
      depth--;
    context_free (context);
  }
  return standin_leave (result);
}

STANDIN_API
cuCtxPushCurrent_v2 (CUcontext context)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS && (!is_valid (context) || depth == MAX_STACK))
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS)
    stack[depth++] = context;
  return standin_leave (result);
}

STANDIN_API
cuCtxPopCurrent_v2 (CUcontext *context)
{
  CUresult result = standin_enter (__func__);

  /* An injected failure here would leave the thread with a context too many;
   * the driver pops all the same. */
  if (depth == 0)
    result = CUDA_ERROR_INVALID_CONTEXT;
  else
    depth--;
  if (context)
    *context = depth >= 0 ? stack[depth] : NULL;
  return standin_leave (result);
}

STANDIN_API
cuCtxGetDevice (CUdevice *device)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS && !standin_context ())
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS)
    *device = standin_context ()->device;
  return standin_leave (result);
}

STANDIN_API
cuCtxGetCurrent (CUcontext *context)
{
  CUresult result = standin_enter (__func__);

  *context = standin_context ();
  return standin_leave (result);
}

STANDIN_API
cuCtxSynchronize (void)
{
  CUresult result = standin_enter (__func__);

  return standin_leave (result == CUDA_SUCCESS ? standin_drain_all () : result);
}

STANDIN_API
cuCtxGetLimit (size_t *value, CUlimit limit)
{
  CUresult result = standin_enter (__func__);

  *value = 1024;
  return standin_leave (result);
}

STANDIN_API
cuCtxSetLimit (CUlimit limit, size_t value)
{
  return standin_leave (standin_enter (__func__));
}

STANDIN_API
cuDevicePrimaryCtxRetain (CUcontext *context, CUdevice device)
{
  CUresult result = device_enter (__func__, device);

  if (result == CUDA_SUCCESS) {
    if (!primary[device]) {
      primary[device] = context_new (device);
      primary[device]->is_primary = true;
    }
    primary[device]->n_refs++;
    *context = primary[device];
  }
  return standin_leave (result);
}

STANDIN_API
cuDevicePrimaryCtxRelease_v2 (CUdevice device)
{
  CUresult result = device_enter (__func__, device);

  if (result == CUDA_SUCCESS && !primary[device])
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS && --primary[device]->n_refs == 0) {
    context_free (primary[device]);
    primary[device] = NULL;
  }
  return standin_leave (result);
}

/* ---- errors ---------------------------------------------------------------------------- */

static const struct
{
  CUresult result;
  const char *name, *meaning;
} errors[] = {
  { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
  { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
  { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
  { CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED",
      "initialization error" },
  { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE",
      "no CUDA-capable device is detected" },
  { CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE",
      "invalid device ordinal" },
  { CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE",
      "device kernel image is invalid" },
  { CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT",
      "invalid device context" },
  { CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
      "no kernel image is available for execution on the device" },
  { CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX",
      "a PTX JIT compilation failed" },
  { CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
      "the provided PTX was compiled with an unsupported toolchain." },
  { CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE",
      "invalid resource handle" },
  { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
  { CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED",
      "unspecified launch failure" },
  { CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered" },
  { CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED",
      "operation not supported" },
};

STANDIN_API
cuGetErrorName (CUresult result, const char **text)
{
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].result != result)
      continue;
    *text = errors[i].name;
    return CUDA_SUCCESS;
  }
  *text = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}

STANDIN_API
cuGetErrorString (CUresult result, const char **text)
{
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].result != result)
      continue;
    *text = errors[i].meaning;
    return CUDA_SUCCESS;
  }
  *text = NULL;
  return CUDA_ERROR_INVALID_VALUE;
}
