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
 * the buffer travels as an offer (see gsttfxoffer.c) that only a tfx element can
 * take.  If nobody has taken it, the element filters and pushes it.
 */
#include "gsttfxfusion.h"

#include "gsttfxoffer.h"
#include "gsttfxprivate.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* ---- the neighbour ---------------------------------------------------------- */

void
gst_tfx_fusion_relink (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  g_atomic_int_set (&priv->fusion.relinked, TRUE);
}

/* The element at the end of the way, which is looked for anew where links have
 * changed. */
static GstTfxFilter *
gst_tfx_fusion_find (GstTfxFilter *self)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;
  GstTfxNeighbour *neighbour = &fusion->neighbour;
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  GstPad *peer = g_atomic_pointer_get (&pad->peer);

  if (g_atomic_int_get (&fusion->relinked) || peer != fusion->seen_peer ||
      (neighbour->element && !gst_tfx_neighbour_is_linked (neighbour))) {
    g_atomic_int_set (&fusion->relinked, FALSE);
    fusion->seen_peer = peer;
    gst_tfx_neighbour_find (neighbour, pad, GST_TYPE_TFX_FILTER);
    GST_DEBUG_OBJECT (self, "linked to %" GST_PTR_FORMAT, neighbour->element);
  }
  return (GstTfxFilter *)neighbour->element;
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

/* Where a stage that @self runs or leaves to others is run. */
static GstTfxFilterPrivate *
gst_tfx_fusion_find_runner (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  while (priv->fusion.defers && priv->fusion.neighbour.element)
    priv = gst_tfx_filter_get_private (
        GST_TFX_FILTER (priv->fusion.neighbour.element));
  return priv;
}

/* A stage that is only a step on the way is run here. */
static gboolean
gst_tfx_fusion_is_movable (const GstTfxFilterPrivate *priv)
{
  return priv->engine.own && !priv->is_step && !priv->was_refused;
}

/* Whether the stages that are run here may be run there from now on.  A state
 * that is being cross-faded cannot move.  As long as frames are to be dropped
 * for a delay, those behind have heard nothing: they must be at rest. */
static gboolean
gst_tfx_fusion_can_join (const GstTfxEngine *here, const GstTfxEngine *there)
{
  if (gst_tfx_engine_is_fading (here) || gst_tfx_engine_is_fading (there))
    return FALSE;
  if (!there->used || gst_tfx_engine_delay (here) == 0)
    return TRUE;
  return here->used && gst_tfx_engine_skip (here) == 0;
}

gboolean
gst_tfx_fusion_decide (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFilter *neighbour = gst_tfx_fusion_find (self);
  gboolean wanted;

  if (!neighbour || gst_tfx_neighbour_is_watched (&priv->fusion.neighbour))
    return FALSE;
  wanted = gst_tfx_fusion_is_movable (priv) && g_atomic_int_get (&priv->fuse) &&
           gst_tfx_fusion_agree (priv, gst_tfx_filter_get_private (neighbour));
  if (wanted == priv->fusion.defers)
    return wanted;
  if (wanted)
    return gst_tfx_fusion_can_join (&priv->engine,
        &gst_tfx_fusion_find_runner (neighbour)->engine);
  /* What is being cross-faded downstream stays there until it is done. */
  return gst_tfx_engine_is_fading (&gst_tfx_fusion_find_runner (self)->engine);
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

/* Sends a buffer that is left to the neighbour. */
GstFlowReturn
gst_tfx_fusion_send (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;
  GstTfxOffer offer = { .buffer = buffer,
    .n_frames = n_frames,
    .chain = fusion->both,
    .who = fusion->who,
    .neighbour = &fusion->neighbour };

  if (gst_tfx_offer_send (&offer, &fusion->event)) {
    fusion->is_away = fusion->has_left = TRUE;
    return offer.flow;
  }

  GST_DEBUG_OBJECT (self, "the link changes while a buffer leaves");
  return gst_tfx_pads_run_here (self, buffer, n_frames, fusion->before,
      fusion->who_before);
}

gboolean
gst_tfx_fusion_defer (GstTfxFilter *self, TfxChain *before, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFusion *fusion = &priv->fusion;

  if (!gst_tfx_fusion_join (self, before))
    return FALSE;
  if (!fusion->serial)
    fusion->serial = tfx_stage_new_id ();
  fusion->who_before = who;
  /* Knuth's multiplicative hash. */
  fusion->who = who * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + fusion->serial;

  if (!fusion->defers) {
    GST_DEBUG_OBJECT (self, "leaves its stage to %" GST_PTR_FORMAT,
        fusion->neighbour.element);
    gst_tfx_engine_suspend (&priv->engine);
  }
  fusion->defers = TRUE;
  return TRUE;
}

void
gst_tfx_fusion_reset (GstTfxFilter *self)
{
  gst_tfx_filter_get_private (self)->fusion.has_left = FALSE;
}

void
gst_tfx_fusion_resume (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFusion *fusion = &priv->fusion;

  if (!fusion->defers)
    return;
  GST_DEBUG_OBJECT (self, "runs its stage itself");
  gst_tfx_engine_resume (&priv->engine, !fusion->is_away);
  if (fusion->is_away)
    gst_tfx_times_reset (&priv->times, priv->engine.spec.rate_hz);
  fusion->defers = fusion->is_away = fusion->has_left = FALSE;
}

void
gst_tfx_fusion_clear (GstTfxFilter *self)
{
  GstTfxFusion *fusion = &gst_tfx_filter_get_private (self)->fusion;

  gst_clear_event (&fusion->event);
  gst_tfx_neighbour_clear (&fusion->neighbour);
  fusion->seen_peer = NULL;
  fusion->defers = fusion->is_away = fusion->has_left = FALSE;
  tfx_chain_unref (&fusion->own);
  tfx_chain_unref (&fusion->before);
  tfx_chain_unref (&fusion->both);
}
