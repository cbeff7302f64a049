/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_element.c: any text as the chain of a tfxchain that has a stream, where it
 * may not fit.  Every child is asked for everything, each of its properties is set,
 * and samples run.
 *
 * What must hold: as many frames come out as go in, unless the number of channels
 * changes; a refused text leaves the one before it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chains.h"
#include "driver.h"

#define RATE 48000
#define N 256

static unsigned long n_taken, n_refused, n_children;

/* ---- questions ---------------------------------------------------------------------- */

static GVariant *
make_doubles (gdouble a, gdouble b)
{
  const gdouble numbers[2] = { a, b };

  return g_variant_ref_sink (g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE,
      numbers, 2, sizeof *numbers));
}

static void
ask_signal (gpointer object, const gchar *name, gboolean has_channel,
    guint channel)
{
  GVariant *asked = make_doubles (100.0, -20.0), *answer = NULL;

  if (has_channel)
    g_signal_emit_by_name (object, name, asked, channel, &answer);
  else
    g_signal_emit_by_name (object, name, asked, &answer);
  g_clear_pointer (&answer, g_variant_unref);
  g_variant_unref (asked);
}

/* Each property is read, and set to what it was. */
static void
ask_properties (GObject *object)
{
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (!(specs[i]->flags & G_PARAM_READABLE) ||
        specs[i]->owner_type == GST_TYPE_OBJECT)
      continue;
    g_object_get_property (object, specs[i]->name, &value);
    if (specs[i]->flags & G_PARAM_WRITABLE)
      g_object_set_property (object, specs[i]->name, &value);
    g_value_unset (&value);
  }
  g_free (specs);
}

static void
ask_all (GstElement *element)
{
  const guint n =
      gst_child_proxy_get_children_count (GST_CHILD_PROXY (element));
  GstQuery *latency = gst_query_new_latency ();
  GstStructure *stats;

  for (guint i = 0; i < n; i++) {
    GObject *child =
        gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (element), i);

    for (guint channel = 0; channel < 4; channel++)
      ask_signal (child, "response", TRUE, channel);
    ask_signal (child, "response", TRUE, G_MAXUINT);
    ask_signal (child, "gain-curve", FALSE, 0);
    ask_properties (child);
    g_object_unref (child);
    n_children++;
  }
  for (guint channel = 0; channel < 4; channel++)
    ask_signal (element, "response", TRUE, channel);
  gst_element_query (element, latency);
  gst_query_unref (latency);
  g_object_get (element, "stats", &stats, NULL);
  gst_structure_free (stats);
}

/* ---- a stream ------------------------------------------------------------------------ */

typedef struct
{
  GstHarness *h;
  GstAudioInfo info;
  guint64 at;
} Stream;

static void
run (Stream *stream)
{
  static gdouble noise[N * 3];

  for (guint i = 0; i < G_N_ELEMENTS (noise); i++)
    noise[i] = sin (i * i);
  /* The text may have become one that the stream cannot run. */
  gst_harness_push (stream->h,
      tfx_check_stamped (&stream->info, noise, N, stream->at));
  stream->at += N;
  for (GstBuffer *buffer; (buffer = gst_harness_try_pull (stream->h));)
    gst_buffer_unref (buffer);
}

static void
ignore_log (const gchar *domain, GLogLevelFlags level, const gchar *message,
    gpointer data)
{
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const gint channels[] = { 1, 2, 3 };
  gchar *text = g_strndup ((const gchar *)data, size), *was, *now;
  Stream stream = { .info = tfx_check_f32 (RATE, channels[size % 3]) };
  GstBus *bus;

  fuzz_begin (data, size);
  if (!tfx_chains_is_cheap (text, RATE)) {
    g_free (text);
    return 0;
  }
  stream.h = tfx_chains_harness ("Gain(0.5)", &stream.info);
  gst_harness_set_drop_buffers (stream.h, FALSE);
  bus = tfx_check_bus (stream.h);
  run (&stream);
  g_object_get (stream.h->element, "chain", &was, NULL);
  g_object_set (stream.h->element, "chain", text, NULL);
  g_object_get (stream.h->element, "chain", &now, NULL);
  FUZZ_MUST (now && g_utf8_validate (now, -1, NULL));
  if (strcmp (was, now) == 0)
    n_refused++;
  else
    n_taken++;
  ask_all (stream.h->element);
  for (guint i = 0; i < 3; i++)
    run (&stream);
  ask_all (stream.h->element);
  run (&stream);

  gst_element_set_bus (stream.h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (stream.h);
  g_free (was);
  g_free (now);
  g_free (text);
  return 0;
}

#ifndef TFX_FUZZER

#include "chaingen.h"

static const char *const tokens[] = { "|", "+", "(", ")",
  "ch[0]: ", "ch[1]: ", "ch[5]: ", ";", "Mix([[1, 2]])", "Mix([[1], [2], [3]])",
  "Mix([[1, 0], [0, 1]])", "Gain(2)", "Limiter(-1)", "Loudness(-23)",
  "Delay(100)", "FIR([1, 2])", "Compressor()", "Reverb()", "Normalize()",
  "LoButterworth(1000)", "x=" };

static size_t
generate (uint64_t *state, char *text, size_t size)
{
  return chaingen_write (state, 1 + chaingen_below (state, 4), text, size);
}

static bool
judge (unsigned long n_runs, char *line, size_t size)
{
  g_snprintf (line, size, "%lu texts taken, %lu refused, %lu stages asked",
      n_taken, n_refused, n_children);
  return n_taken >= n_runs / 10 && n_refused >= n_runs / 10 &&
         n_children >= n_runs;
}

static gint n_arguments, status = 1;
static gchar **arguments;

/* The helpers of the tests of elements only work in one. */
GST_START_TEST (test_fuzz)
{
  const FuzzTarget target = { tokens, G_N_ELEMENTS (tokens), generate, false,
    judge };

  status = fuzz_main (&target, n_arguments, arguments);
}

GST_END_TEST;

int
main (int argc, char **argv)
{
  Suite *suite = suite_create ("fuzz");
  TCase *tcase = tcase_create ("element");
  SRunner *runner = srunner_create (suite);

  n_arguments = argc;
  arguments = argv;
  gst_init (NULL, NULL);
  g_log_set_default_handler (ignore_log, NULL);
  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_fuzz);
  srunner_set_fork_status (runner, CK_NOFORK);
  srunner_run_all (runner, CK_SILENT);
  if (srunner_ntests_failed (runner) > 0)
    fuzz_fail ("what the helpers of the tests must find", 0);
  srunner_free (runner);
  return status;
}

#endif /* TFX_FUZZER */
