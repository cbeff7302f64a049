/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpendingprivate.h: what the files of the pending memory share.
 */
#ifndef GST_TFX_PENDING_PRIVATE_H
#define GST_TFX_PENDING_PRIVATE_H

#include "gsttfxcudaallocator.h"
#include "gsttfxpending.h"

G_BEGIN_DECLS

struct _GstTfxPending
{
  GstMemory memory;
  gint n_holds;             /* atomic: the memory, and who runs it meanwhile */
  GstTfxSharedFilter *home; /* a reference; where it is kept as a spare */
  GMutex lock;
  /* Under the lock. */
  gint is_done;                 /* atomic to read */
  GstMemory *wrapped;           /* NULL: the list lies with a CUDA memory, */
  GstTfxCudaSides *cuda;        /* this one, */
  gsize cuda_offset, cuda_size; /* of which it has this part */
  GstTfxLayout layout;
  gsize n;
  GstTfxPendingLink links[GST_TFX_ROW_MAX];
  TfxFilter *filters[GST_TFX_ROW_MAX];
};

/* With @filter as the first that is to run; a spare one if there is any. */
GstTfxPending *
gst_tfx_pending_new (GstTfxSharedFilter *filter, const GstTfxLayout *layout);

/* @filter runs behind the others.  With the lock held, or with nobody else who
 * knows of it. */
void gst_tfx_pending_append (GstTfxPending *self, GstTfxSharedFilter *filter);

/* What has to run before, held; or NULL.  @own: runs behind its filters, or
 * NULL.  With the locks of the row. */
GstTfxPending *
gst_tfx_pending_find_earlier (GstTfxPending *self, GstTfxSharedFilter *own);

/* It has run: the next ones may.  With the locks of the row. */
void gst_tfx_pending_finish (GstTfxPending *self);

G_END_DECLS

#endif /* GST_TFX_PENDING_PRIVATE_H */
