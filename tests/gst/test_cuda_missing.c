/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_missing.c: where CUDA cannot be used the plugin says why, in one
 * sentence, and always the same.  The environment plays what is missing; the
 * words that the sentence must hold are in TFX_EXPECT, separated by "|".
 */
#include <string.h>

#include <gst/check/gstcheck.h>

#include "gsttfxcuda.h"

static void
expect_words (const gchar *why)
{
  gchar **words = g_strsplit (g_getenv ("TFX_EXPECT"), "|", -1);

  fail_unless (why != NULL);
  for (gchar **word = words; *word; word++)
    fail_unless (strstr (why, *word), "no '%s' in: %s", *word, why);
  /* It stands in a sentence of the element's. */
  fail_if (strchr (why, '\n') || g_str_has_suffix (why, "."), "%s", why);
  g_strfreev (words);
}

GST_START_TEST (test_missing)
{
  const gchar *why = NULL, *again = NULL;
  GstElement *element = gst_bin_new (NULL);
  GstCudaContext *context = NULL;
  gchar *refusal = NULL;

  fail_if (gst_tfx_cuda_is_available (&why));
  expect_words (why);
  fail_if (gst_tfx_cuda_is_available (&again));
  fail_unless (why == again);
  fail_if (gst_tfx_cuda_is_available (NULL));

  fail_if (gst_tfx_cuda_ensure_context (element, -1, &context, &refusal));
  fail_unless (context == NULL);
  fail_unless_equals_string (refusal, why);
  g_free (refusal);
  gst_object_unref (element);
}
GST_END_TEST;

/* Queries and contexts of others do no harm. */
GST_START_TEST (test_others)
{
  GstElement *element = gst_bin_new (NULL);
  GstContext *given = gst_context_new ("gst.cuda.context", TRUE);
  GstQuery *query = gst_query_new_context ("gst.cuda.context");
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 100, NULL);
  GstCudaContext *context = NULL;

  gst_tfx_cuda_set_context (element, given, -1, &context);
  fail_unless (context == NULL);
  fail_if (gst_tfx_cuda_answer_query (element, query, &context));
  gst_buffer_unref (buffer);
  gst_query_unref (query);
  gst_context_unref (given);
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
cuda_missing_suite (void)
{
  Suite *suite = suite_create ("cuda_missing");
  TCase *tcase = tcase_create ("missing");

  tcase_add_test (tcase, test_missing);
  tcase_add_test (tcase, test_others);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_missing);
