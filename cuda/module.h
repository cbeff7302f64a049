/* SPDX-License-Identifier: LGPL-2.1-or-later
 * module.h: loads kernels for a device: machine code that was embedded at build
 * time, or kernels that are compiled at run time and kept on disk. */
#ifndef TFX_CUDA_MODULE_H
#define TFX_CUDA_MODULE_H

#include "context.h"
#include "compile.h"

/* A kernel of a loaded module. */
typedef struct TfxKernel
{
  CUfunction function;
  int max_threads; /* of a block */
  char name[TFX_KERNEL_NAME_SIZE];
} TfxKernel;

/* Finds a kernel, loads or compiles it if necessary, and allows it max_shared bytes
 * of shared memory. The context must be current. 0, or a negative errno with
 * *kernel unchanged. */
int tfx_module_kernel (TfxCuda *cuda, const TfxKernelId *id, TfxKernel *kernel);

/* Launches n_blocks blocks of n_threads on the stream; shared_size: bytes of
 * dynamic shared memory; args as in kernels/. 0 or a negative errno. */
int tfx_module_launch (TfxCudaStream *stream, const TfxKernel *kernel,
    size_t n_blocks, unsigned n_threads, size_t shared_size, void *args);

/* If the TfxCuda does not wait, a kernel that must be compiled gives -EINPROGRESS
 * until it is ready: whether a compile task runs, and a wait for all. */
bool tfx_module_is_compiling (TfxCuda *cuda);
void tfx_module_finish (TfxCuda *cuda);

/* Unloads all modules. The context is current. */
void tfx_module_clear (TfxCuda *cuda);

#endif
