/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-cuda.h: the backend "cuda".
 *
 *   TfxCuda *cuda;
 *   char why[256];
 *   if (tfx_cuda_new (-1, &cuda, why, sizeof why) == 0) {
 *     tfx_plan_new (filters, n, tfx_cuda_backend (cuda), &plan);
 *     …
 *     tfx_plan_free (&plan);
 *     tfx_cuda_unref (&cuda);
 *   }
 *
 * Blocks
 * ------
 *
 * tfx_plan_run() takes blocks in host memory and in device memory, and detects the
 * kind from the address; input and output may differ.  Host memory is copied through
 * pinned staging buffers; for short blocks kernels work on these.  A run returns when
 * its output is complete.  With tfx_cuda_set_waiting (cuda, false) a run with output in
 * device memory returns at once; later work on tfx_cuda_stream() sees the output, for
 * all plans of the TfxCuda.
 *
 * A run that fails on the device returns -EIO or -ENOMEM and keeps the state before
 * the failure, and its input unless the output is the same device memory.  So a plan
 * on the CPU can run the same filters from frame tfx_plan_n_done() on, unless
 * tfx_cuda_is_lost().
 *
 * With tfx_cuda_set_waiting (cuda, false) no call waits for a compiler.  Making or
 * running a plan whose kernels must be compiled first returns -EINPROGRESS, while
 * tfx_plan_is_in_progress(); a plan on the CPU can run the filters during that time.
 *
 * During a parameter ramp or a cross-fade a run returns -ENOTSUP: a plan on the CPU
 * runs the filters until it ends.  The state moves to that plan and back.
 *
 * Splitting a stream into other blocks changes the output by rounding only;
 * the same blocks give the same bits.
 *
 * Arithmetic
 * ----------
 *
 * Float streams use double on devices with fast double arithmetic, otherwise
 * double-float (pairs of floats, about 48 bits); the environment variable
 * TFX_CUDA=double or twofold selects one.  Streams of doubles use double.
 *
 * Threads
 * -------
 *
 * A TfxCuda may be used by any thread; a plan by one at a time, with the locks of
 * its filters. */
#ifndef TFX_CUDA_H
#define TFX_CUDA_H

#include "tfx.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A device with its context, stream and loaded kernels. */
typedef struct TfxCuda TfxCuda;

/* True if there is a driver with a device. Otherwise *why (unless NULL) points to a
 * static text that names the missing part. */
bool tfx_cuda_is_available (const char **why);

/* The value of TFX_CUDA if it names no arithmetic and is ignored; NULL otherwise. */
const char *tfx_cuda_unknown (void);

/* Opens the primary context of a device; -1: the first device. 0, or a negative
 * errno and a text in why[why_size]. */
int tfx_cuda_new (int device, TfxCuda **cuda, char *why, size_t why_size);

/* The same on an existing context (a CUcontext), which must outlive the result. */
int tfx_cuda_new_for_context (void *context, TfxCuda **cuda, char *why,
    size_t why_size);

/* The owner of the context: plans, and filters with state on the device, hold the
 * owner and the TfxCuda, in any thread, with the locks of filters. */
typedef struct TfxCudaOwner
{
  void *data;
  void (*hold) (void *data);
  void (*release) (void *data);
} TfxCudaOwner;

/* Sets the owner, before the first plan. */
void tfx_cuda_set_owner (TfxCuda *cuda, const TfxCudaOwner *owner);

TfxCuda *tfx_cuda_ref (TfxCuda *cuda);
void tfx_cuda_unref (TfxCuda **cuda);

/* Returns the backend, valid while there is a reference to cuda. A plan holds one. */
const TfxBackend *tfx_cuda_backend (TfxCuda *cuda);

/* The device's ordinal and name, such as "NVIDIA H200". */
int tfx_cuda_device (const TfxCuda *cuda);
const char *tfx_cuda_name (const TfxCuda *cuda);

/* The stream for blocks in device memory (a CUstream). */
void *tfx_cuda_stream (const TfxCuda *cuda);

/* Whether a run waits for output in device memory, and for compilers; initially
 * true. */
void tfx_cuda_set_waiting (TfxCuda *cuda, bool waiting);

/* Waits for all work on the stream, for about a second at most. 0 or -EIO. */
int tfx_cuda_wait (TfxCuda *cuda);

/* Waits for compile tasks. */
void tfx_cuda_finish_compiling (TfxCuda *cuda);

/* Copies the text of the last failure in this thread; "" without one. */
void tfx_cuda_error (const TfxCuda *cuda, char *text, size_t size);

/* True if the device no longer responds; the state on it is lost. */
bool tfx_cuda_is_lost (const TfxCuda *cuda);

/* True if it is lost because work does not end.  The driver would wait for that
 * work when memory is freed: do not free any. */
bool tfx_cuda_is_hung (const TfxCuda *cuda);

/* ---- driver calls --------------------------------------------- */

/* Reports a launch, copy or wait after the driver has returned, in the thread that
 * called it: the kind, its name (of a kernel, or "upload", "download" …) and the
 * bytes of a copy. Both names are valid until it returns. */
typedef struct TfxCudaObserver
{
  uint64_t (*now) (void); /* the clock of start */
  void (*did) (const char *what, const char *name, size_t n_bytes,
      uint64_t start);
} TfxCudaObserver;

/* Sets the observer of this process, before any other call of this file. */
void tfx_cuda_observe (const TfxCudaObserver *observer);

/* ---- estimates ---------------------------------------------- */

/* Properties of a device from its driver; 0 if unknown. */
typedef struct TfxCudaCard
{
  int compute; /* capability: 90 for 9.0 */
  int n_multiprocessors;
  int clock_khz, memory_khz, memory_bits;
  int double_ratio;   /* how much faster floats are than doubles */
  int max_shared;     /* bytes that a block may have, */
  int shared;         /* and a multiprocessor has */
  bool is_integrated; /* its memory is the host's */
} TfxCudaCard;

/* Reads the properties of a device; -1: the first one. Makes no context. 0, -ENODEV
 * or -EIO. */
int tfx_cuda_get_card (int device, TfxCudaCard *card);

/* The shape of a block, and the memory of its input and output. */
typedef struct TfxCudaJob
{
  size_t n_frames;
  bool from_device, to_device; /* else the host's memory */
  bool only_moves;             /* the CPU filters */
} TfxCudaJob;

/* Estimates the time of tfx_plan_run() for the block, if the plan, which may be one
 * on the CPU, ran on that card: from the counted instructions and bytes of the
 * kernels, the rates of the card, and the overlap of copies. False if the rates of
 * the card are unknown, or no device can run the plan. */
bool tfx_cuda_estimate (const TfxCudaCard *card, const TfxPlan *plan,
    const TfxCudaJob *job, double *ns);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
