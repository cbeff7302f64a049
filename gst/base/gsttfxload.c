/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxload.c: how long buffers took against how long they last.
 */
#include "gsttfxload.h"

#include <math.h>

#include "gsttfxcount.h"

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

/* What 99 of 100 buffers do not exceed: the upper end of its bucket. */
static gdouble
find_p99 (GstTfxLoad *self, gdouble worst)
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
      "load-p99", G_TYPE_DOUBLE, find_p99 (self, worst), NULL);
}
