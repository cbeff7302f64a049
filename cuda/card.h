/* SPDX-License-Identifier: LGPL-2.1-or-later
 * card.h: a device as its driver describes it. */
#ifndef TFX_CUDA_CARD_H
#define TFX_CUDA_CARD_H

#include "driver.h"
#include "tables.h"
#include "tfx-cuda.h"

/* The first property that cannot be asked for ends it. */
CUresult
tfx_card_read (const TfxDriver *driver, CUdevice device, TfxCudaCard *card);

/* The arithmetic of float streams there: TFX_CUDA's, or what is faster. */
TfxReal tfx_card_real (const TfxCudaCard *card);

#endif
