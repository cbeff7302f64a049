/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaprivate.h: what the files of this folder share.
 */
#ifndef GST_TFX_CUDA_PRIVATE_H
#define GST_TFX_CUDA_PRIVATE_H

#include "gsttfxcuda.h"

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_cuda_debug);
#define GST_CAT_DEFAULT gst_tfx_cuda_debug

#endif /* GST_TFX_CUDA_PRIVATE_H */
