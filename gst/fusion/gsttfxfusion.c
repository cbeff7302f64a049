/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfusion.c: directly linked tfx elements run as one.
 *
 * An element that is linked to another tfx element leaves its stage to that
 * one: it adds it to the chain that is pending on the buffer, and passes the
 * samples on as they are.  Who gets a buffer with a pending chain and leaves
 * nothing to others runs the chain and its own stage as one plan.  So a change
 * of mind takes effect between two buffers.  The states move along; see
 * gsttfxregistry.c.
 *
 * Nobody else may see such a buffer.  The way to the neighbour is looked at
 * before a stage is left to it, but the application may relink just then.  So
 * the buffer travels within an event: a tfx element takes the buffer out of it,
 * and others do not know it.  If nobody has taken it, its element filters and
 * pushes it.  A plain call of the neighbour would not do, as the source pad
 * would seem to be idle meanwhile.
 *
 * A buffer that the base class must push itself, because it is the first one or
 * has to do with a discontinuity, is looked after by a probe on the source pad,
 * which GStreamer calls when all blocking is over.
 */
#include "gsttfxfusion.h"

#include "gsttfxpending.h"
#include "gsttfxprivate.h"
#include "gsttfxregistry.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* ---- the neighbour ---------------------------------------------------------- */

void
gst_tfx_fusion_relink (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  g_atomic_int_set (&priv->fusion.relinked, TRUE);
}

/* The way to the neighbour is there and nobody watches it. */
static gboolean
gst_tfx_fusion_is_open (GstTfxFilter *self)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;

  return gst_tfx_neighbour_is_linked (&fusion->neighbour) &&
         !gst_tfx_neighbour_is_watched (&fusion->neighbour,
             fusion->probe ? 1 : 0);
}

/* Looks for the neighbour where links have changed. */
static GstTfxFilter *
gst_tfx_fusion_find (GstTfxFilter *self)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;
  GstTfxNeighbour *neighbour = &fusion->neighbour;
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  GstPad *peer = g_atomic_pointer_get (&pad->peer);
  gboolean relinked =
      g_atomic_int_compare_and_exchange (&fusion->relinked, TRUE, FALSE);

  if (relinked || peer != fusion->seen_peer ||
      (neighbour->element && !gst_tfx_neighbour_is_linked (neighbour))) {
    fusion->seen_peer = peer;
    gst_tfx_neighbour_find (neighbour, pad, GST_TYPE_TFX_FILTER);
    GST_DEBUG_OBJECT (self, "linked to %" GST_PTR_FORMAT, neighbour->element);
  }
  return neighbour->element ? GST_TFX_FILTER (neighbour->element) : NULL;
}

static gboolean
gst_tfx_fusion_agree (GstTfxFilterPrivate *a, GstTfxFilterPrivate *b)
{
  return g_atomic_int_get (&b->fuse) &&
         g_atomic_int_get ((gint *)&a->device) ==
             g_atomic_int_get ((gint *)&b->device) &&
         g_atomic_int_get (&a->cuda_device_id) ==
             g_atomic_int_get (&b->cuda_device_id);
}

/* No cross-fade is under way where the stage of @self runs. */
static gboolean
gst_tfx_fusion_is_settled (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  while (priv->fusion.defers && priv->fusion.neighbour.element)
    priv = gst_tfx_filter_get_private (
        GST_TFX_FILTER (priv->fusion.neighbour.element));
  return !gst_tfx_engine_is_fading (&priv->engine);
}

/* A stage that is only a step on the way, or that delays the stream, is run
 * here. */
static gboolean
gst_tfx_fusion_is_movable (const GstTfxFilterPrivate *priv)
{
  return priv->engine.own && !priv->is_step && !priv->was_refused &&
         gst_tfx_engine_own_delay (&priv->engine) == 0;
}

gboolean
gst_tfx_fusion_decide (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFilter *neighbour = gst_tfx_fusion_find (self);
  gboolean wanted;

  if (!neighbour || !gst_tfx_fusion_is_movable (priv) ||
      !gst_tfx_fusion_is_open (self))
    return FALSE;
  wanted = g_atomic_int_get (&priv->fuse) &&
           gst_tfx_fusion_agree (priv, gst_tfx_filter_get_private (neighbour));
  if (wanted == priv->fusion.defers)
    return wanted;
  /* A state that is being cross-faded cannot move. */
  if (gst_tfx_engine_is_fading (&priv->engine) && !priv->fusion.defers)
    return FALSE;
  if (!gst_tfx_fusion_is_settled (priv->fusion.defers ? self : neighbour))
    return priv->fusion.defers;
  return wanted;
}

/* ---- what is left to it -------------------------------------------------------- */

/* The chain that is pending on a buffer, then the element's own.  Both are
 * mostly what they were with the last buffer. */
static gboolean
gst_tfx_fusion_join (GstTfxFilter *self, TfxChain *before)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFusion *fusion = &priv->fusion;
  TfxChain *own = priv->engine.chain, *both;

  if (fusion->both && fusion->own == own && fusion->before == before)
    return TRUE;
  both = before ? tfx_chain_concat (before, own) : tfx_chain_ref (own);
  if (!both)
    return FALSE;
  if (before)
    tfx_chain_ref (before);
  tfx_chain_unref (&fusion->both);
  tfx_chain_unref (&fusion->before);
  tfx_chain_unref (&fusion->own);
  fusion->both = both;
  fusion->before = before;
  fusion->own = tfx_chain_ref (own);
  return TRUE;
}

static guint64
gst_tfx_fusion_who (GstTfxFusion *fusion, guint64 before)
{
  if (!fusion->serial)
    fusion->serial = tfx_stage_new_id ();
  /* Knuth's multiplicative hash. */
  return before * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + fusion->serial;
}

/* The neighbour is not there any more: filters the buffer that was for it. */
static GstFlowReturn
gst_tfx_fusion_run_here (GstTfxFilter *self, GstBuffer **buffer)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;

  GST_DEBUG_OBJECT (self, "the link changes while a buffer leaves");
  if (fusion->before)
    gst_tfx_pending_set (*buffer, fusion->before, fusion->who_before);
  else
    gst_tfx_pending_remove (*buffer);
  return gst_tfx_flow_run_here (self, buffer);
}

/* The buffer is about to leave, and nothing blocks the pad any more. */
static GstPadProbeReturn
gst_tfx_fusion_look_again (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxFilter *self = data;
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;
  gboolean is_open = gst_tfx_fusion_is_open (self);
  GstFlowReturn flow;
  GstBuffer *buffer;

  fusion->probe = 0;
  if (is_open || !fusion->is_leaving)
    return GST_PAD_PROBE_REMOVE;
  buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  flow = gst_tfx_fusion_run_here (self, &buffer);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  if (flow == GST_FLOW_OK)
    return GST_PAD_PROBE_REMOVE;

  /* The probe must go, and the buffer too. */
  gst_buffer_unref (buffer);
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) =
      flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? GST_FLOW_OK : flow;
  return GST_PAD_PROBE_HANDLED;
}

/* ---- the way of a buffer ----------------------------------------------------------- */

typedef enum
{
  OFFERED,
  TAKEN,
  WITHDRAWN
} OfferState;

/* Belongs to an event. */
typedef struct
{
  gint state; /* atomic, of OfferState */
  GstBuffer *buffer;
  GstFlowReturn flow;
} Offer;

static GQuark
gst_tfx_fusion_offer_quark (void)
{
  static GQuark quark = 0;

  if (G_UNLIKELY (!quark))
    quark = g_quark_from_static_string ("GstTfxOffer");
  return quark;
}

static Offer *
gst_tfx_fusion_get_offer (GstEvent *event)
{
  if (GST_EVENT_TYPE (event) != GST_EVENT_CUSTOM_DOWNSTREAM)
    return NULL;
  return gst_mini_object_get_qdata (GST_MINI_OBJECT (event),
      gst_tfx_fusion_offer_quark ());
}

gboolean
gst_tfx_fusion_is_offer (GstEvent *event)
{
  return gst_tfx_fusion_get_offer (event) != NULL;
}

GstBuffer *
gst_tfx_fusion_receive (GstEvent *event)
{
  Offer *offer = gst_tfx_fusion_get_offer (event);

  if (!g_atomic_int_compare_and_exchange (&offer->state, OFFERED, TAKEN))
    return NULL;
  return offer->buffer;
}

void
gst_tfx_fusion_reply (GstEvent *event, GstFlowReturn flow)
{
  gst_tfx_fusion_get_offer (event)->flow = flow;
}

/* The event of the buffer before serves again if nobody else has it still. */
static Offer *
gst_tfx_fusion_renew_offer (GstTfxFusion *fusion)
{
  Offer *offer;

  if (fusion->offer && GST_MINI_OBJECT_REFCOUNT_VALUE (fusion->offer) == 1)
    return gst_tfx_fusion_get_offer (fusion->offer);
  gst_clear_event (&fusion->offer);
  offer = g_new0 (Offer, 1);
  fusion->offer = gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new_empty ("GstTfxOffer"));
  gst_mini_object_set_qdata (GST_MINI_OBJECT (fusion->offer),
      gst_tfx_fusion_offer_quark (), offer, g_free);
  return offer;
}

GstFlowReturn
gst_tfx_fusion_send (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  Offer *offer = gst_tfx_fusion_renew_offer (fusion);
  GstFlowReturn flow;

  offer->buffer = buffer;
  g_atomic_int_set (&offer->state, OFFERED);
  gst_pad_push_event (pad, gst_event_ref (fusion->offer));
  if (!g_atomic_int_compare_and_exchange (&offer->state, OFFERED, WITHDRAWN))
    return offer->flow;

  flow = gst_tfx_fusion_run_here (self, &buffer);
  if (flow == GST_FLOW_OK)
    return gst_pad_push (pad, buffer);
  gst_buffer_unref (buffer);
  return flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? GST_FLOW_OK : flow;
}

gboolean
gst_tfx_fusion_defer (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFusion *fusion = &priv->fusion;
  TfxChain *before;

  if (!gst_tfx_fusion_decide (self))
    return FALSE;
  before = gst_tfx_pending_get (buffer, &fusion->who_before);
  if (!gst_tfx_fusion_join (self, before))
    return FALSE;
  gst_tfx_pending_set (buffer, fusion->both,
      gst_tfx_fusion_who (fusion, fusion->who_before));

  if (!fusion->defers) {
    GST_DEBUG_OBJECT (self, "leaves its stage to %" GST_PTR_FORMAT,
        fusion->neighbour.element);
    gst_tfx_engine_suspend (&priv->engine);
    gst_tfx_times_reset (&priv->times, priv->engine.spec.rate_hz);
  }
  fusion->defers = TRUE;
  return TRUE;
}

void
gst_tfx_fusion_watch (GstTfxFilter *self)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;

  fusion->is_leaving = TRUE;
  if (!fusion->probe)
    fusion->probe = gst_pad_add_probe (GST_BASE_TRANSFORM_SRC_PAD (self),
        GST_PAD_PROBE_TYPE_BUFFER, gst_tfx_fusion_look_again, self, NULL);
}

void
gst_tfx_fusion_resume (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (!priv->fusion.defers)
    return;
  GST_DEBUG_OBJECT (self, "runs its stage itself");
  priv->fusion.defers = FALSE;
  gst_tfx_engine_resume (&priv->engine,
      gst_tfx_registry_has_all (self, priv->engine.own));
}

void
gst_tfx_fusion_clear (GstTfxFilter *self)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;

  if (fusion->probe)
    gst_pad_remove_probe (GST_BASE_TRANSFORM_SRC_PAD (self), fusion->probe);
  fusion->probe = 0;
  gst_clear_event (&fusion->offer);
  gst_tfx_neighbour_clear (&fusion->neighbour);
  fusion->seen_peer = NULL;
  fusion->defers = fusion->is_leaving = FALSE;
  tfx_chain_unref (&fusion->own);
  tfx_chain_unref (&fusion->before);
  tfx_chain_unref (&fusion->both);
}
