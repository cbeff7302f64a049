/* SPDX-License-Identifier: LGPL-2.1-or-later
 * torchfx.c: starts a script that runs TorchFX and talks with it. */
#include "torchfx.h"

#include <stdio.h>
#include <string.h>

Process *
torchfx_open (const char *script, char *text, size_t size)
{
  const char *const argv[] = { "python3", script, NULL };
  Process *peer = process_open (argv);

  snprintf (text, size, "no python3 that can import torchfx");
  if (peer &&
      (!process_read (peer, text, size) || strncmp (text, "no ", 3) == 0))
    process_close (&peer);
  return peer;
}
