/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfusion.h: directly linked tfx elements run as one.
 */
#ifndef GST_TFX_FUSION_H
#define GST_TFX_FUSION_H

#include "gsttfxfilter.h"
#include "gsttfxneighbour.h"

G_BEGIN_DECLS

/* Of the streaming thread, unless it says otherwise.  Starts with all zero. */
typedef struct
{
  GstTfxNeighbour neighbour; /* downstream */
  GstPad *seen_peer;         /* where it was looked for; not a reference */
  gint relinked;             /* atomic: look for it anew */
  guint64 serial;            /* of the element; 0 before the first use */
  gboolean defers;           /* leaves its stage to those downstream, */
  gboolean is_away;          /* who have run it since, */
  gboolean has_left;         /* and have done so since the stream began */
  GstEvent *event;           /* for the next offer */
  /* What was left last, and what it was made of. */
  TfxChain *own, *before, *both;
  guint64 who_before, who;
} GstTfxFusion;

/* Whether the next buffer goes out with the stage left to the element that
 * @self is linked to. */
gboolean gst_tfx_fusion_decide (GstTfxFilter *self);

/* Leaves the stage of @self to the element that it is linked to, behind what is
 * pending already: the chain @before (or NULL), left by @who.  FALSE if memory
 * is short. */
gboolean
gst_tfx_fusion_defer (GstTfxFilter *self, TfxChain *before, guint64 who);

/* Sends a writable buffer for which that was done, and takes it.  No element of
 * another kind can get it. */
GstFlowReturn
gst_tfx_fusion_send (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames);

/* The stream starts again. */
void gst_tfx_fusion_reset (GstTfxFilter *self);

/* Runs its stage itself again, if it did not. */
void gst_tfx_fusion_resume (GstTfxFilter *self);

/* A link downstream has changed.  Any thread. */
void gst_tfx_fusion_relink (GstTfxFilter *self);

/* Forgets everything. */
void gst_tfx_fusion_clear (GstTfxFilter *self);

G_END_DECLS

#endif /* GST_TFX_FUSION_H */
