/* SPDX-License-Identifier: LGPL-2.1-or-later
 * job.h: kernels that are compiled in threads of their own, so that nobody who
 * has samples to filter waits for a compiler. */
#ifndef TFX_CUDA_JOB_H
#define TFX_CUDA_JOB_H

#include <stdbool.h>

#include "compile.h"

/* A list of them, guarded by the caller's lock; NULL: none. */
typedef struct TfxJob TfxJob;

/* As tfx_compile_kernel(), but in a thread that the first call starts; -EINPROGRESS until
 * it has ended.  -EAGAIN: no thread can be created, so the caller compiles the kernel. */
int tfx_job_take (TfxJob **jobs, const TfxKernelId *id, int compute,
    void **image, size_t *size, char *why, size_t why_size);

/* True while one is being compiled. */
bool tfx_job_is_any (const TfxJob *jobs);

/* Waits for their ends, and drops what nobody has taken. */
void tfx_job_clear (TfxJob **jobs);

#endif
