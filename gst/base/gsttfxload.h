/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxload.h: how long buffers took against how long they last.
 */
#ifndef GST_TFX_LOAD_H
#define GST_TFX_LOAD_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Eight to an octave, from 2^-24 to 2^8 times what a buffer lasts. */
#define GST_TFX_LOAD_BUCKETS 256

/* One thread writes; others read meanwhile, number by number. */
typedef struct
{
  guint64 n_timed, n_late;
  guint64 worst; /* in 2^-32 of what a buffer lasts */
  guint64 n[GST_TFX_LOAD_BUCKETS];
} GstTfxLoad;

void gst_tfx_load_clear (GstTfxLoad *self);

/* A buffer took so many ns of the `duration` ns that it lasts, above 0. */
void gst_tfx_load_note (GstTfxLoad *self, guint64 elapsed, guint64 duration);

/* Adds late, timed, load-worst and load-p99 to the property stats. */
void gst_tfx_load_add_to (GstTfxLoad *self, GstStructure *stats);

G_END_DECLS

#endif
