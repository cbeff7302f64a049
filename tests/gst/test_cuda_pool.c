/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_pool.c: a pool of buffers in CUDA memory, of all lengths.
 */
#include <string.h>

#include "cudacheck.h"

/* The same memory for buffers of all lengths, whatever happened to them. */
GST_START_TEST (test_pool)
{
  static const gsize lengths[] = { 1000, 10, 999, 1, 1000, 500 };
  GstAudioInfo info = cuda_check_info (2, __i__);
  GstBufferPool *pool = cuda_check_pool (cuda_check_context, &info, 1000, 0);
  GstMemory *memory = NULL;
  GstBuffer *buffer;

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    GstMemory *found = cuda_check_acquire (pool, &info, lengths[i], &buffer);

    fail_unless (!memory || memory == found, "other memory in round %u", i);
    memory = found;
    gst_buffer_memset (buffer, 0, i, -1);
    if (i == 2)
      gst_buffer_resize (buffer, 100, 200);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (gst_buffer_get_size (buffer), 1000 * info.bpf);
  fail_unless (gst_buffer_peek_memory (buffer, 0) == memory);
  gst_buffer_unref (buffer);
  gst_buffer_pool_set_active (pool, FALSE);
  fail_unless_equals_int (gst_tfx_cuda_pool_acquire (pool, 10, &buffer),
      GST_FLOW_FLUSHING);
  gst_object_unref (pool);
}
GST_END_TEST;

GST_START_TEST (test_pool_grows)
{
  GstAudioInfo info = cuda_check_info (2, __i__);
  GstBufferPool *pool = cuda_check_pool (cuda_check_context, &info, 100, 0);
  GstMemory *memory;
  GstBuffer *buffer;

  cuda_check_acquire (pool, &info, 50, &buffer);
  gst_buffer_unref (buffer);
  memory = cuda_check_acquire (pool, &info, 5000, &buffer);
  gst_buffer_memset (buffer, 0, 1, -1);
  gst_buffer_unref (buffer);
  fail_unless (cuda_check_acquire (pool, &info, 3000, &buffer) == memory);
  gst_buffer_unref (buffer);
  cuda_check_pool_free (pool);
}
GST_END_TEST;

/* What was left in a buffer is not moved for the next one. */
GST_START_TEST (test_pool_forgets)
{
  GstAudioInfo info = cuda_check_info (1, FALSE);
  GstBufferPool *pool = cuda_check_pool (cuda_check_context, &info, 1000, 0);
  GstTfxCudaBuffer mapped;
  GstBuffer *buffer;
  GstMapInfo map;

  cuda_check_acquire (pool, &info, 1000, &buffer);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  cuda_check_acquire (pool, &info, 1000, &buffer);
  cuda_check_fail ("cuMemcpy2DAsync_v2:1");
  fail_unless (gst_tfx_cuda_buffer_map (&mapped, buffer, &info, cuda_check_cuda,
      GST_MAP_WRITE));
  fail_unless (gst_tfx_cuda_buffer_unmap (&mapped));
  gst_buffer_unref (buffer);
  cuda_check_acquire (pool, &info, 1000, &buffer);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  gst_buffer_unmap (buffer, &map);
  fail_unless_equals_string (cuda_check_injected (), "");
  gst_buffer_unref (buffer);
  cuda_check_pool_free (pool);
}
GST_END_TEST;

/* Memory that somebody else still has does not come back. */
GST_START_TEST (test_pool_shared)
{
  GstAudioInfo info = cuda_check_info (1, FALSE);
  GstBufferPool *pool = cuda_check_pool (cuda_check_context, &info, 1000, 0);
  GstBuffer *buffer, *part;
  GstMemory *memory = cuda_check_acquire (pool, &info, 1000, &buffer);

  gst_buffer_fill (buffer, 0, bytes_a, N_BYTES);
  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, 100, 500);
  gst_buffer_unref (buffer);
  fail_if (cuda_check_acquire (pool, &info, 1000, &buffer) == memory);
  gst_buffer_memset (buffer, 0, 0, -1);
  cuda_check_buffer_holds (part, bytes_a + 100, 500);
  gst_buffer_unref (part);
  gst_buffer_unref (buffer);
  cuda_check_pool_free (pool);
}
GST_END_TEST;

GST_START_TEST (test_pool_refuses)
{
  GstBufferPool *pool = gst_tfx_cuda_pool_new (cuda_check_context);
  GstAudioInfo info = cuda_check_info (2, FALSE);
  GstCaps *caps = gst_audio_info_to_caps (&info);
  GstCaps *video = gst_caps_new_empty_simple ("video/x-raw");
  GstBuffer *buffer;

  for (guint i = 0; i < 2; i++) {
    GstStructure *config = gst_buffer_pool_get_config (pool);

    gst_buffer_pool_config_set_params (config, i == 0 ? video : caps,
        i == 0 ? 1000 : 7, 0, 0);
    fail_if (gst_buffer_pool_set_config (pool, config));
  }
  gst_object_unref (pool);
  gst_caps_unref (caps);
  gst_caps_unref (video);

  if (cuda_check_is_standin ()) {
    pool = cuda_check_pool (cuda_check_context, &info, 100, 0);
    for (gsize n_frames = 100; n_frames <= 1000; n_frames += 900) {
      cuda_check_fail ("cuMemAllocPitch_v2:1,2");
      fail_unless_equals_int (gst_tfx_cuda_pool_acquire (pool, n_frames,
                                  &buffer),
          GST_FLOW_ERROR);
      cuda_check_acquire (pool, &info, n_frames, &buffer);
      gst_buffer_unref (buffer);
    }
    cuda_check_pool_free (pool);
  }
}
GST_END_TEST;

static Suite *
cuda_pool_suite (void)
{
  Suite *suite = suite_create ("cuda_pool");
  TCase *tcase = tcase_create ("pool");

  tcase_add_checked_fixture (tcase, cuda_check_setup, cuda_check_teardown);
  tcase_add_loop_test (tcase, test_pool, 0, 2);
  tcase_add_loop_test (tcase, test_pool_grows, 0, 2);
  tcase_add_test (tcase, test_pool_forgets);
  tcase_add_test (tcase, test_pool_shared);
  tcase_add_test (tcase, test_pool_refuses);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_pool);
