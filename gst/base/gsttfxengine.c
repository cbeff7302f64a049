/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxengine.c: an executor that is made when the first samples come, and
 * knows whether it has heard anything yet.
 *
 * How a long FIR is best cut up depends on the length of the blocks, which is
 * known when they come.  So a chain becomes a plan at once, which tells of its
 * faults and its delay, and the executor is made with the first block.  It
 * stays as it is if other lengths follow; a stream that starts again may give
 * reason for another one.
 *
 * Neighbouring FIRs cost less as one, but their states must be told apart when
 * something changes.  So they are joined when nothing has changed for a while
 * (at once if the stream begins and none takes a delay out of it) and parted
 * before anything does.  Of the joined one the past input is the state of them
 * all; to be joined they must first have heard as much.
 */
#include "gsttfxengine.h"

#include <errno.h>
#include <gst/gst.h>

/* A plan of another structure takes over in a cross-fade of 10 ms. */
#define FADES_PER_SECOND 100

/* Nothing is going to change soon if nothing has changed for so long. */
#define SETTLED_SECONDS 0.25

static gsize
gst_tfx_engine_fade_frames (const TfxPlanSpec *spec)
{
  return MAX (spec->rate_hz / FADES_PER_SECOND, 1.0);
}

static TfxPlan *
gst_tfx_engine_compile (const TfxChain *chain, const TfxPlanSpec *spec,
    GError **error)
{
  TfxPlan *plan = NULL;
  gint err = chain ? tfx_plan_compile_for (chain, spec, &plan) : -ENOMEM;

  if (err < 0) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "no plan for %u channels at %.12g Hz: %s", spec->n_channels,
        spec->rate_hz, g_strerror (-err));
    return NULL;
  }
  return plan;
}

/* The plan for what is pending, then the element's own chain. */
static TfxPlan *
gst_tfx_engine_compile_whole (TfxChain *pending, const TfxChain *own,
    const TfxPlanSpec *spec, GError **error)
{
  TfxChain *both;
  TfxPlan *plan;

  if (!pending)
    return gst_tfx_engine_compile (own, spec, error);
  both = tfx_chain_concat (pending, own);
  plan = gst_tfx_engine_compile (both, spec, error);
  tfx_chain_unref (&both);
  return plan;
}

static void
gst_tfx_engine_set_pending (GstTfxEngine *self, TfxChain *pending, guint64 who)
{
  if (pending)
    tfx_chain_ref (pending);
  tfx_chain_unref (&self->pending);
  self->pending = pending;
  self->who = who;
}

/* ---- FIRs that become one ---------------------------------------------------- */

/* The executor runs the same chain in another form, with the state that it has.
 * If that fails it stays as it is. */
static gboolean
gst_tfx_engine_set_form (GstTfxEngine *self, GstTfxEngineForm form)
{
  TfxPlanSpec spec = self->spec;
  TfxPlan *plan;
  gboolean ok;

  spec.keep_stages = form != GST_TFX_ENGINE_AS_ONE;
  spec.long_past = form == GST_TFX_ENGINE_LONG_PAST;
  spec.in_stream = form == GST_TFX_ENGINE_AS_ONE;
  plan = form == GST_TFX_ENGINE_APART
             ? tfx_plan_ref (self->plan)
             : gst_tfx_engine_compile_whole (self->pending, self->chain, &spec,
                   NULL);
  ok = plan && tfx_exec_set_plan (self->exec, plan, 0) == 0;
  tfx_plan_unref (&plan);
  self->n_settled = 0;
  if (ok)
    self->form = form;
  return ok;
}

/* Before anything changes.  If memory is short the executor finds its way from
 * one plan to the other too. */
static void
gst_tfx_engine_part (GstTfxEngine *self)
{
  if (self->form != GST_TFX_ENGINE_APART)
    gst_tfx_engine_set_form (self, GST_TFX_ENGINE_APART);
  self->form = GST_TFX_ENGINE_APART;
  self->n_settled = 0;
}

/* Before each block. */
static void
gst_tfx_engine_join (GstTfxEngine *self, gsize n_frames)
{
  gsize n_past = tfx_plan_past (self->plan);

  if (n_past == 0 || self->form == GST_TFX_ENGINE_AS_ONE)
    return;
  if (!self->used && tfx_plan_delay (self->plan) == 0) {
    gst_tfx_engine_set_form (self, GST_TFX_ENGINE_AS_ONE);
  } else if (self->form == GST_TFX_ENGINE_LONG_PAST) {
    if (self->n_settled >= n_past)
      gst_tfx_engine_set_form (self, GST_TFX_ENGINE_AS_ONE);
  } else if (self->n_settled >= self->spec.rate_hz * SETTLED_SECONDS &&
             !gst_tfx_engine_is_fading (self) &&
             tfx_exec_skip (self->exec) == 0) {
    gst_tfx_engine_set_form (self, GST_TFX_ENGINE_LONG_PAST);
  }
  self->n_settled += n_frames;
}

/* ---- plans ------------------------------------------------------------------------ */

/* Whether both plans have state of the same stages. */
static gboolean
gst_tfx_engine_same_states (const TfxPlan *a, const TfxPlan *b)
{
  gsize n = tfx_plan_n_states (a);

  if (tfx_plan_n_states (b) != n)
    return FALSE;
  for (gsize i = 0; i < n; i++) {
    if (tfx_plan_state_id (a, i) != tfx_plan_state_id (b, i))
      return FALSE;
  }
  return TRUE;
}

/* The executor takes a plan; n_fade is 0 at rest. */
static gboolean
gst_tfx_engine_take_plan (GstTfxEngine *self, TfxPlan *plan,
    const TfxPlanSpec *spec, gsize n_fade, GError **error)
{
  gint err;

  gst_tfx_engine_part (self);
  err = self->exec ? tfx_exec_set_plan (self->exec, plan, n_fade)
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
  if (!self->used || !gst_tfx_engine_same_states (self->plan, plan))
    self->is_new = TRUE;
  return TRUE;
}

gboolean
gst_tfx_engine_set_chain (GstTfxEngine *self, TfxChain *chain,
    const TfxPlanSpec *asked, gboolean at_once, GError **error)
{
  TfxPlanSpec spec = *asked;
  TfxPlan *own, *plan = NULL;
  gsize n_fade = at_once ? 0 : gst_tfx_engine_fade_frames (asked);

  spec.block_frames = self->spec.block_frames;
  spec.keep_stages = true;
  own = gst_tfx_engine_compile (chain, &spec, error);
  if (own && self->used && self->pending)
    plan = gst_tfx_engine_compile_whole (self->pending, chain, &spec, error);
  else if (own)
    plan = tfx_plan_ref (own);
  if (!plan || (self->used && !gst_tfx_engine_take_plan (self, plan, &spec,
                                  n_fade, error))) {
    tfx_plan_unref (&plan);
    tfx_plan_unref (&own);
    return FALSE;
  }
  if (!self->used) {
    self->is_stale = TRUE;
    gst_tfx_engine_set_pending (self, NULL, 0);
  }
  tfx_chain_unref (&self->chain);
  tfx_plan_unref (&self->own);
  tfx_plan_unref (&self->plan);
  self->chain = tfx_chain_ref (chain);
  self->own = own;
  self->plan = plan;
  self->spec = spec;
  return TRUE;
}

gboolean
gst_tfx_engine_is_update (const GstTfxEngine *self, const TfxChain *chain,
    const TfxPlanSpec *asked)
{
  TfxPlanSpec spec = *asked;
  TfxPlan *plan;
  gboolean is_update;

  spec.block_frames = self->spec.block_frames;
  spec.keep_stages = true;
  plan = gst_tfx_engine_compile (chain, &spec, NULL);
  is_update = plan && self->own && tfx_plan_same_structure (self->own, plan);
  tfx_plan_unref (&plan);
  return is_update;
}

/* A running executor stays as it is.  The first buffer after a seek is often
 * cut: what came in twos before says more about those to come. */
static gsize
gst_tfx_engine_block_frames (const GstTfxEngine *self)
{
  if (self->used)
    return self->spec.block_frames;
  return self->usual_frames ? self->usual_frames : self->last_frames;
}

gboolean
gst_tfx_engine_expect (GstTfxEngine *self, TfxSample sample, gsize n_frames,
    const TfxChain *pending)
{
  if (self->last_frames == n_frames)
    self->usual_frames = n_frames;
  self->last_frames = n_frames;
  return !self->is_stale && sample == self->spec.sample &&
         pending == self->pending &&
         gst_tfx_engine_block_frames (self) == self->spec.block_frames;
}

GArray *
gst_tfx_engine_list_held (GstTfxEngine *self)
{
  GArray *list;

  if (!self->used || gst_tfx_engine_delay (self) == 0)
    return NULL;
  gst_tfx_engine_part (self);
  list = g_array_new (FALSE, FALSE, sizeof (GstTfxHeld));
  for (gsize i = 0; i < tfx_plan_n_states (self->plan); i++) {
    guint64 id = tfx_plan_state_id (self->plan, i);
    GstTfxHeld held = { id, tfx_exec_held (self->exec, id) };

    g_array_append_val (list, held);
  }
  return list;
}

gboolean
gst_tfx_engine_has_stage (const GstTfxEngine *self, guint64 id)
{
  for (gsize i = 0; i < tfx_plan_n_states (self->plan); i++) {
    if (tfx_plan_state_id (self->plan, i) == id)
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_tfx_engine_prepare (GstTfxEngine *self, TfxSample sample, TfxChain *pending,
    guint64 who, GError **error)
{
  TfxPlanSpec spec = self->spec;
  gboolean fades = self->used && who == self->who;
  TfxPlan *plan;

  spec.sample = sample;
  spec.block_frames = gst_tfx_engine_block_frames (self);
  plan = gst_tfx_engine_compile_whole (pending, self->chain, &spec, error);
  if (!plan)
    return FALSE;
  if (!gst_tfx_engine_take_plan (self, plan, &spec,
          fades ? gst_tfx_engine_fade_frames (&spec) : 0, error)) {
    tfx_plan_unref (&plan);
    return FALSE;
  }
  tfx_plan_unref (&self->plan);
  self->plan = plan;
  self->spec = spec;
  gst_tfx_engine_set_pending (self, pending, who);
  return TRUE;
}

gboolean
gst_tfx_engine_set_backend (GstTfxEngine *self, const TfxBackend *backend,
    GError **error)
{
  TfxPlanSpec spec = self->spec;
  TfxPlan *own, *plan = NULL;

  spec.backend = backend;
  if (!self->plan || backend == self->spec.backend)
    return TRUE;
  own = gst_tfx_engine_compile (self->chain, &spec, error);
  if (own && self->pending)
    plan =
        gst_tfx_engine_compile_whole (self->pending, self->chain, &spec, error);
  else if (own)
    plan = tfx_plan_ref (own);
  if (!plan ||
      (self->exec && !gst_tfx_engine_take_plan (self, plan, &spec, 0, error))) {
    tfx_plan_unref (&plan);
    tfx_plan_unref (&own);
    return FALSE;
  }
  self->n_fading = 0;
  tfx_plan_unref (&self->own);
  tfx_plan_unref (&self->plan);
  self->own = own;
  self->plan = plan;
  self->spec = spec;
  return TRUE;
}

gboolean
gst_tfx_engine_take_note (GstTfxEngine *self)
{
  gboolean is_new = self->is_new;

  /* State may come from elsewhere now. */
  if (is_new)
    gst_tfx_engine_part (self);
  self->is_new = FALSE;
  return is_new;
}

void
gst_tfx_engine_suspend (GstTfxEngine *self)
{
  self->was_used = self->used;
  self->used = FALSE;
}

void
gst_tfx_engine_resume (GstTfxEngine *self, gboolean is_as_it_was)
{
  self->is_new = TRUE;
  if (is_as_it_was) {
    self->used = self->was_used;
    return;
  }
  self->n_fading = 0;
  gst_tfx_engine_part (self);
  if (self->exec)
    tfx_exec_reset (self->exec);
}

void
gst_tfx_engine_expect_fade (GstTfxEngine *self)
{
  self->n_fading = gst_tfx_engine_fade_frames (&self->spec);
}

gboolean
gst_tfx_engine_is_mixing (const GstTfxEngine *self)
{
  return self->exec && tfx_exec_is_fading (self->exec);
}

gboolean
gst_tfx_engine_is_fading (const GstTfxEngine *self)
{
  return self->n_fading > 0 || gst_tfx_engine_is_mixing (self);
}

void
gst_tfx_engine_pass (GstTfxEngine *self, gsize n_frames)
{
  self->n_fading -= MIN (self->n_fading, n_frames);
}

gint
gst_tfx_engine_run (GstTfxEngine *self, const TfxBlock *in, const TfxBlock *out)
{
  gint err;

  gst_tfx_engine_join (self, in->n_frames);
  err = tfx_exec_run (self->exec, in, out);
  if (tfx_exec_n_done (self->exec) > 0)
    self->used = TRUE;
  gst_tfx_engine_pass (self, tfx_exec_n_done (self->exec));
  return err;
}

gsize
gst_tfx_engine_n_done (const GstTfxEngine *self)
{
  return tfx_exec_n_done (self->exec);
}

gint
gst_tfx_engine_drain (GstTfxEngine *self, const TfxBlock *block)
{
  gst_tfx_engine_part (self);
  return tfx_exec_drain (self->exec, block);
}

gsize
gst_tfx_engine_delay (const GstTfxEngine *self)
{
  return self->plan ? tfx_plan_delay (self->plan) : 0;
}

gsize
gst_tfx_engine_own_delay (const GstTfxEngine *self)
{
  return self->own ? tfx_plan_delay (self->own) : 0;
}

gsize
gst_tfx_engine_skip (const GstTfxEngine *self)
{
  return self->exec ? tfx_exec_skip (self->exec) : 0;
}

gboolean
gst_tfx_engine_reset (GstTfxEngine *self)
{
  self->is_new = TRUE;
  if (!self->used)
    return FALSE;
  gst_tfx_engine_part (self);
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
  tfx_plan_unref (&self->own);
  tfx_chain_unref (&self->chain);
  tfx_chain_unref (&self->pending);
  *self = (GstTfxEngine){ NULL };
}
