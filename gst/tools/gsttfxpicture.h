/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpicture.h: curves over a logarithmic axis, as SVG or PNG. */
#ifndef GST_TFX_PICTURE_H
#define GST_TFX_PICTURE_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct GstTfxPictureCurve
{
  const gchar *name; /* in the legend, which is there if curves are several */
  const gdouble *x, *y; /* [n] */
  gsize n;
} GstTfxPictureCurve;

typedef struct GstTfxPicture
{
  const gchar *title, *x_label, *y_label;
  gdouble low_x, high_x, low_y, high_y; /* the visible range */
  gdouble step_y;                       /* between lines across; 0: any */
  /* Where the x axis has numbers; NULL: at 1, 2 and 5 of each decade, of many
   * decades at 1 alone, and within one evenly. */
  const gdouble *ticks; /* [n_ticks] */
  gsize n_ticks;
  const GstTfxPictureCurve *curves; /* [n_curves] */
  gsize n_curves;
  /* Drawn below with the same x axis, legend and title; or NULL. */
  const struct GstTfxPicture *below;
} GstTfxPicture;

/* Whether the file's name is that of a picture. */
gboolean gst_tfx_picture_is_named (const gchar *path);

/* Whether an output can have this name: .svg, .png or .csv at its end, or NULL.
 * FALSE after a message. */
gboolean gst_tfx_picture_check_name (const gchar *path);

/* Writes the picture, or the table, as the name says; the table to standard output
 * where it is NULL.  FALSE after a message. */
gboolean gst_tfx_picture_write_or_csv (const GstTfxPicture *picture,
    const gchar *csv, const gchar *path);

G_END_DECLS

#endif /* GST_TFX_PICTURE_H */
