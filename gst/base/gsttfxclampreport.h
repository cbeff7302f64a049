/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxclampreport.h: remembers which clamped values were reported.
 */
#ifndef GST_TFX_CLAMP_REPORT_H
#define GST_TFX_CLAMP_REPORT_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

/* Initialize with zeros, end with gst_tfx_clamp_report_clear(). */
typedef struct
{
  GArray *items;  /* one for each property noted, or NULL */
  gint n_clamped; /* how many of them are clamped */
  gboolean by_hand;
} GstTfxClampReport;

/* Call before the values of a new chain are noted.  @by_hand: the application
 * has set properties, not only a controller. */
void gst_tfx_clamp_report_begin (GstTfxClampReport *self, gboolean by_hand);

/* Notes the value used for a property at @rate.  Returns TRUE if it is clamped
 * and a warning is due. */
gboolean gst_tfx_clamp_report_note (GstTfxClampReport *self,
    const GstTfxClamp *clamp, gdouble rate);

/* Forgets everything. */
void gst_tfx_clamp_report_clear (GstTfxClampReport *self);

G_END_DECLS

#endif /* GST_TFX_CLAMP_REPORT_H */
