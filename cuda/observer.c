/* SPDX-License-Identifier: LGPL-2.1-or-later
 * observer.c: reports launches and copies by wrapping the driver's functions, and
 * waits.  Without an observer the table has the driver's functions. */
#include <pthread.h>
#include <stdio.h>

#include "observer.h"
#include "tfx-cuda.h"

/* The driver's own functions. */
static TfxDriver real;
static const TfxCudaObserver *observer;

/* ---- the names of kernels ----------------------------------------------------------- */

#define MAX_KERNELS 1024
#define MAX_NAME 64

typedef struct Kernel
{
  CUfunction function;
  char name[MAX_NAME];
} Kernel;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock; names are never freed. */
static Kernel kernels[MAX_KERNELS];
static size_t n_kernels;

/* The last one at that address: modules come and go. */
static const char *
kernel_name (CUfunction function)
{
  const char *name = "kernel";

  pthread_mutex_lock (&lock);
  for (size_t i = n_kernels; i > 0; i--) {
    if (kernels[i - 1].function == function) {
      name = kernels[i - 1].name;
      break;
    }
  }
  pthread_mutex_unlock (&lock);
  return name;
}

static CUresult CUDAAPI
observed_get_function (CUfunction *function, CUmodule module, const char *name)
{
  CUresult result = real.module_get_function (function, module, name);

  pthread_mutex_lock (&lock);
  if (result == CUDA_SUCCESS && n_kernels < MAX_KERNELS) {
    kernels[n_kernels].function = *function;
    snprintf (kernels[n_kernels].name, MAX_NAME, "%s", name);
    n_kernels++;
  }
  pthread_mutex_unlock (&lock);
  return result;
}

/* ---- what is observed ---------------------------------------------------------------- */

static CUresult CUDAAPI
observed_launch (CUfunction function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_size, CUstream stream, void **arguments, void **extra)
{
  uint64_t start = observer->now ();
  CUresult result = real.launch_kernel (function, grid_x, grid_y, grid_z,
      block_x, block_y, block_z, shared_size, stream, arguments, extra);

  observer->did ("launch", kernel_name (function), 0, start);
  return result;
}

static CUresult CUDAAPI
observed_htod (CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
  uint64_t start = observer->now ();
  CUresult result = real.memcpy_htod_async (to, from, size, stream);

  observer->did ("copy", "upload", size, start);
  return result;
}

static CUresult CUDAAPI
observed_dtoh (void *to, CUdeviceptr from, size_t size, CUstream stream)
{
  uint64_t start = observer->now ();
  CUresult result = real.memcpy_dtoh_async (to, from, size, stream);

  observer->did ("copy", "download", size, start);
  return result;
}

static CUresult CUDAAPI
observed_dtod (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
  uint64_t start = observer->now ();
  CUresult result = real.memcpy_dtod_async (to, from, size, stream);

  observer->did ("copy", "on the device", size, start);
  return result;
}

static CUresult CUDAAPI
observed_2d (const CUDA_MEMCPY2D *copy, CUstream stream)
{
  uint64_t start = observer->now ();
  CUresult result = real.memcpy_2d_async (copy, stream);
  bool from_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
  bool to_host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;

  observer->did ("copy",
      from_host ? "upload"
      : to_host ? "download"
                : "on the device",
      copy->WidthInBytes * copy->Height, start);
  return result;
}

uint64_t
tfx_observer_now (void)
{
  return observer ? observer->now () : 0;
}

void
tfx_observer_did_wait (const char *name, uint64_t start)
{
  if (observer)
    observer->did ("wait", name, 0, start);
}

void
tfx_cuda_observe (const TfxCudaObserver *by)
{
  observer = by;
}

void
tfx_observer_wrap (TfxDriver *driver)
{
  if (!observer)
    return;
  real = *driver;
  driver->module_get_function = observed_get_function;
  driver->launch_kernel = observed_launch;
  driver->memcpy_htod_async = observed_htod;
  driver->memcpy_dtoh_async = observed_dtoh;
  driver->memcpy_dtod_async = observed_dtod;
  driver->memcpy_2d_async = observed_2d;
}
