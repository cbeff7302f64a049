/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion_random.c: random rows of all elements, fused and unfused: the same
 * frames at the same times, and the same samples to rounding, whatever is
 * meddled with.
 */
#include <string.h>

#include "firs.h"
#include "rows.h"

static gboolean may_have_firs;

/* ---- random rows ------------------------------------------------------------------ */

/* Noise comes through all of them: bands that overlap from 1/50 to 1/12 of the
 * rate. */
static void
add_band (GString *line, GRand *rand, gint rate)
{
  if (g_rand_boolean (rand))
    g_string_append_printf (line, " mode=low-pass cutoff=%.3f",
        tfx_rows_draw (rand, rate / 12.0, rate / 2.2));
  else
    g_string_append_printf (line, " mode=high-pass cutoff=%.3f",
        tfx_rows_draw (rand, rate / 4000.0, rate / 50.0));
}

static void
add_chain (GString *line, GRand *rand, gint rate)
{
  g_autofree gchar *text = NULL;

  switch (g_rand_int_range (rand, 0, may_have_firs ? 5 : 4)) {
    case 0:
      text = g_strdup_printf ("Gain(%.3f)", tfx_rows_draw (rand, 0.3, 2.0));
      break;
    case 1:
      text = g_strdup_printf ("ParametricEQ(%.1f, q=2, gain=%.1f) | "
                              "HiShelving(%.1f, q=0.7, gain=-3, "
                              "gain_scale='db')",
          tfx_rows_draw (rand, 100.0, rate / 5.0),
          tfx_rows_draw (rand, 1.0, 6.0), rate / 8.0);
      break;
    case 2:
      text = g_strdup_printf ("(LoButterworth(%.1f, order=%d) + Gain(0.3))",
          tfx_rows_draw (rand, rate / 12.0, rate / 3.0),
          g_rand_int_range (rand, 1, 5));
      break;
    case 3:
      text = g_strdup_printf ("Delay(delay_samples=%d, feedback=0.4, taps=2)",
          g_rand_int_range (rand, 1, 2000));
      break;
    default:
      text = g_strdup_printf ("FIR([1.0, %.3f, -0.25]) | Gain(0.7) | "
                              "AllPass(%.1f, q=1)",
          g_rand_double_range (rand, -0.5, 0.5),
          tfx_rows_draw (rand, 50.0, rate / 4.0));
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
  switch (g_rand_int_range (rand, 0, may_have_firs ? 4 : 3)) {
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
      add_chain (line, rand, rate);
      break;
    default:
      add_fir (line, rand, rate);
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

/* ---- meddlers ----------------------------------------------------------------------- */

static void
toggle (TfxRow *row, guint64 frame, GRand *rand)
{
  tfx_rows_toggle_fuse (row, frame, rand);
  tfx_rows_toggle_probe (row, frame, rand);
}

/* Another element comes and goes; what it holds when it goes is lost. */
static void
relink (TfxRow *row, guint64 frame, GRand *rand)
{
  g_autoptr (GString) line = g_string_new (NULL);
  g_autoptr (GstPad) src = NULL;

  if (g_rand_int_range (rand, 0, 4) > 0)
    return;
  if (row->guest) {
    fail_unless (tfx_check_take_out (row->guest));
    gst_clear_object (&row->guest);
    return;
  }
  src = gst_element_get_static_pad (row->elements[g_rand_int_range (rand, 0,
                                        row->n - 1)],
      "src");
  if (g_rand_int_range (rand, 0, 3) == 0)
    g_string_append (line, "identity");
  else
    add_element (line, rand, row->rate);
  row->guest =
      gst_object_ref_sink (gst_parse_launch_full (line->str, NULL, 0, NULL));
  fail_unless (
      tfx_check_put_behind (GST_BIN (row->h->element), src, row->guest));
}

/* What a chain may become; the last two are FIRs. */
static const gchar *const texts[] = {
  "",
  "Gain(0.8)",
  "Gain(0.8) | Gain(1.1)",
  "eq=ParametricEQ(900, q=2, gain=4)",
  "eq=ParametricEQ(900, q=2, gain=4) | Gain(0.7)",
  ("HiShelving(3000, q=0.7, gain=-3, gain_scale='db') | "
   "eq=ParametricEQ(500, q=3, gain=-6)"),
  "(LoButterworth(900, order=3) + Gain(0.3))",
  "Delay(delay_samples=300, feedback=0.4, taps=2)",
  "d=Delay(delay_samples=30, feedback=0.4, taps=1) | Notch(400, 3)",
  "FIR([1, 0.5, -0.25])",
  "FIR([1, -0.5, 0, 0, 0.25]) | AllPass(700, q=1) | Gain(0.9)",
};

static void
change_band (GstElement *element, GRand *rand, gint rate)
{
  gdouble low = tfx_rows_draw (rand, rate / 2000.0, rate / 8.0);

  switch (g_rand_int_range (rand, 0, 4)) {
    case 0:
      g_object_set (element, "mode", g_rand_int_range (rand, 0, 4), NULL);
      break;
    case 1:
      g_object_set (element, "lower-frequency", low, "upper-frequency",
          low * 2.5, NULL);
      break;
    default:
      g_object_set (element, "cutoff",
          tfx_rows_draw (rand, rate / 500.0, rate / 2.2), NULL);
      break;
  }
}

static void
change_fir (GstElement *element, GRand *rand, gint rate)
{
  gdouble *taps;
  guint n;

  switch (g_rand_int_range (rand, 0, 5)) {
    case 0:
      /* Odd, for all modes. */
      g_object_set (element, "taps", 1 + 2 * g_rand_int_range (rand, 1, 150),
          NULL);
      break;
    case 1:
      g_object_set (element, "window", g_rand_int_range (rand, 0, 9), NULL);
      break;
    case 2:
      n = g_rand_int_range (rand, 1, 300);
      taps = tfx_firs_room (n, n);
      tfx_firs_set_kernel (element, taps, n);
      g_free (taps);
      break;
    case 3:
      tfx_firs_set_kernel (element, NULL, 0);
      break;
    default:
      change_band (element, rand, rate);
      break;
  }
}

static void
change_chain (GstElement *element, GRand *rand)
{
  GObject *stage;

  if (g_rand_boolean (rand)) {
    g_object_set (element, "chain",
        texts[g_rand_int_range (rand, 0,
            G_N_ELEMENTS (texts) - (may_have_firs ? 0 : 2))],
        NULL);
    return;
  }
  stage = gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), "eq");
  if (stage)
    g_object_set (stage, "gain", g_rand_double_range (rand, -6.0, 6.0), NULL);
  g_clear_object (&stage);
}

static void
change_iir (GstElement *element, GRand *rand, gint rate)
{
  gboolean is_chebyshev =
      !strcmp (G_OBJECT_TYPE_NAME (element), "GstTfxChebyshev");

  switch (g_rand_int_range (rand, 0, is_chebyshev ? 5 : 3)) {
    case 0:
      g_object_set (element, "order", g_rand_int_range (rand, 1, 9), NULL);
      break;
    case 3:
      g_object_set (element, "type", g_rand_int_range (rand, 1, 3), NULL);
      break;
    case 4:
      g_object_set (element, "ripple", g_rand_double_range (rand, 0.05, 1.0),
          "attenuation", g_rand_double_range (rand, 30.0, 60.0), NULL);
      break;
    default:
      change_band (element, rand, rate);
      break;
  }
}

/* Any setting of any element; sometimes several at once, or again while the
 * last change is under way. */
static void
change_any (TfxRow *row, guint64 frame, GRand *rand)
{
  while (g_rand_int_range (rand, 0, 3) == 0) {
    GstElement *element = row->elements[g_rand_int_range (rand, 0, row->n)];
    const gchar *type = G_OBJECT_TYPE_NAME (element);

    if (!strcmp (type, "GstTfxFir"))
      change_fir (element, rand, row->rate);
    else if (!strcmp (type, "GstTfxChain"))
      change_chain (element, rand);
    else
      change_iir (element, rand, row->rate);
  }
}

/* Another setting of some element, which lets a low tone through too. */
static void
change_gently (TfxRow *row, guint64 frame, GRand *rand)
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

/* ---- the tests ------------------------------------------------------------------------ */

/* What is done to both rows, of which the fused one is split now and then or not. */
static const struct
{
  const gchar *name;
  TfxMeddle meddle, toggle;
  gboolean is_recursive; /* no FIRs */
} ways[] = {
  { "equal", NULL, NULL },
  { "toggle", NULL, toggle },
  { "interrupt", tfx_rows_interrupt, NULL },
  { "interrupt and toggle", tfx_rows_interrupt, toggle },
  { "relink", relink, NULL },
  { "relink and toggle", relink, toggle },
  { "change recursive filters", change_any, NULL, TRUE },
  { "change recursive filters and toggle", change_any, toggle, TRUE },
  { "change all", change_any, NULL },
  { "change all and toggle", change_any, toggle },
};

#define N_ROWS 48

/* State moves with each decision. */
GST_START_TEST (test_rows)
{
  const guint way = __i__ / N_ROWS, seed = 1000 * way + __i__ % N_ROWS;
  const TfxMeddle meddle = ways[way].meddle;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GstAudioInfo info = tfx_rows_draw_info (rand);
  g_autofree gchar *launch = NULL;
  const gsize n = meddle == change_any ? 40000 : 30000;
  g_autofree gdouble *in = tfx_check_noise (n * info.channels, seed);
  g_auto (TfxPair) pair;
  gboolean has_fft;
  gdouble error_db;

  may_have_firs = !ways[way].is_recursive;
  launch = draw_row (rand, info.rate, meddle != relink);
  has_fft = strstr (launch, "method=auto") || strstr (launch, "method=fft");
  tfx_pair_play (&pair, launch, &info, in, n, seed, meddle, ways[way].toggle);
  /* What takes a delay out of the stream runs itself. */
  if (!meddle && !ways[way].toggle &&
      !g_strstr_len (launch, strstr (launch, " ! ") - launch, "align=true"))
    fail_unless_equals_uint64 (tfx_rows_stat (&pair.rows[1], 0, "deferred"),
        tfx_rows_stat (&pair.rows[1], 0, "buffers"));
  tfx_heard_expect_same (&pair.heard[1], &pair.heard[0], meddle == relink);
  error_db = tfx_pair_error_db (&pair, in);
  fail_unless (error_db <= tfx_rows_bound_db (&info, has_fft,
                               meddle == change_any && may_have_firs),
      "%s, seed %u: %.1f dB: %s", ways[way].name, seed, error_db, launch);
  if (!meddle || meddle == change_any)
    fail_unless_equals_uint64 (pair.heard[1].n_frames, n);
}
GST_END_TEST;

/* ---- changes ---------------------------------------------------------------------------- */

static const gchar *const changing[] = {
  "tfxbutterworth cutoff=12000 ! tfxfir cutoff=15000 ! tfxbutterworth "
  "cutoff=14000 order=2",
  "tfxfir cutoff=15000 ! tfxfir cutoff=12000 taps=55 align=false ! tfxfir "
  "cutoff=10000 taps=33",
  "tfxchain chain=\"g=Gain(1)\" ! tfxfir cutoff=12000 ! tfxchebyshev "
  "cutoff=16000 ! tfxchain chain=\"FIR([0.5, 0.5]) | g=Gain(1)\"",
};

/* A tone through filters that let it pass: it makes no larger step than it does
 * when each filter changes by itself, but for its beginning and its end. */
GST_START_TEST (test_change)
{
  const gchar *launch = changing[__i__ % G_N_ELEMENTS (changing)];
  GstAudioInfo info = tfx_check_f64 (48000, 1);
  const gsize n = 4 * 48000, edge = 4800;
  g_autofree gdouble *in = tfx_check_sine (n, 0, 100.0, 48000);
  gdouble steps[2];

  for (guint k = 0; k < 2; k++) {
    g_auto (TfxPair) pair;

    tfx_pair_play (&pair, launch, &info, in, n, 7000 + __i__, change_gently,
        k ? tfx_rows_toggle_fuse : NULL);
    for (guint i = 0; i < 2; i++) {
      fail_unless (pair.heard[i].contiguous && pair.heard[i].n_frames == n);
      steps[i] = tfx_check_step (tfx_heard_samples (&pair.heard[i]) + edge,
          n - 2 * edge);
    }
    fail_unless (g_str_has_prefix (launch, "tfxfir") ||
                 tfx_rows_stat (&pair.rows[1], 0, "deferred") > 0);
    fail_unless (steps[1] <= 1.05 * steps[0],
        "a step of %g fused%s, %g not: %s", steps[1], k ? " and parted" : "",
        steps[0], launch);
  }
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fusion_random");

  tfx_check_add_part (tc, test_rows, N_ROWS * G_N_ELEMENTS (ways), 3);
  tfx_check_add_part (tc, test_change, 6 * G_N_ELEMENTS (changing), 3);
  return tfx_check_run (argc, argv, tc);
}
