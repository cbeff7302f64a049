/* SPDX-License-Identifier: LGPL-2.1-or-later
 * observer.h: somebody who is told of launches, copies and waits: see
 * tfx_cuda_observe(). */
#ifndef TFX_CUDA_OBSERVER_H
#define TFX_CUDA_OBSERVER_H

#include "driver-table.h"

/* If there is an observer, its functions stand in front of the driver's own. */
void tfx_observer_wrap (TfxDriver *driver);

#endif
