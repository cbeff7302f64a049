/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmaker.h: makes kernels, in a thread of its own where it takes long.
 */
#ifndef GST_TFX_MAKER_H
#define GST_TFX_MAKER_H

#include "gsttfxrecipe.h"

G_BEGIN_DECLS

typedef struct _GstTfxJob GstTfxJob;

/* What was made last, and what is being made.  Of the streaming thread.  Starts
 * with all zero, ends with gst_tfx_maker_clear(). */
typedef struct
{
  GstTfxRecipe recipe; /* what led to the product */
  GstTfxProduct product;
  guint rate, n_channels;

  gboolean has_bad; /* a recipe that nothing could be made from, for */
  GstTfxRecipe bad;
  guint bad_rate, bad_channels;

  GstTfxJob *job; /* under way, or NULL */
} GstTfxMaker;

/* The kernel for a recipe, the maker's own.  NULL with a text for the user if
 * it cannot be made; that is told once, then the kernel of the last good recipe
 * is given instead.  NULL without: it takes long and @may_wait is FALSE, so it
 * is being made; gst_tfx_filter_mark_ready() will be called. */
GstTfxKernel *gst_tfx_maker_get (GstTfxMaker *self, GstTfxFilter *filter,
    const GstTfxRecipe *recipe, guint rate, guint n_channels, gboolean may_wait,
    GError **error);

/* Waits for what is being made, and forgets all. */
void gst_tfx_maker_clear (GstTfxMaker *self);

G_END_DECLS

#endif /* GST_TFX_MAKER_H */
