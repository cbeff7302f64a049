/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.h: the meta of a buffer whose samples are still to be filtered.
 */
#ifndef GST_TFX_PENDING_H
#define GST_TFX_PENDING_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/**
 * GstTfxPendingMeta:
 * @chain: the stages that elements upstream have left to the one that runs the
 *   whole, in their order
 * @who: a number for these elements and their order
 *
 * Elements that know nothing of it do not carry it on: it is tagged as
 * belonging to the memory.  It only ever travels between directly linked tfx
 * elements.
 */
typedef struct
{
  GstMeta meta;
  TfxChain *chain;
  guint64 who;
} GstTfxPendingMeta;

GType gst_tfx_pending_meta_api_get_type (void);
const GstMetaInfo *gst_tfx_pending_meta_get_info (void);

/* The chain that is pending on a buffer, and who left it; NULL and 0 if none
 * is.  The chain stays the buffer's. */
TfxChain *gst_tfx_pending_get (GstBuffer *buffer, guint64 *who);

/* Leaves @chain on a writable buffer, in place of what was pending there. */
void gst_tfx_pending_set (GstBuffer *buffer, TfxChain *chain, guint64 who);

/* Nothing is pending any more on a writable buffer. */
void gst_tfx_pending_remove (GstBuffer *buffer);

G_END_DECLS

#endif /* GST_TFX_PENDING_H */
