/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxopener.c: opens a CUDA device while a stream plays.
 *
 * The driver loads a kernel at its first launch, so the background task also
 * runs copies of the row's filters on silence.  It does not touch the filters
 * of the stream.
 */
#include "gsttfxopener.h"

typedef struct
{
  GstElement *element;
  gint device_id;
  GstCudaContext **context;
  TfxFilterSpec spec;
  TfxChain *chains[GST_TFX_ROW_MAX];
  gsize n;
  /* The result. */
  TfxCuda *cuda;
  gchar *why;
} GstTfxOpenerJob;

static void
gst_tfx_opener_free_job (GstTfxOpenerJob *job)
{
  for (gsize i = 0; i < job->n; i++)
    tfx_chain_unref (&job->chains[i]);
  tfx_cuda_unref (&job->cuda);
  g_free (job->why);
  g_free (job);
}

/* ---- warm-up ------------------------------------------------------------- */

/* The length of a warm-up run: at most this many frames and samples. */
#define WARM_UP_FRAMES 1024
#define WARM_UP_SAMPLES 65536

void
gst_tfx_warm_up_run (const GstTfxRow *row, const TfxFilterSpec *spec)
{
  GstTfxRowCounts counts = row->last->counts;
  gsize n_frames =
      CLAMP (WARM_UP_SAMPLES / spec->n_channels, 1, WARM_UP_FRAMES);
  gdouble *samples = g_new0 (gdouble, n_frames * spec->n_channels);
  TfxBlock block =
      tfx_block_interleaved (samples, spec->sample, spec->n_channels, n_frames);

  gst_tfx_row_run (row, &block, &block, TRUE);
  for (gsize i = 0; i < row->n; i++)
    tfx_filter_reset (row->filters[i]);
  counts.error = row->last->counts.error;
  row->last->counts = counts;
  g_free (samples);
}

gint
gst_tfx_warm_up_compile (const GstTfxRow *row, TfxCuda *cuda)
{
  gint err = gst_tfx_row_compile (row);

  while (err == 0 && row->last->is_mixing && cuda &&
         !gst_tfx_row_is_changing (row)) {
    gst_tfx_row_unlock (row);
    tfx_cuda_finish_compiling (cuda);
    gst_tfx_row_lock (row);
    err = gst_tfx_row_compile (row);
  }
  return err;
}

/* ---- the background task ------------------------------------------------- */

static void
gst_tfx_opener_warm_up (const GstTfxOpenerJob *job, TfxFilter *const *filters)
{
  GstTfxSharedFilter *last =
      gst_tfx_shared_filter_new (tfx_filter_ref (filters[job->n - 1]));
  const GstTfxRow row = { filters, job->n, last };

  gst_tfx_shared_filter_set_backend (last, tfx_cuda_backend (job->cuda),
      (GstObject *)*job->context);
  gst_tfx_row_lock (&row);
  if (gst_tfx_warm_up_compile (&row, job->cuda) == 0 &&
      gst_tfx_row_is_on_device (&row))
    gst_tfx_warm_up_run (&row, &job->spec);
  gst_tfx_row_unlock (&row);
  gst_tfx_shared_filter_unref (last);
}

/* Ignores failures: they occur again, and are reported, when the stream needs
 * the device. */
static void
gst_tfx_opener_prepare (const GstTfxOpenerJob *job)
{
  TfxFilter *filters[GST_TFX_ROW_MAX];
  gsize n = 0;

  while (n < job->n &&
         tfx_filter_new (job->chains[n], &job->spec, &filters[n]) == 0)
    n++;
  if (n > 0 && n == job->n)
    gst_tfx_opener_warm_up (job, filters);
  while (n > 0)
    tfx_filter_unref (&filters[--n]);
}

static void
gst_tfx_opener_run (gpointer data)
{
  static GMutex one_at_a_time;
  GstTfxOpenerJob *job = data;

  /* Elements take turns, so that the next one finds this context. */
  g_mutex_lock (&one_at_a_time);
  if (gst_tfx_cuda_ensure_context (job->element, job->device_id, job->context,
          &job->why))
    job->cuda = gst_tfx_cuda_for_context (*job->context, &job->why);
  g_mutex_unlock (&one_at_a_time);
  if (job->cuda)
    gst_tfx_opener_prepare (job);
}

/* ---- the streaming thread ------------------------------------------------ */

gboolean
gst_tfx_opener_start (GstTfxOpener *self, GstTfxElement *element,
    gint device_id, GstCudaContext **context, TfxFilter *const *filters,
    gsize n, const TfxFilterSpec *spec)
{
  GstTfxOpenerJob *job = g_new0 (GstTfxOpenerJob, 1);

  job->element = GST_ELEMENT (element);
  job->device_id = device_id;
  job->context = context;
  job->spec = *spec;
  for (; job->n < n; job->n++) {
    TfxFilter *filter = filters[job->n];
    gint err;

    tfx_filter_lock (filter);
    err = tfx_filter_get_chain (filter, &job->chains[job->n]);
    tfx_filter_unlock (filter);
    if (err < 0)
      break;
  }
  g_atomic_int_set (&self->is_busy, TRUE);
  if (gst_tfx_worker_start (&self->worker, gst_tfx_opener_run, job, element))
    return TRUE;
  g_atomic_int_set (&self->is_busy, FALSE);
  gst_tfx_opener_free_job (job);
  return FALSE;
}

gboolean
gst_tfx_opener_is_busy (const GstTfxOpener *self)
{
  return g_atomic_int_get (&self->is_busy);
}

gboolean
gst_tfx_opener_take (GstTfxOpener *self, gboolean may_wait, TfxCuda **cuda,
    gchar **why)
{
  GstTfxOpenerJob *job = gst_tfx_worker_take (&self->worker, may_wait);

  if (!job)
    return FALSE;
  *cuda = g_steal_pointer (&job->cuda);
  *why = g_steal_pointer (&job->why);
  gst_tfx_opener_free_job (job);
  g_atomic_int_set (&self->is_busy, FALSE);
  return TRUE;
}

void
gst_tfx_opener_stop (GstTfxOpener *self)
{
  TfxCuda *cuda;
  gchar *why;

  if (gst_tfx_opener_take (self, TRUE, &cuda, &why)) {
    tfx_cuda_unref (&cuda);
    g_free (why);
  }
  gst_tfx_worker_clear (&self->worker);
}
