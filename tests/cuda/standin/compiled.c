/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compiled.c: kernels that are compiled for the host; see kernels.cc. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

struct StandinImage
{
  int unused;
};

static StandinKernel *kernels;

void
standin_kernel_register (StandinKernel *kernel)
{
  kernel->next = kernels;
  kernels = kernel;
}

CUresult
standin_image_new (const void *data, StandinImage **image)
{
  *image = calloc (1, sizeof **image);
  return *image ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void
standin_image_free (StandinImage *image)
{
  free (image);
}

const StandinKernel *
standin_image_find (StandinImage *image, const char *name)
{
  for (const StandinKernel *k = kernels; k; k = k->next) {
    if (strcmp (k->name, name) == 0)
      return k;
  }
  return NULL;
}

const char *
standin_kernel_run (const StandinGrid *grid)
{
  return standin_grid_run (grid);
}
