/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.h: where the kernels come from.
 *
 * compiled.c: from this library, compiled for the host; the content of the image is
 * ignored.  ../ptx/: from PTX, interpreted. */
#ifndef TFX_STANDIN_KERNELS_H
#define TFX_STANDIN_KERNELS_H

#include "grid.h"
#include "stub/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StandinImage StandinImage;

/* Of an image that the driver accepts.  Others are reported as a fault. */
CUresult standin_image_new (const void *data, StandinImage **image);
/* Its kernels remain: they may have been launched. */
void standin_image_free (StandinImage *image);

/* NULL: it has none of this name. */
const StandinKernel *standin_image_find (StandinImage *image, const char *name);

/* Runs the grid.  Returns NULL, or a text that names the fault at which it stopped. */
const char *standin_kernel_run (const StandinGrid *grid);

#ifdef __cplusplus
}
#endif

#endif
