/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmaker.c: makes kernels, in a thread of its own where it takes long.
 */
#include "gsttfxmaker.h"

#include <string.h>

struct _GstTfxJob
{
  GstTfxFilter *filter; /* outlives the job */
  GstTfxRecipe recipe;
  guint rate, n_channels;
  GstTfxSound *sound;

  GThread *thread;
  gint is_done; /* atomic; then: */
  GstTfxProduct product;
  GError *error;
};

/* The sound of the last file, if that is the one that is asked for. */
static GstTfxSound *
gst_tfx_maker_known_sound (GstTfxMaker *self, const GstTfxRecipe *recipe)
{
  return self->product.sound && gst_tfx_recipe_equal (&self->recipe, recipe)
             ? self->product.sound
             : NULL;
}

/* ---- in the thread ---------------------------------------------------------- */

static gpointer
gst_tfx_job_run (gpointer data)
{
  GstTfxJob *job = data;

  gst_tfx_recipe_make (&job->recipe, job->rate, job->n_channels, job->sound,
      &job->product, &job->error);
  g_atomic_int_set (&job->is_done, TRUE);
  gst_tfx_filter_mark_ready (job->filter);
  return NULL;
}

/* NULL if there is no thread to be had. */
static GstTfxJob *
gst_tfx_job_start (GstTfxFilter *filter, const GstTfxRecipe *recipe, guint rate,
    guint n_channels, GstTfxSound *sound)
{
  GstTfxJob *job = g_new0 (GstTfxJob, 1);

  job->filter = filter;
  gst_tfx_recipe_copy (&job->recipe, recipe);
  job->rate = rate;
  job->n_channels = n_channels;
  job->sound = sound ? gst_tfx_sound_ref (sound) : NULL;
  job->thread = g_thread_try_new ("tfxfir-kernel", gst_tfx_job_run, job, NULL);
  if (job->thread)
    return job;
  gst_tfx_recipe_clear (&job->recipe);
  g_clear_pointer (&job->sound, gst_tfx_sound_unref);
  g_free (job);
  return NULL;
}

/* Waits for the end of a job; what it has made is the caller's. */
static void
gst_tfx_job_finish (GstTfxJob *job, GstTfxProduct *product, GError **error)
{
  g_thread_join (job->thread);
  *product = job->product;
  if (job->error)
    g_propagate_error (error, job->error);
  gst_tfx_recipe_clear (&job->recipe);
  g_clear_pointer (&job->sound, gst_tfx_sound_unref);
  g_free (job);
}

/* ---- in the streaming thread -------------------------------------------------- */

static void
gst_tfx_maker_set_bad (GstTfxMaker *self, const GstTfxRecipe *recipe,
    guint rate, guint n_channels)
{
  gst_tfx_recipe_clear (&self->bad);
  self->has_bad = recipe != NULL;
  if (recipe)
    gst_tfx_recipe_copy (&self->bad, recipe);
  self->bad_rate = rate;
  self->bad_channels = n_channels;
}

static gboolean
gst_tfx_maker_has (const GstTfxMaker *self, const GstTfxRecipe *recipe,
    guint rate, guint n_channels)
{
  return self->product.kernel && self->rate == rate &&
         self->n_channels == n_channels &&
         gst_tfx_recipe_equal (&self->recipe, recipe);
}

/* A new product takes the place of the old one. */
static void
gst_tfx_maker_take (GstTfxMaker *self, GstTfxFilter *filter,
    const GstTfxRecipe *recipe, guint rate, guint n_channels,
    const GstTfxProduct *product)
{
  GstTfxRecipe copy;

  gst_tfx_recipe_copy (&copy, recipe);
  gst_tfx_recipe_clear (&self->recipe);
  gst_tfx_product_clear (&self->product);
  self->recipe = copy;
  self->product = *product;
  self->rate = rate;
  self->n_channels = n_channels;
  gst_tfx_maker_set_bad (self, NULL, 0, 0);
  gst_tfx_product_report (product, recipe, filter, rate);
}

/* TRUE if a job was at work on this very kernel and is done; FALSE if it must
 * be waited for, or there is nothing any more. */
static gboolean
gst_tfx_maker_collect (GstTfxMaker *self, const GstTfxRecipe *recipe,
    guint rate, guint n_channels, gboolean may_wait, GstTfxProduct *product,
    GError **error)
{
  GstTfxJob *job = self->job;
  gboolean is_right;

  if (!job || (!may_wait && !g_atomic_int_get (&job->is_done)))
    return FALSE;
  is_right = gst_tfx_recipe_equal (&job->recipe, recipe) && job->rate == rate &&
             job->n_channels == n_channels;
  self->job = NULL;
  if (is_right) {
    gst_tfx_job_finish (job, product, error);
  } else {
    GError *ignored = NULL;

    gst_tfx_job_finish (job, product, &ignored);
    gst_tfx_product_clear (product);
    g_clear_error (&ignored);
  }
  return is_right;
}

/* FALSE without an error: not yet. */
static gboolean
gst_tfx_maker_make (GstTfxMaker *self, GstTfxFilter *filter,
    const GstTfxRecipe *recipe, guint rate, guint n_channels, gboolean may_wait,
    GError **error)
{
  GstTfxSound *sound = gst_tfx_maker_known_sound (self, recipe);
  GstTfxProduct product;
  GError *fault = NULL;

  if (!gst_tfx_maker_collect (self, recipe, rate, n_channels, may_wait,
          &product, &fault)) {
    if (self->job)
      return FALSE;
    if (!may_wait && gst_tfx_recipe_takes_long (recipe))
      self->job = gst_tfx_job_start (filter, recipe, rate, n_channels, sound);
    if (self->job)
      return FALSE;
    gst_tfx_recipe_make (recipe, rate, n_channels, sound, &product, &fault);
  }
  if (fault) {
    gst_tfx_maker_set_bad (self, recipe, rate, n_channels);
    g_propagate_error (error, fault);
    return FALSE;
  }
  gst_tfx_maker_take (self, filter, recipe, rate, n_channels, &product);
  return TRUE;
}

GstTfxKernel *
gst_tfx_maker_get (GstTfxMaker *self, GstTfxFilter *filter,
    const GstTfxRecipe *asked, guint rate, guint n_channels, gboolean may_wait,
    GError **error)
{
  gboolean is_bad = self->has_bad && self->product.kernel &&
                    self->bad_rate == rate &&
                    self->bad_channels == n_channels &&
                    gst_tfx_recipe_equal (&self->bad, asked);
  GstTfxRecipe recipe;
  gboolean ok = TRUE;

  gst_tfx_recipe_copy (&recipe, is_bad ? &self->recipe : asked);
  if (!gst_tfx_maker_has (self, &recipe, rate, n_channels))
    ok = gst_tfx_maker_make (self, filter, &recipe, rate, n_channels, may_wait,
        error);
  gst_tfx_recipe_clear (&recipe);
  return ok ? self->product.kernel : NULL;
}

void
gst_tfx_maker_clear (GstTfxMaker *self)
{
  if (self->job) {
    GstTfxProduct product;
    GError *ignored = NULL;

    gst_tfx_job_finish (self->job, &product, &ignored);
    gst_tfx_product_clear (&product);
    g_clear_error (&ignored);
  }
  gst_tfx_maker_set_bad (self, NULL, 0, 0);
  gst_tfx_recipe_clear (&self->recipe);
  gst_tfx_product_clear (&self->product);
  memset (self, 0, sizeof *self);
}
