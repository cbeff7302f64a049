/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcount.h: counters that one thread writes while others read them.
 *
 * Counters are independent of each other.  Atomics keep the compiler from
 * merging two of them into one store, which would stall readers of one.
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

/* *sum = *a + sign * *b for all counts; all three may be the same.  Differences
 * below 0 wrap, and are right again once they are added. */
static inline void
gst_tfx_count_sum_stats (TfxStats *sum, const TfxStats *a, const TfxStats *b,
    gint sign)
{
#define SUM(count)                                                             \
  gst_tfx_count_set (&sum->count,                                              \
      gst_tfx_count_get (&a->count) +                                          \
          (guint64)sign * gst_tfx_count_get (&b->count))
  SUM (dispatches);
  SUM (launches);
  SUM (uploads);
  SUM (downloads);
  SUM (recoveries);
#undef SUM
}

G_END_DECLS

#endif /* GST_TFX_COUNT_H */
