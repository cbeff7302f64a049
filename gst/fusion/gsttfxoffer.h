/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoffer.h: a buffer on its way from one tfx element to the next.
 */
#ifndef GST_TFX_OFFER_H
#define GST_TFX_OFFER_H

#include <gst/gst.h>

#include "gsttfxneighbour.h"
#include "tfx.h"

G_BEGIN_DECLS

/* A writable buffer of which others have checked that it holds so many frames,
 * and what is still to be done to it.  It lives as long as it is being sent. */
typedef struct _GstTfxOffer
{
  GstBuffer *buffer;
  gsize n_frames;
  TfxChain *chain; /* of the elements that left their stages, in their order */
  guint64 who;     /* a number for these elements and their order */
  GstFlowReturn flow;               /* what came of it, if it was taken */
  const GstTfxNeighbour *neighbour; /* who it is for */
  /*< private >*/
  GstEvent *event;
  struct _GstTfxOffer *outer;
  gboolean is_taken;
} GstTfxOffer;

/* Sends an offer.  *@event (NULL at first) serves again and again.  FALSE if
 * the neighbour has not taken it: the buffer is still the caller's. */
gboolean gst_tfx_offer_send (GstTfxOffer *self, GstEvent **event);

/* The offer that comes to this pad with this event, which is the caller's from
 * now on, with the buffer; NULL if none does: the event is like any other. */
GstTfxOffer *gst_tfx_offer_take (GstPad *pad, GstEvent *event);

/* Whether an offer came with this event, to somebody else. */
gboolean gst_tfx_offer_is_stray (GstEvent *event);

G_END_DECLS

#endif /* GST_TFX_OFFER_H */
