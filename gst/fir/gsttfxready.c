/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxready.c: makes stages of long kernels ready to run, in a thread of its
 * own: the copy of the taps, their spectra, and the memory that a filter of so
 * many taps needs.  What the last change has left over is freed there too.
 */
#include "gsttfxready.h"

/* Shorter kernels are made in less time than a block takes. */
#define MIN_TAPS 16384

struct _GstTfxReadyJob
{
  GstTfxFilter *filter; /* outlives the job */
  GstTfxPlacement placement;
  guint64 id;
  TfxPlanSpec spec;
  TfxChain *before; /* stages that run in one plan with it, or NULL */
  TfxWaste *waste;

  GThread *thread;
  gint is_done; /* atomic; then: */
  TfxStage *stage;
  GError *error;
};

TfxStage *
gst_tfx_placement_make_stage (const GstTfxPlacement *self, guint64 id,
    GError **error)
{
  return gst_tfx_kernel_make_stage (self->kernel, id, self->n_front,
      self->n_taps, self->delay, self->method, error);
}

static gboolean
gst_tfx_placement_equal (const GstTfxPlacement *a, const GstTfxPlacement *b)
{
  return a->kernel == b->kernel && a->n_front == b->n_front &&
         a->n_taps == b->n_taps && a->delay == b->delay &&
         a->method == b->method;
}

/* ---- in the thread ---------------------------------------------------------- */

/* Without memory for it the engine makes it itself, or says so. */
static void
gst_tfx_ready_job_prepare (GstTfxReadyJob *job)
{
  TfxChain *empty =
      job->before ? tfx_chain_ref (job->before) : tfx_chain_new ();
  TfxChain *chain = empty ? tfx_chain_append (empty, job->stage) : NULL;
  TfxPlan *plan = NULL;

  if (chain && tfx_plan_compile_for (chain, &job->spec, &plan) == 0)
    tfx_plan_prepare (plan);
  tfx_plan_unref (&plan);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&empty);
}

static gpointer
gst_tfx_ready_job_run (gpointer data)
{
  GstTfxReadyJob *job = data;

  tfx_waste_free (&job->waste);
  job->stage =
      gst_tfx_placement_make_stage (&job->placement, job->id, &job->error);
  if (job->stage)
    gst_tfx_ready_job_prepare (job);
  g_atomic_int_set (&job->is_done, TRUE);
  gst_tfx_filter_mark_ready (job->filter);
  return NULL;
}

/* ---- in the streaming thread ------------------------------------------------ */

/* What the job has made is the caller's. */
static TfxStage *
gst_tfx_ready_job_free (GstTfxReadyJob *job, GError **error)
{
  TfxStage *stage;

  if (job->thread)
    g_thread_join (job->thread);
  stage = job->stage;
  if (job->error)
    g_propagate_error (error, job->error);
  gst_tfx_kernel_unref (job->placement.kernel);
  tfx_chain_unref (&job->before);
  tfx_waste_free (&job->waste);
  g_free (job);
  return stage;
}

/* FALSE if there is no thread to be had. */
static gboolean
gst_tfx_ready_start (GstTfxReady *self, GstTfxFilter *filter,
    const GstTfxPlacement *placement, guint64 id, const GstTfxBuild *build)
{
  GstTfxReadyJob *job = g_new0 (GstTfxReadyJob, 1);

  job->filter = filter;
  job->placement = *placement;
  gst_tfx_kernel_ref (placement->kernel);
  job->id = id;
  job->spec = *build->spec;
  job->before = build->before ? tfx_chain_ref (build->before) : NULL;
  job->waste = tfx_exec_take_waste (build->exec);
  job->thread =
      g_thread_try_new ("tfxfir-ready", gst_tfx_ready_job_run, job, NULL);
  if (!job->thread) {
    gst_tfx_ready_job_free (job, NULL);
    return FALSE;
  }
  self->job = job;
  return TRUE;
}

TfxStage *
gst_tfx_ready_get (GstTfxReady *self, GstTfxFilter *filter,
    const GstTfxPlacement *placement, guint64 id, const GstTfxBuild *build,
    GError **error)
{
  GstTfxReadyJob *job = self->job;

  if (!build->exec || placement->n_taps < MIN_TAPS)
    return gst_tfx_placement_make_stage (placement, id, error);
  if (job && !g_atomic_int_get (&job->is_done))
    return NULL;
  self->job = NULL;
  if (job && job->id == id &&
      gst_tfx_placement_equal (&job->placement, placement))
    return gst_tfx_ready_job_free (job, error);
  if (job) {
    TfxStage *stage = gst_tfx_ready_job_free (job, NULL);
    tfx_stage_unref (&stage);
  }
  if (gst_tfx_ready_start (self, filter, placement, id, build))
    return NULL;
  return gst_tfx_placement_make_stage (placement, id, error);
}

void
gst_tfx_ready_clear (GstTfxReady *self)
{
  TfxStage *stage;

  if (!self->job)
    return;
  stage = gst_tfx_ready_job_free (self->job, NULL);
  tfx_stage_unref (&stage);
  self->job = NULL;
}
