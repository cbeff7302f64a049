/* SPDX-License-Identifier: LGPL-2.1-or-later
 * context.h: the structure of a TfxCuda. */
#ifndef TFX_CUDA_CONTEXT_H
#define TFX_CUDA_CONTEXT_H

#include <pthread.h>

#include "core/backend.h"
#include "card.h"
#include "tfx-cuda.h"

struct TfxModule;
struct TfxCompileTask;

/* Most unused streams, and events, that are kept for reuse. */
#define TFX_MAX_SPARE 12

struct TfxCuda
{
  unsigned refs; /* atomic */
  const TfxDriver *driver;
  CUcontext context;
  TfxCudaOwner owner;
  CUdevice device;
  bool is_primary;
  CUstream stream;
  char name[128];
  TfxCudaCard card;
  TfxReal real; /* of float streams */
  char kernel[32];
  TfxBackend backend;
  bool waiting; /* atomic */
  bool lost;    /* atomic */
  /* Atomic: ns after which a wait timed out; 0: none did. */
  uint64_t hung_ns;
  size_t longest_run; /* atomic: samples */
  uint64_t usual_ns;  /* atomic: of the last wait for the stream */

  pthread_mutex_t lock;
  struct TfxModule *modules;     /* under the lock */
  struct TfxCompileTask *tasks;  /* under the lock */
  CUstream spare[TFX_MAX_SPARE]; /* streams; under the lock */
  unsigned n_spare;
  CUevent marks[TFX_MAX_SPARE]; /* unused events; under the lock */
  unsigned n_marks;
};

/* A stream of a device, and a count of its launches. */
typedef struct TfxCudaStream
{
  TfxCuda *cuda;
  CUstream handle;
  uint64_t n_launches; /* that were put on it */
} TfxCudaStream;

/* Makes a TfxCuda with one reference and without a device; NULL without memory. */
TfxCuda *tfx_context_new (const TfxDriver *driver);

/* Opens the primary context of a device, or uses an existing context, then reads
 * the properties of the device and creates its stream. 0 or a negative errno; the
 * caller frees the TfxCuda in both cases. */
int tfx_context_open_device (TfxCuda *cuda, int device);
int tfx_context_open (TfxCuda *cuda, CUcontext context);
int tfx_context_start (TfxCuda *cuda);
/* Frees a TfxCuda whose modules have been unloaded. */
void tfx_context_free (TfxCuda *cuda);

/* Makes the context current on this thread until leave.  0, or -EIO, also on a
 * device that hangs. */
int tfx_context_enter (TfxCuda *cuda);
void tfx_context_leave (TfxCuda *cuda);

/* Lends a stream to the caller, until it is returned idle. The context is current.
 * 0 or a negative errno. */
int tfx_context_take_stream (TfxCuda *cuda, CUstream *stream);
void tfx_context_give_stream (TfxCuda *cuda, CUstream *stream);

/* 0 for CUDA_SUCCESS; otherwise keeps "what: …" as the error and returns
 * -ENOMEM where memory was short, else -EIO. */
int tfx_context_check (TfxCuda *cuda, CUresult result, const char *what);

/* Waits for an event, or if it is NULL for the work that is on the stream now, not for
 * what other threads add; tries twice. The
 * thread sleeps, first for three quarters of the time in *usual_ns (unless NULL),
 * which is updated; it spins for a few microseconds if the wait was short last time.
 * 0 or -EIO.
 *
 * The wait times out after a second, plus a microsecond for each sample of the longest
 * run. The device is then hung and lost: all waits and tfx_context_enter() return -EIO
 * at once, and device and pinned memory is not freed, because the driver would wait
 * for the device, without a timeout. */
int tfx_context_wait (const TfxCudaStream *stream, CUevent event,
    const char *what, uint64_t *usual_ns);
int tfx_context_drain (const TfxCudaStream *stream);

/* Keeps a text as the error of this device in this thread, so that no pipeline reports
 * the error of another one; and returns it, "" if there is none. */
#define TFX_CONTEXT_ERROR_SIZE 512
void tfx_context_set_error (TfxCuda *cuda, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
const char *tfx_context_error (const TfxCuda *cuda);

#endif
