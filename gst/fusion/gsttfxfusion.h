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
  gboolean defers;           /* leaves its stage to those downstream */
  gboolean is_leaving;       /* a buffer with it is on its way to the pad */
  gulong probe;              /* on the source pad, or 0 */
  GstEvent *offer;           /* carries buffers to the neighbour */
  /* What was left last, and what it was made of. */
  TfxChain *own, *before, *both;
  guint64 who_before;
} GstTfxFusion;

/* Whether the next buffer goes out with the stage left to the element that
 * @self is linked to. */
gboolean gst_tfx_fusion_decide (GstTfxFilter *self);

/* If the element that @self is linked to can run the stage of @self too,
 * leaves it to that one on a writable buffer, which is then to go out as it
 * is. */
gboolean gst_tfx_fusion_defer (GstTfxFilter *self, GstBuffer *buffer);

/* The base class is about to push a buffer for which that is done next. */
void gst_tfx_fusion_watch (GstTfxFilter *self);

/* Sends a buffer for which that was done, and takes it.  No element of another
 * kind can get it. */
GstFlowReturn gst_tfx_fusion_send (GstTfxFilter *self, GstBuffer *buffer);

/* If a buffer was sent with this event, it is now the caller's: NULL or the
 * buffer.  What comes of it is told with gst_tfx_fusion_reply(). */
GstBuffer *gst_tfx_fusion_receive (GstEvent *event);
void gst_tfx_fusion_reply (GstEvent *event, GstFlowReturn flow);

/* Whether a buffer is sent with such an event. */
gboolean gst_tfx_fusion_is_offer (GstEvent *event);

/* Runs its stage itself again, if it did not. */
void gst_tfx_fusion_resume (GstTfxFilter *self);

/* A link downstream has changed.  Any thread. */
void gst_tfx_fusion_relink (GstTfxFilter *self);

/* Forgets everything. */
void gst_tfx_fusion_clear (GstTfxFilter *self);

G_END_DECLS

#endif /* GST_TFX_FUSION_H */
