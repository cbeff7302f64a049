/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfirstage.c: the stage of a FIR filter: an impulse response with its delay.
 *
 * The filter is causal: a kernel whose middle is d taps after its first tap delays the
 * output by d frames, which the base class removes from the stream.  Two kernels can
 * be cross-faded only if they have the same delay.  Therefore:
 *
 *   a kernel with less delay than the stream gets leading zeros;
 *   before a kernel with more delay, a step first adds the difference to the old kernel
 *   as leading zeros and drops the same number of output frames, so that the output
 *   continues without a gap.
 *
 * Trailing zeros do not change the output.  They make the filter keep more of its input,
 * with which the next kernel starts. */
#include "gsttfxfirstage.h"

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_fir_debug);
#define GST_CAT_DEFAULT gst_tfx_fir_debug

/* Stages with fewer taps are made in less than the duration of a block. */
#define MIN_LONG_TAPS 16384

/* Longest delay in seconds between setting a kernel and its effect. */
#define SHORT_WHILE 0.1

/* ---- settings --------------------------------------------------------------- */

static void
gst_tfx_fir_setting_set (GstTfxFirSetting *self, const GstTfxFirSetting *from)
{
  GstTfxImpulse *old = self->impulse;

  *self = *from;
  if (self->impulse)
    gst_tfx_impulse_ref (self->impulse);
  gst_tfx_impulse_unref (old);
}

static gboolean
gst_tfx_fir_setting_equal (const GstTfxFirSetting *a, const GstTfxFirSetting *b)
{
  return a->impulse == b->impulse && a->n_leading == b->n_leading &&
         a->n_taps == b->n_taps && a->delay == b->delay &&
         a->method == b->method;
}

static TfxStage *
gst_tfx_fir_setting_make_stage (const GstTfxFirSetting *self, guint64 id,
    GError **error)
{
  return gst_tfx_impulse_make_stage (self->impulse, id, self->n_leading,
      self->n_taps, self->method, error);
}

/* The step before another setting: the current kernel with leading zeros for the growth
 * of the delay, and with trailing zeros until the filter keeps the input that the
 * new kernel needs.  FALSE if no step is needed.
 *
 * The step waits for the whole input of a linear-phase kernel, since its middle may
 * be beyond the input kept so far, and of one that needs at most short_while frames more.
 * Any other longer kernel starts without its past, as at the start of a stream. */
static gboolean
gst_tfx_fir_setting_find_step (const GstTfxFirSetting *self,
    const GstTfxFirSetting *target, gsize short_while, GstTfxFirSetting *step,
    gsize *min_frames)
{
  const gsize n_grown = target->delay - self->delay;
  gsize n_missing = 0;

  if (target->n_taps > self->n_taps)
    n_missing = target->n_taps - self->n_taps;
  if (!target->impulse->is_linear_phase && n_missing > short_while)
    n_missing = 0;
  *min_frames = MAX (n_grown, n_missing);
  *step = *self;
  step->n_leading += n_grown;
  step->n_taps += *min_frames;
  step->delay += n_grown;
  return *min_frames > 0;
}

/* ---- long stages, in a thread -------------------------------------------------- */

typedef struct
{
  GstTfxFirSetting setting;
  guint64 id;
  TfxFilterSpec spec;

  TfxStage *stage; /* or else: */
  GError *error;
} GstTfxFirJob;

static void
gst_tfx_fir_job_run (gpointer data)
{
  GstTfxFirJob *job = data;

  job->stage =
      gst_tfx_fir_setting_make_stage (&job->setting, job->id, &job->error);
  /* If memory is short, the filter tries again itself and reports the error. */
  if (job->stage)
    tfx_stage_prepare (job->stage, &job->spec);
}

static GstTfxFirJob *
gst_tfx_fir_job_new (const GstTfxFirSetting *setting, guint64 id,
    const TfxFilterSpec *spec)
{
  GstTfxFirJob *job = g_new0 (GstTfxFirJob, 1);

  gst_tfx_fir_setting_set (&job->setting, setting);
  job->id = id;
  job->spec = *spec;
  return job;
}

static void
gst_tfx_fir_job_free (GstTfxFirJob *job)
{
  if (!job)
    return;
  gst_tfx_impulse_unref (job->setting.impulse);
  tfx_stage_unref (&job->stage);
  g_clear_error (&job->error);
  g_free (job);
}

/* ---- stages -------------------------------------------------------------------- */

/* The stage; NULL without an error while the thread makes it. */
static TfxStage *
gst_tfx_fir_stager_make (GstTfxFirStager *self, GstTfxElement *element,
    const GstTfxFirSetting *setting, const GstTfxBuild *build, GError **error)
{
  GstTfxFirJob *job;
  TfxStage *stage;

  if (!build->is_running || setting->n_taps < MIN_LONG_TAPS)
    return gst_tfx_fir_setting_make_stage (setting, self->id, error);

  job = gst_tfx_worker_take (&self->worker, FALSE);
  if (job && gst_tfx_fir_setting_equal (&job->setting, setting)) {
    stage = g_steal_pointer (&job->stage);
    if (job->error)
      g_propagate_error (error, g_steal_pointer (&job->error));
    gst_tfx_fir_job_free (job);
    return stage;
  }
  gst_tfx_fir_job_free (job);
  if (gst_tfx_worker_get_job (&self->worker))
    return NULL;
  job = gst_tfx_fir_job_new (setting, self->id, build->spec);
  if (gst_tfx_worker_start (&self->worker, gst_tfx_fir_job_run, job, element)) {
    GST_DEBUG_OBJECT (element, "preparing the stage in a background task");
    return NULL;
  }
  gst_tfx_fir_job_free (job);
  return gst_tfx_fir_setting_make_stage (setting, self->id, error);
}

void
gst_tfx_fir_stager_settle (GstTfxFirStager *self, const GstTfxBuild *build)
{
  if (!build->was_refused)
    gst_tfx_fir_setting_set (&self->running, &self->offered);
}

TfxStage *
gst_tfx_fir_stager_get (GstTfxFirStager *self, GstTfxElement *element,
    GstTfxImpulse *impulse, gsize delay, TfxFirMethod method,
    GstTfxBuild *build, GError **error)
{
  GstTfxFirSetting target = { .impulse = impulse,
    .delay = MAX (delay, build->delay),
    .method = method };
  GstTfxFirSetting step;
  TfxStage *stage;

  target.n_leading = target.delay - delay;
  target.n_taps = impulse->n_taps + target.n_leading;
  build->excess_delay = target.n_leading;
  if (build->is_running && self->running.impulse &&
      gst_tfx_fir_setting_find_step (&self->running, &target,
          SHORT_WHILE * build->rate, &step, &build->min_frames)) {
    /* A step would end a running cross-fade. */
    if (!build->is_settled) {
      GST_LOG_OBJECT (element, "waits for the end of a cross-fade");
      build->min_frames = 0;
      build->ask_again = TRUE;
      return NULL;
    }
    build->at_once = TRUE;
    build->excess_delay = 0;
    target = step;
  }
  GST_DEBUG_OBJECT (element,
      "%s of %" G_GSIZE_FORMAT " taps, %" G_GSIZE_FORMAT
      " leading zeros, delay %" G_GSIZE_FORMAT,
      build->at_once ? "step" : "kernel", target.n_taps, target.n_leading,
      target.delay);
  stage = gst_tfx_fir_stager_make (self, element, &target, build, error);
  if (!stage) {
    build->at_once = FALSE;
    build->min_frames = build->excess_delay = 0;
    return NULL;
  }
  /* Their number of taps may be another one. */
  g_clear_pointer (&self->moving, g_ptr_array_unref);
  build->delay = target.delay;
  gst_tfx_fir_setting_set (&self->offered, &target);
  return stage;
}

/* ---- taps that move ------------------------------------------------------------- */

gboolean
gst_tfx_fir_stager_can_move (const GstTfxFirStager *self, TfxFirMethod method)
{
  return self->running.impulse && self->running.method == method &&
         self->running.n_taps < MIN_LONG_TAPS &&
         gst_tfx_fir_setting_equal (&self->running, &self->offered) &&
         !gst_tfx_worker_get_job (&self->worker);
}

gsize
gst_tfx_fir_stager_grid_frames (const GstTfxFirStager *self)
{
  return tfx_fir_grid_frames (self->running.n_taps);
}

static void
gst_tfx_fir_stage_free (gpointer data)
{
  TfxStage *stage = data;

  tfx_stage_unref (&stage);
}

static void
gst_tfx_fir_stager_make_room (GstTfxFirStager *self, gsize n_taps)
{
  if (!self->moving)
    self->moving = g_ptr_array_new_with_free_func (gst_tfx_fir_stage_free);
  if (self->n_room < n_taps) {
    g_free (self->room);
    self->n_room = n_taps;
    self->room = g_new (gdouble, self->n_room);
  }
}

void
gst_tfx_fir_stager_reserve (GstTfxFirStager *self, GstTfxElement *element)
{
  guint n = gst_tfx_element_reserve_stage (element, self->id,
      gst_tfx_fir_stager_grid_frames (self),
      GST_OBJECT (element)->control_bindings != NULL);
  TfxStage *stage;

  gst_tfx_fir_stager_make_room (self, self->running.n_taps);
  while (self->moving->len < n) {
    stage = gst_tfx_fir_setting_make_stage (&self->running, self->id, NULL);
    if (!stage)
      return;
    g_ptr_array_add (self->moving, stage);
  }
}

/* A stage that the filter has released, or a new one; NULL if memory is short. */
static TfxStage *
gst_tfx_fir_stager_fill (GstTfxFirStager *self, const GstTfxFirSetting *setting)
{
  TfxStage *stage;

  gst_tfx_fir_stager_make_room (self, setting->n_taps);
  for (guint i = 0; i < self->moving->len; i++) {
    stage = self->moving->pdata[i];
    if (gst_tfx_impulse_reuse_stage (setting->impulse, stage,
            setting->n_leading, setting->n_taps, setting->method, self->room))
      return stage;
  }
  stage = gst_tfx_fir_setting_make_stage (setting, self->id, NULL);
  if (stage)
    g_ptr_array_add (self->moving, stage);
  return stage;
}

gboolean
gst_tfx_fir_stager_move (GstTfxFirStager *self, GstTfxElement *element,
    const GstTfxBuild *build, GstTfxImpulse *impulse, gsize delay)
{
  GstTfxFirSetting setting = self->running;
  TfxStage *stage;

  if (impulse->n_taps != setting.impulse->n_taps ||
      delay != setting.delay - setting.n_leading)
    return FALSE;
  setting.impulse = impulse;
  stage = gst_tfx_fir_stager_fill (self, &setting);
  if (!stage || !gst_tfx_element_set_stage (element, build, stage))
    return FALSE;
  gst_tfx_fir_setting_set (&self->running, &setting);
  gst_tfx_fir_setting_set (&self->offered, &setting);
  return TRUE;
}

void
gst_tfx_fir_stager_clear (GstTfxFirStager *self)
{
  static const GstTfxFirSetting none;

  gst_tfx_fir_job_free (gst_tfx_worker_take (&self->worker, TRUE));
  gst_tfx_worker_clear (&self->worker);
  gst_tfx_fir_setting_set (&self->running, &none);
  gst_tfx_fir_setting_set (&self->offered, &none);
  g_clear_pointer (&self->moving, g_ptr_array_unref);
  g_clear_pointer (&self->room, g_free);
  self->n_room = 0;
}
