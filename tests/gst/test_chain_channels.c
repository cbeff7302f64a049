/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_channels.c: chains out of which more or fewer channels come than in:
 * samples, times, caps, neighbours, and what can not be.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "chains.h"
#include "firs.h"
#include "tfxplay.h"

#define RATE 48000
#define N 20000
#define THREE "Mix([[1, 0], [0, 1], [1, 1]])"
/* A file of seven channels; channel k is a gain of (k + 1) / 16. */
#define HESUVI "Convolve('hrir.wav', layout='hesuvi')"

static void
write_hesuvi (void)
{
  gdouble taps[7];

  for (gint k = 0; k < 7; k++)
    taps[k] = (k + 1) / 16.0;
  g_free (tfx_firs_write_sound ("hrir.wav", TFX_FIRS_WAV, taps, 1, 7, RATE));
}

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
  g_autofree gchar *launch = g_strdup_printf ("tfxchain chain=\"%s\"", chain);
  g_autoptr (TfxCatch) caught = tfx_firs_play (launch, info, in, n, 0, 480);
  gdouble *out;

  fail_unless_equals_uint64 (caught->n_frames, n);
  out = g_memdup2 (tfx_firs_samples (caught), n * info->channels * sizeof *out);
  return out;
}

static gdouble *
expect (const Case *c, const gdouble *in, gsize n)
{
  GstAudioInfo info = tfx_check_f64 (RATE, c->n_in);
  g_autofree gdouble *front = play (c->front, &info, in, n);
  g_autofree gdouble *mixed = mix (c, front, n);

  info = tfx_check_f64 (RATE, c->n_out);
  return play (c->behind, &info, mixed, n);
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
  g_autofree gdouble *in = tfx_check_noise (N * c->n_in, 3), *expected = NULL;
  g_autofree gchar *launch = g_strdup_printf ("tfxchain chain=\"%s | %s | %s\"",
      c->front, c->mix, c->behind);
  g_autoptr (TfxHarness) h = tfx_check_harness (launch, &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  for (gsize i = 0; i < (gsize)N * c->n_in; i++)
    in[i] = (gfloat)in[i];
  expected = expect (c, in, N);
  tfx_firs_push (h, &info, in, N, 0, 0);
  tfx_firs_finish (caught, h, &out);
  tfx_firs_expect_whole (caught, N, 0, RATE);
  tfx_firs_expect_db (caught, expected, __i__ & 1 ? -240.0 : -125.0, launch);
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
  g_autoptr (TfxHarness) h =
      tfx_chains_harness (is_more ? "Mix([[0, 1], [1, 0], [0.5, 0]])"
                                  : "Mix([[0.5, 0.25]])",
          &info);
  g_autofree gdouble *in = tfx_check_noise (480 * 2, 3), *y = NULL;
  g_autoptr (GstBuffer) plain = tfx_check_buffer (&info, in, 480),
                        buffer = NULL;
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
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  GstAudioInfo out = tfx_check_f64 (RATE, 3);
  g_autofree gdouble *in = tfx_check_noise (2 * N, 3);
  TfxCatch *caught[2];

  for (guint i = 0; i < 2; i++) {
    const gchar *fuse = i ? "true" : "false";
    g_autofree gchar *launch =
        g_strdup_printf (line, fuse, fuse, fuse, fuse, fuse);
    g_autoptr (TfxHarness) h = tfx_check_harness (launch, &info);
    g_autoptr (GstElement) chain =
        gst_bin_get_by_name (GST_BIN (h->element), "c");
    g_autoptr (GstElement) front =
        gst_bin_get_by_name (GST_BIN (h->element), "a");

    caught[i] = tfx_firs_catch_new ();
    tfx_firs_push (h, &info, in, N, 0, 480);
    tfx_firs_collect (caught[i], h, &out);
    tfx_firs_expect_whole (caught[i], N, 0, RATE);
    fail_unless_equals_uint64 (tfx_check_stat (chain, "deferred"), 0);
    fail_unless ((tfx_check_stat (front, "deferred") > 0) == (i == 1));
  }
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught[1]),
                   tfx_firs_samples (caught[0]), 3 * N) < -240.0);
  tfx_firs_catch_free (caught[0]);
  tfx_firs_catch_free (caught[1]);
}
GST_END_TEST;

/* A gap is silence: the filter rings into it, with all of its channels. */
GST_START_TEST (test_gap)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  GstAudioInfo out = tfx_check_f64 (RATE, 3);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxchain chain=\"Mix([[1], [1], [0]]) | "
                         "FIR([0, 0, 0, 0, 0, 1])\"",
          &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
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
}
GST_END_TEST;

static void
add_metas (GstBuffer *buffer)
{
  static const gchar *const names[] = { "TfxOfMemory", "TfxOfChannels",
    "TfxOfAll" };
  g_autoptr (GstBuffer) parent = gst_buffer_new ();
  const gchar *tags[][2] = { { GST_META_TAG_MEMORY_STR },
    { GST_META_TAG_AUDIO_CHANNELS_STR }, { NULL } };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!gst_meta_get_info (names[i]))
      gst_meta_register_custom (names[i], tags[i], NULL, NULL, NULL);
    gst_buffer_add_custom_meta (buffer, names[i]);
  }
  gst_buffer_add_parent_buffer_meta (buffer, parent);
}

/* What a buffer carries stays with the samples, but for what speaks of its memory
 * or of its channels, and what keeps the buffer that the memory is of. */
GST_START_TEST (test_metas)
{
  static const gchar *const chains[] = {
    "tfxchain chain=\"Mix([[1, 1]])\"",
    "tfxchain chain=\"Mix([[1, 0], [0, 1], [1, 1]])\"",
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (chains[__i__], &info);
  g_autoptr (GstBuffer) buffer = gst_buffer_new_and_alloc (480 * info.bpf);

  gst_buffer_memset (buffer, 0, 0, -1);
  add_metas (buffer);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER));
  fail_unless (gst_buffer_get_custom_meta (buffer, "TfxOfAll") != NULL);
  fail_unless (gst_buffer_get_custom_meta (buffer, "TfxOfMemory") == NULL);
  fail_unless (gst_buffer_get_custom_meta (buffer, "TfxOfChannels") == NULL);
  fail_unless (gst_buffer_get_parent_buffer_meta (buffer) == NULL);
}
GST_END_TEST;

/* ---- caps --------------------------------------------------------------------------- */

static void
expect_caps (GstElement *element, const gchar *pad, const gchar *filter,
    const gchar *wanted)
{
  g_autoptr (GstPad) p = gst_element_get_static_pad (element, pad);
  GstCaps *f = filter ? gst_caps_from_string (filter) : NULL;
  g_autoptr (GstCaps) caps = gst_pad_query_caps (p, f);
  g_autoptr (GstCaps) expected = gst_caps_from_string (wanted);
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
}

GST_START_TEST (test_queries)
{
  static const struct
  {
    const gchar *chain, *pad, *filter, *wanted;
  } queries[] = {
    { THREE, "sink", NULL, "audio/x-raw, channels=2" },
    { THREE, "src", NULL, "audio/x-raw, channels=3" },
    { THREE, "sink", "audio/x-raw, channels=[1, 6], rate=44100",
        "audio/x-raw, channels=2, rate=44100" },
    { THREE, "sink", "ANY", "audio/x-raw, channels=2" },
    { THREE, "sink", "audio/x-raw, channels=6", "EMPTY" },
    { THREE, "src", "audio/x-raw, channels={3, 6}, channel-mask=(bitmask)0x7",
        "audio/x-raw, channels=3, channel-mask=(bitmask)0x7" },
    { THREE, "src", "audio/x-raw, channels=2", "EMPTY" },
    /* As many as come in: any. */
    { "Gain(2)", "sink", "audio/x-raw, channels=[1, 65536]",
        "audio/x-raw, channels=[1, 65536]" },
  };
  g_autoptr (GstElement) chain = tfx_chains_element ("Gain(2)");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (chain, "sink");
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL);
  gint n;

  fail_unless (!gst_structure_get_int (gst_caps_get_structure (caps, 0),
      "channels", &n));
  for (guint i = 0; i < G_N_ELEMENTS (queries); i++) {
    g_object_set (chain, "chain", queries[i].chain, NULL);
    expect_caps (chain, queries[i].pad, queries[i].filter, queries[i].wanted);
  }
}
GST_END_TEST;

/* The caps that go out of a pipeline's tfxchain, and how many warnings there
 * are. */
static GstCaps *
negotiate (const gchar *before, const gchar *chain, const gchar *behind,
    guint *n_warnings)
{
  g_autofree gchar *line =
      g_strdup_printf ("audiotestsrc num-buffers=1 ! capsfilter "
                       "caps=audio/x-raw,channels=%s ! tfxchain name=c "
                       "chain=\"%s\" ! %s",
          before, chain, behind);
  g_autoptr (TfxElement) pipeline = tfx_play_make (line, NULL);
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), "c");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gchar *text;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              10 * GST_SECOND),
      GST_STATE_CHANGE_SUCCESS);
  for (*n_warnings = 0; (text = tfx_check_pop_warning (bus)); ++*n_warnings)
    g_free (text);
  return gst_pad_get_current_caps (pad);
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
    { "FIR('two.wav')", "2", 2 },
    { "FIR('two.wav', channel=1)", "[1, 65536]", 1 },
    { "Gain(2)", "[1, 65536]", 1 },
  };
  const gchar *text = limits[__i__].chain;
  g_autofree gchar *path =
      tfx_firs_write_sound ("two.wav", TFX_FIRS_WAV, taps, 2, 2, RATE);
  g_autofree gchar *wanted =
      g_strdup_printf ("audio/x-raw, channels=%s", limits[__i__].channels);
  g_autoptr (GstElement) chain = tfx_chains_element (text);
  g_autoptr (GstCaps) caps = NULL;
  guint n_warnings;
  gint n = 0;

  expect_caps (chain, "sink", "audio/x-raw, channels=[1, 65536]", wanted);
  expect_caps (chain, "src", "audio/x-raw, channels=[1, 65536]", wanted);
  caps = negotiate ("1 ! audioconvert", text, "fakesink", &n_warnings);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels", &n);
  fail_unless_equals_int (n, limits[__i__].n_negotiated);
}
GST_END_TEST;

/* Any channels become two. */
GST_START_TEST (test_any_to_two)
{
  static const struct
  {
    gint n_channels;
    gdouble left, right; /* of ones, in sixteenths */
  } streams[] = {
    { 1, 7, 7 },
    { 2, 1 + 2, 2 + 1 },
    { 6, 1 + 2 + 7 + 7 + 5 + 6, 2 + 1 + 7 + 7 + 6 + 5 },
    { 7, 1 + 2 + 7 + 5 + 6 + 3 + 4, 2 + 1 + 7 + 6 + 5 + 4 + 3 },
  };
  GstAudioInfo info = tfx_check_f64 (RATE, streams[__i__].n_channels);
  const gsize n = 480;
  g_autofree gdouble *in = tfx_check_constant (n * info.channels, 1.0);
  g_autofree gdouble *out = NULL;
  g_autoptr (TfxHarness) h = NULL;
  g_autoptr (GstCaps) caps = NULL;
  g_autoptr (GstBuffer) buffer = NULL;
  gsize n_out;

  write_hesuvi ();
  h = tfx_chains_harness (HESUVI, &info);
  buffer = tfx_check_push (h, tfx_check_buffer (&info, in, n));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_audio_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_AUDIO_INFO_CHANNELS (&info), 2);
  out = tfx_check_samples (buffer, &info, &n_out);
  fail_unless_equals_uint64 (n_out, n);
  for (gsize i = 0; i < n; i++)
    fail_unless (fabs (16 * out[2 * i] - streams[__i__].left) < 1e-6 &&
                     fabs (16 * out[2 * i + 1] - streams[__i__].right) < 1e-6,
        "frame %" G_GSIZE_FORMAT ": %g, %g", i, 16 * out[2 * i],
        16 * out[2 * i + 1]);
}
GST_END_TEST;

GST_START_TEST (test_any_to_two_caps)
{
  g_autoptr (GstElement) chain = NULL;

  write_hesuvi ();
  chain = tfx_chains_element (HESUVI);
  expect_caps (chain, "sink", "audio/x-raw, channels=[1, 65536]",
      "audio/x-raw, channels=[1, 65536]");
  expect_caps (chain, "src", "audio/x-raw, channels=[1, 65536]",
      "audio/x-raw, channels=2");
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
    { THREE, "fakesink", 3, 0, 1 },
    { THREE,
        "capsfilter caps=\"audio/x-raw,channel-mask=(bitmask)0x0\" ! fakesink",
        3, 0, 0 },
    { "Mix([[1, 0], [0, 1], [1, 1], [1, 1]]) | Mix([[1, 0, 0, 0], [0, 1, 0, "
      "1]])",
        "fakesink", 2, -1 },
    { THREE,
        "capsfilter caps=\"audio/x-raw,channel-mask=(bitmask)0x7\" ! fakesink",
        3, 7 },
  };
  guint n_warnings;
  g_autoptr (GstCaps) caps =
      negotiate ("2", lines[__i__].chain, lines[__i__].behind, &n_warnings);
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  guint64 mask = 0;
  gint n = 0;

  fail_unless_equals_int (n_warnings, lines[__i__].n_warnings);
  fail_unless (gst_structure_get_int (s, "channels", &n));
  fail_unless_equals_int (n, lines[__i__].n_channels);
  fail_unless_equals_int (gst_structure_get (s, "channel-mask",
                              GST_TYPE_BITMASK, &mask, NULL),
      lines[__i__].mask >= 0);
  if (lines[__i__].mask >= 0)
    fail_unless_equals_uint64 (mask, (guint64)lines[__i__].mask);
}
GST_END_TEST;

/* What comes out of a buffer of ones, to be freed. */
static gdouble *
push_ones (GstHarness *h, const GstAudioInfo *in, const GstAudioInfo *out)
{
  g_autofree gdouble *ones = tfx_check_constant (480 * in->channels, 1.0);
  g_autoptr (GstBuffer) buffer =
      tfx_check_push (h, tfx_check_buffer (in, ones, 480));
  gsize n;
  gdouble *y = tfx_check_samples (buffer, out, &n);

  fail_unless_equals_int (n, 480);
  return y;
}

/* The end of the second buffer, behind a cross-fade. */
static void
expect_ones (GstHarness *h, const GstAudioInfo *in, const GstAudioInfo *out,
    const gdouble *wanted)
{
  g_autofree gdouble *first = push_ones (h, in, out),
                     *second = push_ones (h, in, out);

  for (gint c = 0; c < out->channels; c++) {
    const gdouble y = second[479 * out->channels + c];

    fail_unless (fabs (y - wanted[c]) < 1e-9, "channel %d: %g", c, y);
  }
}

/* Another rate, another format, within a stream; its state is afresh with another
 * rate, and goes on with another format. */
GST_START_TEST (test_renegotiation)
{
  static const struct
  {
    GstAudioFormat format;
    gint rate;
    GstAudioLayout layout;
    gboolean goes_on;
  } steps[] = {
    { GST_AUDIO_FORMAT_F32, RATE, GST_AUDIO_LAYOUT_INTERLEAVED, FALSE },
    { GST_AUDIO_FORMAT_F64, RATE, GST_AUDIO_LAYOUT_INTERLEAVED, TRUE },
    { GST_AUDIO_FORMAT_F64, RATE, GST_AUDIO_LAYOUT_NON_INTERLEAVED, TRUE },
    { GST_AUDIO_FORMAT_F32, 44100, GST_AUDIO_LAYOUT_INTERLEAVED, FALSE },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1), out;
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("Mix([[1], [0.5], [0]]) | FIR([0, 1])", &info);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autofree gdouble *y = NULL;

    info = tfx_check_info (steps[i].format, steps[i].rate, 1, steps[i].layout);
    out = tfx_check_info (steps[i].format, steps[i].rate, 3, steps[i].layout);
    tfx_check_set_info (h, &info);
    y = push_ones (h, &info, &out);
    fail_unless (fabs (y[0] - steps[i].goes_on) < 1e-6, "step %u: %g", i, y[0]);
    for (gsize k = 1; k < 480; k++)
      fail_unless (fabs (y[3 * k] - 1.0) < 1e-6 &&
                   fabs (y[3 * k + 1] - 0.5) < 1e-6 && y[3 * k + 2] == 0.0);
  }
}
GST_END_TEST;

/* A chain names positions: other ones make another filter, also of as many channels. */
GST_START_TEST (test_positions)
{
  static const GstAudioChannelPosition front[] = {
    GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER
  };
  static const GstAudioChannelPosition with_lfe[] = {
    GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER, GST_AUDIO_CHANNEL_POSITION_LFE1
  };
  GstAudioInfo info;
  g_autoptr (TfxHarness) h = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstCaps) caps = NULL;

  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3, front);
  h = tfx_chains_harness ("ch[FC]: Gain(3)", &info);
  bus = tfx_check_bus (h);
  expect_ones (h, &info, &info, (const gdouble[]){ 1, 1, 3 });
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3, with_lfe);
  tfx_check_set_info (h, &info);
  expect_ones (h, &info, &info, (const gdouble[]){ 1, 3, 1 });
  g_object_set (h->element, "chain", "ch[FR]: Gain(2)", NULL);
  expect_ones (h, &info, &info, (const gdouble[]){ 1, 3, 1 });
  tfx_check_expect_warning (bus,
      "ch[FR] is missing: the channels are FL, FC, LFE", NULL);
  g_object_set (h->element, "chain", "ch[LFE]: Gain(2)", NULL);
  expect_ones (h, &info, &info, (const gdouble[]){ 1, 1, 2 });
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3, NULL);
  caps = gst_audio_info_to_caps (&info);
  gst_harness_push_event (h, gst_event_new_caps (caps));
  tfx_check_expect_error (bus, "the channels have none here", NULL);
}
GST_END_TEST;

/* A loudness that moves keeps the positions that it measures by. */
GST_START_TEST (test_loudness)
{
  static const GstAudioChannelPosition positions[] = {
    GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT, GST_AUDIO_CHANNEL_POSITION_LFE1
  };
  g_autofree gdouble *samples = g_new0 (gdouble, 3 * RATE);
  gdouble lufs = 0.0;
  g_autoptr (GstStructure) stats = NULL;
  GstAudioInfo info;
  g_autoptr (TfxHarness) h = NULL;
  g_autoptr (GObject) stage = NULL;

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
}
GST_END_TEST;

/* ---- what can not be ----------------------------------------------------------------- */

/* Channels that do not fit are an error of the element, which says what would. */
GST_START_TEST (test_wrong_channels)
{
  static const gchar *const chains[][2] = {
    { "Mix([[1], [1], [1]])",
        "has rows of 1 number, but its input has 2 channels" },
    { "Gain(1) | (ch[2]: Gain(2))", "ch[2] is out of range" },
    { "Mix([[1, 1, 1], [1, 1, 1], [1, 1, 1]])",
        "rows of 3 numbers, but its input has 2" },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (GstCaps) caps = gst_audio_info_to_caps (&info);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (TfxElement) element = tfx_chains_element (chains[__i__][0]);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");

  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_pad_send_event (pad, gst_event_new_stream_start ("s"));
  fail_if (gst_pad_send_event (pad, gst_event_new_caps (caps)));
  tfx_check_expect_error (bus, chains[__i__][1], NULL);
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
  { "Gain(2)", HESUVI, 1, 1, 2, { 0.4375, 0.4375 } },
  { HESUVI, "Gain(2)", 1, 2, 1, { 2 } },
  { HESUVI, "Mix([[0.5, 0.25], [1, 0], [0, 0.5]])", 2, 2, 3, { 0.75, 1, 0.5 } },
  /* What is held goes out as it was. */
  { "Mix([[1], [0.5]]) | Limiter(20)",
      "Mix([[1], [0.5], [0.25]]) | Limiter(20)", 1, 2, 3, { 1, 0.5, 0.25 } },
  { "Limiter(20)", "Mix([[0.5, 0.25]])", 2, 2, 1, { 0.75 } },
  { "Mix([[0.5, 0.25]])", "Mix([[0.5, 0.25], [1, 0]]) | Limiter(20)", 2, 1, 2,
      { 0.75, 1 } },
};

/* From the next buffer on other channels go out, and no frame is lost. */
GST_START_TEST (test_switch)
{
  const Switch *s = &switches[__i__];
  const gsize n = 5 * 480;
  GstAudioInfo info = tfx_check_f64 (RATE, s->n_in);
  GstAudioInfo before = tfx_check_f64 (RATE, s->n_before);
  GstAudioInfo behind = tfx_check_f64 (RATE, s->n_behind);
  g_autoptr (TfxHarness) h = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autofree gdouble *ones = tfx_check_constant (n * s->n_in, 1.0);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_autoptr (GstCaps) caps = NULL;
  const gdouble *y;

  write_hesuvi ();
  h = tfx_chains_harness (s->before, &info);
  bus = tfx_check_bus (h);
  tfx_firs_push (h, &info, ones, n, 0, 480);
  /* What is still held comes in the old caps. */
  tfx_firs_collect (caught, h, &before);
  g_object_set (h->element, "chain", s->behind, NULL);
  tfx_firs_push (h, &info, ones, n, n, 480);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_audio_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_AUDIO_INFO_CHANNELS (&info), s->n_behind);
  tfx_firs_collect_until (caught, h, &before, n);
  tfx_firs_expect_whole (caught, n, 0, RATE);

  tfx_firs_forget (caught);
  tfx_firs_collect (caught, h, &behind);
  tfx_firs_expect_whole (caught, n, n, RATE);
  y = tfx_firs_samples (caught);
  /* A cross-fade is over by then. */
  for (gsize i = 2 * 480; i < n; i++) {
    for (gint c = 0; c < s->n_behind; c++)
      fail_unless (fabs (y[i * s->n_behind + c] - s->values[c]) < 1e-9,
          "channel %d: %g, not %g", c, y[i * s->n_behind + c], s->values[c]);
  }
  fail_unless (
      gst_bus_pop_filtered (bus,
          s->n_behind > 2 ? GST_MESSAGE_ERROR
                          : GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) == NULL);
}
GST_END_TEST;

/* A GAP event is as good as a buffer: what rings into it has the new channels. */
GST_START_TEST (test_switch_at_gap)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("Mix([[1], [1]]) | HiButterworth(100)", &info);
  g_autofree gdouble *in = tfx_check_noise (480, 1);
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
}
GST_END_TEST;

/* Where nobody takes other channels the chain is refused, and taken once it fits. */
GST_START_TEST (test_refused_switch)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  GstAudioInfo out = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxchain name=c chain=\"Mix([[1], "
                         "[0.5]]) | g=Gain(2)\" ! "
                         "capsfilter caps=audio/x-raw,channels=2",
          &info);
  g_autoptr (GstElement) chain =
      gst_bin_get_by_name (GST_BIN (h->element), "c");
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  g_free (push_ones (h, &info, &out));
  g_object_set (chain, "chain", "Mix([[1], [1], [1]])", NULL);
  expect_ones (h, &info, &out, (const gdouble[]){ 2, 1 });
  tfx_check_expect_warning (bus, "makes 3 channels from 1",
      "no other number than the current 2", NULL);

  g_object_set (chain, "chain", "Mix([[1], [0.25]]) | g=Gain(4)", NULL);
  expect_ones (h, &info, &out, (const gdouble[]){ 4, 1 });
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_channels");

  if (g_chdir (tfx_check_folder ()) != 0)
    return 1;
  tcase_add_loop_test (tc, test_samples, 0, 4 * G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_unaligned, 0, 4);
  tcase_add_test (tc, test_neighbours);
  tcase_add_test (tc, test_gap);
  tcase_add_loop_test (tc, test_metas, 0, 2);
  tcase_add_test (tc, test_queries);
  tcase_add_loop_test (tc, test_any_to_two, 0, 4);
  tcase_add_test (tc, test_any_to_two_caps);
  tcase_add_loop_test (tc, test_limits, 0, 9);
  tcase_add_loop_test (tc, test_masks, 0, 5);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_positions);
  tcase_add_test (tc, test_loudness);
  tcase_add_loop_test (tc, test_wrong_channels, 0, 3);
  tcase_add_loop_test (tc, test_switch, 0, G_N_ELEMENTS (switches));
  tcase_add_test (tc, test_switch_at_gap);
  tcase_add_test (tc, test_refused_switch);
  return tfx_check_run (argc, argv, tc);
}
