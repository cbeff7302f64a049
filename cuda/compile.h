/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compile.h: kernels compiled at run time by NVRTC, and kept on disk. */
#ifndef TFX_CUDA_COMPILE_H
#define TFX_CUDA_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "tables.h"

typedef enum
{
  TFX_KERNEL_CASCADE,
  TFX_KERNEL_DELAY,
  TFX_KERNEL_FIR,
  TFX_KERNEL_FFT,
  TFX_KERNEL_UNIT
} TfxKernelKind;

typedef struct TfxKernelId
{
  TfxKernelKind kind;
  TfxReal real;   /* cascades and FIRs */
  bool is_narrow; /* cascades: float in, float out, one group; FFTs: spectra of
                   * floats */
  unsigned group; /* cascades: sections */
  const char *unit; /* units, see kernels/units.cu: "reverb" */
} TfxKernelId;

/* The name of a kernel into name[TFX_KERNEL_NAME_SIZE]. */
#define TFX_KERNEL_NAME_SIZE 64
void tfx_kernel_name (const TfxKernelId *id, char *name);

/* The image of one kernel for a device of compute capability `compute` (90 for
 * 9.0): from the cache, or compiled and put there.  The caller frees *image.
 * 0 or a negative errno and a text in why[why_size]. */
int tfx_compile_kernel (const TfxKernelId *id, int compute, void **image,
    size_t *size, char *why, size_t why_size);

#endif
