/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_channels.c: chains out of which more or fewer channels come than in:
 * samples, times, caps, neighbours, and what can not be.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "chains.h"
#include "firs.h"

#define RATE 48000
#define N 20000

/* ---- samples ---------------------------------------------------------------------- */

/* A chain in front of a Mix, and one behind it. */
typedef struct
{
  const gchar *front, *mix, *behind;
  gint n_in, n_out;
  gdouble gains[8]; /* [n_out][n_in] */
} Case;

static const Case cases[] = {
  { "HiButterworth(100)", "Mix([[1], [0.5], [-1]])", "LoButterworth(3000)", 1,
      3, { 1, 0.5, -1 } },
  { "HiButterworth(100)", "Mix([[0.5, 0.25]])",
      "ParametricEQ(1000, 2, 6) | Delay(delay_samples=100)", 2, 1,
      { 0.5, 0.25 } },
  { "Gain(2)", "Mix([[1, 0], [0, 1], [1, -1]])", "Limiter(-6)", 2, 3,
      { 1, 0, 0, 1, 1, -1 } },
  { "(ch[1]: FIR([0.5, 0.5]))", "Mix([[0, 1, 0], [1, 0, 0.5]])",
      "Notch(1000, 3)", 3, 2, { 0, 1, 0, 1, 0, 0.5 } },
  /* As many, with more on the way. */
  { "Gain(0.5)", "Mix([[1, 0], [0, 1], [1, 1]]) | Mix([[1, 0, 1], [0, 1, 0]])",
      "HiButterworth(50)", 2, 2, { 2, 1, 0, 1 } },
};

static gdouble *
mix (const Case *c, const gdouble *in, gsize n)
{
  gdouble *out = g_new0 (gdouble, n * c->n_out);

  for (gsize i = 0; i < n; i++) {
    for (gint k = 0; k < c->n_out; k++) {
      for (gint j = 0; j < c->n_in; j++)
        out[i * c->n_out + k] +=
            c->gains[k * c->n_in + j] * in[i * c->n_in + j];
    }
  }
  return out;
}

/* What comes out of an element that changes no channels, to its end. */
static gdouble *
play (const gchar *chain, const GstAudioInfo *info, const gdouble *in, gsize n)
{
  gchar *launch = g_strdup_printf ("tfxchain chain=\"%s\"", chain);
  TfxCatch *caught = tfx_firs_play (launch, info, in, n, 0, 480);
  gdouble *out;

  fail_unless_equals_uint64 (caught->n_frames, n);
  out = g_memdup2 (tfx_firs_samples (caught), n * info->channels * sizeof *out);
  tfx_firs_catch_free (caught);
  g_free (launch);
  return out;
}

static gdouble *
expect (const Case *c, const gdouble *in, gsize n)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, c->n_in,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *front = play (c->front, &info, in, n);
  gdouble *mixed = mix (c, front, n), *out;

  info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, c->n_out,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  out = play (c->behind, &info, mixed, n);
  g_free (front);
  g_free (mixed);
  return out;
}

/* The same as the parts one after the other; buffers of all sizes, with their
 * times, up to the last frame. */
GST_START_TEST (test_samples)
{
  const Case *c = &cases[__i__ / 4];
  const GstAudioFormat format =
      __i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32;
  const GstAudioLayout layout = __i__ & 2 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                                          : GST_AUDIO_LAYOUT_INTERLEAVED;
  GstAudioInfo info = tfx_check_info (format, RATE, c->n_in, layout);
  GstAudioInfo out = tfx_check_info (format, RATE, c->n_out, layout);
  gdouble *in = tfx_check_noise (N * c->n_in, 3), *expected;
  gchar *launch = g_strdup_printf ("tfxchain chain=\"%s | %s | %s\"", c->front,
      c->mix, c->behind);
  GstHarness *h = tfx_check_harness (launch, &info);
  TfxCatch *caught = tfx_firs_catch_new ();

  for (gsize i = 0; i < (gsize)N * c->n_in; i++)
    in[i] = (gfloat)in[i];
  expected = expect (c, in, N);
  tfx_firs_push (h, &info, in, N, 0, 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  tfx_firs_collect (caught, h, &out);
  tfx_firs_expect_whole (caught, N, 0, RATE);
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught), expected,
                   (gsize)N * c->n_out) < (__i__ & 1 ? -240.0 : -125.0),
      "%s: %g dB", launch,
      tfx_firs_error_db (tfx_firs_samples (caught), expected,
          (gsize)N * c->n_out));
  tfx_firs_catch_free (caught);
  g_free (expected);
  g_free (launch);
  g_free (in);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Samples at an odd address, from two channels to three and to one. */
GST_START_TEST (test_unaligned)
{
  const GstAudioFormat format =
      __i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32;
  const gboolean is_more = (__i__ & 2) != 0;
  const gint n_out = is_more ? 3 : 1;
  GstAudioInfo info =
      tfx_check_info (format, RATE, 2, GST_AUDIO_LAYOUT_INTERLEAVED);
  GstAudioInfo out =
      tfx_check_info (format, RATE, n_out, GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h =
      tfx_chains_harness (is_more ? "Mix([[0, 1], [1, 0], [0.5, 0]])"
                                  : "Mix([[0.5, 0.25]])",
          &info);
  gdouble *in = tfx_check_noise (480 * 2, 3), *y;
  GstBuffer *plain = tfx_check_buffer (&info, in, 480), *buffer;
  const gsize size = gst_buffer_get_size (plain);
  guint8 *bytes = g_malloc (size + 8);
  gsize n;

  gst_buffer_extract (plain, 0, bytes + 3, size);
  buffer =
      gst_buffer_new_wrapped_full (0, bytes, size + 8, 3, size, bytes, g_free);
  buffer = gst_harness_push_and_pull (h, buffer);
  y = tfx_check_samples (buffer, &out, &n);
  fail_unless_equals_int (n, 480);
  for (gsize i = 0; i < n; i++) {
    const gdouble *x = in + 2 * i, *z = y + n_out * i;

    fail_unless (is_more ? z[0] == x[1] && z[1] == x[0] && z[2] == 0.5 * x[0]
                         : fabs (z[0] - 0.5 * x[0] - 0.25 * x[1]) < 1e-6,
        "frame %u", (guint)i);
  }
  g_free (in);
  g_free (y);
  gst_buffer_unref (plain);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---- neighbours ------------------------------------------------------------------- */

/* Elements around it that run as one do as they do alone; the row is cut there. */
GST_START_TEST (test_neighbours)
{
  static const gchar line[] =
      "tfxbutterworth fuse=%s cutoff=3000 name=a ! tfxbutterworth fuse=%s "
      "mode=high-pass cutoff=100 ! tfxchain fuse=%s name=c "
      "chain=\"Mix([[1, 0], [0, 1], [1, 1]]) | Gain(0.5)\" ! "
      "tfxchebyshev fuse=%s cutoff=2000 name=d ! tfxbutterworth fuse=%s "
      "cutoff=5000";
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstAudioInfo out = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 3,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *in = tfx_check_noise (2 * N, 3);
  TfxCatch *caught[2];

  for (guint i = 0; i < 2; i++) {
    const gchar *fuse = i ? "true" : "false";
    gchar *launch = g_strdup_printf (line, fuse, fuse, fuse, fuse, fuse);
    GstHarness *h = tfx_check_harness (launch, &info);
    GstElement *chain = gst_bin_get_by_name (GST_BIN (h->element), "c");
    GstElement *front = gst_bin_get_by_name (GST_BIN (h->element), "a");

    caught[i] = tfx_firs_catch_new ();
    tfx_firs_push (h, &info, in, N, 0, 480);
    tfx_firs_collect (caught[i], h, &out);
    tfx_firs_expect_whole (caught[i], N, 0, RATE);
    fail_unless_equals_uint64 (tfx_check_stat (chain, "deferred"), 0);
    fail_unless ((tfx_check_stat (front, "deferred") > 0) == (i == 1));
    gst_object_unref (chain);
    gst_object_unref (front);
    g_free (launch);
    gst_harness_teardown (h);
  }
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught[1]),
                   tfx_firs_samples (caught[0]), 3 * N) < -240.0);
  tfx_firs_catch_free (caught[0]);
  tfx_firs_catch_free (caught[1]);
  g_free (in);
}

GST_END_TEST;

/* A gap is silence: the filter rings into it, with all of its channels. */
GST_START_TEST (test_gap)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstAudioInfo out = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 3,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness ("tfxchain chain=\"Mix([[1], [1], [0]]) | "
                                     "FIR([0, 0, 0, 0, 0, 1])\"",
      &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  const gdouble in[4] = { 1, 2, 3, 4 };
  const gdouble *x;

  tfx_firs_push (h, &info, in, 4, 0, 4);
  fail_unless (gst_harness_push_event (h,
      gst_event_new_gap (gst_util_uint64_scale (4, GST_SECOND, RATE),
          gst_util_uint64_scale (480, GST_SECOND, RATE))));
  tfx_firs_collect (caught, h, &out);
  fail_unless (caught->n_frames > 9);
  x = tfx_firs_samples (caught);
  for (guint i = 5; i < 9; i++) {
    fail_unless_equals_float (x[3 * i], i - 4.0);
    fail_unless_equals_float (x[3 * i + 1], i - 4.0);
    fail_unless_equals_float (x[3 * i + 2], 0.0);
  }
  tfx_firs_catch_free (caught);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
add_metas (GstBuffer *buffer)
{
  static const gchar *const names[] = { "TfxOfMemory", "TfxOfChannels",
    "TfxOfAll" };
  GstBuffer *parent = gst_buffer_new ();
  const gchar *tags[][2] = { { GST_META_TAG_MEMORY_STR },
    { GST_META_TAG_AUDIO_CHANNELS_STR }, { NULL } };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!gst_meta_get_info (names[i]))
      gst_meta_register_custom (names[i], tags[i], NULL, NULL, NULL);
    gst_buffer_add_custom_meta (buffer, names[i]);
  }
  gst_buffer_add_parent_buffer_meta (buffer, parent);
  gst_buffer_unref (parent);
}

/* What a buffer carries stays with the samples, but for what speaks of its memory
 * or of its channels, and what keeps the buffer that the memory is of. */
GST_START_TEST (test_metas)
{
  static const gchar *const chains[] = {
    "tfxchain chain=\"Mix([[1, 1]])\"",
    "tfxchain chain=\"Mix([[1, 0], [0, 1], [1, 1]])\"",
  };
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness (chains[__i__], &info);
  GstBuffer *buffer = gst_buffer_new_and_alloc (480 * info.bpf);

  gst_buffer_memset (buffer, 0, 0, -1);
  add_metas (buffer);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER));
  fail_unless (gst_buffer_get_custom_meta (buffer, "TfxOfAll") != NULL);
  fail_unless (gst_buffer_get_custom_meta (buffer, "TfxOfMemory") == NULL);
  fail_unless (gst_buffer_get_custom_meta (buffer, "TfxOfChannels") == NULL);
  fail_unless (gst_buffer_get_parent_buffer_meta (buffer) == NULL);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---- caps --------------------------------------------------------------------------- */

static void
expect_caps (GstElement *element, const gchar *pad, const gchar *filter,
    const gchar *wanted)
{
  GstPad *p = gst_element_get_static_pad (element, pad);
  GstCaps *f = filter ? gst_caps_from_string (filter) : NULL;
  GstCaps *caps = gst_pad_query_caps (p, f);
  GstCaps *expected = gst_caps_from_string (wanted);
  gchar *text = gst_caps_to_string (caps);

  fail_unless (gst_caps_can_intersect (caps, expected) ==
                       !gst_caps_is_empty (expected) &&
                   (gst_caps_is_empty (expected) == gst_caps_is_empty (caps)),
      "%s: %s, not %s", pad, text, wanted);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    fail_unless_equals_int (
        gst_value_compare (gst_structure_get_value (
                               gst_caps_get_structure (caps, i), "channels"),
            gst_structure_get_value (gst_caps_get_structure (expected, 0),
                "channels")),
        GST_VALUE_EQUAL);
  }
  g_free (text);
  gst_clear_caps (&f);
  gst_caps_unref (caps);
  gst_caps_unref (expected);
  gst_object_unref (p);
}

GST_START_TEST (test_queries)
{
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  GstPad *pad = gst_element_get_static_pad (chain, "sink");
  GstCaps *caps;
  gint n;

  g_object_set (chain, "chain", "Mix([[1, 0], [0, 1], [1, 1]])", NULL);
  expect_caps (chain, "sink", NULL, "audio/x-raw, channels=2");
  expect_caps (chain, "src", NULL, "audio/x-raw, channels=3");
  expect_caps (chain, "sink", "audio/x-raw, channels=[1, 6], rate=44100",
      "audio/x-raw, channels=2, rate=44100");
  expect_caps (chain, "sink", "ANY", "audio/x-raw, channels=2");
  expect_caps (chain, "sink", "audio/x-raw, channels=6", "EMPTY");
  expect_caps (chain, "src",
      "audio/x-raw, channels={3, 6}, channel-mask=(bitmask)0x7",
      "audio/x-raw, channels=3, channel-mask=(bitmask)0x7");
  expect_caps (chain, "src", "audio/x-raw, channels=2", "EMPTY");
  /* As many as come in: any. */
  g_object_set (chain, "chain", "Gain(2)", NULL);
  expect_caps (chain, "sink", "audio/x-raw, channels=[1, 65536]",
      "audio/x-raw, channels=[1, 65536]");
  caps = gst_pad_query_caps (pad, NULL);
  fail_unless (!gst_structure_get_int (gst_caps_get_structure (caps, 0),
      "channels", &n));
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_object_unref (chain);
}

GST_END_TEST;

/* The caps that go out of a pipeline's tfxchain, and how many warnings there
 * are. */
static GstCaps *
negotiate (const gchar *before, const gchar *chain, const gchar *behind,
    guint *n_warnings)
{
  GstMessage *message;
  GstBus *bus;
  gchar *line = g_strdup_printf ("%s ! tfxchain name=c chain=\"%s\" ! %s",
      before, chain, behind);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *element;
  GstCaps *caps;
  GstPad *pad;

  fail_unless (pipeline && !error, "%s", error ? error->message : "");
  element = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  pad = gst_element_get_static_pad (element, "src");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  caps = gst_pad_get_current_caps (pad);
  bus = gst_element_get_bus (pipeline);
  for (*n_warnings = 0;
       (message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));
       ++*n_warnings)
    gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_free (line);
  return caps;
}

/* A chain that changes no channels limits them too: audioconvert before it adds the
 * missing ones. */
GST_START_TEST (test_limits)
{
  static const gdouble taps[] = { 1.0, 0.5, 0.25, 0.5 };
  static const struct
  {
    const gchar *chain, *channels;
    gint n_negotiated;
  } limits[] = {
    { "Mix([[0, 1], [1, 0]])", "2", 2 },
    { "Gain(2) | Mix([[0, 1, 0], [1, 0, 0], [0, 0, 1]])", "3", 3 },
    { "ch[2]: Gain(0.5)", "[3, 65536]", 3 },
    { "Gain(2) | (ch[0]: (ch[0]: Gain(2)); ch[4]: Gain(0.5))", "[5, 65536]",
        5 },
    { "ch[0, 1]: Mix([[1, 1], [1, -1]])", "[2, 65536]", 2 },
    { "(ch[1]: Gain(2)) | Mix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])", "3", 3 },
    { "FIR('%s')", "2", 2 },
    { "FIR('%s', channel=1)", "[1, 65536]", 1 },
    { "Gain(2)", "[1, 65536]", 1 },
  };
  gchar *path = tfx_firs_write_wav (taps, 2, 2, RATE);

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    gchar **parts = g_strsplit (limits[i].chain, "%s", 2);
    gchar *text = g_strjoinv (path, parts);
    gchar *wanted =
        g_strdup_printf ("audio/x-raw, channels=%s", limits[i].channels);
    GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
    guint n_warnings;
    GstCaps *caps;
    gint n = 0;

    g_object_set (chain, "chain", text, NULL);
    expect_caps (chain, "sink", "audio/x-raw, channels=[1, 65536]", wanted);
    expect_caps (chain, "src", "audio/x-raw, channels=[1, 65536]", wanted);
    caps = negotiate ("audiotestsrc num-buffers=1 ! "
                      "capsfilter caps=audio/x-raw,channels=1 ! audioconvert",
        text, "fakesink", &n_warnings);
    gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels", &n);
    fail_unless_equals_int (n, limits[i].n_negotiated);
    gst_caps_unref (caps);
    gst_object_unref (chain);
    g_free (wanted);
    g_free (text);
    g_strfreev (parts);
  }
  g_unlink (path);
  g_free (path);
}

GST_END_TEST;

/* Where channels are placed is for whoever follows to say; else, of more than two,
 * nowhere. */
GST_START_TEST (test_masks)
{
  static const struct
  {
    const gchar *chain, *behind;
    gint n_channels;
    gint64 mask; /* -1: none */
    guint n_warnings;
  } lines[] = {
    { "Mix([[1, 1]]) | Mix([[1]])", "fakesink", 1, -1 },
    { "Mix([[1, 0], [0, 1], [1, 1]])", "fakesink", 3, 0, 1 },
    { "Mix([[1, 0], [0, 1], [1, 1]])",
        "capsfilter caps=\"audio/x-raw,channel-mask=(bitmask)0x0\" ! fakesink",
        3, 0, 0 },
    { "Mix([[1, 0], [0, 1], [1, 1], [1, 1]]) | Mix([[1, 0, 0, 0], [0, 1, 0, "
      "1]])",
        "fakesink", 2, -1 },
    { "Mix([[1, 0], [0, 1], [1, 1]])",
        "capsfilter caps=\"audio/x-raw,channel-mask=(bitmask)0x7\" ! fakesink",
        3, 7 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    guint n_warnings;
    GstCaps *caps = negotiate ("audiotestsrc num-buffers=1 ! "
                               "capsfilter caps=audio/x-raw,channels=2",
        lines[i].chain, lines[i].behind, &n_warnings);
    const GstStructure *s = gst_caps_get_structure (caps, 0);
    guint64 mask = 0;
    gint n = 0;

    fail_unless_equals_int (n_warnings, lines[i].n_warnings);
    fail_unless (gst_structure_get_int (s, "channels", &n));
    fail_unless_equals_int (n, lines[i].n_channels);
    fail_unless_equals_int (gst_structure_get (s, "channel-mask",
                                GST_TYPE_BITMASK, &mask, NULL),
        lines[i].mask >= 0);
    if (lines[i].mask >= 0)
      fail_unless_equals_uint64 (mask, (guint64)lines[i].mask);
    gst_caps_unref (caps);
  }
}

GST_END_TEST;

/* Another rate, another format, within a stream; its state is afresh with another
 * rate, and goes on with another format. */
GST_START_TEST (test_renegotiation)
{
  static const struct
  {
    GstAudioFormat format;
    gint rate;
    GstAudioLayout layout;
  } steps[] = {
    { GST_AUDIO_FORMAT_F32, RATE, GST_AUDIO_LAYOUT_INTERLEAVED },
    { GST_AUDIO_FORMAT_F64, RATE, GST_AUDIO_LAYOUT_INTERLEAVED },
    { GST_AUDIO_FORMAT_F64, RATE, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
    { GST_AUDIO_FORMAT_F32, 44100, GST_AUDIO_LAYOUT_INTERLEAVED },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1), out;
  GstHarness *h = tfx_check_harness (
      "tfxchain chain=\"Mix([[1], [0.5], [0]]) | FIR([0, 1])\"", &info);
  gdouble ones[480];

  for (guint i = 0; i < 480; i++)
    ones[i] = 1.0;
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    const gboolean goes_on = i == 1 || i == 2;
    GstBuffer *buffer;
    gdouble *y;
    gsize n;

    info = tfx_check_info (steps[i].format, steps[i].rate, 1, steps[i].layout);
    out = tfx_check_info (steps[i].format, steps[i].rate, 3, steps[i].layout);
    tfx_check_set_info (h, &info);
    buffer = tfx_check_push (h, tfx_check_buffer (&info, ones, 480));
    y = tfx_check_samples (buffer, &out, &n);
    fail_unless_equals_int (n, 480);
    fail_unless (fabs (y[0] - goes_on) < 1e-6, "step %u: %g", i, y[0]);
    for (gsize k = 1; k < n; k++)
      fail_unless (fabs (y[3 * k] - 1.0) < 1e-6 &&
                   fabs (y[3 * k + 1] - 0.5) < 1e-6 && y[3 * k + 2] == 0.0);
    g_free (y);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Pushes ones and compares the output after a cross-fade. */
static void
push_ones (GstHarness *h, const GstAudioInfo *info, const gdouble wanted[3])
{
  gdouble ones[3 * 480], *y;
  GstBuffer *buffer;
  gsize n;

  for (guint i = 0; i < 3 * 480; i++)
    ones[i] = 1.0;
  gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (info, ones, 480)));
  buffer = tfx_check_push (h, tfx_check_buffer (info, ones, 480));
  y = tfx_check_samples (buffer, info, &n);
  fail_unless_equals_int (n, 480);
  for (guint c = 0; c < 3; c++)
    fail_unless (fabs (y[3 * 479 + c] - wanted[c]) < 1e-9, "channel %u: %g", c,
        y[3 * 479 + c]);
  g_free (y);
  gst_buffer_unref (buffer);
}

/* A chain names positions: other ones make another filter, also of as many channels. */
GST_START_TEST (test_positions)
{
  static const GstAudioChannelPosition positions[][3] = {
    { GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
        GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT,
        GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER },
    { GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
        GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER,
        GST_AUDIO_CHANNEL_POSITION_LFE1 },
  };
  GstAudioInfo info;
  GstHarness *h;
  GstBus *bus;
  GstMessage *message;
  GstCaps *caps;
  GError *error = NULL;

  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3,
      positions[0]);
  h = tfx_chains_harness ("ch[FC]: Gain(3)", &info);
  bus = tfx_check_bus (h);
  push_ones (h, &info, (const gdouble[]){ 1, 1, 3 });
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3,
      positions[1]);
  tfx_check_set_info (h, &info);
  push_ones (h, &info, (const gdouble[]){ 1, 3, 1 });
  g_object_set (h->element, "chain", "ch[FR]: Gain(2)", NULL);
  push_ones (h, &info, (const gdouble[]){ 1, 3, 1 });
  tfx_check_expect_warning (bus,
      "ch[FR] is missing: the channels are FL, FC, LFE", NULL);
  g_object_set (h->element, "chain", "ch[LFE]: Gain(2)", NULL);
  push_ones (h, &info, (const gdouble[]){ 1, 1, 2 });
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3, NULL);
  caps = gst_audio_info_to_caps (&info);
  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "the channels have none here") != NULL,
      "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  /* Messages would keep the element. */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A loudness that moves keeps the positions that it measures by. */
GST_START_TEST (test_loudness)
{
  static const GstAudioChannelPosition positions[] = {
    GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT, GST_AUDIO_CHANNEL_POSITION_LFE1
  };
  gdouble *samples = g_new0 (gdouble, 3 * RATE), lufs = 0.0;
  GstStructure *stats = NULL;
  GstAudioInfo info;
  GstHarness *h;
  GObject *stage;

  /* A sine in the right channel, and ten times as much in the LFE. */
  for (guint i = 0; i < RATE; i++) {
    samples[3 * i + 1] = 0.1 * sin (2 * G_PI * 997 / RATE * i);
    samples[3 * i + 2] = 10.0 * samples[3 * i + 1];
  }
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3, positions);
  h = tfx_chains_harness ("l=Loudness(-30, lookahead=0.2)", &info);
  stage = tfx_chains_child (h->element, "l");
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = tfx_check_buffer (&info, samples, RATE);

    g_object_set (stage, "target", -30.0 - i, NULL);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  g_object_get (stage, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "integrated", &lufs), "%s",
      gst_structure_to_string (stats));
  fail_unless (fabs (lufs + 23.01) < 0.02, "%g", lufs);
  gst_structure_free (stats);
  g_object_unref (stage);
  g_free (samples);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---- what can not be ----------------------------------------------------------------- */

/* Channels that do not fit are an error of the element, which says what would. */
GST_START_TEST (test_wrong_channels)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h =
      gst_harness_new_parse ("tfxchain chain=\"Mix([[1], [1], [1]])\"");
  GstBus *bus = tfx_check_bus (h);
  GstCaps *caps = gst_audio_info_to_caps (&info);
  GstMessage *message;
  GError *error = NULL;

  gst_harness_play (h);
  gst_harness_push_event (h, gst_event_new_stream_start ("s"));
  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, "has rows of 1 number, but its input "
                                       "has 2 channels") != NULL,
      "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  /* Messages would keep the element. */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---- while a stream goes on -------------------------------------------------------- */

/* What goes out before and behind, of a stream of ones. */
typedef struct
{
  const gchar *before, *behind;
  gint n_in, n_before, n_behind;
  gdouble values[4]; /* at last, of each channel */
} Switch;

static const Switch switches[] = {
  { "Mix([[1], [0.5]]) | g=Gain(2)", "Mix([[1], [0.5], [0.25]]) | g=Gain(2)", 1,
      2, 3, { 2, 1, 0.5 } },
  { "Mix([[1], [0.5], [0.25]])", "Mix([[1], [0.25]])", 1, 3, 2, { 1, 0.25 } },
  /* The filter goes on. */
  { "g=Gain(2)", "g=Gain(2) | Mix([[0.5, 0.25]])", 2, 2, 1, { 1.5 } },
  { "Mix([[0.5, 0.25]])", "Mix([[0.5, 0.25], [1, 0]])", 2, 1, 2, { 0.75, 1 } },
  { "Mix([[0.5, 0.5]])", "", 2, 1, 2, { 1, 1 } },
  /* What is held goes out as it was. */
  { "Mix([[1], [0.5]]) | Limiter(20)",
      "Mix([[1], [0.5], [0.25]]) | Limiter(20)", 1, 2, 3, { 1, 0.5, 0.25 } },
  { "Limiter(20)", "Mix([[0.5, 0.25]])", 2, 2, 1, { 0.75 } },
  { "Mix([[0.5, 0.25]])", "Mix([[0.5, 0.25], [1, 0]]) | Limiter(20)", 2, 1, 2,
      { 0.75, 1 } },
};

/* All that there is, up to `end`; its caps are those of so many channels. */
static void
expect_frames (GstHarness *h, gint n_channels, const gdouble *values,
    GstClockTime *next, GstClockTime end)
{
  GstBuffer *buffer;
  gdouble *y;
  gsize n;

  while ((buffer = gst_harness_try_pull (h))) {
    GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, n_channels,
        GST_AUDIO_LAYOUT_INTERLEAVED);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), *next);
    y = tfx_check_samples (buffer, &info, &n);
    fail_unless_equals_uint64 (n * GST_MSECOND,
        GST_BUFFER_DURATION (buffer) * 48);
    *next += GST_BUFFER_DURATION (buffer);
    for (gint c = 0; values && c < n_channels; c++)
      fail_unless (fabs (y[(n - 1) * n_channels + c] - values[c]) < 1e-9,
          "channel %d: %g, not %g", c, y[(n - 1) * n_channels + c], values[c]);
    g_free (y);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (*next, end);
}

/* From the next buffer on other channels go out, and no frame is lost. */
GST_START_TEST (test_switch)
{
  const Switch *s = &switches[__i__];
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, s->n_in,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gchar *launch = g_strdup_printf ("tfxchain chain=\"%s\"", s->before);
  GstHarness *h = tfx_check_harness (launch, &info);
  GstBus *bus = tfx_check_bus (h);
  GstClockTime next = 0;
  gdouble ones[2 * 480];
  GstCaps *caps;

  for (guint i = 0; i < 2 * 480; i++)
    ones[i] = 1.0;
  for (guint i = 0; i < 10; i++) {
    GstBuffer *buffer = tfx_check_buffer (&info, ones, 480);

    GST_BUFFER_PTS (buffer) = i * 10 * GST_MSECOND;
    if (i == 5) {
      GstBuffer *held;

      /* What is still held comes in the old caps. */
      while ((held = gst_harness_try_pull (h))) {
        fail_unless_equals_uint64 (GST_BUFFER_PTS (held), next);
        next += GST_BUFFER_DURATION (held);
        gst_buffer_unref (held);
      }
      g_object_set (h->element, "chain", s->behind, NULL);
    }
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_audio_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_AUDIO_INFO_CHANNELS (&info), s->n_behind);
  gst_caps_unref (caps);
  while (next < 50 * GST_MSECOND) {
    GstBuffer *held = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (held), next);
    fail_unless_equals_uint64 (gst_buffer_get_size (held) * GST_MSECOND,
        GST_BUFFER_DURATION (held) * 48 * 8 * s->n_before);
    next += GST_BUFFER_DURATION (held);
    gst_buffer_unref (held);
  }
  fail_unless_equals_uint64 (next, 50 * GST_MSECOND);
  /* A cross-fade is over by then. */
  for (guint i = 0; i < 2; i++) {
    GstBuffer *first = gst_harness_pull (h);

    next += GST_BUFFER_DURATION (first);
    gst_buffer_unref (first);
  }
  expect_frames (h, s->n_behind, s->values, &next, 100 * GST_MSECOND);
  fail_unless (
      gst_bus_pop_filtered (bus,
          s->n_behind > 2 ? GST_MESSAGE_ERROR
                          : GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  g_free (launch);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A GAP event is as good as a buffer: what rings into it has the new channels. */
GST_START_TEST (test_switch_at_gap)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h =
      tfx_chains_harness ("Mix([[1], [1]]) | HiButterworth(100)", &info);
  gdouble *in = tfx_check_noise (480, 1);
  gint n_channels = 0;
  GstCaps *caps;

  gst_buffer_unref (tfx_check_push (h, tfx_check_stamped (&info, in, 480, 0)));
  g_object_set (h->element, "chain",
      "Mix([[1], [1], [1]]) | HiButterworth(100)", NULL);
  gst_harness_push_event (h,
      gst_event_new_gap (10 * GST_MSECOND, 100 * GST_MSECOND));
  caps = gst_pad_get_current_caps (h->sinkpad);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels",
      &n_channels);
  fail_unless_equals_int (n_channels, 3);
  gst_caps_unref (caps);
  gst_buffer_unref (
      tfx_check_push (h, tfx_check_stamped (&info, in, 480, 5280)));
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Where nobody takes other channels the chain is refused, and taken once it fits. */
GST_START_TEST (test_refused_switch)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstAudioInfo out = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness ("tfxchain name=c chain=\"Mix([[1], "
                                     "[0.5]]) | g=Gain(2)\" ! "
                                     "capsfilter caps=audio/x-raw,channels=2",
      &info);
  GstElement *chain = gst_bin_get_by_name (GST_BIN (h->element), "c");
  GstBus *bus = tfx_check_bus (h);
  gdouble ones[480], *y;
  GstBuffer *buffer;
  gsize n;

  for (guint i = 0; i < 480; i++)
    ones[i] = 1.0;
  gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, ones, 480)));
  g_object_set (chain, "chain", "Mix([[1], [1], [1]])", NULL);
  buffer = tfx_check_push (h, tfx_check_buffer (&info, ones, 480));
  tfx_check_expect_warning (bus, "makes 3 channels from 1",
      "no other number than the current 2", NULL);
  y = tfx_check_samples (buffer, &out, &n);
  fail_unless_equals_int (n, 480);
  fail_unless_equals_float (y[958], 2.0);
  fail_unless_equals_float (y[959], 1.0);
  g_free (y);
  gst_buffer_unref (buffer);

  g_object_set (chain, "chain", "Mix([[1], [0.25]]) | g=Gain(4)", NULL);
  gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, ones, 480)));
  buffer = tfx_check_push (h, tfx_check_buffer (&info, ones, 480));
  y = tfx_check_samples (buffer, &out, &n);
  fail_unless_equals_float (y[958], 4.0);
  fail_unless_equals_float (y[959], 1.0);
  g_free (y);
  gst_buffer_unref (buffer);
  gst_object_unref (chain);
  /* Messages would keep the element. */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
chain_channels_suite (void)
{
  Suite *suite = suite_create ("chain-channels");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_samples, 0, 4 * G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, test_unaligned, 0, 4);
  tcase_add_test (tcase, test_neighbours);
  tcase_add_test (tcase, test_gap);
  tcase_add_loop_test (tcase, test_metas, 0, 2);
  tcase_add_test (tcase, test_queries);
  tcase_add_test (tcase, test_limits);
  tcase_add_test (tcase, test_masks);
  tcase_add_test (tcase, test_renegotiation);
  tcase_add_test (tcase, test_positions);
  tcase_add_test (tcase, test_loudness);
  tcase_add_test (tcase, test_wrong_channels);
  tcase_add_loop_test (tcase, test_switch, 0, G_N_ELEMENTS (switches));
  tcase_add_test (tcase, test_switch_at_gap);
  tcase_add_test (tcase, test_refused_switch);
  return suite;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, chain_channels_suite ());
}
