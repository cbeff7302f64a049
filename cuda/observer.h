/* SPDX-License-Identifier: LGPL-2.1-or-later
 * observer.h: the table of driver functions, and its observer; see
 * tfx_cuda_observe(). */
#ifndef TFX_CUDA_OBSERVER_H
#define TFX_CUDA_OBSERVER_H

#include <stdint.h>

#include "stub/cuda.h"

/* The functions of the CUDA driver that this library calls. */
typedef struct TfxDriver
{
#define FUNCTION(member, symbol, arguments)                                    \
  CUresult (CUDAAPI *member) arguments;
#include "driver-functions.inc"
#undef FUNCTION
} TfxDriver;

/* Wraps the driver's functions if there is an observer. */
void tfx_observer_wrap (TfxDriver *driver);

/* Reports a wait that began at start, of the observer's clock, if there is one. */
uint64_t tfx_observer_now (void);
void tfx_observer_did_wait (const char *name, uint64_t start);

#endif
