/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_element.c: any text as the chain of a tfxchain that has a stream, where it
 * may not fit.  Every child is asked for everything, each of its properties is set,
 * and samples run.
 *
 * What must hold: as many frames come out as go in, unless the number of channels
 * changes; a refused text leaves the one before it. */
#include <stdio.h>
#include <string.h>

#include "chains.h"
#include "driver.h"
#include "element.h"

#define RATE 48000

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

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const gint channels[] = { 1, 2, 3 };
  gchar *text = g_strndup ((const gchar *)data, size), *was, *now;
  const GstAudioInfo info = tfx_check_f32 (RATE, channels[size % 3]);
  GstHarness *h;
  guint64 at = 0;
  GstBus *bus;

  fuzz_begin (data, size);
  if (!tfx_chains_is_cheap (text, RATE)) {
    g_free (text);
    return 0;
  }
  h = tfx_chains_harness ("Gain(0.5)", &info);
  gst_harness_set_drop_buffers (h, FALSE);
  bus = tfx_check_bus (h);
  fuzz_element_run (h, &info, &at);
  g_object_get (h->element, "chain", &was, NULL);
  g_object_set (h->element, "chain", text, NULL);
  g_object_get (h->element, "chain", &now, NULL);
  FUZZ_MUST (now && g_utf8_validate (now, -1, NULL));
  if (strcmp (was, now) == 0)
    n_refused++;
  else
    n_taken++;
  ask_all (h->element);
  for (guint i = 0; i < 3; i++)
    fuzz_element_run (h, &info, &at);
  ask_all (h->element);
  fuzz_element_run (h, &info, &at);

  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
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
  "LoButterworth(1000)", "Denoise()", "x=" };

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

int
main (int argc, char **argv)
{
  const FuzzTarget target = { tokens, G_N_ELEMENTS (tokens), generate, false,
    judge };

  return fuzz_element_main (&target, argc, argv);
}

#endif /* TFX_FUZZER */
