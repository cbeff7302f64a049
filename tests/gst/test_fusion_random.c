/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion_random.c: random rows of all elements, fused and unfused: the same
 * frames at the same times, and the same samples to rounding, whatever is
 * meddled with.
 */
#include <math.h>
#include <string.h>

#include "rows.h"

/* Against the input or the output, whichever is louder: each unfused float32
 * element rounds to 24 bits, -149 dB.  Doubles are rounded to 53 bits
 * everywhere, and a section at a low cutoff makes up to 60 dB more of that. */
#define F32_DB -140.0
#define F64_DB -250.0
/* With transforms, which both have in them. */
#define F32_FFT_DB -128.0
#define F64_FFT_DB -240.0

#define N_ROWS 40

/* ---- random rows ------------------------------------------------------------------ */

static gdouble
draw (GRand *rand, gdouble low, gdouble high)
{
  return low * pow (high / low, g_rand_double (rand));
}

/* Noise comes through all of them: bands that overlap from 1/50 to 1/12 of the
 * rate. */
static void
add_band (GString *line, GRand *rand, gint rate)
{
  if (g_rand_boolean (rand))
    g_string_append_printf (line, " mode=low-pass cutoff=%.3f",
        draw (rand, rate / 12.0, rate / 2.2));
  else
    g_string_append_printf (line, " mode=high-pass cutoff=%.3f",
        draw (rand, rate / 4000.0, rate / 50.0));
}

static void
add_chain (GString *line, GRand *rand, gint rate)
{
  g_autofree gchar *text = NULL;

  switch (g_rand_int_range (rand, 0, 5)) {
    case 0:
      text = g_strdup_printf ("Gain(%.3f)", draw (rand, 0.3, 2.0));
      break;
    case 1:
      text = g_strdup_printf ("ParametricEQ(%.1f, q=2, gain=%.1f) | "
                              "HiShelving(%.1f, q=0.7, gain=-3, "
                              "gain_scale='db')",
          draw (rand, 100.0, rate / 5.0), draw (rand, 1.0, 6.0), rate / 8.0);
      break;
    case 2:
      text = g_strdup_printf ("(LoButterworth(%.1f, order=%d) + Gain(0.3))",
          draw (rand, rate / 12.0, rate / 3.0), g_rand_int_range (rand, 1, 5));
      break;
    case 3:
      text = g_strdup_printf ("Delay(delay_samples=%d, feedback=0.4, taps=2)",
          g_rand_int_range (rand, 1, 2000));
      break;
    default:
      text = g_strdup_printf ("FIR([1.0, %.3f, -0.25]) | Gain(0.7) | "
                              "AllPass(%.1f, q=1)",
          g_rand_double_range (rand, -0.5, 0.5), draw (rand, 50.0, rate / 4.0));
      break;
  }
  g_string_append_printf (line, "tfxchain chain=\"%s\"", text);
}

static void
add_fir (GString *line, GRand *rand, gint rate)
{
  static const gchar *const methods[] = { "auto", "direct", "fft" };

  g_string_append_printf (line, "tfxfir taps=%d align=%s method=%s",
      1 + 2 * g_rand_int_range (rand, 0, 150),
      g_rand_boolean (rand) ? "true" : "false",
      methods[g_rand_int_range (rand, 0, 3)]);
  add_band (line, rand, rate);
}

static void
add_element (GString *line, GRand *rand, gint rate)
{
  switch (g_rand_int_range (rand, 0, 4)) {
    case 0:
      g_string_append_printf (line, "tfxbutterworth order=%d",
          g_rand_int_range (rand, 1, 9));
      add_band (line, rand, rate);
      break;
    case 1:
      g_string_append_printf (line, "tfxchebyshev type=%d order=%d",
          g_rand_int_range (rand, 1, 3), g_rand_int_range (rand, 1, 7));
      add_band (line, rand, rate);
      break;
    case 2:
      add_fir (line, rand, rate);
      break;
    default:
      add_chain (line, rand, rate);
      break;
  }
}

/* Two to seven elements; some of those within are in bins. */
static gchar *
draw_row (GRand *rand, gint rate, gboolean may_nest)
{
  const guint n = g_rand_int_range (rand, 2, 8);
  GString *line = g_string_new (NULL);
  guint depth = 0;

  for (guint i = 0; i < n; i++) {
    gboolean is_inner = i > 0 && i + 1 < n;

    g_string_append (line, i ? " ! " : "");
    if (may_nest && is_inner && g_rand_int_range (rand, 0, 3) == 0) {
      g_string_append (line, "( ");
      depth++;
    }
    add_element (line, rand, rate);
    while (depth > 0 && (i + 2 >= n || g_rand_boolean (rand))) {
      g_string_append (line, " )");
      depth--;
    }
  }
  return g_string_free (line, FALSE);
}

static GstAudioInfo
draw_info (GRand *rand)
{
  static const gint rates[] = { 8000, 44100, 48000, 96000, 192000 };
  static const gint channels[] = { 1, 2, 3, 6, 8 };

  return tfx_check_info (g_rand_boolean (rand) ? GST_AUDIO_FORMAT_F64
                                               : GST_AUDIO_FORMAT_F32,
      rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))],
      channels[g_rand_int_range (rand, 0, G_N_ELEMENTS (channels))],
      g_rand_boolean (rand) ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                            : GST_AUDIO_LAYOUT_INTERLEAVED);
}

/* ---- meddlers ----------------------------------------------------------------------- */

static void
toggle (TfxRow *row, guint64 frame, GRand *rand)
{
  tfx_rows_toggle_fuse (row, frame, rand);
  tfx_rows_toggle_probe (row, frame, rand);
}

/* What starts the whole afresh.  As the frames that are held by then are lost
 * or not, so they are when fused. */
static void
interrupt (TfxRow *row, guint64 frame, GRand *rand)
{
  GstClockTime time = gst_util_uint64_scale (frame, GST_SECOND, row->rate);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  switch (g_rand_int_range (rand, 0, 10)) {
    case 0:
      gst_harness_push_event (row->h, gst_event_new_flush_start ());
      gst_harness_push_event (row->h, gst_event_new_flush_stop (TRUE));
      gst_harness_push_event (row->h, gst_event_new_segment (&segment));
      break;
    case 1:
      gst_harness_push_event (row->h, gst_event_new_gap (time, 0));
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
interrupt_and_toggle (TfxRow *row, guint64 frame, GRand *rand)
{
  g_autoptr (GRand) other = g_rand_new_with_seed (frame);

  interrupt (row, frame, rand);
  toggle (row, frame, other);
}

static void
put_guest (TfxRow *row, GRand *rand)
{
  GstBin *bin = GST_BIN (row->h->element);
  g_autoptr (GString) line = g_string_new (NULL);

  row->guest_at = g_rand_int_range (rand, 0, row->n - 1);
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_string_append (line, "identity");
  else
    add_element (line, rand, row->rate);
  row->guest =
      gst_object_ref_sink (gst_parse_launch_full (line->str, NULL, 0, NULL));
  gst_bin_add (bin, row->guest);
  gst_element_unlink (row->elements[row->guest_at],
      row->elements[row->guest_at + 1]);
  fail_unless (gst_element_link_many (row->elements[row->guest_at], row->guest,
      row->elements[row->guest_at + 1], NULL));
  gst_element_sync_state_with_parent (row->guest);
}

static void
take_guest (TfxRow *row)
{
  gst_element_unlink (row->elements[row->guest_at], row->guest);
  gst_element_unlink (row->guest, row->elements[row->guest_at + 1]);
  gst_element_set_state (row->guest, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (row->h->element), row->guest);
  gst_clear_object (&row->guest);
  fail_unless (gst_element_link (row->elements[row->guest_at],
      row->elements[row->guest_at + 1]));
}

/* Another element comes and goes; what it holds when it goes is lost. */
static void
relink (TfxRow *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 4) > 0)
    return;
  if (row->guest)
    take_guest (row);
  else
    put_guest (row, rand);
}

static void
relink_and_toggle (TfxRow *row, guint64 frame, GRand *rand)
{
  g_autoptr (GRand) other = g_rand_new_with_seed (frame);

  relink (row, frame, rand);
  toggle (row, frame, other);
}

/* Another setting of some element, which lets a low tone through too. */
static void
change (TfxRow *row, guint64 frame, GRand *rand)
{
  guint at = g_rand_int_range (rand, 0, row->n);
  GstElement *element = row->elements[at];
  const gchar *type = G_OBJECT_TYPE_NAME (element);

  if (frame < (guint64)row->rate / 10 || g_rand_int_range (rand, 0, 3) > 0)
    return;
  if (!strcmp (type, "GstTfxFir"))
    g_object_set (element, "taps", 1 + 2 * g_rand_int_range (rand, 10, 150),
        NULL);
  else if (!strcmp (type, "GstTfxChain"))
    gst_child_proxy_set (GST_CHILD_PROXY (element), "g::gain",
        g_rand_double_range (rand, 0.95, 1.05), NULL);
  else if (g_rand_boolean (rand))
    g_object_set (element, "order", g_rand_int_range (rand, 1, 9), NULL);
  else
    g_object_set (element, "cutoff",
        row->rate * g_rand_double_range (rand, 0.2, 0.4), NULL);
}

static void
change_and_toggle (TfxRow *row, guint64 frame, GRand *rand)
{
  g_autoptr (GRand) other = g_rand_new_with_seed (frame);

  change (row, frame, rand);
  tfx_rows_toggle_fuse (row, frame, other);
}

/* ---- the tests ------------------------------------------------------------------------ */

/* Plays the row with nothing fused and one meddler, then as it is meant to be,
 * with another. */
static void
compare (guint seed, gboolean may_nest, TfxMeddle unfused, TfxMeddle fused)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GstAudioInfo info = draw_info (rand);
  g_autofree gchar *launch = draw_row (rand, info.rate, may_nest);
  const gsize n = 30000;
  g_autofree gdouble *in = tfx_check_noise (n * info.channels, seed);
  gdouble error_db, bound_db;
  const gchar *const end = strstr (launch, " ! ");
  const gchar *const align = g_strstr_len (launch, end - launch, "align=true");
  const gboolean is_late = align != NULL;
  gboolean has_fft;
  TfxHeard heard[2];
  TfxRow row;

  for (guint k = 0; k < 2; k++) {
    tfx_rows_open (&row, launch, &info, k == 1);
    tfx_rows_play (&row, &info, in, n, seed, k ? fused : unfused, &heard[k]);
    /* What takes a delay out of the stream runs itself. */
    if (k == 1 && !fused && !is_late)
      fail_unless_equals_uint64 (tfx_rows_stat (&row, 0, "deferred"),
          tfx_rows_stat (&row, 0, "buffers"));
    tfx_rows_close (&row);
  }
  tfx_heard_expect_same (&heard[1], &heard[0], unfused == relink);
  error_db = tfx_heard_error_db (&heard[1], &heard[0], in);
  has_fft = strstr (launch, "method=auto") || strstr (launch, "method=fft");
  if (info.finfo->width == 64)
    bound_db = has_fft ? F64_FFT_DB : F64_DB;
  else
    bound_db = has_fft ? F32_FFT_DB : F32_DB;
  fail_unless (error_db <= bound_db, "%.1f dB: %s", error_db, launch);
  if (!unfused)
    fail_unless (heard[1].n_frames == n);
  for (guint k = 0; k < 2; k++)
    tfx_heard_close (&heard[k]);
}

GST_START_TEST (test_equal)
{
  compare (__i__, TRUE, NULL, NULL);
}
GST_END_TEST;

/* State moves with each decision. */
GST_START_TEST (test_toggle)
{
  compare (1000 + __i__, TRUE, NULL, toggle);
}
GST_END_TEST;

GST_START_TEST (test_interrupt)
{
  compare (2000 + __i__, TRUE, interrupt, interrupt);
}
GST_END_TEST;

GST_START_TEST (test_interrupt_and_toggle)
{
  compare (3000 + __i__, TRUE, interrupt, interrupt_and_toggle);
}
GST_END_TEST;

GST_START_TEST (test_relink)
{
  compare (4000 + __i__, FALSE, relink, relink);
}
GST_END_TEST;

GST_START_TEST (test_relink_and_toggle)
{
  compare (5000 + __i__, FALSE, relink, relink_and_toggle);
}
GST_END_TEST;

/* ---- changes ---------------------------------------------------------------------------- */

/* The largest step from sample to sample, but for the beginning and the end of
 * the tone. */
static gdouble
largest_step (const TfxHeard *heard, gsize n_edge)
{
  const gdouble *x = tfx_heard_samples (heard);
  gdouble step = 0.0;

  for (gsize i = n_edge + 1; i + n_edge < heard->samples->len; i++)
    step = MAX (step, fabs (x[i] - x[i - 1]));
  return step;
}

static const gchar *const changing[] = {
  "tfxbutterworth cutoff=12000 ! tfxfir cutoff=15000 ! tfxbutterworth "
  "cutoff=14000 order=2",
  "tfxfir cutoff=15000 ! tfxfir cutoff=12000 taps=55 align=false ! tfxfir "
  "cutoff=10000 taps=33",
  "tfxchain chain=\"g=Gain(1)\" ! tfxfir cutoff=12000 ! tfxchebyshev "
  "cutoff=16000 ! tfxchain chain=\"FIR([0.5, 0.5]) | g=Gain(1)\"",
};

/* A tone through filters that let it pass: it makes no larger step than it does
 * when each filter changes by itself. */
GST_START_TEST (test_change)
{
  const TfxMeddle meddlers[] = { change, change, change_and_toggle };
  const gchar *launch = changing[__i__ % G_N_ELEMENTS (changing)];
  GstAudioInfo info = tfx_check_f64 (48000, 1);
  const gsize n = 4 * 48000;
  g_autofree gdouble *in = g_new (gdouble, n);
  gdouble step[3];

  for (gsize i = 0; i < n; i++)
    in[i] = sin (2.0 * G_PI * 100.0 / 48000.0 * i);
  for (guint k = 0; k < 3; k++) {
    g_auto (TfxHeard) heard;
    g_auto (TfxRow) row;

    tfx_rows_open (&row, launch, &info, k > 0);
    tfx_rows_play (&row, &info, in, n, 7000 + __i__, meddlers[k], &heard);
    fail_unless (heard.contiguous && heard.n_frames == n);
    fail_unless (k == 0 || g_str_has_prefix (launch, "tfxfir") ||
                 tfx_rows_stat (&row, 0, "deferred") > 0);
    step[k] = largest_step (&heard, 4800);
  }
  fail_unless (step[1] <= 1.05 * step[0] && step[2] <= 1.05 * step[0],
      "a step of %g fused, %g fused and parted, %g unfused: %s", step[1],
      step[2], step[0], launch);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  Suite *s = suite_create ("fusion_random");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tfx_check_add_part (tc, test_equal, N_ROWS, 3);
  tfx_check_add_part (tc, test_toggle, N_ROWS, 3);
  tfx_check_add_part (tc, test_interrupt, N_ROWS, 3);
  tfx_check_add_part (tc, test_interrupt_and_toggle, N_ROWS, 3);
  tfx_check_add_part (tc, test_relink, N_ROWS, 3);
  tfx_check_add_part (tc, test_relink_and_toggle, N_ROWS, 3);
  tfx_check_add_part (tc, test_change, 6 * G_N_ELEMENTS (changing), 3);
  return tfx_check_main (argc, argv, s);
}
