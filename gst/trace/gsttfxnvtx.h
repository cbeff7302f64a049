/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxnvtx.h: fused rows as NVTX ranges, for NVIDIA Nsight Systems and other
 * tools.
 */
#ifndef GST_TFX_NVTX_H
#define GST_TFX_NVTX_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Looks for an NVTX tool; without one, does nothing.  Call it once, before the
 * first element is made. */
void gst_tfx_nvtx_init (void);

G_END_DECLS

#endif /* GST_TFX_NVTX_H */
