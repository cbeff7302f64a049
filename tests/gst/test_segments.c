/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_segments.c: a sound goes on where its segments do: one stream against the
 * same cut into segments, with gaps, unsteady times and other formats in it.
 */
#include <math.h>
#include <string.h>

#include "line.h"

#define RATE 48000
#define N 24000

/* float32 and float64 streams of the same sound, interleaved or planar. */
#define F32_DB -134.0
#define F64_DB -250.0
#define FFT_DB -128.0

static const gchar *const rows[] = {
  "tfxbutterworth cutoff=300 order=6",
  "tfxchebyshev mode=high-pass cutoff=60 type=2 order=4",
  "tfxfir taps=301 method=direct align=false",
  "tfxfir taps=301 method=direct",
  "tfxfir taps=1201 method=fft",
  "tfxchain chain=\"Delay(delay_samples=700, feedback=0.5) | "
  "LoButterworth(2000)\"",
  "tfxbutterworth cutoff=900 ! tfxchain chain=\"ParametricEQ(400, q=4, "
  "gain=6)\""
  " ! tfxchebyshev cutoff=3000",
  "tfxbutterworth cutoff=900 ! tfxfir taps=101 method=direct ! "
  "tfxchain chain=\"Notch(1000, 3) | FIR([0.5, 0, 0, 0.5])\"",
};

#define N_ROWS ((gint)G_N_ELEMENTS (rows))

static gboolean
has_fft (const gchar *launch)
{
  return strstr (launch, "fft") || strstr (launch, "auto");
}

/* ---- what a stream does ------------------------------------------------------ */

/* Something that happens before the buffer that begins with a frame, which may
 * stand for frames itself. */
typedef struct
{
  const gchar *name;
  enum
  {
    MARK,      /* alone */
    FROM_ZERO, /* as concat and playlists do: times from 0 again */
    TRACK,     /* the next one of a gapless playlist is another stream */
    ELSEWHERE, /* as GES does: another part of the source */
    AGAIN,     /* the same segment, as after a relink */
    STOP,      /* an update that moves the end */
    LAYOUT,
    FORMAT, /* and layout */
    GAP,    /* silence that nobody sends; it need not be whole ms */
    GAPS    /* the same in two events */
  } kind;
  /* Frames that are silent in one stream and missing in the other; else 0. */
  gsize n_silent;
} Cut;

static const Cut cuts[] = {
  { "marked", MARK },
  { "from zero", FROM_ZERO },
  { "track", TRACK },
  { "elsewhere", ELSEWHERE },
  { "again", AGAIN },
  { "stop", STOP },
  { "layout", LAYOUT },
  { "gap of 10 ms", GAP, 480 },
  { "gap of 1 ms", GAP, 48 },
  { "gap of 3.3 ms", GAPS, 161 },
  { "gap of 60 ms", GAPS, 2880 },
};

/* Where the present segment began. */
static GstClockTime segment_start;
static guint64 segment_frame;

/* Sources and decoders mark the first buffer of a stream, also where concat goes on
 * with it. */
static void
begin_segment (TfxLine *line, GstClockTime start, guint64 frame)
{
  line->is_marked = TRUE;
  segment_start = start;
  segment_frame = frame;
  tfx_line_push_segment (line, start, frame);
}

static GstClockTime
time_of (guint64 frame)
{
  return segment_start +
         gst_util_uint64_scale (frame - segment_frame, GST_SECOND, RATE);
}

static void
push_gap (TfxLine *line, guint64 from, guint64 to)
{
  fail_unless (gst_pad_push_event (line->src,
      gst_event_new_gap (time_of (from), time_of (to) - time_of (from))));
}

static void
make_cut (TfxLine *line, guint64 frame, const Cut *cut)
{
  const guint64 end = frame + cut->n_silent;
  GstAudioInfo info = line->info;
  GstSegment segment;

  switch (cut->kind) {
    case MARK:
      line->is_marked = TRUE;
      break;
    case TRACK:
      tfx_line_push_start (line, frame % 2 ? "one" : "two");
      tfx_line_push_caps (line, &info);
      G_GNUC_FALLTHROUGH;
    case FROM_ZERO:
      begin_segment (line, 0, frame);
      break;
    case ELSEWHERE:
      begin_segment (line, 77 * GST_SECOND + 123456789, frame);
      break;
    case AGAIN:
      tfx_line_push_segment (line, segment_start, segment_frame);
      break;
    case STOP:
      gst_segment_init (&segment, GST_FORMAT_TIME);
      segment.start = segment.time = segment_start;
      segment.base = gst_util_uint64_scale (segment_frame, GST_SECOND, RATE);
      segment.position = time_of (frame);
      segment.stop = segment_start + 100 * GST_SECOND + frame;
      gst_pad_push_event (line->src, gst_event_new_segment (&segment));
      break;
    case FORMAT:
      info = GST_AUDIO_INFO_WIDTH (&info) == 32
                 ? tfx_check_f64 (RATE, info.channels)
                 : tfx_check_f32 (RATE, info.channels);
      G_GNUC_FALLTHROUGH;
    case LAYOUT:
      info.layout = line->info.layout == GST_AUDIO_LAYOUT_INTERLEAVED
                        ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                        : GST_AUDIO_LAYOUT_INTERLEAVED;
      tfx_line_push_caps (line, &info);
      break;
    case GAP:
      push_gap (line, frame, end);
      break;
    case GAPS:
      push_gap (line, frame, frame + cut->n_silent / 3);
      push_gap (line, frame + cut->n_silent / 3, end);
      break;
  }
}

#define N_CUTS ((gint)G_N_ELEMENTS (cuts))

/* ---- one stream against the other ----------------------------------------------- */

/* Plays noise to a line, with cuts or as it is; without a line, silence comes where
 * the cuts will have it.  There is one every 2400 frames or so. */
static void
play (TfxLine *line, gdouble *in, gint n_channels, GRand *rand, const Cut *only,
    gboolean with_cuts)
{
  guint64 next = 2400, at = 0;

  if (line)
    begin_segment (line, 0, 0);
  while (at < N) {
    gsize n = g_rand_int_range (rand, 1, 900);
    const Cut *cut = only;

    n = MIN (n, N - at);
    if (at + n >= next) {
      cut = only ? only : &cuts[g_rand_int_range (rand, 0, N_CUTS)];
      n = next - at;
    }
    if (line && n > 0)
      fail_unless_equals_int (tfx_line_push (line, in, at, n, segment_start,
                                  segment_frame, 0),
          GST_FLOW_OK);
    at += n;
    if (at == next) {
      if (with_cuts && at + cut->n_silent <= N) {
        if (line)
          make_cut (line, at, cut);
        else
          memset (in + at * n_channels, 0,
              cut->n_silent * n_channels * sizeof *in);
        at += cut->n_silent;
      }
      next = at + 2000 + g_rand_int_range (rand, 0, 1500);
    }
  }
  if (line)
    tfx_line_end (line);
}

static gdouble
bound_db (const gchar *launch, gboolean is_wide)
{
  if (is_wide)
    return F64_DB + (has_fft (launch) ? 10.0 : 0.0);
  return has_fft (launch) ? FFT_DB : F32_DB;
}

static void
expect_same_sound (const TfxLine *a, const TfxLine *b, gsize n)
{
  fail_unless_equals_uint64 (a->n_heard, n);
  fail_unless_equals_uint64 (b->n_heard, n);
  fail_unless (tfx_line_error_db (tfx_line_sound (a), tfx_line_sound (b), n) <=
                   bound_db (a->launch, FALSE),
      "%s sounds otherwise", a->launch);
}

/* With cuts and without: frames may be missing, which are silence, only where a gap
 * was. */
static void
compare (const gchar *launch, const Cut *only, gboolean fuse, guint seed)
{
  GstAudioInfo info =
      seed % 2 ? tfx_check_f64 (RATE, 2) : tfx_check_f32 (RATE, 2);
  g_autofree gdouble *in = tfx_check_noise (N * 2, seed);
  const gchar *name = only ? only->name : "any";
  g_auto (TfxLines) lines;
  gdouble error_db;

  for (gint k = -1; k < 2; k++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

    if (k >= 0)
      tfx_line_open (&lines[k], launch, &info, fuse, N);
    play (k >= 0 ? &lines[k] : NULL, in, 2, rand, only, k <= 0);
  }
  tfx_line_expect_whole (&lines[1]);
  fail_unless (lines[0].worst_late <= 20,
      "%s, %s: late by %" G_GINT64_FORMAT " ns", launch, name,
      lines[0].worst_late);
  for (gsize i = 0; i < N; i++) {
    const guint least = in[i * 2] == 0.0 ? 0 : 1;

    if (lines[0].n_times[i] < least || lines[0].n_times[i] > 1)
      fail ("%s, %s: frame %u is heard %u times", launch, name, (guint)i,
          lines[0].n_times[i]);
  }
  error_db = tfx_line_error_db (lines[0].heard, lines[1].heard, N * 2);
  fail_unless (error_db <= bound_db (launch,
                               seed % 2 && !(only && only->kind == FORMAT)),
      "%s, %s: %.1f dB", launch, name, error_db);
}

/* Each kind of cut by itself. */
GST_START_TEST (test_cuts)
{
  const Cut *cut = &cuts[__i__];

  for (gint i = 0; i < N_ROWS; i++) {
    compare (rows[i], cut, FALSE, 2 * i);
    compare (rows[i], cut, TRUE, 2 * i + 1);
  }
}
GST_END_TEST;

/* All kinds in one stream. */
GST_START_TEST (test_any_cuts)
{
  for (gint i = 0; i < N_ROWS; i++)
    compare (rows[i], NULL, (__i__ + i) % 2, 100 * __i__ + i);
}
GST_END_TEST;

/* float32 and float64 in turns: the same sound, to what float32 holds. */
GST_START_TEST (test_formats)
{
  static const Cut cut = { "format", FORMAT };

  for (gint i = 0; i < N_ROWS; i++)
    compare (rows[i], &cut, __i__, 2 * i);
}
GST_END_TEST;

/* ---- unsteady times --------------------------------------------------------------- */

/* As USB cameras and RTP have them: each time is wrong by up to 59 ms.  The
 * samples are those of a steady stream; each comes out near its time. */
GST_START_TEST (test_jitter)
{
  const gint64 most = 59 * GST_MSECOND;

  for (gint row = 0; row < N_ROWS; row++) {
    GstAudioInfo info = tfx_check_f32 (RATE, 1);
    g_autofree gdouble *in = tfx_check_noise (5 * N, row);
    g_auto (TfxLines) lines;

    for (guint k = 0; k < 2; k++) {
      g_autoptr (GRand) rand = g_rand_new_with_seed (row);

      tfx_line_open (&lines[k], rows[row], &info, __i__, 6 * N);
      tfx_line_push_segment (&lines[k], 0, 0);
      for (gsize at = 0; at < 5 * N; at += 480) {
        gint64 jitter = g_rand_double_range (rand, -most, most);

        /* A clock starts some time after 0. */
        fail_unless_equals_int (tfx_line_push (&lines[k], in, at, 480, 0, 0,
                                    most + (k ? 0 : jitter)),
            GST_FLOW_OK);
      }
      gst_pad_push_event (lines[k].src, gst_event_new_eos ());
    }
    expect_same_sound (&lines[0], &lines[1], 5 * N);
  }
}
GST_END_TEST;

/* As where RTP is received: the clock of the stamps goes faster or slower than that
 * of the samples by some ns in each buffer of 10 ms, and is unsteady.  That is no
 * gap, however far it leads. */
GST_START_TEST (test_drift)
{
  static const gchar *const launches[] = { "tfxbutterworth cutoff=20",
    "tfxfir taps=21 cutoff=200 method=direct" };
  static const gint64 drifts[] = { 10000, -10000 };
  const gsize n = 100000;
  const gint jitter = __i__ / 2 % 2 ? 10 * GST_MSECOND : 1;
  GstAudioInfo info = tfx_check_f32 (2000, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxLines) lines;

  for (guint k = 0; k < 2; k++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (n);

    tfx_line_open (&lines[k], launches[__i__ / 4], &info, FALSE, n + 4000);
    tfx_line_push_segment (&lines[k], 0, 0);
    for (gsize at = 0, i = 0; at < n; at += 20, i++) {
      const gint64 late =
          (gint64)i * drifts[__i__ % 2] + g_rand_int_range (rand, 0, jitter);

      fail_unless_equals_int (tfx_line_push (&lines[k], in, at, 20, 0, 0,
                                  (gint64)GST_SECOND + (k ? late : 0)),
          GST_FLOW_OK);
    }
    gst_pad_push_event (lines[k].src, gst_event_new_eos ());
  }
  expect_same_sound (&lines[1], &lines[0], n);
}
GST_END_TEST;

/* What jumps by 1 s for good is another matter: the filter starts anew there,
 * once. */
GST_START_TEST (test_jump)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_constant (4800, 1.0);
  g_auto (TfxLine) line;

  tfx_line_open (&line,
      "tfxchain chain=\"Delay(delay_samples=100, mix=1, taps=1)\"", &info,
      FALSE, RATE * 2);
  tfx_line_push_segment (&line, 0, 0);
  for (gsize at = 0; at < 4800; at += 480)
    tfx_line_push (&line, in, at, 480, 0, 0,
        at < 2400 ? 0 : (gint64)(1.5 * GST_SECOND));
  tfx_line_end (&line);
  fail_unless_equals_uint64 (line.n_heard, 4800);
  fail_unless_equals_float (line.heard[99], 0.0);
  fail_unless_equals_float (line.heard[100], 1.0);
  fail_unless_equals_float (line.heard[2399], 1.0);
}
GST_END_TEST;

/* A loop by segment seeks: what looks ahead lets go of all that it holds at each turn,
 * and starts anew there; what stands in front of it, in an element of its own, goes
 * on. */
GST_START_TEST (test_turns_of_a_loop)
{
  const gchar *launch =
      "tfxbutterworth cutoff=100 ! tfxchain chain=\"LoButterworth(200)\" ! "
      "tfxchain chain=\"Limiter(-1)\"";
  const gsize n = 4800, turn = 1200;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxLines) lines;

  for (guint i = 0; i < 2; i++) {
    TfxLine *line = &lines[i];

    tfx_line_open (line, launch, &info, __i__, n);
    tfx_line_push_segment (line, 0, 0);
    for (gsize at = 0; at < n; at += 400) {
      const gsize begin = i ? at / turn * turn : 0;

      if (begin > 0 && begin == at) {
        fail_unless (gst_pad_push_event (line->src,
            gst_event_new_segment_done (GST_FORMAT_TIME,
                gst_util_uint64_scale (turn, GST_SECOND, RATE))));
        fail_unless_equals_uint64 (line->n_heard, at);
        tfx_line_push_segment (line, 0, at);
      }
      tfx_line_push (line, in, at, 400, 0, begin, 0);
    }
    tfx_line_end (line);
    tfx_line_expect_whole (line);
  }
  fail_unless (tfx_line_error_db (lines[1].heard, lines[0].heard, n) <= F32_DB);
}
GST_END_TEST;

/* ---- held frames -------------------------------------------------------------------- */

/* Behind another segment, while frames of the segment before are held, comes another
 * format, or a buffer without a time: that of the segment's beginning is meant.  All
 * frames keep their time. */
static const struct
{
  const gchar *launch;
  gsize a, b; /* impulses, which change nothing else */
  GstClockTime start;
  gsize n; /* in the first buffer of the segment */
  gboolean is_unstamped;
} held[] = {
  { "tfxfir taps=3 name=a ! tfxfir name=b", 1, 101, 0, 29 },
  { "tfxfir taps=203 ! tfxbutterworth cutoff=20000", 0, 0, 77 * GST_SECOND, 300,
      TRUE },
};

GST_START_TEST (test_held_behind_segment)
{
  const guint which = __i__ / 2;
  const gsize n = 2400, at = 1200, rest = at + held[which].n;
  GstAudioInfo info = tfx_check_f32 (RATE, 1), other = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxLine) line;

  tfx_line_open (&line, held[which].launch, &info, __i__ % 2, n);
  if (held[which].a > 0) {
    tfx_line_set_impulse (&line, "a", held[which].a);
    tfx_line_set_impulse (&line, "b", held[which].b);
  }
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, at, 400);
  tfx_line_push_segment (&line, held[which].start, at);
  if (held[which].is_unstamped) {
    gst_pad_push (line.src, tfx_check_buffer (&info, in + at, held[which].n));
  } else {
    tfx_line_push (&line, in, at, held[which].n, held[which].start, at, 0);
    tfx_line_push_caps (&line, &other);
  }
  for (gsize i = rest; i < n; i += 100)
    tfx_line_push (&line, in, i, MIN (100, n - i), held[which].start, at, 0);
  tfx_line_end (&line);
  tfx_line_expect_whole (&line);
  if (held[which].a > 0)
    fail_unless (tfx_line_error_db (line.heard, in, n) <= F32_DB);
}
GST_END_TEST;

/* Somebody refuses the last frames of a segment, and with them the first of the
 * next, which came in the same buffer: what comes later has its own time. */
GST_START_TEST (test_refused_at_segment)
{
  const gsize n = 2400, at = 960;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxLine) line;

  tfx_line_open (&line, "tfxfir name=a", &info, FALSE, n);
  tfx_line_set_impulse (&line, "a", 101);

  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, at, 480);
  tfx_line_push_segment (&line, 0, at);
  line.flow = GST_FLOW_NOT_LINKED;
  fail_unless_equals_int (tfx_line_push (&line, in, at, 480, 0, at, 0),
      GST_FLOW_NOT_LINKED);
  line.flow = GST_FLOW_OK;
  for (gsize i = at + 480; i < n; i += 480)
    tfx_line_push (&line, in, i, 480, 0, at, 0);
  tfx_line_end (&line);
  /* The frame that is heard last is the last one. */
  fail_unless_equals_int (line.n_times[n - 1], 1);
  for (gsize i = 0; i < n; i++) {
    if (line.n_times[i] > 1 ||
        (line.n_times[i] && ABS (line.heard[i] - in[i]) > 1e-6))
      fail ("frame %u is heard %u times, as %g for %g", (guint)i,
          line.n_times[i], line.heard[i], in[i]);
  }
  fail_unless_equals_uint64 (line.n_heard, n - 480 + 101);
}
GST_END_TEST;

/* ---- the end of a sound ------------------------------------------------------------ */

/* A filter that rings is heard in a gap; one that has died away lets the gap
 * pass. */
GST_START_TEST (test_gap_is_heard)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_constant (480, 1.0);
  guint n_gaps;
  g_auto (TfxLine) line;

  tfx_line_open (&line, "tfxbutterworth cutoff=200", &info, FALSE, RATE);
  tfx_line_push_segment (&line, 0, 0);
  gst_pad_push_event (line.src, gst_event_new_gap (0, 10 * GST_MSECOND));
  fail_unless (line.n_gaps == 1 && line.n_buffers == 0, "silence is filtered");
  tfx_line_push (&line, in, 0, 480, 0, 0, 10 * GST_MSECOND);
  gst_pad_push_event (line.src,
      gst_event_new_gap (20 * GST_MSECOND, 10 * GST_MSECOND));
  fail_unless (line.n_gaps == 1 && line.n_heard == 960, "the tail is lost");
  fail_unless (fabs (line.heard[965]) > 0.1);
  /* Some seconds later it is silent. */
  for (guint i = 3; i < 99; i++)
    gst_pad_push_event (line.src,
        gst_event_new_gap (i * 10 * GST_MSECOND, 10 * GST_MSECOND));
  n_gaps = line.n_gaps;
  fail_unless (n_gaps > 1, "it rings for ever");
  fail_unless (line.n_heard == (guint64)(99 - n_gaps) * 480);
  tfx_line_end (&line);
}
GST_END_TEST;

/* The frames of a gap are those between the sounds, also where the last stamp in front of
 * it was a little off. */
GST_START_TEST (test_gap_behind_jitter)
{
  static const gint64 jitters[] = { 12, -12, 30 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (4800, 15);
  g_auto (TfxLine) line;

  tfx_line_open (&line, "tfxbutterworth cutoff=200", &info, FALSE, RATE);
  tfx_line_push_segment (&line, 0, 0);
  for (guint i = 0; i < 10; i++)
    tfx_line_push (&line, in, i * 480, 480, 0, 0,
        i == 9 ? jitters[__i__] * GST_MSECOND : 0);
  gst_pad_push_event (line.src,
      gst_event_new_gap (100 * GST_MSECOND, 10 * GST_MSECOND));
  /* One stamp moves the clock of the stream by up to 4 frames. */
  fail_unless (ABS ((gint)line.n_heard - 4800 - 480) <= 4, "%u frames",
      (guint)line.n_heard);
}
GST_END_TEST;

/* What holds frames: some ms, with another element too, and 100 ms. */
static const gchar *const holding[] = { "tfxfir taps=101 fuse=false",
  "tfxfir taps=101 fuse=false ! tfxfir taps=51 fuse=false",
  "tfxchain chain=Limiter(-3,lookahead=0.002) fuse=false",
  "tfxchain chain=Limiter(-3,lookahead=0.1) fuse=false" };

/* Frames of a buffer whose stamp is a little early end with the segment: those that
 * were held before them do not lead them out of it, where they would be cut. */
GST_START_TEST (test_stop_behind_jitter)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (holding[__i__], &info);
  g_autofree gdouble *in = tfx_check_noise (960, 16);
  guint64 n_heard = 0;
  GstSegment segment;
  GstBuffer *buffer;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.stop = 17 * GST_MSECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 2; i++) {
    buffer = tfx_check_stamped (&info, in + 480 * i, 480, 480 * i);
    if (i == 1)
      GST_BUFFER_PTS (buffer) -= 3 * GST_MSECOND;
    gst_harness_push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    buffer = gst_audio_buffer_clip (buffer, &segment, RATE, info.bpf);
    fail_unless (buffer != NULL, "a buffer lies outside");
    n_heard += gst_buffer_get_size (buffer) / info.bpf;
    gst_buffer_unref (buffer);
  }
  fail_unless (n_heard == 960, "%u frames", (guint)n_heard);
}
GST_END_TEST;

/* Frames without a time that are held do not take theirs from those behind them, which
 * another element's curves are read by. */
GST_START_TEST (test_stamped_behind_unstamped)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir taps=101", &info);
  g_autofree gdouble *in = tfx_check_noise (960, 17);
  GstClockTime next = GST_CLOCK_TIME_NONE;
  gboolean is_met = FALSE;
  guint64 n_out = 0;
  GstBuffer *buffer;

  gst_harness_push (h, tfx_check_buffer (&info, in, 480));
  gst_harness_push (h, tfx_check_stamped (&info, in + 480, 480, 480));
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    fail_unless (n_out < 480 ? !GST_BUFFER_PTS_IS_VALID (buffer)
                             : GST_BUFFER_PTS_IS_VALID (buffer),
        "the time of frame %u", (guint)n_out);
    is_met = is_met || n_out == 480;
    if (n_out >= 480)
      next = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
    n_out += gst_buffer_get_size (buffer) / info.bpf;
    gst_buffer_unref (buffer);
  }
  fail_unless (is_met, "no buffer begins with the first time");
  fail_unless (n_out == 960 && next == 20 * GST_MSECOND);
}
GST_END_TEST;

/* Packets that were lost: the frames behind them have their own times, and the mark if
 * there is one, whatever was held in front of them.  What is not marked is longer than
 * jitter here. */
GST_START_TEST (test_lost_packets)
{
  const gboolean is_marked = __i__ < 4;
  enum
  {
    PACKET = 240,
    N_PACKETS = 24
  };
  const guint is_lost = is_marked ? 1 << 3 | 1 << 5 | 1 << 6 : 0x1ff << 7;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (holding[__i__ % 4], &info);
  g_autofree gdouble *in = tfx_check_noise (N_PACKETS * PACKET, 17);
  GstClockTime times[N_PACKETS * PACKET];
  guint n_in = 0, n_out = 0, n_marked = 0;
  GstBuffer *buffer;

  for (guint i = 0; i < N_PACKETS; i++) {
    if (is_lost >> i & 1)
      continue;
    buffer = tfx_check_stamped (&info, in + PACKET * i, PACKET, PACKET * i);
    for (guint k = 0; k < PACKET; k++)
      times[n_in++] = (PACKET * i + k) * GST_SECOND / RATE;
    if (i == 0 || (is_marked && is_lost >> (i - 1) & 1))
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    const guint n = (guint)gst_buffer_get_size (buffer) / info.bpf;
    const gboolean jumps =
        n_out == 0 ||
        (is_marked && times[n_out] - times[n_out - 1] > GST_MSECOND);

    fail_unless (GST_BUFFER_IS_DISCONT (buffer) == jumps, "frame %u", n_out);
    n_marked += jumps;
    for (guint k = 0; k < n; k++, n_out++)
      fail_unless (ABS (GST_CLOCK_DIFF (times[n_out],
                       GST_BUFFER_PTS (buffer) + k * GST_SECOND / RATE)) <= 2,
          "the time of frame %u", n_out);
    gst_buffer_unref (buffer);
  }
  fail_unless (n_out == n_in, "%u frames of %u", n_out, n_in);
  fail_unless (n_marked == (is_marked ? 3 : 1));
}
GST_END_TEST;

/* Where stamps are unsteady, as behind a receiver of RTP, what is lost in packet after
 * packet does not add up to a gap: the filter goes on, and a constant stays one. */
GST_START_TEST (test_lost_packets_and_jitter)
{
  enum
  {
    PACKET = 960,
    N_PACKETS = 200
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness (__i__ ? "tfxfir taps=401 cutoff=100"
                               : "tfxbutterworth cutoff=100",
          &info);
  g_autofree gdouble *in = tfx_check_constant (PACKET, 0.5);
  gdouble *out;
  g_autoptr (GRand) random = g_rand_new_with_seed (31);
  GstBuffer *buffer;
  gsize n;

  for (guint i = 0; i < N_PACKETS; i++) {
    if (i % 10 == 9)
      continue;
    buffer = tfx_check_stamped (&info, in, PACKET, PACKET * i);
    GST_BUFFER_PTS (buffer) +=
        (GstClockTime)g_rand_int_range (random, 0, GST_MSECOND / 2);
    if (i % 10 == 0)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (h, buffer);
  }
  while ((buffer = gst_harness_try_pull (h))) {
    const GstClockTime pts = GST_BUFFER_PTS (buffer);

    out = tfx_check_samples (buffer, &info, &n);
    for (gsize k = 0; k < n && pts > GST_SECOND; k++)
      fail_unless (fabs (out[k] - 0.5) < 1e-5, "%g at %" GST_TIME_FORMAT,
          out[k], GST_TIME_ARGS (pts));
    g_free (out);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;

/* Nor is a gap right behind one longer than it is. */
GST_START_TEST (test_gap_behind_lost_packet)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness (__i__ ? "tfxfir taps=401" : "tfxbutterworth", &info);
  g_autofree gdouble *in = tfx_check_noise (960, 18);
  GstBuffer *buffer;

  gst_harness_push (h, tfx_check_stamped (&info, in, 960, 0));
  /* 20 ms of 40 are lost. */
  buffer = tfx_check_stamped (&info, in, 480, 1920);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_harness_push (h, buffer);
  gst_harness_push_event (h,
      gst_event_new_gap (50 * GST_MSECOND, 5 * GST_MSECOND));
  gst_harness_push (h, tfx_check_stamped (&info, in, 960, 2640));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_uint64 (tfx_check_pull_frames (h, &info),
      960 + 480 + 240 + 960);
}
GST_END_TEST;

/* So do those that are silent, and go by with a gap. */
GST_START_TEST (test_lost_silence)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxchain chain=Limiter(-3,lookahead=0.1) fuse=false",
          &info);
  g_autofree gdouble *in = g_new0 (gdouble, 480);
  GstClockTime start, duration, end = 0;
  GstBuffer *buffer;
  GstEvent *event;

  for (guint i = 0; i < 12; i++) {
    buffer = tfx_check_stamped (&info, in, 480, 480 * (i < 10 ? i : i + 2));
    if (i == 10)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (h, buffer);
  }
  while ((buffer = gst_harness_try_pull (h))) {
    end = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
    gst_buffer_unref (buffer);
  }
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  gst_harness_push_event (h,
      gst_event_new_gap (140 * GST_MSECOND, 200 * GST_MSECOND));
  fail_unless (end == 20 * GST_MSECOND);
  while ((event = gst_harness_try_pull_event (h))) {
    gst_event_parse_gap (event, &start, &duration);
    fail_unless (start == (end == 100 * GST_MSECOND ? 120 * GST_MSECOND : end));
    end = start + duration;
    gst_event_unref (event);
  }
  fail_unless (end == 240 * GST_MSECOND);
  buffer = tfx_check_stamped (&info, in, 480, RATE * 34 / 100);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (GST_BUFFER_IS_DISCONT (buffer));
  gst_buffer_unref (buffer);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("segments");

  tfx_check_add_part (tc, test_cuts, N_CUTS, 3);
  tcase_add_loop_test (tc, test_any_cuts, 0, 12);
  tcase_add_loop_test (tc, test_formats, 0, 2);
  tcase_add_loop_test (tc, test_jitter, 0, 2);
  tcase_add_loop_test (tc, test_drift, 0, 8);
  tcase_add_test (tc, test_jump);
  tcase_add_loop_test (tc, test_turns_of_a_loop, 0, 2);
  tcase_add_loop_test (tc, test_held_behind_segment, 0,
      2 * G_N_ELEMENTS (held));
  tcase_add_test (tc, test_refused_at_segment);
  tcase_add_test (tc, test_gap_is_heard);
  tcase_add_loop_test (tc, test_gap_behind_jitter, 0, 3);
  tcase_add_loop_test (tc, test_stop_behind_jitter, 0, 4);
  tcase_add_loop_test (tc, test_lost_packets, 0, 8);
  tcase_add_loop_test (tc, test_lost_packets_and_jitter, 0, 2);
  tcase_add_loop_test (tc, test_gap_behind_lost_packet, 0, 2);
  tcase_add_test (tc, test_lost_silence);
  tcase_add_test (tc, test_stamped_behind_unstamped);
  return tfx_check_run (argc, argv, tc);
}
