/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_automation.c: properties under control, on the grid inside of buffers.
 */
#include <math.h>

#include <gst/controller/controller.h>

#include "line.h"

#define RATE 48000
#define GRID TFX_GRID_FRAMES

/* ---- curves --------------------------------------------------------------------- */

/* A property and the curve that it follows: a triangle between two values. */
typedef struct
{
  const gchar *property; /* "x::cutoff", or "x::eq::gain" of a child */
  gdouble from, to;
  gdouble frequency; /* of the triangle, for two seconds */
} Curve;

static void
bind_source (TfxLine *line, const gchar *path, GstControlSource *source)
{
  GParamSpec *spec;
  g_autoptr (GstObject) object = tfx_line_find (line, path, &spec);

  fail_unless (gst_object_add_control_binding (object,
      gst_direct_control_binding_new_absolute (object, spec->name, source)));
  gst_object_unref (source);
}

static void
bind (TfxLine *line, const Curve *curve)
{
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (guint i = 0; i <= 4.0 * curve->frequency; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        i / (2.0 * curve->frequency) * GST_SECOND,
        i % 2 ? curve->to : curve->from);
  bind_source (line, curve->property, source);
}

/* ---- the same however it is cut ------------------------------------------------------ */

typedef struct
{
  const gchar *launch;
  Curve curves[9]; /* the last one is none */
  gdouble error;   /* of any cut against another, of a full scale of 1: FFTs */
  /* A row whose sections stand still where others of it move: they run in another
   * form there than by themselves. */
  gboolean has_still;
  gboolean is_float; /* mono */
} Case;

static const Case cases[] = {
  { "tfxbutterworth name=x order=4", { { "x::cutoff", 200, 8000, 3 } } },
  { "tfxbutterworth name=x order=4", { { "x::cutoff", 200, 8000, 3 } },
      .is_float = TRUE },
  { "tfxchain name=x chain=\"eq=ParametricEQ(1000, 1, 0) | g=Gain(0.5) | "
    "HiButterworth(50, order=8)\"",
      { { "x::eq::gain", -12, 12, 3 }, { "x::g::gain", 0.1, 1, 5 } },
      .is_float = TRUE },
  { "tfxbutterworth name=x order=16 mode=high-pass",
      { { "x::cutoff", 50, 2000, 7 } } },
  { "tfxchebyshev name=x type=1 mode=band-pass order=3",
      { { "x::lower-frequency", 200, 800, 3 },
          { "x::upper-frequency", 1000, 9000, 5 },
          { "x::ripple", 0.1, 3, 2 } } },
  { "tfxchebyshev name=x type=2",
      { { "x::cutoff", 500, 5000, 4 }, { "x::attenuation", 20, 80, 3 } } },
  { "tfxchain name=x chain=\"eq=ParametricEQ(1000, 1, 0) | g=Gain(0.5) | "
    "(low=LoButterworth(500) + n=Notch(3000, 5)) | d=Delay(300, mix=0.3)\"",
      { { "x::eq::gain", -12, 12, 3 }, { "x::eq::q", 0.5, 4, 2 },
          { "x::g::gain", 0.1, 1, 5 }, { "x::low::cutoff", 100, 5000, 1 },
          { "x::n::cutoff", 2000, 4000, 4 } } },
  { "tfxchain name=x chain=\"d=Delay(300, mix=0.3) | r=Echo(1000) | "
    "(g=Gain(1) + e=Delay(77, mix=0.5))\"",
      { { "x::d::mix", 0.1, 0.9, 3 }, { "x::d::feedback", 0.1, 0.8, 5 },
          { "x::r::mix", 0, 1, 2 }, { "x::g::gain", 0, 1, 4 },
          { "x::e::mix", 0, 1, 3 } } },
  { "tfxbutterworth name=x ! tfxchebyshev name=y",
      { { "x::order", 1, 9, 2 }, { "x::cutoff", 500, 5000, 3 },
          { "y::mode", 0, 3, 1 } } },
  { "tfxbutterworth name=x ! tfxchebyshev", { { "x::cutoff", 500, 5000, 3 } },
      .has_still = TRUE },
  { "tfxbutterworth name=x order=6 ! tfxchain name=y "
    "chain=\"eq=ParametricEQ(300, 2, 3)\" ! tfxchebyshev name=z",
      { { "x::cutoff", 2000, 8000, 3 }, { "y::eq::gain", -6, 6, 5 },
          { "z::cutoff", 1000, 4000, 2 } } },
  { "tfxchain name=x chain=\"HiButterworth(50) | f=DesignableFIR(1000, 101, "
    "conv_mode='direct') | g=Gain(0.5)\"",
      { { "x::f::cutoff", 200, 8000, 3 }, { "x::g::gain", 0.1, 1, 5 } } },
  { "tfxchain name=x chain=\"c=Compressor(-20) | (g=Gate(-12) + e=Expander()) "
    "| "
    "Limiter(-1, 0.002, link=True) | l=Limiter(-9, 0.001)\"",
      { { "x::c::threshold", -40, -6, 3 }, { "x::c::ratio", 1.5, 20, 5 },
          { "x::c::makeup-gain", -6, 12, 2 },
          { "x::c::attack", 0.0005, 0.02, 4 }, { "x::g::floor", -60, 0, 3 },
          { "x::e::knee", 0, 20, 3 }, { "x::l::threshold", -20, 0, 4 },
          { "x::l::release", 0.001, 0.1, 5 } } },
  { "tfxchain name=x chain=\"n=Normalize(0.5, window=0.05) | "
    "l=Limiter(-9, 0.001, true_peak=True) | g=Gain(2, clamp=True)\"",
      { { "x::n::peak", 0.1, 1, 3 }, { "x::n::max-gain", 0, 12, 5 },
          { "x::l::threshold", -20, 0, 4 }, { "x::l::release", 0.001, 0.1, 5 },
          { "x::g::gain", 0.5, 4, 3 } },
      .is_float = TRUE },
  { "tfxfir name=x taps=101 method=direct", { { "x::cutoff", 200, 8000, 3 } } },
  { "tfxfir name=x taps=511 mode=band-pass align=false ! tfxbutterworth name=y",
      { { "x::lower-frequency", 200, 800, 3 },
          { "x::upper-frequency", 1000, 9000, 5 },
          { "y::cutoff", 500, 5000, 4 } },
      1e-6 },
  { "tfxfir name=x taps=2001 method=fft", { { "x::cutoff", 500, 5000, 2 } },
      1e-6 },
};

/* What comes out, to be freed; of buffers of up to `most` frames, at random, or of as
 * many. */
static gdouble *
run (const Case *c, const gdouble *in, guint64 n_frames, gsize most,
    gboolean at_random, gboolean fuse)
{
  /* Two channels in double, one in float. */
  GstAudioInfo info =
      c->is_float ? tfx_check_f32 (RATE, 1) : tfx_check_f64 (RATE, 2);
  g_auto (TfxLine) line;
  gdouble *out = g_new0 (gdouble, n_frames * 2);

  tfx_line_open (&line, c->launch, &info, fuse, n_frames);
  for (const Curve *curve = c->curves; curve->property; curve++)
    bind (&line, curve);
  tfx_line_push_segment (&line, 0, 0);
  for (guint64 i = 0, n; i < n_frames; i += n) {
    n = at_random ? (gsize)g_random_int_range (1, most + 1) : most;
    n = MIN (n, n_frames - i);
    tfx_line_play (&line, in, i, i + n, n);
  }
  tfx_line_end (&line);
  fail_unless_equals_uint64 (line.n_heard, n_frames);
  memcpy (out, line.heard, n_frames * info.channels * sizeof *out);
  return out;
}

static void
expect_same (const Case *c, const gdouble *a, const gdouble *b, gsize n,
    const gchar *how, gboolean has_same_forms)
{
  const gdouble bound = has_same_forms ? 0.0 : 1e-12;
  gsize i = 0;

  while (i < n && fabs (a[i] - b[i]) <= bound + c->error)
    i++;
  fail_unless (i == n, "%s, %s: frame %u is off by %g", c->launch, how,
      (guint)(i / 2), a[i] - b[i]);
}

GST_START_TEST (test_cuts)
{
  static const struct
  {
    gsize most;
    gboolean at_random;
  } ways[] = { { 64 }, { 1024 }, { 33 }, { 5000 }, { 100, TRUE },
    { 3000, TRUE }, { 65536, TRUE } };
  const Case *c = &cases[__i__ / 2];
  const gboolean fuse = __i__ % 2;
  /* Others are longer than what is read ahead. */
  const guint64 n = c->error > 0.0 ? 20000 : 70000;
  g_autofree gdouble *in = tfx_check_noise (2 * n, 1);
  g_autofree gdouble *whole = run (c, in, n, 65536, FALSE, fuse), *one = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    g_autofree gdouble *out =
        run (c, in, n, ways[i].most, ways[i].at_random, fuse);
    g_autofree gchar *how = g_strdup_printf ("buffers of %s%u",
        ways[i].at_random ? "up to " : "", (guint)ways[i].most);

    expect_same (c, out, whole, 2 * n, how, TRUE);
  }
  /* Elements run what is longer in parts, by themselves. */
  one = run (c, in, n, n, FALSE, FALSE);
  expect_same (c, one, whole, 2 * n, fuse ? "unfused" : "one buffer",
      !fuse || !c->has_still);
}
GST_END_TEST;

/* ---- where a step is heard -------------------------------------------------------- */

#define STEP GST_INTERPOLATION_MODE_NONE
#define LINEAR GST_INTERPOLATION_MODE_LINEAR
#define GAIN "tfxchain name=x chain=\"g=Gain(1)\""

typedef struct
{
  gdouble frame, value;
} Point;

static void
set_points (GstControlSource *source, const Point *points, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        gst_util_uint64_scale_ceil (points[i].frame, GST_SECOND, RATE),
        points[i].value);
}

static void
bind_points (TfxLine *line, const gchar *path, GstInterpolationMode mode,
    const Point *points, guint n)
{
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", mode, NULL);
  set_points (source, points, n);
  bind_source (line, path, source);
}

/* Ones come in; what comes out, of n_frames in buffers of `size`. */
static gdouble *
run_ones (TfxLine *line, gsize n_frames, gsize size)
{
  g_autofree gdouble *ones = tfx_check_constant (n_frames, 1.0);

  tfx_line_push_segment (line, 0, 0);
  tfx_line_play (line, ones, 0, n_frames, size);
  tfx_line_end (line);
  return line->heard;
}

/* A step that is asked for at a frame begins within one point of it. */
GST_START_TEST (test_step)
{
  static const gsize steps[] = { 1000, 1024, 4001, 4800 };
  static const gsize sizes[] = { 64, 1024, 65536 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  const gsize at = steps[__i__ / 3];
  const Point points[] = { { 0, 0.5 }, { at, 1.0 } };
  g_auto (TfxLine) line;
  gdouble *out;
  gsize first = 0, last;

  tfx_line_open (&line, GAIN, &info, TRUE, 10000);
  bind_points (&line, "x::g::gain", STEP, points, 2);
  out = run_ones (&line, 10000, sizes[__i__ % 3]);
  while (first < 10000 && out[first] == out[0])
    first++;
  last = first;
  while (last < 10000 && out[last] != 1.0)
    last++;
  fail_unless (first + GRID >= at && first <= at + GRID && last >= at - GRID &&
                   last <= at + GRID,
      "asked for at %u, heard from %u to %u", (guint)at, (guint)first,
      (guint)last);
}
GST_END_TEST;

/* A filter that is to be later from some frame on, inside of a buffer or in what it
 * still holds at the end: each frame comes out as it was, at its time. */
GST_START_TEST (test_delay_grows)
{
  static const struct
  {
    const gchar *launch, *property;
    gdouble from, to;
  } growing[] = {
    { "tfxfir name=x cutoff=20000", "x::taps", 1, 201 },
    { "tfxfir name=x cutoff=20000", "x::taps", 101, 201 },
    { "tfxchain name=x chain=\"l=Limiter(-1)\"", "x::l::lookahead", 0.001,
        0.004 },
  };
  static const gsize sizes[] = { 480, 10007, 65536 };
  const gsize n = 20000, edge = 100, at = __i__ % 2 ? n - 20 : 9000;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = g_new (gdouble, n);

  /* Linear phase changes no ramp. */
  for (gsize i = 0; i < n; i++)
    in[i] = 0.5 * i / n;
  for (guint i = 0; i < G_N_ELEMENTS (growing); i++) {
    const Point points[] = { { 0, growing[i].from }, { at, growing[i].to } };
    g_auto (TfxLine) line;
    gdouble worst;

    tfx_line_open (&line, growing[i].launch, &info, TRUE, n);
    bind_points (&line, growing[i].property, STEP, points, 2);
    tfx_line_push_segment (&line, 0, 0);
    tfx_line_play (&line, in, 0, n, sizes[__i__ / 2]);
    tfx_line_end (&line);
    tfx_line_expect_whole (&line);
    worst = tfx_check_distance (line.heard + edge, in + edge, n - 2 * edge);
    fail_unless (worst < 1e-12, "%s: off by %g", growing[i].launch, worst);
  }
}
GST_END_TEST;

/* A stage follows its curve for the sound that goes through it, however far ahead what
 * stands in front of it, behind it or beside it looks. */
GST_START_TEST (test_look_ahead)
{
  static const gchar *const chains[] = {
    "g=Gain(1) | Limiter(0, lookahead=0.05)",
    "Limiter(0, lookahead=0.05) | g=Gain(1)",
    "Limiter(0, lookahead=0.03) | g=Gain(1) | Limiter(0, lookahead=0.02)",
    "g=Gain(1) + (Limiter(0, lookahead=0.05) | Gain(0.0))",
    "(Limiter(0, lookahead=0.02) | g=Gain(1) | Limiter(0, lookahead=0.01)) + "
    "(Limiter(0, lookahead=0.05) | Gain(0.0))",
    "Limiter(0, lookahead=0.02) | (Gain(0.0) + (g=Gain(1) | "
    "Limiter(0, lookahead=0.03)))",
    "ch[0]: g=Gain(1) | Limiter(0, lookahead=0.05)",
  };
  static const gsize sizes[] = { 480, 4001, 65536 };
  const gsize n = 20000;
  const Point points[] = { { 0, 1.0 }, { n, 0.0 } };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (chains); i++) {
    g_autofree gchar *launch = g_strdup_printf ("tfxchain name=x chain=\"%s\"",
        i % 2 ? "Gain(1)" : chains[i / 2]);
    g_auto (TfxLine) line;
    g_autoptr (GstElement) x = NULL;
    gdouble *out;

    tfx_line_open (&line, launch, &info, TRUE, n);
    x = tfx_line_get (&line, "x");
    if (i % 2)
      g_object_set (x, "chain", chains[i / 2], NULL);
    bind_points (&line, "x::g::gain", LINEAR, points, 2);
    out = run_ones (&line, n, sizes[__i__]);
    fail_unless_equals_uint64 (line.n_heard, n);
    for (gsize k = 0; k < n; k += GRID)
      fail_unless (fabs (out[k] - (1.0 - (gdouble)k / n)) < 1e-6,
          "%s%s: frame %u is %g", chains[i / 2], i % 2 ? ", set late" : "",
          (guint)k, out[k]);
  }
}
GST_END_TEST;

/* A trigger has a value near its time alone; in between it is as it was. */
GST_START_TEST (test_trigger)
{
  static const Point points[] = { { 3000, 1.0 }, { 6000, 0.25 } };
  static const Point due[] = { { 2900, 0.5 }, { 3100, 1.0 }, { 5900, 1.0 },
    { 6100, 0.25 }, { 9999, 0.25 } };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  GstControlSource *source = gst_trigger_control_source_new ();
  g_auto (TfxLine) line;
  gdouble *out;

  tfx_line_open (&line, "tfxchain name=x chain=\"g=Gain(0.5)\"", &info, TRUE,
      10000);
  g_object_set (source, "tolerance", (gint64)GST_MSECOND, NULL);
  set_points (source, points, 2);
  bind_source (&line, "x::g::gain", source);
  out = run_ones (&line, 10000, 1024);
  for (guint i = 0; i < G_N_ELEMENTS (due); i++)
    fail_unless_equals_float (out[(gsize)due[i].frame], due[i].value);
}
GST_END_TEST;

/* What is disabled changes nothing; what is set by hand then takes its 10 ms. */
GST_START_TEST (test_disabled)
{
  static const Point point = { 0, 1.0 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (6144, 1.0);
  g_autoptr (GstObject) stage = NULL;
  g_auto (TfxLine) line;

  tfx_line_open (&line, "tfxchain name=x chain=\"g=Gain(0.5)\"", &info, TRUE,
      8192);
  bind_points (&line, "x::g::gain", STEP, &point, 1);
  stage = tfx_line_find (&line, "x::g::gain", NULL);
  gst_object_set_control_binding_disabled (stage, "gain", TRUE);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_push (&line, ones, 0, 2048, 0, 0, 0);
  fail_unless_equals_float (line.heard[2047], 0.5);
  gst_object_set_control_binding_disabled (stage, "gain", FALSE);
  /* As by hand: a curve that begins is no jump. */
  tfx_line_push (&line, ones, 2048, 2048, 0, 0, 0);
  fail_unless (line.heard[2048 + 200] > 0.5 && line.heard[2048 + 200] < 1.0);
  fail_unless_equals_float (line.heard[4095], 1.0);
  gst_object_set_control_binding_disabled (stage, "gain", TRUE);
  g_object_set (stage, "gain", 0.25, NULL);
  tfx_line_push (&line, ones, 4096, 2048, 0, 0, 0);
  fail_unless (line.heard[4096 + 200] > 0.25 && line.heard[4096 + 200] < 1.0);
  fail_unless_equals_float (line.heard[6143], 0.25);
}
GST_END_TEST;

static void
count_notify (GObject *object, GParamSpec *spec, gpointer data)
{
  ++*(guint *)data;
}

/* Who listens is told once in a buffer, and not of what stays. */
GST_START_TEST (test_notify)
{
  const Curve curve = { "x::cutoff", 200, 8000, 0.5 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (10240, 1);
  guint n = 0;
  g_autoptr (GstElement) x = NULL;
  g_auto (TfxLine) line;

  tfx_line_open (&line, "tfxbutterworth name=x", &info, TRUE, 10240);
  bind (&line, &curve);
  x = tfx_line_get (&line, "x");
  g_signal_connect (x, "notify::cutoff", G_CALLBACK (count_notify), &n);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, 10240, 1024);
  fail_unless_equals_int (n, 10);
}
GST_END_TEST;

/* Stamps that jitter within a step of the grid change nothing. */
GST_START_TEST (test_jitter)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (20000, 1);
  g_auto (TfxLines) lines;

  for (guint k = 0; k < 2; k++) {
    tfx_line_open (&lines[k], cases[0].launch, &info, TRUE, 22000);
    bind (&lines[k], &cases[0].curves[0]);
    tfx_line_push_segment (&lines[k], 0, 0);
    for (guint64 i = 0; i < 20000; i += 500)
      tfx_line_push (&lines[k], in, i, 500, 0, 0,
          k > 0 && i > 0 ? g_random_int_range (-300000, 300000) : 0);
    fail_unless_equals_int (lines[k].sound->len, 20000);
  }
  fail_unless_equals_float (tfx_check_distance (tfx_line_sound (&lines[0]),
                                tfx_line_sound (&lines[1]), 20000),
      0.0);
}
GST_END_TEST;

/* After a seek the curve's value is there with the first frame; it is followed up to
 * the end of a segment, wherever that lies in the grid. */
static const struct
{
  const gchar *name;
  GstClockTime start;
  gsize n; /* frames up to the end of the segment */
  Point due[2];
} ranges[] = {
  /* Half of the way up, which takes two seconds. */
  { "seek", GST_SECOND, 1024, { { 0, 0.5 }, { 960, 0.51 } } },
  { "end", 0, 1000, { { 0, 0.0 }, { 990, 990.0 / (2 * RATE) } } },
};

GST_START_TEST (test_ranges)
{
  const Curve curve = { "x::g::gain", 0, 1, 0.25 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (1024, 1.0);
  const GstClockTime start = ranges[__i__].start;
  GstSegment segment;
  g_auto (TfxLine) line;

  tfx_line_open (&line, "tfxchain name=x chain=\"g=Gain(0.9)\"", &info, TRUE,
      1024);
  bind (&line, &curve);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_push (&line, ones, 0, 1024, 0, 0, 0);
  gst_pad_push_event (line.src, gst_event_new_flush_start ());
  gst_pad_push_event (line.src, gst_event_new_flush_stop (TRUE));
  g_array_set_size (line.sound, 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = start;
  segment.stop =
      start + gst_util_uint64_scale (ranges[__i__].n, GST_SECOND, RATE);
  gst_pad_push_event (line.src, gst_event_new_segment (&segment));
  tfx_line_push (&line, ones, 0, 1024, start, 0, 0);
  fail_unless_equals_int (line.sound->len, ranges[__i__].n);
  for (guint i = 0; i < 2; i++) {
    const Point *due = &ranges[__i__].due[i];
    const gdouble x = tfx_line_sound (&line)[(gsize)due->frame];

    fail_unless (fabs (x - due->value) < 1e-6, "%s: %.9g", ranges[__i__].name,
        x);
  }
}
GST_END_TEST;

/* ---- everything at once ------------------------------------------------------------ */

static const gchar everything[] =
    "tfxchebyshev name=a ! tfxchain name=x chain=\"eq=ParametricEQ(1000, 1, 0) "
    "| "
    "g=Gain(0.5) | (low=LoButterworth(500) + n=Notch(3000, 5) + "
    "s=HiShelving(4000, 1, 2)) | d=Delay(300, mix=0.3) | r=Echo(441) | "
    "f=DesignableFIR(9000, 63) | v=Reverb()\" ! tfxbutterworth name=b order=8";

static const struct
{
  const gchar *property;
  gdouble from, to;
} moved[] = { { "a::cutoff", 0, 30000 }, { "a::order", 1, 12 },
  { "a::ripple", 0.01, 6 }, { "a::mode", 0, 3 }, { "a::type", 1, 2 },
  { "a::lower-frequency", 0, 30000 }, { "a::upper-frequency", 0, 30000 },
  { "x::eq::frequency", 0, 30000 }, { "x::eq::gain", -24, 24 },
  { "x::eq::q", 0.1, 30 }, { "x::g::gain", 0, 1 },
  { "x::low::cutoff", 10, 24000 }, { "x::low::order", 1, 16 },
  { "x::n::cutoff", 10, 24000 }, { "x::n::q", 0.1, 100 },
  { "x::s::cutoff", 10, 24000 }, { "x::s::gain", 0.1, 4 },
  { "x::d::mix", 0, 1 }, { "x::d::feedback", 0, 0.9 }, { "x::r::mix", 0, 1 },
  { "x::r::decay", 0, 0.9 }, { "x::f::cutoff", 10, 24000 },
  { "x::v::room_size", 0, 1 }, { "x::v::damping", 0, 1 }, { "x::v::mix", 0, 1 },
  { "b::cutoff", 5, 24000 } };

/* Random values at random times, straight lines or steps between them. */
static void
bind_random (TfxLine *line, guint which, gdouble seconds, GRand *rand)
{
  const GstInterpolationMode mode = g_rand_boolean (rand) ? STEP : LINEAR;
  const guint n_points = g_rand_int_range (rand, 1, 20);
  Point points[20];

  for (guint i = 0; i < n_points; i++) {
    gdouble part = g_rand_double (rand);

    /* The low end of a range is met as well as the rest. */
    part = g_rand_boolean (rand) ? part * part * part * part : part;
    points[i].frame = floor (g_rand_double (rand) * seconds * RATE);
    points[i].value =
        moved[which].from + part * (moved[which].to - moved[which].from);
  }
  bind_points (line, moved[which].property, mode, points, n_points);
}

/* What flows through stays finite and bounded, and no state had to be cleared. */
static void
fuzz (guint seed, gdouble seconds)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  const guint64 n = seconds * RATE;
  g_autofree gdouble *in = tfx_check_noise (n, seed);
  gdouble peak = 0.0;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GstMessage *message;
  g_auto (TfxLine) line;

  tfx_line_open (&line, everything, &info, g_rand_boolean (rand), n);
  for (guint i = 0; i < G_N_ELEMENTS (moved); i++) {
    if (g_rand_int_range (rand, 0, 3) > 0)
      bind_random (&line, i, seconds, rand);
  }
  tfx_line_push_segment (&line, 0, 0);
  for (guint64 i = 0, size; i < n; i += size) {
    size = 1 + (guint64)exp (11.0 * g_rand_double (rand));
    size = MIN (size, n - i);
    fail_unless_equals_int (tfx_line_push (&line, in, i, size, 0, 0, 0),
        GST_FLOW_OK);
  }
  gst_pad_push_event (line.src, gst_event_new_eos ());
  for (guint64 i = 0; i < n; i++)
    peak = MAX (peak, isfinite (line.heard[i]) ? fabs (line.heard[i]) : 1e300);
  /* 24 dB of the equaliser and 12 of a shelf, three branches, and what swings. */
  fail_unless (peak < 1000.0, "seed %u: peak %g", seed, peak);
  while ((message = gst_bus_pop_filtered (line.bus,
              GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))) {
    const gchar *text =
        gst_structure_get_name (gst_message_get_structure (message));
    g_autofree gchar *all =
        gst_structure_to_string (gst_message_get_structure (message));

    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING &&
                     !strstr (all, "NaN"),
        "seed %u, %s: %s", seed, text, all);
    gst_message_unref (message);
  }
}

/* Seconds of sound, from the environment or a few. */
GST_START_TEST (test_fuzz)
{
  const gchar *seconds = g_getenv ("TFX_TEST_FUZZ_SECONDS");
  const gdouble all = seconds ? g_ascii_strtod (seconds, NULL) : 4.0;

  for (guint i = 0; 2.0 * i < all; i++)
    fuzz (1 + i, 2.0);
}
GST_END_TEST;

/* A curve that leaves the range again and again is told of once. */
GST_START_TEST (test_told_once)
{
  static const struct
  {
    const gchar *launch, *property, *words;
    gdouble within, beyond;
    GstInterpolationMode mode;
  } values[] = {
    { "tfxbutterworth name=x", "x::cutoff", "cutoff=25000 Hz", 1000, 25000 },
    { "tfxbutterworth name=x", "x::cutoff", "cutoff=24000", 20000, 30000,
        LINEAR },
    { "tfxchain name=x chain=\"f=LoButterworth(1000)\"", "x::f::order",
        "f::order=65", 2, 65 },
  };
  const guint64 n = 48000;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 5);

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    Point points[10];
    g_auto (TfxLine) line;

    tfx_line_open (&line, values[i].launch, &info, TRUE, n);
    for (guint k = 0; k < G_N_ELEMENTS (points); k++)
      points[k] =
          (Point){ 4800 * k, k % 2 ? values[i].beyond : values[i].within };
    bind_points (&line, values[i].property, values[i].mode, points,
        G_N_ELEMENTS (points));
    tfx_line_push_segment (&line, 0, 0);
    tfx_line_play (&line, in, 0, n, 480);
    tfx_check_expect_warning (line.bus, values[i].words, NULL);
    tfx_check_expect_no_warning (line.bus);
  }
}
GST_END_TEST;

/* ---- gaps --------------------------------------------------------------------------- */

/* A curve goes on in a gap that nobody hears: the sound behind it begins with the value
 * that is due there, if the curve is there when the gap begins. */
static const struct
{
  const gchar *name;
  gboolean is_bound_first, is_bound_then;
  gdouble due;
} bindings[] = {
  { "bound from the start", TRUE, TRUE, 0.25 },
  { "bound at the gap", FALSE, TRUE, 0.25 },
  { "gone at the gap", TRUE, FALSE, 1.0 },
};

GST_START_TEST (test_silent_gap)
{
  static const Point leap[] = { { 0, 1.0 }, { 4800, 0.25 } };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (10560, 1.0);
  g_autoptr (GstObject) object = NULL;
  g_auto (TfxLine) line;

  tfx_line_open (&line, GAIN, &info, TRUE, RATE);
  object = tfx_line_find (&line, "x::g::gain", NULL);
  if (bindings[__i__].is_bound_first)
    bind_points (&line, "x::g::gain", STEP, leap, 2);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_push (&line, ones, 0, 480, 0, 0, 0);
  if (!bindings[__i__].is_bound_first)
    bind_points (&line, "x::g::gain", STEP, leap, 2);
  if (!bindings[__i__].is_bound_then) {
    g_autoptr (GstControlBinding) binding =
        gst_object_get_control_binding (object, "gain");

    fail_unless (gst_object_remove_control_binding (object, binding));
  }
  gst_pad_push_event (line.src,
      gst_event_new_gap (10 * GST_MSECOND, 200 * GST_MSECOND));
  fail_unless (line.n_gaps == 1 && line.n_heard == 480, "%s",
      bindings[__i__].name);
  tfx_line_push (&line, ones, 10080, 480, 0, 0, 0);
  fail_unless (line.heard[10080] == bindings[__i__].due &&
                   line.heard[10559] == bindings[__i__].due,
      "%s: %g ... %g", bindings[__i__].name, line.heard[10080],
      line.heard[10559]);
}
GST_END_TEST;

/* What stands still beside a value that moves rings on into a gap: its state lies
 * with that of what moves. */
GST_START_TEST (test_gap_beside_curve)
{
  static const Point points[] = { { 0, 1.0 }, { 4800, 0.25 } };
  const gsize n = 123, n_gap = 1000;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  gdouble peak = 0.0, error;
  g_auto (TfxLines) lines;

  for (guint k = 0; k < 2; k++) {
    tfx_line_open (&lines[k], "tfxbutterworth cutoff=200 ! " GAIN, &info, k,
        n + n_gap);
    bind_points (&lines[k], "x::g::gain", LINEAR, points, 2);
    tfx_line_push_segment (&lines[k], 0, 0);
    tfx_line_push (&lines[k], in, 0, n, 0, 0, 0);
    gst_pad_push_event (lines[k].src,
        gst_event_new_gap (gst_util_uint64_scale (n, GST_SECOND, RATE),
            gst_util_uint64_scale (n_gap, GST_SECOND, RATE)));
    fail_unless_equals_uint64 (lines[k].n_heard, n + n_gap);
  }
  for (gsize i = 0; i < n + n_gap; i++)
    peak = MAX (peak, fabs (lines[0].heard[i]));
  error = tfx_check_distance (lines[1].heard, lines[0].heard, n + n_gap);
  fail_unless (error <= 1e-12 * peak, "off by %g of %g", error, peak);
}
GST_END_TEST;

/* What can follow a curve, and may be silent: of each kind. */
static const struct
{
  const gchar *launch;
  Curve curve;
  gboolean is_set; /* by hand behind the gap */
} quiet[] = {
  { "tfxbutterworth name=x", { "x::cutoff", 300, 3000, 5 } },
  { "tfxfir name=x taps=31 align=false", { "x::cutoff", 300, 3000, 5 } },
  { "tfxchain name=x chain=\"d=Delay(20)\"", { "x::d::mix", 0, 1, 5 } },
  { "tfxchain name=x chain=\"c=Compressor()\"",
      { "x::c::threshold", -60, 0, 5 } },
  { GAIN " ! tfxchain chain=\"Gain(0.9)\"", { "x::g::gain", 1.5, 0.2, 5 },
      TRUE },
};

/* Silence that is marked as a gap goes by unheard, and ends at a point or between two:
 * the sound behind it is the same as without the mark, which stays.  If a value is set
 * by hand behind it, what is heard up to there has the value that the curve had led
 * to, fused or not. */
GST_START_TEST (test_marked_gap)
{
  static const gsize lengths[] = { 3, 160, 175, 1130, 3001 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  const guint i = __i__ / G_N_ELEMENTS (lengths);
  const gsize n_gap = lengths[__i__ % G_N_ELEMENTS (lengths)];
  const gsize n = n_gap + 500;
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxLines) lines;

  memset (in, 0, n_gap * sizeof *in);
  for (guint k = 0; k < 2; k++) {
    TfxLine *line = &lines[k];
    GstBuffer *buffer = tfx_check_stamped (&info, in, n_gap, 0);

    tfx_line_open (line, quiet[i].launch, &info, k || !quiet[i].is_set, n);
    bind (line, &quiet[i].curve);
    tfx_line_push_segment (line, 0, 0);
    if (k == 1 || quiet[i].is_set)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    fail_unless_equals_int (gst_pad_push (line->src, buffer), GST_FLOW_OK);
    if (quiet[i].is_set)
      gst_child_proxy_set (GST_CHILD_PROXY (line->element),
          quiet[i].curve.property, 2.0, NULL);
    tfx_line_push (line, in, n_gap, n - n_gap, 0, 0, 0);
  }
  fail_unless (tfx_check_distance (lines[0].heard, lines[1].heard, n) <= 1e-12,
      "%s: %g", quiet[i].launch,
      tfx_check_distance (lines[0].heard, lines[1].heard, n));
}
GST_END_TEST;

static gpointer
push_long_gap (gpointer pad)
{
  g_object_set_data (pad, "begun", pad);
  gst_pad_push_event (pad,
      gst_event_new_gap (10 * GST_MSECOND, 10000 * 3600 * GST_SECOND));
  g_object_set_data (pad, "ended", pad);
  return NULL;
}

/* Until the gap, which may begin behind a flush, has ended. */
static gpointer
flush (gpointer pad)
{
  while (!g_object_get_data (pad, "ended")) {
    gst_pad_push_event (pad, gst_event_new_flush_start ());
    gst_pad_push_event (pad, gst_event_new_flush_stop (TRUE));
  }
  return NULL;
}

/* A seek does not wait for the end of a gap, which may be hours long. */
GST_START_TEST (test_silent_gap_is_flushed)
{
  static const Point point = { 0, 1.0 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *ones = tfx_check_constant (480, 1.0);
  GThread *gap, *flusher;
  gint64 begin = 0;
  g_auto (TfxLine) line;

  tfx_line_open (&line, GAIN, &info, TRUE, RATE);
  bind_points (&line, "x::g::gain", STEP, &point, 1);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_push (&line, ones, 0, 480, 0, 0, 0);
  gap = g_thread_new ("gap", push_long_gap, line.src);
  do
    fail_unless (tfx_check_wait (&begin), "no thread");
  while (!g_object_get_data (G_OBJECT (line.src), "begun"));
  flusher = g_thread_new ("flusher", flush, line.src);
  while (!g_object_get_data (G_OBJECT (line.src), "ended"))
    fail_unless (tfx_check_wait (&begin), "the gap goes on");
  g_thread_join (gap);
  g_thread_join (flusher);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("automation");

  tfx_check_add_part (tc, test_cuts, 2 * G_N_ELEMENTS (cases), 3);
  tcase_add_loop_test (tc, test_step, 0, 12);
  tcase_add_loop_test (tc, test_delay_grows, 0, 6);
  tcase_add_loop_test (tc, test_look_ahead, 0, 3);
  tcase_add_test (tc, test_trigger);
  tcase_add_test (tc, test_disabled);
  tcase_add_test (tc, test_notify);
  tcase_add_test (tc, test_jitter);
  tcase_add_loop_test (tc, test_ranges, 0, G_N_ELEMENTS (ranges));
  tcase_add_loop_test (tc, test_silent_gap, 0, G_N_ELEMENTS (bindings));
  tcase_add_test (tc, test_gap_beside_curve);
  tcase_add_loop_test (tc, test_marked_gap, 0, 5 * G_N_ELEMENTS (quiet));
  tcase_add_test (tc, test_silent_gap_is_flushed);
  tcase_add_test (tc, test_fuzz);
  tcase_add_test (tc, test_told_once);
  return tfx_check_run (argc, argv, tc);
}
