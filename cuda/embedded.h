/* SPDX-License-Identifier: LGPL-2.1-or-later
 * embedded.h: what embed.py has put into the library. */
#ifndef TFX_CUDA_EMBEDDED_H
#define TFX_CUDA_EMBEDDED_H

#include <stddef.h>

/* The sources of the kernels, for NVRTC. */
typedef struct TfxKernelSource
{
  const char *name, *text;
} TfxKernelSource;

extern const TfxKernelSource tfx_kernel_sources[];
extern const size_t tfx_n_kernel_sources;

/* Compiled kernels; none if the build had no compiler. */
typedef struct TfxKernelImage
{
  int arch;            /* 90 for 9.0 */
  int is_machine_code; /* else PTX */
  const void *data;
} TfxKernelImage;

/* The toolkit that compiled them: 13010 for 13.1. */
extern const int tfx_kernel_toolkit;

extern const TfxKernelImage tfx_kernel_images[];
extern const size_t tfx_n_kernel_images;

#endif
