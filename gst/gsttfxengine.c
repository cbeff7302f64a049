/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxengine.c: an executor that is made when the first plan comes, and
 * knows whether it has heard anything yet.
 */
#include "gsttfxengine.h"

#include <errno.h>

/* A plan of another structure takes over in a cross-fade of 10 ms. */
#define FADES_PER_SECOND 100

static TfxPlan *
gst_tfx_engine_compile (TfxStage *stage, guint rate, guint n_channels,
    const TfxBackend *backend, gchar **why)
{
  TfxChain *empty = tfx_chain_new ();
  TfxChain *chain = empty ? tfx_chain_append (empty, stage) : NULL;
  TfxPlan *plan = NULL;
  gint err = -ENOMEM;

  if (chain)
    err = tfx_plan_compile (chain, rate, n_channels, backend, &plan);
  if (err < 0) {
    *why = g_strdup_printf ("no plan for %u channels at %u Hz: %s", n_channels,
        rate, g_strerror (-err));
    plan = NULL;
  }
  tfx_chain_unref (&chain);
  tfx_chain_unref (&empty);
  return plan;
}

gboolean
gst_tfx_engine_set_stage (GstTfxEngine *self, TfxStage *stage, guint rate,
    guint n_channels, const TfxBackend *backend, gchar **why)
{
  TfxPlan *plan =
      gst_tfx_engine_compile (stage, rate, n_channels, backend, why);
  /* Nothing to fade from where nothing was heard yet. */
  gsize n_fade = self->used ? MAX (rate / FADES_PER_SECOND, 1) : 0;
  gint err;

  if (!plan)
    return FALSE;
  err = self->exec ? tfx_exec_set_plan (self->exec, plan, n_fade)
                   : tfx_exec_new (plan, &self->exec);
  if (err < 0) {
    *why = g_strdup_printf ("the engine cannot take the plan for %u channels "
                            "at %u Hz: %s",
        n_channels, rate, g_strerror (-err));
    tfx_plan_unref (&plan);
    return FALSE;
  }
  tfx_plan_unref (&self->plan);
  self->plan = plan;
  return TRUE;
}

gint
gst_tfx_engine_run (GstTfxEngine *self, const TfxBlock *block)
{
  self->used = TRUE;
  return tfx_exec_run (self->exec, block, block);
}

gboolean
gst_tfx_engine_reset (GstTfxEngine *self)
{
  if (!self->used)
    return FALSE;
  tfx_exec_reset (self->exec);
  self->used = FALSE;
  return TRUE;
}

void
gst_tfx_engine_clear (GstTfxEngine *self)
{
  tfx_exec_free (&self->exec);
  tfx_plan_unref (&self->plan);
  self->used = FALSE;
}
