/* SPDX-License-Identifier: LGPL-2.1-or-later
 * device.h: arrays in the memory of a CUDA device, and chains that filter there.
 *
 * Without the CUDA backend there are no devices. */
#ifndef TFX_PYTHON_DEVICE_H
#define TFX_PYTHON_DEVICE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tfx.h"

typedef struct TfxCuda TfxCuda;

#ifdef TFX_PYTHON_CUDA

/* Adds the functions to the module.  -1 with an exception. */
int tfx_device_add (PyObject *module);

/* A converter of PyArg_ParseTuple(): the device of an object, NULL of None. */
int tfx_device_convert (PyObject *object, TfxCuda **cuda);

/* Filters in to out on the device, and returns when the output is complete.  is_away: both
 * are in its memory; otherwise both are in the host's.  The CPU filters during changes,
 * and chains that the device does not support; *n_copies counts its blocks that are copied
 * to the host and back.  With the lock of the filter, without that of the interpreter.  0
 * or a negative errno value. */
int
tfx_device_run (TfxCuda *cuda, bool is_away, TfxFilter *filter, TfxPlan **plan,
    const TfxBlock *in, const TfxBlock *out, uint64_t *n_copies);

/* Raises an exception for a failure in this thread.  NULL. */
PyObject *tfx_device_raise (TfxCuda *cuda, int code);

/* Whether a chain filters each channel alike, whatever their number: channels of several
 * signals can be filtered together.  False if unknown. */
bool tfx_device_is_alike (const TfxChain *chain);

#else

static inline int
tfx_device_convert (PyObject *object, TfxCuda **cuda)
{
  *cuda = NULL;
  return object == Py_None;
}

#define tfx_device_add(module) 0
#define tfx_device_run(...) 0
#define tfx_device_raise(...) NULL
#define tfx_device_is_alike(chain) false

#endif

#endif
