/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb.c: which loop runs a reverb. */
#include <string.h>

#include "reverb.h"

TfxReverbKernel
tfx_reverb_kernel_for (const char *name)
{
#if defined(__x86_64__)
  if (strcmp (name, "avx2") == 0)
    return tfx_reverb_run_avx2;
  if (strcmp (name, "avx512") == 0)
    return tfx_reverb_run_avx512;
  return tfx_reverb_run_sse2;
#elif defined(__aarch64__)
  return tfx_reverb_run_neon;
#else
  return tfx_reverb_run_c;
#endif
}
