/* SPDX-License-Identifier: LGPL-2.1-or-later
 * observer.h: reports launches, copies and waits; see tfx_cuda_observe(). */
#ifndef TFX_CUDA_OBSERVER_H
#define TFX_CUDA_OBSERVER_H

#include "driver-table.h"

/* Wraps the driver's functions if there is an observer. */
void tfx_observer_wrap (TfxDriver *driver);

#endif
