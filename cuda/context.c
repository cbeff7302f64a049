/* SPDX-License-Identifier: LGPL-2.1-or-later
 * context.c: a device, its context and stream. */
#include "context.h"

#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* Streams, and events, that are created at the start. */
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

bool
tfx_cuda_is_hung (const TfxCuda *cuda)
{
  return __atomic_load_n (&cuda->hung_ns, __ATOMIC_ACQUIRE) > 0;
}

/* 0, or -EIO after a wait that timed out. */
static int
check_hung (TfxCuda *cuda)
{
  const uint64_t ns = __atomic_load_n (&cuda->hung_ns, __ATOMIC_ACQUIRE);

  if (ns == 0)
    return 0;
  tfx_context_set_error (cuda, "%s: the device has not answered for %.1f s",
      cuda->name, 1e-9 * (double)ns);
  return -EIO;
}

int
tfx_context_enter (TfxCuda *cuda)
{
  const int ret = check_hung (cuda);

  return ret < 0
             ? ret
             : tfx_context_check (cuda, cuda->driver->ctx_push (cuda->context),
                   "using the context");
}

void
tfx_context_leave (TfxCuda *cuda)
{
  CUcontext context;

  cuda->driver->ctx_pop (&context);
}

/* ---- waiting -------------------------------------------------------------------- */

#define SPIN_NS 5000 /* about what a sleep costs the core */
#define LEAST_SLEEP_NS 10000
#define MOST_SLEEP_NS 1000000
#define PATIENCE_NS 1000000000
#define PATIENCE_SAMPLE_NS 1000

static uint64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* By default Linux adds up to 50 us to the sleep of an ordinary thread. */
static void
sleep_for (uint64_t ns)
{
  const long slack = prctl (PR_GET_TIMERSLACK);
  struct timespec t = { .tv_nsec = LEAST_SLEEP_NS };

  if (ns > LEAST_SLEEP_NS)
    t.tv_nsec = ns < MOST_SLEEP_NS ? (long)ns : MOST_SLEEP_NS;
  if (slack > 0)
    prctl (PR_SET_TIMERSLACK, 1L);
  nanosleep (&t, NULL);
  if (slack > 0)
    prctl (PR_SET_TIMERSLACK, slack);
}

/* Marks the device as hung, and keeps it and its context until the process ends,
 * because destroying them would wait for the device. */
static int
give_up (TfxCuda *cuda, uint64_t waited)
{
  uint64_t none = 0;

  __atomic_store_n (&cuda->lost, true, __ATOMIC_RELEASE);
  if (__atomic_compare_exchange_n (&cuda->hung_ns, &none, waited, false,
          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    __atomic_add_fetch (&cuda->refs, 1, __ATOMIC_RELAXED);
    if (cuda->owner.hold)
      cuda->owner.hold (cuda->owner.data);
  }
  return check_hung (cuda);
}

/* Polls: the driver's own waits have no timeout, and spin. */
static int
wait_once (TfxCuda *cuda, CUevent event, const char *what, uint64_t *usual_ns)
{
  const size_t n = __atomic_load_n (&cuda->longest_run, __ATOMIC_RELAXED);
  const uint64_t patience = PATIENCE_NS + PATIENCE_SAMPLE_NS * (uint64_t)n;
  const uint64_t start = now ();
  uint64_t waited = 0, sleep = 0;
  CUresult result;

  if (usual_ns)
    sleep = __atomic_load_n (usual_ns, __ATOMIC_RELAXED) / 4 * 3;
  for (;;) {
    result = cuda->driver->event_query (event);
    if (result != CUDA_ERROR_NOT_READY)
      break;
    if (waited > patience || tfx_cuda_is_hung (cuda))
      return give_up (cuda, waited);
    if (waited > SPIN_NS || sleep > SPIN_NS)
      sleep_for (sleep);
    /* Read before the next query: a stopped process queries once more. */
    waited = now () - start;
    sleep = waited / 8;
  }
  if (usual_ns && waited > 0)
    __atomic_store_n (usual_ns, waited, __ATOMIC_RELAXED);
  return tfx_context_check (cuda, result, what);
}

/* An event after the work that is on the stream.  0 or a negative errno. */
static int
take_mark (const TfxCudaStream *stream, const char *what, CUevent *mark)
{
  TfxCuda *cuda = stream->cuda;
  int ret = 0;

  *mark = NULL;
  pthread_mutex_lock (&cuda->lock);
  if (cuda->n_marks > 0)
    *mark = cuda->marks[--cuda->n_marks];
  pthread_mutex_unlock (&cuda->lock);
  if (!*mark)
    ret = tfx_context_check (cuda,
        cuda->driver->event_create (mark, CU_EVENT_DISABLE_TIMING), what);
  return ret < 0
             ? ret
             : tfx_context_check (cuda,
                   cuda->driver->event_record (*mark, stream->handle), what);
}

static void
give_mark (TfxCuda *cuda, CUevent mark)
{
  pthread_mutex_lock (&cuda->lock);
  if (cuda->n_marks < TFX_MAX_SPARE) {
    cuda->marks[cuda->n_marks++] = mark;
    mark = NULL;
  }
  pthread_mutex_unlock (&cuda->lock);
  if (mark)
    cuda->driver->event_destroy (mark);
}

/* Without an event it waits for one that it records: a stream that others keep busy
 * may never be idle when it is polled. */
int
tfx_context_wait (const TfxCudaStream *stream, CUevent event, const char *what,
    uint64_t *usual_ns)
{
  const uint64_t start = tfx_driver_now ();
  int ret = -EIO;

  for (int i = 0; ret < 0 && i < 2; i++) {
    CUevent mark = NULL;

    ret = event ? 0 : take_mark (stream, what, &mark);
    if (ret == 0)
      ret = wait_once (stream->cuda, event ? event : mark, what, usual_ns);
    if (mark)
      give_mark (stream->cuda, mark);
  }
  tfx_driver_did ("wait", event ? "wait for an event" : "wait for the stream",
      0, start);
  return ret;
}

int
tfx_context_drain (const TfxCudaStream *stream)
{
  return tfx_context_wait (stream, NULL, "waiting", NULL);
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
  /* Streams and events of the first plans, so that no streaming thread waits for
   * their creation. */
  while (ret == 0 && cuda->n_spare < START_SPARE) {
    ret = tfx_context_check (cuda,
        cuda->driver->stream_create (&cuda->spare[cuda->n_spare],
            CU_STREAM_NON_BLOCKING),
        "making a stream");
    cuda->n_spare += ret == 0;
  }
  while (ret == 0 && cuda->n_marks < START_SPARE) {
    ret = tfx_context_check (cuda,
        cuda->driver->event_create (&cuda->marks[cuda->n_marks],
            CU_EVENT_DISABLE_TIMING),
        "making an event");
    cuda->n_marks += ret == 0;
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
  for (unsigned i = 0; i < cuda->n_marks; i++)
    cuda->driver->event_destroy (cuda->marks[i]);
  if (cuda->stream)
    cuda->driver->stream_destroy (cuda->stream);
  if (entered)
    tfx_context_leave (cuda);
  if (cuda->is_primary)
    cuda->driver->primary_ctx_release (cuda->device);
  pthread_mutex_destroy (&cuda->lock);
  free (cuda);
}
