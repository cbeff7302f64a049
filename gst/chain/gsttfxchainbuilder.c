/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainbuilder.c: makes the filter of a tfxchain from its expression.
 *
 * The expression keeps designed stages, so that changing a parameter costs the design of
 * one stage.  Long designs run in a background task, while the old filter stays in
 * use.
 */
#include "gsttfxchainbuilder.h"

#include <errno.h>
#include <string.h>

#include "gsttfxchainclamps.h"
#include "gsttfxchainprivate.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

/* Cost of the design of a section in FIR taps: a few microseconds at most. */
#define SECTION_EFFORT 25
/* Designs below LITTLE_EFFORT are not kept; those above LONG_EFFORT are too long for the
 * streaming thread.  About 20 us and 2 ms. */
#define LITTLE_EFFORT 200
#define LONG_EFFORT 8192

/* ---- design in another thread --------------------------------------------------- */

typedef struct
{
  TfxExpr *expr; /* a copy */
  gdouble rate;
  guint n_channels;
  TfxFilterSpec spec;
} GstTfxChainJob;

static void
gst_tfx_chain_job_run (gpointer data)
{
  GstTfxChainJob *job = data;

  tfx_expr_prepare (job->expr, job->rate, job->n_channels, &job->spec);
}

static void
gst_tfx_chain_job_free (GstTfxChainJob *job)
{
  if (job)
    tfx_expr_free (&job->expr);
  g_free (job);
}

/* Starts the task.  FALSE if memory is short or there is no thread. */
static gboolean
gst_tfx_chain_builder_start (GstTfxChainBuilder *self, GstTfxChain *chain,
    const TfxExpr *expr, const GstTfxBuild *build)
{
  GstTfxChainJob *job = g_new0 (GstTfxChainJob, 1);

  job->rate = build->rate;
  job->n_channels = build->n_channels;
  job->spec = *build->spec;
  job->expr = tfx_expr_copy (expr);
  if (job->expr && gst_tfx_worker_start (&self->worker, gst_tfx_chain_job_run,
                       job, GST_TFX_ELEMENT (chain)))
    return TRUE;
  gst_tfx_chain_job_free (job);
  return FALSE;
}

/* ---- the expression, its stages designed ------------------------------------------ */

static gsize
gst_tfx_chain_builder_effort (const TfxExpr *expr, const GstTfxBuild *build)
{
  gsize n_sections, n_taps;

  tfx_expr_effort (expr, build->rate, build->n_channels, &n_sections, &n_taps);
  return n_taps + SECTION_EFFORT * n_sections;
}

/* Gives designed stages to the chain's expression, which may have changed since. */
static void
gst_tfx_chain_builder_hand_in (GstTfxChain *chain, const TfxExpr *designed)
{
  TfxExpr *expr;

  GST_OBJECT_LOCK (chain);
  expr = gst_tfx_chain_expr_edit (&chain->expr);
  if (expr)
    tfx_expr_take_prepared (expr, designed);
  GST_OBJECT_UNLOCK (chain);
}

static GstTfxChainExpr *
gst_tfx_chain_builder_prepare (GstTfxChain *chain, GstTfxChainExpr *expr,
    const GstTfxBuild *build)
{
  TfxExpr *copy = tfx_expr_copy (expr->expr);
  GstTfxChainExpr *prepared;
  gboolean is_current;

  if (!copy)
    return expr;
  tfx_expr_prepare (copy, build->rate, build->n_channels, NULL);
  prepared = gst_tfx_chain_expr_new (copy);

  GST_OBJECT_LOCK (chain);
  is_current = chain->expr == expr;
  if (is_current) {
    gst_tfx_chain_expr_unref (chain->expr);
    chain->expr = gst_tfx_chain_expr_ref (prepared);
  }
  GST_OBJECT_UNLOCK (chain);
  if (!is_current)
    gst_tfx_chain_builder_hand_in (chain, copy);
  gst_tfx_chain_expr_unref (expr);
  return prepared;
}

/* The expression to build; NULL while the task designs it. */
static GstTfxChainExpr *
gst_tfx_chain_builder_get_expr (GstTfxChainBuilder *self, GstTfxChain *chain,
    const GstTfxBuild *build)
{
  GstTfxChainJob *job = gst_tfx_worker_take (&self->worker, !build->is_running);
  gboolean was_designed = job != NULL;
  GstTfxChainExpr *expr;
  gsize effort;

  if (job)
    gst_tfx_chain_builder_hand_in (chain, job->expr);
  gst_tfx_chain_job_free (job);

  expr = gst_tfx_chain_get_expr (chain);
  effort = gst_tfx_chain_builder_effort (expr->expr, build);
  if (effort <= LITTLE_EFFORT)
    return expr;
  /* Stages still not designed after a task have an error or are new. */
  if (build->is_running && effort > LONG_EFFORT && !was_designed &&
      (gst_tfx_worker_get_job (&self->worker) ||
          gst_tfx_chain_builder_start (self, chain, expr->expr, build))) {
    GST_DEBUG_OBJECT (chain, "designing in a background task");
    gst_tfx_chain_expr_unref (expr);
    return NULL;
  }
  return gst_tfx_chain_builder_prepare (chain, expr, build);
}

/* ---- the filter ------------------------------------------------------------------------ */

/* Sets the error, but only once while a controller passes through values that do not fit
 * together. */
static void
gst_tfx_chain_builder_refuse (GstTfxChainBuilder *self,
    const GstTfxBuild *build, const gchar *message, GError **error)
{
  gboolean is_known = self->is_refused && build->is_running && !build->by_hand;

  self->is_refused = TRUE;
  if (!is_known)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        message);
}

/* Keeps the latency of a running stream while the look-ahead of its stages changes, so that
 * both chains can be cross-faded.  A limiter with less look-ahead keeps the old latency.
 * For one with more, the running chain is first delayed by the difference, as a step.
 * Other changes of look-ahead are refused.  FALSE without an error: not now. */
static gboolean
gst_tfx_chain_builder_keep_latency (GstTfxChainBuilder *self,
    GstTfxChain *chain, TfxChain **made, GstTfxBuild *build, GError **error)
{
  TfxChain *running = gst_tfx_element_get_running (GST_TFX_ELEMENT (chain));
  const gsize latency = tfx_chain_latency (*made);
  TfxChain *kept = NULL, *step = NULL;
  gchar *message;

  if (!running || tfx_chain_latency (running) != build->delay ||
      tfx_chain_keep_latency (*made, running, &kept, &step) < 0) {
    tfx_chain_unref (&running);
    message =
        g_strdup_printf ("its look-ahead is %" G_GSIZE_FORMAT
                         " frames, but that of the running chain is "
                         "%" G_GSIZE_FORMAT
                         "%s; it takes effect after the next stop or flush",
            latency, build->delay,
            latency == build->delay ? " in other stages" : "");
    gst_tfx_chain_builder_refuse (self, build, message, error);
    build->waits_for_rest = TRUE;
    g_free (message);
    return FALSE;
  }
  tfx_chain_unref (&running);
  if (step) {
    tfx_chain_unref (&kept);
    kept = step;
    build->at_once = TRUE;
    build->min_frames = tfx_chain_latency (step) - build->delay;
    /* A step would end a running cross-fade. */
    build->ask_again = !build->is_settled;
  } else {
    build->excess_delay = tfx_chain_latency (kept) - latency;
  }
  GST_DEBUG_OBJECT (chain,
      "%s: latency %" G_GSIZE_FORMAT ", was %" G_GSIZE_FORMAT
      ", needs %" G_GSIZE_FORMAT " frames",
      step ? "step" : "change", tfx_chain_latency (kept), build->delay,
      latency);
  tfx_chain_unref (made);
  *made = kept;
  build->delay = tfx_chain_latency (kept);
  return !build->ask_again;
}

static gboolean
gst_tfx_chain_builder_take_latency (GstTfxChainBuilder *self,
    GstTfxChain *chain, TfxChain **made, GstTfxBuild *build, GError **error)
{
  const gsize latency = tfx_chain_latency (*made);

  if (build->is_running && (build->delay > 0 || latency > 0))
    return gst_tfx_chain_builder_keep_latency (self, chain, made, build, error);
  build->delay = latency;
  return TRUE;
}

/* A change of the output channels needs new caps first; if the element has not set them
 * yet, the build is repeated after that. */
static gboolean
gst_tfx_chain_builder_check_channels (GstTfxChainBuilder *self,
    GstTfxChain *chain, const TfxExpr *expr, GstTfxBuild *build, GError **error)
{
  unsigned n_out, n_most;
  gchar *message;

  tfx_expr_channels (expr, build->n_channels, &n_out, &n_most);
  if (n_out == build->n_out && n_most == build->spec->n_channels)
    return TRUE;
  if (!build->is_switch_refused) {
    GST_DEBUG_OBJECT (chain, "waits for caps with %u channels, at most %u",
        n_out, n_most);
    build->ask_again = TRUE;
    return FALSE;
  }
  message = g_strdup_printf ("its Mix makes %u channels from %u, but the next "
                             "elements accept no other number than the "
                             "current %u",
      n_out, build->n_channels, build->n_out);
  gst_tfx_chain_builder_refuse (self, build, message, error);
  g_free (message);
  return FALSE;
}

TfxChain *
gst_tfx_chain_builder_build (GstTfxElement *element, GstTfxBuild *build,
    GError **error)
{
  GstTfxChain *chain = GST_TFX_CHAIN (element);
  GstTfxChainBuilder *self = &chain->builder;
  GstTfxChainExpr *expr = gst_tfx_chain_builder_get_expr (self, chain, build);
  GstTfxChainClamps clamps = { element };
  TfxChain *made = NULL;
  TfxExprError fault;

  if (!expr)
    return NULL;
  clamps.expr = expr->expr;
  clamps.rate = build->rate;
  if (tfx_expr_build_at (expr->expr, build->rate, build->n_channels,
          build->positions, gst_tfx_chain_clamps_report, &clamps, &made,
          &fault) < 0) {
    made = NULL;
    gst_tfx_chain_builder_refuse (self, build, fault.message, error);
  } else if (!gst_tfx_chain_builder_check_channels (self, chain, expr->expr,
                 build, error) ||
             !gst_tfx_chain_builder_take_latency (self, chain, &made, build,
                 error)) {
    tfx_chain_unref (&made);
    /* The chain that waits is built later. */
    if (build->ask_again)
      tfx_move_free (&self->move);
  } else {
    self->is_refused = FALSE;
    GST_DEBUG_OBJECT (chain,
        "built %" G_GSIZE_FORMAT " stages for %u channels at %g Hz, latency "
        "%" G_GSIZE_FORMAT " frames",
        tfx_expr_n_stages (expr->expr), build->n_channels, build->rate,
        build->delay);
    if (build->at_once)
      tfx_move_free (&self->move);
    else if (!self->move)
      self->move = tfx_move_new ();
    if (self->move)
      tfx_move_begin (self->move, expr->expr, made);
  }
  gst_tfx_chain_expr_unref (expr);

  gst_tfx_chain_clamps_replace (&clamps, &self->clamped);
  return made;
}

/* ---- one stage ---------------------------------------------------------------------------- */

/* Designs the stage that tfx_move_next() has chosen. */
static gboolean
gst_tfx_chain_builder_move_one (GstTfxChainBuilder *self, GstTfxChain *chain,
    const TfxExpr *expr, const GstTfxBuild *build)
{
  const gchar *name = tfx_move_stage_name (self->move);
  GstTfxChainClamps clamps = { GST_TFX_ELEMENT (chain), expr, build->rate,
    self->clamped };
  TfxStage *stage;
  gint ret;

  gst_tfx_chain_clamps_begin_stage (&clamps, name);
  ret = tfx_move_design (self->move, build->rate, build->n_channels,
      gst_tfx_chain_clamps_report, &clamps, &stage, NULL);
  gst_tfx_chain_clamps_end_stage (&clamps, name, ret == 0);
  self->clamped = clamps.items;
  return ret == 0 &&
         gst_tfx_element_set_stage (GST_TFX_ELEMENT (chain), build, stage);
}

/* Errors are reported when the chain is built. */
gboolean
gst_tfx_chain_builder_move (GstTfxElement *element, GstTfxBuild *build)
{
  GstTfxChain *chain = GST_TFX_CHAIN (element);
  GstTfxChainBuilder *self = &chain->builder;
  GstTfxChainExpr *expr;
  guint n_moved = 0;
  gint ret;

  if (!self->move || gst_tfx_worker_get_job (&self->worker) ||
      self->is_refused || build->was_refused || !build->is_running)
    return FALSE;
  expr = gst_tfx_chain_get_expr (chain);
  tfx_move_follow (self->move, build->point > 0);
  while ((ret = tfx_move_next (self->move, expr->expr)) == 0 &&
         gst_tfx_chain_builder_move_one (self, chain, expr->expr, build))
    n_moved++;
  gst_tfx_chain_expr_unref (expr);
  return ret == -ENOENT && n_moved > 0;
}

void
gst_tfx_chain_builder_reserve (GstTfxElement *element, const GstTfxBuild *build)
{
  GstTfxChain *chain = GST_TFX_CHAIN (element);
  GstTfxChainBuilder *self = &chain->builder;
  GstTfxChainExpr *expr = gst_tfx_chain_get_expr (chain);
  GPtrArray *stages = gst_tfx_chain_get_stages (chain);
  const guint n_stages = MIN (stages->len, tfx_expr_n_stages (expr->expr));

  for (guint i = 0; self->move && !self->is_refused && i < n_stages; i++) {
    TfxStage *stage;
    guint n;

    if (tfx_move_take (self->move, expr->expr, i) < 0 ||
        tfx_move_design (self->move, build->rate, build->n_channels, NULL, NULL,
            &stage, NULL) < 0)
      continue;
    n = gst_tfx_element_reserve_stage (element, tfx_stage_id (stage),
        tfx_stage_grid_frames (stage),
        GST_OBJECT (stages->pdata[i])->control_bindings != NULL);
    tfx_move_reserve (self->move, build->rate, build->n_channels, n);
  }
  g_ptr_array_unref (stages);
  gst_tfx_chain_expr_unref (expr);
}

void
gst_tfx_chain_builder_clear (GstTfxChainBuilder *self)
{
  gst_tfx_chain_job_free (gst_tfx_worker_take (&self->worker, TRUE));
  g_clear_pointer (&self->clamped, g_ptr_array_unref);
  tfx_move_free (&self->move);
  memset (self, 0, sizeof *self);
}
