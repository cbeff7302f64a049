/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_files.c: impulse responses from sound files, good ones and bad ones.
 */
#include <glib/gstdio.h>
#include <math.h>
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
  const guint n_k = cases[__i__ / 2].n_kernels;
  const gint n_ch = cases[__i__ / 2].n_channels;
  const gsize n_taps = cases[__i__ / 2].n_taps, n = cases[__i__ / 2].n_frames;
  GstAudioInfo info =
      __i__ & 1 ? tfx_check_f64 (RATE, n_ch) : tfx_check_f32 (RATE, n_ch);
  /* As tfx_firs_convolve() reads them, and as frames of a file. */
  g_autofree gdouble *taps = g_new (gdouble, n_k * n_taps),
                     *frames = g_new (gdouble, n_k * n_taps);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 3), *expected = NULL;
  g_autofree gchar *path = NULL, *launch = NULL;
  g_autoptr (TfxCatch) caught = NULL;

  for (guint k = 0; k < n_k; k++) {
    g_autofree gdouble *room = tfx_firs_room (n_taps, 5 + k);

    for (gsize i = 0; i < n_taps; i++)
      taps[k * n_taps + i] = frames[i * n_k + k] = room[i];
  }
  expected = tfx_firs_convolve (taps, n_k, n_taps, 0, in, n, n_ch);
  path = tfx_firs_write_sound ("rooms.wav", TFX_FIRS_WAV, frames, n_taps, n_k,
      RATE);
  launch = g_strdup_printf ("tfxfir kernel-location=\"%s\"", path);
  caught = tfx_firs_play (launch, &info, in, n, 0, BLOCK);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_db (caught, expected, __i__ & 1 ? -240.0 : -128.0, "rooms");
}
GST_END_TEST;

/* ---- good ones --------------------------------------------------------------------- */

/* Any kind of file: 24 bits, lossless. */
GST_START_TEST (test_flac)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *taps = tfx_firs_room (1000, 5), *expected = NULL,
                     *in = tfx_check_noise (3000, 3);
  g_autofree gchar *path = NULL, *launch = NULL;
  g_autoptr (TfxCatch) caught = NULL;

  for (gsize i = 0; i < 1000; i++)
    taps[i] = round (taps[i] * 8388608.0) / 8388608.0;
  path = tfx_firs_write_sound ("kernel.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24,
      taps, 1000, 1, RATE);
  launch = g_strdup_printf ("tfxfir kernel-location=\"%s\"", path);
  caught = tfx_firs_play (launch, &info, in, 3000, 0, BLOCK);
  expected = tfx_firs_convolve (taps, 1, 1000, 0, in, 3000, 1);
  tfx_firs_expect_db (caught, expected, -128.0, path);
}
GST_END_TEST;

/* A file comes before numbers, numbers before a design; without the file the
 * numbers are there again. */
GST_START_TEST (test_precedence)
{
  static const gdouble two[] = { 2.0 }, levels[] = { 3.0, 2.0, 1.0 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxfir");
  g_autofree gchar *path =
      tfx_firs_write_sound ("three.wav", TFX_FIRS_WAV, levels, 1, 1, RATE);
  g_autofree gdouble *in = tfx_check_constant (BLOCK, 1.0);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

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
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *pulse = make_pulse (shape, n_taps, rate),
                     *in = g_new0 (gdouble, n);
  g_autofree gchar *path =
      tfx_firs_write_sound ("pulse.wav", TFX_FIRS_WAV, pulse, n_taps, 1, rate);
  g_autofree gchar *launch =
      g_strdup_printf ("tfxfir kernel-location=\"%s\"", path);
  gdouble gain, phase, real_gain, real_phase, turn, largest = 0.0;
  g_autoptr (TfxCatch) caught = NULL;

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
}
GST_END_TEST;

/* ---- bad ones ------------------------------------------------------------------------ */

#define BYTES(text) .bytes = text, .n_bytes = sizeof (text) - 1
#define SOUND(form, n_ch, hz, n, gain)                                         \
  .format = form, .n_channels = n_ch, .rate = hz, .n_frames = n, .level = gain
#define WAV(n_ch, hz, n, gain) SOUND (TFX_FIRS_WAV, n_ch, hz, n, gain)

/* What is said beside the path, and what the file is: one that is there, bytes, sound,
 * or else a pipe. */
typedef struct
{
  const gchar *words;
  const gchar *path;
  const gchar *bytes;
  gsize n_bytes;
  gint format;
  guint n_channels, rate;
  gsize n_frames;
  gdouble level;
  gdouble fourth; /* sample, unless 0 */
  guint64 size;   /* that it is cut or extended to, unless 0 */
} Fault;

static const Fault faults[] = {
  { "No such file", .path = "/no/such/kernel.wav" },
  { "it is a folder", .path = "/dev" },
  { "readable sound file", BYTES ("no sound in this") },
  { "it has no samples", WAV (1, RATE, 0, 1.0) },
  { "it is silent", WAV (1, RATE, 1000, 0.0) },
  { "frame 3 is nan in channel 0", WAV (1, RATE, 8, 1.0), .fourth = NAN },
  { "16777217 frames long; at most 16777216",
      SOUND (SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 1, RATE, (1 << 24) + 1, 0.0) },
  { "it has 3 channels, but the stream has 2", WAV (3, RATE, 1, 1.0) },
  { "too far from the 48000 Hz", WAV (1, 100, 1, 1.0) },
  { "no common period of at most 1048576 frames", WAV (1, 12287987, 1, 1.0) },
  /* 8 bits, 2,000,000 frames of 1000 channels that take no room on the disk */
  { "at most 134217728 samples",
      BYTES ("RIFF\x24\x94\x35\x77WAVEfmt \x10\0\0\0\1\0\xe8\x03\x80\xbb\0\0\0"
             "\x6c\xdc\x02\xe8\x03\x08\0data\0\x94\x35\x77"),
      .size = 44 + 2000000000 },
  { "it ends after",
      SOUND (SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 1, RATE, 100000, 1.0),
      .size = 100000 },
  { "it is cut off", WAV (1, RATE, 1000, 1.0), .size = 4000 },
  /* a MIDI sample dump of the most samples there can be, with a packet alone */
  { "it has 148 bytes of the 6658504",
      BYTES ("\xf0\x7e\0\1\0\0\x10\x13\x31\1\x7f\x7f\x7f\0\0\0\0\0\0\0\xf7"
             "\xf0\x7e\0\2"),
      .size = 148 },
  { "it is not a file" },
};

static gchar *
make_fault (const Fault *f)
{
  const gsize n = f->n_frames * f->n_channels;
  gchar *path = f->path ? g_strdup (f->path) : tfx_check_path ("bad");

  if (f->bytes) {
    g_free (tfx_check_write_bytes ("bad", f->bytes, f->n_bytes));
  } else if (f->format) {
    g_autofree gdouble *x =
        f->level != 0.0 ? tfx_check_noise (n + 1, 3) : g_new0 (gdouble, n + 1);

    if (f->fourth != 0.0)
      x[3] = f->fourth;
    g_free (tfx_firs_write_sound ("bad", f->format, x, f->n_frames,
        f->n_channels, f->rate));
  } else if (!f->path) {
    g_unlink (path);
    fail_unless_equals_int (mkfifo (path, 0600), 0);
  }
  if (f->size)
    fail_unless_equals_int (truncate (path, f->size), 0);
  return path;
}

/* An error that stops a stream with n_channels. */
static void
expect_fault (const gchar *path, gint n_channels, const gchar *words)
{
  GstAudioInfo info = tfx_check_f32 (RATE, n_channels);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxfir");
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (BLOCK * n_channels, 3);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;

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
}

/* Without a kernel from before: an error that stops. */
GST_START_TEST (test_faults_at_start)
{
  g_autofree gchar *path = make_fault (&faults[__i__]);

  expect_fault (path, 2, faults[__i__].words);
}
GST_END_TEST;

/* A short file that is a long one at the stream's rate: 1.3 GB. */
GST_START_TEST (test_resampled_size)
{
  const gsize n_frames = 20000;
  g_autofree gdouble *taps = tfx_check_noise (n_frames * 64, 1);
  g_autofree gchar *path =
      tfx_firs_write_sound ("small.wav", TFX_FIRS_WAV, taps, n_frames, 64, 375);

  expect_fault (path, 64, "its 64 channels of 20000 frames at 375 Hz");
}
GST_END_TEST;

/* A stream of ones through a tfxfir, with all that it puts out. */
typedef struct
{
  GstAudioInfo info;
  GstHarness *h;
  GstBus *bus;
  TfxCatch *caught;
  guint64 n; /* frames that have gone in */
} Stream;

static void
close_stream (Stream *s)
{
  tfx_firs_catch_free (s->caught);
  gst_object_unref (s->bus);
  tfx_check_close (s->h);
}

/* As many channels at another rate are another stream. */
static void
start_stream (Stream *s, gint rate, gint n_channels)
{
  tfx_firs_forget (s->caught);
  s->info = tfx_check_f32 (rate, n_channels);
  s->n = 0;
  tfx_check_set_info (s->h, &s->info);
}

/* With this file, or with a kernel of one tap, 2. */
static void
open_stream (Stream *s, const gchar *path)
{
  static const gdouble two[] = { 2.0 };

  s->h = gst_harness_new ("tfxfir");
  s->bus = tfx_check_bus (s->h);
  s->caught = tfx_firs_catch_new ();
  if (path)
    set_location (s->h->element, path);
  else
    tfx_firs_set_kernel (s->h->element, two, 1);
  start_stream (s, RATE, 2);
}

static void
push_block (Stream *s)
{
  g_autofree gdouble *ones = tfx_check_constant (2 * BLOCK, 1.0);

  tfx_firs_push (s->h, &s->info, ones, BLOCK, s->n, BLOCK);
  s->n += BLOCK;
  tfx_firs_collect (s->caught, s->h, &s->info);
}

/* Pushes blocks until the level behind the filter is `level`. */
static void
push_until (Stream *s, gdouble level)
{
  gint64 begin = 0;
  gdouble now = 0.0;

  do {
    push_block (s);
    if (s->caught->n_frames > 0)
      now = tfx_firs_samples (s->caught)[s->caught->samples->len - 1];
    if (fabs (now - level) < 1e-4)
      return;
  } while (tfx_check_wait (&begin));
  fail ("the level never becomes %g", level);
}

/* It comes while the kernel of 2 stays. */
static void
wait_for_warning (Stream *s, const gchar *path, const gchar *word)
{
  gint64 begin = 0;
  g_autofree gchar *text = NULL;

  do {
    push_until (s, 2.0);
    text = tfx_check_pop_warning (s->bus);
  } while (!text && tfx_check_wait (&begin));
  fail_unless (text && strstr (text, path) && strstr (text, word) &&
                   strstr (text, "The previous settings stay in use"),
      "'%s'", text);
}

/* While playing: a warning, and it goes on as before; a good file may come
 * after. */
GST_START_TEST (test_faults_while_playing)
{
  g_autofree gdouble *room = tfx_firs_room (60000, 3);
  g_autofree gchar *bad = make_fault (&faults[__i__]);
  g_autofree gchar *good =
      tfx_firs_write_sound ("good.wav", TFX_FIRS_WAV, room, 60000, 1, RATE);
  gdouble sum = 0.0;
  Stream s;

  for (gsize i = 0; i < 60000; i++)
    sum += room[i];
  open_stream (&s, NULL);
  push_until (&s, 2.0);

  set_location (s.h->element, bad);
  wait_for_warning (&s, bad, faults[__i__].words);
  /* Told once; other properties, and another start, go with what works. */
  g_object_set (s.h->element, "align", FALSE, NULL);
  push_until (&s, 2.0);
  push_until (&s, 2.0);
  tfx_check_expect_no_warning (s.bus);
  tfx_firs_end (s.h);
  push_until (&s, 2.0);
  tfx_check_expect_no_warning (s.bus);

  set_location (s.h->element, good);
  push_until (&s, sum);
  tfx_check_expect_no_warning (s.bus);
  tfx_firs_expect_whole (s.caught, s.n, 0, RATE);
  close_stream (&s);
}
GST_END_TEST;

/* A bad file was refused; then the rate changes: it is tried again, told of
 * again, and the good one is made for the new rate. */
GST_START_TEST (test_fault_and_caps)
{
  Stream s;

  open_stream (&s, NULL);
  push_until (&s, 2.0);
  set_location (s.h->element, "/no/such/kernel.wav");
  wait_for_warning (&s, "/no/such/kernel.wav", "No such");
  start_stream (&s, 44100, 2);
  tfx_check_expect_warning (s.bus, "/no/such/kernel.wav", "No such file", NULL);
  push_until (&s, 2.0);
  tfx_check_expect_no_warning (s.bus);
  close_stream (&s);
}
GST_END_TEST;

/* A file for two channels, a stream that becomes one of six: an error that says
 * both, as nothing can be done.  To one that fits the file is not read again. */
GST_START_TEST (test_channels_change)
{
  static const gdouble levels[] = { 2.0, 2.0 };
  g_autofree gchar *path =
      tfx_firs_write_sound ("two.wav", TFX_FIRS_WAV, levels, 1, 2, RATE);
  Stream s;

  open_stream (&s, path);
  push_until (&s, 2.0);
  g_unlink (path);
  start_stream (&s, 44100, 2);
  push_until (&s, 2.0);
  fail_unless (gst_bus_pop_filtered (s.bus, GST_MESSAGE_ERROR) == NULL);

  start_stream (&s, 44100, 6);
  tfx_check_expect_error (s.bus, "it has 2 channels, but the stream has 6",
      NULL);
  close_stream (&s);
}
GST_END_TEST;

/* The channels of the file limit the caps, so that audioconvert adds the missing one. */
GST_START_TEST (test_channels_in_caps)
{
  static const gdouble levels[] = { 2.0, 2.0 };
  g_autofree gchar *path =
      tfx_firs_write_sound ("two.wav", TFX_FIRS_WAV, levels, 1, 2, RATE);
  g_autofree gchar *launch = g_strdup_printf (
      "audiotestsrc num-buffers=1 ! capsfilter caps=audio/x-raw,channels=1 ! "
      "audioconvert ! tfxfir name=f kernel-location=\"%s\" ! fakesink",
      path);
  g_autoptr (TfxElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) fir = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (fir, "sink");
  g_autoptr (GstCaps) caps = NULL, all = NULL;
  gint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  caps = gst_pad_get_current_caps (pad);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels", &n);
  fail_unless_equals_int (n, 2);
  /* Without the file any number is possible. */
  gst_element_set_state (pipeline, GST_STATE_READY);
  all = gst_pad_query_caps (pad, NULL);
  fail_unless (
      !gst_structure_get_int (gst_caps_get_structure (all, 0), "channels", &n));
}
GST_END_TEST;

/* ---- while playing --------------------------------------------------------------------- */

/* The same name, another content: it is read when it is set. */
GST_START_TEST (test_read_again)
{
  static const gdouble two = 2.0, five = 5.0;
  g_autofree gchar *path =
      tfx_firs_write_sound ("again.wav", TFX_FIRS_WAV, &two, 1, 1, RATE);
  g_autofree gchar *other =
      tfx_firs_write_sound ("other.wav", TFX_FIRS_WAV, &five, 1, 1, RATE);
  Stream s;

  open_stream (&s, path);
  push_until (&s, 2.0);
  fail_unless_equals_int (g_rename (other, path), 0);
  g_object_set (s.h->element, "align", FALSE, NULL);
  push_until (&s, 2.0);
  set_location (s.h->element, path);
  push_until (&s, 5.0);
  /* A new start reads too. */
  gst_element_set_state (s.h->element, GST_STATE_READY);
  g_unlink (path);
  gst_element_set_state (s.h->element, GST_STATE_PLAYING);
  tfx_check_set_info (s.h, &s.info);
  gst_harness_push_event (s.h, gst_event_new_stream_start ("again"));
  tfx_check_set_info (s.h, &s.info);
  fail_unless_equals_int (gst_harness_push (s.h, gst_buffer_new ()),
      GST_FLOW_NOT_NEGOTIATED);
  close_stream (&s);
}
GST_END_TEST;

/* One long file after the other, while the element stops, starts and changes:
 * no crash, no error, and the last one wins. */
GST_START_TEST (test_many_files)
{
  gchar *paths[3];
  gdouble sum = 0.0;
  Stream s;

  for (guint k = 0; k < 3; k++) {
    const gsize n = 20000 * (k + 1);
    g_autofree gdouble *room = tfx_firs_room (n, k + 1);
    g_autofree gchar *name = g_strdup_printf ("%u.wav", k);

    sum = 0.0;
    for (gsize i = 0; i < n; i++)
      sum += room[i];
    /* Two of them need to be resampled. */
    paths[k] = tfx_firs_write_sound (name, TFX_FIRS_WAV, room, n, 1,
        k == 2 ? RATE : 44100);
  }
  open_stream (&s, paths[0]);
  for (guint i = 0; i < 300; i++) {
    set_location (s.h->element, paths[i % 3]);
    push_block (&s);
    g_usleep (i % 50 * 100);
  }
  set_location (s.h->element, paths[2]);
  push_until (&s, sum);
  tfx_firs_end (s.h);
  tfx_firs_collect (s.caught, s.h, &s.info);
  tfx_firs_expect_whole (s.caught, s.n, 0, RATE);
  fail_unless (gst_bus_pop_filtered (s.bus,
                   GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);

  /* It stops while a file is being read. */
  set_location (s.h->element, paths[1]);
  push_block (&s);
  close_stream (&s);
  for (guint k = 0; k < 3; k++)
    g_free (paths[k]);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fir_files");

  tfx_check_folder ();
  tcase_add_loop_test (tc, test_channels, 0, 10);
  tcase_add_test (tc, test_flac);
  tcase_add_loop_test (tc, test_precedence, 0, 2);
  tcase_add_loop_test (tc, test_other_rates, 0, 15);
  tcase_add_loop_test (tc, test_faults_at_start, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tc, test_resampled_size);
  tcase_add_loop_test (tc, test_faults_while_playing, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tc, test_fault_and_caps);
  tcase_add_test (tc, test_channels_change);
  tcase_add_test (tc, test_channels_in_caps);
  tcase_add_test (tc, test_read_again);
  tcase_add_test (tc, test_many_files);
  return tfx_check_run (argc, argv, tc);
}
