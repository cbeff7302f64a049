/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernel.h: makes the impulse response of a kernel source.
 */
#ifndef GST_TFX_KERNEL_H
#define GST_TFX_KERNEL_H

#include "gsttfximpulse.h"
#include "gsttfxkernelsource.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

typedef struct _GstTfxKernel GstTfxKernel;

/* Makes impulse responses, in a background task if that takes long.  Used by the
 * streaming thread.  Start with zeros, end with gst_tfx_kernel_loader_clear(). */
typedef struct
{
  GstTfxKernel *good;  /* the last valid one */
  GstTfxKernel *bad;   /* a later request that failed, or NULL */
  GstTfxKernel *spare; /* for parameter ramps, or NULL */
  GstTfxKernel *first; /* with the file read at the start, or NULL */
  GstTfxWorker worker;
} GstTfxKernelLoader;

/* Whether making it takes too long for the streaming thread: more than a tenth of the
 * duration of a buffer. */
gboolean gst_tfx_kernel_source_takes_long (const GstTfxKernelSource *source,
    const GstTfxBuild *build);

/* Reads the source's file, if it has one, and returns its number of channels.  Returns 1
 * without a file, or if it cannot be read, which gst_tfx_kernel_loader_get() reports. */
guint gst_tfx_kernel_loader_start (GstTfxKernelLoader *self,
    const GstTfxKernelSource *source);

/* Returns the impulse response of a source for a stream; the loader owns it until the next
 * call.  NULL with an error for the user if it fails; the next call for this source
 * returns that of the last valid source.  NULL without an error while a background task
 * loads it; gst_tfx_element_mark_ready() will be called. */
GstTfxImpulse *
gst_tfx_kernel_loader_get (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *source, const GstTfxBuild *build, GError **error);

/* The same for a source with the number of taps and the delay of the last one.  Allocates
 * nothing after the first call.  NULL if it differs in more than values: call
 * gst_tfx_kernel_loader_get(). */
GstTfxImpulse *
gst_tfx_kernel_loader_move (GstTfxKernelLoader *self, GstTfxElement *element,
    const GstTfxKernelSource *source, const GstTfxBuild *build);

/* Whether there is a valid impulse response. */
gboolean gst_tfx_kernel_loader_has_any (const GstTfxKernelLoader *self);

/* Waits for the background task and frees all. */
void gst_tfx_kernel_loader_clear (GstTfxKernelLoader *self);

G_END_DECLS

#endif /* GST_TFX_KERNEL_H */
