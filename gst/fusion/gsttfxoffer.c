/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoffer.c: a buffer on its way from one tfx element to the next.
 *
 * An event travels in its place.  Elements of other kinds pass that on or drop
 * it: none of them can get hold of samples that are not filtered yet, whatever
 * is linked at that very moment.  A tfx element takes the buffer out of the
 * offer that its own thread is making, if it is linked to who makes it as that
 * one expected; if an event arrives by other ways, say behind another element,
 * there is no offer for it.
 *
 * A buffer that is pushed would reach whoever is linked by then; a plain call
 * of the neighbour's chain function would leave the source pad idle in the eyes
 * of an application that waits for that to relink it.
 *
 * Whoever takes the offer gives the event back, so that it can be sent again.
 */
#include "gsttfxoffer.h"

#define NAME "GstTfxOffer"

/* The innermost of those that this thread is making. */
static _Thread_local GstTfxOffer *making;

static void
gst_tfx_offer_renew_event (GstEvent **event)
{
  if (!*event)
    *event = gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
        gst_structure_new_empty (NAME));
}

gboolean
gst_tfx_offer_send (GstTfxOffer *self, GstEvent **event)
{
  gst_tfx_offer_renew_event (event);
  self->event = *event;
  self->outer = making;
  self->is_taken = FALSE;
  making = self;
  gst_pad_push_event (self->neighbour->pads[0], self->event);
  making = self->outer;
  /* Others have kept the event, or freed it. */
  if (!self->is_taken)
    *event = NULL;
  return self->is_taken;
}

GstTfxOffer *
gst_tfx_offer_take (GstPad *pad, GstEvent *event)
{
  GstTfxOffer *self = making;

  if (!self || self->event != event || self->is_taken ||
      !gst_tfx_neighbour_is_open (self->neighbour, pad))
    return NULL;
  self->is_taken = TRUE;
  return self;
}

gboolean
gst_tfx_offer_is_stray (GstEvent *event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM &&
         gst_event_has_name (event, NAME);
}
