/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion.c: directly linked elements run as one, and nobody hears it.
 */
#include <math.h>
#include <string.h>

#include "tfxplay.h"

#define RATE 48000
/* Doubles from end to end: fused and unfused differ by rounding alone. */
#define CLOSE 1e-11

/* ---- elements in a row --------------------------------------------------------- */

/* "a ! b ! c" as elements e0, e1, e2, in a harness. */
typedef struct
{
  GstHarness *h;
  GstElement *elements[64];
  guint n;
} Row;

static void
row_open (Row *row, const gchar *launch, const GstAudioInfo *info,
    gboolean fuse)
{
  gchar **parts = g_strsplit (launch, " ! ", 0);
  GString *line = g_string_new (NULL);

  row->n = g_strv_length (parts);
  fail_unless (row->n <= G_N_ELEMENTS (row->elements));
  for (guint i = 0; i < row->n; i++)
    g_string_append_printf (line, "%s%s name=e%u", i ? " ! " : "", parts[i], i);
  row->h = gst_harness_new_parse (line->str);
  for (guint i = 0; i < row->n; i++) {
    gchar *name = g_strdup_printf ("e%u", i);

    row->elements[i] =
        row->n > 1 ? gst_bin_get_by_name (GST_BIN (row->h->element), name)
                   : gst_object_ref (row->h->element);
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (row->elements[i]),
            "fuse"))
      g_object_set (row->elements[i], "fuse", fuse, NULL);
    g_free (name);
  }
  tfx_check_set_info (row->h, info);
  g_string_free (line, TRUE);
  g_strfreev (parts);
}

/* A pad with a probe, for a while. */
static GstPad *watched;
static gulong watching;

static void
stop_watching (void)
{
  if (watched)
    gst_pad_remove_probe (watched, watching);
  gst_clear_object (&watched);
}

static void
row_close (Row *row)
{
  stop_watching ();
  for (guint i = 0; i < row->n; i++)
    gst_object_unref (row->elements[i]);
  gst_harness_teardown (row->h);
}

static guint64
row_stat (Row *row, guint element, const gchar *field)
{
  return tfx_check_stat (row->elements[element], field);
}

/* What comes out, and when. */
typedef struct
{
  GArray *samples; /* of gdouble */
  guint64 n_frames, n_buffers;
  gboolean contiguous;
} Heard;

static void
heard_open (Heard *heard)
{
  *heard = (Heard){ g_array_new (FALSE, FALSE, sizeof (gdouble)), 0, 0, TRUE };
}

static void
heard_close (Heard *heard)
{
  g_array_unref (heard->samples);
}

static void
heard_take (Heard *heard, GstHarness *h, const GstAudioInfo *info)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    gsize n;
    gdouble *x = tfx_check_samples (buffer, info, &n);
    GstClockTime from =
        gst_util_uint64_scale (heard->n_frames, GST_SECOND, info->rate);
    GstClockTime to =
        gst_util_uint64_scale (heard->n_frames + n, GST_SECOND, info->rate);

    if (GST_BUFFER_PTS (buffer) != from ||
        GST_BUFFER_DURATION (buffer) != to - from ||
        GST_BUFFER_OFFSET (buffer) != heard->n_frames)
      heard->contiguous = FALSE;
    g_array_append_vals (heard->samples, x, n * info->channels);
    heard->n_frames += n;
    heard->n_buffers++;
    g_free (x);
    gst_buffer_unref (buffer);
  }
}

/* Buffer k of a random split that is the same for the same seed. */
static gsize
next_size (GRand *rand, gsize left)
{
  gsize n = g_rand_int_range (rand, 1, 1500);

  return MIN (n, left);
}

typedef void (*Meddle) (Row *row, guint64 frame, GRand *rand);

/* Plays noise through a row, stamped, in random buffers, with an end. */
static void
play (Row *row, const GstAudioInfo *info, const gdouble *in, gsize n_frames,
    guint seed, Meddle meddle, Heard *heard)
{
  GRand *sizes = g_rand_new_with_seed (seed);
  GRand *rand = g_rand_new_with_seed (seed + 1);

  heard_open (heard);
  for (gsize done = 0, n; done < n_frames; done += n) {
    n = next_size (sizes, n_frames - done);
    if (meddle)
      meddle (row, done, rand);
    fail_unless_equals_int (gst_harness_push (row->h,
                                tfx_check_stamped (info,
                                    in + done * info->channels, n, done)),
        GST_FLOW_OK);
    heard_take (heard, row->h, info);
  }
  gst_harness_push_event (row->h, gst_event_new_eos ());
  heard_take (heard, row->h, info);
  g_rand_free (sizes);
  g_rand_free (rand);
}

static gdouble
distance (const Heard *a, const Heard *b)
{
  fail_unless_equals_uint64 (a->n_frames, b->n_frames);
  fail_unless (a->contiguous && b->contiguous);
  return tfx_check_distance ((gdouble *)(gpointer)a->samples->data,
      (gdouble *)(gpointer)b->samples->data, a->samples->len);
}

/* ---- fused equals unfused --------------------------------------------------------- */

static const gchar *const rows[] = {
  "tfxbutterworth ! tfxbutterworth mode=high-pass cutoff=50",
  "tfxchebyshev cutoff=9000 order=9 ! tfxbutterworth order=3 cutoff=700 ! "
  "tfxchebyshev type=2 mode=high-pass cutoff=30",
  "tfxchebyshev mode=high-pass cutoff=20 order=2 ripple=0.5 ! "
  "tfxchebyshev mode=high-pass cutoff=60 order=2 ripple=0.5 ! "
  "tfxchebyshev mode=high-pass cutoff=65 order=2 ripple=0.5 ! "
  "tfxbutterworth cutoff=5000 order=2 ! tfxbutterworth cutoff=4900 order=2 ! "
  "tfxbutterworth cutoff=4850 order=2",
  "tfxbutterworth mode=band-reject lower-frequency=49 upper-frequency=51 "
  "order=2 ! tfxbutterworth order=1 cutoff=15000",
  "tfxfir align=false taps=101 ! tfxfir align=false taps=55 cutoff=9000",
  "tfxfir align=false taps=301 method=fft ! tfxbutterworth order=5 ! "
  "tfxfir align=false taps=33 method=direct",
};

/* Delays are taken out of these streams; not every element leaves its stage to
 * others. */
static const gchar *const late_rows[] = {
  "tfxbutterworth ! tfxfir taps=301",
  "tfxfir taps=301 ! tfxbutterworth",
  "tfxbutterworth ! tfxfir taps=55 ! tfxchebyshev ! tfxfir taps=77 "
  "mode=high-pass cutoff=300 ! tfxbutterworth cutoff=9000 ! tfxbutterworth "
  "order=2 mode=high-pass cutoff=10",
};

GST_START_TEST (test_equal)
{
  static const GstAudioFormat formats[] = { GST_AUDIO_FORMAT_F64,
    GST_AUDIO_FORMAT_F32 };
  const gint n_ch = 1 + __i__ % 3;
  const gsize n = RATE / 2;
  const GstAudioFormat format = formats[__i__ & 1];
  const gchar *launch = rows[(__i__ / 2) % G_N_ELEMENTS (rows)];
  GstAudioInfo info = tfx_check_info (format, RATE, n_ch,
      __i__ & 4 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                : GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *in = tfx_check_noise (n * n_ch, 1 + __i__), d;
  Heard heard[2];
  Row row[2];

  for (guint k = 0; k < 2; k++) {
    row_open (&row[k], launch, &info, k == 1);
    play (&row[k], &info, in, n, __i__, NULL, &heard[k]);
  }
  d = distance (&heard[0], &heard[1]);
  /* float32 is rounded behind each element where they are not fused. */
  fail_unless (d < (format == GST_AUDIO_FORMAT_F64 ? CLOSE : 1e-6), "%g", d);

  /* They were fused, from the first buffer on, and the others were not. */
  for (guint i = 0; i < row[1].n; i++) {
    guint64 n_buffers = row_stat (&row[1], i, "buffers");
    gboolean is_last = i == row[1].n - 1;

    fail_unless_equals_uint64 (n_buffers, heard[1].n_buffers);
    fail_unless_equals_uint64 (row_stat (&row[1], i, "frames"), n);
    fail_unless_equals_uint64 (row_stat (&row[1], i, "deferred"),
        is_last ? 0 : n_buffers);
    fail_unless_equals_uint64 (row_stat (&row[1], i, "dispatches"),
        is_last ? n_buffers : 0);
    fail_unless_equals_uint64 (row_stat (&row[1], i, "stages"),
        is_last ? row[1].n : 0);
    fail_unless_equals_uint64 (row_stat (&row[0], i, "deferred"), 0);
    fail_unless_equals_uint64 (row_stat (&row[0], i, "dispatches"), n_buffers);
  }
  for (guint k = 0; k < 2; k++) {
    row_close (&row[k]);
    heard_close (&heard[k]);
  }
  g_free (in);
}
GST_END_TEST;

/* ---- changes while playing ---------------------------------------------------------- */

/* Fuses and splits at every place, now and then. */
static void
toggle_fuse (Row *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_object_set (row->elements[g_rand_int_range (rand, 0, row->n)], "fuse",
        g_rand_boolean (rand), NULL);
}

/* Another device, as named, is no neighbour. */
static void
toggle_device (Row *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_object_set (row->elements[g_rand_int_range (rand, 0, row->n)], "device",
        g_rand_boolean (rand) ? 0 : 1, NULL);
}

static GstPadProbeReturn
look_on (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

/* Somebody looks at the pads, for a while. */
static void
toggle_probe (Row *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) > 0)
    return;
  if (watched) {
    stop_watching ();
    return;
  }
  watched = gst_element_get_static_pad (row->elements[g_rand_int_range (rand, 0,
                                            row->n)],
      g_rand_boolean (rand) ? "src" : "sink");
  watching = gst_pad_add_probe (watched, GST_PAD_PROBE_TYPE_BUFFER, look_on,
      NULL, NULL);
}

static const Meddle toggles[] = { toggle_fuse, toggle_device, toggle_probe };

/* State moves with the decision: not a sample differs. */
GST_START_TEST (test_toggle)
{
  const guint n_ch = 1 + __i__ % 2;
  const gsize n = 4 * RATE;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, n_ch,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *in = tfx_check_noise (n * n_ch, 1 + __i__), d;
  const guint n_rows = G_N_ELEMENTS (rows);
  const gchar *launch = (guint)__i__ / 3 < n_rows
                            ? rows[__i__ / 3]
                            : late_rows[__i__ / 3 - n_rows];
  guint64 n_deferred;
  Heard heard[2];
  Row row[2];

  for (guint k = 0; k < 2; k++) {
    row_open (&row[k], launch, &info, k == 1);
    play (&row[k], &info, in, n, __i__, k ? toggles[__i__ % 3] : NULL,
        &heard[k]);
  }
  d = distance (&heard[0], &heard[1]);
  fail_unless (d < CLOSE, "%g", d);
  n_deferred = row_stat (&row[1], 0, "deferred");
  if (TRUE)
    fail_unless (
        n_deferred > 0 && n_deferred < row_stat (&row[1], 0, "buffers"));
  for (guint k = 0; k < 2; k++) {
    row_close (&row[k]);
    heard_close (&heard[k]);
  }
  g_free (in);
}
GST_END_TEST;

/* A cutoff that moves keeps the state, fused or not. */
static void
move_cutoff (Row *row, guint64 frame, GRand *rand)
{
  guint at = g_rand_int_range (rand, 0, row->n);

  g_object_set (row->elements[at], "cutoff",
      g_rand_double_range (rand, 900.0, 1000.0), NULL);
}

static void
move_and_toggle (Row *row, guint64 frame, GRand *rand)
{
  GRand *other = g_rand_new_with_seed (frame);

  move_cutoff (row, frame, rand);
  toggle_fuse (row, frame, other);
  g_rand_free (other);
}

GST_START_TEST (test_cutoff_moves)
{
  const gsize n = 4 * RATE;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *in = tfx_check_noise (n, 1), d;
  const gchar *launch = "tfxbutterworth ! tfxbutterworth order=6 ! "
                        "tfxchebyshev mode=high-pass order=2";
  Meddle meddle[2][2] = { { move_cutoff, move_cutoff },
    { move_cutoff, move_and_toggle } };
  Heard heard[2];
  Row row[2];

  for (guint k = 0; k < 2; k++) {
    row_open (&row[k], launch, &info, k == 1);
    play (&row[k], &info, in, n, 7, meddle[__i__][k], &heard[k]);
  }
  d = distance (&heard[0], &heard[1]);
  fail_unless (d < CLOSE, "%g", d);
  fail_unless (row_stat (&row[1], 0, "deferred") > 0);
  for (guint k = 0; k < 2; k++) {
    row_close (&row[k]);
    heard_close (&heard[k]);
  }
  g_free (in);
}
GST_END_TEST;

/* Another order is cross-faded in; in the end it is the same filter. */
static void
change_order (Row *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 4) == 0 && frame < 3 * RATE)
    g_object_set (row->elements[g_rand_int_range (rand, 0, row->n)], "order",
        g_rand_int_range (rand, 1, 12), NULL);
}

static void
change_and_toggle (Row *row, guint64 frame, GRand *rand)
{
  GRand *other = g_rand_new_with_seed (frame);

  change_order (row, frame, rand);
  toggle_fuse (row, frame, other);
  g_rand_free (other);
}

GST_START_TEST (test_order_changes)
{
  const gsize n = 4 * RATE, tail = RATE / 2;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *in = g_new (gdouble, n), step = 0.0, d;
  const gchar *launch = "tfxbutterworth ! tfxbutterworth order=6 ! "
                        "tfxchebyshev mode=high-pass order=2 cutoff=20";
  Meddle meddle = __i__ ? change_and_toggle : change_order;
  const gdouble *x[2];
  Heard heard[2];
  Row row[2];

  for (gsize i = 0; i < n; i++)
    in[i] = sin (2 * G_PI * 100.0 / RATE * i);
  for (guint k = 0; k < 2; k++) {
    row_open (&row[k], launch, &info, k == 1);
    play (&row[k], &info, in, n, 11, k ? meddle : change_order, &heard[k]);
    x[k] = (const gdouble *)(gpointer)heard[k].samples->data;
  }
  fail_unless (heard[1].contiguous);
  fail_unless_equals_uint64 (heard[1].n_frames, n);
  d = tfx_check_distance (x[0] + n - tail, x[1] + n - tail, tail);
  fail_unless (d < 1e-6, "%g", d);
  /* The sine itself steps by 0.0131. */
  for (gsize i = RATE / 10; i < n; i++)
    step = MAX (step, fabs (x[1][i] - x[1][i - 1]));
  fail_unless (step < 0.03, "a step of %g", step);
  for (guint k = 0; k < 2; k++) {
    row_close (&row[k]);
    heard_close (&heard[k]);
  }
  g_free (in);
}
GST_END_TEST;

/* Flushes, discontinuities, gaps and jumps in time start the whole afresh. */
static void
interrupt (Row *row, guint64 frame, GRand *rand)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  switch (g_rand_int_range (rand, 0, 8)) {
    case 0:
      gst_harness_push_event (row->h, gst_event_new_flush_start ());
      gst_harness_push_event (row->h, gst_event_new_flush_stop (TRUE));
      gst_harness_push_event (row->h, gst_event_new_segment (&segment));
      break;
    case 1:
      gst_harness_push_event (row->h,
          gst_event_new_gap (gst_util_uint64_scale (frame, GST_SECOND, RATE),
              0));
      break;
    case 2:
      segment.base = frame;
      gst_harness_push_event (row->h, gst_event_new_segment (&segment));
      break;
    default:
      break;
  }
}

static void
interrupt_and_toggle (Row *row, guint64 frame, GRand *rand)
{
  GRand *other = g_rand_new_with_seed (frame);

  interrupt (row, frame, rand);
  toggle_fuse (row, frame, other);
  g_rand_free (other);
}

GST_START_TEST (test_interruptions)
{
  const gsize n = 4 * RATE;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gdouble *in = tfx_check_noise (n, 1), d;
  Meddle meddle = __i__ ? interrupt_and_toggle : interrupt;
  Heard heard[2];
  Row row[2];

  for (guint k = 0; k < 2; k++) {
    row_open (&row[k], rows[1], &info, k == 1);
    play (&row[k], &info, in, n, 3, k ? meddle : interrupt, &heard[k]);
  }
  d = distance (&heard[0], &heard[1]);
  fail_unless (d < CLOSE, "%g", d);
  fail_unless (row_stat (&row[1], 0, "deferred") > 0);
  for (guint k = 0; k < 2; k++) {
    row_close (&row[k]);
    heard_close (&heard[k]);
  }
  g_free (in);
}
GST_END_TEST;

/* ---- depth ---------------------------------------------------------------------------- */

GST_START_TEST (test_fifty)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GString *launch = g_string_new ("tfxbutterworth order=2");
  gdouble *in = tfx_check_noise (RATE * 2, 1);
  Heard heard;
  Row row;

  for (guint i = 1; i < 50; i++)
    g_string_append_printf (launch, " ! tfxbutterworth order=2 cutoff=%u",
        1000 + 100 * i);
  row_open (&row, launch->str, &info, TRUE);
  play (&row, &info, in, RATE, 1, NULL, &heard);
  for (guint i = 0; i < 49; i++)
    fail_unless_equals_uint64 (row_stat (&row, i, "dispatches"), 0);
  fail_unless_equals_uint64 (row_stat (&row, 49, "dispatches"),
      heard.n_buffers);
  fail_unless_equals_uint64 (row_stat (&row, 49, "stages"), 50);
  fail_unless_equals_uint64 (row_stat (&row, 49, "sections"), 50);
  heard_close (&heard);
  row_close (&row);
  g_string_free (launch, TRUE);
  g_free (in);
}
GST_END_TEST;

static Suite *
fusion_suite (void)
{
  Suite *s = suite_create ("fusion");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_equal, 0, 2 * G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_toggle, 0,
      3 * (G_N_ELEMENTS (rows) + G_N_ELEMENTS (late_rows)));
  tcase_add_loop_test (tc, test_cutoff_moves, 0, 2);
  tcase_add_loop_test (tc, test_order_changes, 0, 2);
  tcase_add_loop_test (tc, test_interruptions, 0, 2);
  tcase_add_test (tc, test_fifty);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, fusion_suite ());
}
