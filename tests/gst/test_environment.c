/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_environment.c: an environment variable of the plugin that names nothing
 * is told of, once, and changes nothing.
 *
 * The words that the warning must hold are in TFX_EXPECT, separated by "|"; if
 * that is empty there must be none.
 */
#include <string.h>

#include "tfxcheck.h"

static GString *warnings;
static guint n_warnings;

static void
note_warning (const gchar *domain, GLogLevelFlags level, const gchar *message,
    gpointer unused)
{
  n_warnings++;
  g_string_append_printf (warnings, "%s\n", message);
}

GST_START_TEST (test_told)
{
  const gchar *expected = g_getenv ("TFX_EXPECT");
  g_auto (GStrv) words = g_strsplit (expected, "|", -1);
  GstAudioInfo info = tfx_check_f32 (48000, 1);
  gdouble in[] = { 1, 0.5, 0.25, 0.125 }, *out;

  for (guint i = 0; i < 2; i++) {
    g_autoptr (TfxHarness) h =
        tfx_check_harness ("tfxchain chain=Gain(2)", &info);

    out = tfx_check_filter (h, &info, in, 4, 4);
    for (guint k = 0; k < 4; k++)
      fail_unless_equals_float (out[k], 2.0 * in[k]);
    g_free (out);
  }
  fail_unless_equals_int (n_warnings, *expected ? 1 : 0);
  for (gchar **word = words; *word; word++)
    fail_unless (strstr (warnings->str, *word), "no '%s' in: %s", *word,
        warnings->str);
}
GST_END_TEST;

/* The plugin may be loaded by gst_init(). */
int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("environment");

  warnings = g_string_new (NULL);
  g_log_set_handler ("GStreamer-tfx", G_LOG_LEVEL_WARNING, note_warning, NULL);
  tcase_add_test (tc, test_told);
  return tfx_check_run (argc, argv, tc);
}
