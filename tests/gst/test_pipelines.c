/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_pipelines.c: the elements among others, in real pipelines.
 */
#include <gst/check/gstconsistencychecker.h>
#include "tfxplay.h"

/* ---- chains of elements -------------------------------------------------------------- */

#define SOURCE_OF(wave)                                                        \
  "audiotestsrc wave=" wave " num-buffers=100 ! "                              \
  "audio/x-raw,format=F32LE,rate=48000,channels=2 ! "
/* Another noise every time; always the same samples. */
#define NOISE SOURCE_OF ("white-noise")
#define SAW SOURCE_OF ("saw")
#define SINK " ! fakesink name=sink"

static const gchar *const chains[] = {
  "tfxbutterworth",
  "tfxbutterworth ! tfxchebyshev",
  "tfxbutterworth ! queue ! tfxchebyshev mode=high-pass",
  "tfxbutterworth ! level ! tfxchebyshev",
  "tfxbutterworth ! volume volume=0.5 ! tfxbutterworth ! identity",
  "tfxchebyshev mode=high-pass cutoff=20 order=2 ! "
  "tfxchebyshev mode=high-pass cutoff=60 order=2 ! "
  "tfxchebyshev mode=high-pass cutoff=65 order=2 ! "
  "tfxbutterworth cutoff=5000 order=2 ! tfxbutterworth cutoff=4900 order=2 ! "
  "tfxbutterworth cutoff=4850 order=2",
  "( tfxbutterworth ! tfxchebyshev ) ! tfxbutterworth",
  "tfxchain chain=\"HiButterworth(80) | (Gain(0.5) + Delay(bpm=200))\" ! "
  "queue ! tfxchain chain=\"FIR([1, 2]) | eq=ParametricEQ(1000, 1, 3)\" ! "
  "tfxbutterworth ! tfxchain",
  "audioconvert ! audio/x-raw,format=F64LE ! tfxbutterworth ! audioconvert ! "
  "audio/x-raw,format=F32LE",
  "audioconvert ! audio/x-raw,format=S16LE ! audioconvert ! tfxbutterworth ! "
  "audioconvert ! audio/x-raw,format=S16LE ! audioconvert ! "
  "audio/x-raw,format=F32LE",
  "audioconvert ! audio/x-raw,layout=non-interleaved ! tfxbutterworth ! "
  "tfxchebyshev ! audioconvert ! audio/x-raw,layout=interleaved",
};

/* As many samples at the sink as from the source, at contiguous times. */
GST_START_TEST (test_chains)
{
  g_autofree gchar *launch = g_strconcat (NOISE, chains[__i__], SINK, NULL);
  g_auto (TfxCaught) caught;

  tfx_play (launch, &caught);
  fail_unless_equals_uint64 (caught.n_buffers, 100);
  fail_unless_equals_int (caught.samples->len, 100 * 1024 * 2);
  fail_unless_equals_uint64 (caught.first_time, 0);
  fail_unless (caught.contiguous);
  /* All of them are finite. */
  fail_unless_equals_float (tfx_caught_distance (&caught, &caught), 0.0);
}
GST_END_TEST;

/* The same to the bit. */
static const gchar *const pairs[][2] = {
  /* Planar and interleaved, through real elements too. */
  { SAW "tfxbutterworth ! tfxchebyshev" SINK,
      SAW "audioconvert ! audio/x-raw,layout=non-interleaved ! "
          "tfxbutterworth ! tfxchebyshev ! audioconvert ! "
          "audio/x-raw,layout=interleaved" SINK },
  /* A tee hands the same memory to both branches: neither hears the other. */
  { SAW "tfxbutterworth" SINK,
      SAW "tee name=t ! queue ! tfxbutterworth" SINK
          " t. ! queue ! tfxchebyshev mode=high-pass ! fakesink "
          "t. ! queue ! fakesink" },
};

GST_START_TEST (test_pairs)
{
  g_auto (TfxCaught) one, other;

  tfx_play (pairs[__i__][0], &one);
  tfx_play (pairs[__i__][1], &other);
  fail_unless_equals_float (tfx_caught_distance (&one, &other), 0.0);
}
GST_END_TEST;

/* What the elements cannot take is an error of the pipeline, not a crash. */
GST_START_TEST (test_not_negotiated)
{
  GstElement *pipeline = tfx_play_make ("audiotestsrc num-buffers=10 ! "
                                        "capsfilter name=c ! tfxbutterworth ! "
                                        "fakesink",
      NULL);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "c");

  gst_util_set_object_arg (G_OBJECT (filter), "caps",
      "audio/x-raw,format=S16LE");
  gst_object_unref (filter);
  tfx_play_run (pipeline, GST_MESSAGE_ERROR);
  tfx_play_stop (pipeline);
}
GST_END_TEST;

/* The events and buffers behind the element come in an order that is allowed. */
GST_START_TEST (test_consistency)
{
  GstElement *pipeline =
      tfx_play_make (NOISE "tfxbutterworth ! tfxchebyshev name=last ! fakesink",
          NULL);
  g_autoptr (GstElement) last =
      gst_bin_get_by_name (GST_BIN (pipeline), "last");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (last, "src");
  GstStreamConsistency *checker = gst_consistency_checker_new (pad);

  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  gst_consistency_checker_free (checker);
  tfx_play_stop (pipeline);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("pipelines");

  tcase_add_loop_test (tc, test_chains, 0, G_N_ELEMENTS (chains));
  tcase_add_loop_test (tc, test_pairs, 0, G_N_ELEMENTS (pairs));
  tcase_add_test (tc, test_not_negotiated);
  tcase_add_test (tc, test_consistency);
  return tfx_check_run (argc, argv, tc);
}
