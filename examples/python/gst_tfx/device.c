/* SPDX-License-Identifier: LGPL-2.1-or-later
 * device.c: see device.h, and device.py for the objects of the functions here. */
#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "core/block.h"
#include "core/kind.h"

/* Frames that the CPU filters at a time for a device. */
#define HOST_FRAMES 16384

/* ---- running ---------------------------------------------------------------------- */

/* Copies samples between any memory and layouts: a plan of no stages does. */
static int
copy (TfxCuda *cuda, const TfxBlock *from, const TfxBlock *to)
{
  const TfxFilterSpec spec = { .rate_hz = 48000.0,
    .n_channels = from->n_channels,
    .sample = from->type };
  TfxChain *chain = tfx_chain_new ();
  TfxFilter *filter = NULL;
  TfxPlan *plan = NULL;
  int ret = chain ? tfx_filter_new (chain, &spec, &filter) : -ENOMEM;

  tfx_chain_unref (&chain);
  if (ret < 0)
    return ret;
  tfx_filter_lock (filter);
  ret = tfx_plan_new (&filter, 1, tfx_cuda_backend (cuda), &plan);
  if (ret == 0)
    ret = tfx_plan_run (plan, from, to);
  tfx_plan_free (&plan);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  return ret;
}

/* Runs a plan of the CPU on a block in device memory. */
static int
run_in_host (TfxCuda *cuda, TfxPlan *plan, const TfxBlock *in,
    const TfxBlock *out)
{
  void *data =
      malloc (in->n_frames * in->n_channels * tfx_sample_size (in->type));
  const TfxBlock host =
      tfx_block_interleaved (data, in->type, in->n_channels, in->n_frames);
  int ret = data ? copy (cuda, in, &host) : -ENOMEM;

  if (ret == 0)
    ret = tfx_plan_run (plan, &host, &host);
  if (ret == 0)
    ret = copy (cuda, &host, out);
  free (data);
  return ret;
}

int
tfx_device_run (TfxCuda *cuda, bool is_away, TfxFilter *filter, TfxPlan **plan,
    const TfxBlock *in, const TfxBlock *out, uint64_t *n_copies)
{
  const TfxBackend *backend = tfx_cuda_backend (cuda);
  const bool is_supported = tfx_filter_runs_on (filter, backend);
  bool is_refused = false;
  size_t done = 0;
  int ret = 0;

  while (ret == 0 && done < in->n_frames) {
    const bool on_cpu =
        !is_supported || is_refused || tfx_filter_is_changing (filter);
    size_t n = in->n_frames - done;
    TfxBlock from, to;

    if (on_cpu && n > HOST_FRAMES)
      n = HOST_FRAMES;
    from = tfx_block_part (in, done, n, 0, in->n_channels);
    to = tfx_block_part (out, done, n, 0, in->n_channels);
    ret = tfx_plan_switch (plan, on_cpu ? tfx_cpu_backend () : backend);
    if (ret == 0 && on_cpu && is_away) {
      ret = run_in_host (cuda, *plan, &from, &to);
      done += n;
      *n_copies += 1;
    } else if (ret == 0) {
      ret = tfx_plan_run (*plan, &from, &to);
      done += tfx_plan_n_done (*plan);
    }
    /* A change begins within the block. */
    is_refused = ret == -ENOTSUP && !on_cpu;
    if (is_refused)
      ret = 0;
  }
  return ret;
}

PyObject *
tfx_device_raise (TfxCuda *cuda, int code)
{
  char text[512];

  tfx_cuda_error (cuda, text, sizeof text);
  if (code == -ENOMEM)
    return PyErr_NoMemory ();
  return PyErr_Format (code == -EINVAL ? PyExc_ValueError : PyExc_RuntimeError,
      "the device cannot filter the samples: %s",
      *text ? text : strerror (-code));
}

bool
tfx_device_is_alike (const TfxChain *chain)
{
  bool is_alike = true;

  for (size_t i = 0; is_alike && i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];

    if (s->kind == &tfx_kind_fir)
      is_alike = s->u.fir.n_kernels == 1 && !s->u.fir.matrix;
    else if (s->kind == &tfx_kind_dynamics)
      is_alike = !s->u.dynamics.is_linked && !s->u.dynamics.key;
    else if (s->kind == &tfx_kind_limiter)
      is_alike = !s->u.limiter.is_linked;
    else if (s->kind == &tfx_kind_sum)
      for (size_t k = 0; is_alike && k < s->u.sum.n; k++)
        is_alike = tfx_device_is_alike (s->u.sum.branches[k]);
    else
      is_alike = s->kind->step == TFX_STEP_CASCADE ||
                 s->kind == &tfx_kind_clip || s->kind == &tfx_kind_reverb;
  }
  return is_alike;
}

/* ---- devices ---------------------------------------------------------------------- */

#define DEVICE "gst_tfx.device"

int
tfx_device_convert (PyObject *object, TfxCuda **cuda)
{
  *cuda = object == Py_None ? NULL : PyCapsule_GetPointer (object, DEVICE);
  return object == Py_None || *cuda;
}

/* open_device (ordinal): (a device, its stream for blocks in device memory).  The device
 * stays open. */
static PyObject *
open_device (PyObject *module, PyObject *args)
{
  char why[256];
  TfxCuda *cuda;
  int ordinal, ret;

  if (!PyArg_ParseTuple (args, "i", &ordinal))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  ret = tfx_cuda_new (ordinal, &cuda, why, sizeof why);
  Py_END_ALLOW_THREADS;
  if (ret < 0)
    return PyErr_Format (PyExc_RuntimeError,
        "device 'cuda' is not available: %s", why);
  return Py_BuildValue ("(NK)", PyCapsule_New (cuda, DEVICE, NULL),
      (unsigned long long)(uintptr_t)tfx_cuda_stream (cuda));
}

/* wait (device, stream): for the work that is on the stream.  1 is the default stream, as
 * in DLPack. */
static PyObject *
wait_stream (PyObject *module, PyObject *args)
{
  unsigned long long handle;
  TfxCuda *cuda;
  int ret;

  if (!PyArg_ParseTuple (args, "O&K", tfx_device_convert, &cuda, &handle))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  ret = tfx_context_enter (cuda);
  if (ret == 0) {
    ret = tfx_context_check (cuda,
        cuda->driver->stream_synchronize (
            handle == 1 ? NULL : (CUstream)(uintptr_t)handle),
        "waiting for the stream of the samples");
    tfx_context_leave (cuda);
  }
  Py_END_ALLOW_THREADS;
  if (ret < 0)
    return tfx_device_raise (cuda, ret);
  Py_RETURN_NONE;
}

/* ---- memory ----------------------------------------------------------------------- */

/* Memory of a device that hangs stays. */
static void
memory_free (PyObject *capsule)
{
  TfxCuda *cuda = PyCapsule_GetContext (capsule);
  const TfxCudaStream stream = { cuda, cuda->stream };
  TfxBuffer buffer = { (uintptr_t)PyCapsule_GetPointer (capsule, NULL), 1 };

  Py_BEGIN_ALLOW_THREADS;
  if (tfx_context_enter (cuda) == 0) {
    tfx_buffer_free (&stream, &buffer);
    tfx_context_leave (cuda);
  }
  Py_END_ALLOW_THREADS;
}

/* alloc (device, bytes): (an object that owns memory of zeros, its address). */
static PyObject *
alloc_memory (PyObject *module, PyObject *args)
{
  TfxBuffer buffer = { 0 };
  PyObject *owner;
  Py_ssize_t size;
  TfxCuda *cuda;
  int ret;

  if (!PyArg_ParseTuple (args, "O&n", tfx_device_convert, &cuda, &size))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  ret = tfx_context_enter (cuda);
  if (ret == 0) {
    ret = tfx_buffer_reserve_zeros (&(TfxCudaStream){ cuda, cuda->stream },
        &buffer, (size_t)size, true);
    tfx_context_leave (cuda);
  }
  Py_END_ALLOW_THREADS;
  if (ret < 0)
    return tfx_device_raise (cuda, ret);
  owner = PyCapsule_New ((void *)(uintptr_t)buffer.data, NULL, memory_free);
  if (owner)
    PyCapsule_SetContext (owner, cuda);
  return owner ? Py_BuildValue ("(NK)", owner, buffer.data) : NULL;
}

/* ---- DLPack ----------------------------------------------------------------------- */

/* The head of a DLManagedTensor without version. */
typedef struct Tensor
{
  void *data;
  int32_t device_type, device_id;
} Tensor;

/* set_device (capsule, type, id): says where the tensor is.  NumPy makes and takes tensors
 * of the CPU alone, and neither reads nor writes their samples. */
static PyObject *
set_device (PyObject *module, PyObject *args)
{
  PyObject *capsule;
  Tensor *tensor;
  int type, id;

  if (!PyArg_ParseTuple (args, "Oii", &capsule, &type, &id))
    return NULL;
  tensor = PyCapsule_GetPointer (capsule, "dltensor");
  if (!tensor)
    return NULL;
  tensor->device_type = type;
  tensor->device_id = id;
  return Py_NewRef (capsule);
}

/* ---- the module ------------------------------------------------------------------- */

static PyMethodDef functions[] = { { "open_device", open_device, METH_VARARGS,
                                       NULL },
  { "wait", wait_stream, METH_VARARGS, NULL },
  { "alloc", alloc_memory, METH_VARARGS, NULL },
  { "set_device", set_device, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL } };

int
tfx_device_add (PyObject *module)
{
  return PyModule_AddFunctions (module, functions);
}
