/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.c: the tables of kernels by their names. */
#include <string.h>

#include "kernels.h"

const TfxKernels *
tfx_kernels_for (const char *name)
{
#if defined(__x86_64__)
  if (strcmp (name, "sse2") == 0)
    return &tfx_kernels_sse2;
  if (strcmp (name, "avx2") == 0)
    return &tfx_kernels_avx2;
  if (strcmp (name, "avx512") == 0)
    return &tfx_kernels_avx512;
#elif defined(__aarch64__)
  if (strcmp (name, "neon") == 0)
    return &tfx_kernels_neon;
#endif
  return &tfx_kernels_c;
}
