/* SPDX-License-Identifier: LGPL-2.1-or-later
 * decay.h: the powers by which kernels carry what decays over many frames. */
#ifndef TFX_CUDA_DECAY_H
#define TFX_CUDA_DECAY_H

#include "kernels/unit-args.h"

TfxDecay tfx_cuda_decay (double a);

#endif
