/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcounts.h: the counters behind the property stats.
 */
#ifndef GST_TFX_COUNTS_H
#define GST_TFX_COUNTS_H

#include <gst/gst.h>

#include "gsttfxcount.h"
#include "gsttfxrow.h"

G_BEGIN_DECLS

/* A histogram of processing time over buffer duration: eight buckets per
 * octave, from 2^-24 to 2^8. */
#define GST_TFX_LOAD_BUCKETS 256

typedef struct
{
  guint64 n_timed, n_late;
  guint64 worst; /* the largest ratio, in units of 2^-32 */
  guint64 n[GST_TFX_LOAD_BUCKETS];
} GstTfxLoad;

void gst_tfx_load_clear (GstTfxLoad *self);

/* A buffer of @duration ns (more than 0) took @elapsed ns. */
void gst_tfx_load_note (GstTfxLoad *self, guint64 elapsed, guint64 duration);

/* Adds timed, late, load-worst and load-p99 to the stats. */
void gst_tfx_load_add_to (GstTfxLoad *self, GstStructure *stats);

/* One thread counts, others read.  Counters are independent, so no lock is
 * needed. */
typedef struct
{
  guint64 n_buffers, n_frames, n_deferred, process_time;
  guint64 n_stages, n_sections;
  guint64 n_uploads,
      n_downloads; /* by the element, in addition to those of its rows */
  TfxStats rows;   /* of all filters since the last reset */
  TfxStats before; /* rows without the current filter */
  guint64 n_recoveries, n_lost;       /* by the current filter */
  guint64 told_recoveries, told_lost; /* already reported by warnings */
  gint error;                         /* of the device, or 0 */
  GstTfxLoad load;
  const gchar
      *seen_kernel; /* the name of the last run; of the counting thread */
} GstTfxCounts;

void gst_tfx_counts_clear (GstTfxCounts *self);
/* Resets the counters of a running element, which keeps its filter. */
void gst_tfx_counts_reset (GstTfxCounts *self);

/* Counts a buffer. */
static inline void
gst_tfx_counts_note_buffer (GstTfxCounts *self, gsize n_frames)
{
  gst_tfx_count_add (&self->n_buffers, 1);
  gst_tfx_count_add (&self->n_frames, n_frames);
}

/* Counts a buffer that is deferred to the downstream peer. */
static inline void
gst_tfx_counts_note_deferred (GstTfxCounts *self)
{
  gst_tfx_count_add (&self->n_deferred, 1);
  gst_tfx_count_set (&self->n_stages, 0);
  gst_tfx_count_set (&self->n_sections, 0);
}

/* Counts what the rows that end in the filter have done.  The filter is
 * locked. */
void gst_tfx_counts_note_rows (GstTfxCounts *self, const GstTfxRowCounts *rows);

/* The element has a new filter. */
void gst_tfx_counts_note_new_filter (GstTfxCounts *self);

/* The property stats, for a stream of this rate.  Any thread. */
GstStructure *gst_tfx_counts_to_structure (GstTfxCounts *self, gdouble rate);

G_END_DECLS

#endif /* GST_TFX_COUNTS_H */
