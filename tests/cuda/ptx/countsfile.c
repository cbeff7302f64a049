/* SPDX-License-Identifier: LGPL-2.1-or-later
 * countsfile.c: see counts.h. */
#include "counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[N_COUNTS] = { "fp64", "fp32", "int", "move",
  "convert", "ld.param", "ld.global", "st.global", "ld.shared", "st.shared",
  "shuffle", "control", "barrier", "atomic" };

/* "NAME WARPS/THREADS", "mma ISSUED/MULTIPLIES" or "NAME NUMBER" */
static void
add (Counts *c, const char *name, const char *value, double n)
{
  const char *slash = strchr (value, '/');

  for (unsigned i = 0; slash && i < N_COUNTS; i++) {
    if (strcmp (name, names[i]) == 0) {
      c->warps[i] += 32 * atof (value) / n;
      c->kinds[i] += atof (slash + 1) / n;
    }
  }
  if (slash && strcmp (name, "mma") == 0) {
    c->mma_issued += 32 * atof (value) / n;
    c->mma_multiplies += 32 * atof (slash + 1) / n;
  }
  if (strcmp (name, "sectors-read") == 0)
    c->read += 32 * atof (value) / n;
  else if (strcmp (name, "sectors-written") == 0)
    c->written += 32 * atof (value) / n;
  else if (strcmp (name, "sectors-touched") == 0)
    c->touched += 32 * atof (value) / n;
  else if (strcmp (name, "shared-passes") == 0)
    c->passes += atof (value) / n;
  else if (strcmp (name, "shared-ideal") == 0)
    c->ideal += atof (value) / n;
}

bool
counts_read (Counts *counts, const char *path, double n_samples)
{
  FILE *file = fopen (path, "r+");
  char name[64], value[128];
  bool any = false;

  memset (counts, 0, sizeof *counts);
  while (file && fscanf (file, "%63s %127s", name, value) == 2) {
    any = true;
    add (counts, name, value, n_samples);
  }
  if (file) {
    if (ftruncate (fileno (file), 0) < 0)
      any = false;
    fclose (file);
  }
  return any;
}

double
counts_total (const Counts *counts)
{
  double sum = counts->mma_issued - counts->mma_multiplies;

  for (unsigned i = 0; i < N_COUNTS; i++)
    sum += counts->kinds[i];
  return sum;
}

double
counts_issued (const Counts *c)
{
  double issued = c->mma_issued - c->mma_multiplies;

  /* Moves and parameters are mostly gone in machine code. */
  for (unsigned i = 0; i < N_COUNTS; i++) {
    if (i != COUNT_MOVE && i != COUNT_PARAM)
      issued += c->warps[i];
  }
  return issued;
}

double
counts_seconds (const Counts *c, const StandinCard *card, const char **limit)
{
  double clocks = (double)card->n_multiprocessors * card->clock_mhz * 1e6;
  /* Products of matrices take half the time at best (A100, H100). */
  double fp64 = c->warps[COUNT_FP64] - c->mma_multiplies / 2;
  /* A multiprocessor starts four instructions of warps a clock, goes over its
   * banks once, and has 64 bytes to and from the second cache. */
  const struct
  {
    const char *name;
    double seconds;
  } limits[] = {
    { "memory", c->touched / (card->memory_gb_s * 1e9) },
    { "L2", (c->read + c->written) / (clocks * 64) },
    { "FP64", fp64 / (clocks * card->n_double) },
    { "FP32", c->warps[COUNT_FP32] / (clocks * card->n_float) },
    { "integer", c->warps[COUNT_INT] / (clocks * card->n_int) },
    { "issue", counts_issued (c) / (clocks * 128) },
    { "shared", c->passes / clocks },
  };
  unsigned worst = 0;

  for (unsigned i = 1; i < sizeof limits / sizeof *limits; i++) {
    if (limits[i].seconds > limits[worst].seconds)
      worst = i;
  }
  *limit = limits[worst].name;
  return limits[worst].seconds;
}
