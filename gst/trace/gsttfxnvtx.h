/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxnvtx.h: fused rows as NVTX ranges, for NVIDIA Nsight Systems and what else
 * speaks NVTX.
 */
#ifndef GST_TFX_NVTX_H
#define GST_TFX_NVTX_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Looks for a tool; without one nothing is done, now or later.  Before there is an
 * element, once. */
void gst_tfx_nvtx_init (void);

G_END_DECLS

#endif /* GST_TFX_NVTX_H */
