/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudanone.c: stubs for this folder and for cuda/ in a build without
 * CUDA.  gst_tfx_cuda_is_available() returns FALSE, so the others are not
 * called; they only satisfy the linker.
 */
#include <errno.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxcudabuffer.h"

static const gchar missing[] = "this build of the plugin has no CUDA support";

gboolean
gst_tfx_cuda_init (void)
{
  return FALSE;
}

gboolean
gst_tfx_cuda_is_available (const gchar **why)
{
  if (why)
    *why = missing;
  return FALSE;
}

gboolean
gst_tfx_cuda_is_known (void)
{
  return TRUE;
}

TfxCuda *
gst_tfx_cuda_for_context (GstCudaContext *context, gchar **why)
{
  if (why)
    *why = g_strdup (missing);
  return NULL;
}

gboolean
gst_tfx_cuda_ensure_context (GstElement *element, gint device_id,
    GstCudaContext **context, gchar **why)
{
  *why = g_strdup (missing);
  return FALSE;
}

void
gst_tfx_cuda_clear_context (GstElement *element, GstCudaContext **context)
{
}

void
gst_tfx_cuda_set_context (GstElement *element, GstContext *given,
    gint device_id, GstCudaContext **context)
{
}

gboolean
gst_tfx_cuda_answer_query (GstElement *element, GstQuery *query,
    GstCudaContext **context)
{
  return FALSE;
}

/* ---- memory -------------------------------------------------------------- */

GstMemory *
gst_tfx_cuda_allocator_alloc_like (GstMemory *memory)
{
  return NULL;
}

gboolean
gst_tfx_cuda_allocator_owns (GstMemory *memory)
{
  return FALSE;
}

gboolean
gst_tfx_cuda_allocator_is_device (GstMemory *memory)
{
  return FALSE;
}

void
gst_tfx_cuda_allocator_set_pending (GstMemory *memory,
    const GstTfxCudaPendingKind *kind, GstTfxPending *pending)
{
}

GstTfxPending *
gst_tfx_cuda_allocator_steal_pending (GstMemory *memory)
{
  return NULL;
}

GstTfxPending *
gst_tfx_cuda_allocator_get_pending (GstMemory *memory)
{
  return NULL;
}

gpointer
gst_tfx_cuda_allocator_map_raw (GstMemory *memory, GstMapFlags flags)
{
  return NULL;
}

void
gst_tfx_cuda_allocator_unmap_raw (GstMemory *memory, GstMapFlags flags)
{
}

gboolean
gst_tfx_cuda_allocator_copy_raw (GstMemory *to, GstMemory *from, gsize offset,
    gsize size)
{
  return FALSE;
}

void
gst_tfx_cuda_allocator_discard (GstMemory *memory)
{
}

GstBufferPool *
gst_tfx_cuda_pool_new (GstCudaContext *context)
{
  return NULL;
}

GstFlowReturn
gst_tfx_cuda_pool_acquire (GstBufferPool *pool, gsize n_frames,
    GstBuffer **buffer)
{
  return GST_FLOW_ERROR;
}

gboolean
gst_tfx_cuda_buffer_is_device (GstBuffer *buffer, GstCudaContext *context)
{
  return FALSE;
}

gboolean
gst_tfx_cuda_buffer_map (GstTfxCudaBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, TfxCuda *cuda, GstMapFlags access)
{
  return FALSE;
}

gboolean
gst_tfx_cuda_buffer_unmap (GstTfxCudaBuffer *self)
{
  return FALSE;
}

/* ---- the backend --------------------------------------------------------- */

const char *
tfx_cuda_unknown (void)
{
  return NULL;
}

void
tfx_cuda_observe (const TfxCudaObserver *observer)
{
}

void
tfx_cuda_unref (TfxCuda **cuda)
{
  *cuda = NULL;
}

const TfxBackend *
tfx_cuda_backend (TfxCuda *cuda)
{
  return NULL;
}

int
tfx_cuda_device (const TfxCuda *cuda)
{
  return -1;
}

const char *
tfx_cuda_name (const TfxCuda *cuda)
{
  return "";
}

void
tfx_cuda_finish_compiling (TfxCuda *cuda)
{
}

void
tfx_cuda_error (const TfxCuda *cuda, char *text, size_t size)
{
  g_strlcpy (text, missing, size);
}

bool
tfx_cuda_is_lost (const TfxCuda *cuda)
{
  return true;
}

bool
tfx_cuda_is_hung (const TfxCuda *cuda)
{
  return false;
}

int
tfx_cuda_get_card (int device, TfxCudaCard *card)
{
  return -ENODEV;
}

bool
tfx_cuda_estimate (const TfxCudaCard *card, const TfxPlan *plan,
    const TfxCudaJob *job, double *ns)
{
  return false;
}
