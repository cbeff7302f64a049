/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxauto.c: what device=auto chooses, and what is done before the first
 * buffer so that it does not wait.
 *
 * How much there is to do for a buffer is known when the buffers come, and may
 * change with the properties; where the state of the filters is can change
 * between any two.  But to open a device takes long.  So whether CUDA may ever
 * pay is asked when caps are set, for long buffers; if so the device is made
 * ready then.  Whether it pays for those that come is asked when two in a row
 * are of one length, and when the plan changes.
 */
#include <errno.h>

#include "gsttfxcost.h"
#include "gsttfxcudabuffer.h"
#include "gsttfxfusion.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* What is run to get everything ready: not more samples than these. */
#define WARM_UP_FRAMES 1024
#define WARM_UP_SAMPLES 65536

/* ---- rows ------------------------------------------------------------------------ */

/* The tfx element that the sink pad is linked to, through ghost and proxy pads
 * only; a reference, or NULL. */
static GstTfxElement *
gst_tfx_device_find_upstream (GstTfxElement *self)
{
  GstPad *pad = gst_pad_get_peer (GST_BASE_TRANSFORM_SINK_PAD (self));
  GstElement *element;

  while (pad && GST_IS_PROXY_PAD (pad)) {
    GstProxyPad *internal = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad));

    gst_object_unref (pad);
    pad = internal ? gst_pad_get_peer (GST_PAD (internal)) : NULL;
    gst_clear_object (&internal);
  }
  element = pad ? gst_pad_get_parent_element (pad) : NULL;
  gst_clear_object (&pad);
  if (element && !GST_IS_TFX_ELEMENT (element))
    gst_clear_object (&element);
  return (GstTfxElement *)element;
}

/* Those that leave their stages to @self ask for the same memory. */
static void
gst_tfx_device_tell_row (GstTfxElement *self, gboolean is_chosen)
{
  GstTfxElement *upstream = gst_tfx_device_find_upstream (self);

  g_atomic_int_set (&gst_tfx_element_get_private (self)->place.is_chosen,
      is_chosen);
  if (upstream && gst_tfx_element_get_private (upstream)->fusion.defers)
    gst_tfx_device_tell_row (upstream, is_chosen);
  gst_clear_object (&upstream);
}

/* ---- device=auto ----------------------------------------------------------------- */

/* Whether CUDA pays for a plan in buffers of so many frames. */
static gboolean
gst_tfx_device_pays (GstTfxElement *self, const TfxPlan *plan, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  GstTfxJob job = { .n_frames = n_frames,
    .n_channels = priv->engine.spec.n_channels,
    .sample = priv->engine.spec.sample,
    .in_cuda = place->from_device,
    .out_cuda = place->out_cuda };
  gboolean pays;

  tfx_plan_work (plan, n_frames, &job.work);
  pays = gst_tfx_cost_pays (&job, g_atomic_int_get (&place->is_chosen));
  GST_DEBUG_OBJECT (self,
      "%" G_GSIZE_FORMAT " frames of %u channels, %u sections, %u taps: %.0f "
      "ns on the CPU, %.0f ns on the device",
      n_frames, job.n_channels, (guint)job.work.n_sections,
      (guint)job.work.n_taps, gst_tfx_cost_cpu (&job),
      gst_tfx_cost_cuda (&job));
  return pays;
}

void
gst_tfx_device_consider (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  gboolean is_usual = n_frames == place->last_frames;
  gboolean from_device, pays;

  if (!place->cuda || gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO)
    return;
  from_device = gst_tfx_cuda_buffer_is_device (buffer, place->context);
  place->last_frames = n_frames;
  if (place->seen_plan == priv->engine.plan && place->seen_frames == n_frames &&
      place->from_device == from_device)
    return;
  /* One buffer of another length says little of those to come. */
  if (!is_usual || gst_tfx_engine_is_fading (&priv->engine) ||
      g_atomic_int_get (&place->state) != GST_TFX_CUDA_FINE)
    return;
  place->from_device = from_device;
  /* What is on the device is filtered there. */
  pays = from_device || gst_tfx_device_pays (self, priv->engine.plan, n_frames);
  if (pays != place->runs) {
    GST_INFO_OBJECT (self, "device=auto goes to %s", pays ? "CUDA" : "the CPU");
    gst_tfx_device_tell_row (self, pays);
    gst_tfx_device_move (self);
    gst_tfx_device_reconfigure (self);
  }
  place->seen_plan = priv->engine.plan;
  place->seen_frames = n_frames;
}

/* ---- before the first buffer -------------------------------------------------------- */

/* The chains of a row of elements that ends here; a reference, or NULL if memory
 * is short.  Their caps are set one after the other in this thread. */
static TfxChain *
gst_tfx_device_get_row (GstTfxElement *self)
{
  TfxChain *own = gst_tfx_element_get_private (self)->engine.chain;
  GstTfxElement *upstream = gst_tfx_device_find_upstream (self);
  TfxChain *before, *both;

  if (!upstream || !gst_tfx_fusion_decide (upstream)) {
    gst_clear_object (&upstream);
    return tfx_chain_ref (own);
  }
  before = gst_tfx_device_get_row (upstream);
  both = before ? tfx_chain_concat (before, own) : NULL;
  tfx_chain_unref (&before);
  gst_object_unref (upstream);
  return both;
}

/* What such a row comes to. */
static TfxPlan *
gst_tfx_device_plan_row (GstTfxElement *self, const TfxBackend *backend)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  TfxPlanSpec spec = priv->engine.spec;
  TfxChain *row = gst_tfx_device_get_row (self);
  TfxPlan *plan = NULL;

  spec.backend = backend;
  spec.keep_stages = TRUE;
  if (row)
    tfx_plan_compile_for (row, &spec, &plan);
  tfx_chain_unref (&row);
  return plan;
}

/* Runs a block of silence, of which nobody hears. */
static gint
gst_tfx_device_run_silence (TfxPlan *plan, const TfxPlanSpec *spec)
{
  gsize n_frames =
      CLAMP (WARM_UP_SAMPLES / spec->n_channels, 1, WARM_UP_FRAMES);
  gdouble *samples = g_new0 (gdouble, n_frames * spec->n_channels);
  TfxBlock block =
      tfx_block_interleaved (samples, spec->sample, spec->n_channels, n_frames);
  TfxExec *exec;
  gint err = tfx_exec_new (plan, &exec);

  if (err == 0)
    err = tfx_exec_run (exec, &block, &block);
  tfx_exec_free (&exec);
  g_free (samples);
  return err;
}

/* Loads the kernels, starts each of them, takes memory. */
static void
gst_tfx_device_warm_up (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime start = gst_util_get_timestamp ();
  TfxPlan *plan =
      gst_tfx_device_plan_row (self, tfx_cuda_backend (priv->place.cuda));
  gint err =
      plan ? gst_tfx_device_run_silence (plan, &priv->engine.spec) : -ENOMEM;

  tfx_plan_unref (&plan);
  GST_INFO_OBJECT (self, "ready after %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gst_util_get_timestamp () - start));
  if (err < 0)
    gst_tfx_device_fall_back (self, err);
}

/* A device that may pay once it is known how long the buffers are is opened
 * now: a running stream could not wait for it.  Longer ones than of a second
 * are rare. */
static gboolean
gst_tfx_device_may_pay (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  TfxPlan *plan;
  gboolean pays;

  if (gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO ||
      !priv->place.may_have_cuda_memory)
    return FALSE;
  plan = gst_tfx_device_plan_row (self, tfx_cpu_backend ());
  pays = plan && gst_tfx_device_pays (self, plan, priv->engine.spec.rate_hz);
  tfx_plan_unref (&plan);
  return pays;
}

void
gst_tfx_device_settle (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  gst_tfx_device_move (self);
  /* Who leaves its stage to others needs nothing. */
  if (gst_tfx_fusion_decide (self))
    return;
  if (priv->place.runs ||
      (gst_tfx_device_may_pay (self) && gst_tfx_device_try_open (self)))
    gst_tfx_device_warm_up (self);
}
