/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_memory_faults.c: every call into the driver failing, once or from
 * then on, while memory is made, mapped, shared, copied, run through the backend
 * and freed.  What succeeds is right, what fails says so; nothing hangs, crashes
 * or does to the driver what must not be done.  On the stand-in only.
 */
#include <string.h>

#include "cudacheck.h"

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
  GstAudioInfo info = cuda_check_info (1, FALSE);
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

static void
play_scene (void)
{
  GstElement *element = gst_bin_new (NULL);
  GstAudioInfo info = cuda_check_info (1, FALSE);
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
    s.pool = cuda_check_pool (s.context, &info, N_BYTES / 8, 1);
    make_plan (&s);
    for (gint i = 0; i < N_ROUNDS; i++) {
      play_memory (&s);
      play_run (&s, i % 2 ? N_BYTES / 4 : 100);
    }
    free_plan (&s);
    if (s.pool)
      cuda_check_pool_free (s.pool);
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
  gchar *found, *line;
  const gchar *why = NULL;
  gint n_told = 0;

  g_free (devices_report ());
  g_setenv ("TFX_STANDIN_FAIL", failure, TRUE);
  g_log_set_handler ("GLib", G_LOG_LEVEL_CRITICAL, ignore_critical, NULL);

  if (gst_tfx_cuda_is_available (&why)) {
    for (gint i = 0; i < N_CONTEXTS; i++)
      play_scene ();
  } else {
    fail_unless (why && *why);
  }

  found = devices_report ();
  for (line = found; *line; line = strchr (line, '\n') + 1) {
    n_told += g_str_has_prefix (line, "injected");
    fail_unless (g_str_has_prefix (line, "injected") || is_leak (line, found),
        "%s", line);
  }
  fail_unless (n_told <= 1, "%s", found);
  g_free (found);
}

/* Each call once; short of memory, in every place; and the device goes, and does not
 * come back. */
static const struct
{
  const gchar *setting; /* with the number of the call */
  guint first, n, step;
} failures[] = {
  { "%d", 0, MAX_CALLS, 1 },
  { "cuMemAllocPitch_v2:%d,2", 1, 30, 1 },
  { "cuMemHostAlloc:%d,2", 1, 30, 1 },
  { "cuMemAlloc_v2:%d,2", 1, 30, 1 },
  { "cuStreamCreate:%d,2", 1, 30, 1 },
  { "cuCtxCreate_v2:%d,2", 1, 30, 1 },
  { "cuModuleLoadData:%d,2", 1, 30, 1 },
  { "%d,sticky", 1, MAX_CALLS / 5, 5 },
};

GST_START_TEST (test_failure)
{
  guint i = 0, n = (guint)__i__;
  gchar **parts, *number, *setting;

  for (; n >= failures[i].n; i++)
    n -= failures[i].n;
  number = g_strdup_printf ("%u", failures[i].first + n * failures[i].step);
  parts = g_strsplit (failures[i].setting, "%d", 2);
  setting = g_strjoinv (number, parts);
  play (setting);
  g_strfreev (parts);
  g_free (number);
  g_free (setting);
}
GST_END_TEST;

static Suite *
cuda_memory_faults_suite (void)
{
  Suite *suite = suite_create ("cuda_memory_faults");
  TCase *tcase = tcase_create ("faults");
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (failures); i++)
    n += failures[i].n;
  tcase_add_loop_test (tcase, test_failure, 0, n);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_memory_faults);
