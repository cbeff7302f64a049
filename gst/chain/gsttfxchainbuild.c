/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainbuild.c: makes the filter of a tfxchain from its expression.
 *
 * The expression keeps designed stages, so that changing a parameter costs the
 * design of one stage.  Long designs run in a background task, while the old
 * filter stays in use.
 */
#include <errno.h>
#include <string.h>

#include "gsttfxchain.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

/* Cost of the design of a section in FIR taps: a few microseconds at most. */
#define SECTION_EFFORT 25
/* Designs below LITTLE_EFFORT are not kept; those above LONG_EFFORT are too
 * long for the streaming thread.  About 20 us and 2 ms. */
#define LITTLE_EFFORT 200
#define LONG_EFFORT 8192

/* ---- numbers out of range ------------------------------------------------ */

/* A number that was out of range since the last build of the whole chain. */
typedef struct
{
  gchar *property; /* "eq::cutoff" */
  guint build;     /* number of the build that found it out of range */
  gboolean is_clamped;
} Clamp;

/* A build of the chain, or of one of its stages. */
typedef struct
{
  GstTfxChain *chain;
  const TfxExpr *expr;
  const gchar *stage; /* its name; NULL: the chain */
  gdouble rate;
} Build;

static void
free_clamp (gpointer data)
{
  g_free (((Clamp *)data)->property);
  g_free (data);
}

/* A TfxExprReport that warns the user.  Allocates only when a number is out of
 * range for the first time.  data: Build. */
static void
gst_tfx_chain_build_report (const TfxExprClamp *clamped, void *data)
{
  const Build *build = data;
  GstTfxChain *chain = build->chain;
  const TfxClass *klass = tfx_expr_stage_class (build->expr,
      tfx_expr_find (build->expr, clamped->stage));
  const gint param = tfx_class_find_param (klass, clamped->param);
  const gboolean is_upper =
      param >= 0 && clamped->index == 1 && klass->params[param].max_list == 2;
  GstTfxClamp value = { NULL, clamped->because ? "" : " Hz", clamped->asked,
    clamped->used, clamped->lowest, clamped->highest, NULL, clamped->because };
  gchar name[GST_TFX_CHAIN_PARAM_NAME_SIZE], end[16] = "";
  gchar property[TFX_EXPR_MAX_NAME + sizeof name + sizeof end];
  Clamp *clamp = NULL;

  /* "eq::cutoff", "eq::cutoff-upper"; a later number of a list, which is not a
   * property, is "fir::cutoff[2]".  The centres of a bank are not a
   * parameter. */
  if (param < 0)
    g_strlcpy (name, clamped->param, sizeof name);
  else
    gst_tfx_chain_param_print_name (&klass->params[param],
        is_upper ? GST_TFX_CHAIN_PARAM_UPPER : GST_TFX_CHAIN_PARAM_WHOLE, name);
  if (param >= 0 && clamped->index > 0 && !is_upper)
    g_snprintf (end, sizeof end, "[%d]", clamped->index);
  g_snprintf (property, sizeof property, "%s::%s%s", clamped->stage, name, end);

  if (!chain->clamps)
    chain->clamps = g_ptr_array_new_with_free_func (free_clamp);
  for (guint i = 0; i < chain->clamps->len && !clamp; i++) {
    clamp = chain->clamps->pdata[i];
    if (strcmp (clamp->property, property) != 0)
      clamp = NULL;
  }
  if (!clamp) {
    clamp = g_new0 (Clamp, 1);
    clamp->property = g_strdup (property);
    g_ptr_array_add (chain->clamps, clamp);
  }
  clamp->is_clamped = TRUE;
  clamp->build = chain->n_builds;
  value.property = clamp->property;
  gst_tfx_element_report_clamp (GST_TFX_ELEMENT (chain), &value, build->rate);
}

/* Reports numbers that are in range again. */
static void
gst_tfx_chain_build_end (const Build *build)
{
  GstTfxChain *chain = build->chain;
  const gsize n = build->stage ? strlen (build->stage) : 0;

  for (guint i = chain->clamps ? chain->clamps->len : 0; i-- > 0;) {
    Clamp *clamp = chain->clamps->pdata[i];
    const GstTfxClamp met = { clamp->property, " Hz" };

    if (clamp->build == chain->n_builds ||
        (n > 0 && (!g_str_has_prefix (clamp->property, build->stage) ||
                      clamp->property[n] != ':')))
      continue;
    if (clamp->is_clamped)
      gst_tfx_element_report_clamp (GST_TFX_ELEMENT (chain), &met, build->rate);
    clamp->is_clamped = FALSE;
    /* The new chain may not have it. */
    if (n == 0)
      g_ptr_array_remove_index_fast (chain->clamps, i);
  }
}

/* ---- the expression, its stages designed --------------------------------- */

typedef struct
{
  TfxExpr *expr; /* a copy */
  gdouble rate;
  guint n_channels;
  guint64 positions;
  TfxFilterSpec spec;
} Job;

static void
run_job (gpointer data)
{
  Job *job = data;

  tfx_expr_prepare (job->expr, job->rate, job->n_channels, job->positions,
      &job->spec);
}

static void
free_job (Job *job)
{
  if (job)
    tfx_expr_free (&job->expr);
  g_free (job);
}

/* Gives designed stages to the chain's expression, which may have changed
 * since. */
static void
gst_tfx_chain_build_hand_in (GstTfxChain *self, const TfxExpr *designed)
{
  TfxExpr *expr;

  GST_OBJECT_LOCK (self);
  expr = gst_tfx_chain_expr_edit (&self->expr);
  if (expr)
    tfx_expr_take_prepared (expr, designed);
  GST_OBJECT_UNLOCK (self);
}

/* The expression to build; NULL while the task designs it. */
static GstTfxChainExpr *
gst_tfx_chain_build_prepare (GstTfxChain *self, const GstTfxBuild *build)
{
  Job *job = gst_tfx_worker_take (&self->worker, !build->is_running);
  const gboolean was_designed = job != NULL;
  GstTfxChainExpr *expr;
  gsize n_sections, n_taps, effort;
  gboolean is_long;
  TfxExpr *copy = NULL;

  if (job)
    gst_tfx_chain_build_hand_in (self, job->expr);
  free_job (job);

  expr = gst_tfx_chain_get_expr (self);
  tfx_expr_effort (expr->expr, build->rate, build->n_channels, build->positions,
      &n_sections, &n_taps);
  effort = n_taps + SECTION_EFFORT * n_sections;
  /* Stages still not designed after a task have an error or are new. */
  is_long = build->is_running && effort > LONG_EFFORT && !was_designed;
  if (is_long && gst_tfx_worker_get_job (&self->worker)) {
    gst_tfx_chain_expr_unref (expr);
    return NULL;
  }
  if (effort > LITTLE_EFFORT)
    copy = tfx_expr_copy (expr->expr);
  if (!copy)
    return expr;
  gst_tfx_chain_expr_unref (expr);
  if (is_long) {
    job = g_new (Job, 1);
    *job = (Job){ copy, build->rate, build->n_channels, build->positions,
      *build->spec };
    if (gst_tfx_worker_start (&self->worker, run_job, job,
            GST_TFX_ELEMENT (self))) {
      GST_DEBUG_OBJECT (self, "designing in a background task");
      return NULL;
    }
    g_free (job);
  }
  tfx_expr_prepare (copy, build->rate, build->n_channels, build->positions,
      NULL);
  gst_tfx_chain_build_hand_in (self, copy);
  return gst_tfx_chain_expr_new (copy);
}

/* ---- the filter ---------------------------------------------------------- */

/* Sets the error, but only once while a controller passes through values that
 * do not fit together. */
static void
gst_tfx_chain_build_refuse (GstTfxChain *self, const GstTfxBuild *build,
    const gchar *message, GError **error)
{
  gboolean is_known = self->is_refused && build->is_running && !build->by_hand;

  self->is_refused = TRUE;
  if (!is_known)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        message);
}

/* Keeps the latency of a running stream while the look-ahead of its stages
 * changes, so that both chains can be cross-faded.  A limiter with less
 * look-ahead keeps the old latency.  For one with more, the running chain is
 * first delayed by the difference, as a step.  Other changes of look-ahead are
 * refused.  FALSE without an error: not now. */
static gboolean
gst_tfx_chain_build_keep_latency (GstTfxChain *self, TfxChain **made,
    GstTfxBuild *build, GError **error)
{
  const gsize latency = tfx_chain_latency (*made);
  TfxChain *running, *kept = NULL, *step = NULL;
  gint ret = -EINVAL;

  if (!build->is_running || (build->delay == 0 && latency == 0)) {
    build->delay = latency;
    return TRUE;
  }
  running = gst_tfx_element_get_running (GST_TFX_ELEMENT (self));
  if (running && tfx_chain_latency (running) == build->delay)
    ret = tfx_chain_keep_latency (*made, running, &kept, &step);
  tfx_chain_unref (&running);
  if (ret < 0) {
    gchar *message =
        g_strdup_printf ("its look-ahead is %" G_GSIZE_FORMAT
                         " frames, but that of the running chain is "
                         "%" G_GSIZE_FORMAT
                         "%s; it takes effect after the next stop or flush",
            latency, build->delay,
            latency == build->delay ? " in other stages" : "");

    gst_tfx_chain_build_refuse (self, build, message, error);
    build->waits_for_reset = TRUE;
    g_free (message);
    return FALSE;
  }
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
  GST_DEBUG_OBJECT (self,
      "%s: latency %" G_GSIZE_FORMAT ", was %" G_GSIZE_FORMAT
      ", needs %" G_GSIZE_FORMAT " frames",
      step ? "step" : "change", tfx_chain_latency (kept), build->delay,
      latency);
  tfx_chain_unref (made);
  *made = kept;
  build->delay = tfx_chain_latency (kept);
  return !build->ask_again;
}

/* A change of the output channels needs new caps first; if the element has not
 * set them yet, the build is repeated after that. */
static gboolean
gst_tfx_chain_build_check_channels (GstTfxChain *self, const TfxExpr *expr,
    GstTfxBuild *build, GError **error)
{
  unsigned n_out, n_most;
  gchar *message;

  tfx_expr_channels (expr, build->n_channels, &n_out, &n_most);
  if (n_out == build->n_out && n_most == build->spec->n_channels)
    return TRUE;
  if (!build->is_switch_refused) {
    GST_DEBUG_OBJECT (self, "waits for caps with %u channels, at most %u",
        n_out, n_most);
    build->ask_again = TRUE;
    return FALSE;
  }
  message = g_strdup_printf ("its Mix makes %u channels from %u, but the next "
                             "elements accept no other number than the "
                             "current %u",
      n_out, build->n_channels, build->n_out);
  gst_tfx_chain_build_refuse (self, build, message, error);
  g_free (message);
  return FALSE;
}

TfxChain *
gst_tfx_chain_build (GstTfxElement *element, GstTfxBuild *build, GError **error)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);
  GstTfxChainExpr *expr = gst_tfx_chain_build_prepare (self, build);
  Build whole = { self, NULL, NULL, build->rate };
  TfxChain *made = NULL;
  TfxExprError fault;

  if (!expr)
    return NULL;
  whole.expr = expr->expr;
  self->n_builds++;
  if (tfx_expr_build_at (expr->expr, build->rate, build->n_channels,
          build->positions, gst_tfx_chain_build_report, &whole, &made,
          &fault) < 0) {
    made = NULL;
    gst_tfx_chain_build_refuse (self, build, fault.message, error);
  } else if (!gst_tfx_chain_build_check_channels (self, expr->expr, build,
                 error) ||
             !gst_tfx_chain_build_keep_latency (self, &made, build, error)) {
    tfx_chain_unref (&made);
    /* The chain that waits is built later. */
    if (build->ask_again)
      tfx_move_free (&self->move);
  } else {
    self->is_refused = FALSE;
    GST_DEBUG_OBJECT (self,
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
  gst_tfx_chain_build_end (&whole);
  gst_tfx_chain_expr_unref (expr);
  return made;
}

/* Errors are reported when the chain is built. */
gboolean
gst_tfx_chain_build_move (GstTfxElement *element, GstTfxBuild *build)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);
  GstTfxChainExpr *expr;
  gboolean is_moved = TRUE;
  guint n_moved = 0;
  gint ret;

  if (!self->move || gst_tfx_worker_get_job (&self->worker) ||
      self->is_refused || build->was_refused || !build->is_running)
    return FALSE;
  expr = gst_tfx_chain_get_expr (self);
  tfx_move_follow (self->move, build->point > 0);
  while (is_moved && (ret = tfx_move_next (self->move, expr->expr)) == 0) {
    const Build one = { self, expr->expr, tfx_move_stage_name (self->move),
      build->rate };
    TfxStage *stage;

    self->n_builds++;
    is_moved =
        tfx_move_design (self->move, build->rate, build->n_channels,
            gst_tfx_chain_build_report, (gpointer)&one, &stage, NULL) == 0;
    if (is_moved)
      gst_tfx_chain_build_end (&one);
    is_moved = is_moved && gst_tfx_element_set_stage (element, build, stage);
    n_moved++;
  }
  gst_tfx_chain_expr_unref (expr);
  return is_moved && ret == -ENOENT && n_moved > 0;
}

void
gst_tfx_chain_build_reserve (GstTfxElement *element, const GstTfxBuild *build)
{
  GstTfxChain *self = GST_TFX_CHAIN (element);
  GstTfxChainExpr *expr = gst_tfx_chain_get_expr (self);
  GPtrArray *stages = gst_tfx_chain_get_stages (element);
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
gst_tfx_chain_build_stop (GstTfxChain *self)
{
  free_job (gst_tfx_worker_take (&self->worker, TRUE));
  memset (&self->worker, 0, sizeof self->worker);
  g_clear_pointer (&self->clamps, g_ptr_array_unref);
  tfx_move_free (&self->move);
  self->is_refused = FALSE;
}
