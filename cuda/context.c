/* SPDX-License-Identifier: LGPL-2.1-or-later
 * context.c: a device, its context and stream. */
#include "context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "module.h"

/* A device that does double at this fraction of float's speed, or slower, gets
 * float streams done in two floats instead. */
#define SLOW_DOUBLE_RATIO 8

bool
tfx_cuda_is_available (const char **why)
{
  return tfx_driver_get (why) != NULL;
}

/* ---- errors ----------------------------------------------------------------- */

void
tfx_context_set_error (TfxCuda *cuda, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  pthread_mutex_lock (&cuda->lock);
  vsnprintf (cuda->error, sizeof cuda->error, format, args);
  pthread_mutex_unlock (&cuda->lock);
  va_end (args);
}

int
tfx_context_check (TfxCuda *cuda, CUresult result, const char *what)
{
  char text[128];

  if (result == CUDA_SUCCESS)
    return 0;
  tfx_driver_describe (cuda->driver, result, text, sizeof text);
  tfx_context_set_error (cuda, "%s: %s failed: %s", cuda->name, what, text);
  return result == CUDA_ERROR_OUT_OF_MEMORY ? -ENOMEM : -EIO;
}

void
tfx_cuda_error (const TfxCuda *cuda, char *text, size_t size)
{
  TfxCuda *c = (TfxCuda *)cuda;

  pthread_mutex_lock (&c->lock);
  snprintf (text, size, "%s", c->error);
  pthread_mutex_unlock (&c->lock);
}

bool
tfx_cuda_is_lost (const TfxCuda *cuda)
{
  return __atomic_load_n (&cuda->lost, __ATOMIC_ACQUIRE);
}

/* ---- making ------------------------------------------------------------------- */

static int
attribute (TfxCuda *cuda, CUdevice_attribute which, int *value)
{
  return tfx_context_check (cuda,
      cuda->driver->device_get_attribute (value, which, cuda->device),
      "asking for the device's properties");
}

/* The arithmetic of float streams, for a device whose doubles take `ratio` times
 * as long as its floats. */
static TfxReal
choose_real (int ratio)
{
  const char *asked = getenv ("TFX_CUDA");

  if (asked && strcmp (asked, "double") == 0)
    return TFX_REAL_DOUBLE;
  if (asked && strcmp (asked, "twofold") == 0)
    return TFX_REAL_TWOFOLD;
  return ratio < SLOW_DOUBLE_RATIO ? TFX_REAL_DOUBLE : TFX_REAL_TWOFOLD;
}

const char *
tfx_cuda_unmet (void)
{
  const char *asked = getenv ("TFX_CUDA");

  if (!asked || !*asked || strcmp (asked, "double") == 0 ||
      strcmp (asked, "twofold") == 0)
    return NULL;
  return asked;
}

static int
read_properties (TfxCuda *cuda)
{
  int major = 0, minor = 0, ratio = 0;
  int ret = tfx_context_check (cuda,
      cuda->driver->device_get_name (cuda->name, sizeof cuda->name,
          cuda->device),
      "asking for the device's name");

  if (ret == 0)
    ret =
        attribute (cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
  if (ret == 0)
    ret =
        attribute (cuda, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
  if (ret == 0)
    ret = attribute (cuda, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        &cuda->n_multiprocessors);
  if (ret == 0)
    ret =
        attribute (cuda, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            &cuda->max_shared);
  if (ret == 0)
    ret = attribute (cuda,
        CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, &ratio);
  if (ret < 0)
    return ret;
  cuda->compute = 10 * major + minor;
  cuda->real = choose_real (ratio);
  snprintf (cuda->kernel, sizeof cuda->kernel, "sm_%d %s", cuda->compute,
      cuda->real == TFX_REAL_DOUBLE ? "double" : "twofold");
  return 0;
}

static void
cuda_free (TfxCuda *cuda)
{
  const TfxDriver *d = cuda->driver;
  bool entered = cuda->context && tfx_context_enter (cuda) == 0;

  tfx_module_clear (cuda);
  if (cuda->stream)
    d->stream_destroy (cuda->stream);
  if (entered)
    tfx_context_leave (cuda);
  if (cuda->is_primary)
    d->primary_ctx_release (cuda->device);
  pthread_mutex_destroy (&cuda->lock);
  free (cuda);
}

/* The driver, and an object for it. */
static TfxCuda *
cuda_alloc (char *why, size_t why_size)
{
  const char *missing;
  const TfxDriver *driver = tfx_driver_get (&missing);
  TfxCuda *cuda;

  if (!driver) {
    snprintf (why, why_size, "%s", missing);
    return NULL;
  }
  cuda = calloc (1, sizeof *cuda);
  if (!cuda) {
    snprintf (why, why_size, "out of memory");
    return NULL;
  }
  cuda->refs = 1;
  cuda->driver = driver;
  cuda->waiting = true;
  pthread_mutex_init (&cuda->lock, NULL);
  snprintf (cuda->name, sizeof cuda->name, "the CUDA device");
  return cuda;
}

/* What is left to do once there is a context. */
static int
cuda_finish (TfxCuda *cuda, int ret, TfxCuda **out, char *why, size_t why_size)
{
  if (ret == 0)
    ret = read_properties (cuda);
  if (ret == 0)
    ret = tfx_context_enter (cuda);
  if (ret == 0) {
    ret = tfx_context_check (cuda,
        cuda->driver->stream_create (&cuda->stream, CU_STREAM_NON_BLOCKING),
        "making a stream");
    tfx_context_leave (cuda);
  }
  if (ret < 0) {
    tfx_cuda_error (cuda, why, why_size);
    cuda_free (cuda);
    return ret;
  }
  cuda->backend = *tfx_cuda_engine_backend ();
  cuda->backend.kernel = cuda->kernel;
  cuda->backend.data = cuda;
  *out = cuda;
  return 0;
}

int
tfx_cuda_new (int device, TfxCuda **out, char *why, size_t why_size)
{
  TfxCuda *cuda = cuda_alloc (why, why_size);
  int n_devices = 0;
  int ret;

  *out = NULL;
  if (!cuda)
    return -ENODEV;
  ret = tfx_context_check (cuda, cuda->driver->device_get_count (&n_devices),
      "counting the devices");
  if (ret == 0 && device >= n_devices) {
    snprintf (why, why_size, "there is no CUDA device %d: it must be 0 to %d",
        device, n_devices - 1);
    cuda_free (cuda);
    return -ENODEV;
  }
  if (ret == 0)
    ret = tfx_context_check (cuda,
        cuda->driver->device_get (&cuda->device, device < 0 ? 0 : device),
        "opening the device");
  if (ret == 0)
    ret = tfx_context_check (cuda,
        cuda->driver->primary_ctx_retain (&cuda->context, cuda->device),
        "making a context");
  cuda->is_primary = ret == 0;
  return cuda_finish (cuda, ret, out, why, why_size);
}

int
tfx_cuda_new_for_context (void *context, TfxCuda **out, char *why,
    size_t why_size)
{
  TfxCuda *cuda = cuda_alloc (why, why_size);
  int ret;

  *out = NULL;
  if (!cuda)
    return -ENODEV;
  cuda->context = context;
  ret = tfx_context_enter (cuda);
  if (ret == 0) {
    ret = tfx_context_check (cuda, cuda->driver->ctx_get_device (&cuda->device),
        "asking for the device");
    tfx_context_leave (cuda);
  }
  return cuda_finish (cuda, ret, out, why, why_size);
}

TfxCuda *
tfx_cuda_ref (TfxCuda *cuda)
{
  __atomic_add_fetch (&cuda->refs, 1, __ATOMIC_RELAXED);
  return cuda;
}

void
tfx_cuda_unref (TfxCuda **cuda)
{
  TfxCuda *c = *cuda;

  *cuda = NULL;
  if (c && __atomic_sub_fetch (&c->refs, 1, __ATOMIC_ACQ_REL) == 0)
    cuda_free (c);
}

/* ---- using ----------------------------------------------------------------------- */

int
tfx_context_enter (TfxCuda *cuda)
{
  return tfx_context_check (cuda, cuda->driver->ctx_push (cuda->context),
      "using the context");
}

void
tfx_context_leave (TfxCuda *cuda)
{
  CUcontext context;

  cuda->driver->ctx_pop (&context);
}

const TfxBackend *
tfx_cuda_backend (TfxCuda *cuda)
{
  return &cuda->backend;
}

int
tfx_cuda_device (const TfxCuda *cuda)
{
  return cuda->device;
}

const char *
tfx_cuda_name (const TfxCuda *cuda)
{
  return cuda->name;
}

void *
tfx_cuda_stream (const TfxCuda *cuda)
{
  return cuda->stream;
}

void
tfx_cuda_set_waiting (TfxCuda *cuda, bool waiting)
{
  __atomic_store_n (&cuda->waiting, waiting, __ATOMIC_RELAXED);
}

int
tfx_cuda_wait (TfxCuda *cuda)
{
  int ret = tfx_context_enter (cuda);

  if (ret < 0)
    return ret;
  ret = tfx_context_check (cuda,
      cuda->driver->stream_synchronize (cuda->stream), "waiting");
  tfx_context_leave (cuda);
  return ret;
}
