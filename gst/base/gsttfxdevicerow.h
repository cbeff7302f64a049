/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevicerow.h: the elements that leave their filters to one that runs them.
 */
#ifndef GST_TFX_DEVICE_ROW_H
#define GST_TFX_DEVICE_ROW_H

#include "gsttfxelement.h"
#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

/* The filters of a row of elements, the first one first.  Their caps are set one
 * after the other, and their buffers come, in the thread that asks. */
typedef struct
{
  TfxFilter *filters[GST_TFX_ROW_MAX];
  gsize n;
  gboolean is_running; /* one of them has run */
} GstTfxDeviceRow;

/* The element that leaves its filter to @self, as far as can be told; a reference,
 * or NULL. */
GstTfxElement *gst_tfx_device_row_find_upstream (GstTfxElement *self);

/* Those of the row that ends with @self, added to what is in @row. */
void gst_tfx_device_row_list (GstTfxElement *self, GstTfxDeviceRow *row);

G_END_DECLS

#endif /* GST_TFX_DEVICE_ROW_H */
