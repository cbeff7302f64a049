/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver-table.h: the functions of the CUDA driver that we call. */
#ifndef TFX_CUDA_DRIVER_TABLE_H
#define TFX_CUDA_DRIVER_TABLE_H

#include "stub/cuda.h"

typedef struct TfxDriver
{
#define FUNCTION(member, symbol, arguments)                                    \
  CUresult (CUDAAPI *member) arguments;
#include "driver-functions.inc"
#undef FUNCTION
} TfxDriver;

#endif
