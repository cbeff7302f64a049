/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_keys.c: key pads of a tfxchain.  The output is that of one stream with the keys in
 * its channels, whatever the buffers are; keys that are late, short, flushed, released,
 * live or wrong neither stop the main stream nor lose a frame of it.
 */
#include <malloc.h>
#include <math.h>
#include <string.h>

#include "chains.h"
#include "firs.h"
#include "tfxplay.h"

#define RATE 48000
#define N 20000

/* The harnesses of a main stream and of its keys, which all have the same element. */
#define MAX_KEYS 2
typedef struct
{
  GstHarness *h;
  GstHarness *keys[MAX_KEYS];
} Keyed;

/* A harness is live, with a clock that stands still; this is a file. */
static gboolean
answer_as_file (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, FALSE, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static GstHarness *
open_key (GstElement *element, const GstAudioInfo *info, gboolean is_live)
{
  GstHarness *h = gst_harness_new_with_element (element, "key_%u", NULL);

  if (!is_live)
    gst_pad_set_query_function (h->srcpad, answer_as_file);
  if (info)
    tfx_check_set_info (h, info);
  return h;
}

static void
keyed_open (Keyed *self, const gchar *chain, const GstAudioInfo *info,
    const GstAudioInfo *keys, guint n_keys, gboolean is_live)
{
  GstElement *element = tfx_chains_element (chain);

  *self = (Keyed){ gst_harness_new_with_element (element, "sink", "src") };
  gst_object_unref (element);
  if (!is_live)
    gst_pad_set_query_function (self->h->srcpad, answer_as_file);
  for (guint i = 0; i < n_keys; i++)
    self->keys[i] =
        open_key (self->h->element, keys ? &keys[i] : NULL, is_live);
  if (info)
    tfx_check_set_info (self->h, info);
}

static void
keyed_clear (Keyed *self)
{
  for (guint i = 0; i < MAX_KEYS; i++) {
    if (self->keys[i])
      gst_harness_teardown (self->keys[i]);
  }
  tfx_check_close (self->h);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Keyed, keyed_clear)

/* Pushes frames from @from to @to of a stream that begins at frame 0. */
static void
push (GstHarness *h, const GstAudioInfo *info, const gdouble *x, gsize from,
    gsize to)
{
  if (to > from)
    fail_unless_equals_int (gst_harness_push (h, tfx_check_stamped (info,
                                                     x + from * info->channels,
                                                     to - from, from)),
        GST_FLOW_OK);
}

/* The channels of streams side by side; a stream of m[i] < n frames is silent after
 * them. */
static gdouble *
side_by_side (const gdouble *const *x, const gint *n_channels, const gsize *m,
    guint n_streams, gsize n)
{
  gsize n_all = 0, c = 0;
  gdouble *all;

  for (guint i = 0; i < n_streams; i++)
    n_all += n_channels[i];
  all = g_new0 (gdouble, n * n_all);
  for (guint i = 0; i < n_streams; c += n_channels[i++]) {
    for (gsize f = 0; f < MIN (n, m[i]); f++)
      memcpy (all + f * n_all + c, x[i] + f * n_channels[i],
          n_channels[i] * sizeof *all);
  }
  return all;
}

/* The first channels of what a chain makes of one stream. */
static gdouble *
expect (const gchar *chain, const gdouble *all, gint n_all, gint n_out, gsize n)
{
  GstAudioInfo info = tfx_check_f64 (RATE, n_all);
  g_autofree gchar *launch = g_strdup_printf ("tfxchain chain=\"%s\"", chain);
  g_autoptr (TfxCatch) caught = tfx_firs_play (launch, &info, all, n, 0, 480);
  gdouble *out = g_new (gdouble, n * n_out);

  fail_unless_equals_uint64 (caught->n_frames, n);
  for (gsize f = 0; f < n; f++)
    memcpy (out + f * n_out, tfx_firs_samples (caught) + f * n_all,
        n_out * sizeof *out);
  return out;
}

/* The key is added to both channels and stays in its own. */
#define ADDED "HiButterworth(100) | Mix([[1, 0, 0.5], [0, 1, 0.25], [0, 0, 1]])"

/* ---- samples ----------------------------------------------------------------------- */

/* Two keys, of one and of two channels; all formats, and buffers of random lengths.
 * The keys are up to a thousand frames ahead. */
GST_START_TEST (test_exact)
{
  static const gchar chain[] =
      "HiButterworth(100) | Mix([[1, 0, 0.5, 0, 1], [0, 1, 0.25, 0.5, 0], "
      "[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]) | Limiter(-6)";
  const gint n_channels[] = { 2, 1, 2 };
  const gsize lengths[] = { N, N, N };
  g_autoptr (GRand) random = g_rand_new_with_seed (__i__);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_autofree gdouble *expected = NULL, *all = NULL;
  g_auto (Keyed) k = { NULL };
  gsize at[3] = { 0 };
  GstAudioInfo infos[3];
  gdouble *x[3];

  for (guint i = 0; i < 3; i++) {
    infos[i] =
        tfx_check_info ((i ? __i__ : __i__ / 4) & 1 ? GST_AUDIO_FORMAT_F32
                                                    : GST_AUDIO_FORMAT_F64,
            RATE, n_channels[i],
            (i ? __i__ : __i__ / 4) & 2 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                                        : GST_AUDIO_LAYOUT_INTERLEAVED);
    x[i] = tfx_check_noise ((gsize)N * n_channels[i], 10 + i);
  }
  all = side_by_side ((const gdouble *const *)x, n_channels, lengths, 3, N);
  expected = expect (chain, all, 5, 2, N);
  keyed_open (&k, chain, &infos[0], infos + 1, 2, FALSE);
  while (at[0] < N) {
    const gsize step = g_rand_int_range (random, 1, 900);
    const gsize to = MIN (at[0] + step, N);

    for (guint i = 1; i < 3; i++) {
      while (at[i] < to) {
        const gsize ahead = g_rand_int_range (random, 1, 1000);
        const gsize end = MIN (at[i] + ahead, N);

        push (k.keys[i - 1], &infos[i], x[i], at[i], end);
        at[i] = end;
      }
    }
    push (k.h, &infos[0], x[0], at[0], to);
    at[0] = to;
  }
  fail_unless (gst_harness_push_event (k.h, gst_event_new_eos ()));
  tfx_firs_collect (caught, k.h, &infos[0]);
  tfx_firs_expect_whole (caught, N, 0, RATE);
  tfx_firs_expect_db (caught, expected, __i__ / 4 & 1 ? -120.0 : -280.0, chain);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-frames"),
      2 * N);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-silent"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-dropped"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "deferred"), 0);
  for (guint i = 0; i < 3; i++)
    g_free (x[i]);
}
GST_END_TEST;

/* A stream of ones with a key; the key's part of the output. */
static gdouble *
pull_key (GstHarness *h, const GstAudioInfo *info, gsize n)
{
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  gdouble *y = g_new (gdouble, n);

  tfx_firs_collect (caught, h, info);
  fail_unless_equals_uint64 (caught->n_frames, n);
  fail_unless_equals_int (caught->n_jumps, 0);
  for (gsize i = 0; i < n; i++)
    y[i] = tfx_firs_samples (caught)[i] - 1.0;
  return y;
}

#define KEY_ALONE "Mix([[1, 1], [0, 0]])"

static void
expect_key (const gdouble *y, gsize from, gsize to, gdouble value)
{
  for (gsize i = from; i < to; i++)
    fail_unless (y[i] == value, "frame %u: %g, not %g", (guint)i, y[i], value);
}

/* A key that starts late, has a GAP event and a gap in its times, comes back, and ends
 * early: silence in each of them. */
GST_START_TEST (test_silence)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (6000, 1.0), *y = NULL;
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, ones, 500, 1000);
  gst_harness_push_event (k.keys[0],
      gst_event_new_gap (gst_util_uint64_scale (1000, GST_SECOND, RATE),
          gst_util_uint64_scale (1000, GST_SECOND, RATE)));
  push (k.keys[0], &info, ones, 2000, 2100);
  /* 0.2 s later, marked. */
  {
    GstBuffer *buffer = tfx_check_stamped (&info, ones, 100, 4000);

    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (k.keys[0], buffer);
  }
  gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  for (gsize i = 0; i < 6000; i += 300)
    push (k.h, &info, ones, i, i + 300);
  y = pull_key (k.h, &info, 6000);
  expect_key (y, 0, 500, 0.0);
  expect_key (y, 500, 1000, 1.0);
  expect_key (y, 1000, 2000, 0.0);
  expect_key (y, 2000, 2100, 1.0);
  expect_key (y, 2100, 4000, 0.0);
  expect_key (y, 4000, 4100, 1.0);
  expect_key (y, 4100, 6000, 0.0);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-frames"), 700);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-silent"), 5300);
}
GST_END_TEST;

/* A gap of the main stream has its keys, also as the first of all. */
GST_START_TEST (test_main_gap)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *x = tfx_check_noise (9000, 1);
  g_autofree gdouble *zeros = tfx_check_constant (9000, 0.0);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, x, 0, 9000);
  gst_harness_push_event (k.h,
      gst_event_new_gap (0, gst_util_uint64_scale (6000, GST_SECOND, RATE)));
  push (k.h, &info, zeros, 6000, 7000);
  gst_harness_push_event (k.h,
      gst_event_new_gap (gst_util_uint64_scale (7000, GST_SECOND, RATE),
          gst_util_uint64_scale (2000, GST_SECOND, RATE)));
  tfx_firs_collect (caught, k.h, &info);
  fail_unless_equals_uint64 (caught->n_frames, 9000);
  fail_unless (memcmp (tfx_firs_samples (caught), x, 9000 * sizeof *x) == 0);
}
GST_END_TEST;

/* The positions are those of the main stream; the key has the number after it. */
GST_START_TEST (test_positions)
{
  GstAudioInfo info, mono = tfx_check_f64 (RATE, 1);
  const GstAudioChannelPosition at[] = { GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
    GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT, GST_AUDIO_CHANNEL_POSITION_LFE1 };
  g_autofree gdouble *ones = tfx_check_constant (3000, 1.0), *y = NULL;
  g_autoptr (GstBuffer) buffer = NULL;
  g_autoptr (GstCaps) caps = NULL;
  g_auto (Keyed) k = { NULL };
  guint64 mask = 0;
  gsize n;

  gst_audio_info_init (&info);
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F64, RATE, 3, at);
  keyed_open (&k,
      "(ch[LFE]: Gain(0.5); ch[3]: Gain(0.25)) | "
      "(ch[0, 3]: Mix([[1, 1], [0, 1]]))",
      &info, &mono, 1, FALSE);
  push (k.keys[0], &mono, ones, 0, 1000);
  push (k.h, &info, ones, 0, 1000);
  buffer = gst_harness_pull (k.h);
  y = tfx_check_samples (buffer, &info, &n);
  fail_unless_equals_int (n, 1000);
  for (gsize i = 0; i < n; i++)
    fail_unless (y[3 * i] == 1.25 && y[3 * i + 1] == 1.0 && y[3 * i + 2] == 0.5,
        "frame %u: %g %g %g", (guint)i, y[3 * i], y[3 * i + 1], y[3 * i + 2]);
  caps = gst_pad_get_current_caps (k.h->sinkpad);
  fail_unless (gst_structure_get (gst_caps_get_structure (caps, 0),
      "channel-mask", GST_TYPE_BITMASK, &mask, NULL));
  fail_unless_equals_uint64 (mask, 0xb);
}
GST_END_TEST;

/* The loudness of a key, which is louder, does not count. */
GST_START_TEST (test_loudness)
{
  static const gchar chain[] = "Loudness(-23, lookahead=1)";
  const gsize n = 3 * RATE;
  GstAudioInfo info = tfx_check_f64 (RATE, 2), mono = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *x = tfx_check_noise (2 * n, 1), *expected = NULL;
  g_autofree gdouble *key = tfx_check_noise (n, 2);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_auto (Keyed) k = { NULL };

  for (gsize i = 0; i < 2 * n; i++)
    x[i] *= 0.01;
  expected = expect (chain, x, 2, 2, n);
  keyed_open (&k, chain, &info, &mono, 1, FALSE);
  for (gsize i = 0; i < n; i += 1000) {
    push (k.keys[0], &mono, key, i, i + 1000);
    push (k.h, &info, x, i, i + 1000);
  }
  fail_unless (gst_harness_push_event (k.h, gst_event_new_eos ()));
  tfx_firs_collect (caught, k.h, &info);
  tfx_firs_expect_db (caught, expected, -280.0, chain);
}
GST_END_TEST;

/* A Mix that makes another number of channels: all of them are put out. */
GST_START_TEST (test_mix)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2), mono = tfx_check_f64 (RATE, 1);
  GstAudioInfo out = tfx_check_f64 (RATE, 4);
  g_autofree gdouble *x = tfx_check_noise (2000, 1), *y = NULL;
  g_autofree gdouble *key = tfx_check_noise (1000, 2);
  g_autoptr (GstBuffer) buffer = NULL;
  g_auto (Keyed) k = { NULL };
  gsize n;

  keyed_open (&k, "Mix([[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 1]])", &info,
      &mono, 1, FALSE);
  push (k.keys[0], &mono, key, 0, 1000);
  push (k.h, &info, x, 0, 1000);
  buffer = gst_harness_pull (k.h);
  y = tfx_check_samples (buffer, &out, &n);
  fail_unless_equals_int (n, 1000);
  for (gsize i = 0; i < n; i++)
    fail_unless (y[4 * i] == key[i] && y[4 * i + 1] == x[2 * i] &&
                 y[4 * i + 2] == x[2 * i + 1] &&
                 y[4 * i + 3] == x[2 * i] + key[i]);
}
GST_END_TEST;

/* Backwards too: keys that play in the same direction. */
GST_START_TEST (test_backwards)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  const GstClockTime stop = gst_util_uint64_scale (4000, GST_SECOND, RATE);
  g_autofree gdouble *x = tfx_check_noise (4000, 1);
  g_autofree gdouble *zeros = tfx_check_constant (4000, 0.0);
  g_auto (Keyed) k = { NULL };
  GstSegment segment;
  gsize end = 4000;

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  segment.stop = segment.position = stop;
  gst_harness_push_event (k.keys[0], gst_event_new_segment (&segment));
  gst_harness_push_event (k.h, gst_event_new_segment (&segment));
  for (gsize to = 4000; to > 0; to -= 800)
    push (k.keys[0], &info, x, to - 800, to);
  for (gsize to = 4000; to > 0; to -= 500)
    push (k.h, &info, zeros, to - 500, to);
  while (end > 0) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (k.h);
    gsize n;
    g_autofree gdouble *y = tfx_check_samples (buffer, &info, &n);

    end -= n;
    fail_unless (memcmp (y, x + end, n * sizeof *y) == 0, "frame %u",
        (guint)end);
  }
}
GST_END_TEST;

/* ---- formats ----------------------------------------------------------------------- */

/* The pad proposes the rate of the main stream, and later its own channels. */
GST_START_TEST (test_caps)
{
  GstAudioInfo info = tfx_check_f64 (44100, 2), mono = tfx_check_f32 (44100, 1);
  g_auto (Keyed) k = { NULL };
  g_autoptr (GstPad) pad = NULL;
  GstCaps *caps;
  gint rate = 0, n = 0;

  keyed_open (&k, "Gain(1)", &info, &mono, 1, FALSE);
  pad = gst_pad_get_peer (k.keys[0]->srcpad);
  fail_unless_equals_string (GST_PAD_NAME (pad), "key_0");
  caps = gst_pad_query_caps (pad, NULL);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "rate", &rate);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels", &n);
  fail_unless_equals_int (rate, 44100);
  fail_unless_equals_int (n, 1);
  gst_caps_unref (caps);
}
GST_END_TEST;

/* A rate that is too far off, another number of channels later, or a buffer of another
 * layout than its caps is an error that names the fault. */
GST_START_TEST (test_refused)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1), other = tfx_check_f64 (47, 1);
  GstAudioInfo stereo = tfx_check_f64 (RATE, 2);
  g_autofree gdouble *ones = tfx_check_constant (2000, 1.0);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_auto (Keyed) k = { NULL };
  g_autoptr (GstCaps) caps = gst_audio_info_to_caps (&stereo);

  keyed_open (&k, "Gain(1)", &info, __i__ ? &info : &other, 1, FALSE);
  gst_element_set_bus (k.h->element, bus);
  if (__i__ == 2) {
    GstBuffer *buffer = tfx_check_stamped (&info, ones, 1000, 0);

    info.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
    gst_buffer_add_audio_meta (buffer, &info, 1000, NULL);
    fail_unless_equals_int (gst_harness_push (k.keys[0], buffer),
        GST_FLOW_NOT_NEGOTIATED);
    tfx_check_expect_error (bus, "key_0", "(non-interleaved), the caps",
        "F64LE (interleaved)", NULL);
  } else if (__i__ == 0) {
    fail_unless_equals_int (gst_harness_push (k.keys[0],
                                tfx_check_stamped (&other, ones, 2000, 0)),
        GST_FLOW_NOT_NEGOTIATED);
    tfx_check_expect_error (bus, "key_0: it has 47 Hz", "48000 Hz", "1000",
        NULL);
  } else {
    push (k.keys[0], &info, ones, 0, 1000);
    gst_harness_push_event (k.keys[0], gst_event_new_caps (caps));
    tfx_check_expect_error (bus, "key_0 changes from 1 to 2 channels",
        "audioconvert", NULL);
  }
}
GST_END_TEST;

/* n frames of a sine of 1000 Hz from a frame on. */
static gdouble *
sine (gint rate, gsize from, gsize n)
{
  gdouble *x = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++)
    x[i] = sin (2.0 * G_PI * 1000.0 * (gdouble)(from + i) / rate);
  return x;
}

static void
expect_sine (const gdouble *y, gint rate, gsize from, gsize n, gdouble error)
{
  g_autofree gdouble *expected = sine (rate, from, n);

  for (gsize i = 0; i < n; i++)
    fail_unless (ABS (y[i] - expected[i]) < error, "frame %u: %g, not %g",
        (guint)(from + i), y[i], expected[i]);
}

static void
expect_whole_key (const Keyed *k, gsize n)
{
  fail_unless_equals_uint64 (tfx_check_stat (k->h->element, "key-frames"), n);
  fail_unless_equals_uint64 (tfx_check_stat (k->h->element, "key-silent"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (k->h->element, "key-dropped"), 0);
}

/* A key at another rate is resampled, from its first frame to its last one, in place; in
 * pieces of any length, in both directions.  (Backwards, both streams begin at the end of
 * their last frame, and the frames of one are longer.) */
GST_START_TEST (test_resampled)
{
  static const gint rates[] = { 44100, 48000, 96000, 8000 };
  const gint rate = rates[__i__ % 4];
  const gsize n = (gsize)rate / 5;
  const gboolean is_backwards = __i__ >= 4;
  const gdouble shift =
      is_backwards ? 2.0 * G_PI * 1000.0 * ABS (1.0 / RATE - 1.0 / rate) : 0.0;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  GstAudioInfo other = tfx_check_f64 (rate, 1);
  g_autofree gdouble *x = sine (rate, 0, n), *y = NULL;
  g_autofree gdouble *zeros = tfx_check_constant (9600, 0.0);
  g_autoptr (GRand) random = g_rand_new_with_seed (__i__);
  g_autofree gdouble *all = g_new (gdouble, 9600);
  g_auto (Keyed) k = { NULL };
  GstSegment segment;

  keyed_open (&k, KEY_ALONE, &info, &other, 1, FALSE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = is_backwards ? -1.0 : 1.0;
  segment.stop = segment.position = GST_SECOND / 5;
  gst_harness_push_event (k.keys[0], gst_event_new_segment (&segment));
  gst_harness_push_event (k.h, gst_event_new_segment (&segment));
  for (gsize at = 0, to; at < n; at = to) {
    to = at + (gsize)g_rand_int_range (random, 1, 900);
    to = MIN (to, n);
    if (is_backwards)
      push (k.keys[0], &other, x, n - to, n - at);
    else
      push (k.keys[0], &other, x, at, to);
  }
  gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  for (gsize at = 0; at < 9600; at += 480) {
    const gsize from = is_backwards ? 9600 - at - 480 : at;
    GstBuffer *buffer;
    gsize m;

    push (k.h, &info, zeros, from, from + 480);
    buffer = gst_harness_pull (k.h);
    y = tfx_check_samples (buffer, &info, &m);
    fail_unless_equals_int (m, 480);
    memcpy (all + from, y, 480 * sizeof *y);
    g_clear_pointer (&y, g_free);
    gst_buffer_unref (buffer);
  }
  /* (A resampler needs samples before the first and after the last one.) */
  expect_sine (all + 200, RATE, 200, 9200, 2e-3 + shift);
  expect_whole_key (&k, 9600);
}
GST_END_TEST;

/* The end of a short key, after which the resampler gets silence: the same for another
 * format of the main stream, or another layout of the key. */
GST_START_TEST (test_resampled_end)
{
  g_autofree gdouble *x = sine (44100, 0, 100), *expected = NULL;
  g_autofree gdouble *ones = tfx_check_constant (960, 1.0);

  for (guint i = 0; i < 3; i++) {
    GstAudioInfo info =
        i > 0 ? tfx_check_f32 (RATE, 1) : tfx_check_f64 (RATE, 1);
    GstAudioInfo other = tfx_check_f64 (44100, 1);
    g_autofree gdouble *y = NULL;
    g_auto (Keyed) k = { NULL };

    if (i == 2)
      other.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
    keyed_open (&k, KEY_ALONE, &info, &other, 1, FALSE);
    push (k.keys[0], &other, x, 0, 100);
    gst_harness_push_event (k.keys[0], gst_event_new_eos ());
    push (k.h, &info, ones, 0, 960);
    y = pull_key (k.h, &info, 960);
    if (!expected)
      expected = g_steal_pointer (&y);
    for (guint f = 0; y && f < 960; f++)
      fail_unless (ABS (y[f] - expected[f]) < 1e-6, "frame %u: %g, not %g", f,
          y[f], expected[f]);
  }
}
GST_END_TEST;

/* A key that changes its rate while it plays, without a flush, is not interrupted. */
GST_START_TEST (test_key_changes_rate)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1), other = tfx_check_f64 (44100, 1);
  g_autofree gdouble *x = sine (RATE, 0, 4800), *y = NULL;
  g_autofree gdouble *after = sine (44100, 0, 13230);
  g_autofree gdouble *zeros = tfx_check_constant (14400, 1.0);
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, x, 0, 4800);
  push (k.h, &info, zeros, 0, 2400);
  tfx_check_set_info (k.keys[0], &other);
  push (k.keys[0], &other, after, 4410, 8820);
  push (k.keys[0], &other, after, 8820, 13230);
  gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  push (k.h, &info, zeros, 2400, 14400);
  y = pull_key (k.h, &info, 14400);
  expect_sine (y, RATE, 0, 4700, 2e-3);
  expect_sine (y + 4900, RATE, 4900, 9300, 2e-3);
  expect_whole_key (&k, 14400);
}
GST_END_TEST;

/* When the main stream changes its rate, frames of the key that are queued at the old one
 * are used. */
GST_START_TEST (test_main_changes_rate)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1), other = tfx_check_f64 (44100, 1);
  g_autofree gdouble *x = sine (RATE, 0, 14400), *y = NULL;
  g_autofree gdouble *ones = tfx_check_constant (14400, 1.0);
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  for (gsize i = 0; i < 14400; i += 1000)
    push (k.keys[0], &info, x, i, MIN (i + 1000, 14400));
  if (__i__)
    gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  push (k.h, &info, ones, 0, 4800);
  g_free (pull_key (k.h, &info, 4800));
  tfx_check_set_info (k.h, &other);
  if (!__i__) {
    /* The key follows, also later. */
    g_autofree gdouble *more = sine (44100, 0, 22050);

    tfx_check_set_info (k.keys[0], &other);
    push (k.keys[0], &other, more, 13230, 22050);
  }
  push (k.h, &other, ones, 4410, 13230);
  y = pull_key (k.h, &other, 8820);
  /* (The first buffer that is converted begins at frame 4000.) */
  expect_sine (y, 44100, 4410, 8700, 2e-3);
  expect_whole_key (&k, 4800 + 8820);
}
GST_END_TEST;

/* A gap of less than a second in a queued key stays one when the main stream changes its
 * rate: after a mark DISCONT, or an event. */
GST_START_TEST (test_gap_changes_rate)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1), other = tfx_check_f64 (44100, 1);
  g_autofree gdouble *x = sine (RATE, 0, 14400), *y = NULL;
  g_autofree gdouble *ones = tfx_check_constant (14400, 1.0);
  g_auto (Keyed) k = { NULL };
  GstBuffer *late = tfx_check_stamped (&info, x + 9600, 4800, 9600);

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, x, 0, 4800);
  if (__i__)
    gst_harness_push_event (k.keys[0],
        gst_event_new_gap (GST_SECOND / 10, GST_SECOND / 10));
  else
    GST_BUFFER_FLAG_SET (late, GST_BUFFER_FLAG_DISCONT);
  gst_harness_push (k.keys[0], late);
  gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  push (k.h, &info, ones, 0, 2400);
  g_free (pull_key (k.h, &info, 2400));
  tfx_check_set_info (k.h, &other);
  push (k.h, &other, ones, 2205, 13230);
  y = pull_key (k.h, &other, 11025);
  for (guint i = 4510; i < 8720; i++)
    fail_unless (y[i - 2205] == 0.0, "frame %u: %g", i, y[i - 2205]);
  expect_sine (y + 8920 - 2205, 44100, 8920, 4200, 2e-3);
}
GST_END_TEST;

/* A rate that has next to no divisor in common with the main one takes no large table. */
GST_START_TEST (test_odd_rate)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  GstAudioInfo other = tfx_check_f64 (1000 * RATE - 12, 1);
  g_autofree gdouble *zeros = tfx_check_constant (1000, 0.0);
  g_auto (Keyed) k = { NULL };
  struct mallinfo2 heap;

  keyed_open (&k, KEY_ALONE, &info, &other, 1, FALSE);
  push (k.keys[0], &other, zeros, 0, 1000);
  heap = mallinfo2 ();
  fail_unless (heap.uordblks + heap.hblkhd < (gsize)200 << 20);
}
GST_END_TEST;

/* Both streams come from one source, which changes its rate: the key, which is ahead, is
 * exact to the last bit. */
GST_START_TEST (test_both_change_rate)
{
  const gint to = __i__ ? 44100 : 96000;
  const gsize n = to / 10;
  GstAudioInfo info = tfx_check_f64 (RATE, 1), other = tfx_check_f64 (to, 1);
  g_autofree gdouble *x = tfx_check_noise (3 * n + 4800, 1);
  g_autofree gdouble *zeros = tfx_check_constant (3 * n + 4800, 0.0);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, x, 0, 4800);
  push (k.h, &info, zeros, 0, 2400);
  tfx_check_set_info (k.keys[0], &other);
  for (gsize i = n; i < 3 * n; i += 1000)
    push (k.keys[0], &other, x, i, MIN (i + 1000, 3 * n));
  push (k.h, &info, zeros, 2400, 4800);
  tfx_firs_collect (caught, k.h, &info);
  fail_unless (memcmp (tfx_firs_samples (caught), x, 4800 * sizeof *x) == 0);
  tfx_check_set_info (k.h, &other);
  for (gsize i = n; i < 3 * n; i += 700)
    push (k.h, &other, zeros, i, MIN (i + 700, 3 * n));
  tfx_firs_collect (caught, k.h, &other);
  fail_unless_equals_uint64 (caught->n_frames, 4800 + 2 * n);
  fail_unless (
      memcmp (tfx_firs_samples (caught) + 4800, x + n, 2 * n * sizeof *x) == 0);
  expect_whole_key (&k, 4800 + 2 * n);
}
GST_END_TEST;

/* A key of other samples in the middle. */
GST_START_TEST (test_other_samples)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1),
               other = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 1,
                   GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  g_autofree gdouble *x = tfx_check_noise (2000, 1), *y = NULL;
  g_autofree gdouble *ones = tfx_check_constant (2000, 1.0);
  g_autoptr (GstCaps) caps = gst_audio_info_to_caps (&other);
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, x, 0, 1000);
  fail_unless (gst_harness_push_event (k.keys[0], gst_event_new_caps (caps)));
  push (k.keys[0], &other, x, 1000, 2000);
  push (k.h, &info, ones, 0, 2000);
  y = pull_key (k.h, &info, 2000);
  for (guint i = 0; i < 2000; i++)
    fail_unless (y[i] == (1.0 + x[i]) - 1.0, "frame %u", i);
}
GST_END_TEST;

/* ---- while it plays ---------------------------------------------------------------- */

/* A flush of the key drops its queue; the next frames come from after it. */
GST_START_TEST (test_flush_key)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (3000, 1.0);
  g_autofree gdouble *twos = tfx_check_constant (3000, 2.0), *y = NULL;
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, ones, 0, 3000);
  push (k.h, &info, ones, 0, 1000);
  tfx_check_flush (k.keys[0]);
  push (k.keys[0], &info, twos, 1500, 3000);
  push (k.h, &info, ones, 1000, 3000);
  y = pull_key (k.h, &info, 3000);
  expect_key (y, 0, 1000, 1.0);
  expect_key (y, 1000, 1500, 0.0);
  expect_key (y, 1500, 3000, 2.0);
}
GST_END_TEST;

/* A flush of both: they begin again. */
GST_START_TEST (test_flush_both)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (3000, 1.0), *y = NULL;
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  push (k.keys[0], &info, ones, 0, 3000);
  push (k.h, &info, ones, 0, 2000);
  g_free (pull_key (k.h, &info, 2000));
  tfx_check_flush (k.h);
  tfx_check_flush (k.keys[0]);
  push (k.keys[0], &info, ones, 200, 1000);
  push (k.h, &info, ones, 0, 1000);
  y = pull_key (k.h, &info, 1000);
  expect_key (y, 0, 200, 0.0);
  expect_key (y, 200, 1000, 1.0);
}
GST_END_TEST;

/* Pushes a buffer of a second, in a thread of its own. */
typedef struct
{
  GstHarness *h;
  const GstAudioInfo *info;
  const gdouble *x;
  gsize from, to;
  gboolean begins; /* with the caps */
  GstFlowReturn flow;
  gint is_done; /* atomic */
} Pusher;

static gpointer
run_pusher (gpointer data)
{
  Pusher *p = data;

  if (p->begins)
    tfx_check_set_info (p->h, p->info);
  for (gsize i = p->from; i < p->to && p->flow == GST_FLOW_OK; i += 1000)
    p->flow = gst_harness_push (p->h,
        tfx_check_stamped (p->info, p->x + i * p->info->channels,
            MIN (1000, p->to - i), i));
  g_atomic_int_set (&p->is_done, TRUE);
  return NULL;
}

/* It waits, since it is not done after a while. */
static GThread *
start_waiting (Pusher *p)
{
  GThread *thread = g_thread_new ("pusher", run_pusher, p);

  g_usleep (50000);
  fail_if (g_atomic_int_get (&p->is_done));
  return thread;
}

/* What wakes a main stream that waits for a key, or a key that waits for room. */
enum
{
  KEY_SENDS,
  KEY_ENDS,
  KEY_HAS_GAP,
  KEY_UNLINKED,
  KEY_RELEASED,
  MAIN_FLUSHED,
  MAIN_STOPPED,
  N_MAIN,
  ROOM_MAIN_SENDS = N_MAIN,
  ROOM_MAIN_ENDS,
  ROOM_KEY_FLUSHED,
  ROOM_KEY_RELEASED,
  ROOM_STOPPED,
  N_WAKES
};

static void
wake (Keyed *k, int how, const GstAudioInfo *info, const gdouble *x)
{
  g_autoptr (GstPad) pad = gst_pad_get_peer (k->keys[0]->srcpad);

  switch (how) {
    case KEY_SENDS:
      push (k->keys[0], info, x, 0, 2000);
      break;
    case KEY_ENDS:
      gst_harness_push_event (k->keys[0], gst_event_new_eos ());
      break;
    case KEY_HAS_GAP:
      gst_harness_push_event (k->keys[0], gst_event_new_gap (0, GST_SECOND));
      break;
    case KEY_UNLINKED:
      fail_unless (gst_pad_unlink (k->keys[0]->srcpad, pad));
      break;
    case KEY_RELEASED:
    case ROOM_KEY_RELEASED:
      gst_element_release_request_pad (k->h->element, pad);
      break;
    case MAIN_FLUSHED:
      gst_harness_push_event (k->h, gst_event_new_flush_start ());
      break;
    case ROOM_KEY_FLUSHED:
      gst_harness_push_event (k->keys[0], gst_event_new_flush_start ());
      break;
    case MAIN_STOPPED:
    case ROOM_STOPPED:
      gst_element_set_state (k->h->element, GST_STATE_READY);
      break;
    case ROOM_MAIN_SENDS:
      for (gsize i = 0; i < 2 * RATE; i += 1000)
        push (k->h, info, x, i, i + 1000);
      break;
    case ROOM_MAIN_ENDS:
      gst_harness_push_event (k->h, gst_event_new_eos ());
      break;
    default:
      break;
  }
}

GST_START_TEST (test_wakes)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (4 * RATE, 1.0);
  const gboolean is_main = __i__ < N_MAIN;
  g_auto (Keyed) k = { NULL };
  Pusher p = { NULL, &info, ones, 0, is_main ? 1000 : 2 * RATE };
  GstFlowReturn flow = GST_FLOW_OK;
  GThread *thread;

  keyed_open (&k, "Gain(2)", &info, &info, 1, FALSE);
  p.h = is_main ? k.h : k.keys[0];
  thread = start_waiting (&p);
  wake (&k, __i__, &info, ones);
  g_thread_join (thread);
  if (__i__ == MAIN_FLUSHED || __i__ == MAIN_STOPPED ||
      __i__ == ROOM_KEY_FLUSHED || __i__ == ROOM_STOPPED ||
      __i__ == ROOM_KEY_RELEASED)
    flow = GST_FLOW_FLUSHING;
  fail_unless_equals_int (p.flow, flow);
  if (is_main && flow == GST_FLOW_OK)
    fail_unless_equals_uint64 (tfx_check_pull_frames (k.h, &info), 1000);
}
GST_END_TEST;

/* Two threads, each as fast as it can, over several seconds: the result is exact. */
GST_START_TEST (test_threads)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2), mono = tfx_check_f64 (RATE, 1);
  const gsize n = 5 * RATE, lengths[] = { n, n - 12345 };
  const gint n_channels[] = { 2, 1 };
  g_autofree gdouble *x = tfx_check_noise (2 * n, 1);
  g_autofree gdouble *key = tfx_check_noise (n, 2);
  const gdouble *const both[] = { x, key };
  g_autofree gdouble *all = side_by_side (both, n_channels, lengths, 2, n);
  g_autofree gdouble *expected = expect (ADDED, all, 3, 2, n);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_auto (Keyed) k = { NULL };
  Pusher p;
  GThread *thread;

  keyed_open (&k, ADDED, &info, NULL, 1, FALSE);
  p = (Pusher){ k.keys[0], &mono, key, 0, lengths[1], TRUE };
  thread = g_thread_new ("key", run_pusher, &p);
  /* (The last frame of the key is waited for by its EOS.) */
  for (gsize i = 0; i < n - 20000; i += 700)
    push (k.h, &info, x, i, MIN (i + 700, n - 20000));
  g_thread_join (thread);
  fail_unless_equals_int (p.flow, GST_FLOW_OK);
  gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  push (k.h, &info, x, n - 20000, n);
  gst_harness_push_event (k.h, gst_event_new_eos ());
  tfx_firs_collect (caught, k.h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_db (caught, expected, -280.0, "threads");
}
GST_END_TEST;

/* Pads are requested, linked, fed and released while the main stream goes on in another
 * thread: no frame of it is lost. */
GST_START_TEST (test_requests)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2), mono = tfx_check_f64 (RATE, 1);
  const gsize n = 4 * RATE;
  g_autofree gdouble *x = tfx_check_noise (2 * n, 1);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_auto (Keyed) k = { NULL };
  Pusher p = { NULL, &info, x, 0, n };
  GThread *thread;

  keyed_open (&k, "Gain(2)", &info, NULL, 0, FALSE);
  p.h = k.h;
  thread = g_thread_new ("main", run_pusher, &p);
  for (guint i = 0; i < 30; i++) {
    GstHarness *key = open_key (k.h->element, i & 1 ? &mono : NULL, FALSE);

    if (i % 4 == 1)
      gst_harness_push (key, tfx_check_stamped (&mono, x, 1000, 1000 * i));
    gst_harness_teardown (key);
  }
  g_thread_join (thread);
  fail_unless_equals_int (p.flow, GST_FLOW_OK);
  gst_harness_push_event (k.h, gst_event_new_eos ());
  tfx_firs_collect (caught, k.h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  for (gsize i = 0; i < 2 * n; i++)
    fail_unless (tfx_firs_samples (caught)[i] == 2.0 * x[i], "sample %u",
        (guint)i);
}
GST_END_TEST;

/* A key that does anything: buffers of any length, GAP events, holes, flushes, an end and
 * a new start, other samples. */
typedef struct
{
  GstHarness *h;
  const gdouble *x;
  gsize n;
  guint seed;
} Wild;

static gpointer
run_wild (gpointer data)
{
  const Wild *w = data;
  g_autoptr (GRand) random = g_rand_new_with_seed (w->seed);
  GstAudioInfo info = tfx_check_f64 (RATE, 1);

  tfx_check_set_info (w->h, &info);
  for (gsize at = 0, to; at < w->n; at = to) {
    const guint deed = g_rand_int_range (random, 0, 100);
    const GstClockTime start = gst_util_uint64_scale (at, GST_SECOND, RATE);

    to = at + (gsize)g_rand_int_range (random, 1, 3000);
    to = MIN (to, w->n);
    if (deed == 0) {
      tfx_check_flush (w->h);
    } else if (deed == 1 && at > w->n / 2) {
      gst_harness_push_event (w->h, gst_event_new_eos ());
      gst_harness_push_event (w->h, gst_event_new_stream_start ("again"));
      tfx_check_push_segment (w->h, 0, GST_CLOCK_TIME_NONE, 0);
    } else if (deed == 2) {
      info = tfx_check_info (g_rand_boolean (random) ? GST_AUDIO_FORMAT_F32
                                                     : GST_AUDIO_FORMAT_F64,
          RATE, 1,
          g_rand_boolean (random) ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                                  : GST_AUDIO_LAYOUT_INTERLEAVED);
      tfx_check_set_info (w->h, &info);
    } else if (deed == 3) {
      gst_harness_push_event (w->h,
          gst_event_new_gap (start,
              gst_util_uint64_scale (to - at, GST_SECOND, RATE)));
      continue;
    }
    if (deed != 4) {
      GstBuffer *buffer = tfx_check_stamped (&info, w->x + at, to - at, at);

      /* (After a hole.) */
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
      gst_harness_push (w->h, buffer);
    }
  }
  gst_harness_push_event (w->h, gst_event_new_eos ());
  return NULL;
}

/* Whatever it does, a frame of the main stream has the frame of the key with its time, or
 * none; and no frame is lost. */
GST_START_TEST (test_wild)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  const gsize n = 4 * RATE;
  g_autofree gdouble *x = tfx_check_noise (n, 1);
  g_autofree gdouble *zeros = tfx_check_constant (n, 0.0);
  g_autoptr (GRand) random = g_rand_new_with_seed (__i__);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_auto (Keyed) k = { NULL };
  gsize n_used = 0, to;
  GThread *thread;
  Wild w;

  keyed_open (&k, KEY_ALONE, &info, NULL, 1, FALSE);
  w = (Wild){ k.keys[0], x, n, __i__ };
  thread = g_thread_new ("wild", run_wild, &w);
  for (gsize at = 0; at < n; at = to) {
    to = at + (gsize)g_rand_int_range (random, 1, 2000);
    to = MIN (to, n);
    push (k.h, &info, zeros, at, to);
  }
  g_thread_join (thread);
  gst_harness_push_event (k.h, gst_event_new_eos ());
  tfx_firs_collect (caught, k.h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  for (gsize i = 0; i < n; i++) {
    const gdouble y = tfx_firs_samples (caught)[i];

    fail_unless (y == 0.0 || y == x[i], "frame %u: %g, not %g", (guint)i, y,
        x[i]);
    n_used += y != 0.0;
  }
  fail_unless (n_used > n / 20, "%u", (guint)n_used);
}
GST_END_TEST;

/* A key that is requested while the one with its number is released, in other threads:
 * it gets another number, or that one. */
static gpointer
run_requests (gpointer data)
{
  for (guint i = 0; i < 3000; i++) {
    GstPad *pad = gst_element_request_pad_simple (data, "key_%u");

    fail_unless (pad != NULL);
    gst_element_release_request_pad (data, pad);
    gst_object_unref (pad);
  }
  return NULL;
}

GST_START_TEST (test_requests_at_once)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (RATE, 1.0);
  g_auto (Keyed) k = { NULL };
  GThread *threads[3];

  keyed_open (&k, "Gain(1)", &info, NULL, 0, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("requests", run_requests, k.h->element);
  for (gsize i = 0; i < RATE; i += 1000)
    push (k.h, &info, ones, i, i + 1000);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  fail_unless_equals_uint64 (tfx_check_pull_frames (k.h, &info), RATE);
}
GST_END_TEST;

/* A key whose segment is not one of times has no timestamps: it starts with the main
 * stream.  (appsrc has segments of bytes.) */
GST_START_TEST (test_key_in_bytes)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (1000, 1.0), *y = NULL;
  g_auto (Keyed) k = { NULL };
  GstSegment segment;

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_push_event (k.keys[0], gst_event_new_segment (&segment));
  push (k.keys[0], &info, ones, 0, 1000);
  push (k.h, &info, ones, 0, 1000);
  y = pull_key (k.h, &info, 1000);
  expect_key (y, 0, 1000, 1.0);
}
GST_END_TEST;

/* At the end of a segment no stream waits for the other one, and the next segment has the
 * key again: a segment seek repeats both. */
GST_START_TEST (test_segment_done)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (3 * RATE, 1.0), *y = NULL;
  g_auto (Keyed) k = { NULL };
  Pusher main = { NULL, &info, ones, 0, 1000 };
  Pusher key = { NULL, &info, ones, 0, 3 * RATE };
  GThread *thread;

  keyed_open (&k, KEY_ALONE, &info, &info, 1, FALSE);
  main.h = k.h;
  key.h = k.keys[0];
  /* The key is shorter, then longer than the main stream. */
  push (k.keys[0], &info, ones, 0, 500);
  thread = start_waiting (&main);
  gst_harness_push_event (k.keys[0],
      gst_event_new_segment_done (GST_FORMAT_TIME, GST_SECOND));
  g_thread_join (thread);
  y = pull_key (k.h, &info, 1000);
  expect_key (y, 0, 500, 1.0);
  expect_key (y, 500, 1000, 0.0);
  tfx_check_push_segment (k.keys[0], 0, GST_CLOCK_TIME_NONE, GST_SECOND);
  thread = start_waiting (&key);
  gst_harness_push_event (k.h,
      gst_event_new_segment_done (GST_FORMAT_TIME, GST_SECOND));
  g_thread_join (thread);
  fail_unless_equals_int (key.flow, GST_FLOW_OK);
  /* The key repeats first. */
  tfx_check_push_segment (k.keys[0], 0, GST_CLOCK_TIME_NONE, 9 * GST_SECOND);
  push (k.keys[0], &info, ones, 0, 1000);
  tfx_check_push_segment (k.h, 0, GST_CLOCK_TIME_NONE, 9 * GST_SECOND);
  push (k.h, &info, ones, 0, 1000);
  g_clear_pointer (&y, g_free);
  y = pull_key (k.h, &info, 1000);
  expect_key (y, 0, 1000, 1.0);
}
GST_END_TEST;

/* One thread for both streams would wait for itself: it is an error that says what to
 * do. */
GST_START_TEST (test_one_thread)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (1000, 1.0);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, "Gain(1)", &info, &info, 1, FALSE);
  gst_element_set_bus (k.h->element, bus);
  push (k.keys[0], &info, ones, 0, 500);
  fail_unless_equals_int (gst_harness_push (k.h,
                              tfx_check_stamped (&info, ones, 1000, 0)),
      GST_FLOW_ERROR);
  tfx_check_expect_error (bus, "One thread", "sink and key_0", "queue", NULL);
}
GST_END_TEST;

/* A tee before the main stream and a queue before the key alone lock each other: a
 * warning says what to do. */
GST_START_TEST (test_long_wait)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (1000, 1.0);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Keyed) k = { NULL };
  Pusher p = { NULL, &info, ones, 0, 1000 };
  GThread *thread;

  keyed_open (&k, "Gain(1)", &info, &info, 1, FALSE);
  gst_element_set_bus (k.h->element, bus);
  p.h = k.h;
  thread = start_waiting (&p);
  message =
      gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "waits for key_0") != NULL);
  fail_unless (strstr (error->message, "a queue before each pad") != NULL);
  gst_harness_push_event (k.keys[0], gst_event_new_eos ());
  g_thread_join (thread);
  fail_unless_equals_int (p.flow, GST_FLOW_OK);
  fail_unless_equals_uint64 (tfx_check_pull_frames (k.h, &info), 1000);
}
GST_END_TEST;

/* Numbers of pads. */
GST_START_TEST (test_names)
{
  g_autoptr (TfxElement) element = tfx_chains_element ("Gain(1)");
  GstPad *high = gst_element_request_pad_simple (element, "key_3");
  GstPad *low = gst_element_request_pad_simple (element, "key_%u");
  GstPad *next = gst_element_request_pad_simple (element, "key_%u");

  fail_unless_equals_string (GST_PAD_NAME (high), "key_3");
  fail_unless_equals_string (GST_PAD_NAME (low), "key_0");
  fail_unless_equals_string (GST_PAD_NAME (next), "key_1");
  gst_element_release_request_pad (element, low);
  gst_object_unref (low);
  low = gst_element_request_pad_simple (element, "key_%u");
  fail_unless_equals_string (GST_PAD_NAME (low), "key_0");
  gst_object_unref (low);
  gst_object_unref (next);
  gst_object_unref (high);
}
GST_END_TEST;

/* ---- live -------------------------------------------------------------------------- */

/* The latency is the larger one, and 10 ms for keys that come a little later. */
GST_START_TEST (test_latency)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  g_auto (Keyed) k = { NULL };
  GstClockTime min, max;
  gboolean is_live;

  keyed_open (&k, "Gain(1)", &info, &info, 1, TRUE);
  gst_harness_set_upstream_latency (k.h, 5 * GST_MSECOND);
  gst_harness_set_upstream_latency (k.keys[0], 30 * GST_MSECOND);
  fail_unless (gst_pad_peer_query (k.h->sinkpad, query));
  gst_query_parse_latency (query, &is_live, &min, &max);
  fail_unless (is_live);
  fail_unless_equals_uint64 (min, 40 * GST_MSECOND);
  fail_unless (max >= min);
}
GST_END_TEST;

/* The resampler of a key at another rate holds samples back: that is latency. */
GST_START_TEST (test_latency_of_resampler)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1), other = tfx_check_f64 (8000, 1);
  g_autofree gdouble *ones = tfx_check_constant (800, 1.0);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_auto (Keyed) k = { NULL };
  GstMessage *message;
  GstClockTime min[2];

  keyed_open (&k, "Gain(1)", &info, &other, 1, TRUE);
  gst_element_set_bus (k.h->element, bus);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstQuery) query = gst_query_new_latency ();

    fail_unless (gst_pad_peer_query (k.h->sinkpad, query));
    gst_query_parse_latency (query, NULL, &min[i], NULL);
    if (i == 0)
      push (k.keys[0], &other, ones, 0, 800);
  }
  fail_unless (
      min[1] > min[0] + 10 * GST_MSECOND && min[1] < min[0] + 30 * GST_MSECOND);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
  fail_unless (message != NULL);
  gst_message_unref (message);
}
GST_END_TEST;

/* The main stream waits for a live key until the deadline, not longer; what comes later
 * is dropped. */
GST_START_TEST (test_live)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (2 * RATE, 1.0), *y = NULL;
  g_auto (Keyed) k = { NULL };
  Pusher p = { NULL, &info, ones, 0, 1000 };
  GThread *thread;

  keyed_open (&k, KEY_ALONE, &info, &info, 1, TRUE);
  gst_harness_set_upstream_latency (k.keys[0], 30 * GST_MSECOND);
  p.h = k.h;
  thread = start_waiting (&p);
  /* A key that is on time has its last frame 30 ms after the 20.8 ms of the buffer; 10
   * ms are added. */
  gst_harness_set_time (k.h, 60 * GST_MSECOND);
  g_usleep (30000);
  fail_if (g_atomic_int_get (&p.is_done));
  gst_harness_set_time (k.h, 61 * GST_MSECOND);
  g_thread_join (thread);
  fail_unless_equals_int (p.flow, GST_FLOW_OK);
  push (k.keys[0], &info, ones, 0, 1500);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-dropped"),
      1000);
  fail_unless_equals_uint64 (tfx_check_stat (k.h->element, "key-silent"), 1000);
  push (k.h, &info, ones, 1000, 1500);
  y = pull_key (k.h, &info, 1500);
  expect_key (y, 0, 1000, 0.0);
  expect_key (y, 1000, 1500, 1.0);
  /* A live key never waits: of two seconds the last one stays. */
  for (gsize i = 1; i < 48; i++)
    push (k.keys[0], &info, ones, 2000 * i, 2000 * (i + 1));
}
GST_END_TEST;

/* A longer buffer of the main stream needs more latency, which is reported. */
GST_START_TEST (test_latency_of_buffers)
{
  static const gsize ends[] = { 2400, 7200, 9600 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (9600, 1.0);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_auto (Keyed) k = { NULL };

  keyed_open (&k, "Gain(1)", &info, &info, 1, TRUE);
  gst_element_set_bus (k.h->element, bus);
  push (k.keys[0], &info, ones, 0, 9600);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstQuery) query = gst_query_new_latency ();
    GstClockTime min;

    gst_bus_set_flushing (bus, TRUE);
    gst_bus_set_flushing (bus, FALSE);
    push (k.h, &info, ones, i > 0 ? ends[i - 1] : 0, ends[i]);
    fail_unless (gst_pad_peer_query (k.h->sinkpad, query));
    gst_query_parse_latency (query, NULL, &min, NULL);
    fail_unless_equals_uint64 (min, (i == 0 ? 60 : 110) * GST_MSECOND);
    fail_unless (gst_bus_have_pending (bus) == (i < 2));
  }
}
GST_END_TEST;

/* At twice the speed, frame 96000 plays after a second. */
GST_START_TEST (test_live_fast)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (3 * RATE, 1.0);
  g_auto (Keyed) k = { NULL };
  Pusher p = { NULL, &info, ones, 2 * RATE, 2 * RATE + 1000 };
  GstSegment segment;
  GThread *thread;

  keyed_open (&k, KEY_ALONE, &info, &info, 1, TRUE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2.0;
  gst_harness_push_event (k.h, gst_event_new_segment (&segment));
  p.h = k.h;
  thread = start_waiting (&p);
  gst_harness_set_time (k.h, GST_SECOND + 31 * GST_MSECOND);
  g_thread_join (thread);
  fail_unless_equals_int (p.flow, GST_FLOW_OK);
}
GST_END_TEST;

/* In PAUSED it waits: there is no deadline before the clock runs. */
GST_START_TEST (test_live_paused)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (1000, 1.0);
  g_auto (Keyed) k = { NULL };
  Pusher p = { NULL, &info, ones, 0, 1000 };
  GThread *thread;

  keyed_open (&k, KEY_ALONE, &info, &info, 1, TRUE);
  p.h = k.h;
  gst_element_set_state (k.h->element, GST_STATE_PAUSED);
  gst_harness_set_time (k.h, GST_SECOND);
  thread = start_waiting (&p);
  gst_element_set_state (k.h->element, GST_STATE_PLAYING);
  g_thread_join (thread);
  fail_unless_equals_int (p.flow, GST_FLOW_OK);
}
GST_END_TEST;

/* ---- pipelines --------------------------------------------------------------------- */

/* Seeks move both streams, and nothing is lost of either. */
GST_START_TEST (test_seek)
{
  const gsize n = 2 * RATE;
  g_autofree gdouble *x = tfx_check_noise (n, 1);
  g_autofree gdouble *zeros = tfx_check_constant (n, 0.0);
  g_autofree gchar *key =
      tfx_firs_write_sound ("key.wav", TFX_FIRS_WAV, x, n, 1, RATE);
  g_autofree gchar *music =
      tfx_firs_write_sound ("music.wav", TFX_FIRS_WAV, zeros, n, 1, RATE);
  g_autofree gchar *launch =
      g_strdup_printf ("filesrc location=\"%s\" ! wavparse ! tfxchain name=t "
                       "chain=\"Mix([[1, 1], [0, 1]])\" ! fakesink name=sink "
                       "filesrc location=\"%s\" blocksize=5000 ! wavparse ! "
                       "t.key_0",
          music, key);
  g_auto (TfxCaught) caught = { 0 };
  GstElement *pipeline = tfx_play_make (launch, &caught);

  for (gsize from = 0; from < n; from += 24000) {
    if (from > 0)
      fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
          (gint64)gst_util_uint64_scale (from, GST_SECOND, RATE)));
    tfx_play_run (pipeline, GST_MESSAGE_EOS);
    fail_unless_equals_int (caught.samples->len, n - from);
    fail_unless (caught.contiguous);
    for (gsize i = from; i < n; i++)
      fail_unless (tfx_caught_floats (&caught)[i - from] == (gfloat)x[i],
          "frame %u after a seek to %u", (guint)i, (guint)from);
  }
  tfx_play_stop (pipeline);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tcase = tcase_create ("keys");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, test_exact, 0, 16);
  tcase_add_test (tcase, test_silence);
  tcase_add_test (tcase, test_main_gap);
  tcase_add_test (tcase, test_positions);
  tcase_add_test (tcase, test_loudness);
  tcase_add_test (tcase, test_mix);
  tcase_add_test (tcase, test_backwards);
  tcase_add_test (tcase, test_caps);
  tcase_add_loop_test (tcase, test_refused, 0, 3);
  tcase_add_loop_test (tcase, test_resampled, 0, 8);
  tcase_add_test (tcase, test_resampled_end);
  tcase_add_test (tcase, test_key_changes_rate);
  tcase_add_loop_test (tcase, test_main_changes_rate, 0, 2);
  tcase_add_loop_test (tcase, test_gap_changes_rate, 0, 2);
  tcase_add_test (tcase, test_odd_rate);
  tcase_add_loop_test (tcase, test_both_change_rate, 0, 2);
  tcase_add_test (tcase, test_other_samples);
  tcase_add_test (tcase, test_flush_key);
  tcase_add_test (tcase, test_flush_both);
  tcase_add_loop_test (tcase, test_wakes, 0, N_WAKES);
  tcase_add_test (tcase, test_threads);
  tcase_add_test (tcase, test_requests);
  tcase_add_loop_test (tcase, test_wild, 0, 6);
  tcase_add_test (tcase, test_requests_at_once);
  tcase_add_test (tcase, test_key_in_bytes);
  tcase_add_test (tcase, test_segment_done);
  tcase_add_test (tcase, test_one_thread);
  tcase_add_test (tcase, test_long_wait);
  tcase_add_test (tcase, test_names);
  tcase_add_test (tcase, test_latency);
  tcase_add_test (tcase, test_latency_of_resampler);
  tcase_add_test (tcase, test_live);
  tcase_add_test (tcase, test_latency_of_buffers);
  tcase_add_test (tcase, test_live_fast);
  tcase_add_test (tcase, test_live_paused);
  tcase_add_test (tcase, test_seek);
  return tfx_check_run (argc, argv, tcase);
}
