/* SPDX-License-Identifier: LGPL-2.1-or-later
 * file.c: see file.h. */
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *
fuzz_file_write (const uint8_t *data, size_t size)
{
  static char path[32];
  static int file = -1;

  if (file < 0)
    file = memfd_create ("fuzz", MFD_CLOEXEC);
  if (file < 0 || ftruncate (file, 0) != 0 ||
      pwrite (file, data, size, 0) != (ssize_t)size) {
    printf ("Bail out! no file in memory\n");
    exit (1);
  }
  snprintf (path, sizeof path, "/proc/self/fd/%d", file);
  return path;
}
