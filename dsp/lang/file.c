/* SPDX-License-Identifier: LGPL-2.1-or-later
 * file.c: impulse responses in files, which others have read. */
#include "expr.h"

#include <math.h>

size_t
tfx_impulse_find_peak (const TfxImpulse *impulse)
{
  const size_t n = impulse->n_taps;
  size_t peak = 0;
  double most = 0.0;

  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < impulse->n_kernels; k++) {
      if (fabs (impulse->taps[k * n + i]) > most) {
        most = fabs (impulse->taps[k * n + i]);
        peak = i;
      }
    }
  }
  return peak;
}

TfxFile *
tfx_file_ref (TfxFile *file)
{
  __atomic_add_fetch (&file->refs, 1, __ATOMIC_RELAXED);
  return file;
}

void
tfx_file_unref (TfxFile **file)
{
  TfxFile *f = *file;

  *file = NULL;
  if (f && __atomic_sub_fetch (&f->refs, 1, __ATOMIC_ACQ_REL) == 0)
    f->free (f);
}
