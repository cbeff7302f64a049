/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_files.c: impulse responses from sound files, good ones and bad ones.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <sndfile.h>
#include <string.h>
#include <unistd.h>

#include "firs.h"

#define RATE 48000
#define BLOCK 480

static void
set_location (GstElement *element, const gchar *path)
{
  g_object_set (element, "kernel-location", path, NULL);
}

static void
drop_file (gchar *path)
{
  g_unlink (path);
  g_free (path);
}

/* n_kernels impulse responses as frames of a file. */
static gdouble *
interleave (const gdouble *taps, guint n_kernels, gsize n_taps)
{
  gdouble *frames = g_new (gdouble, n_kernels * n_taps);

  for (guint k = 0; k < n_kernels; k++) {
    for (gsize i = 0; i < n_taps; i++)
      frames[i * n_kernels + k] = taps[k * n_taps + i];
  }
  return frames;
}

/* taps[n_kernels][n_taps] */
static gdouble *
make_rooms (guint n_kernels, gsize n_taps)
{
  gdouble *taps = g_new (gdouble, n_kernels * n_taps);

  for (guint k = 0; k < n_kernels; k++) {
    gdouble *room = tfx_firs_room (n_taps, 5 + k);

    memcpy (taps + k * n_taps, room, n_taps * sizeof *room);
    g_free (room);
  }
  return taps;
}

static gchar *
write_rooms (const gdouble *taps, guint n_kernels, gsize n_taps, guint rate)
{
  gdouble *frames = interleave (taps, n_kernels, n_taps);
  gchar *path = tfx_firs_write_wav (frames, n_taps, n_kernels, rate);

  g_free (frames);
  return path;
}

/* ---- good ones --------------------------------------------------------------------- */

/* One for all channels, one for each. */
GST_START_TEST (test_channels)
{
  static const struct
  {
    guint n_kernels;
    gint n_channels;
    gsize n_taps, n_frames;
  } cases[] = { { 1, 1, 100, 3000 }, { 1, 5, 3000, 5000 }, { 2, 2, 100, 3000 },
    { 8, 8, 700, 3000 }, { 2, 2, 480000, 9000 } };
  guint n_k = cases[__i__ / 2].n_kernels;
  gint n_ch = cases[__i__ / 2].n_channels;
  gsize n_taps = cases[__i__ / 2].n_taps, n = cases[__i__ / 2].n_frames;
  GstAudioInfo info =
      tfx_check_info (__i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          RATE, n_ch, GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *taps = make_rooms (n_k, n_taps), *in = tfx_check_noise (n * n_ch, 3);
  gdouble *expected = tfx_firs_convolve (taps, n_k, n_taps, 0, in, n, n_ch);
  gchar *path = write_rooms (taps, n_k, n_taps, RATE);
  gchar *launch = g_strdup_printf ("tfxfir kernel-location=\"%s\"", path);
  TfxCatch *caught = tfx_firs_play (launch, &info, in, n, 0, BLOCK);

  tfx_firs_expect_whole (caught, n, 0, RATE);
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught), expected,
                   n * n_ch) < (__i__ & 1 ? -240.0 : -128.0));
  tfx_firs_catch_free (caught);
  g_free (launch);
  g_free (in);
  g_free (taps);
  g_free (expected);
  drop_file (path);
}
GST_END_TEST;

/* Any kind of file: 24 bits, lossless. */
GST_START_TEST (test_flac)
{
  SF_INFO format = { .samplerate = RATE,
    .channels = 1,
    .format = SF_FORMAT_FLAC | SF_FORMAT_PCM_24 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  gdouble *taps = tfx_firs_room (1000, 5), *in = tfx_check_noise (3000, 3);
  gchar *path = g_strdup ("tfx-test-kernel.flac"), *launch;
  gdouble *expected;
  SNDFILE *file = sf_open (path, SFM_WRITE, &format);
  TfxCatch *caught;

  for (gsize i = 0; i < 1000; i++)
    taps[i] = round (taps[i] * 8388608.0) / 8388608.0;
  fail_unless (file != NULL);
  sf_writef_double (file, taps, 1000);
  sf_close (file);
  launch = g_strdup_printf ("tfxfir kernel-location=%s", path);
  caught = tfx_firs_play (launch, &info, in, 3000, 0, BLOCK);
  expected = tfx_firs_convolve (taps, 1, 1000, 0, in, 3000, 1);
  fail_unless (
      tfx_firs_error_db (tfx_firs_samples (caught), expected, 3000) < -128.0);
  tfx_firs_catch_free (caught);
  g_free (launch);
  g_free (in);
  g_free (taps);
  g_free (expected);
  drop_file (path);
}
GST_END_TEST;

/* A file comes before numbers, numbers before a design; without the file the
 * numbers are there again. */
GST_START_TEST (test_precedence)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = gst_harness_new ("tfxfir");
  static const gdouble three = 3.0, two[] = { 2.0 };
  gchar *path = tfx_firs_write_wav (&three, 1, 1, RATE);
  gdouble in[BLOCK];
  TfxCatch *caught = tfx_firs_catch_new ();
  static const gdouble levels[] = { 3.0, 2.0, 1.0 };

  for (guint i = 0; i < BLOCK; i++)
    in[i] = 1.0;
  set_location (h->element, path);
  tfx_firs_set_kernel (h->element, two, 1);
  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 3; i++) {
    tfx_firs_push (h, &info, in, BLOCK, 0, BLOCK);
    tfx_firs_end (h);
    tfx_firs_collect (caught, h, &info);
    fail_unless (
        fabs (tfx_firs_samples (caught)[BLOCK / 2] - levels[i]) < 1e-4);
    tfx_firs_forget (caught);
    if (i == 0)
      set_location (h->element, __i__ ? "" : NULL);
    else
      tfx_firs_set_kernel (h->element, NULL, 0);
  }
  tfx_firs_catch_free (caught);
  gst_harness_teardown (h);
  drop_file (path);
}
GST_END_TEST;

/* ---- other rates --------------------------------------------------------------------- */

/* The response at a frequency; frame `at` is time 0. */
static void
find_response (const gdouble *h, gsize n, gssize at, gdouble hz, gdouble rate,
    gdouble *gain, gdouble *phase)
{
  gdouble re = 0.0, im = 0.0;

  for (gsize i = 0; i < n; i++) {
    gdouble w = 2.0 * G_PI * hz / rate * ((gssize)i - at);

    re += h[i] * cos (w);
    im -= h[i] * sin (w);
  }
  *gain = hypot (re, im);
  *phase = atan2 (im, re);
}

typedef enum
{
  LATE_PULSE,  /* begins softly, not symmetric */
  EARLY_PULSE, /* full strength in the first sample */
  SYMMETRIC
} Shape;

static gdouble *
make_pulse (Shape shape, gsize n, guint rate)
{
  gdouble *x = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++) {
    gdouble t = (gdouble)i / rate, c = 0.5 * (n - 1) / rate;

    switch (shape) {
      case LATE_PULSE:
        x[i] = exp (-pow ((t - 0.01) * 3000, 2)) +
               0.5 * exp (-pow ((t - 0.012) * 2000, 2));
        break;
      case EARLY_PULSE:
        x[i] = (i == 0) + 0.1 * exp (-300.0 * t) * cos (9000 * t);
        break;
      default:
        x[i] = exp (-pow ((t - c) * 3000, 2)) * cos (9000 * (t - c));
    }
    x[i] = (gfloat)x[i];
  }
  return x;
}

/* At another rate a file is the same filter, at the same time: gains within
 * the resampler's ripple, times within its 1/32 of a sample. */
GST_START_TEST (test_other_rates)
{
  static const guint rates[] = { 44100, 96000, 8000, 192000, 44099 };
  static const gdouble frequencies[] = { 0.0, 100.0, 1000.0, 3100.0 };
  Shape shape = __i__ / G_N_ELEMENTS (rates);
  guint rate = rates[__i__ % G_N_ELEMENTS (rates)];
  const gsize n_taps = rate / 40, n = 4000, at = 1000;
  /* Of a kernel of linear phase the middle counts, within half a sample. */
  gdouble middle = shape == SYMMETRIC ? 0.5 * (n_taps - 1) / rate : 0.0;
  gdouble late =
      (shape == SYMMETRIC ? 1.0 / RATE : 0.0) + 1.0 / 32 / MIN (rate, RATE);
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *pulse = make_pulse (shape, n_taps, rate), *in = g_new0 (gdouble, n);
  gchar *path = tfx_firs_write_wav (pulse, n_taps, 1, rate);
  gchar *launch = g_strdup_printf ("tfxfir kernel-location=\"%s\"", path);
  gdouble gain, phase, real_gain, real_phase, turn, largest = 0.0;
  TfxCatch *caught;

  in[at] = 1.0;
  caught = tfx_firs_play (launch, &info, in, n, 0, BLOCK);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  for (guint i = 0; i < G_N_ELEMENTS (frequencies); i++) {
    gdouble hz = frequencies[i];

    find_response (pulse, n_taps, 0, hz, rate, &gain, &phase);
    find_response (tfx_firs_samples (caught), n, at, hz, RATE, &real_gain,
        &real_phase);
    largest = MAX (largest, gain);
    fail_unless (fabs (real_gain - gain) < 2e-5 * largest,
        "shape %d, %u Hz: gain %g for %g at %g Hz", shape, rate, real_gain,
        gain, hz);
    turn =
        remainder (real_phase - phase - 2.0 * G_PI * hz * middle, 2.0 * G_PI);
    fail_unless (fabs (turn) <= 2.0 * G_PI * hz * late * 1.01 + 1e-6,
        "shape %d, %u Hz: phase off by %g at %g Hz", shape, rate, turn, hz);
  }
  tfx_firs_catch_free (caught);
  g_free (launch);
  g_free (in);
  g_free (pulse);
  drop_file (path);
}
GST_END_TEST;

/* ---- bad ones ------------------------------------------------------------------------ */

typedef enum
{
  MISSING,
  FOLDER,
  TEXT,
  NO_SAMPLES,
  SILENT,
  NOT_A_NUMBER,
  TOO_LONG,
  TOO_MANY_CHANNELS,
  RATE_TOO_FAR,
  RATE_TOO_FINE,
  TOO_MANY_SAMPLES,
  TRUNCATED,
  CUT_OFF,
  CUT_DUMP,
  PIPE,
  N_FAULTS
} Fault;

/* What must be said beside the path. */
static const gchar *const fault_words[] = { "No such file", "it is a folder",
  "readable sound file", "it has no samples", "it is silent",
  "frame 3 is nan in channel 0", "16777217 frames long; at most 16777216",
  "it has 3 channels, but the stream has 2", "too far from the 48000 Hz",
  "no common period of at most 1048576 frames", "at most 134217728 samples",
  "it ends after", "it is cut off", "it has 148 bytes of the 6658504",
  "it is not a file" };

static gchar *
write_other (gint format, guint rate, const gdouble *samples, gsize n)
{
  SF_INFO info = { .samplerate = rate, .channels = 1, .format = format };
  gchar *path = tfx_firs_write_wav (samples, 1, 1, rate);
  SNDFILE *file = sf_open (path, SFM_WRITE, &info);

  fail_unless (file != NULL, "%s", sf_strerror (NULL));
  fail_unless_equals_int (sf_writef_double (file, samples, n), n);
  sf_close (file);
  return path;
}

/* A WAV file of 8 bits whose samples take no room on the disk. */
static gchar *
write_sparse (guint16 n_channels, guint32 n_frames)
{
  guint8 head[44] = "RIFF....WAVEfmt \x10\0\0\0\1\0..\x80\xbb\0\0........data";
  const guint32 size = n_channels * n_frames;
  gchar *path = tfx_firs_write_wav (&(gdouble){ 1.0 }, 1, 1, RATE);

  GST_WRITE_UINT32_LE (head + 4, size + 36);
  GST_WRITE_UINT16_LE (head + 22, n_channels);
  GST_WRITE_UINT32_LE (head + 28, RATE * n_channels);
  GST_WRITE_UINT16_LE (head + 32, n_channels);
  GST_WRITE_UINT16_LE (head + 34, 8);
  GST_WRITE_UINT32_LE (head + 40, size);
  fail_unless (g_file_set_contents (path, (gchar *)head, sizeof head, NULL));
  fail_unless_equals_int (truncate (path, sizeof head + size), 0);
  return path;
}

/* A MIDI sample dump of the most samples there can be, with its first packet alone. */
static gchar *
write_cut_dump (void)
{
  guint8 bytes[148] = "\xf0\x7e\0\1\0\0\x10\x13\x31\1\x7f\x7f\x7f";
  gchar *path = tfx_firs_write_wav (&(gdouble){ 1.0 }, 1, 1, RATE);

  bytes[20] = bytes[147] = 0xf7;
  memcpy (bytes + 21, "\xf0\x7e\0\2", 4);
  fail_unless (g_file_set_contents (path, (gchar *)bytes, sizeof bytes, NULL));
  return path;
}

/* The path of such a file, to be given to drop_fault(). */
static gchar *
make_fault (Fault fault)
{
  static const gdouble one[3] = { 1.0, 1.0, 1.0 };
  gdouble *noise, x[8] = { 1.0 };
  gchar *path;

  switch (fault) {
    case MISSING:
      return g_strdup ("/no/such/kernel.wav");
    case FOLDER:
      return g_dir_make_tmp ("tfx-XXXXXX", NULL);
    case TEXT:
      path = tfx_firs_write_wav (one, 1, 1, RATE);
      g_file_set_contents (path, "no sound in this", -1, NULL);
      return path;
    case NO_SAMPLES:
      return tfx_firs_write_wav (one, 0, 1, RATE);
    case SILENT:
      noise = g_new0 (gdouble, 1000);
      path = tfx_firs_write_wav (noise, 1000, 1, RATE);
      g_free (noise);
      return path;
    case NOT_A_NUMBER:
      x[3] = NAN;
      return tfx_firs_write_wav (x, 8, 1, RATE);
    case TOO_LONG:
      noise = g_new0 (gdouble, (1 << 24) + 1);
      path = write_other (SF_FORMAT_WAV | SF_FORMAT_PCM_U8, RATE, noise,
          (1 << 24) + 1);
      g_free (noise);
      return path;
    case TOO_MANY_CHANNELS:
      return tfx_firs_write_wav (one, 1, 3, RATE);
    case RATE_TOO_FAR:
      return tfx_firs_write_wav (one, 1, 1, 100);
    case RATE_TOO_FINE:
      return tfx_firs_write_wav (one, 1, 1, 12287987);
    case TOO_MANY_SAMPLES:
      return write_sparse (1000, 2000000);
    case TRUNCATED:
      noise = tfx_check_noise (100000, 3);
      path =
          write_other (SF_FORMAT_FLAC | SF_FORMAT_PCM_24, RATE, noise, 100000);
      g_free (noise);
      fail_unless_equals_int (truncate (path, 100000), 0);
      return path;
    case CUT_OFF:
      noise = tfx_check_noise (1000, 3);
      path = tfx_firs_write_wav (noise, 1000, 1, RATE);
      g_free (noise);
      fail_unless_equals_int (truncate (path, 4000), 0);
      return path;
    case CUT_DUMP:
      return write_cut_dump ();
    default:
      path = tfx_firs_write_wav (one, 1, 1, RATE);
      g_unlink (path);
      fail_unless_equals_int (mkfifo (path, 0600), 0);
      return path;
  }
}

static void
drop_fault (gchar *path)
{
  g_remove (path);
  g_free (path);
}

/* Takes the path.  Expects an error that stops a stream with n_channels. */
static void
expect_fault (gchar *path, gint n_channels, const gchar *words)
{
  GstAudioInfo info = tfx_check_f32 (RATE, n_channels);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (BLOCK * n_channels, 3);
  GstMessage *message;
  GError *error;

  set_location (h->element, path);
  tfx_check_set_info (h, &info);
  fail_unless_equals_int (gst_harness_push (h,
                              tfx_check_buffer (&info, in, BLOCK)),
      GST_FLOW_NOT_NEGOTIATED);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (error->domain == GST_RESOURCE_ERROR);
  fail_unless (strstr (error->message, path) && strstr (error->message, words),
      "'%s'", error->message);
  g_error_free (error);
  gst_message_unref (message);
  g_free (in);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  drop_fault (path);
}

/* Without a kernel from before: an error that stops. */
GST_START_TEST (test_faults_at_start)
{
  expect_fault (make_fault (__i__), 2, fault_words[__i__]);
}
GST_END_TEST;

/* A short file that is a long one at the stream's rate: 1.3 GB. */
GST_START_TEST (test_resampled_size)
{
  const gsize n_frames = 20000;
  gdouble *taps = g_new0 (gdouble, n_frames * 64);

  taps[0] = 1.0;
  expect_fault (tfx_firs_write_wav (taps, n_frames, 64, 375), 64,
      "its 64 channels of 20000 frames at 375 Hz");
  g_free (taps);
}
GST_END_TEST;

/* Pushes blocks of ones until the level behind the filter is `level`; gives back the
 * number of frames that were pushed. */
static gsize
push_until_level (GstHarness *h, const GstAudioInfo *info, TfxCatch *caught,
    guint64 from, gdouble level)
{
  gdouble in[2 * BLOCK];
  gint64 begin = 0;
  gsize n = 0;

  for (guint i = 0; i < 2 * BLOCK; i++)
    in[i] = 1.0;
  do {
    gdouble now = 0.0;

    tfx_firs_push (h, info, in, BLOCK, from + n, BLOCK);
    n += BLOCK;
    tfx_firs_collect (caught, h, info);
    if (caught->n_frames > 0)
      now = tfx_firs_samples (caught)[caught->samples->len - 1];
    if (fabs (now - level) < 1e-4)
      return n;
  } while (tfx_check_wait (&begin));
  fail ("the level never becomes %g", level);
  return n;
}

static void
wait_for_warning (GstBus *bus, GstHarness *h, const GstAudioInfo *info,
    TfxCatch *caught, guint64 *n, const gchar *path, const gchar *word)
{
  gint64 begin = 0;
  gchar *text;

  do {
    *n += push_until_level (h, info, caught, *n, 2.0);
    text = tfx_check_pop_warning (bus);
  } while (!text && tfx_check_wait (&begin));
  fail_unless (text && strstr (text, path) && strstr (text, word) &&
                   strstr (text, "The previous settings stay in use"),
      "'%s'", text);
  g_free (text);
}

/* While playing: a warning, and it goes on as before; a good file may come
 * after. */
GST_START_TEST (test_faults_while_playing)
{
  static const gdouble two[] = { 2.0 };
  gdouble *room = tfx_firs_room (60000, 3), sum = 0.0;
  gchar *bad = make_fault (__i__), *good;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  TfxCatch *caught = tfx_firs_catch_new ();
  guint64 n = 0;

  for (gsize i = 0; i < 60000; i++)
    sum += room[i];
  good = tfx_firs_write_wav (room, 60000, 1, RATE);
  tfx_firs_set_kernel (h->element, two, 1);
  tfx_check_set_info (h, &info);
  n += push_until_level (h, &info, caught, n, 2.0);

  set_location (h->element, bad);
  wait_for_warning (bus, h, &info, caught, &n, bad, fault_words[__i__]);
  /* Told once; other properties, and another start, go with what works. */
  g_object_set (h->element, "align", FALSE, NULL);
  n += push_until_level (h, &info, caught, n, 2.0);
  n += push_until_level (h, &info, caught, n, 2.0);
  tfx_check_expect_no_warning (bus);
  tfx_firs_end (h);
  n += push_until_level (h, &info, caught, n, 2.0);
  tfx_check_expect_no_warning (bus);

  set_location (h->element, good);
  n += push_until_level (h, &info, caught, n, sum);
  tfx_check_expect_no_warning (bus);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_catch_free (caught);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  drop_fault (bad);
  drop_file (good);
  g_free (room);
}
GST_END_TEST;

/* A bad file was refused; then the rate changes: it is tried again, told of
 * again, and the good one is made for the new rate. */
GST_START_TEST (test_fault_and_caps)
{
  static const gdouble two[] = { 2.0 };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  TfxCatch *caught = tfx_firs_catch_new ();
  guint64 n = 0;

  tfx_firs_set_kernel (h->element, two, 1);
  tfx_check_set_info (h, &info);
  n += push_until_level (h, &info, caught, n, 2.0);
  set_location (h->element, "/no/such/kernel.wav");
  wait_for_warning (bus, h, &info, caught, &n, "/no/such/kernel.wav",
      "No such");
  tfx_firs_forget (caught);
  info = tfx_check_f32 (44100, 2);
  tfx_check_set_info (h, &info);
  tfx_check_expect_warning (bus, "/no/such/kernel.wav", "No such file", NULL);
  push_until_level (h, &info, caught, 0, 2.0);
  tfx_check_expect_no_warning (bus);
  tfx_firs_catch_free (caught);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A file for two channels, a stream that becomes one of six: an error that says
 * both, as nothing can be done.  To one that fits the file is not read again. */
GST_START_TEST (test_channels_change)
{
  static const gdouble levels[] = { 2.0, 2.0 };
  gchar *path = tfx_firs_write_wav (levels, 1, 2, RATE);
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  TfxCatch *caught = tfx_firs_catch_new ();
  GstMessage *message;
  GError *error;

  set_location (h->element, path);
  tfx_check_set_info (h, &info);
  push_until_level (h, &info, caught, 0, 2.0);
  drop_file (path);
  info = tfx_check_f32 (44100, 2);
  tfx_check_set_info (h, &info);
  tfx_firs_forget (caught);
  push_until_level (h, &info, caught, 0, 2.0);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);

  info = tfx_check_f32 (44100, 6);
  tfx_check_set_info (h, &info);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message,
                   "it has 2 channels, but the stream has 6"),
      "'%s'", error->message);
  g_error_free (error);
  gst_message_unref (message);
  tfx_firs_catch_free (caught);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The channels of the file limit the caps, so that audioconvert adds the missing one. */
GST_START_TEST (test_channels_in_caps)
{
  static const gdouble levels[] = { 2.0, 2.0 };
  gchar *path = tfx_firs_write_wav (levels, 1, 2, RATE);
  gchar *launch = g_strdup_printf (
      "audiotestsrc num-buffers=1 ! capsfilter caps=audio/x-raw,channels=1 ! "
      "audioconvert ! tfxfir name=f kernel-location=\"%s\" ! fakesink",
      path);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstElement *fir = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  GstPad *pad = gst_element_get_static_pad (fir, "sink");
  GstCaps *caps;
  gint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  caps = gst_pad_get_current_caps (pad);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels", &n);
  fail_unless_equals_int (n, 2);
  gst_caps_unref (caps);
  /* Without the file any number is possible. */
  gst_element_set_state (pipeline, GST_STATE_READY);
  caps = gst_pad_query_caps (pad, NULL);
  fail_unless (!gst_structure_get_int (gst_caps_get_structure (caps, 0),
      "channels", &n));
  gst_caps_unref (caps);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (fir);
  gst_object_unref (pipeline);
  g_free (launch);
  drop_file (path);
}
GST_END_TEST;

/* ---- while playing --------------------------------------------------------------------- */

/* The same name, another content: it is read when it is set. */
GST_START_TEST (test_read_again)
{
  static const gdouble two = 2.0, five = 5.0;
  gchar *path = tfx_firs_write_wav (&two, 1, 1, RATE);
  gchar *other = tfx_firs_write_wav (&five, 1, 1, RATE);
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = gst_harness_new ("tfxfir");
  TfxCatch *caught = tfx_firs_catch_new ();
  guint64 n;

  set_location (h->element, path);
  tfx_check_set_info (h, &info);
  n = push_until_level (h, &info, caught, 0, 2.0);
  fail_unless_equals_int (g_rename (other, path), 0);
  g_object_set (h->element, "align", FALSE, NULL);
  n += push_until_level (h, &info, caught, n, 2.0);
  set_location (h->element, path);
  n += push_until_level (h, &info, caught, n, 5.0);
  /* A new start reads too. */
  gst_element_set_state (h->element, GST_STATE_READY);
  drop_file (path);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  tfx_check_set_info (h, &info);
  gst_harness_push_event (h, gst_event_new_stream_start ("again"));
  tfx_check_set_info (h, &info);
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()),
      GST_FLOW_NOT_NEGOTIATED);
  g_free (other);
  tfx_firs_catch_free (caught);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* One long file after the other, while the element stops, starts and changes:
 * no crash, no error, and the last one wins. */
GST_START_TEST (test_many_files)
{
  gchar *paths[3];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble sum[3] = { 0.0 };
  guint64 n = 0;

  for (guint k = 0; k < 3; k++) {
    gdouble *room = tfx_firs_room (20000 * (k + 1), k + 1);

    for (gsize i = 0; i < 20000 * (k + 1); i++)
      sum[k] += room[i];
    /* Two of them need to be resampled. */
    paths[k] =
        tfx_firs_write_wav (room, 20000 * (k + 1), 1, k == 2 ? RATE : 44100);
    g_free (room);
  }
  set_location (h->element, paths[0]);
  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 300; i++) {
    gdouble in[2 * BLOCK] = { 0.5 };

    set_location (h->element, paths[i % 3]);
    tfx_firs_push (h, &info, in, BLOCK, n, BLOCK);
    n += BLOCK;
    g_usleep (i % 50 * 100);
  }
  set_location (h->element, paths[2]);
  tfx_firs_collect (caught, h, &info);
  n += push_until_level (h, &info, caught, n, sum[2]);
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  fail_unless (gst_bus_pop_filtered (bus,
                   GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);

  /* It stops while a file is being read. */
  set_location (h->element, paths[1]);
  {
    gdouble in[2 * BLOCK] = { 0.5 };

    tfx_firs_push (h, &info, in, BLOCK, RATE * 1000, BLOCK);
  }
  tfx_firs_catch_free (caught);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  for (guint k = 0; k < 3; k++)
    drop_file (paths[k]);
}
GST_END_TEST;

static Suite *
fir_files_suite (void)
{
  Suite *s = suite_create ("fir-files");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_channels, 0, 10);
  tcase_add_test (tc, test_flac);
  tcase_add_loop_test (tc, test_precedence, 0, 2);
  tcase_add_loop_test (tc, test_other_rates, 0, 15);
  tcase_add_loop_test (tc, test_faults_at_start, 0, N_FAULTS);
  tcase_add_test (tc, test_resampled_size);
  tcase_add_loop_test (tc, test_faults_while_playing, 0, N_FAULTS);
  tcase_add_test (tc, test_fault_and_caps);
  tcase_add_test (tc, test_channels_change);
  tcase_add_test (tc, test_channels_in_caps);
  tcase_add_test (tc, test_read_again);
  tcase_add_test (tc, test_many_files);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, fir_files_suite ());
}
