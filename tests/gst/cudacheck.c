/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cudacheck.c: what the tests of CUDA memory share.
 */
#include "cudacheck.h"

#include <errno.h>
#include <string.h>

GstCudaContext *cuda_check_context;
TfxCuda *cuda_check_cuda;
guint8 *bytes_a, *bytes_b;

/* ---- the stand-in -------------------------------------------------------------- */

void
cuda_check_setup (void)
{
  const gchar *why;

  g_free (devices_report ());
  fail_unless (gst_tfx_cuda_is_available (&why), "no CUDA: %s", why);
  cuda_check_context = gst_cuda_context_new (0);
  fail_unless (cuda_check_context != NULL);
  cuda_check_cuda = gst_tfx_cuda_for_context (cuda_check_context, NULL);
  fail_unless (cuda_check_cuda != NULL);
  bytes_a = cuda_check_bytes (N_BYTES, 1);
  bytes_b = cuda_check_bytes (N_BYTES, 2);
}

void
cuda_check_teardown (void)
{
  gchar *report = devices_report ();

  cuda_check_fail (NULL);
  tfx_cuda_unref (&cuda_check_cuda);
  ASSERT_OBJECT_REFCOUNT (cuda_check_context, "context", 1);
  gst_clear_object (&cuda_check_context);
  g_free (bytes_a);
  g_free (bytes_b);
  /* Each line is either asked for or a fault. */
  for (gchar *line = report; *line; line = strchr (line, '\n') + 1)
    fail_unless (g_str_has_prefix (line, "injected"), "%s", line);
  g_free (report);
}

gboolean
cuda_check_is_standin (void)
{
  return g_str_has_prefix (tfx_cuda_name (cuda_check_cuda), "stand-in");
}

void
cuda_check_fail (const gchar *what)
{
  static guint n;
  gchar *value;

  /* Another text each time, so that counting begins anew. */
  g_setenv ("TFX_STANDIN_FAIL", "", TRUE);
  CuGetErrorName (CUDA_SUCCESS, &(const gchar *){ NULL });
  CuDeviceGetCount (&(gint){ 0 });
  if (!what)
    return;
  g_free (devices_report ());
  value = g_strdup_printf ("%s%*s", what, ++n % 8, "");
  g_setenv ("TFX_STANDIN_FAIL", value, TRUE);
  g_free (value);
}

/* ---- bytes ---------------------------------------------------------------------- */

guint8 *
cuda_check_bytes (gsize n, guint seed)
{
  guint8 *bytes = g_malloc (n + 1);
  guint32 state = seed * 2654435761u + 1;

  for (gsize i = 0; i < n; i++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    bytes[i] = state >> 24;
  }
  return bytes;
}

/* A copy of n bytes in one row.  NULL is no address of that kind. */
static CUDA_MEMCPY2D
make_copy (gpointer to_device, gpointer to_host, gpointer from_device,
    const guint8 *from_host, gsize n)
{
  const gsize pitch = GST_ROUND_UP_N (n, 512);

  return (CUDA_MEMCPY2D){ .srcMemoryType = from_host ? CU_MEMORYTYPE_HOST
                                                     : CU_MEMORYTYPE_DEVICE,
    .srcHost = from_host,
    .srcDevice = (guintptr)from_device,
    .srcPitch = pitch,
    .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
    .dstHost = to_host,
    .dstDevice = (guintptr)to_device,
    .dstPitch = pitch,
    .WidthInBytes = n,
    .Height = 1 };
}

/* On a stream that knows of no other. */
static void
copy (CUDA_MEMCPY2D what)
{
  CUstream stream = NULL;

  fail_unless (gst_cuda_context_push (cuda_check_context));
  fail_unless (
      gst_cuda_result (CuStreamCreate (&stream, CU_STREAM_NON_BLOCKING)));
  fail_unless (gst_cuda_result (CuMemcpy2DAsync (&what, stream)));
  fail_unless (gst_cuda_result (CuStreamSynchronize (stream)));
  fail_unless (gst_cuda_result (CuStreamDestroy (stream)));
  fail_unless (gst_cuda_context_pop (NULL));
}

void
cuda_check_write (gpointer device, const guint8 *bytes, gsize n)
{
  copy (make_copy (device, NULL, NULL, bytes, n));
}

void
cuda_check_read (gpointer device, guint8 *bytes, gsize n)
{
  copy (make_copy (NULL, bytes, device, NULL, n));
}

void
cuda_check_queue_copy (GstMemory *to, GstMemory *from, gsize n)
{
  GstMapInfo read, write;
  CUDA_MEMCPY2D what;

  fail_unless (
      gst_memory_map (from, &read, GST_MAP_READ | GST_TFX_MAP_CUDA_QUEUED));
  fail_unless (
      gst_memory_map (to, &write, GST_MAP_WRITE | GST_TFX_MAP_CUDA_QUEUED));
  what = make_copy (write.data, NULL, read.data, NULL, n);
  fail_unless (gst_cuda_context_push (cuda_check_context));
  fail_unless (gst_cuda_result (
      CuMemcpy2DAsync (&what, tfx_cuda_stream (cuda_check_cuda))));
  fail_unless (gst_cuda_context_pop (NULL));
  gst_memory_unmap (to, &write);
  gst_memory_unmap (from, &read);
}

void
cuda_check_fill (GstMemory *memory, const guint8 *bytes, gsize n,
    gboolean on_device)
{
  GstMapInfo map;

  fail_unless (gst_memory_map (memory, &map,
      GST_MAP_WRITE | (on_device ? GST_MAP_CUDA : 0)));
  if (on_device)
    cuda_check_write (map.data, bytes, n);
  else
    memcpy (map.data, bytes, n);
  gst_memory_unmap (memory, &map);
}

GstMemory *
cuda_check_memory (const guint8 *bytes, gsize n, gboolean on_device)
{
  GstMemory *memory = gst_tfx_cuda_allocator_alloc (cuda_check_context, n);

  fail_unless (memory != NULL);
  cuda_check_fill (memory, bytes, n, on_device);
  return memory;
}

GstBuffer *
cuda_check_buffer (const guint8 *bytes, gsize n)
{
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_append_memory (buffer, cuda_check_memory (bytes, n, TRUE));
  return buffer;
}

void
cuda_check_holds (GstMemory *memory, const guint8 *bytes, gsize n)
{
  guint8 *found = g_malloc (n + 1);
  GstMapInfo map;

  /* The order differs from time to time: both sides must be right first. */
  for (gint i = 0; i < 2; i++) {
    gboolean on_device = (n + i) % 2;

    fail_unless (gst_memory_map (memory, &map,
        GST_MAP_READ | (on_device ? GST_MAP_CUDA : 0)));
    fail_unless_equals_uint64 (map.size, n);
    if (on_device) {
      cuda_check_read (map.data, found, n);
      fail_unless (memcmp (found, bytes, n) == 0, "%u bytes on the device",
          (guint)n);
    } else {
      fail_unless (memcmp (map.data, bytes, n) == 0, "%u bytes", (guint)n);
    }
    gst_memory_unmap (memory, &map);
  }
  g_free (found);
}

void
cuda_check_buffer_holds (GstBuffer *buffer, const guint8 *bytes, gsize n)
{
  guint8 *found = g_malloc (n + 1);
  GstMapInfo map;

  fail_unless_equals_uint64 (gst_buffer_get_size (buffer), n);
  fail_unless_equals_uint64 (gst_buffer_extract (buffer, 0, found, n), n);
  fail_unless (memcmp (found, bytes, n) == 0, "extracted");
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (memcmp (map.data, bytes, n) == 0, "mapped");
  gst_buffer_unmap (buffer, &map);
  if (gst_buffer_n_memory (buffer) == 1 &&
      gst_is_cuda_memory (gst_buffer_peek_memory (buffer, 0)))
    cuda_check_holds (gst_buffer_peek_memory (buffer, 0), bytes, n);
  g_free (found);
}

/* ---- audio ---------------------------------------------------------------------- */

GstAudioInfo
cuda_check_info (gint n_channels, gboolean planar)
{
  GstAudioInfo info;

  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F32, CUDA_CHECK_RATE,
      n_channels, NULL);
  if (planar)
    info.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  return info;
}

GstBufferPool *
cuda_check_pool (GstCudaContext *context, const GstAudioInfo *info,
    gsize n_frames, guint n_least)
{
  GstBufferPool *pool = gst_tfx_cuda_pool_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps = gst_audio_info_to_caps (info);
  gboolean is_active;

  gst_caps_set_features (caps, 0,
      gst_caps_features_new (GST_TFX_CUDA_FEATURE, NULL));
  gst_buffer_pool_config_set_params (config, caps, n_frames * info->bpf,
      n_least, 0);
  is_active = gst_buffer_pool_set_config (pool, config) &&
              gst_buffer_pool_set_active (pool, TRUE);
  gst_caps_unref (caps);
  if (!is_active)
    gst_clear_object (&pool);
  return pool;
}

void
cuda_check_pool_free (GstBufferPool *pool)
{
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

GstMemory *
cuda_check_acquire (GstBufferPool *pool, const GstAudioInfo *info,
    gsize n_frames, GstBuffer **buffer)
{
  GstAudioMeta *meta;

  fail_unless_equals_int (gst_tfx_cuda_pool_acquire (pool, n_frames, buffer),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (gst_buffer_get_size (*buffer),
      n_frames * info->bpf);
  fail_unless (gst_tfx_cuda_buffer_is_device (*buffer, cuda_check_context));
  meta = gst_buffer_get_audio_meta (*buffer);
  if (info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED) {
    fail_unless_equals_uint64 (meta->samples, n_frames);
    for (gint ch = 0; ch < info->channels; ch++)
      fail_unless_equals_uint64 (meta->offsets[ch], ch * n_frames * 4);
  } else {
    fail_unless (meta == NULL);
  }
  return gst_buffer_peek_memory (*buffer, 0);
}

GstBuffer *
cuda_check_new_buffer (const GstAudioInfo *info, gsize n_frames)
{
  GstMemory *memory = gst_tfx_cuda_allocator_alloc (cuda_check_context,
      n_frames * GST_AUDIO_INFO_BPF (info));
  GstBuffer *buffer = memory ? gst_buffer_new () : NULL;

  if (buffer)
    gst_buffer_append_memory (buffer, memory);
  return buffer;
}

TfxPlan *
cuda_check_plan (guint n_channels, gdouble gain)
{
  const TfxFilterSpec spec = { CUDA_CHECK_RATE, n_channels, TFX_SAMPLE_F64, 0 };
  TfxChain *empty = tfx_chain_new (), *chain;
  TfxStage *stage = tfx_stage_new_gain (tfx_stage_new_id (), gain);
  TfxFilter *filter = NULL;
  TfxPlan *plan = NULL;
  gint ret;

  chain = tfx_chain_append (empty, stage);
  fail_unless_equals_int (tfx_filter_new (chain, &spec, &filter), 0);
  tfx_filter_lock (filter);
  /* Its kernels may have to be compiled. */
  while ((ret = tfx_plan_new (&filter, 1, tfx_cuda_backend (cuda_check_cuda),
              &plan)) == -EINPROGRESS)
    g_usleep (1000);
  fail_unless_equals_int (ret, 0);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&empty);
  tfx_stage_unref (&stage);
  return plan;
}

int
cuda_check_run (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out)
{
  TfxFilter *filter = tfx_plan_filters (plan)[0];
  int ret;

  tfx_filter_lock (filter);
  while ((ret = tfx_plan_run (plan, in, out)) == -EINPROGRESS)
    g_usleep (1000);
  tfx_filter_unlock (filter);
  return ret;
}

void
cuda_check_run_buffers (TfxPlan *plan, const GstAudioInfo *info, GstBuffer *in,
    GstBuffer *out)
{
  GstTfxCudaBuffer from, to;

  fail_unless (
      gst_tfx_cuda_buffer_map (&from, in, info, cuda_check_cuda, GST_MAP_READ));
  fail_unless (
      gst_tfx_cuda_buffer_map (&to, out, info, cuda_check_cuda, GST_MAP_WRITE));
  fail_unless_equals_int (cuda_check_run (plan, &from.block, &to.block), 0);
  fail_unless (gst_tfx_cuda_buffer_unmap (&to));
  fail_unless (gst_tfx_cuda_buffer_unmap (&from));
}

void
cuda_check_plan_free (TfxPlan **plan)
{
  TfxFilter *filter = tfx_filter_ref (tfx_plan_filters (*plan)[0]);

  tfx_filter_lock (filter);
  tfx_plan_free (plan);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
}
