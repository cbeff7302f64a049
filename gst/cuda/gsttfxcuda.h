/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcuda.h: CUDA availability, and contexts that elements share.
 *
 * The headers of this folder use only types of libgstcuda, so that the rest of
 * the plugin includes them in every build.  In a build without CUDA
 * gst_tfx_cuda_is_available() returns FALSE, and no other function is called.
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

/* Called when the plugin is loaded; does not open the driver.  Returns FALSE if
 * CUDA cannot be used on any machine: the plugin was built without it, or
 * against another version of libgstcuda. */
gboolean gst_tfx_cuda_init (void);

/* Whether this plugin can use CUDA here.  If not, *why (unless NULL) is a
 * clause for the user, a static text without a full stop: "no NVIDIA driver:
 * …".  The first call opens the driver, which may take a second; the answer
 * does not change.  Any thread. */
gboolean gst_tfx_cuda_is_available (const gchar **why);

/* Whether gst_tfx_cuda_is_available() returns at once.  Any thread. */
gboolean gst_tfx_cuda_is_known (void);

/* Returns the backend of a context, a new reference, or NULL and a clause for
 * the user in *why (to be freed).  There is one TfxCuda per GstCudaContext in
 * the process, so all elements with a context share one stream, in whose order
 * their work runs.  Runs do not wait for output in device memory (see
 * tfx_cuda_set_waiting()).
 *
 * A reference and a plan for the backend hold the context, and release it last.
 * Any thread. */
TfxCuda *gst_tfx_cuda_for_context (GstCudaContext *context, gchar **why);

/* ---- sharing a context, as all CUDA elements do -------------------------- */

/* Finds a context for an element: *context if there is one (on this device, or
 * @device_id is -1), then that of the neighbours or the application, then a new
 * one, which is posted.  Returns FALSE and a clause for the user in *why (to be
 * freed) if there is none.  With no lock held: it sends queries and posts
 * messages. */
gboolean gst_tfx_cuda_ensure_context (GstElement *element, gint device_id,
    GstCudaContext **context, gchar **why);

/* Releases *context. */
void gst_tfx_cuda_clear_context (GstElement *element, GstCudaContext **context);

/* Like gst_tfx_cuda_clear_context() these two functions take the object lock of
 * the element; any thread.
 *
 * For GstElementClass::set_context: stores a CUDA context of this device (-1:
 * any) in *context, unless there is one. */
void gst_tfx_cuda_set_context (GstElement *element, GstContext *given,
    gint device_id, GstCudaContext **context);
/* For GST_QUERY_CONTEXT.  Returns TRUE if it was answered; *context may be
 * NULL. */
gboolean gst_tfx_cuda_answer_query (GstElement *element, GstQuery *query,
    GstCudaContext **context);

/* Whether tfx_cuda_is_lost() or tfx_cuda_is_hung() is true for the device of the
 * context.  Any thread. */
gboolean
gst_tfx_cuda_context_is (GstCudaContext *context, bool (*is) (const TfxCuda *));

/* The ordinal of the context's device, for "cuda-device-id". */
gint gst_tfx_cuda_get_device (GstCudaContext *context);

G_END_DECLS

#endif /* GST_TFX_CUDA_H */
