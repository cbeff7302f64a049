/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.cc: the kernels, compiled for the host from the sources that the
 * device gets. */
#define TFX_KERNEL_HOST
#include "kernels/cascade.cu"
#include "kernels/window.cu"
#include "kernels/fft.cu"
#include "kernels/units.cu"
#include "faulty.h"
