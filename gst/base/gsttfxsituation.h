/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsituation.h: which values that cannot be met were already told of.
 */
#ifndef GST_TFX_SITUATION_H
#define GST_TFX_SITUATION_H

#include "gsttfxfilter.h"

G_BEGIN_DECLS

/* Starts with all zero, ends with gst_tfx_situations_clear(). */
typedef struct
{
  GArray *items; /* one for each property that was noted, or NULL */
  gboolean by_hand;
} GstTfxSituations;

/* Before the values of a new stage are reported.  @by_hand: the application
 * has set properties, not a controller alone. */
void gst_tfx_situations_begin (GstTfxSituations *self, gboolean by_hand);

/* Notes how far a property is met at @rate.  TRUE if it is not, and the user
 * was not yet told. */
gboolean gst_tfx_situations_note (GstTfxSituations *self,
    const GstTfxValue *value, gdouble rate);

/* Forgets everything. */
void gst_tfx_situations_clear (GstTfxSituations *self);

G_END_DECLS

#endif /* GST_TFX_SITUATION_H */
