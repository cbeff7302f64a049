/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxlabel.h: how wide the words of a picture are. */
#ifndef GST_TFX_LABEL_H
#define GST_TFX_LABEL_H

#include <glib.h>

G_BEGIN_DECLS

/* About the width of a text in UTF-8, in pixels, rather more: letters have 13. */
gdouble gst_tfx_label_measure (const gchar *text);

/* As much of a text as is no wider than that, in letters that XML has; free it. */
gchar *gst_tfx_label_fit (const gchar *text, gdouble width);

G_END_DECLS

#endif /* GST_TFX_LABEL_H */
