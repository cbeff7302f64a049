/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver.h: the CUDA driver, found at run time.
 *
 * Nothing here is linked: a machine without a GPU has no libcuda.so.1 and
 * must run the same binary. */
#ifndef TFX_CUDA_DRIVER_H
#define TFX_CUDA_DRIVER_H

#include <stdint.h>

#include "stub/cuda.h"

#define TFX_DRIVER_LIBRARY "libcuda.so.1"

/* The functions of the CUDA driver that this library calls. */
typedef struct TfxDriver
{
#define FUNCTION(member, symbol, arguments)                                    \
  CUresult (CUDAAPI *member) arguments;
#include "driver-functions.inc"
#undef FUNCTION
} TfxDriver;

/* Returns the initialised driver, or NULL; *why (unless NULL) then points to a text
 * that names the missing part. The library is opened once per process and never
 * closed, and the result does not change. Any thread. */
const TfxDriver *tfx_driver_get (const char **why);

/* The CUDA version of the driver: 13010 for 13.1, and 13; 0 if it is unknown. */
int tfx_driver_get_version (void);
int tfx_driver_get_major (void);

/* "CUDA_ERROR_OUT_OF_MEMORY (out of memory)" into text[size]. */
void tfx_driver_describe (const TfxDriver *driver, CUresult result, char *text,
    size_t size);

/* For what tfx_cuda_observe() reports: the time of the observer's clock, 0 without an
 * observer; and a call that began then. */
uint64_t tfx_driver_now (void);
void tfx_driver_did (const char *what, const char *name, size_t n_bytes,
    uint64_t start);

#endif
