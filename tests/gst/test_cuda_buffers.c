/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_buffers.c: buffers of audio in CUDA memory: cut, copied, merged, run
 * through the backend, out of a pool for all lengths.
 */
#include <string.h>

#include "cudacheck.h"

static void
stamp (GstBuffer *buffer, gsize n_frames)
{
  GST_BUFFER_PTS (buffer) = GST_SECOND;
  GST_BUFFER_DURATION (buffer) =
      gst_util_uint64_scale (n_frames, GST_SECOND, CUDA_CHECK_RATE);
}

/* Each sample tells its frame and channel. */
static gfloat
sample (gsize frame, guint channel)
{
  return frame + channel / 16.0f;
}

static GstBuffer *
make_audio (const GstAudioInfo *info, gsize n_frames)
{
  gfloat *samples = g_new (gfloat, n_frames * info->channels);
  gboolean planar = info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  GstBuffer *buffer;

  for (gsize i = 0; i < n_frames; i++) {
    for (gint ch = 0; ch < info->channels; ch++)
      samples[planar ? ch * n_frames + i : i * info->channels + ch] =
          sample (i, ch);
  }
  buffer = cuda_check_buffer ((const guint8 *)samples, n_frames * info->bpf);
  if (planar)
    gst_buffer_add_audio_meta (buffer, info, n_frames, NULL);
  stamp (buffer, n_frames);
  g_free (samples);
  return buffer;
}

/* The buffer holds n_frames from `from` on, for the CPU and the backend. */
static void
audio_holds (GstBuffer *buffer, const GstAudioInfo *info, gsize from,
    gsize n_frames)
{
  gboolean planar = info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  GstTfxCudaBuffer mapped;
  GstAudioBuffer audio;

  fail_unless (gst_audio_buffer_map (&audio, info, buffer, GST_MAP_READ));
  fail_unless_equals_uint64 (audio.n_samples, n_frames);
  for (gsize i = 0; i < n_frames; i++) {
    for (gint ch = 0; ch < info->channels; ch++) {
      const gfloat *plane = audio.planes[planar ? ch : 0];
      gfloat x = plane[planar ? i : i * info->channels + ch];

      fail_unless (x == sample (from + i, ch), "frame %u channel %d: %g",
          (guint)i, ch, x);
    }
  }
  gst_audio_buffer_unmap (&audio);

  fail_unless (gst_tfx_cuda_buffer_is_device (buffer, cuda_check_context));
  fail_unless (gst_tfx_cuda_buffer_map (&mapped, buffer, info, cuda_check_cuda,
      GST_MAP_READ));
  fail_unless_equals_uint64 (mapped.block.n_frames, n_frames);
  fail_unless_equals_int (mapped.block.n_channels, info->channels);
  fail_unless_equals_int (tfx_cuda_wait (cuda_check_cuda), 0);
  for (gint ch = 0; ch < info->channels; ch++) {
    gsize last = n_frames - 1;
    gfloat x;

    cuda_check_read ((gfloat *)mapped.block.data +
                         last * mapped.block.frame_stride +
                         ch * mapped.block.channel_stride,
        (guint8 *)&x, sizeof x);
    fail_unless (x == sample (from + last, ch));
  }
  fail_unless (gst_tfx_cuda_buffer_unmap (&mapped));
}

/* ---- cutting and copying ---------------------------------------------------- */

GST_START_TEST (test_clip)
{
  GstAudioInfo info = cuda_check_info (3, __i__);
  GstBuffer *buffer = make_audio (&info, 1000);
  GstSegment segment;

  audio_holds (buffer, &info, 0, 1000);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND + 100 * GST_SECOND / CUDA_CHECK_RATE;
  segment.stop = GST_SECOND + 900 * GST_SECOND / CUDA_CHECK_RATE;
  buffer = gst_audio_buffer_clip (buffer, &segment, CUDA_CHECK_RATE, info.bpf);
  audio_holds (buffer, &info, 100, 800);
  gst_buffer_unref (buffer);
}
GST_END_TEST;

GST_START_TEST (test_truncate)
{
  GstAudioInfo info = cuda_check_info (2, __i__ & 1);
  GstBuffer *buffer = make_audio (&info, 1000), *other = NULL;

  /* With another reference it is not cut in place. */
  if (__i__ & 2)
    other = gst_buffer_ref (buffer);
  buffer = gst_audio_buffer_truncate (buffer, info.bpf, 7, 500);
  audio_holds (buffer, &info, 7, 500);
  buffer = gst_audio_buffer_truncate (buffer, info.bpf, 13, (gsize)-1);
  audio_holds (buffer, &info, 20, 487);
  gst_buffer_unref (buffer);
  if (other) {
    audio_holds (other, &info, 0, 1000);
    gst_buffer_unref (other);
  }
}
GST_END_TEST;

GST_START_TEST (test_regions)
{
  GstBuffer *buffer = cuda_check_buffer (bytes_a, N_BYTES), *copy, *part;
  GstBufferCopyFlags deep = GST_BUFFER_COPY_ALL | GST_BUFFER_COPY_DEEP;

  copy = gst_buffer_copy (buffer);
  cuda_check_buffer_holds (copy, bytes_a, N_BYTES);
  gst_buffer_unref (copy);
  copy = gst_buffer_copy_deep (buffer);
  fail_unless (
      gst_buffer_peek_memory (copy, 0) != gst_buffer_peek_memory (buffer, 0));
  cuda_check_buffer_holds (copy, bytes_a, N_BYTES);
  gst_buffer_unref (copy);

  part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 1001, 2000);
  cuda_check_buffer_holds (part, bytes_a + 1001, 2000);
  copy = gst_buffer_copy_region (part, deep, 7, 100);
  cuda_check_buffer_holds (copy, bytes_a + 1008, 100);
  gst_buffer_unref (copy);
  copy = gst_buffer_copy_region (part, GST_BUFFER_COPY_ALL, 1, -1);
  gst_buffer_unref (part);
  gst_buffer_unref (buffer);
  cuda_check_buffer_holds (copy, bytes_a + 1002, 1999);
  gst_buffer_unref (copy);
}
GST_END_TEST;

/* Parts of one memory come together without a copy, others by one. */
GST_START_TEST (test_merge)
{
  guint8 *both = g_malloc (2 * N_BYTES);
  GstBuffer *buffer = cuda_check_buffer (bytes_a, N_BYTES), *one, *two;
  GstMemory *memory;

  one = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 100, 900);
  two = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 1000, 3000);
  gst_buffer_unref (buffer);
  buffer = gst_buffer_append_region (one, two, 0, 500);
  fail_unless_equals_int (gst_buffer_n_memory (buffer), 2);
  fail_if (gst_tfx_cuda_buffer_is_device (buffer, cuda_check_context));
  memory = gst_buffer_get_all_memory (buffer);
  fail_unless (gst_is_cuda_memory (memory));
  cuda_check_holds (memory, bytes_a + 100, 1400);
  gst_memory_unref (memory);
  cuda_check_buffer_holds (buffer, bytes_a + 100, 1400);
  gst_buffer_unref (buffer);

  buffer = gst_buffer_append (cuda_check_buffer (bytes_a, N_BYTES),
      cuda_check_buffer (bytes_b, N_BYTES));
  memcpy (both, bytes_a, N_BYTES);
  memcpy (both + N_BYTES, bytes_b, N_BYTES);
  cuda_check_buffer_holds (buffer, both, 2 * N_BYTES);
  gst_buffer_unref (buffer);
  g_free (both);
}
GST_END_TEST;

/* What is shared is copied before it is written. */
GST_START_TEST (test_write_shared)
{
  guint8 *changed = cuda_check_bytes (N_BYTES, 1);
  GstBuffer *buffer = cuda_check_buffer (bytes_a, N_BYTES);
  GstBuffer *part =
      gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 100, 300);

  fail_unless_equals_uint64 (gst_buffer_memset (part, 10, 0x55, 20), 20);
  memset (changed + 110, 0x55, 20);
  cuda_check_buffer_holds (part, changed + 100, 300);
  cuda_check_buffer_holds (buffer, bytes_a, N_BYTES);
  gst_buffer_unref (part);
  /* Nobody shares it any more. */
  fail_unless_equals_uint64 (gst_buffer_fill (buffer, 110, changed + 110, 20),
      20);
  cuda_check_buffer_holds (buffer, changed, N_BYTES);
  gst_buffer_unref (buffer);
  g_free (changed);
}
GST_END_TEST;

/* ---- the backend ---------------------------------------------------------------- */

/* From a pool's buffer to the next, without waiting between. */
GST_START_TEST (test_run)
{
  GstAudioInfo info = cuda_check_info (3, __i__);
  GstBufferPool *pool = cuda_check_pool (cuda_check_context, &info, 1000, 0);
  TfxPlan *twice = cuda_check_plan (3, 2.0), *half = cuda_check_plan (3, 0.5);
  GstBuffer *steps[3] = { make_audio (&info, 800) };
  TfxPlan *plans[2] = { twice, half };

  for (gint i = 0; i < 2; i++) {
    cuda_check_acquire (pool, &info, 800, &steps[i + 1]);
    cuda_check_run_buffers (plans[i], &info, steps[i], steps[i + 1]);
    gst_buffer_unref (steps[i]);
  }
  audio_holds (steps[2], &info, 0, 800);
  gst_buffer_unref (steps[2]);
  cuda_check_plan_free (&twice);
  cuda_check_plan_free (&half);
  cuda_check_pool_free (pool);
}
GST_END_TEST;

/* Memory of libgstcuda itself, as other elements have it. */
GST_START_TEST (test_foreign)
{
  GstAudioInfo info = cuda_check_info (1, FALSE);
  TfxPlan *plan = cuda_check_plan (1, 2.0);
  GstBuffer *buffer = gst_buffer_new (), *out;
  GstCudaAllocator *allocator = g_object_new (GST_TYPE_CUDA_ALLOCATOR, NULL);
  GstVideoInfo video;
  GstMapInfo map;
  gfloat x[1024];

  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_RGBA, 1024, 1);
#if GST_CHECK_VERSION(1, 24, 0)
  gst_buffer_append_memory (buffer,
      gst_cuda_allocator_alloc (allocator, cuda_check_context, NULL, &video));
#else
  gst_buffer_append_memory (buffer,
      gst_cuda_allocator_alloc (allocator, cuda_check_context, &video));
#endif
  fail_if (gst_tfx_cuda_allocator_owns (gst_buffer_peek_memory (buffer, 0)));
  fail_unless (gst_tfx_cuda_buffer_is_device (buffer, cuda_check_context));
  for (guint i = 0; i < 1024; i++)
    x[i] = sample (i, 0);
  cuda_check_fill (gst_buffer_peek_memory (buffer, 0), (guint8 *)x, sizeof x,
      TRUE);

  out = cuda_check_new_buffer (&info, 1024);
  cuda_check_run_buffers (plan, &info, buffer, out);
  cuda_check_run_buffers (plan, &info, out, buffer);
  /* It is done: the owner does not know of our stream. */
  memset (x, 0, sizeof x);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ | GST_MAP_CUDA));
  cuda_check_read (map.data, (guint8 *)x, sizeof x);
  gst_buffer_unmap (buffer, &map);
  for (guint i = 0; i < 1024; i++)
    fail_unless (x[i] == 4 * sample (i, 0));
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  gst_object_unref (allocator);
  cuda_check_plan_free (&plan);
}
GST_END_TEST;

/* Planes that the backend cannot take are left to the CPU. */
GST_START_TEST (test_odd_planes)
{
  GstAudioInfo info = cuda_check_info (3, TRUE);
  static const gsize offsets[][3] = {
    { 0, 400, 800 },
    { 0, 400, 900 },
    { 800, 400, 0 },
    { 2, 402, 802 },
    { 16, 500, 984 },
  };
  static const gboolean can[] = { TRUE, FALSE, FALSE, FALSE, TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (can); i++) {
    GstBuffer *buffer = gst_buffer_new ();
    GstTfxCudaBuffer mapped;
    gsize where[3];

    memcpy (where, offsets[i], sizeof where);
    gst_buffer_append_memory (buffer,
        gst_tfx_cuda_allocator_alloc (cuda_check_context, 2000));
    gst_buffer_add_audio_meta (buffer, &info, 100, where);
    fail_unless (gst_tfx_cuda_buffer_map (&mapped, buffer, &info,
                     cuda_check_cuda, GST_MAP_READ) == can[i],
        "planes %u", i);
    if (can[i]) {
      fail_unless_equals_uint64 (mapped.block.channel_stride,
          (where[1] - where[0]) / 4);
      gst_tfx_cuda_buffer_unmap (&mapped);
    }
    /* Nothing is left mapped. */
    fail_unless_equals_uint64 (gst_buffer_memset (buffer, 0, 0, -1), 2000);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;

/* ---- the pool --------------------------------------------------------------------- */

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
  gchar *report;

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
  report = devices_report ();
  fail_unless_equals_string (report, "");
  g_free (report);
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
cuda_buffers_suite (void)
{
  Suite *suite = suite_create ("cuda_buffers");
  TCase *tcase = tcase_create ("buffers");

  tcase_add_checked_fixture (tcase, cuda_check_setup, cuda_check_teardown);
  tcase_add_loop_test (tcase, test_clip, 0, 2);
  tcase_add_loop_test (tcase, test_truncate, 0, 4);
  tcase_add_test (tcase, test_regions);
  tcase_add_test (tcase, test_merge);
  tcase_add_test (tcase, test_write_shared);
  tcase_add_loop_test (tcase, test_run, 0, 2);
  tcase_add_test (tcase, test_foreign);
  tcase_add_test (tcase, test_odd_planes);
  tcase_add_loop_test (tcase, test_pool, 0, 2);
  tcase_add_loop_test (tcase, test_pool_grows, 0, 2);
  tcase_add_test (tcase, test_pool_forgets);
  tcase_add_test (tcase, test_pool_shared);
  tcase_add_test (tcase, test_pool_refuses);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_buffers);
