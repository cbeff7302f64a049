/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_sofa.c: HRIR with a SOFA file, against convolutions with the filters that
 * libmysofa itself returns; other rates; files that cannot be used.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <mysofa.h>
#include <string.h>

#include "chains.h"
#include "firs.h"

#define RATE 48000
#define HEAD GOLDEN_DIR "/head.sofa"
#define N 4000

/* What libmysofa has for a direction: its filters after their delays, [2][*n_taps]. */
static gdouble *
find_ears (gdouble azimuth, gdouble elevation, gsize n_taps)
{
  const gfloat a = (gfloat)(azimuth * G_PI / 180.0);
  const gfloat e = (gfloat)(elevation * G_PI / 180.0);
  gdouble *taps = g_new0 (gdouble, 2 * n_taps);
  gfloat ears[2][64], delays[2];
  int n = 0, error = 0;
  struct MYSOFA_EASY *easy = mysofa_open_no_norm (HEAD, RATE, &n, &error);

  fail_unless (easy && n <= 64, "%d", error);
  mysofa_getfilter_float (easy, 1.5f * cosf (e) * cosf (a),
      1.5f * cosf (e) * sinf (a), 1.5f * sinf (e), ears[0], ears[1], &delays[0],
      &delays[1]);
  for (gint ear = 0; ear < 2; ear++) {
    for (gint i = 0; i < n; i++)
      taps[(gsize)ear * n_taps + (gsize)rintf (delays[ear]) + (gsize)i] =
          ears[ear][i];
  }
  mysofa_close (easy);
  return taps;
}

/* ---- samples ---------------------------------------------------------------------- */

#define MAX_TAPS 100

typedef struct
{
  const gchar *arguments;
  guint64 mask;
  gint n_in, lfe; /* -1: none */
  gdouble directions[8][2];
} Case;

static const Case cases[] = {
  /* Measured directions, and some between them. */
  { "", 0x3, 2, -1, { { 30, 0 }, { -30, 0 } } },
  { "", 0x3f, 6, 3,
      { { 30, 0 }, { -30, 0 }, { 0, 0 }, { 0, 0 }, { 110, 0 }, { -110, 0 } } },
  { "", 0xc3f, 8, 3,
      { { 30, 0 }, { -30, 0 }, { 0, 0 }, { 0, 0 }, { 135, 0 }, { -135, 0 },
          { 90, 0 }, { -90, 0 } } },
  { ", azimuth=[10, -333, 77], elevation=[0, 0, -17]", 0x7, 3, -1,
      { { 10, 0 }, { -333, 0 }, { 77, -17 } } },
  { ", azimuth=[60], elevation=[90]", 0, 1, -1, { { 60, 90 } } },
  { ", azimuth=[60, 0], elevation=[30, -80], conv_mode='fft'", 0x3, 2, -1,
      { { 60, 30 }, { 0, -80 } } },
};

static GstAudioInfo
make_info (gint rate, guint64 mask, gint n_channels)
{
  GstAudioChannelPosition positions[64];
  GstAudioInfo info = tfx_check_f64 (rate, n_channels);

  if (n_channels > 1) {
    fail_unless (
        gst_audio_channel_positions_from_mask (n_channels, mask, positions));
    gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, rate, n_channels,
        positions);
  }
  return info;
}

GST_START_TEST (test_directions)
{
  const Case *c = &cases[__i__];
  GstAudioInfo info = make_info (RATE, c->mask, c->n_in);
  g_autofree gchar *chain =
      g_strdup_printf ("HRIR('" HEAD "'%s)", c->arguments);
  GstAudioInfo ears = make_info (RATE, 0x3, 2);
  g_autofree gdouble *in = tfx_check_noise (N * c->n_in, 3);
  g_autofree gdouble *expected = g_new0 (gdouble, N * 2);
  g_autofree gdouble *x = g_new (gdouble, N);
  g_autoptr (TfxHarness) h = tfx_chains_harness (chain, &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  gdouble error;

  for (gint k = 0; k < c->n_in; k++) {
    g_autofree gdouble *taps =
        find_ears (c->directions[k][0], c->directions[k][1], MAX_TAPS);

    for (gsize i = 0; k == c->lfe && i < MAX_TAPS; i++)
      taps[i] = taps[MAX_TAPS + i] = 0.5 * (taps[i] + taps[MAX_TAPS + i]);
    for (gsize i = 0; i < N; i++)
      x[i] = in[i * c->n_in + k];
    for (gsize ear = 0; ear < 2; ear++) {
      g_autofree gdouble *y =
          tfx_firs_convolve (taps + ear * MAX_TAPS, 1, MAX_TAPS, 0, x, N, 1);

      for (gsize i = 0; i < N; i++)
        expected[2 * i + ear] += y[i];
    }
  }
  tfx_firs_push (h, &info, in, N, 0, 333);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  tfx_firs_collect (caught, h, &ears);
  tfx_firs_expect_whole (caught, N, 0, RATE);
  error = tfx_firs_error_db (tfx_firs_samples (caught), expected, 2 * N);
  fail_unless (error < -140.0, "%s: %.1f dB", chain, error);
}
GST_END_TEST;

/* At another rate it is what Convolve makes of the same filters in a sound file. */
GST_START_TEST (test_rate)
{
  static const gint rates[] = { 44100, 96000, 8000 };
  GstAudioInfo info = make_info (rates[__i__], 0x3, 2);
  g_autofree gdouble *left = find_ears (60, 0, 40);
  g_autofree gdouble *right = find_ears (-30, 30, 40);
  g_autofree gdouble *frames = g_new (gdouble, 40 * 4);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 3), *out = NULL,
                     *expected = NULL;
  g_autofree gchar *path = NULL, *text = NULL;
  g_autoptr (TfxHarness) h = NULL, convolve = NULL;

  for (gsize i = 0; i < 40; i++) {
    for (gsize ear = 0; ear < 2; ear++) {
      frames[4 * i + ear] = left[40 * ear + i];
      frames[4 * i + 2 + ear] = right[40 * ear + i];
    }
  }
  path = tfx_firs_write_sound ("ears.wav", TFX_FIRS_WAV, frames, 40, 4, RATE);
  text = g_strdup_printf ("Convolve('%s', layout='true-stereo')", path);
  convolve = tfx_chains_harness (text, &info);
  h = tfx_chains_harness ("HRIR('" HEAD
                          "', azimuth=[60, -30], elevation=[0, 30])",
      &info);
  expected = tfx_check_filter (convolve, &info, in, N, 480);
  out = tfx_check_filter (h, &info, in, N, 480);
  fail_unless (tfx_firs_error_db (out, expected, 2 * N) < -140.0);
}
GST_END_TEST;

/* The output does not depend on the buffers, to rounding, and is cross-faded to other directions
 * without a click. */
GST_START_TEST (test_splits_and_turns)
{
  static const gsize sizes[] = { N, 1, 37, 480 };
  GstAudioInfo info = make_info (RATE, 0x3, 2);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 3), *whole = NULL;
  gdouble step[2] = { 0.0, 0.0 }, last[2];

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (TfxHarness) h = tfx_chains_harness ("HRIR('" HEAD "')", &info);
    g_autofree gdouble *out = tfx_check_filter (h, &info, in, N, sizes[i]);

    if (whole)
      fail_unless (tfx_firs_error_db (out, whole, 2 * N) < -280.0);
    else
      whole = g_steal_pointer (&out);
  }
  for (gsize i = 0; i < 2 * N; i++)
    in[i] = sin (2.0 * G_PI * 200.0 * (gdouble)(i / 2) / RATE);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (TfxHarness) h = tfx_chains_harness ("x=HRIR('" HEAD "')", &info);
    g_autofree gdouble *out = tfx_check_filter (h, &info, in, N / 2, 480);
    g_autofree gdouble *more = NULL;

    if (i == 1)
      g_object_set (h->element, "chain",
          "x=HRIR('" HEAD "', azimuth=[90, -90])", NULL);
    more = tfx_check_filter (h, &info, in + N, N / 2, 480);
    for (gsize k = 2; k < N; k++)
      step[i] = fmax (step[i], fabs (more[k] - more[k - 2]));
    for (gsize ear = 0; ear < 2; ear++)
      step[i] = fmax (step[i], fabs (more[ear] - out[N - 2 + ear]));
    last[i] = more[N - 2];
  }
  fail_unless (last[0] != last[1]);
  fail_unless (step[1] < 1.5 * step[0], "%g, not %g", step[1], step[0]);
}
GST_END_TEST;

/* ---- faults ------------------------------------------------------------------------ */

GST_START_TEST (test_faults)
{
  const gchar *folder = tfx_check_folder ();
  g_autofree gchar *head = NULL, *text = NULL, *cut = NULL, *missing = NULL;
  g_autofree gchar *cut_path = g_build_filename (folder, "cut.sofa", NULL);
  g_autofree gchar *text_path = tfx_check_write ("text.sofa", "0.5\n");
  gsize length;

  fail_unless (g_file_get_contents (HEAD, &head, &length, NULL));
  text = g_strdup_printf ("HRIR('%s', azimuth=[0])", text_path);
  cut = g_strdup_printf ("HRIR('%s', azimuth=[0])", cut_path);
  missing = g_strdup_printf ("HRIR('%s/none.sofa', azimuth=[0])", folder);
  tfx_chains_expect_refused ("chain", text, "line 1, column 6",
      "text.sofa' cannot be used: it is not a SOFA file", NULL);
  tfx_chains_expect_refused ("chain", missing, "No such file", NULL);
  tfx_chains_expect_refused ("chain", "Convolve('" HEAD "')",
      "an impulse response for each direction", NULL);
  /* A truncated file is an error, or all of its impulse responses are there. */
  for (gsize n = 0; n < length; n += length / 40) {
    fail_unless (g_file_set_contents (cut_path, head, (gssize)n, NULL));
    tfx_chains_expect_refused ("chain", cut, "cut.sofa' cannot be used", NULL);
  }
  g_unlink (cut_path);
}
GST_END_TEST;

/* More than two channels without positions need azimuths. */
GST_START_TEST (test_unpositioned)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 3);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxchain", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gdouble *in = tfx_check_noise (3 * 480, 3);

  g_object_set (h->element, "chain", "HRIR('" HEAD "')", NULL);
  gst_harness_push (h, tfx_check_buffer (&info, in, 480));
  message = gst_bus_timed_pop_filtered (bus, 5 * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "has no position"), "%s",
      error->message);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("sofa");

  tfx_check_folder ();
  tcase_add_loop_test (tc, test_directions, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_rate, 0, 3);
  tcase_add_test (tc, test_splits_and_turns);
  tcase_add_test (tc, test_faults);
  tcase_add_test (tc, test_unpositioned);
  return tfx_check_run (argc, argv, tc);
}
