/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxopener.c: opens a CUDA device in a background task while the stream
 * plays, and prepares a row of filters for it.
 *
 * Starting the driver, making a context and loading the kernels takes some
 * tenths of a second, during which the CPU filters.  The driver loads a kernel
 * at its first launch, so the task also runs copies of the row's filters on
 * silence.  It does not touch the filters of the stream.
 */
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* The length of a warm-up run: at most this many frames and samples. */
#define WARM_UP_FRAMES 1024
#define WARM_UP_SAMPLES 65536

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

gint
gst_tfx_opener_warm_up (const GstTfxRow *row, const TfxFilterSpec *spec,
    TfxCuda *cuda)
{
  GstTfxSharedFilter *last = row->last;
  gint err = gst_tfx_row_compile (row);
  GstTfxRowCounts counts;
  gdouble *samples;
  gsize n_frames;
  TfxBlock block;

  while (
      err == 0 && last->is_mixing && cuda && !gst_tfx_row_is_changing (row)) {
    gst_tfx_row_unlock (row);
    tfx_cuda_finish_compiling (cuda);
    gst_tfx_row_lock (row);
    err = gst_tfx_row_compile (row);
  }
  if (err < 0 || !gst_tfx_row_is_on_device (row))
    return err;
  counts = last->counts;
  n_frames = CLAMP (WARM_UP_SAMPLES / spec->n_channels, 1, WARM_UP_FRAMES);
  samples = g_new0 (gdouble, n_frames * spec->n_channels);
  block =
      tfx_block_interleaved (samples, spec->sample, spec->n_channels, n_frames);
  gst_tfx_row_run (row, &block, &block, TRUE);
  for (gsize i = 0; i < row->n; i++)
    tfx_filter_reset (row->filters[i]);
  counts.error = last->counts.error;
  last->counts = counts;
  g_free (samples);
  return 0;
}

/* Ignores failures of a warm-up: they occur again, and are reported, when the
 * stream needs the device. */
static void
gst_tfx_opener_run (gpointer data)
{
  static GMutex one_at_a_time;
  GstTfxOpenerJob *job = data;
  TfxFilter *filters[GST_TFX_ROW_MAX];
  gsize n = 0;

  /* Elements take turns, so that the next one finds this context. */
  g_mutex_lock (&one_at_a_time);
  if (gst_tfx_cuda_ensure_context (job->element, job->device_id, job->context,
          &job->why))
    job->cuda = gst_tfx_cuda_for_context (*job->context, &job->why);
  g_mutex_unlock (&one_at_a_time);
  if (!job->cuda)
    return;
  while (n < job->n &&
         tfx_filter_new (job->chains[n], &job->spec, &filters[n]) == 0)
    n++;
  if (n > 0 && n == job->n) {
    GstTfxSharedFilter *last =
        gst_tfx_shared_filter_new (tfx_filter_ref (filters[n - 1]));
    const GstTfxRow row = { filters, n, last };

    gst_tfx_shared_filter_set_backend (last, tfx_cuda_backend (job->cuda),
        (GstObject *)*job->context);
    gst_tfx_row_lock (&row);
    gst_tfx_opener_warm_up (&row, &job->spec, job->cuda);
    gst_tfx_row_unlock (&row);
    gst_tfx_shared_filter_unref (last);
  }
  while (n > 0)
    tfx_filter_unref (&filters[--n]);
}

gboolean
gst_tfx_opener_start (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  GstTfxOpenerJob *job = g_new0 (GstTfxOpenerJob, 1);
  GstTfxMembers row = { .n = 0 };
  gint err = 0;

  if (!gst_tfx_fusion_defers (self))
    gst_tfx_fusion_list_row (self, &row);
  GST_DEBUG_OBJECT (self,
      "opening a CUDA device for %" G_GSIZE_FORMAT " filters while playing",
      row.n);
  job->element = GST_ELEMENT (self);
  job->device_id = g_atomic_int_get (&priv->cuda_device_id);
  job->context = &device->context;
  job->spec = priv->spec;
  while (err == 0 && job->n < row.n) {
    TfxFilter *filter = row.filters[job->n];

    tfx_filter_lock (filter);
    err = tfx_filter_get_chain (filter, &job->chains[job->n]);
    tfx_filter_unlock (filter);
    job->n += err == 0;
  }
  g_atomic_int_set (&device->is_opening, TRUE);
  if (gst_tfx_worker_start (&device->opener, gst_tfx_opener_run, job, self))
    return TRUE;
  g_atomic_int_set (&device->is_opening, FALSE);
  gst_tfx_opener_free_job (job);
  return FALSE;
}

gboolean
gst_tfx_opener_take (GstTfxElement *self, gboolean may_wait, gchar **why)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  GstTfxOpenerJob *job = gst_tfx_worker_take (&device->opener, may_wait);

  if (!job)
    return FALSE;
  g_atomic_pointer_set (&device->cuda, g_steal_pointer (&job->cuda));
  *why = g_steal_pointer (&job->why);
  gst_tfx_opener_free_job (job);
  g_atomic_int_set (&device->is_opening, FALSE);
  return TRUE;
}
