/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compile.h: kernels compiled at run time by NVRTC, and kept on disk. */
#ifndef TFX_CUDA_COMPILE_H
#define TFX_CUDA_COMPILE_H

#include <stddef.h>

#include "kernel.h"

/* The image of one kernel for a device of compute capability `compute` (90 for
 * 9.0): from the cache, or compiled and put there.  The caller frees *image.
 * 0 or a negative errno and a text in why[why_size]. */
int tfx_compile_kernel (const TfxKernelId *id, int compute, void **image,
    size_t *size, char *why, size_t why_size);

#endif
