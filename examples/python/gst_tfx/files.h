/* SPDX-License-Identifier: LGPL-2.1-or-later
 * files.h: the files that a chain names, which files.py reads. */
#ifndef TFX_PYTHON_FILES_H
#define TFX_PYTHON_FILES_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "lang/expr.h"

/* Reads files by function (kind, name), a borrowed reference; see files.py.  An exception
 * of the function stays set.  The caller holds the interpreter's lock. */
TfxFileReader tfx_files_reader (PyObject *function);

#endif /* TFX_PYTHON_FILES_H */
