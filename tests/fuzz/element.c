/* SPDX-License-Identifier: LGPL-2.1-or-later
 * element.c: see element.h. */
#include "element.h"

#include <math.h>

#include "chains.h"

#define N_FRAMES 256

void
fuzz_element_run (GstHarness *h, const GstAudioInfo *info, guint64 *at)
{
  static gdouble noise[N_FRAMES * FUZZ_ELEMENT_MAX_CHANNELS];

  for (guint i = 0; i < G_N_ELEMENTS (noise); i++)
    noise[i] = sin (i * i);
  gst_harness_push (h, tfx_check_stamped (info, noise, N_FRAMES, *at));
  *at += N_FRAMES;
  for (GstBuffer *buffer; (buffer = gst_harness_try_pull (h));)
    gst_buffer_unref (buffer);
}

#ifndef TFX_FUZZER

static const FuzzTarget *test_target;
static gint n_arguments, status = 1;
static gchar **arguments;

static void
ignore_log (const gchar *domain, GLogLevelFlags level, const gchar *message,
    gpointer data)
{
}

GST_START_TEST (test_fuzz)
{
  status = fuzz_main (test_target, n_arguments, arguments);
}

GST_END_TEST;

int
fuzz_element_main (const FuzzTarget *target, int argc, char **argv)
{
  Suite *suite = suite_create ("fuzz");
  TCase *tcase = tcase_create ("element");
  SRunner *runner = srunner_create (suite);

  test_target = target;
  n_arguments = argc;
  arguments = argv;
  gst_init (NULL, NULL);
  g_log_set_default_handler (ignore_log, NULL);
  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_fuzz);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_SILENT);
  if (srunner_ntests_failed (runner) > 0)
    fuzz_fail ("what the helpers of the tests must find", 0);
  srunner_free (runner);
  return status;
}

#endif /* TFX_FUZZER */
