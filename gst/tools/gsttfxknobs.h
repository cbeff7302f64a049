/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxknobs.h: the numbers of a chain's stages, for keys to change.  One thread. */
#ifndef GST_TFX_KNOBS_H
#define GST_TFX_KNOBS_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct GstTfxKnobs GstTfxKnobs;

/* The knobs of a tfxchain, which is borrowed; its chain may be replaced at any time. */
GstTfxKnobs *gst_tfx_knobs_new (GstElement *chain);
void gst_tfx_knobs_free (GstTfxKnobs *self);

/* Chooses the next one (1) or the one before (-1). */
void gst_tfx_knobs_select (GstTfxKnobs *self, gint direction);
/* Changes the chosen one by a step, up (1) or down (-1). */
void gst_tfx_knobs_turn (GstTfxKnobs *self, gint direction);
/* The numbers of all, of gdouble; unref them. */
GArray *gst_tfx_knobs_read (GstTfxKnobs *self);
/* They have these again; nothing where there are other knobs by now. */
void gst_tfx_knobs_write (GstTfxKnobs *self, const GArray *numbers);
/* "stage::parameter = value" of the chosen one; free it.  NULL: there is none. */
gchar *gst_tfx_knobs_tell (GstTfxKnobs *self);
/* All, a line each, the chosen one marked; free it. */
gchar *gst_tfx_knobs_list (GstTfxKnobs *self);

G_END_DECLS

#endif /* GST_TFX_KNOBS_H */
