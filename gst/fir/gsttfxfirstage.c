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
#include "gsttfxfir.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tfx_fir_debug

/* Stages with fewer taps are made in less than the duration of a block. */
#define MIN_LONG_TAPS 16384

/* Longest delay in seconds between setting a kernel and its effect. */
#define SHORT_WHILE 0.1

/* ---- settings ------------------------------------------------------------ */

static void
gst_tfx_fir_stage_copy_setting (GstTfxFirSetting *self,
    const GstTfxFirSetting *from)
{
  GstTfxImpulse *old = self->impulse;

  *self = *from;
  if (self->impulse)
    gst_tfx_impulse_ref (self->impulse);
  gst_tfx_impulse_unref (old);
}

static gboolean
gst_tfx_fir_stage_is_same (const GstTfxFirSetting *a, const GstTfxFirSetting *b)
{
  return a->impulse == b->impulse && a->n_leading == b->n_leading &&
         a->n_taps == b->n_taps && a->delay == b->delay &&
         a->method == b->method;
}

/* The step before another setting: the current kernel with leading zeros for the growth
 * of the delay, and with trailing zeros until the filter keeps the input that the
 * new kernel needs.  FALSE if no step is needed.
 *
 * The step waits for the whole input of a linear-phase kernel, since its middle may
 * be beyond the input kept so far, and of one that needs at most short_while frames more.
 * Any other longer kernel starts without its past, as at the start of a stream. */
static gboolean
gst_tfx_fir_stage_find_step (const GstTfxFirSetting *self,
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

/* The delay of the kernel in frames: the requested one, limited by the number of
 * taps, and counted from the start of the kernel's file; -1 gives the kernel's
 * own.  Without align the output is late by the delay, on purpose. */
static gsize
gst_tfx_fir_stage_find_delay (GstTfxFir *self, const GstTfxFirAsked *asked,
    const GstTfxImpulse *impulse, gdouble rate)
{
  const gint highest = impulse->n_taps - 1 - impulse->beginning;
  GstTfxClamp clamp = { .property = "delay",
    .unit = " frames",
    .asked = asked->delay,
    .used = MIN (asked->delay, highest),
    .lowest = -1,
    .highest = highest,
    .because = "must be less than the number of taps" };

  if (!asked->align)
    return 0;
  gst_tfx_element_report_clamp (GST_TFX_ELEMENT (self), &clamp, rate);
  if (asked->delay < 0)
    return impulse->delay;
  return impulse->beginning + MIN (asked->delay, highest);
}

/* Reads the properties; the caller clears @asked.  The last stage returned is in
 * use unless it was refused. */
static void
gst_tfx_fir_stage_begin (GstTfxFir *self, const GstTfxBuild *build,
    GstTfxFirAsked *asked)
{
  if (!build->was_refused)
    gst_tfx_fir_stage_copy_setting (&self->running, &self->offered);
  gst_tfx_kernel_read_asked (self, asked);
}

/* ---- new stages ---------------------------------------------------------- */

/* A stage of the kernels with their zeros.  NULL with an error for the user if
 * that is too long, or memory is short.  Any thread. */
static TfxStage *
gst_tfx_fir_stage_new (const GstTfxFirSetting *setting, guint64 id,
    GError **error)
{
  const GstTfxImpulse *impulse = setting->impulse;
  const guint n_kernels = impulse->n_kernels;
  const gsize n_taps = setting->n_taps;
  const gboolean is_padded = n_taps > impulse->n_taps;
  gdouble *padded = NULL;
  const gdouble **kernels;
  TfxStage *stage = NULL;

  if (n_taps > TFX_FIR_MAX_TAPS) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "with the current latency it needs %" G_GSIZE_FORMAT
        " taps; at most %u are allowed",
        n_taps, TFX_FIR_MAX_TAPS);
    return NULL;
  }
  kernels = g_new (const gdouble *, n_kernels);
  if (is_padded)
    padded = g_try_malloc0_n (n_taps, n_kernels * sizeof *padded);
  for (guint k = 0; k < n_kernels; k++) {
    kernels[k] = impulse->taps + k * impulse->n_taps;
    if (padded) {
      memcpy (padded + k * n_taps + setting->n_leading, kernels[k],
          impulse->n_taps * sizeof *padded);
      kernels[k] = padded + k * n_taps;
    }
  }
  if (padded || !is_padded)
    stage = tfx_stage_new_fir (id, kernels, n_kernels, n_taps, setting->method);
  if (!stage)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory for its %" G_GSIZE_FORMAT " taps", n_taps);
  g_free (kernels);
  g_free (padded);
  return stage;
}

/* Makes a long stage in a background task: copies the taps, computes their
 * spectra and allocates the memory of the filter. */
typedef struct
{
  GstTfxFirSetting setting;
  guint64 id;
  TfxFilterSpec spec;

  TfxStage *stage; /* or else: */
  GError *error;
} GstTfxFirJob;

static void
gst_tfx_fir_stage_run_job (gpointer data)
{
  GstTfxFirJob *job = data;

  job->stage = gst_tfx_fir_stage_new (&job->setting, job->id, &job->error);
  /* If memory is short, the filter tries again itself and reports the error. */
  if (job->stage)
    tfx_stage_prepare (job->stage, &job->spec);
}

static void
gst_tfx_fir_stage_free_job (GstTfxFirJob *job)
{
  gst_tfx_impulse_unref (job->setting.impulse);
  tfx_stage_unref (&job->stage);
  g_clear_error (&job->error);
  g_free (job);
}

/* The stage; NULL without an error while a background task makes it. */
static TfxStage *
gst_tfx_fir_stage_make (GstTfxFir *self, const GstTfxFirSetting *setting,
    const GstTfxBuild *build, GError **error)
{
  const gboolean is_long =
      build->is_running && setting->n_taps >= MIN_LONG_TAPS;
  GstTfxWorker *worker = &self->stage_worker;
  GstTfxFirJob *job = is_long ? gst_tfx_worker_take (worker, FALSE) : NULL;
  TfxStage *stage;

  if (job && !gst_tfx_fir_stage_is_same (&job->setting, setting))
    g_clear_pointer (&job, gst_tfx_fir_stage_free_job);
  if (!job) {
    if (is_long && gst_tfx_worker_get_job (worker))
      return NULL;
    job = g_new0 (GstTfxFirJob, 1);
    gst_tfx_fir_stage_copy_setting (&job->setting, setting);
    job->id = self->id;
    job->spec = *build->spec;
    if (is_long && gst_tfx_worker_start (worker, gst_tfx_fir_stage_run_job, job,
                       GST_TFX_ELEMENT (self))) {
      GST_DEBUG_OBJECT (self, "preparing the stage in a background task");
      return NULL;
    }
    job->stage = gst_tfx_fir_stage_new (setting, self->id, &job->error);
  }
  stage = g_steal_pointer (&job->stage);
  if (job->error)
    g_propagate_error (error, g_steal_pointer (&job->error));
  gst_tfx_fir_stage_free_job (job);
  return stage;
}

/* The chain is the stage for the properties, which delays the output by the
 * delay of the kernel, or of the stream if that is longer; or the stage of a
 * step before it. */
TfxChain *
gst_tfx_fir_stage_build_chain (GstTfxElement *element, GstTfxBuild *build,
    GError **error)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirSetting target = { NULL }, step;
  GstTfxFirAsked asked;
  GstTfxImpulse *impulse;
  TfxStage *stage;
  TfxChain *chain;
  gsize delay;

  gst_tfx_fir_stage_begin (self, build, &asked);
  impulse = gst_tfx_kernel_get (self, &asked, build, error);
  gst_tfx_kernel_clear_asked (&asked);
  if (!impulse)
    return NULL;
  delay = gst_tfx_fir_stage_find_delay (self, &asked, impulse, build->rate);
  target.impulse = impulse;
  target.method = asked.method;
  target.delay = MAX (delay, build->delay);
  target.n_leading = target.delay - delay;
  target.n_taps = impulse->n_taps + target.n_leading;
  build->excess_delay = target.n_leading;
  if (build->is_running && self->running.impulse &&
      gst_tfx_fir_stage_find_step (&self->running, &target,
          SHORT_WHILE * build->rate, &step, &build->min_frames)) {
    /* A step would end a running cross-fade. */
    if (!build->is_settled) {
      GST_LOG_OBJECT (self, "waits for the end of a cross-fade");
      build->min_frames = 0;
      build->ask_again = TRUE;
      return NULL;
    }
    build->at_once = TRUE;
    build->excess_delay = 0;
    target = step;
  }
  GST_DEBUG_OBJECT (self,
      "%s of %" G_GSIZE_FORMAT " taps, %" G_GSIZE_FORMAT
      " leading zeros, delay %" G_GSIZE_FORMAT,
      build->at_once ? "step" : "kernel", target.n_taps, target.n_leading,
      target.delay);
  stage = gst_tfx_fir_stage_make (self, &target, build, error);
  if (!stage) {
    build->at_once = FALSE;
    build->min_frames = build->excess_delay = 0;
    return NULL;
  }
  /* For another number of taps. */
  g_ptr_array_set_size (self->moving, 0);
  if (target.n_taps < MIN_LONG_TAPS)
    self->room = g_renew (gdouble, self->room, target.n_taps);
  build->delay = target.delay;
  gst_tfx_fir_stage_copy_setting (&self->offered, &target);
  chain = tfx_chain_append (NULL, stage);
  if (!chain)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory");
  tfx_stage_unref (&stage);
  return chain;
}

/* ---- taps that move ------------------------------------------------------ */

static gboolean
gst_tfx_fir_stage_can_move (const GstTfxFir *self, TfxFirMethod method)
{
  return self->running.impulse && self->running.method == method &&
         self->running.n_taps < MIN_LONG_TAPS &&
         gst_tfx_fir_stage_is_same (&self->running, &self->offered) &&
         !gst_tfx_worker_get_job (&self->stage_worker);
}

/* Adds a stage to those that move; NULL if memory is short. */
static TfxStage *
gst_tfx_fir_stage_add (GstTfxFir *self, const GstTfxFirSetting *setting)
{
  TfxStage *stage = gst_tfx_fir_stage_new (setting, self->id, NULL);

  if (stage)
    g_ptr_array_add (self->moving, stage);
  return stage;
}

/* Moves the stage to other taps of the same number.  Allocates nothing after the
 * first move, and takes less than a tenth of the duration of a buffer: a kernel
 * that takes longer waits for the next point of the curve at which it can move,
 * or for the next buffer. */
gboolean
gst_tfx_fir_stage_move (GstTfxElement *element, GstTfxBuild *build)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirSetting setting;
  GstTfxImpulse *impulse = NULL;
  GstTfxFirAsked asked;
  const gdouble *taps;
  TfxStage *stage = NULL;
  gsize delay;

  if (!build->is_running || build->was_refused)
    return FALSE;
  gst_tfx_fir_stage_begin (self, build, &asked);
  if (build->point > 0 && gst_tfx_kernel_takes_long (&asked, build)) {
    build->ask_again = build->is_for_next_buffer = TRUE;
  } else if (gst_tfx_fir_stage_can_move (self, asked.method)) {
    if (build->point > 0 && (build->point - TFX_GRID_FRAMES) %
                                    tfx_fir_grid_frames (self->running.n_taps) >
                                0)
      build->ask_again = TRUE;
    else
      impulse = gst_tfx_kernel_move (self, &asked, build);
  }
  gst_tfx_kernel_clear_asked (&asked);
  if (!impulse)
    return build->ask_again;

  setting = self->running;
  delay = gst_tfx_fir_stage_find_delay (self, &asked, impulse, build->rate);
  if (impulse->n_taps != setting.impulse->n_taps ||
      delay != setting.delay - setting.n_leading)
    return FALSE;
  setting.impulse = impulse;
  taps = impulse->taps;
  if (setting.n_taps > impulse->n_taps) {
    memset (self->room, 0, setting.n_taps * sizeof *self->room);
    memcpy (self->room + setting.n_leading, taps,
        impulse->n_taps * sizeof *self->room);
    taps = self->room;
  }
  /* A stage that the filter has released, or a new one. */
  for (guint i = 0; i < self->moving->len && !stage; i++) {
    if (tfx_stage_reuse_fir (self->moving->pdata[i], &taps, 1, setting.n_taps,
            setting.method))
      stage = self->moving->pdata[i];
  }
  if (!stage)
    stage = gst_tfx_fir_stage_add (self, &setting);
  if (!stage || !gst_tfx_element_set_stage (element, build, stage))
    return FALSE;
  gst_tfx_fir_stage_copy_setting (&self->running, &setting);
  gst_tfx_fir_stage_copy_setting (&self->offered, &setting);
  return TRUE;
}

/* Moves the current kernel to itself twice, which allocates both; then makes the
 * stages. */
void
gst_tfx_fir_stage_reserve (GstTfxElement *element, const GstTfxBuild *build)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirAsked asked;
  guint n = 0;

  gst_tfx_fir_stage_begin (self, build, &asked);
  if (gst_tfx_fir_stage_can_move (self, asked.method) &&
      gst_tfx_kernel_move (self, &asked, build) &&
      gst_tfx_kernel_move (self, &asked, build)) {
    n = gst_tfx_element_reserve_stage (element, self->id,
        tfx_fir_grid_frames (self->running.n_taps),
        GST_OBJECT (element)->control_bindings != NULL);
  }
  gst_tfx_kernel_clear_asked (&asked);
  while (self->moving->len < n && gst_tfx_fir_stage_add (self, &self->running))
    ;
}

void
gst_tfx_fir_stage_clear (GstTfxFir *self)
{
  static const GstTfxFirSetting none;
  GstTfxFirJob *job = gst_tfx_worker_take (&self->stage_worker, TRUE);

  g_clear_pointer (&job, gst_tfx_fir_stage_free_job);
  gst_tfx_worker_clear (&self->stage_worker);
  gst_tfx_fir_stage_copy_setting (&self->running, &none);
  gst_tfx_fir_stage_copy_setting (&self->offered, &none);
  g_ptr_array_set_size (self->moving, 0);
  g_clear_pointer (&self->room, g_free);
}
