/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver.c: opens the CUDA driver and looks its functions up by their literal
 * names. */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "tfx-cuda.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static TfxDriver driver;
static bool usable;
static int version; /* 0: it does not say */
static char reason[256];

typedef struct Symbol
{
  const char *name;
  size_t offset; /* of the pointer in TfxDriver */
} Symbol;

static const Symbol symbols[] = {
#define FUNCTION(member, symbol, arguments)                                    \
  { #symbol, offsetof (TfxDriver, member) },
#include "driver-functions.inc"
#undef FUNCTION
};

static bool
look_up (void *library)
{
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    const Symbol *s = &symbols[i];
    void *address = dlsym (library, s->name);

    if (!address) {
      snprintf (reason, sizeof reason,
          "the NVIDIA driver is too old: %s has no %s", TFX_DRIVER_LIBRARY,
          s->name);
      return false;
    }
    *(void **)((char *)&driver + s->offset) = address;
  }
  return true;
}

static void
driver_open (void)
{
  void *library = dlopen (TFX_DRIVER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  char text[128];
  int n_devices = 0;
  CUresult result;

  if (!library) {
    snprintf (reason, sizeof reason, "no NVIDIA driver: %s", dlerror ());
    return;
  }
  if (!look_up (library))
    return;
  result = driver.init (0);
  if (result == CUDA_SUCCESS)
    result = driver.device_get_count (&n_devices);
  if (result == CUDA_SUCCESS && n_devices == 0)
    result = CUDA_ERROR_NO_DEVICE;
  if (result != CUDA_SUCCESS) {
    tfx_driver_describe (&driver, result, text, sizeof text);
    snprintf (reason, sizeof reason,
        "the NVIDIA driver has no usable device: %s", text);
    return;
  }
  if (driver.driver_get_version (&version) != CUDA_SUCCESS)
    version = 0;
  usable = true;
}

const TfxDriver *
tfx_driver_get (const char **why)
{
  pthread_once (&once, driver_open);
  if (why)
    *why = usable ? NULL : reason;
  return usable ? &driver : NULL;
}

int
tfx_driver_get_version (void)
{
  tfx_driver_get (NULL);
  return version;
}

int
tfx_driver_get_major (void)
{
  return tfx_driver_get_version () / 1000;
}

void
tfx_driver_describe (const TfxDriver *d, CUresult result, char *text,
    size_t size)
{
  const char *name = NULL, *meaning = NULL;

  if (d->get_error_name (result, &name) != CUDA_SUCCESS || !name)
    snprintf (text, size, "CUDA error %d", (int)result);
  else if (d->get_error_string (result, &meaning) != CUDA_SUCCESS || !meaning)
    snprintf (text, size, "%s", name);
  else
    snprintf (text, size, "%s (%s)", name, meaning);
}

/* ---- the observer ------------------------------------------------------------- */

static const TfxCudaObserver *observer;

void
tfx_cuda_observe (const TfxCudaObserver *by)
{
  observer = by;
}

uint64_t
tfx_driver_now (void)
{
  return observer ? observer->now () : 0;
}

void
tfx_driver_did (const char *what, const char *name, size_t n_bytes,
    uint64_t start)
{
  if (observer)
    observer->did (what, name, n_bytes, start);
}
