/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_memory_faults.c: every call into the driver failing, once or from
 * then on, while memory is made, mapped, shared, copied, run through the backend
 * and freed.  What succeeds is right, what fails says so; nothing hangs, crashes
 * or does to the driver what must not be done.  On the stand-in only.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "cudacheck.h"

#define N_BYTES 4000
#define N_ROUNDS 8
#define N_CONTEXTS 3
/* More than the scenario makes. */
#define MAX_CALLS 1200

/* ---- one round ----------------------------------------------------------------- */

typedef struct
{
  GstCudaContext *context;
  TfxCuda *cuda;
  GstBufferPool *pool;
  TfxFilter *filter; /* the output is the input */
  TfxPlan *plan;
  guint8 *bytes;
} Scene;

static GstAudioInfo
scene_info (void)
{
  GstAudioInfo info;

  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F32, 48000, 1, NULL);
  return info;
}

/* Each side that can be mapped holds these bytes. */
static void
expect_bytes (GstMemory *memory, const guint8 *bytes, gsize n)
{
  GstMapInfo map;

  /* Device memory of the stand-in can be read where it is. */
  for (gint side = 0; side < 2; side++) {
    if (!gst_memory_map (memory, &map,
            GST_MAP_READ | (side ? GST_MAP_CUDA : 0)))
      continue;
    fail_unless_equals_uint64 (map.size, n);
    fail_unless (memcmp (map.data, bytes, n) == 0, "side %d", side);
    gst_memory_unmap (memory, &map);
  }
}

static void
play_memory (Scene *s)
{
  GstMemory *memory = gst_tfx_cuda_allocator_alloc (s->context, N_BYTES);
  GstMemory *part, *copy;
  GstMapInfo map;

  if (!memory)
    return;
  if (gst_memory_map (memory, &map, GST_MAP_WRITE)) {
    memcpy (map.data, s->bytes, N_BYTES);
    gst_memory_unmap (memory, &map);
    part = gst_memory_share (memory, 100, 200);
    copy = gst_memory_copy (memory, 50, 3000);
    if (copy && gst_is_cuda_memory (copy)) {
      expect_bytes (copy, s->bytes + 50, 3000);
    } else if (copy) {
      fail_unless (gst_memory_map (copy, &map, GST_MAP_READ));
      fail_unless (memcmp (map.data, s->bytes + 50, 3000) == 0);
      gst_memory_unmap (copy, &map);
    }
    if (copy)
      gst_memory_unref (copy);
    expect_bytes (memory, s->bytes, N_BYTES);
    expect_bytes (part, s->bytes + 100, 200);
    gst_memory_unref (part);
  }
  gst_memory_unref (memory);
}

/* Through the backend, from a buffer of the CPU into one of the pool. */
static void
play_run (Scene *s, gsize n_frames)
{
  GstAudioInfo info = scene_info ();
  GstTfxCudaBuffer out;
  GstBuffer *buffer;
  TfxBlock in = tfx_block_interleaved (s->bytes, TFX_SAMPLE_F32, 1, n_frames);
  gboolean ok;

  if (!s->pool || !s->plan ||
      gst_tfx_cuda_pool_acquire (s->pool, n_frames, &buffer) != GST_FLOW_OK)
    return;
  if (gst_tfx_cuda_buffer_map (&out, buffer, &info, s->cuda, GST_MAP_WRITE)) {
    tfx_filter_lock (s->filter);
    ok = tfx_plan_run (s->plan, &in, &out.block) >= 0;
    tfx_filter_unlock (s->filter);
    ok &= gst_tfx_cuda_buffer_unmap (&out);
    if (ok)
      expect_bytes (gst_buffer_peek_memory (buffer, 0), s->bytes, n_frames * 4);
  }
  gst_buffer_unref (buffer);
}

/* ---- the scene ------------------------------------------------------------------ */

static void
make_plan (Scene *s)
{
  const TfxFilterSpec spec = { 48000, 1, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = tfx_chain_new ();

  fail_unless_equals_int (tfx_filter_new (chain, &spec, &s->filter), 0);
  tfx_filter_lock (s->filter);
  tfx_plan_new (&s->filter, 1, tfx_cuda_backend (s->cuda), &s->plan);
  tfx_filter_unlock (s->filter);
  tfx_chain_unref (&chain);
}

static void
free_plan (Scene *s)
{
  tfx_filter_lock (s->filter);
  tfx_plan_free (&s->plan);
  tfx_filter_unlock (s->filter);
  tfx_filter_unref (&s->filter);
}

static GstBufferPool *
make_pool (GstCudaContext *context)
{
  GstBufferPool *pool = gst_tfx_cuda_pool_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstAudioInfo info = scene_info ();
  GstCaps *caps = gst_audio_info_to_caps (&info);

  gst_buffer_pool_config_set_params (config, caps, N_BYTES / 2, 1, 0);
  gst_caps_unref (caps);
  if (gst_buffer_pool_set_config (pool, config) &&
      gst_buffer_pool_set_active (pool, TRUE))
    return pool;
  gst_object_unref (pool);
  return NULL;
}

static void
play_scene (void)
{
  GstElement *element = gst_bin_new (NULL);
  Scene s = { NULL };
  gchar *why = NULL;

  if (!gst_tfx_cuda_ensure_context (element, -1, &s.context, &why)) {
    fail_unless (why && *why);
    g_free (why);
    gst_object_unref (element);
    return;
  }
  gst_object_unref (element);
  s.cuda = gst_tfx_cuda_for_context (s.context, &why);
  if (s.cuda) {
    s.bytes = cuda_check_bytes (N_BYTES, 1);
    /* Numbers, none of them NaN. */
    for (gsize i = 3; i < N_BYTES; i += 4)
      s.bytes[i] = 0x3f;
    s.pool = make_pool (s.context);
    make_plan (&s);
    for (gint i = 0; i < N_ROUNDS; i++) {
      play_memory (&s);
      play_run (&s, i % 2 ? N_BYTES / 4 : 100);
    }
    free_plan (&s);
    if (s.pool)
      gst_buffer_pool_set_active (s.pool, FALSE);
    gst_clear_object (&s.pool);
    g_free (s.bytes);
    tfx_cuda_unref (&s.cuda);
  } else {
    fail_unless (why && *why);
    g_free (why);
  }
  ASSERT_OBJECT_REFCOUNT (s.context, "context", 1);
  gst_object_unref (s.context);
}

/* Where the context cannot be entered, what was to be freed stays with the
 * context, and goes when it goes. */
static gboolean
is_leak (const gchar *line, const gchar *report)
{
  return g_str_has_prefix (line, "cuMemFree") &&
         strstr (line, "without a current context") &&
         strstr (report, "into cuCtxPushCurrent_v2");
}

/* What the library complains of is not ours. */
static void
ignore_critical (const gchar *domain, GLogLevelFlags level, const gchar *text,
    gpointer data)
{
}

static void
play (const gchar *failure)
{
  gchar *found, *line, *path;
  const gchar *why = NULL;
  gint n_told = 0, fd;

  fd = g_file_open_tmp ("cudafaults-XXXXXX", &path, NULL);
  close (fd);
  g_setenv ("TFX_STANDIN_REPORT", path, TRUE);
  g_setenv ("TFX_STANDIN_FAIL", failure, TRUE);
  g_log_set_handler ("GLib", G_LOG_LEVEL_CRITICAL, ignore_critical, NULL);

  if (gst_tfx_cuda_is_available (&why)) {
    for (gint i = 0; i < N_CONTEXTS; i++)
      play_scene ();
  } else {
    fail_unless (why && *why);
  }

  g_file_get_contents (path, &found, NULL, NULL);
  for (line = found; *line; line = strchr (line, '\n') + 1) {
    n_told += g_str_has_prefix (line, "injected");
    fail_unless (g_str_has_prefix (line, "injected") || is_leak (line, found),
        "%s", line);
  }
  fail_unless (n_told <= 1, "%s", found);
  g_unlink (path);
  g_free (path);
  g_free (found);
}

GST_START_TEST (test_once)
{
  gchar *failure = g_strdup_printf ("%d", __i__);

  play (failure);
  g_free (failure);
}
GST_END_TEST;

/* Short of memory, in every place. */
GST_START_TEST (test_no_memory)
{
  static const gchar *const calls[] = { "cuMemAllocPitch_v2", "cuMemHostAlloc",
    "cuMemAlloc_v2", "cuStreamCreate", "cuCtxCreate_v2", "cuModuleLoadData" };
  gchar *failure = g_strdup_printf ("%s:%d,2",
      calls[__i__ % G_N_ELEMENTS (calls)], __i__ / (gint)G_N_ELEMENTS (calls));

  play (failure);
  g_free (failure);
}
GST_END_TEST;

/* The device goes, and does not come back. */
GST_START_TEST (test_lost)
{
  gchar *failure = g_strdup_printf ("%d,sticky", 5 * __i__ + 1);

  play (failure);
  g_free (failure);
}
GST_END_TEST;

static Suite *
cuda_memory_faults_suite (void)
{
  Suite *suite = suite_create ("cuda_memory_faults");
  TCase *tcase = tcase_create ("faults");

  tcase_add_loop_test (tcase, test_once, 0, MAX_CALLS);
  tcase_add_loop_test (tcase, test_no_memory, 6, 6 * 31);
  tcase_add_loop_test (tcase, test_lost, 0, MAX_CALLS / 5);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_memory_faults);
