/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcuda.h: whether CUDA can be used, and the contexts that elements share.
 *
 * The headers of this folder name nothing of libgstcuda but its types, so that
 * the rest of the plugin includes them in every build.  In a build without
 * CUDA gst_tfx_cuda_is_available() says so, and nothing else is called.
 */
#ifndef GST_TFX_CUDA_H
#define GST_TFX_CUDA_H

#include <gst/gst.h>

#include "tfx-cuda.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_cuda_debug);

/* As in <gst/cuda/gstcudacontext.h>. */
typedef struct _GstCudaContext GstCudaContext;

/* The caps feature of buffers in CUDA memory. */
#define GST_TFX_CUDA_FEATURE "memory:CUDAMemory"

/* Called once when the plugin is loaded; opens no driver.  FALSE if CUDA
 * cannot be used whatever the machine has: the plugin was built without it, or
 * against another version of libgstcuda. */
gboolean gst_tfx_cuda_init (void);

/* True if this plugin can use CUDA here.  Otherwise *why (unless NULL) is a
 * clause for the user, a static text without a stop at its end: "no NVIDIA
 * driver: …".  The first call opens the driver, which may take a second; the
 * answer does not change.  Any thread. */
gboolean gst_tfx_cuda_is_available (const gchar **why);

/* True once that has been answered: it takes no time any more.  Any thread. */
gboolean gst_tfx_cuda_is_known (void);

/* The backend on a context; a new reference, or NULL and a clause for the user
 * in *why (to be freed).  There is one TfxCuda for a GstCudaContext in the
 * process, so all elements on a context share one stream: what one puts on it
 * is done before what the next one does.  Runs do not wait for output in device
 * memory (see tfx_cuda_set_waiting()).
 *
 * Whoever holds the reference, or a plan for the backend, holds the context
 * as well, and lets go of it last.  Any thread. */
TfxCuda *gst_tfx_cuda_for_context (GstCudaContext *context, gchar **why);

/* ---- sharing a context, as all CUDA elements do --------------------------- */

/* Finds a context for an element: *context if there is one already (on this
 * device, or @device_id is -1), then what the neighbours or the application
 * have, then a new one, which the others are told of.  FALSE and a clause for
 * the user in *why (to be freed) if there is none.  With no lock held: it sends
 * queries and posts messages. */
gboolean gst_tfx_cuda_ensure_context (GstElement *element, gint device_id,
    GstCudaContext **context, gchar **why);

/* *context is let go. */
void gst_tfx_cuda_clear_context (GstElement *element, GstCudaContext **context);

/* These three in any thread: they take the object lock of the element.  This one
 * for GstElementClass::set_context: takes a CUDA context of this device (-1: any) into
 * *context, unless there is one. */
void gst_tfx_cuda_set_context (GstElement *element, GstContext *given,
    gint device_id, GstCudaContext **context);
/* For GST_QUERY_CONTEXT.  True if it was answered; *context may be NULL. */
gboolean gst_tfx_cuda_answer_query (GstElement *element, GstQuery *query,
    GstCudaContext **context);

/* The ordinal of the context's device, for "cuda-device-id". */
gint gst_tfx_cuda_get_device (GstCudaContext *context);

G_END_DECLS

#endif /* GST_TFX_CUDA_H */
