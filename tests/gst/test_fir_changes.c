/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_changes.c: another kernel while samples flow: it takes over in a
 * cross-fade, and no sample is lost or doubled, whatever its delay.
 */
#include <math.h>
#include <string.h>

#include "firs.h"

#define RATE 48000
#define BLOCK 480
#define FADE 480
/* Frames before the change and in all. */
#define BEFORE 12000
#define ALL 36000

/* ---- one change -------------------------------------------------------------------- */

/* Half of a change: what is set, and the filter that it makes. */
typedef struct
{
  const gchar *properties;
  TfxMode mode;
  gsize n_taps; /* 0: an own kernel, the room, of */
  gsize n_room;
  gdouble cutoff;
  gboolean causal;
  gsize delay; /* of the room */
} Setting;

typedef struct
{
  Setting from, to;
} Change;

#define LOW TFX_MODE_LOW_PASS
#define HIGH TFX_MODE_HIGH_PASS

static const Change changes[] = {
  /* other values */
  { { "taps=101", LOW, 101, 0, 1000 }, { "cutoff=4000", LOW, 101, 0, 4000 } },
  { { "taps=101", LOW, 101, 0, 1000 },
      { "mode=high-pass", HIGH, 101, 0, 1000 } },
  { { "taps=2001", LOW, 2001, 0, 1000 }, { "cutoff=300", LOW, 2001, 0, 300 } },
  /* another method, the same filter */
  { { "taps=501 method=direct", LOW, 501, 0, 1000 },
      { "method=fft", LOW, 501, 0, 1000 } },
  /* a delay that grows */
  { { "taps=101", LOW, 101, 0, 1000 }, { "taps=501", LOW, 501, 0, 1000 } },
  { { "taps=101", LOW, 101, 0, 1000 },
      { "taps=4001 cutoff=100", LOW, 4001, 0, 100 } },
  { { "taps=1", LOW, 1, 0, 1000 }, { "taps=333", LOW, 333, 0, 1000 } },
  { { "taps=101 align=false", LOW, 101, 0, 1000, TRUE },
      { "align=true", LOW, 101, 0, 1000 } },
  /* one that could shrink */
  { { "taps=501", LOW, 501, 0, 1000 }, { "taps=101", LOW, 101, 0, 1000 } },
  { { "taps=4001 cutoff=100", LOW, 4001, 0, 100 },
      { "taps=11", LOW, 11, 0, 100 } },
  { { "taps=501", LOW, 501, 0, 1000 }, { "taps=1", LOW, 1, 0, 1000 } },
  { { "taps=101", LOW, 101, 0, 1000 },
      { "align=false", LOW, 101, 0, 1000, TRUE } },
  /* causal, longer and shorter */
  { { "taps=101 align=false", LOW, 101, 0, 1000, TRUE },
      { "taps=1001", LOW, 1001, 0, 1000, TRUE } },
  { { "taps=1001 align=false", LOW, 1001, 0, 1000, TRUE },
      { "taps=101", LOW, 101, 0, 1000, TRUE } },
  /* an own kernel and a design */
  { { "", LOW, 0, 300, 1000 }, { "", LOW, 101, 0, 1000 } },
  { { "taps=501", LOW, 501, 0, 1000 }, { "", LOW, 0, 300, 1000 } },
  /* one that is told to be late */
  { { "", LOW, 0, 300, 1000 }, { "delay=100", LOW, 0, 300, 1000, FALSE, 100 } },
  { { "delay=299", LOW, 0, 300, 1000, FALSE, 299 },
      { "delay=20", LOW, 0, 300, 1000, FALSE, 20 } },
  { { "taps=101", LOW, 101, 0, 1000 },
      { "delay=777", LOW, 0, 1000, 1000, FALSE, 777 } },
};

static void
apply (GstElement *element, const Setting *s, gboolean has_room)
{
  g_auto (GStrv) words = g_strsplit (s->properties, " ", -1);

  for (guint i = 0; words[i]; i++) {
    g_auto (GStrv) pair = g_strsplit (words[i], "=", 2);

    if (pair[0])
      gst_util_set_object_arg (G_OBJECT (element), pair[0], pair[1]);
  }
  if (s->n_taps == 0) {
    g_autofree gdouble *room = tfx_firs_room (s->n_room, 3);

    tfx_firs_set_kernel (element, room, s->n_room);
  } else if (has_room) {
    tfx_firs_set_kernel (element, NULL, 0);
  }
}

/* What the filter alone puts out. */
static gdouble *
expect (const Setting *s, const gdouble *in, gsize n)
{
  gsize n_taps = s->n_taps ? s->n_taps : s->n_room;
  g_autofree gdouble *taps =
      s->n_taps ? tfx_firs_design (s->mode, 0, n_taps, s->cutoff, 0.0, RATE)
                : tfx_firs_room (n_taps, 3);

  return tfx_firs_convolve (taps, 1, n_taps,
      s->n_taps && !s->causal ? (n_taps - 1) / 2 : s->delay, in, n, 1);
}

/* From a to b: a to the very sample, then between the two, at no point more
 * than a smooth cross-fade of FADE frames moves, then b. */
static void
expect_crossfade (const gdouble *y, const gdouble *a, const gdouble *b, gsize n,
    gsize earliest, gsize latest)
{
  const gdouble tiny = 1e-11;
  gsize begin = 0, end = n;
  gdouble part = 0.0;
  gsize at = 0;

  while (begin < n && fabs (y[begin] - a[begin]) < tiny)
    begin++;
  while (end > 0 && fabs (y[end - 1] - b[end - 1]) < tiny)
    end--;
  /* the same filter */
  if (tfx_check_distance (a, b, n) < tiny) {
    fail_unless_equals_uint64 (begin, n);
    return;
  }
  fail_unless (begin >= earliest && end <= latest,
      "changes from %u to %u, not between %u and %u", (guint)begin, (guint)end,
      (guint)earliest, (guint)latest);
  fail_unless (end - begin <= FADE, "takes %u frames", (guint)(end - begin));
  at = begin;
  for (gsize i = begin; i < end; i++) {
    gdouble now = (y[i] - a[i]) / (b[i] - a[i]);

    if (fabs (b[i] - a[i]) < 1e-3)
      continue;
    /* 15/8 is the steepest that 6 t^5 - 15 t^4 + 10 t^3 gets. */
    fail_unless (now > part - 1e-9 && now < part + 1.88 * (i + 1.0 - at) / FADE,
        "at %u: from %g to %g within %u", (guint)i, part, now, (guint)(i - at));
    part = now;
    at = i;
  }
}

/* A filter of one channel, and what comes out. */
typedef struct
{
  GstAudioInfo info;
  GstHarness *h;
  TfxCatch *caught;
} Stream;

static Stream
open_stream (const gchar *launch)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);

  return (
      Stream){ info, tfx_check_harness (launch, &info), tfx_firs_catch_new () };
}

static void
close_stream (Stream *s)
{
  tfx_check_close (s->h);
  tfx_firs_catch_free (s->caught);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, close_stream)

/* The frames `from` to `to` - 1 of a stream. */
static void
push (Stream *s, const gdouble *in, gsize from, gsize to, gsize most)
{
  tfx_firs_push (s->h, &s->info, in + from, to - from, from, most);
}

/* All n frames have come out at the end; they are returned. */
static const gdouble *
finish (Stream *s, gsize n)
{
  tfx_firs_finish (s->caught, s->h, &s->info);
  tfx_firs_expect_whole (s->caught, n, 0, RATE);
  return tfx_firs_samples (s->caught);
}

GST_START_TEST (test_changes)
{
  const Change *c = &changes[__i__ / 3];
  static const gsize blocks[] = { BLOCK, 100, ALL };
  gsize most = blocks[__i__ % 3], n_grown;
  g_auto (Stream) s = open_stream ("tfxfir");
  g_autofree gdouble *in = tfx_check_noise (ALL, 3);
  g_autofree gdouble *a = expect (&c->from, in, ALL),
                     *b = expect (&c->to, in, ALL);

  apply (s.h->element, &c->from, FALSE);
  tfx_check_flush (s.h);
  push (&s, in, 0, BEFORE, MIN (most, BEFORE));
  tfx_firs_collect (s.caught, s.h, &s.info);
  n_grown = s.caught->n_frames;
  apply (s.h->element, &c->to, c->from.n_taps == 0);
  push (&s, in, BEFORE, ALL, most == ALL ? BEFORE / 2 : most);
  /* It may wait for the delay and the past to grow, and for the next buffer. */
  expect_crossfade (finish (&s, ALL), a, b, ALL, n_grown,
      n_grown + 4001 + BEFORE / 2 + FADE);
}
GST_END_TEST;

/* How much of frame i is heard by a room that has n_kept frames before BEFORE: what
 * was cut off rises. */
#define RISE 512

static gdouble
find_weight (gsize i, gsize n_kept)
{
  const gdouble t =
      ((gdouble)i - (BEFORE - (gdouble)n_kept)) / MIN (n_kept, RISE);

  return t <= 0.0   ? 0.0
         : t >= 1.0 ? 1.0
                    : t * t * t * (10.0 + t * (6.0 * t - 15.0));
}

/* The frames before BEFORE that a room has heard, at least n_kept. */
static gsize
find_past (const gdouble *room, gsize n_taps, const gdouble *in,
    const gdouble *out, gsize n_kept)
{
  const gsize at = BEFORE + 1500;

  for (; n_kept < n_taps && n_kept < BEFORE; n_kept++) {
    gdouble sum = 0.0;

    for (gsize k = 0; k < n_taps && k <= at; k++)
      sum += room[k] * find_weight (at - k, n_kept) * in[at - k];
    if (fabs (sum - out[at]) < 1e-11)
      return n_kept;
  }
  fail ("it is not the room on the past");
  return 0;
}

/* A room that is longer than what the filter before it has kept of the past:
 * it hears what is there. */
GST_START_TEST (test_to_a_long_room)
{
  static const Setting from = { "taps=501", LOW, 501, 0, 1000 },
                       to = { "", LOW, 0, 9000, 1000 };
  g_auto (Stream) s = open_stream ("tfxfir taps=501");
  g_autofree gdouble *in = tfx_check_noise (ALL, 3);
  g_autofree gdouble *a = expect (&from, in, ALL), *b = NULL,
                     *room = tfx_firs_room (9000, 3);
  const gdouble *out;
  gsize n_kept;

  push (&s, in, 0, BEFORE, BLOCK);
  apply (s.h->element, &to, FALSE);
  push (&s, in, BEFORE, ALL, BLOCK);
  out = finish (&s, ALL);
  n_kept = find_past (room, 9000, in, out, 500);
  for (gsize i = 0; i < BEFORE; i++)
    in[i] *= find_weight (i, n_kept);
  b = expect (&to, in, ALL);
  expect_crossfade (out, a, b, ALL, BEFORE - 250, BEFORE - 250 + FADE);
}
GST_END_TEST;

/* The output of a kernel of which only every 97th tap is not 0, from frame
 * `first` on. */
#define SPARSE 97

static void
convolve_sparse (const gdouble *taps, gsize n_taps, const gdouble *in,
    gsize first, gsize n, gdouble *out)
{
  for (gsize i = first; i < n; i++) {
    out[i] = 0.0;
    for (gsize k = 0; k < n_taps && k <= i; k += SPARSE)
      out[i] += taps[k] * in[i - k];
  }
}

/* From one long room to another: made ready in a thread of its own, and handed
 * the past over a little with each buffer, it takes over later, in one
 * cross-fade, with all of the past. */
GST_START_TEST (test_between_long_rooms)
{
  const gsize most = 5000 * BLOCK, n_taps = 17000;
  g_auto (Stream) s = open_stream ("tfxfir");
  g_autofree gdouble *in = tfx_check_noise (most, 3);
  g_autofree gdouble *first = tfx_firs_room (n_taps, 3),
                     *second = tfx_firs_room (n_taps, 4);
  g_autofree gdouble *a = g_new (gdouble, most), *b = g_new (gdouble, most);
  gsize n = BEFORE, n_left = 3;

  for (gsize i = 0; i < n_taps; i++) {
    if (i % SPARSE > 0)
      first[i] = second[i] = 0.0;
  }
  tfx_firs_set_kernel (s.h->element, first, n_taps);
  tfx_check_flush (s.h);
  push (&s, in, 0, BEFORE, BLOCK);
  convolve_sparse (first, n_taps, in, 0, n, a);
  convolve_sparse (second, n_taps, in, 0, n, b);
  tfx_firs_set_kernel (s.h->element, second, n_taps);
  /* Until it has taken over, however long the thread takes: more and more slowly, so that
   * it has two minutes. */
  for (; n < most && n_left > 0; n += BLOCK) {
    push (&s, in, n, n + BLOCK, BLOCK);
    convolve_sparse (first, n_taps, in, n, n + BLOCK, a);
    convolve_sparse (second, n_taps, in, n, n + BLOCK, b);
    tfx_firs_collect (s.caught, s.h, &s.info);
    if (fabs (tfx_firs_samples (s.caught)[n + BLOCK - 1] - b[n + BLOCK - 1]) <
        1e-11)
      n_left--;
    g_usleep (n_left == 3 ? 1000 + n / BLOCK * 10 : 0);
  }
  /* At once it would be an xrun. */
  expect_crossfade (finish (&s, n), a, b, n, BEFORE + 2 * BLOCK, n - BLOCK);
}
GST_END_TEST;

/* ---- a change on the way to another one ---------------------------------------------- */

/* Kernels that are nothing but a delay, taken out of the stream: of how many taps each
 * is, from which frame on.  The second one is on its way when the third is set. */
static const struct
{
  gsize taps[4], from[4];
} delays[] = {
  { { 1, 31, 2001 }, { 0, 4096, 4096 + 32 } },
  { { 1, 3, 5, 2001 }, { 0, 4096, 4096 + 32, 4096 + 64 } },
  { { 2001, 1, 31, 2001 }, { 0, 4096, 9000, 9000 + 32 } },
};

/* What goes on from one step to another has all of its past. */
GST_START_TEST (test_delay_grows_again)
{
  g_auto (Stream) s = open_stream ("tfxfir");
  g_autofree gdouble *in = tfx_check_noise (ALL, 3),
                     *taps = g_new0 (gdouble, 2001);

  for (guint i = 0; i < 4 && delays[__i__].taps[i] > 0; i++) {
    const gsize n = delays[__i__].taps[i];

    taps[n / 2] = 1.0;
    tfx_firs_set_kernel (s.h->element, taps, n);
    taps[n / 2] = 0.0;
    if (i == 0)
      tfx_check_flush (s.h);
    push (&s, in, delays[__i__].from[i],
        i < 3 && delays[__i__].taps[i + 1] > 0 ? delays[__i__].from[i + 1]
                                               : ALL,
        BLOCK);
  }
  finish (&s, ALL);
  tfx_firs_expect_near (s.caught, in, 1e-12, "delays");
}
GST_END_TEST;

/* ---- many changes -------------------------------------------------------------------- */

/* A sine in the pass band of all of them must not notice. */
GST_START_TEST (test_steady_sine)
{
  const gsize n = 100 * BLOCK;
  g_auto (Stream) s =
      open_stream ("tfxfir cutoff=8000 window=blackman taps=201");
  g_autofree gdouble *in = g_new (gdouble, n);

  for (gsize i = 0; i < n; i++)
    in[i] = sin (2.0 * G_PI * 1000.0 * i / RATE);
  for (guint i = 0; i < 100; i++) {
    /* two at a time, some of them while the last one is still on its way */
    g_object_set (s.h->element, "cutoff", 6000.0 + 100.0 * (i % 37), "taps",
        201 + 2 * (gint)(i * 31 % 173), NULL);
    push (&s, in, i * BLOCK, (i + 1) * BLOCK, __i__ ? 48 : BLOCK);
  }
  /* Away from the ends of the stream; the pass band is flat to 0.0002. */
  fail_unless (
      tfx_check_distance (finish (&s, n) + 1000, in + 1000, n - 2000) < 5e-4);
}
GST_END_TEST;

/* A constant through 1, then -1, and while that fades in already on to a filter
 * that needs more delay: nothing is cut short, so nothing jumps. */
GST_START_TEST (test_change_while_fading)
{
  static const gdouble plus[] = { 1.0 }, minus[] = { -1.0 };
  const gsize n = 20 * BLOCK, n_out = n - (__i__ ? 250 : 3500);
  g_auto (Stream) s = open_stream ("tfxfir");
  g_autofree gdouble *in = tfx_check_constant (n, 1.0);
  gdouble lowest = 1.0;
  const gdouble *out;

  tfx_firs_set_kernel (s.h->element, plus, 1);
  push (&s, in, 0, BLOCK, 48);
  tfx_firs_set_kernel (s.h->element, minus, 1);
  push (&s, in, BLOCK, BLOCK + 96, 48);
  tfx_firs_set_kernel (s.h->element, NULL, 0);
  g_object_set (s.h->element, "taps", __i__ ? 501 : 7001, NULL);
  push (&s, in, BLOCK + 96, n, 48);
  tfx_firs_collect (s.caught, s.h, &s.info);

  out = tfx_firs_samples (s.caught);
  fail_unless_equals_uint64 (s.caught->n_frames, n_out);
  for (gsize i = 1; i < n_out; i++) {
    fail_unless (fabs (out[i] - out[i - 1]) < 2.0 * 1.88 / FADE,
        "from %g to %g at %u", out[i - 1], out[i], (guint)i);
    lowest = MIN (lowest, out[i]);
  }
  fail_unless (fabs (lowest + 1.0) < 1e-9, "down to %g", lowest);
  fail_unless (fabs (out[n_out - 1] - 1.0) < 1e-9);
}
GST_END_TEST;

typedef struct
{
  GstElement *element;
  gint stop; /* atomic */
  guint n_sets;
} Setter;

static gpointer
set_all_the_time (gpointer data)
{
  static const gchar *const windows[] = { "hann", "kaiser", "rectangular" };
  Setter *s = data;
  GRand *rand = g_rand_new_with_seed (2);

  while (!g_atomic_int_get (&s->stop) || s->n_sets < 500) {
    gdouble values[64];
    guint n = g_rand_int_range (rand, 0, 64);

    for (guint i = 0; i < n; i++)
      values[i] = g_rand_double_range (rand, -0.1, 0.1);
    switch (s->n_sets % 7) {
      case 0:
        g_object_set (s->element, "mode", g_rand_int_range (rand, 0, 4), NULL);
        break;
      case 1:
        g_object_set (s->element, "taps", g_rand_int_range (rand, 1, 3000),
            NULL);
        break;
      case 2:
        tfx_firs_set_kernel (s->element, values, n);
        break;
      case 3:
        g_object_set (s->element, "align", g_rand_boolean (rand), NULL);
        break;
      case 4:
        g_object_set (s->element, "method", g_rand_int_range (rand, 0, 3),
            NULL);
        break;
      case 5:
        gst_util_set_object_arg (G_OBJECT (s->element), "window",
            windows[g_rand_int_range (rand, 0, 3)]);
        break;
      default:
        g_object_set (s->element, "cutoff",
            g_rand_double_range (rand, 10.0, 20000.0), NULL);
    }
    s->n_sets++;
    g_usleep (20);
  }
  g_rand_free (rand);
  return NULL;
}

/* Not a sample is lost or doubled, and in the end it is the filter that was
 * asked for last. */
GST_START_TEST (test_thousand_changes)
{
  const gint n_ch = 2;
  GstAudioInfo info =
      tfx_check_info (__i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          RATE, n_ch, GST_AUDIO_LAYOUT_INTERLEAVED);
  static const Setting last = { "", LOW, 101, 0, 1000.0 };
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_autofree gdouble *in = tfx_check_noise (BLOCK * n_ch, 1), *mono = NULL;
  gdouble *expected;
  Setter setter = { h->element, FALSE, 0 };
  GThread *thread = g_thread_new ("setter", set_all_the_time, &setter);
  guint64 n_frames = 0;

  for (guint i = 0; i < 1500; i++) {
    gsize size = 1 + i % BLOCK;

    tfx_firs_push (h, &info, in, size, n_frames, BLOCK);
    n_frames += size;
  }
  g_atomic_int_set (&setter.stop, TRUE);
  g_thread_join (thread);
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n_frames, 0, RATE);
  fail_unless (
      tfx_check_is_finite (tfx_firs_samples (caught), n_frames * n_ch));

  tfx_firs_forget (caught);
  tfx_firs_set_kernel (h->element, NULL, 0);
  g_object_set (h->element, "mode", 0, "taps", 101, "cutoff", 1000.0, "window",
      0, "align", TRUE, NULL);
  tfx_firs_push (h, &info, in, BLOCK, 0, BLOCK);
  tfx_firs_finish (caught, h, &info);
  mono = g_new (gdouble, BLOCK);
  for (guint c = 0; c < 2; c++) {
    for (gsize i = 0; i < BLOCK; i++)
      mono[i] = in[i * n_ch + c];
    expected = expect (&last, mono, BLOCK);
    for (gsize i = 0; i < BLOCK; i++)
      fail_unless (
          fabs (expected[i] - tfx_firs_samples (caught)[i * n_ch + c]) < 1e-6);
    g_free (expected);
  }
}
GST_END_TEST;

/* A flush in the middle of a change: the new filter, with no more delay than
 * its own. */
GST_START_TEST (test_flush_while_changing)
{
  const gsize n = 2 * BLOCK;
  g_auto (Stream) s = open_stream ("tfxfir taps=1001");
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_autofree gdouble *expected = tfx_firs_plain (51, in, n, &s.info);

  push (&s, in, 0, BLOCK, BLOCK);
  /* growing, or keeping a delay that is too long */
  g_object_set (s.h->element, "taps", __i__ ? 9001 : 51, NULL);
  push (&s, in, BLOCK, n, BLOCK);
  g_object_set (s.h->element, "taps", 51, NULL);
  tfx_check_flush (s.h);
  tfx_firs_collect (s.caught, s.h, &s.info);
  tfx_firs_forget (s.caught);

  push (&s, in, 0, n, BLOCK);
  fail_unless_equals_uint64 (gst_harness_query_latency (s.h), 520834);
  finish (&s, n);
  tfx_firs_expect_near (s.caught, expected, 1e-12, "after the flush");
}
GST_END_TEST;

/* ---- what is heard of a jump ----------------------------------------------------- */

typedef struct
{
  const gchar *launch, *to;
} Jump;

static const Jump jumps[] = {
  { "tfxfir taps=101 cutoff=500", "cutoff=5000" },
  { "tfxfir taps=101 cutoff=5000", "cutoff=500" },
  { "tfxfir taps=2001 mode=high-pass cutoff=20", "cutoff=3000" },
  { "tfxfir taps=101 cutoff=1000", "taps=301" },
  { "tfxfir kernel=\"<1.0,0.0,0.0>\"", "kernel=<-0.5,0.25,0.1>" },
  { "tfxchain chain=\"d=Delay(1000, mix=0.2, feedback=0.9)\"",
      "chain=d=Delay(1000, mix=0.9, feedback=0.1)" },
  { "tfxchain chain=\"d=Delay(1000, mix=0.5)\"",
      "chain=d=Delay(3000, mix=0.5)" },
};

static gdouble
find_bend (const gdouble *x, gsize n)
{
  gdouble bend = 0.0;

  for (gsize i = 1; i + 1 < n; i++)
    bend = MAX (bend, fabs (x[i + 1] - 2.0 * x[i] + x[i - 1]));
  return bend;
}

/* A sine of 440 Hz goes on without a click: -80 dB above 2 kHz, and no more
 * bent than before or behind. */
GST_START_TEST (test_jumps)
{
  const Jump *jump = &jumps[__i__];
  g_auto (Stream) s = open_stream (jump->launch);
  g_auto (GStrv) to = g_strsplit (jump->to, "=", 2);
  g_autofree gdouble *in = g_new (gdouble, ALL), *high = NULL;
  g_autofree gdouble *taps = tfx_firs_design (TFX_MODE_HIGH_PASS,
      TFX_WINDOW_NUTTALL, 1001, 2000, 0, RATE);
  const gdouble *out;
  gdouble bend, steady, db;

  for (gsize i = 0; i < ALL; i++)
    in[i] = 0.5 * sin (2.0 * G_PI * 440.0 * i / RATE);
  push (&s, in, 0, BEFORE, BLOCK);
  gst_util_set_object_arg (G_OBJECT (s.h->element), to[0], to[1]);
  push (&s, in, BEFORE, ALL, BLOCK);
  tfx_firs_finish (s.caught, s.h, &s.info);
  out = tfx_firs_samples (s.caught);

  bend = find_bend (out + 8000, 16000);
  steady = MAX (find_bend (out + 8000, 2500), find_bend (out + 21500, 2500));
  fail_unless (bend <= 1.5 * steady, "%s, %s: bent %g times as much",
      jump->launch, jump->to, bend / steady);
  high = tfx_firs_convolve (taps, 1, 1001, 500, out, ALL, 1);
  db = 20.0 * log10 (tfx_check_rms (high + 8000, 16000, 1) /
                     tfx_check_rms (out + 8000, 16000, 1));
  fail_unless (db < -80.0, "%s, %s: %g dB", jump->launch, jump->to, db);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fir_changes");

  tcase_add_loop_test (tc, test_jumps, 0, G_N_ELEMENTS (jumps));
  tfx_check_add_part (tc, test_changes, 3 * G_N_ELEMENTS (changes), 2);
  tcase_add_test (tc, test_to_a_long_room);
  tcase_add_test (tc, test_between_long_rooms);
  tcase_add_loop_test (tc, test_delay_grows_again, 0, G_N_ELEMENTS (delays));
  tcase_add_loop_test (tc, test_steady_sine, 0, 2);
  tcase_add_loop_test (tc, test_change_while_fading, 0, 2);
  tcase_add_loop_test (tc, test_thousand_changes, 0, 2);
  tcase_add_loop_test (tc, test_flush_while_changing, 0, 2);
  return tfx_check_run (argc, argv, tc);
}
