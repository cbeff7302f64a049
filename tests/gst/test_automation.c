/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_automation.c: properties under control, on the grid inside of buffers.
 */
#include <gst/controller/controller.h>

#include "line.h"

#define RATE 48000
#define GRID TFX_GRID_FRAMES

/* ---- curves --------------------------------------------------------------------- */

/* A property and the curve that it follows: a triangle between two values. */
typedef struct
{
  const gchar *object; /* "x", or "x::eq" for a child */
  const gchar *property;
  gdouble from, to;
  gdouble frequency; /* of the triangle, for two seconds */
} Curve;

static GstObject *
find_object (TfxLine *line, const gchar *path)
{
  gchar **parts = g_strsplit (path, "::", 2);
  GstElement *element = tfx_line_get (line, parts[0]);
  GstObject *object = GST_OBJECT (element);

  if (parts[1]) {
    object = GST_OBJECT (
        gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element),
            parts[1]));
    fail_unless (object != NULL, "no child %s", path);
    gst_object_unref (element);
  }
  g_strfreev (parts);
  return object;
}

static void
bind (TfxLine *line, const Curve *curve)
{
  GstObject *object = find_object (line, curve->object);
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (guint i = 0; i <= 4.0 * curve->frequency; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        i / (2.0 * curve->frequency) * GST_SECOND,
        i % 2 ? curve->to : curve->from);
  fail_unless (gst_object_add_control_binding (object,
      gst_direct_control_binding_new_absolute (object, curve->property,
          source)));
  gst_object_unref (source);
  gst_object_unref (object);
}

/* ---- the same however it is cut ------------------------------------------------------ */

typedef struct
{
  const gchar *launch;
  Curve curves[8];
  gdouble fused_error; /* of fused against apart, of a full scale of 1 */
} Case;

static const Case cases[] = {
  { "tfxbutterworth name=x order=4", { { "x", "cutoff", 200, 8000, 3 } } },
  { "tfxbutterworth name=x order=16 mode=high-pass",
      { { "x", "cutoff", 50, 2000, 7 } } },
  { "tfxchebyshev name=x type=1 mode=band-pass order=3",
      { { "x", "lower-frequency", 200, 800, 3 },
          { "x", "upper-frequency", 1000, 9000, 5 },
          { "x", "ripple", 0.1, 3, 2 } } },
  { "tfxchebyshev name=x type=2",
      { { "x", "cutoff", 500, 5000, 4 }, { "x", "attenuation", 20, 80, 3 } } },
  { "tfxchain name=x chain=\"eq=ParametricEQ(1000, 1, 0) | g=Gain(0.5) | "
    "(low=LoButterworth(500) + n=Notch(3000, 5)) | d=Delay(300, mix=0.3)\"",
      { { "x::eq", "gain", -12, 12, 3 }, { "x::eq", "q", 0.5, 4, 2 },
          { "x::g", "gain", 0.1, 1, 5 }, { "x::low", "cutoff", 100, 5000, 1 },
          { "x::n", "cutoff", 2000, 4000, 4 } } },
  { "tfxbutterworth name=x order=6 ! tfxchain name=y "
    "chain=\"eq=ParametricEQ(300, 2, 3)\" ! tfxchebyshev name=z",
      { { "x", "cutoff", 2000, 8000, 3 }, { "y::eq", "gain", -6, 6, 5 },
          { "z", "cutoff", 1000, 4000, 2 } } },
};

/* Buffers of up to `most` frames, at random; all of them as long if not. */
static void
play (TfxLine *line, const gdouble *in, guint64 n_frames, gsize most,
    gboolean at_random)
{
  for (guint64 i = 0, n; i < n_frames; i += n) {
    n = at_random ? (gsize)g_random_int_range (1, most + 1) : most;
    n = MIN (n, n_frames - i);
    fail_unless_equals_int (tfx_line_push (line, in, i, n, 0, 0, 0),
        GST_FLOW_OK);
  }
}

/* What comes out, to be freed. */
static gdouble *
run (const Case *c, const gdouble *in, guint64 n_frames, gsize most,
    gboolean at_random, gboolean fuse)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  TfxLine line;
  gdouble *out;

  tfx_line_open (&line, c->launch, &info, fuse, n_frames);
  for (const Curve *curve = c->curves; curve->object; curve++)
    bind (&line, curve);
  tfx_line_push_segment (&line, 0, 0);
  play (&line, in, n_frames, most, at_random);
  tfx_line_end (&line);
  fail_unless_equals_uint64 (line.n_heard, n_frames);
  out = g_memdup2 (line.heard, n_frames * 2 * sizeof *out);
  tfx_line_close (&line);
  return out;
}

static void
expect_same (const Case *c, const gdouble *a, const gdouble *b, gsize n,
    const gchar *how)
{
  gsize i = 0;

  while (i < n && a[i] == b[i])
    i++;
  fail_unless (i == n, "%s, %s: frame %u is off by %g", c->launch, how,
      (guint)(i / 2), a[i] - b[i]);
}

GST_START_TEST (test_cuts)
{
  static const gsize sizes[] = { 64, 1024, 33, 5000 };
  const Case *c = &cases[__i__ / 2];
  const gboolean fuse = __i__ % 2;
  const guint64 n = 70000;
  gdouble *in = tfx_check_noise (2 * n, 1), *whole, *out;
  gchar how[80];

  whole = run (c, in, n, 65536, FALSE, fuse);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_snprintf (how, sizeof how, "buffers of %u", (guint)sizes[i]);
    out = run (c, in, n, sizes[i], FALSE, fuse);
    expect_same (c, out, whole, 2 * n, how);
    g_free (out);
  }
  for (guint i = 0; i < 3; i++) {
    static const gsize most[] = { 100, 3000, 65536 };

    g_snprintf (how, sizeof how, "at random up to %u", (guint)most[i]);
    out = run (c, in, n, most[i], TRUE, fuse);
    expect_same (c, out, whole, 2 * n, how);
    g_free (out);
  }
  if (fuse) {
    out = run (c, in, n, 1000, FALSE, FALSE);
    fail_unless (tfx_check_distance (out, whole, 2 * n) < 1e-12,
        "%s: fused is off by %g", c->launch,
        tfx_check_distance (out, whole, 2 * n));
    g_free (out);
  }
  g_free (whole);
  g_free (in);
}
GST_END_TEST;

static Suite *
automation_suite (void)
{
  Suite *s = suite_create ("automation");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_cuts, 0, 2 * G_N_ELEMENTS (cases));
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, automation_suite ());
}
