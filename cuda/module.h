/* SPDX-License-Identifier: LGPL-2.1-or-later
 * module.h: the kernels, made ready for a device: from the machine code that
 * was embedded at build time, or compiled at run time and kept on disk. */
#ifndef TFX_CUDA_MODULE_H
#define TFX_CUDA_MODULE_H

#include "context.h"

typedef enum
{
  TFX_KERNEL_CASCADE,
  TFX_KERNEL_DELAY,
  TFX_KERNEL_FADE,
  TFX_KERNEL_FIR,
  TFX_KERNEL_FFT
} TfxKernelKind;

typedef struct TfxKernelId
{
  TfxKernelKind kind;
  TfxReal real;   /* cascades and FIRs */
  bool is_narrow; /* cascades: float in, float out, one group; FFTs: of a float
                   * stream */
  unsigned group; /* cascades: sections */
} TfxKernelId;

/* A kernel of a loaded module. */
typedef struct TfxKernel
{
  CUfunction function;
  int max_threads; /* of a block */
} TfxKernel;

/* Finds the kernel, loads or compiles it first if need be, and lets it have
 * max_shared bytes of shared memory.  The context is current.  0 or a negative
 * errno. */
int tfx_module_kernel (TfxCuda *cuda, const TfxKernelId *id, TfxKernel *kernel);

/* Unloads all.  The context is current. */
void tfx_module_clear (TfxCuda *cuda);

/* The name of a kernel into name[TFX_KERNEL_NAME_SIZE]. */
#define TFX_KERNEL_NAME_SIZE 64
void tfx_module_name (const TfxKernelId *id, char *name);

#endif
