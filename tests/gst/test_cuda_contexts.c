/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_contexts.c: the contexts that elements share, and the backend of
 * each.
 */
#include <string.h>

#include "cudacheck.h"

GST_START_TEST (test_two_contexts)
{
  GstCudaContext *other = gst_cuda_context_new (0);
  TfxCuda *cuda = gst_tfx_cuda_for_context (other, NULL);
  TfxCuda *again = gst_tfx_cuda_for_context (other, NULL);
  GstBuffer *buffer = cuda_check_buffer (bytes_a, N_BYTES);

  fail_unless (cuda && cuda != cuda_check_cuda);
  fail_unless (cuda == again);
  fail_if (gst_tfx_cuda_buffer_is_device (buffer, other));
  fail_if (gst_tfx_cuda_buffer_is_device (buffer, NULL));
  cuda_check_buffer_holds (buffer, bytes_a, N_BYTES);
  tfx_cuda_unref (&cuda);
  tfx_cuda_unref (&again);
  ASSERT_OBJECT_REFCOUNT (other, "context", 1);
  gst_object_unref (other);

  /* Its backend went with it: another context, which may be at the same
   * address, has one that works. */
  for (gint i = 0; i < 20; i++) {
    other = gst_cuda_context_new (0);
    cuda = gst_tfx_cuda_for_context (other, NULL);
    fail_unless (cuda != NULL);
    fail_unless_equals_int (tfx_cuda_wait (cuda), 0);
    tfx_cuda_unref (&cuda);
    gst_object_unref (other);
  }
  gst_buffer_unref (buffer);
}
GST_END_TEST;

/* The memory keeps its context and its backend. */
GST_START_TEST (test_memory_lives_longer)
{
  GstCudaContext *other = gst_cuda_context_new (0);
  GstMemory *memory = gst_tfx_cuda_allocator_alloc (other, N_BYTES);
  GstMemory *part = gst_memory_share (memory, 100, 200);
  GstMapInfo map;

  gst_object_unref (other);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READ | GST_MAP_CUDA));
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
  fail_unless (gst_memory_map (part, &map, GST_MAP_READ));
  gst_memory_unmap (part, &map);
  gst_memory_unref (part);
}
GST_END_TEST;

/* A device that has gone is not offered again. */
GST_START_TEST (test_lost)
{
  GstAudioInfo info = cuda_check_info (1, FALSE);
  TfxPlan *plan = cuda_check_plan (1, 0.5);
  gfloat x[1024] = { 1.0f };
  TfxBlock block = tfx_block_interleaved (x, TFX_SAMPLE_F32, 1, 1024);
  gchar *why = NULL;

  if (cuda_check_is_standin ()) {
    cuda_check_fail ("cuMemcpyHtoDAsync_v2:1,sticky");
    fail_unless (cuda_check_run (plan, &block, &block) < 0);
    cuda_check_fail (NULL);
    fail_unless (tfx_cuda_is_lost (cuda_check_cuda));
    fail_if (gst_tfx_cuda_for_context (cuda_check_context, &why));
    fail_unless (strstr (why, "stand-in 0"), "%s", why);
    g_free (why);
    fail_if (cuda_check_new_buffer (&info, 100));
  }
  cuda_check_plan_free (&plan);
}
GST_END_TEST;

GST_START_TEST (test_share_context)
{
  GstElement *one = gst_bin_new (NULL), *two = gst_bin_new (NULL);
  GstCudaContext *mine = NULL, *yours = NULL;
  GstContext *given = NULL;
  gchar *why = NULL;
  GstQuery *query;

  fail_unless (gst_tfx_cuda_ensure_context (one, -1, &mine, &why), "%s", why);
  fail_unless_equals_int (gst_tfx_cuda_get_device (mine), 0);
  fail_unless (gst_tfx_cuda_ensure_context (one, 0, &mine, &why), "%s", why);

  query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  fail_if (gst_tfx_cuda_answer_query (one, query, &yours));
  fail_unless (gst_tfx_cuda_answer_query (one, query, &mine));
  gst_query_parse_context (query, &given);
  gst_tfx_cuda_set_context (two, given, 5, &yours);
  fail_unless (yours == NULL);
  gst_tfx_cuda_set_context (two, given, -1, &yours);
  fail_unless (yours == mine);
  gst_clear_object (&yours);
  gst_tfx_cuda_set_context (two, given, 0, &yours);
  fail_unless (yours == mine);
  gst_query_unref (query);

  fail_if (gst_tfx_cuda_ensure_context (two, 77, &yours, &why));
  fail_unless (strstr (why, "77") && strstr (why, "0 to "), "%s", why);
  fail_unless (yours == NULL);
  g_free (why);
  gst_object_unref (one);
  gst_object_unref (two);
  gst_object_unref (mine);
}
GST_END_TEST;

typedef struct
{
  GstElement *element;
  GstCudaContext *context;
  gint is_done; /* atomic */
} Asked;

static gpointer
ask_again (gpointer data)
{
  Asked *asked = data;

  while (!g_atomic_int_get (&asked->is_done)) {
    GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);

    gst_tfx_cuda_answer_query (asked->element, query, &asked->context);
    gst_query_unref (query);
  }
  return NULL;
}

/* Who asks has a context of its own, whatever becomes of the element's. */
GST_START_TEST (test_asked_meanwhile)
{
  Asked asked = { gst_bin_new (NULL) };
  GThread *thread = g_thread_new ("ask", ask_again, &asked);
  gchar *why = NULL;

  for (guint i = 0; i < 20000; i++) {
    fail_unless (
        gst_tfx_cuda_ensure_context (asked.element, -1, &asked.context, &why));
    gst_tfx_cuda_clear_context (asked.element, &asked.context);
  }
  g_atomic_int_set (&asked.is_done, TRUE);
  g_thread_join (thread);
  gst_object_unref (asked.element);
}

GST_END_TEST;

static Suite *
cuda_contexts_suite (void)
{
  Suite *suite = suite_create ("cuda_contexts");
  TCase *tcase = tcase_create ("contexts");

  tcase_add_checked_fixture (tcase, cuda_check_setup, cuda_check_teardown);
  tcase_add_test (tcase, test_two_contexts);
  tcase_add_test (tcase, test_memory_lives_longer);
  tcase_add_test (tcase, test_lost);
  tcase_add_test (tcase, test_share_context);
  tcase_add_test (tcase, test_asked_meanwhile);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_contexts);
