/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy.h: blocks of samples to blocks of another type or layout. */
#ifndef TFX_COPY_H
#define TFX_COPY_H

#include "kernels.h"

/* out = gain in; the same shape, any types and layouts, in place or apart. */
void tfx_cpu_copy (const TfxKernels *kernels, const TfxBlock *in,
    const TfxBlock *out, double gain);

#endif
