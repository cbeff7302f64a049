/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcounts.c: the counters behind the property stats.
 */
#include "gsttfxcounts.h"

#include <math.h>

/* ---- processing load ----------------------------------------------------- */

#define PER_OCTAVE 8
#define LOWEST_OCTAVE -24

void
gst_tfx_load_clear (GstTfxLoad *self)
{
  gst_tfx_count_set (&self->n_timed, 0);
  gst_tfx_count_set (&self->n_late, 0);
  gst_tfx_count_set (&self->worst, 0);
  for (guint i = 0; i < GST_TFX_LOAD_BUCKETS; i++)
    gst_tfx_count_set (&self->n[i], 0);
}

void
gst_tfx_load_note (GstTfxLoad *self, guint64 elapsed, guint64 duration)
{
  const gdouble part = MAX ((gdouble)elapsed, 1.0) / (gdouble)duration;
  const gdouble at = PER_OCTAVE * (log2 (part) - LOWEST_OCTAVE);
  const guint i = (guint)CLAMP (at, 0.0, GST_TFX_LOAD_BUCKETS - 1.0);
  const guint64 size = (guint64)(MIN (part, 1e9) * 4294967296.0);

  gst_tfx_count_add (&self->n[i], 1);
  gst_tfx_count_add (&self->n_timed, 1);
  if (elapsed > duration)
    gst_tfx_count_add (&self->n_late, 1);
  if (size > self->worst)
    gst_tfx_count_set (&self->worst, size);
}

/* The 99th percentile: the upper end of its bucket. */
static gdouble
gst_tfx_load_find_p99 (GstTfxLoad *self, gdouble worst)
{
  guint64 n[GST_TFX_LOAD_BUCKETS], total = 0, sum = 0;
  guint i = 0;

  for (guint k = 0; k < GST_TFX_LOAD_BUCKETS; k++)
    total += n[k] = gst_tfx_count_get (&self->n[k]);
  if (total == 0)
    return 0.0;
  for (; i + 1 < GST_TFX_LOAD_BUCKETS; i++) {
    sum += n[i];
    if (sum * 100 >= total * 99)
      break;
  }
  return MIN (exp2 ((i + 1.0) / PER_OCTAVE + LOWEST_OCTAVE), worst);
}

void
gst_tfx_load_add_to (GstTfxLoad *self, GstStructure *stats)
{
  const gdouble worst =
      (gdouble)gst_tfx_count_get (&self->worst) / 4294967296.0;

  gst_structure_set (stats, "timed", G_TYPE_UINT64,
      gst_tfx_count_get (&self->n_timed), "late", G_TYPE_UINT64,
      gst_tfx_count_get (&self->n_late), "load-worst", G_TYPE_DOUBLE, worst,
      "load-p99", G_TYPE_DOUBLE, gst_tfx_load_find_p99 (self, worst), NULL);
}

/* ---- counts -------------------------------------------------------------- */

void
gst_tfx_counts_reset (GstTfxCounts *self)
{
  TfxStats *rows = &self->rows, *before = &self->before;
  guint64 *const counts[] = { &self->n_buffers, &self->n_frames,
    &self->n_deferred, &self->process_time, &self->n_stages, &self->n_sections,
    &self->n_uploads, &self->n_downloads, &rows->dispatches, &rows->launches,
    &rows->uploads, &rows->downloads, &rows->recoveries };

  gst_tfx_count_sum_stats (before, before, rows, -1);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    gst_tfx_count_set (counts[i], 0);
  gst_tfx_load_clear (&self->load);
}

void
gst_tfx_counts_clear (GstTfxCounts *self)
{
  TfxStats *rows = &self->rows;

  gst_tfx_counts_reset (self);
  __atomic_store_n (&rows->device, NULL, __ATOMIC_RELAXED);
  __atomic_store_n (&rows->kernel, NULL, __ATOMIC_RELAXED);
  self->seen_kernel = NULL;
  gst_tfx_counts_note_new_filter (self);
}

void
gst_tfx_counts_note_new_filter (GstTfxCounts *self)
{
  self->before = self->rows;
  self->n_recoveries = self->told_recoveries = 0;
  self->n_lost = self->told_lost = 0;
  self->error = 0;
}

void
gst_tfx_counts_note_rows (GstTfxCounts *self, const GstTfxRowCounts *rows)
{
  const TfxStats *now = &rows->stats;
  TfxStats *sum = &self->rows;

  gst_tfx_count_sum_stats (sum, &self->before, now, 1);
  __atomic_store_n (&sum->device, now->device, __ATOMIC_RELAXED);
  /* Other threads may read the name after the device has unloaded the
   * kernel. */
  if (now->kernel != self->seen_kernel)
    __atomic_store_n (&sum->kernel, g_intern_string (now->kernel),
        __ATOMIC_RELEASE);
  self->seen_kernel = now->kernel;
  self->n_recoveries = now->recoveries;
  self->n_lost = rows->n_lost;
  self->error = rows->error;
  gst_tfx_count_set (&self->n_stages, rows->n_stages);
  gst_tfx_count_set (&self->n_sections, rows->n_sections);
}

GstStructure *
gst_tfx_counts_to_structure (GstTfxCounts *self, gdouble rate)
{
  const guint64 n_frames = gst_tfx_count_get (&self->n_frames);
  const guint64 ns = gst_tfx_count_get (&self->process_time);
  GstStructure *stats;
  TfxStats *rows = &self->rows;
  const gchar *device = __atomic_load_n (&rows->device, __ATOMIC_RELAXED);
  const gchar *kernel = __atomic_load_n (&rows->kernel, __ATOMIC_ACQUIRE);

  stats = gst_structure_new ("application/x-tfx-stats", "buffers",
      G_TYPE_UINT64, gst_tfx_count_get (&self->n_buffers),              /**/
      "frames", G_TYPE_UINT64, n_frames,                                /**/
      "deferred", G_TYPE_UINT64, gst_tfx_count_get (&self->n_deferred), /**/
      "dispatches", G_TYPE_UINT64, gst_tfx_count_get (&rows->dispatches),
      "launches", G_TYPE_UINT64, gst_tfx_count_get (&rows->launches), /**/
      "uploads", G_TYPE_UINT64,
      gst_tfx_count_get (&rows->uploads) + gst_tfx_count_get (&self->n_uploads),
      "downloads", G_TYPE_UINT64,
      gst_tfx_count_get (&rows->downloads) +
          gst_tfx_count_get (&self->n_downloads),
      "stages", G_TYPE_UINT, (guint)gst_tfx_count_get (&self->n_stages), /**/
      "sections", G_TYPE_UINT, (guint)gst_tfx_count_get (&self->n_sections),
      "device", G_TYPE_STRING, device ? device : "none", /**/
      "kernel", G_TYPE_STRING, kernel ? kernel : "none", /**/
      "process-time", G_TYPE_UINT64, ns,                 /**/
      "recoveries", G_TYPE_UINT64, gst_tfx_count_get (&rows->recoveries),
      "real-time-factor", G_TYPE_DOUBLE,
      ns > 0 ? 1e9 * (gdouble)n_frames / rate / (gdouble)ns : 0.0, NULL);
  gst_tfx_load_add_to (&self->load, stats);
  return stats;
}
