/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcounts.c: what an element counts, for its property stats.
 */
#include "gsttfxcounts.h"

void
gst_tfx_counts_clear (GstTfxCounts *self)
{
  TfxStats *engine = &self->engine;
  guint64 *const counts[] = { &self->n_buffers, &self->n_frames,
    &self->n_deferred, &self->process_time, &self->n_stages, &self->n_sections,
    &engine->dispatches, &engine->launches, &engine->uploads,
    &engine->downloads, &engine->recoveries };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    gst_tfx_counts_set (counts[i], 0);
  g_atomic_pointer_set (&engine->device, NULL);
  g_atomic_pointer_set (&engine->kernel, NULL);
}

void
gst_tfx_counts_note_engine (GstTfxCounts *self, const GstTfxEngine *engine)
{
  TfxStats stats;

  if (engine->exec) {
    tfx_exec_get_stats (engine->exec, &stats);
    gst_tfx_counts_set (&self->engine.dispatches, stats.dispatches);
    gst_tfx_counts_set (&self->engine.launches, stats.launches);
    gst_tfx_counts_set (&self->engine.uploads, stats.uploads);
    gst_tfx_counts_set (&self->engine.downloads, stats.downloads);
    gst_tfx_counts_set (&self->engine.recoveries, stats.recoveries);
    __atomic_store_n (&self->engine.device, stats.device, __ATOMIC_RELAXED);
    __atomic_store_n (&self->engine.kernel, stats.kernel, __ATOMIC_RELAXED);
  }
  gst_tfx_counts_set (&self->n_stages, tfx_plan_n_stages (engine->plan));
  gst_tfx_counts_set (&self->n_sections, tfx_plan_n_sections (engine->plan));
}

static guint64
gst_tfx_counts_get (const guint64 *count)
{
  return __atomic_load_n (count, __ATOMIC_RELAXED);
}

GstStructure *
gst_tfx_counts_to_structure (GstTfxCounts *self)
{
  TfxStats *engine = &self->engine;
  const gchar *device = __atomic_load_n (&engine->device, __ATOMIC_RELAXED);
  const gchar *kernel = __atomic_load_n (&engine->kernel, __ATOMIC_RELAXED);

  return gst_structure_new ("application/x-tfx-stats", "buffers", G_TYPE_UINT64,
      gst_tfx_counts_get (&self->n_buffers),                             /**/
      "frames", G_TYPE_UINT64, gst_tfx_counts_get (&self->n_frames),     /**/
      "deferred", G_TYPE_UINT64, gst_tfx_counts_get (&self->n_deferred), /**/
      "dispatches", G_TYPE_UINT64, gst_tfx_counts_get (&engine->dispatches),
      "launches", G_TYPE_UINT64, gst_tfx_counts_get (&engine->launches),   /**/
      "uploads", G_TYPE_UINT64, gst_tfx_counts_get (&engine->uploads),     /**/
      "downloads", G_TYPE_UINT64, gst_tfx_counts_get (&engine->downloads), /**/
      "stages", G_TYPE_UINT, (guint)gst_tfx_counts_get (&self->n_stages),  /**/
      "sections", G_TYPE_UINT, (guint)gst_tfx_counts_get (&self->n_sections),
      "device", G_TYPE_STRING, device ? device : "none", /**/
      "kernel", G_TYPE_STRING, kernel ? kernel : "none", /**/
      "process-time", G_TYPE_UINT64, gst_tfx_counts_get (&self->process_time),
      NULL);
}
