/* SPDX-License-Identifier: LGPL-2.1-or-later
 * context.c: a device, its context and stream. */
#include "context.h"

#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams that are created at the start. */
#define START_SPARE 4

/* ---- errors ----------------------------------------------------------------- */

static _Thread_local struct
{
  const TfxCuda *cuda;
  char text[TFX_CONTEXT_ERROR_SIZE];
} last_error;

void
tfx_context_set_error (TfxCuda *cuda, const char *format, ...)
{
  va_list args;

  last_error.cuda = cuda;
  va_start (args, format);
  vsnprintf (last_error.text, sizeof last_error.text, format, args);
  va_end (args);
}

const char *
tfx_context_error (const TfxCuda *cuda)
{
  return last_error.cuda == cuda ? last_error.text : "";
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

/* ---- using --------------------------------------------------------------------- */

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

int
tfx_context_drain (const TfxCudaStream *stream)
{
  TfxCuda *cuda = stream->cuda;
  int ret = tfx_context_check (cuda,
      cuda->driver->stream_synchronize (stream->handle), "waiting");

  if (ret < 0)
    ret = tfx_context_check (cuda,
        cuda->driver->stream_synchronize (stream->handle), "waiting");
  return ret;
}

int
tfx_context_wait (TfxCuda *cuda, CUevent event)
{
  int ret = tfx_context_check (cuda, cuda->driver->event_synchronize (event),
      "waiting for the device");

  if (ret < 0)
    ret = tfx_context_check (cuda, cuda->driver->event_synchronize (event),
        "waiting for the device");
  return ret;
}

/* ---- streams -------------------------------------------------------------------- */

int
tfx_context_take_stream (TfxCuda *cuda, CUstream *stream)
{
  *stream = NULL;
  pthread_mutex_lock (&cuda->lock);
  if (cuda->n_spare > 0)
    *stream = cuda->spare[--cuda->n_spare];
  pthread_mutex_unlock (&cuda->lock);
  if (*stream)
    return 0;
  return tfx_context_check (cuda,
      cuda->driver->stream_create (stream, CU_STREAM_NON_BLOCKING),
      "making a stream");
}

void
tfx_context_give_stream (TfxCuda *cuda, CUstream *stream)
{
  if (!*stream)
    return;
  pthread_mutex_lock (&cuda->lock);
  if (cuda->n_spare < TFX_MAX_SPARE) {
    cuda->spare[cuda->n_spare++] = *stream;
    *stream = NULL;
  }
  pthread_mutex_unlock (&cuda->lock);
  if (*stream)
    cuda->driver->stream_destroy (*stream);
  *stream = NULL;
}

/* ---- making -------------------------------------------------------------------- */

const char *
tfx_cuda_unknown (void)
{
  const char *asked = secure_getenv ("TFX_CUDA");

  if (!asked || !*asked || strcmp (asked, "double") == 0 ||
      strcmp (asked, "twofold") == 0)
    return NULL;
  return asked;
}

static int
read_properties (TfxCuda *cuda)
{
  int ret = tfx_context_check (cuda,
      cuda->driver->device_get_name (cuda->name, sizeof cuda->name,
          cuda->device),
      "asking for the device's name");

  if (ret == 0)
    ret = tfx_context_check (cuda,
        tfx_card_read (cuda->driver, cuda->device, &cuda->card),
        "asking for the device's properties");
  if (ret < 0)
    return ret;
  cuda->real = tfx_card_real (&cuda->card);
  snprintf (cuda->kernel, sizeof cuda->kernel, "sm_%d %s", cuda->card.compute,
      cuda->real == TFX_REAL_DOUBLE ? "double" : "twofold");
  return 0;
}

TfxCuda *
tfx_context_new (const TfxDriver *driver)
{
  TfxCuda *cuda = calloc (1, sizeof *cuda);

  if (!cuda)
    return NULL;
  /* Memory that was another device's. */
  if (last_error.cuda == cuda)
    last_error.cuda = NULL;
  cuda->refs = 1;
  cuda->driver = driver;
  cuda->waiting = true;
  pthread_mutex_init (&cuda->lock, NULL);
  snprintf (cuda->name, sizeof cuda->name, "the CUDA device");
  return cuda;
}

int
tfx_context_open_device (TfxCuda *cuda, int device)
{
  int ret = tfx_context_check (cuda,
      cuda->driver->device_get (&cuda->device, device), "opening the device");

  if (ret == 0)
    ret = tfx_context_check (cuda,
        cuda->driver->primary_ctx_retain (&cuda->context, cuda->device),
        "making a context");
  cuda->is_primary = ret == 0;
  return ret;
}

int
tfx_context_open (TfxCuda *cuda, CUcontext context)
{
  int ret;

  cuda->context = context;
  ret = tfx_context_enter (cuda);
  if (ret < 0)
    return ret;
  ret = tfx_context_check (cuda, cuda->driver->ctx_get_device (&cuda->device),
      "asking for the device");
  tfx_context_leave (cuda);
  return ret;
}

int
tfx_context_start (TfxCuda *cuda)
{
  int ret = read_properties (cuda);

  if (ret == 0)
    ret = tfx_context_enter (cuda);
  if (ret < 0)
    return ret;
  ret = tfx_context_check (cuda,
      cuda->driver->stream_create (&cuda->stream, CU_STREAM_NON_BLOCKING),
      "making a stream");
  /* Streams of the first plans, so that no streaming thread waits for their
   * creation. */
  while (ret == 0 && cuda->n_spare < START_SPARE) {
    ret = tfx_context_check (cuda,
        cuda->driver->stream_create (&cuda->spare[cuda->n_spare],
            CU_STREAM_NON_BLOCKING),
        "making a stream");
    cuda->n_spare += ret == 0;
  }
  tfx_context_leave (cuda);
  return ret;
}

void
tfx_context_free (TfxCuda *cuda)
{
  bool entered = cuda->context && tfx_context_enter (cuda) == 0;

  for (unsigned i = 0; i < cuda->n_spare; i++)
    cuda->driver->stream_destroy (cuda->spare[i]);
  if (cuda->stream)
    cuda->driver->stream_destroy (cuda->stream);
  if (entered)
    tfx_context_leave (cuda);
  if (cuda->is_primary)
    cuda->driver->primary_ctx_release (cuda->device);
  pthread_mutex_destroy (&cuda->lock);
  free (cuda);
}
