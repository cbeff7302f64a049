/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stream.c: streams and events.
 *
 * A stream is a list of work.  Early: work is done at the call.  Late: when a caller
 * waits for it, so that a missing wait shows old data.  Apart: at any wait, on any
 * stream, so that a missing event shows data that are too old or too new.  In all
 * cases the clock of a slow device decides when it is over. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "grid.h"
#include "standin.h"

struct CUstream_st
{
  CUcontext context;
  StandinWork *first, **last;
  double ready; /* on the timeline */
  double due;   /* us of the clock: its work is over */
  struct CUstream_st *next;
};

struct CUevent_st
{
  CUcontext context;
  bool blocks;      /* who waits sleeps */
  CUstream stream;  /* of the last record */
  uint64_t n_asked; /* records asked for */
  uint64_t n_done;  /* records done */
  double at;        /* of the last record, on the timeline */
  double due;       /* the same by the clock */
  struct CUevent_st *next;
};

/* The default stream is one of ours. */
static struct CUstream_st default_stream = { .last = &default_stream.first };
static CUstream streams;
static CUevent events;

bool
standin_stream_is_valid (CUstream stream)
{
  if (!stream)
    return true;
  for (CUstream s = streams; s; s = s->next) {
    if (s == stream)
      return true;
  }
  return false;
}

static bool
event_is_valid (CUevent event)
{
  for (CUevent e = events; e; e = e->next) {
    if (e == event)
      return true;
  }
  return false;
}

static void
work_free (StandinWork *work)
{
  free (work->owned);
  free (work->args);
  free (work);
}

/* ---- the clock -------------------------------------------------------------------- */

static double
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* When a kernel is over that comes after other work. */
static double
kernel_end (CUcontext context, double before)
{
  const char *value = getenv ("TFX_STANDIN_SLOW");
  double takes = (double)standin_setting ("TFX_STANDIN_SLOW", 0);

  if (value && strcmp (value, "never") == 0) {
    if (context)
      context->is_hung = true;
    return INFINITY;
  }
  return takes > 0.0 ? fmax (before, now ()) + takes : before;
}

static void
wait_until (double due, bool sleeps)
{
  while (now () < due)
    standin_pause (sleeps);
}

/* ---- doing it --------------------------------------------------------------------- */

static CUresult
copy_run (const StandinWork *work)
{
  size_t to_size = (work->height - 1) * work->to_pitch + work->width;
  size_t from_size = (work->height - 1) * work->from_pitch + work->width;
  CUresult result = CUDA_SUCCESS;

  /* Memory may have been freed since the call. */
  if (standin_is_device (work->to))
    result = standin_memory_check (work->to, to_size, "a copy's target");
  if (result == CUDA_SUCCESS && standin_is_device (work->from))
    result = standin_memory_check (work->from, from_size, "a copy's source");
  if (result != CUDA_SUCCESS)
    return result;
  for (size_t row = 0; row < work->height; row++)
    memmove ((char *)(uintptr_t)work->to + row * work->to_pitch,
        (const char *)(uintptr_t)work->from + row * work->from_pitch,
        work->width);
  return CUDA_SUCCESS;
}

static CUresult
set_run (const StandinWork *work)
{
  size_t size = (work->height - 1) * work->to_pitch + work->width;
  CUresult result = standin_memory_check (work->to, size, "a memset");

  if (result != CUDA_SUCCESS)
    return result;
  for (size_t row = 0; row < work->height; row++) {
    char *at = (char *)(uintptr_t)work->to + row * work->to_pitch;
    for (size_t i = 0; i < work->width; i += work->value_size)
      memcpy (at + i, &work->value, work->value_size);
  }
  return CUDA_SUCCESS;
}

static CUresult drain_to (CUstream stream, CUevent event, uint64_t record);

static CUresult
work_run (const StandinWork *work)
{
  switch (work->kind) {
    case STANDIN_COPY:
      return copy_run (work);
    case STANDIN_SET:
      return set_run (work);
    case STANDIN_LAUNCH:
      return standin_launch (work);
    case STANDIN_RECORD:
      if (event_is_valid (work->event))
        work->event->n_done = work->record;
      return CUDA_SUCCESS;
    case STANDIN_WAIT:
      if (event_is_valid (work->event))
        return drain_to (work->event->stream, work->event, work->record);
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_UNKNOWN;
}

static CUresult
run_first (CUstream stream)
{
  StandinWork *work = stream->first;
  CUresult result;

  stream->first = work->next;
  if (!stream->first)
    stream->last = &stream->first;
  result = work_run (work);
  if (result != CUDA_SUCCESS && work->kind == STANDIN_LAUNCH)
    standin_context_spoil (work->context, result);
  work_free (work);
  return result;
}

/* Waits for an event of another stream that has not come. */
static bool
is_held (CUstream stream)
{
  const StandinWork *work = stream->first;

  return work->kind == STANDIN_WAIT && event_is_valid (work->event) &&
         work->event->n_done < work->record;
}

/* A stream that has something to do and may: any of them.  There is one, since an
 * event is recorded before it is waited for. */
static CUstream
any_stream (CUstream wanted, uint64_t random)
{
  CUstream found = wanted->first && !is_held (wanted) ? wanted : NULL;
  unsigned n = found ? 1 : 0;

  for (CUstream s = streams; s; s = s->next) {
    if (s == wanted || !s->first || is_held (s))
      continue;
    n++;
    random = random * 6364136223846793005u + 1442695040888963407u;
    if ((random >> 33) % n == 0)
      found = s;
  }
  return found;
}

/* Does the stream's work until the event's record is done, or, without an
 * event, all of it. */
static CUresult
drain_to (CUstream stream, CUevent event, uint64_t record)
{
  CUresult result = CUDA_SUCCESS;

  if (!stream)
    stream = &default_stream;
  while (stream->first && !(event && event->n_done >= record)) {
    uint64_t random = standin_random ();
    CUstream s = random ? any_stream (stream, random) : stream;
    CUresult r = run_first (s ? s : stream);

    if (result == CUDA_SUCCESS)
      result = r;
  }
  return result;
}

CUresult
standin_drain (CUstream stream)
{
  return drain_to (stream, NULL, 0);
}

CUresult
standin_drain_all (void)
{
  CUresult result = standin_drain (NULL);

  for (CUstream s = streams; s; s = s->next) {
    CUresult r = standin_drain (s);
    if (result == CUDA_SUCCESS)
      result = r;
  }
  return result;
}

static bool
names (const StandinWork *work, uint64_t low, uint64_t high)
{
  const uint64_t *words = work->args;

  if (work->kind == STANDIN_COPY || work->kind == STANDIN_SET)
    return (work->to >= low && work->to < high) ||
           (work->kind == STANDIN_COPY && work->from >= low &&
               work->from < high);
  for (size_t i = 0; work->args && i < work->kernel->args_size / 8; i++) {
    if (words[i] >= low && words[i] < high)
      return true;
  }
  return false;
}

bool
standin_is_in_use (uint64_t low, uint64_t high)
{
  for (CUstream s = streams; s; s = s->next) {
    for (const StandinWork *work = s->first; work; work = work->next) {
      if (names (work, low, high))
        return true;
    }
  }
  return false;
}

/* The source of a copy from memory that is not pinned is read at the call; its
 * target there is written before the call returns. */
static CUresult
stage (StandinWork *work, bool *at_once)
{
  bool from_host = !standin_is_device (work->from);
  bool to_host = !standin_is_device (work->to);
  char *staged;

  *at_once = to_host && !standin_is_pinned (work->to);
  if (!from_host || standin_is_pinned (work->from) || *at_once)
    return CUDA_SUCCESS;
  staged = malloc (work->width * work->height);
  if (!staged)
    return CUDA_ERROR_OUT_OF_MEMORY;
  for (size_t row = 0; row < work->height; row++)
    memcpy (staged + row * work->width,
        (const char *)(uintptr_t)work->from + row * work->from_pitch,
        work->width);
  work->from = (uintptr_t)staged;
  work->from_pitch = work->width;
  work->owned = staged;
  return CUDA_SUCCESS;
}

CUresult
standin_submit (CUstream stream, const StandinWork *given)
{
  StandinWork *work = malloc (sizeof *work);
  CUstream s = stream ? stream : &default_stream;
  bool at_once = !standin_is_late ();

  *work = *given;
  work->next = NULL;
  work->context = standin_context ();
  if (work->kind == STANDIN_RECORD) {
    work->event->at = s->ready;
    work->event->due = s->due;
  } else if (work->kind == STANDIN_WAIT) {
    s->ready = fmax (s->ready, work->event->at);
    s->due = fmax (s->due, work->event->due);
  } else {
    s->ready = standin_timeline_work (s, work, s->ready);
  }
  if (work->kind == STANDIN_LAUNCH)
    s->due = kernel_end (work->context, s->due);
  if (!stream) {
    /* The default stream waits for the others. */
    standin_drain_all ();
    at_once = true;
  }
  if (work->kind == STANDIN_COPY) {
    bool synchronous;
    CUresult result = stage (work, &synchronous);
    if (result != CUDA_SUCCESS) {
      work_free (work);
      return result;
    }
    at_once = at_once || synchronous;
    if (synchronous && isinf (s->due)) {
      work_free (work);
      return standin_fault (CUDA_ERROR_UNKNOWN,
          "a copy waits for a kernel that does not end");
    }
  }
  *s->last = work;
  s->last = &work->next;
  return at_once ? standin_drain (stream) : CUDA_SUCCESS;
}

void
standin_streams_drop (CUcontext context)
{
  for (CUstream *link = &streams; *link;) {
    CUstream s = *link;
    if (s->context != context) {
      link = &s->next;
      continue;
    }
    standin_drain (s);
    *link = s->next;
    free (s);
  }
  for (CUevent *link = &events; *link;) {
    CUevent e = *link;
    if (e->context != context) {
      link = &e->next;
      continue;
    }
    *link = e->next;
    free (e);
  }
}

/* ---- streams and events -------------------------------------------------------------- */

STANDIN_API
cuStreamCreate (CUstream *stream, unsigned flags)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS && !standin_context ())
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS) {
    CUstream s = calloc (1, sizeof *s);
    s->context = standin_context ();
    s->last = &s->first;
    s->next = streams;
    streams = s;
    *stream = s;
  }
  return standin_leave (result);
}

static CUresult
stream_destroy (CUstream stream)
{
  CUresult result = CUDA_ERROR_INVALID_HANDLE;

  for (CUstream *link = &streams; *link; link = &(*link)->next) {
    if (*link != stream)
      continue;
    result = standin_drain (stream);
    *link = stream->next;
    free (stream);
    break;
  }
  return result;
}

STANDIN_API
cuStreamDestroy_v2 (CUstream stream)
{
  CUresult result = standin_enter (__func__);

  return standin_leave (
      result == CUDA_SUCCESS ? stream_destroy (stream) : result);
}

STANDIN_API
cuStreamDestroy (CUstream stream)
{
  return cuStreamDestroy_v2 (stream);
}

STANDIN_API
cuStreamSynchronize (CUstream stream)
{
  CUresult result = standin_enter (__func__);
  CUstream s = stream ? stream : &default_stream;

  if (result == CUDA_SUCCESS && !standin_stream_is_valid (stream))
    result = CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_SUCCESS) {
    wait_until (s->due, false);
    standin_timeline_wait (s->ready);
    result = standin_drain (stream);
  }
  return standin_leave (result);
}

STANDIN_API
cuStreamWaitEvent (CUstream stream, CUevent event, unsigned flags)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS &&
      (!event_is_valid (event) || !standin_stream_is_valid (stream)))
    result = CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_SUCCESS && event->n_asked > 0) {
    StandinWork work = { .kind = STANDIN_WAIT,
      .event = event,
      .record = event->n_asked };
    result = standin_submit (stream, &work);
  }
  return standin_leave (result);
}

STANDIN_API
cuEventCreate (CUevent *event, unsigned flags)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS && !standin_context ())
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS) {
    CUevent e = calloc (1, sizeof *e);
    e->context = standin_context ();
    e->blocks = (flags & CU_EVENT_BLOCKING_SYNC) != 0;
    e->next = events;
    events = e;
    *event = e;
  }
  return standin_leave (result);
}

STANDIN_API
cuEventDestroy_v2 (CUevent event)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS)
    result = CUDA_ERROR_INVALID_HANDLE;
  for (CUevent *link = &events; result == CUDA_ERROR_INVALID_HANDLE && *link;
       link = &(*link)->next) {
    if (*link != event)
      continue;
    *link = event->next;
    free (event);
    result = CUDA_SUCCESS;
    break;
  }
  return standin_leave (result);
}

STANDIN_API
cuEventRecord (CUevent event, CUstream stream)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS &&
      (!event_is_valid (event) || !standin_stream_is_valid (stream)))
    result = CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_SUCCESS) {
    StandinWork work = { .kind = STANDIN_RECORD,
      .event = event,
      .record = ++event->n_asked };
    event->stream = stream;
    result = standin_submit (stream, &work);
  }
  return standin_leave (result);
}

/* Asks once, or until it is over. */
static CUresult
event_wait (const char *function, CUevent event, bool asks)
{
  CUresult result = standin_enter (function);

  if (result == CUDA_SUCCESS && !event_is_valid (event))
    result = CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_SUCCESS && asks && now () < event->due)
    result = CUDA_ERROR_NOT_READY;
  if (result == CUDA_SUCCESS) {
    wait_until (event->due, event->blocks);
    standin_timeline_wait (event->at);
  }
  if (result == CUDA_SUCCESS && event->n_asked > 0)
    result = drain_to (event->stream, event, event->n_asked);
  return standin_leave (result);
}

STANDIN_API
cuEventSynchronize (CUevent event)
{
  return event_wait (__func__, event, false);
}

STANDIN_API
cuEventQuery (CUevent event)
{
  return event_wait (__func__, event, true);
}

STANDIN_API
cuEventElapsedTime (float *ms, CUevent start, CUevent end)
{
  CUresult result = standin_enter (__func__);

  /* Time passes, but it is not a device's time. */
  *ms = 1.0f;
  return standin_leave (result);
}
