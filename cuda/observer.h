/* SPDX-License-Identifier: LGPL-2.1-or-later
 * observer.h: the table of driver functions, and its observer; see
 * tfx_cuda_observe(). */
#ifndef TFX_CUDA_OBSERVER_H
#define TFX_CUDA_OBSERVER_H

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

#endif
