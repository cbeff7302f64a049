/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxengine.c: an executor that is made when the first samples come, and
 * knows whether it has heard anything yet.
 *
 * How a long FIR is best cut up depends on the length of the blocks, which is
 * known when they come.  So a chain becomes a plan at once, which tells of its
 * faults and its delay, and the executor is made with the first block.  It
 * stays as it is if other lengths follow; a stream that starts again may give
 * reason for another one.
 */
#include "gsttfxengine.h"

#include <errno.h>
#include <gst/gst.h>

/* A plan of another structure takes over in a cross-fade of 10 ms. */
#define FADES_PER_SECOND 100

static gsize
gst_tfx_engine_fade_frames (const TfxPlanSpec *spec)
{
  return MAX (spec->rate_hz / FADES_PER_SECOND, 1.0);
}

static TfxPlan *
gst_tfx_engine_compile (TfxChain *chain, const TfxPlanSpec *spec,
    GError **error)
{
  TfxPlan *plan = NULL;
  gint err = tfx_plan_compile_for (chain, spec, &plan);

  if (err < 0) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "no plan for %u channels at %.12g Hz: %s", spec->n_channels,
        spec->rate_hz, g_strerror (-err));
    plan = NULL;
  }
  return plan;
}

/* The executor takes a plan; n_fade is 0 at rest. */
static gboolean
gst_tfx_engine_take_plan (GstTfxEngine *self, TfxPlan *plan,
    const TfxPlanSpec *spec, gsize n_fade, GError **error)
{
  gint err = self->exec ? tfx_exec_set_plan (self->exec, plan, n_fade)
                        : tfx_exec_new (plan, &self->exec);

  if (err < 0) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "the engine cannot take the plan for %u channels at %.12g Hz: %s",
        spec->n_channels, spec->rate_hz, g_strerror (-err));
    return FALSE;
  }
  /* At rest, what is to be dropped of the output is the new plan's delay. */
  if (!self->used)
    tfx_exec_reset (self->exec);
  self->n_fading = MIN (self->n_fading, n_fade) + n_fade;
  self->is_stale = FALSE;
  return TRUE;
}

gboolean
gst_tfx_engine_set_chain (GstTfxEngine *self, TfxChain *chain,
    const TfxPlanSpec *asked, gboolean at_once, GError **error)
{
  TfxPlanSpec spec = *asked;
  TfxPlan *plan;
  gsize n_fade = at_once ? 0 : gst_tfx_engine_fade_frames (asked);

  spec.block_frames = self->spec.block_frames;
  plan = gst_tfx_engine_compile (chain, &spec, error);
  if (!plan)
    return FALSE;
  if (!self->used) {
    self->is_stale = TRUE;
  } else if (!gst_tfx_engine_take_plan (self, plan, &spec, n_fade, error)) {
    tfx_plan_unref (&plan);
    return FALSE;
  }
  tfx_plan_unref (&self->plan);
  tfx_chain_unref (&self->chain);
  self->plan = plan;
  self->chain = tfx_chain_ref (chain);
  self->spec = spec;
  return TRUE;
}

gboolean
gst_tfx_engine_prepare (GstTfxEngine *self, TfxSample sample, gsize n_frames,
    GError **error)
{
  TfxPlanSpec spec = self->spec;
  TfxPlan *plan;
  gboolean ok;

  /* The first buffer after a seek is often cut: what came in twos before says
   * more about those to come. */
  if (self->last_frames == n_frames)
    self->usual_frames = n_frames;
  self->last_frames = n_frames;

  spec.sample = sample;
  if (!self->used)
    spec.block_frames = self->usual_frames ? self->usual_frames : n_frames;
  if (!self->is_stale && sample == self->spec.sample &&
      spec.block_frames == self->spec.block_frames)
    return TRUE;

  plan = gst_tfx_engine_compile (self->chain, &spec, error);
  if (!plan)
    return FALSE;
  ok = gst_tfx_engine_take_plan (self, plan, &spec,
      self->used ? gst_tfx_engine_fade_frames (&spec) : 0, error);
  if (ok) {
    tfx_plan_unref (&self->plan);
    self->plan = plan;
    self->spec = spec;
  } else {
    tfx_plan_unref (&plan);
  }
  return ok;
}

void
gst_tfx_engine_pass (GstTfxEngine *self, gsize n_frames)
{
  self->n_fading -= MIN (self->n_fading, n_frames);
}

gint
gst_tfx_engine_run (GstTfxEngine *self, const TfxBlock *block)
{
  self->used = TRUE;
  gst_tfx_engine_pass (self, block->n_frames);
  return tfx_exec_run (self->exec, block, block);
}

gint
gst_tfx_engine_drain (GstTfxEngine *self, const TfxBlock *block)
{
  return tfx_exec_drain (self->exec, block);
}

gsize
gst_tfx_engine_delay (const GstTfxEngine *self)
{
  return self->plan ? tfx_plan_delay (self->plan) : 0;
}

gsize
gst_tfx_engine_skip (const GstTfxEngine *self)
{
  return self->exec ? tfx_exec_skip (self->exec) : 0;
}

gboolean
gst_tfx_engine_reset (GstTfxEngine *self)
{
  if (!self->used)
    return FALSE;
  tfx_exec_reset (self->exec);
  self->used = FALSE;
  self->n_fading = 0;
  return TRUE;
}

void
gst_tfx_engine_clear (GstTfxEngine *self)
{
  tfx_exec_free (&self->exec);
  tfx_plan_unref (&self->plan);
  tfx_chain_unref (&self->chain);
  *self = (GstTfxEngine){ NULL };
}
