/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmemory.h: caps for system memory and CUDA memory.
 */
#ifndef GST_TFX_MEMORY_H
#define GST_TFX_MEMORY_H

#include "gsttfxcuda.h"

G_BEGIN_DECLS

/* Which memory a pad prefers. */
typedef enum
{
  GST_TFX_MEMORY_SYSTEM,       /* system memory only */
  GST_TFX_MEMORY_SYSTEM_FIRST, /* CUDA memory if nothing else is possible */
  GST_TFX_MEMORY_CUDA_FIRST    /* CUDA memory if the peer supports it */
} GstTfxMemory;

/* Adds each memory feature of this build to caps without features. */
GstCaps *gst_tfx_memory_make_template (const gchar *text);

/* The caps of the other pad for @caps of the pad in this direction, the best
 * first. */
GstCaps *gst_tfx_memory_transform_caps (GstTfxMemory memory,
    GstPadDirection direction, GstCaps *caps);

/* Removes CUDA memory from @caps if it is the last choice and there is another.
 * Takes @caps. */
GstCaps *gst_tfx_memory_prefer (GstTfxMemory memory, GstCaps *caps);

/* Whether fixed caps are for CUDA memory. */
gboolean gst_tfx_memory_is_cuda (GstCaps *caps);

/* The same caps for system memory. */
GstCaps *gst_tfx_memory_to_system (GstCaps *caps);

G_END_DECLS

#endif /* GST_TFX_MEMORY_H */
