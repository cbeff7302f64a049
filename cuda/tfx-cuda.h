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
 * tfx_plan_run() takes blocks in host memory and blocks in device memory, and
 * tells them apart by their address; input and output may differ.  Host memory
 * goes through pinned staging.  A run returns when its output is there; with
 * tfx_cuda_set_waiting (cuda, false) a run whose output is in device memory
 * returns at once, and everything that is done later on tfx_cuda_stream(), by
 * whichever plan of the same TfxCuda, finds it.
 *
 * A run that the device fails returns -EIO or -ENOMEM; its input, unless the
 * output is the same device memory, and the state before the run are kept.  So
 * a plan on the CPU can run the same filters from the frame on that
 * tfx_plan_n_done() tells, unless tfx_cuda_is_lost().
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
 * Float streams are filtered in double where the device does that at speed,
 * else in pairs of floats, about 48 bits; TFX_CUDA=double or twofold in the
 * environment chooses one.  Streams of doubles are filtered in double.
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

/* A device, a context and a stream on it, and the kernels made ready for it. */
typedef struct TfxCuda TfxCuda;

/* True if there is a driver with a device. Otherwise *why (unless NULL) points to a
 * static text that names the missing part. */
bool tfx_cuda_is_available (const char **why);

/* What TFX_CUDA asks for, if there is no arithmetic of that name and the device
 * decides; NULL otherwise. */
const char *tfx_cuda_unknown (void);

/* On a device's primary context; device -1: the first one.  0 or a negative
 * errno and a text in why[why_size]. */
int tfx_cuda_new (int device, TfxCuda **cuda, char *why, size_t why_size);

/* On somebody's context (a CUcontext), which must outlive the result. */
int tfx_cuda_new_for_context (void *context, TfxCuda **cuda, char *why,
    size_t why_size);

/* Whose context it is: plans, and filters whose state is on the device, hold it
 * (and the result), in any thread, and with the locks of filters. */
typedef struct TfxCudaOwner
{
  void *data;
  void (*hold) (void *data);
  void (*release) (void *data);
} TfxCudaOwner;

/* Before any plan is made. */
void tfx_cuda_set_owner (TfxCuda *cuda, const TfxCudaOwner *owner);

TfxCuda *tfx_cuda_ref (TfxCuda *cuda);
void tfx_cuda_unref (TfxCuda **cuda);

/* The backend; valid while there is a reference to cuda.  A plan holds one. */
const TfxBackend *tfx_cuda_backend (TfxCuda *cuda);

/* The device's ordinal and name, such as "NVIDIA H200". */
int tfx_cuda_device (const TfxCuda *cuda);
const char *tfx_cuda_name (const TfxCuda *cuda);

/* The stream on which all of it runs (a CUstream). */
void *tfx_cuda_stream (const TfxCuda *cuda);

/* Whether a run waits for an output in device memory; it does at first. */
void tfx_cuda_set_waiting (TfxCuda *cuda, bool waiting);

/* Waits for all that has been asked for.  0 or -EIO. */
int tfx_cuda_wait (TfxCuda *cuda);

/* Waits for the ends of compilations. */
void tfx_cuda_finish_compiling (TfxCuda *cuda);

/* The last failure in this thread, in words; "" if there was none. */
void tfx_cuda_error (const TfxCuda *cuda, char *text, size_t size);

/* True if the device has gone, and the state with it. */
bool tfx_cuda_is_lost (const TfxCuda *cuda);

/* ---- what it asks of the driver --------------------------------------------- */

/* Reports a launch, copy or wait after the driver has returned, in the thread that
 * called it: the kind, its name (of a kernel, or "upload", "download" …) and the
 * bytes of a copy. Both names are valid until it returns. */
typedef struct TfxCudaObserver
{
  uint64_t (*now) (void); /* the clock of start */
  void (*did) (const char *what, const char *name, size_t n_bytes,
      uint64_t start);
} TfxCudaObserver;

/* Sets the observer of this process, before any other call of this file. Without it
 * no call is wrapped. */
void tfx_cuda_observe (const TfxCudaObserver *observer);

/* ---- what a device would take ---------------------------------------------- */

/* A device as its driver describes it; 0 where it does not. */
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

/* Of a device; -1: of the first one.  Makes no context.  0, -ENODEV or -EIO. */
int tfx_cuda_get_card (int device, TfxCudaCard *card);

/* A block, and where it comes from and goes to. */
typedef struct TfxCudaJob
{
  size_t n_frames;
  bool from_device, to_device; /* else the host's memory */
  bool only_moves;             /* the CPU filters */
} TfxCudaJob;

/* About what tfx_plan_run() would take for the block if the plan, which may be
 * one on the CPU, were one on that card: computed from what the kernels' instructions
 * and bytes were counted to be, from the card's rates, and from how copies
 * overlap.  False: of the card's generation the rates are not known, its driver
 * does not tell them, or no device runs such a plan. */
bool tfx_cuda_estimate (const TfxCudaCard *card, const TfxPlan *plan,
    const TfxCudaJob *job, double *ns);

#ifdef __cplusplus
}
#endif

#endif
