/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_threads.c: elements in a process that may have no more threads.  Each
 * pthread_create() on behalf of the plugin fails; what its threads would have done
 * is done in place, or reported.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "chains.h"
#include "nothreads.h"

#define RATE 48000
#define N 480

/* ---- settings while samples flow ------------------------------------------------ */

typedef struct
{
  const gchar *launch;
  /* The new value, for gst_util_set_object_arg(). */
  const gchar *property, *value;
  gdouble gain; /* at 100 Hz then */
} Change;

/* A FIR filter that takes long to prepare, a chain that takes long to design, a file
 * that takes long to read. */
static const Change changes[] = {
  { "tfxfir taps=20001 cutoff=1000", "cutoff", "10", 0.0 },
  { "tfxchain chain=\"DesignableFIR(10, 20001)\"", "chain",
      "Gain(0.5) | DesignableFIR(1000, 20001)", 0.5 },
  { "tfxfir taps=101 cutoff=1000", "kernel-location", NULL, 0.25 },
};

/* A sound file with one frame. */
static gchar *
write_kernel (gdouble gain)
{
  /* RIFF, fmt: one channel of 32-bit floats; data: four bytes. */
  static guint8 bytes[48] = "RIFF(\0\0\0WAVEfmt \x10\0\0\0\3\0\1\0\x80\xbb\0\0"
                            "\0\xee\2\0\4\0 \0data\4\0\0\0";
  gchar *path;
  const gint fd = g_file_open_tmp ("tfx-XXXXXX.wav", &path, NULL);
  const gfloat number = (gfloat)gain;

  fail_unless (fd >= 0);
  memcpy (bytes + 44, &number, sizeof number);
  fail_unless (g_file_set_contents (path, (gchar *)bytes, sizeof bytes, NULL));
  g_close (fd, NULL);
  return path;
}

/* The gain at 100 Hz after two seconds with the new setting. */
GST_START_TEST (test_changes)
{
  const Change *change = &changes[__i__];
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  GstHarness *h = tfx_check_harness (change->launch, &info);
  g_autofree gchar *path = change->value ? NULL : write_kernel (change->gain);
  g_autofree gdouble *in = g_new (gdouble, 3 * RATE);
  gdouble loudest = 0.0;
  const guint before = no_threads_count ();
  gsize n_out = 0;

  for (gsize i = 0; i < 3 * RATE; i++)
    in[i] = sin (2.0 * G_PI * 100.0 * (gdouble)i / RATE);
  for (gsize at = 0; at < 3 * RATE; at += N) {
    GstBuffer *buffer;

    if (at == RATE)
      gst_util_set_object_arg (G_OBJECT (h->element), change->property,
          path ? path : change->value);
    fail_unless_equals_int (gst_harness_push (h,
                                tfx_check_stamped (&info, in + at, N, at)),
        GST_FLOW_OK);
    while ((buffer = gst_harness_try_pull (h))) {
      gsize n;
      g_autofree gdouble *out = tfx_check_samples (buffer, &info, &n);

      for (gsize i = 0; i < n; i++)
        if (n_out + i >= 5 * RATE / 2)
          loudest = MAX (loudest, fabs (out[i]));
      n_out += n;
      gst_buffer_unref (buffer);
    }
  }
  fail_unless (fabs (loudest - change->gain) < 0.01,
      "the gain at 100 Hz is %g, not %g", loudest, change->gain);
  fail_unless (no_threads_count () > before,
      "no thread was asked for: the case tests nothing");
  gst_harness_teardown (h);
  if (path)
    remove (path);
}

GST_END_TEST;

/* ---- a file that is watched ------------------------------------------------------ */

/* It is not watched, which is reported; the chain runs. */
GST_START_TEST (test_watch)
{
  g_autofree gchar *path = NULL;
  const gint fd = g_file_open_tmp ("tfx-XXXXXX.txt", &path, NULL);
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  GstBus *bus = gst_bus_new ();

  fail_unless (fd >= 0);
  g_close (fd, NULL);
  fail_unless (g_file_set_contents (path, "Gain(0.5)", -1, NULL));
  gst_element_set_bus (chain, bus);
  g_object_set (chain, "location", path, "watch", TRUE, NULL);
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  tfx_check_expect_warning (bus, "not watched", "thread", NULL);
  tfx_chains_expect_text (chain, "Gain(0.5)");
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_element_set_bus (chain, NULL);
  gst_object_unref (bus);
  gst_object_unref (chain);
  remove (path);
}

GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tcase = tcase_create ("threads");

  no_threads_after (0);
  tcase_add_loop_test (tcase, test_changes, 0, G_N_ELEMENTS (changes));
  tcase_add_test (tcase, test_watch);
  return tfx_check_run (argc, argv, tcase);
}
