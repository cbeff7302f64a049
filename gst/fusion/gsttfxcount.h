/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcount.h: numbers that one thread counts while others read them.
 *
 * Each by itself: no number depends on another.  A compiler would take two at a
 * time, and what was written just now in two parts is not there for a while for who
 * reads it as one.
 */
#ifndef GST_TFX_COUNT_H
#define GST_TFX_COUNT_H

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

static inline guint64
gst_tfx_count_get (const guint64 *count)
{
  return __atomic_load_n (count, __ATOMIC_RELAXED);
}

static inline void
gst_tfx_count_set (guint64 *count, guint64 value)
{
  __atomic_store_n (count, value, __ATOMIC_RELAXED);
}

static inline void
gst_tfx_count_add (guint64 *count, gint64 n)
{
  gst_tfx_count_set (count, gst_tfx_count_get (count) + (guint64)n);
}

/* *sum = *a + *b in their counts; all three may be one. */
static inline void
gst_tfx_count_add_stats (TfxStats *sum, const TfxStats *a, const TfxStats *b)
{
  gst_tfx_count_set (&sum->dispatches,
      gst_tfx_count_get (&a->dispatches) + gst_tfx_count_get (&b->dispatches));
  gst_tfx_count_set (&sum->launches,
      gst_tfx_count_get (&a->launches) + gst_tfx_count_get (&b->launches));
  gst_tfx_count_set (&sum->uploads,
      gst_tfx_count_get (&a->uploads) + gst_tfx_count_get (&b->uploads));
  gst_tfx_count_set (&sum->downloads,
      gst_tfx_count_get (&a->downloads) + gst_tfx_count_get (&b->downloads));
  gst_tfx_count_set (&sum->recoveries,
      gst_tfx_count_get (&a->recoveries) + gst_tfx_count_get (&b->recoveries));
}

/* *rest = *a - *b in the same way; numbers below 0 wrap, and come back when they are
 * added. */
static inline void
gst_tfx_count_subtract_stats (TfxStats *rest, const TfxStats *a,
    const TfxStats *b)
{
  gst_tfx_count_set (&rest->dispatches,
      gst_tfx_count_get (&a->dispatches) - gst_tfx_count_get (&b->dispatches));
  gst_tfx_count_set (&rest->launches,
      gst_tfx_count_get (&a->launches) - gst_tfx_count_get (&b->launches));
  gst_tfx_count_set (&rest->uploads,
      gst_tfx_count_get (&a->uploads) - gst_tfx_count_get (&b->uploads));
  gst_tfx_count_set (&rest->downloads,
      gst_tfx_count_get (&a->downloads) - gst_tfx_count_get (&b->downloads));
  gst_tfx_count_set (&rest->recoveries,
      gst_tfx_count_get (&a->recoveries) - gst_tfx_count_get (&b->recoveries));
}

G_END_DECLS

#endif /* GST_TFX_COUNT_H */
