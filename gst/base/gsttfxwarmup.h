/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwarmup.h: what takes time the first time, done before a stream needs it.
 */
#ifndef GST_TFX_WARM_UP_H
#define GST_TFX_WARM_UP_H

#include "gsttfxcuda.h"
#include "gsttfxrow.h"

G_BEGIN_DECLS

/* The plan of a locked row, on the device if it is to be there: kernels that have
 * to be compiled are waited for, which a running stream does not do.  @cuda: that
 * of the row's backend, or NULL.  0 or a negative errno value. */
gint gst_tfx_warm_up_compile (const GstTfxRow *row, TfxCuda *cuda);

/* Runs a block of silence, of which nobody hears, over the filters of a locked row
 * that are at rest and stay so. */
void gst_tfx_warm_up_run (const GstTfxRow *row, const TfxFilterSpec *spec);

G_END_DECLS

#endif /* GST_TFX_WARM_UP_H */
