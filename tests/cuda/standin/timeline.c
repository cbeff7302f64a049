/* SPDX-License-Identifier: LGPL-2.1-or-later
 * timeline.c: when work would be done on a device, as a model has it.
 *
 * A device has an engine for copies to it, one for copies from it, and its
 * multiprocessors.  Work begins when the host has asked for it, the stream has
 * done what was before, and the engine is free.  TFX_STANDIN_TIMELINE names a
 * file that gets a line for each:
 *
 *   up|down|kernel|other STREAM BEGIN END BYTES   in microseconds
 *   memory DEVICE PINNED                          the most bytes at a time
 *
 * The figures are those of PCI Express 4.0 x16 and of a kernel that takes as long
 * as TFX_STANDIN_KERNEL_US says (300).  What the host does between two calls
 * takes no time here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

#define CALL_US 2.0            /* to ask for something */
#define COPY_US 8.0            /* to start a copy */
#define COPY_BYTES_PER_US 22e3 /* 22 GB/s */
#define DEVICE_BYTES_PER_US 5e5

static double host, up, down, kernels;
static size_t used[2], most[2]; /* pinned, device */

static FILE *
timeline_open (void)
{
  static char known[256];
  const char *path = getenv ("TFX_STANDIN_TIMELINE");

  if (!path || !*path)
    return NULL;
  if (strcmp (path, known) != 0) {
    snprintf (known, sizeof known, "%s", path);
    memcpy (most, used, sizeof most);
  }
  return fopen (path, "a");
}

static double
larger (double a, double b)
{
  return a > b ? a : b;
}

double
standin_timeline_work (const void *stream, const StandinWork *work,
    double ready)
{
  double size = (double)(work->width * work->height), begin, end;
  double *engine = NULL, takes = COPY_US + size / DEVICE_BYTES_PER_US;
  const char *name = "other";
  FILE *file;

  if (work->kind == STANDIN_LAUNCH) {
    name = "kernel";
    engine = &kernels;
    takes = (double)standin_setting ("TFX_STANDIN_KERNEL_US", 300);
  } else if (work->is_up || work->is_down) {
    name = work->is_up ? "up" : "down";
    engine = work->is_up ? &up : &down;
    takes = COPY_US + size / COPY_BYTES_PER_US;
  }
  host += CALL_US;
  begin = larger (larger (host, ready), engine ? *engine : 0.0);
  end = begin + takes;
  if (engine)
    *engine = end;
  file = timeline_open ();
  if (file) {
    fprintf (file, "%s %p %.1f %.1f %.0f\n", name, stream, begin, end, size);
    fclose (file);
  }
  return end;
}

void
standin_timeline_wait (double until)
{
  host = larger (host, until);
}

void
standin_timeline_memory (bool is_device, long size)
{
  FILE *file;

  used[is_device] += (size_t)size;
  if (used[is_device] <= most[is_device])
    return;
  most[is_device] = used[is_device];
  file = timeline_open ();
  if (!file)
    return;
  fprintf (file, "memory %zu %zu\n", most[1], most[0]);
  fclose (file);
}
