/* SPDX-License-Identifier: LGPL-2.1-or-later
 * standin.h: the parts of the stand-in driver.
 *
 * It is a test double of libcuda.so.1: it runs our kernels, compiled for the
 * host, and checks what the caller does.  It proves logic, not the device's
 * memory model and not speed.  Environment variables, read at every call:
 *
 *   TFX_STANDIN_ORDER     forward (default), reverse, random or random:SEED:
 *                         the order of blocks and threads
 *   TFX_STANDIN_RESIDENT  blocks that run at a time, default 4
 *   TFX_STANDIN_ASYNC     early (default): asynchronous work is done at once;
 *                         late: only when something waits for it; apart or
 *                         apart:SEED: then too, and what no event orders, on
 *                         other streams, in a random order
 *   TFX_STANDIN_FAIL      [NAME:]N[,CODE][,sticky|,short]: the N-th call (of the
 *                         function NAME) from here on fails with CODE, default
 *                         719; sticky: and all calls after it; short: and all
 *                         of NAME after it
 *   TFX_STANDIN_HOLD      a file: while it is there the driver is not initialised, no
 *                         context made and no module loaded, for half a minute at
 *                         most
 *   TFX_STANDIN_REPORT    a file: a line is appended for each injected failure
 *                         and each fault of the caller
 *   TFX_STANDIN_TIMELINE  a file: see timeline.c
 *   TFX_STANDIN_KERNELS   none: kernels are not run
 *   TFX_STANDIN_SLOW      microseconds of the clock that a kernel takes, default 0;
 *                         never: it does not end, and a call that waits for all work
 *                         of its context, as frees do, is a fault
 *   TFX_STANDIN_DEVICES   number of devices, default 1
 *   TFX_STANDIN_CC        compute capability, default 90
 *   TFX_STANDIN_DRIVER    version of the driver, default 13000
 *   TFX_STANDIN_CARD      t4, 3070, 4090, 5090, a100, h100, b200 or orin: the
 *                         device has its properties (cards.h) and allows no
 *                         fault: see below
 *
 * Freeing does not wait: freeing memory that queued work still needs is a fault.
 *
 * A fault of the caller (memory outside an allocation, a kernel that diverges)
 * is printed on stderr and fails the call.  With a card named
 *
 *   - after a fault of a kernel all calls fail until the context is gone,
 *   - a kernel gets no pointer to memory that its device does not reach: pageable
 *     memory, or that of another device. */
#ifndef TFX_STANDIN_H
#define TFX_STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cards.h"
#include "stub/cuda.h"

#define STANDIN_API __attribute__ ((visibility ("default"))) CUresult CUDAAPI

/* ---- settings (settings.c) ---------------------------------------------------- */

/* Every entry point calls one of them first; the lock is held until leave().
 * enter() returns an injected failure. */
CUresult standin_enter (const char *function);
CUresult standin_leave (CUresult result);
/* Lets other threads in, and keeps the core busy unless it sleeps. */
void standin_pause (bool sleeps);

/* What takes a driver long.  Before enter(). */
void standin_hold (void);

long standin_setting (const char *name, long otherwise);
bool standin_is_late (void);
/* Where streams run apart: 0, or a number that is another one each time. */
uint64_t standin_random (void);

/* The device's properties, and whether it is one by name. */
const StandinCard *standin_card (void);
bool standin_is_strict (void);
int standin_driver_version (void);

/* Reports the caller's fault and returns the result for it. */
CUresult standin_fault (CUresult result, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* ---- contexts (context.c) ------------------------------------------------------ */

struct CUctx_st
{
  CUdevice device;
  int n_refs; /* of a primary context */
  bool is_primary;
  bool is_hung;   /* a kernel does not end */
  CUresult fault; /* all calls fail with it */
  struct CUctx_st *next;
};

/* The thread's current context, or NULL. */
CUcontext standin_context (void);
/* A kernel has failed: the context is of no use any more. */
void standin_context_spoil (CUcontext context, CUresult result);
/* The error of a call before it starts. */
CUresult standin_context_check (const char *function);

/* ---- images (image.c) ----------------------------------------------------------- */

/* CUDA_SUCCESS, or why the driver does not take it. */
CUresult standin_image_check (const void *image);

/* ---- memory (memory.c) ----------------------------------------------------------- */

CUresult standin_memory_alloc (CUdeviceptr *at, size_t size);
CUresult standin_memory_free (CUdeviceptr at);
CUresult standin_host_alloc (void **at, size_t size);
CUresult standin_host_free (void *at);
/* Frees all memory of the context. */
void standin_memory_drop (CUcontext context);

bool standin_is_device (uint64_t at);
/* Pinned memory: an asynchronous copy reads or writes it when it runs. */
bool standin_is_pinned (uint64_t at);
/* The context that the memory was allocated in; NULL: it is not the driver's. */
CUcontext standin_memory_owner (uint64_t at);
/* CUDA_SUCCESS if [at, at + size) lies within one allocation. */
CUresult standin_memory_check (uint64_t at, size_t size, const char *what);
/* Where the allocation around an address begins and ends; false: there is none.
 * A device reaches pinned memory too. */
bool standin_memory_range (uint64_t at, uint64_t *low, uint64_t *high);
/* CUDA_SUCCESS if a launch with these arguments reaches its memory: words of
 * them are looked at as addresses. */
CUresult standin_memory_check_arguments (const char *kernel, const void *args,
    size_t size);
/* CUDA_SUCCESS if nothing around the allocations has been overwritten. */
CUresult standin_memory_check_edges (const char *what);

/* ---- work (stream.c) --------------------------------------------------------------- */

typedef enum
{
  STANDIN_COPY,
  STANDIN_SET,
  STANDIN_LAUNCH,
  STANDIN_RECORD,
  STANDIN_WAIT
} StandinWorkKind;

struct StandinKernel;

typedef struct StandinWork
{
  StandinWorkKind kind;
  struct StandinWork *next;
  CUcontext context; /* of the call */

  /* A copy of rows; a plain one has one row. */
  uint64_t to, from;
  size_t width, height, to_pitch, from_pitch;
  void *owned; /* staged source, freed with the work */
  bool is_up, is_down;

  unsigned value; /* a set: 1, 2 or 4 bytes */
  size_t value_size;

  const struct StandinKernel *kernel;
  void *args; /* owned */
  unsigned grid_dim, block_dim;
  size_t shared_size;

  CUevent event;
  uint64_t record; /* which record of the event a wait waits for */
} StandinWork;

/* Does the work now, late or never, by the stream and the settings.  Copies the work
 * and takes over its memory. */
CUresult standin_submit (CUstream stream, const StandinWork *work);

/* Does all that the stream (NULL: the default one) still has to do. */
CUresult standin_drain (CUstream stream);
CUresult standin_drain_all (void);
void standin_streams_drop (CUcontext context);

bool standin_stream_is_valid (CUstream stream);
/* True if work that has not been done yet names an address in [low, high). */
bool standin_is_in_use (uint64_t low, uint64_t high);

/* ---- the timeline (timeline.c) -------------------------------------------------- */

/* In microseconds: the work begins when its stream and its engine are free,
 * *ready.  Returns when it ends. */
double standin_timeline_work (const void *stream, const StandinWork *work,
    double ready);
/* The host has waited until then. */
void standin_timeline_wait (double until);
void standin_timeline_memory (bool is_device, long size);

/* launch.c: runs a kernel. */
CUresult standin_launch (const StandinWork *work);

#endif
