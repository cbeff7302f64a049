/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver.h: the CUDA driver, found at run time.
 *
 * Nothing here is linked: a machine without a GPU has no libcuda.so.1 and
 * must run the same binary. */
#ifndef TFX_CUDA_DRIVER_H
#define TFX_CUDA_DRIVER_H

#include "stub/cuda.h"

#define TFX_DRIVER_LIBRARY "libcuda.so.1"

/* The functions; an optional one is NULL where the driver lacks it. */
typedef struct TfxDriver
{
#define REQUIRED(member, symbol, arguments)                                    \
  CUresult (CUDAAPI *member) arguments;
#define OPTIONAL(member, symbol, arguments) REQUIRED (member, symbol, arguments)
#include "driver-functions.inc"
#undef REQUIRED
#undef OPTIONAL
} TfxDriver;

/* The driver, initialised, or NULL; *why (unless NULL) then points to a text
 * that says what is missing.  The library is opened once per process and never
 * closed, and the outcome does not change.  Any thread. */
const TfxDriver *tfx_driver_get (const char **why);

/* True if captured graphs can be used. */
int tfx_driver_has_graphs (const TfxDriver *driver);

/* "CUDA_ERROR_OUT_OF_MEMORY (out of memory)" into text[size]. */
void tfx_driver_describe (const TfxDriver *driver, CUresult result, char *text,
    size_t size);

#endif
