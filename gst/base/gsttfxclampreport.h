/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxclampreport.h: which clamped values were already warned of.
 */
#ifndef GST_TFX_CLAMP_REPORT_H
#define GST_TFX_CLAMP_REPORT_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

/* Starts with all zero, ends with gst_tfx_clamp_report_clear(). */
typedef struct
{
  GArray *items;  /* one for each property that was noted, or NULL */
  gint n_clamped; /* of these */
  gboolean by_hand;
} GstTfxClampReport;

/* Before the values of a new chain are noted.  @by_hand: the application has set
 * properties, not a controller alone. */
void gst_tfx_clamp_report_begin (GstTfxClampReport *self, gboolean by_hand);

/* Notes how far a property is met at @rate.  TRUE if it is not, and the user
 * is to be warned of that. */
gboolean gst_tfx_clamp_report_note (GstTfxClampReport *self,
    const GstTfxClamp *clamp, gdouble rate);

/* Forgets everything. */
void gst_tfx_clamp_report_clear (GstTfxClampReport *self);

G_END_DECLS

#endif /* GST_TFX_CLAMP_REPORT_H */
