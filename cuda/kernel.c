/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernel.c: the names of the kernels. */
#include "kernel.h"

#include <stdio.h>

void
tfx_kernel_name (const TfxKernelId *id, char *name)
{
  const char *real = id->real == TFX_REAL_DOUBLE ? "double" : "twofold";

  switch (id->kind) {
    case TFX_KERNEL_CASCADE:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_cascade_%s_%s_g%u",
          id->is_narrow ? "f32" : "any", real, id->group);
      break;
    case TFX_KERNEL_DELAY:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_delay");
      break;
    case TFX_KERNEL_UNIT:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_%s", id->unit);
      break;
    case TFX_KERNEL_FIR:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_fir_%s", real);
      break;
    case TFX_KERNEL_FFT:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_fft_f%s%s",
          id->is_narrow ? "32_" : "64", id->is_narrow ? real : "");
      break;
  }
}
