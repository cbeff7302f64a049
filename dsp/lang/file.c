/* SPDX-License-Identifier: LGPL-2.1-or-later
 * file.c: impulse responses in files, which others have read. */
#include "expr.h"

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
