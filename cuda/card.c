/* SPDX-License-Identifier: LGPL-2.1-or-later
 * card.c: see card.h. */
#include "card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A device that does double at this fraction of float's speed, or slower, gets
 * float streams done in two floats instead. */
#define SLOW_DOUBLE_RATIO 8

CUresult
tfx_card_read (const TfxDriver *driver, CUdevice device, TfxCudaCard *card)
{
  int major = 0, minor = 0, is_integrated = 0;
  const struct
  {
    CUdevice_attribute which;
    int *value;
  } properties[] = {
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor },
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &card->n_multiprocessors },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        &card->max_shared },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &card->shared },
    { CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
        &card->double_ratio },
    { CU_DEVICE_ATTRIBUTE_INTEGRATED, &is_integrated },
    { CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &card->clock_khz },
    { CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &card->memory_khz },
    { CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &card->memory_bits },
  };
  CUresult result = CUDA_SUCCESS;

  memset (card, 0, sizeof *card);
  for (size_t i = 0;
       result == CUDA_SUCCESS && i < sizeof properties / sizeof *properties;
       i++)
    result = driver->device_get_attribute (properties[i].value,
        properties[i].which, device);
  card->compute = 10 * major + minor;
  card->is_integrated = is_integrated != 0;
  return result;
}

TfxReal
tfx_card_real (const TfxCudaCard *card)
{
  const char *asked = secure_getenv ("TFX_CUDA");

  if (asked && strcmp (asked, "double") == 0)
    return TFX_REAL_DOUBLE;
  if (asked && strcmp (asked, "twofold") == 0)
    return TFX_REAL_TWOFOLD;
  return card->double_ratio < SLOW_DOUBLE_RATIO ? TFX_REAL_DOUBLE
                                                : TFX_REAL_TWOFOLD;
}

int
tfx_cuda_get_card (int device, TfxCudaCard *card)
{
  const TfxDriver *driver = tfx_driver_get (NULL);
  CUdevice ordinal;

  memset (card, 0, sizeof *card);
  if (!driver)
    return -ENODEV;
  if (driver->device_get (&ordinal, device < 0 ? 0 : device) != CUDA_SUCCESS)
    return -ENODEV;
  return tfx_card_read (driver, ordinal, card) == CUDA_SUCCESS ? 0 : -EIO;
}
