/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_stats.c: what an operator reads in stats: load, late buffers, recoveries,
 * and how it begins anew.
 */
#include <math.h>

#include "../../gst/base/gsttfxcounts.h"
#include "tfxcheck.h"

#define RATE 48000
#define N 480

static gdouble
get_double (GstElement *element, const gchar *field)
{
  GstStructure *stats = NULL;
  gdouble number = NAN;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, field, &number), "no %s",
      field);
  gst_structure_free (stats);
  return number;
}

static void
push (GstHarness *h, const GstAudioInfo *info, guint n_buffers, gdouble first)
{
  for (guint i = 0; i < n_buffers; i++) {
    gdouble x[N] = { i == 0 ? first : 0.25 };

    gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (info, x, N)));
  }
}

GST_START_TEST (test_fields)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxbutterworth", &info);
  GstElement *e = h->element;
  guint64 timed;

  push (h, &info, 100, 0.25);
  timed = tfx_check_stat (e, "timed");
  fail_unless (timed >= 12 && timed <= 100);
  fail_unless (tfx_check_stat (e, "late") <= timed);
  fail_unless (get_double (e, "load-worst") > 0.0);
  fail_unless (get_double (e, "load-p99") > 0.0);
  fail_unless (get_double (e, "load-p99") <= get_double (e, "load-worst"));
  fail_unless (fabs (get_double (e, "real-time-factor") *
                         (gdouble)tfx_check_stat (e, "process-time") / 1e9 -
                     1.0) < 1e-9);
  fail_unless_equals_uint64 (tfx_check_stat (e, "recoveries"), 0);
  push (h, &info, 2, NAN);
  fail_unless_equals_uint64 (tfx_check_stat (e, "recoveries"), 1);

  g_signal_emit_by_name (e, "reset-stats");
  push (h, &info, 3, 0.25);
  fail_unless_equals_uint64 (tfx_check_stat (e, "buffers"), 3);
  fail_unless_equals_uint64 (tfx_check_stat (e, "frames"), 3 * N);
  fail_unless_equals_uint64 (tfx_check_stat (e, "recoveries"), 0);
  fail_unless (tfx_check_stat (e, "timed") <= 3);
}

GST_END_TEST;

/* The fields in the table of docs/elements.md, and no others. */
GST_START_TEST (test_types)
{
  static const struct
  {
    const gchar *field;
    GType type;
  } fields[] = { { "buffers", G_TYPE_UINT64 }, { "frames", G_TYPE_UINT64 },
    { "deferred", G_TYPE_UINT64 }, { "dispatches", G_TYPE_UINT64 },
    { "launches", G_TYPE_UINT64 }, { "uploads", G_TYPE_UINT64 },
    { "downloads", G_TYPE_UINT64 }, { "stages", G_TYPE_UINT },
    { "sections", G_TYPE_UINT }, { "device", G_TYPE_STRING },
    { "kernel", G_TYPE_STRING }, { "process-time", G_TYPE_UINT64 },
    { "real-time-factor", G_TYPE_DOUBLE }, { "timed", G_TYPE_UINT64 },
    { "late", G_TYPE_UINT64 }, { "load-worst", G_TYPE_DOUBLE },
    { "load-p99", G_TYPE_DOUBLE }, { "recoveries", G_TYPE_UINT64 } };
  static const gchar *const elements[] = { "tfxbutterworth", "tfxchebyshev",
    "tfxfir", "tfxchain" };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    g_autoptr (GstElement) element =
        gst_element_factory_make (elements[i], NULL);
    g_autoptr (GstStructure) stats = NULL;

    g_object_get (element, "stats", &stats, NULL);
    fail_unless_equals_int (gst_structure_n_fields (stats),
        G_N_ELEMENTS (fields));
    for (guint k = 0; k < G_N_ELEMENTS (fields); k++)
      fail_unless (gst_structure_get_field_type (stats, fields[k].field) ==
                       fields[k].type,
          "%s", fields[k].field);
  }
}

GST_END_TEST;

GST_START_TEST (test_load)
{
  g_autoptr (GstStructure) stats = gst_structure_new_empty ("x");
  GstTfxLoad load = { 0 };
  guint64 n;
  gdouble d;

  gst_tfx_load_add_to (&load, stats);
  fail_unless (gst_structure_get_double (stats, "load-p99", &d) && d == 0.0);
  /* 197 that take a tenth, two that take half, one that takes two. */
  for (guint i = 0; i < 200; i++)
    gst_tfx_load_note (&load, i < 197 ? 100 : i < 199 ? 500 : 2000, 1000);
  gst_tfx_load_add_to (&load, stats);
  fail_unless (gst_structure_get_double (stats, "load-worst", &d));
  fail_unless (fabs (d - 2.0) < 1e-6, "%g", d);
  fail_unless (gst_structure_get_double (stats, "load-p99", &d));
  fail_unless (d >= 0.5 && d <= 0.5 * exp2 (0.125) * 1.0001, "%g", d);
  fail_unless (gst_structure_get_uint64 (stats, "late", &n) && n == 1);
  fail_unless (gst_structure_get_uint64 (stats, "timed", &n) && n == 200);
}

GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("stats");

  tcase_add_test (tc, test_fields);
  tcase_add_test (tc, test_types);
  tcase_add_test (tc, test_load);
  return tfx_check_run (argc, argv, tc);
}
