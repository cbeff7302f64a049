/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cudacheck.h: what the tests of CUDA memory share.  They run on the stand-in
 * for the driver, see tests/cuda/standin/standin.h, and most of them on a
 * device too.
 */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#define GST_USE_UNSTABLE_API
#include <gst/check/gstcheck.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "devices.h"
#include "gsttfxcuda.h"
#include "gsttfxcudaallocator.h"
#include "gsttfxcudabuffer.h"

/* Of each test: a context on the first device, and its backend. */
extern GstCudaContext *cuda_check_context;
extern TfxCuda *cuda_check_cuda;

/* Random bytes, for each test the same. */
#define N_BYTES 4000
extern guint8 *bytes_a, *bytes_b;

void cuda_check_setup (void);

/* Fails if the stand-in has found a fault of the caller. */
void cuda_check_teardown (void);

/* True on the stand-in, which has memory that can be read where it is. */
gboolean cuda_check_is_standin (void);

/* The next failure that the stand-in injects: "cuMemAlloc_v2:1", see
 * TFX_STANDIN_FAIL; NULL: none. */
void cuda_check_fail (const gchar *what);

/* n random bytes; the same for the same seed.  Free with g_free(). */
guint8 *cuda_check_bytes (gsize n, guint seed);

/* Writes memory by the CPU or on the device. */
void cuda_check_fill (GstMemory *memory, const guint8 *bytes, gsize n,
    gboolean on_device);

/* New memory that holds these bytes, written likewise. */
GstMemory *cuda_check_memory (const guint8 *bytes, gsize n, gboolean on_device);
GstBuffer *cuda_check_buffer (const guint8 *bytes, gsize n);

/* On the device, by a stream of its own: as another element does it. */
void cuda_check_write (gpointer device, const guint8 *bytes, gsize n);
void cuda_check_read (gpointer device, guint8 *bytes, gsize n);

/* The memory holds these bytes, for the CPU and on the device. */
void cuda_check_holds (GstMemory *memory, const guint8 *bytes, gsize n);
void cuda_check_buffer_holds (GstBuffer *buffer, const guint8 *bytes, gsize n);

/* Puts a copy of n bytes on our stream, and does not wait. */
void cuda_check_queue_copy (GstMemory *to, GstMemory *from, gsize n);

/* ---- audio -------------------------------------------------------------------- */

/* In Hz: a frame is a whole number of nanoseconds. */
#define CUDA_CHECK_RATE 50000

/* F32. */
GstAudioInfo cuda_check_info (gint n_channels, gboolean planar);

/* An active pool of at least n_least buffers; NULL if a call of the driver fails. */
GstBufferPool *cuda_check_pool (GstCudaContext *context,
    const GstAudioInfo *info, gsize n_frames, guint n_least);
void cuda_check_pool_free (GstBufferPool *pool);

/* A buffer out of the pool, which must be as it should be, and its memory. */
GstMemory *cuda_check_acquire (GstBufferPool *pool, const GstAudioInfo *info,
    gsize n_frames, GstBuffer **buffer);

/* A buffer outside of any pool, interleaved; NULL if device memory is short. */
GstBuffer *cuda_check_new_buffer (const GstAudioInfo *info, gsize n_frames);

/* A gain, run by the backend; and the locks that go with it. */
TfxPlan *cuda_check_plan (guint n_channels, gdouble gain);
int cuda_check_run (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out);
/* From buffer to buffer, both of which are mapped and unmapped. */
void cuda_check_run_buffers (TfxPlan *plan, const GstAudioInfo *info,
    GstBuffer *in, GstBuffer *out);
void cuda_check_plan_free (TfxPlan **plan);

#endif /* CUDA_CHECK_H */
