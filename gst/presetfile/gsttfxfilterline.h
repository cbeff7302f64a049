/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfilterline.h: lines of filters of REW and Equalizer APO.
 */
#ifndef GST_TFX_FILTER_LINE_H
#define GST_TFX_FILTER_LINE_H

#include "gsttfxstages.h"

G_BEGIN_DECLS

/* How to read the numbers of a file. */
typedef struct
{
  gboolean is_rew;               /* written by REW */
  gboolean is_middle;            /* Fc of a shelf with Q is its midpoint */
  gboolean has_comma, has_point; /* as decimal marks */
  gboolean has_told; /* a note about an ambiguous frequency was added */
} GstTfxFilterMarks;

/* Collects the decimal marks of all lines. */
void gst_tfx_filter_line_survey (GstTfxFilterMarks *marks, gchar **lines);

/* Writes the stage of a filter that is on, or of a preamp.  FALSE: the line is
 * neither. */
gboolean gst_tfx_filter_line_write (GstTfxStages *stages,
    GstTfxFilterMarks *marks, const gchar *line);

G_END_DECLS

#endif /* GST_TFX_FILTER_LINE_H */
