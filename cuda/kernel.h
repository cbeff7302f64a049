/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernel.h: which kernels there are. */
#ifndef TFX_CUDA_KERNEL_H
#define TFX_CUDA_KERNEL_H

#include <stdbool.h>

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

#endif
