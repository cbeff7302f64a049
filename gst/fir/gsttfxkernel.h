/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernel.h: the impulse response that a kernel source leads to.
 */
#ifndef GST_TFX_KERNEL_H
#define GST_TFX_KERNEL_H

#include "gsttfximpulse.h"
#include "gsttfxkernelsource.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

typedef struct _GstTfxKernel GstTfxKernel;

/* Finds impulse responses, in a thread where that takes long.  Of the streaming
 * thread.  Starts with all zero, ends with gst_tfx_kernel_loader_clear(). */
typedef struct
{
  GstTfxKernel *good;  /* the last that works */
  GstTfxKernel *bad;   /* one that was asked for since and does not, or NULL */
  GstTfxKernel *spare; /* for values that move, or NULL */
  GstTfxKernel *first; /* with the file that was read at the start, or NULL */
  GstTfxWorker worker;
} GstTfxKernelLoader;

/* Whether it takes longer than a stream can wait for: more than a tenth of the time
 * that a buffer lasts. */
gboolean gst_tfx_kernel_source_takes_long (const GstTfxKernelSource *source,
    const GstTfxBuild *build);

/* Reads the source's file, if it has one.  Returns its channels; 1 without a file, or
 * if it cannot be read, which gst_tfx_kernel_loader_get() reports. */
guint gst_tfx_kernel_loader_start (GstTfxKernelLoader *self,
    const GstTfxKernelSource *source);

/* The impulse response of a source for a stream, the loader's own until it is
 * asked again.  NULL with a text for the user if there is none; that is told
 * once, then that of the last source that works is given instead.  NULL
 * without: it takes long and the stream runs, so it is being loaded;
 * gst_tfx_element_mark_ready() will be called. */
GstTfxImpulse *
gst_tfx_kernel_loader_get (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *source, const GstTfxBuild *build, GError **error);

/* The same for one that differs from the last by values alone: as many taps, as
 * late.  Once it has been asked it takes no memory.  NULL: gst_tfx_kernel_loader_get()
 * is the way. */
GstTfxImpulse *
gst_tfx_kernel_loader_move (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *source, const GstTfxBuild *build);

/* Whether there is an impulse response from before. */
gboolean gst_tfx_kernel_loader_has_any (const GstTfxKernelLoader *self);

/* Waits for what is being loaded, and forgets all. */
void gst_tfx_kernel_loader_clear (GstTfxKernelLoader *self);

G_END_DECLS

#endif /* GST_TFX_KERNEL_H */
