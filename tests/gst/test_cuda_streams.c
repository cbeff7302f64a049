/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_streams.c: what happens in streams - edges of segments, seeks, gaps,
 * ends, other caps, changes of properties and links, copies of buffers - on the
 * device as on the CPU.
 */
#include <gst/controller/controller.h>
#include <string.h>

#include "deck.h"

#define RATE 48000
#define HIGH "tfxbutterworth mode=high-pass cutoff=100 order=3 DEVICE "
#define LOW "tfxchebyshev cutoff=3000 order=5 DEVICE "

/* ---- lines ----------------------------------------------------------------------- */

static const gchar *const lines[] = {
  HIGH "name=e0",
  /* Buffers in CUDA memory between them. */
  HIGH "name=e0 fuse=false ! " LOW "name=e1 fuse=false ! "
       "tfxfir name=e2 taps=101 fuse=false DEVICE",
  /* They run as one, with two buffers in flight. */
  HIGH "name=e0 ! " LOW "name=e1 ! tfxfir name=e2 taps=101 DEVICE "
       "device-delay=1",
  /* They begin and end on the device. */
  HIGH "name=e0 ! MEMORY ! tfxchain name=e1 DEVICE "
       "chain=\"LoButterworth(900)+Echo(700,0.4)\" ! "
       "tfxfir name=e2 taps=33 DEVICE ! MEMORY",
  /* What looks far ahead, and buffers in CUDA memory around it. */
  HIGH "name=e0 fuse=false ! MEMORY ! tfxchain name=e1 DEVICE "
       "chain=\"Limiter(-30,0.05)|LoButterworth(900)\" ! MEMORY ! " LOW
       "name=e2 fuse=false",
  /* Those that have a kernel of their own. */
  HIGH "name=e0 ! MEMORY ! tfxchain name=e1 DEVICE "
       "chain=\"Compressor(-30)|Limiter(-30,0.002)|Reverb()\" ! MEMORY",
  /* Those whose gain is found ahead, cell by cell. */
  HIGH "name=e0 ! tfxchain name=e1 DEVICE "
       "chain=\"Limiter(-30,0.003,true_peak=True)|"
       "Normalize(0.5,window=0.05)|Loudness(-20,0.2,max_gain=10)\"",
};
#define N_LINES G_N_ELEMENTS (lines)

static const struct
{
  GstAudioFormat format;
  gint n_channels;
  GstAudioLayout layout;
} formats[] = {
  { GST_AUDIO_FORMAT_F64, 2, GST_AUDIO_LAYOUT_INTERLEAVED },
  { GST_AUDIO_FORMAT_F64, 3, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
  { GST_AUDIO_FORMAT_F32, 1, GST_AUDIO_LAYOUT_INTERLEAVED },
  { GST_AUDIO_FORMAT_F32, 8, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
};
#define N_FORMATS G_N_ELEMENTS (formats)

static GstAudioInfo
format_info (guint i)
{
  return tfx_check_info (formats[i].format, RATE, formats[i].n_channels,
      formats[i].layout);
}

/* ---- stories --------------------------------------------------------------------- */

static void
push_some (Deck *deck, GRand *rand, guint n_buffers)
{
  for (guint i = 0; i < n_buffers; i++)
    fail_unless_equals_int (deck_push (deck, g_rand_int_range (rand, 1, 900)),
        GST_FLOW_OK);
}

static GstClockTime
time_of (const Deck *deck, guint64 frame)
{
  return gst_util_uint64_scale (frame, GST_SECOND, deck->info.rate);
}

/* Frames from number `first` on, up to `last` (0: no end). */
static void
push_segment (Deck *deck, guint64 first, guint64 last)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = time_of (deck, first);
  if (last > 0)
    segment.stop = time_of (deck, last);
  deck_push_event (deck, gst_event_new_segment (&segment));
}

static void
play_plain (Deck *deck, GRand *rand)
{
  push_some (deck, rand, 12);
}

/* Edges of segments within buffers. */
static void
play_segments (Deck *deck, GRand *rand)
{
  push_some (deck, rand, 3);
  push_segment (deck, deck->n_in + 333, deck->n_in + 2777);
  deck_push_many (deck, 5 * 700, 700);
  push_segment (deck, deck->n_in, 0);
  push_some (deck, rand, 3);
}

static void
play_seek (Deck *deck, GRand *rand)
{
  push_some (deck, rand, 4);
  deck_drain (deck);
  deck_push_event (deck, gst_event_new_flush_start ());
  deck_push_event (deck, gst_event_new_flush_stop (TRUE));
  deck->n_in += 12345;
  push_segment (deck, deck->n_in, 0);
  push_some (deck, rand, 4);
}

/* Backwards, and forwards again. */
static void
play_backwards (Deck *deck, GRand *rand)
{
  GstSegment segment;
  guint64 to = deck->n_in + 20000;

  push_some (deck, rand, 4);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  segment.stop = time_of (deck, to);
  deck_push_event (deck, gst_event_new_segment (&segment));
  for (guint i = 0; i < 12; i++) {
    const guint n = (guint)g_rand_int_range (rand, 1, 900);

    deck->n_in = to -= n;
    fail_unless_equals_int (deck_push (deck, n), GST_FLOW_OK);
  }
  push_segment (deck, deck->n_in, 0);
  push_some (deck, rand, 4);
}

/* A jump in the times, a GAP event, a buffer marked DISCONT. */
static void
play_gaps (Deck *deck, GRand *rand)
{
  push_some (deck, rand, 3);
  deck->n_in += RATE;
  push_some (deck, rand, 3);
  deck_push_event (deck,
      gst_event_new_gap (time_of (deck, deck->n_in), GST_SECOND));
  deck->n_in += RATE;
  push_some (deck, rand, 3);
}

/* Pushes a buffer of silence that is marked as a gap. */
static void
push_gap (Deck *deck, gsize n)
{
  gdouble *zeros = g_new0 (gdouble, n * deck->info.channels);
  GstBuffer *buffer = tfx_check_stamped (&deck->info, zeros, n, deck->n_in);

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  fail_unless_equals_int (gst_harness_push (deck->h, buffer), GST_FLOW_OK);
  deck->n_in += n;
  g_free (zeros);
}

/* Until the filters have rung out. */
static void
play_silence (Deck *deck, GRand *rand)
{
  push_some (deck, rand, 2);
  for (guint i = 0; i < 30; i++)
    push_gap (deck, 2000);
  push_some (deck, rand, 2);
}

/* Another rate, channels, format and layout. */
static void
play_caps (Deck *deck, GRand *rand)
{
  GstAudioInfo info = deck->info;
  GstAudioFormat format = GST_AUDIO_INFO_FORMAT (&info);
  GstAudioFormat other = format == GST_AUDIO_FORMAT_F64 ? GST_AUDIO_FORMAT_F32
                                                        : GST_AUDIO_FORMAT_F64;
  GstAudioInfo infos[] = {
    tfx_check_info (format, info.rate, info.channels,
        !GST_AUDIO_INFO_LAYOUT (&info)),
    tfx_check_info (other, info.rate, info.channels,
        GST_AUDIO_INFO_LAYOUT (&info)),
    tfx_check_info (format, info.rate, 1 + info.channels,
        GST_AUDIO_INFO_LAYOUT (&info)),
    tfx_check_info (format, 44100, info.channels,
        GST_AUDIO_INFO_LAYOUT (&info)),
  };

  push_some (deck, rand, 3);
  for (guint i = 0; i < G_N_ELEMENTS (infos); i++) {
    deck_set_info (deck, &infos[i]);
    push_some (deck, rand, 3);
  }
  deck_set_info (deck, &info);
}

/* In place, and by a cross-fade. */
static void
play_properties (Deck *deck, GRand *rand)
{
  for (guint i = 0; i < 8; i++) {
    gchar *text = g_strdup_printf ("%u", 100 + 50 * i);

    deck_set (deck, "e0", "cutoff", text);
    if (i % 3 == 1)
      deck_set (deck, "e0", "order", i < 3 ? "7" : "2");
    push_some (deck, rand, 2);
    g_free (text);
  }
}

static void
play_fuse (Deck *deck, GRand *rand)
{
  GstElement *second = gst_bin_get_by_name (GST_BIN (deck->h->element), "e1");

  for (guint i = 0; i < 8; i++) {
    deck_set (deck, "e0", "fuse", i % 2 ? "true" : "false");
    if (second && i % 3 == 0)
      deck_set (deck, "e1", "fuse", i % 2 ? "false" : "true");
    push_some (deck, rand, 2);
  }
  gst_clear_object (&second);
}

/* To another device and back.  What is between the caps that ask for CUDA memory
 * cannot be the CPU's. */
static void
play_devices (Deck *deck, GRand *rand)
{
  static const gchar *const devices[] = { "cpu", "auto", "cuda" };
  GstElement *second = gst_bin_get_by_name (GST_BIN (deck->h->element), "e2");

  for (guint i = 0; i < 9; i++) {
    if (!strstr (deck->launch, "MEMORY"))
      deck_set (deck, second ? "e2" : "e0", "device", devices[i % 3]);
    push_some (deck, rand, 2);
  }
  gst_clear_object (&second);
}

static void
play_restart (Deck *deck, GRand *rand)
{
  push_some (deck, rand, 3);
  deck_push_event (deck, gst_event_new_eos ());
  fail_unless_equals_int (gst_element_set_state (deck->h->element,
                              GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  deck_restart (deck);
  push_some (deck, rand, 3);
}

/* ---- what happens to buffers between elements -------------------------------------- */

/* The probe's n-th buffer is put together anew. */
static GstPadProbeReturn
meddle (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  guint *n = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info), *made;
  gsize size = gst_buffer_get_size (buffer), half;
  GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);

  switch ((*n)++ % 5) {
    case 0:
      made = gst_buffer_copy (buffer);
      break;
    case 1:
      made = gst_buffer_copy_deep (buffer);
      break;
    case 2:
      made = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, size);
      break;
    case 3:
      /* Two memories. */
      half = size / 2 / 64 * 64;
      if (half == 0)
        return GST_PAD_PROBE_OK;
      made = gst_buffer_copy_region (buffer,
          GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS |
              GST_BUFFER_COPY_MEMORY,
          0, half);
      made = gst_buffer_append (made,
          gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, half, -1));
      GST_BUFFER_DURATION (made) = GST_BUFFER_DURATION (buffer);
      GST_BUFFER_OFFSET_END (made) = GST_BUFFER_OFFSET_END (buffer);
      if (meta)
        gst_buffer_add_audio_meta (made, &meta->info, meta->samples,
            meta->offsets);
      break;
    default:
      return GST_PAD_PROBE_OK;
  }
  gst_buffer_unref (buffer);
  GST_PAD_PROBE_INFO_DATA (info) = made;
  return GST_PAD_PROBE_OK;
}

static void
play_copies (Deck *deck, GRand *rand)
{
  GstPad *pad = deck_pad (deck, "e0", "src");
  guint n = 0;
  gulong probe =
      gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, meddle, &n, NULL);

  push_some (deck, rand, 15);
  deck_drain (deck);
  gst_pad_remove_probe (pad, probe);
  fail_unless_equals_int (n, 15);
  gst_object_unref (pad);
}

/* The second element has a narrower segment than the first one: buffers in CUDA
 * memory are cut. */
static GstPadProbeReturn
narrow (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstSegment segment;

  if (GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT)
    return GST_PAD_PROBE_OK;
  gst_event_copy_segment (event, &segment);
  segment.start = segment.position =
      gst_util_uint64_scale (357, GST_SECOND, RATE);
  segment.stop = gst_util_uint64_scale (3001, GST_SECOND, RATE);
  gst_event_unref (event);
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_segment (&segment);
  return GST_PAD_PROBE_OK;
}

static void
play_narrow (Deck *deck, GRand *rand)
{
  GstPad *pad = deck_pad (deck, "e0", "src");
  gulong probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      narrow, NULL, NULL);

  deck_push_many (deck, 7 * 500, 500);
  gst_pad_remove_probe (pad, probe);
  gst_object_unref (pad);
}

/* ---- the tests ------------------------------------------------------------------------ */

static const struct
{
  const gchar *name;
  void (*play) (Deck *deck, GRand *rand);
} stories[] = { { "plain", play_plain }, { "segments", play_segments },
  { "seek", play_seek }, { "gaps", play_gaps }, { "silence", play_silence },
  { "caps", play_caps }, { "properties", play_properties },
  { "fuse", play_fuse }, { "devices", play_devices },
  { "restart", play_restart }, { "copies", play_copies },
  { "narrow", play_narrow }, { "backwards", play_backwards } };

/* Whether the device has run, or somebody else has for it. */
static gboolean
has_run (Deck *deck)
{
  return deck_stat (deck, "e0", "launches") > 0 ||
         deck_stat (deck, "e0", "deferred") > 0;
}

static Deck *
tell (const gchar *launch, DeckSide side, const GstAudioInfo *info, guint story)
{
  Deck *deck = deck_new (launch, side, info);
  GRand *rand = g_rand_new_with_seed (story);

  stories[story].play (deck, rand);
  deck_end (deck);
  g_rand_free (rand);
  return deck;
}

GST_START_TEST (test_story)
{
  const guint story = __i__ / (N_LINES * N_FORMATS);
  const gchar *launch = lines[__i__ / N_FORMATS % N_LINES];
  GstAudioInfo info = format_info (__i__ % N_FORMATS);
  gboolean is_f64 = GST_AUDIO_INFO_WIDTH (&info) == 64;
  Deck *cpu = tell (launch, DECK_CPU, &info, story);
  Deck *cuda = tell (launch, DECK_CUDA, &info, story);
  gboolean is_on_device = !strstr (stories[story].name, "devices");
  gchar *what;
  gint64 begin = 0;

  /* Where kernels are still being compiled the CPU has run: once more. */
  while (is_on_device && !has_run (cuda) && tfx_check_wait (&begin)) {
    deck_free (cuda);
    cuda = tell (launch, DECK_CUDA, &info, story);
  }
  fail_unless (cpu->n_frames > 500);
  what = g_strdup_printf ("%s, %s", stories[story].name, launch);
  /* Several roundings to float32, and FIRs in float32. */
  deck_expect_same (cpu, cuda, !is_f64 || story == 5 ? -125.0 : -220.0, what);
  g_free (what);
  if (is_on_device)
    fail_unless (has_run (cuda));
  deck_free (cpu);
  deck_free (cuda);
}
GST_END_TEST;

/* ---- marks --------------------------------------------------------------------------- */

static GstPadProbeReturn
count_gap (GstPad *pad, GstPadProbeInfo *info, gpointer n)
{
  *(guint *)n += GST_BUFFER_FLAG_IS_SET (GST_PAD_PROBE_INFO_BUFFER (info),
      GST_BUFFER_FLAG_GAP);
  return GST_PAD_PROBE_OK;
}

/* Silence in which a curve begins to move stays a gap, in both memories. */
GST_START_TEST (test_gap_under_curve)
{
  static const DeckSide sides[] = { DECK_CPU, DECK_CUDA };
  GstAudioInfo info = format_info (0);
  guint n_gaps[] = { 0, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    Deck *deck =
        deck_new ("tfxbutterworth name=e0 DEVICE ! MEMORY", sides[i], &info);
    GstElement *element = deck_element (deck, "e0");
    GstControlSource *source = gst_interpolation_control_source_new ();

    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        0, 500.0);
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        GST_SECOND, 2000.0);
    g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
    fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
        gst_direct_control_binding_new_absolute (GST_OBJECT (element), "cutoff",
            source)));
    gst_pad_add_probe (deck->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, count_gap,
        &n_gaps[i], NULL);
    while (deck->n_in < 10000)
      push_gap (deck, 2000);
    deck_push (deck, 2000);
    deck_end (deck);
    gst_object_unref (source);
    gst_object_unref (element);
    deck_free (deck);
  }
  fail_unless (n_gaps[0] > 0);
  fail_unless_equals_int (n_gaps[0], n_gaps[1]);
}
GST_END_TEST;

/* ---- suite ----------------------------------------------------------------------------- */

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_streams");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tfx_check_add_part (tc, test_story,
      G_N_ELEMENTS (stories) * N_LINES * N_FORMATS, 5);
  tcase_add_test (tc, test_gap_under_curve);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
