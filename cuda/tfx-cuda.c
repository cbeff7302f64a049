/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-cuda.c: the table of the backend, and the references to a device.
 *
 * The top of this folder.  A file calls files further down only:
 *
 *   tfx-cuda   the table, references
 *   cost       what a plan would take on a card
 *   engine     a plan made ready and run · engine-run, -steps, -state
 *   copy       channels as they are
 *   units      which kinds of stage have a unit · clip · delay · dynamics · fir
 *              · limiter · mix · reverb · fft · state · unit
 *   cascade    sections · variant · tables · shape · cascade-state
 *   transfer   samples between host and device
 *   buffer     device and pinned memory
 *   module     kernels for the device · compile · cache
 *   context    a device, its context and stream, errors
 *   fft-cut    the partitions of a FIR for transforms
 *   card       a device as its driver describes it
 *   driver     libcuda.so.1, and who observes it */
#include "context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine-private.h"
#include "module.h"
#include "units.h"

/* ---- the table ------------------------------------------------------------------ */

/* Engines, and state that has none, hold their device and its context. */
static void
hold (TfxCuda *cuda)
{
  tfx_cuda_ref (cuda);
  if (cuda->owner.hold)
    cuda->owner.hold (cuda->owner.data);
}

static void
release (TfxCuda *cuda)
{
  const TfxCudaOwner owner = cuda->owner;

  /* It may take the context with it. */
  tfx_cuda_unref (&cuda);
  if (owner.release)
    owner.release (owner.data);
}

static int
engine_new (const TfxPlan *plan, TfxEngine **engine)
{
  TfxCuda *cuda = (TfxCuda *)plan->backend->data;
  int ret = tfx_cuda_engine_new (cuda, plan, engine);

  if (ret == 0)
    hold (cuda);
  return ret;
}

static void
engine_free (TfxEngine *engine)
{
  TfxCuda *cuda;

  if (!engine)
    return;
  cuda = engine->cuda;
  tfx_cuda_engine_finish_flights (engine);
  tfx_cuda_engine_free (&engine);
  release (cuda);
}

static void
resident_free (TfxResident *resident)
{
  TfxCuda *cuda = (TfxCuda *)resident->device;

  tfx_cuda_engine_free_resident (resident);
  release (cuda);
}

static TfxResident *
keep_state (TfxEngine *engine, const TfxPlanPart *part)
{
  TfxResident *resident = tfx_cuda_engine_keep_state (engine, part);

  if (!resident)
    return NULL;
  resident->free = resident_free;
  hold (engine->cuda);
  return resident;
}

static bool
is_busy (const TfxBackend *backend)
{
  return tfx_module_is_compiling ((TfxCuda *)backend->data);
}

static bool
can_run (const TfxStage *stage)
{
  return tfx_cuda_units_find (stage) != NULL;
}

static void
fill_table (TfxCuda *cuda)
{
  cuda->backend = (TfxBackend){
    .name = "cuda",
    .kernel = cuda->kernel,
    .data = cuda,
    .max_samples = TFX_MAX_SAMPLES,
    .is_busy = is_busy,
    .engine_new = engine_new,
    .engine_free = engine_free,
    .run = tfx_cuda_engine_run,
    .start = tfx_cuda_engine_start,
    .finish = tfx_cuda_engine_finish,
    .n_done = tfx_cuda_engine_n_done,
    .update = tfx_cuda_engine_update,
    .get_state = tfx_cuda_engine_get_state,
    .set_state = tfx_cuda_engine_set_state,
    .keep_state = keep_state,
    .take_state = tfx_cuda_engine_take_state,
    .state_peak = tfx_cuda_engine_state_peak,
    .add_stats = tfx_cuda_engine_add_stats,
    .can_run = can_run,
  };
}

/* ---- making --------------------------------------------------------------------- */

static void
cuda_free (TfxCuda *cuda)
{
  bool entered = cuda->context && tfx_context_enter (cuda) == 0;

  tfx_module_clear (cuda);
  if (entered)
    tfx_context_leave (cuda);
  tfx_context_free (cuda);
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
  cuda = tfx_context_new (driver);
  if (!cuda)
    snprintf (why, why_size, "out of memory");
  return cuda;
}

/* The steps after the context is known. */
static int
cuda_finish (TfxCuda *cuda, int ret, TfxCuda **out, char *why, size_t why_size)
{
  if (ret == 0)
    ret = tfx_context_start (cuda);
  if (ret < 0) {
    tfx_cuda_error (cuda, why, why_size);
    cuda_free (cuda);
    return ret;
  }
  fill_table (cuda);
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
    ret = tfx_context_open_device (cuda, device < 0 ? 0 : device);
  return cuda_finish (cuda, ret, out, why, why_size);
}

int
tfx_cuda_new_for_context (void *context, TfxCuda **out, char *why,
    size_t why_size)
{
  TfxCuda *cuda = cuda_alloc (why, why_size);

  *out = NULL;
  if (!cuda)
    return -ENODEV;
  return cuda_finish (cuda, tfx_context_open (cuda, context), out, why,
      why_size);
}

void
tfx_cuda_set_owner (TfxCuda *cuda, const TfxCudaOwner *owner)
{
  cuda->owner = *owner;
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

/* ---- asking --------------------------------------------------------------------- */

bool
tfx_cuda_is_available (const char **why)
{
  return tfx_driver_get (why) != NULL;
}

void
tfx_cuda_error (const TfxCuda *cuda, char *text, size_t size)
{
  snprintf (text, size, "%s", tfx_context_error (cuda));
}

bool
tfx_cuda_is_lost (const TfxCuda *cuda)
{
  return __atomic_load_n (&cuda->lost, __ATOMIC_ACQUIRE);
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
tfx_cuda_finish_compiling (TfxCuda *cuda)
{
  tfx_module_finish (cuda);
}

void
tfx_cuda_set_waiting (TfxCuda *cuda, bool waiting)
{
  __atomic_store_n (&cuda->waiting, waiting, __ATOMIC_RELAXED);
}

int
tfx_cuda_wait (TfxCuda *cuda)
{
  const TfxCudaStream stream = { cuda, cuda->stream };
  int ret = tfx_context_enter (cuda);

  if (ret < 0)
    return ret;
  ret = tfx_context_wait (&stream, NULL, "waiting", &cuda->usual_ns);
  tfx_context_leave (cuda);
  return ret;
}
