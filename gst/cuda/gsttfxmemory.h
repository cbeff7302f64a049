/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmemory.h: caps for system memory and for CUDA memory.
 */
#ifndef GST_TFX_MEMORY_H
#define GST_TFX_MEMORY_H

#include "gsttfxcuda.h"

G_BEGIN_DECLS

/* What a pad may have to do with buffers in CUDA memory. */
typedef enum
{
  GST_TFX_MEMORY_SYSTEM,       /* nothing */
  GST_TFX_MEMORY_SYSTEM_FIRST, /* where nothing else is possible */
  GST_TFX_MEMORY_CUDA_FIRST    /* wherever the other side has it too */
} GstTfxMemory;

/* Caps that say nothing of the memory, for each kind of it that this build
 * knows. */
GstCaps *gst_tfx_memory_make_template (const gchar *text);

/* What the pad on the other side can have for @caps at one in this direction, the
 * best first. */
GstCaps *gst_tfx_memory_transform_caps (GstTfxMemory memory,
    GstPadDirection direction, GstCaps *caps);

/* What @caps leave to choose from, less the memory that is only for want of any
 * other.  Takes @caps. */
GstCaps *gst_tfx_memory_prefer (GstTfxMemory memory, GstCaps *caps);

/* Whether fixed caps are for CUDA memory. */
gboolean gst_tfx_memory_is_cuda (GstCaps *caps);

/* The same caps for system memory. */
GstCaps *gst_tfx_memory_to_system (GstCaps *caps);

G_END_DECLS

#endif /* GST_TFX_MEMORY_H */
