/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_class_curves.c: every number of every class of the catalogue follows a
 * curve, and what comes out does not depend on how the stream is cut.
 */
#include <math.h>

#include <glib/gstdio.h>
#include <gst/controller/controller.h>

#include "../dsp/classcalls.h"
#include "line.h"

#define RATE 48000
#define N_MOST 36000

/* A triangle, from what the property is to where it goes. */
static void
bind (GstObject *child, const gchar *property, gdouble from, gdouble to,
    gdouble frequency)
{
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (guint i = 0; i <= 2.0 * frequency; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        i / (2.0 * frequency) * GST_SECOND, i % 2 ? to : from);
  fail_unless (gst_object_add_control_binding (child,
      gst_direct_control_binding_new_absolute (child, property, source)));
}

/* An order that must be even is none on the way. */
static gboolean
has_gaps (const TfxClass *klass, const TfxParam *param)
{
  return (strstr (klass->name, "LinkwitzRiley") ||
             !strcmp (klass->name, "Multiband")) &&
         strcmp (param->name, "order") == 0;
}

/* All numbers of the stage. */
static void
bind_all (TfxLine *line, const TfxClass *klass)
{
  g_autoptr (GstElement) element = tfx_line_get (line, "x");
  g_autoptr (GObject) child =
      gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), "s");
  guint n = 0;

  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    gchar *name = g_strdelimit (g_strdup (param->name), "_", '-');
    GParamSpec *spec =
        g_object_class_find_property (G_OBJECT_GET_CLASS (child), name);
    const double *way = class_number_way (klass, param);
    g_auto (GValue) value = G_VALUE_INIT;

    g_free (name);
    if (!spec || !(spec->flags & GST_PARAM_CONTROLLABLE) || !way ||
        class_number_is_fixed (param) || has_gaps (klass, param) ||
        !g_value_type_transformable (spec->value_type, G_TYPE_DOUBLE))
      continue;
    g_value_init (&value, G_TYPE_DOUBLE);
    g_object_get_property (child, spec->name, &value);
    bind (GST_OBJECT (child), spec->name, g_value_get_double (&value), *way,
        7.0 + 2.0 * n++);
  }
}

/* Loudness is what half a second has. */
static guint64
find_length (const gchar *call)
{
  return g_str_has_prefix (call, "Loudness(") ? N_MOST : N_MOST / 4;
}

/* In buffers of `size`, or up to that at random; what comes out, to be freed.  Its
 * numbers stay where they are unless there is a class. */
static gdouble *
run (const gchar *call, const TfxClass *klass, const gdouble *in, gsize size,
    gboolean at_random)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gchar *launch =
      g_strdup_printf ("tfxchain name=x chain=\"s=%s\"", call);
  const guint64 n_frames = find_length (call);
  TfxLine line;
  gdouble *out;

  tfx_line_open (&line, launch, &info, TRUE, n_frames);
  if (klass)
    bind_all (&line, klass);
  tfx_line_push_segment (&line, 0, 0);
  for (guint64 i = 0, n; i < n_frames; i += n) {
    n = at_random ? (gsize)g_random_int_range (1, size + 1) : size;
    n = MIN (n, n_frames - i);
    fail_unless_equals_int (tfx_line_push (&line, in, i, n, 0, 0, 0),
        GST_FLOW_OK);
  }
  tfx_line_end (&line);
  fail_unless_equals_uint64 (line.n_heard, n_frames);
  out = g_memdup2 (line.heard, n_frames * sizeof *out);
  tfx_line_close (&line);
  return out;
}

/* The first of n frames that differs, or n. */
static guint
find_difference (const gdouble *a, const gdouble *b, guint n, gdouble bound)
{
  guint i = 0;

  while (i < n && fabs (a[i] - b[i]) <= bound)
    i++;
  return i;
}

/* Others have lists, which no curve sets; and one channel has no width. */
static gboolean
has_numbers (const TfxClass *klass)
{
  return !(!strcmp (klass->name, "SOS") || !strcmp (klass->name, "FIR") ||
           !strcmp (klass->name, "Mix") || !strcmp (klass->name, "Curve") ||
           !strcmp (klass->name, "LinearPhase") ||
           !strcmp (klass->name, "Width"));
}

/* Loops over the calls. */
GST_START_TEST (test_class)
{
  static const gsize sizes[] = { 64, 1111, 2000 };
  const gchar *call = class_calls[__i__];
  g_autofree gchar *name = g_strndup (call, strcspn (call, "("));
  const TfxClass *klass = tfx_catalogue_find (name);
  /* Transforms round otherwise; a fraction of a sample is a FIR too. */
  const gdouble bound =
      klass->kind == TFX_CLASS_FIR || !strcmp (name, "Align") ? 1e-6 : 0.0;
  const guint n = find_length (call);
  g_autofree gdouble *in = tfx_check_noise (n, 1), *whole = NULL;
  gdouble *out;

  whole = run (call, klass, in, n, FALSE);
  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    out = run (call, klass, in, sizes[k], k == 2);
    fail_unless (find_difference (out, whole, n, bound) == n,
        "%s in buffers of %u: frame %u", call, (guint)sizes[k],
        find_difference (out, whole, n, bound));
    g_free (out);
  }
  out = run (call, NULL, in, n, FALSE);
  fail_unless_equals_int (find_difference (out, whole, n, 1e-4) < n,
      has_numbers (klass));
  g_free (out);
}
GST_END_TEST;

/* How many lists there are among the properties; none of them takes a curve. */
static guint
refuse_lists (GObject *object)
{
  guint n_specs, n = 0;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n_specs);

  for (guint i = 0; i < n_specs; i++) {
    GstControlSource *source;
    GstControlBinding *binding;
    gboolean is_added = TRUE;

    if (specs[i]->value_type != GST_TYPE_ARRAY)
      continue;
    source = gst_interpolation_control_source_new ();
    binding = gst_direct_control_binding_new_absolute (GST_OBJECT (object),
        specs[i]->name, source);
    ASSERT_CRITICAL (
        is_added =
            gst_object_add_control_binding (GST_OBJECT (object), binding));
    fail_unless (!is_added && !(specs[i]->flags & GST_PARAM_CONTROLLABLE), "%s",
        specs[i]->name);
    gst_object_unref (gst_object_ref_sink (binding));
    gst_object_unref (source);
    n++;
  }
  g_free (specs);
  return n;
}

/* A binding sets one number: who binds a list is told at once, rather than that
 * nothing moves. */
GST_START_TEST (test_lists)
{
  static const gchar *const calls[] = { "FIR([1, 2])", "Mix([[1]])",
    "SOS([[1, 0, 0, 1, 0, 0]])", "GraphicEQ([1, 2])", "Curve([[100, 1]])",
    "Butterworth('bandpass', [100, 200])", "Multiband(100, None, None)" };
  GstElement *element = gst_element_factory_make ("tfxfir", NULL);

  fail_unless_equals_int (refuse_lists (G_OBJECT (element)), 1);
  gst_object_unref (element);
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++) {
    g_autofree gchar *chain = g_strdup_printf ("s=%s", calls[i]);
    g_autoptr (GObject) child = NULL;

    element = gst_element_factory_make ("tfxchain", NULL);
    g_object_set (element, "chain", chain, NULL);
    child = gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), "s");
    fail_unless (refuse_lists (child) == 1, "%s", calls[i]);
    gst_object_unref (element);
  }
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("class_curves");
  int n = 0;

  g_free (tfx_check_write (CLASS_CALLS_FILE, "0.5\n0.25\n0.1\n"));
  if (g_chdir (tfx_check_folder ()) != 0)
    return 1;
  while (class_calls[n])
    n++;
  tcase_add_loop_test (tc, test_class, 0, n);
  tcase_add_test (tc, test_lists);
  return tfx_check_run (argc, argv, tc);
}
