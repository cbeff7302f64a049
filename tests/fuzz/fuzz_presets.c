/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_presets.c: any bytes as a file of presets, the user's own or one in
 * GST_PRESET_PATH, of the element that the bytes name.  Its presets are loaded into
 * an element without a stream, as gst-tfx does, and into one with a stream.
 *
 * Invariants: a preset is loaded, or a message in UTF-8 says why not; each
 * property has a valid value; the stream continues. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "chains.h"
#include "driver.h"
#include "element.h"

#define RATE 48000
#define MAX_TAPS 4096
/* Of a file. */
#define MAX_PRESETS 4

static const struct
{
  const gchar *type, *factory;
} elements[] = {
  { "GstTfxButterworth", "tfxbutterworth" },
  { "GstTfxChain", "tfxchain" },
  { "GstTfxChebyshev", "tfxchebyshev" },
  { "GstTfxFir", "tfxfir" },
};

static gchar *user_folder, *other_folder;
static unsigned long n_loaded, n_refused, n_streams;

/* ---- files ------------------------------------------------------------------------- */

static const gchar *
find_element (const gchar *text, const gchar **factory)
{
  guint found = 0;

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    if (strstr (text, elements[i].type))
      found = i;
  }
  *factory = elements[found].factory;
  return elements[found].type;
}

/* GStreamer ends the process over a file that names its element, and no version. */
static gboolean
has_version (const uint8_t *data, size_t size)
{
  GKeyFile *file = g_key_file_new ();
  gchar *version = NULL;

  if (g_key_file_load_from_data (file, (const gchar *)data, size,
          G_KEY_FILE_KEEP_TRANSLATIONS, NULL))
    version = g_key_file_get_value (file, "_presets_", "version", NULL);
  g_key_file_free (file);
  g_free (version);
  return version != NULL;
}

/* GstPreset reads the files of a type once, and keeps what they hold there. */
static void
forget_presets (const gchar *factory)
{
  GstElementFactory *found = gst_element_factory_find (factory);
  GstPluginFeature *loaded =
      gst_plugin_feature_load (GST_PLUGIN_FEATURE (found));
  const GType type =
      gst_element_factory_get_element_type (GST_ELEMENT_FACTORY (loaded));
  const GQuark quark = g_quark_from_static_string ("GstPreset::presets");
  GKeyFile *file = g_type_get_qdata (type, quark);

  g_type_set_qdata (type, quark, NULL);
  g_clear_pointer (&file, g_key_file_free);
  gst_object_unref (loaded);
  gst_object_unref (found);
}

static void
write_presets (const gchar *folder, const gchar *type, const uint8_t *data,
    size_t size)
{
  gchar *name = g_strconcat (type, ".prs", NULL);
  gchar *path = g_build_filename (folder, name, NULL);

  g_unlink (path);
  if (data)
    fail_unless (
        g_file_set_contents (path, (const gchar *)data, (gssize)size, NULL));
  g_free (path);
  g_free (name);
}

/* The presets that come from the text; NULL: none. */
static gchar **
list_presets (GstElement *element, const gchar *text)
{
  gchar **names = gst_preset_get_preset_names (GST_PRESET (element));
  guint n = 0;

  for (guint i = 0; names && names[i]; i++) {
    if (n < MAX_PRESETS && strstr (text, names[i]))
      names[n++] = names[i];
    else
      g_free (names[i]);
    if (n <= i)
      names[i] = NULL;
  }
  return names;
}

/* ---- what must hold ------------------------------------------------------------------- */

/* Takes all messages; whether a warning or an error is among them. */
static gboolean
pop_messages (GstBus *bus)
{
  gboolean has_any = FALSE;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus,
              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    GError *error = NULL;
    gchar *debug = NULL;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, &debug);
    else
      gst_message_parse_warning (message, &error, &debug);
    FUZZ_MUST (error && *error->message);
    FUZZ_MUST (g_utf8_validate (error->message, -1, NULL));
    FUZZ_MUST (!debug || g_utf8_validate (debug, -1, NULL));
    g_clear_error (&error);
    g_free (debug);
    gst_message_unref (message);
    has_any = TRUE;
  }
  return has_any;
}

static void
check_properties (GstElement *element)
{
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if ((specs[i]->flags & G_PARAM_READWRITE) != G_PARAM_READWRITE ||
        specs[i]->owner_type == GST_TYPE_OBJECT)
      continue;
    g_object_get_property (G_OBJECT (element), specs[i]->name, &value);
    FUZZ_MUST (!g_param_value_validate (specs[i], &value));
    if (G_VALUE_HOLDS_STRING (&value) && g_value_get_string (&value))
      FUZZ_MUST (g_utf8_validate (g_value_get_string (&value), -1, NULL));
    g_value_unset (&value);
  }
  g_free (specs);
}

/* Loads one preset, whose name the element lists. */
static void
load (GstElement *element, GstBus *bus, const gchar *name)
{
  pop_messages (bus);
  if (gst_preset_load_preset (GST_PRESET (element), name)) {
    n_loaded++;
  } else {
    FUZZ_MUST (pop_messages (bus));
    n_refused++;
  }
  check_properties (element);
}

/* What takes long to design or to run is not for here. */
static gboolean
is_cheap (GstElement *element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  gchar *chain = NULL;
  gint n_taps = 0;
  gboolean cheap;

  if (g_object_class_find_property (klass, "taps"))
    g_object_get (element, "taps", &n_taps, NULL);
  if (g_object_class_find_property (klass, "chain"))
    g_object_get (element, "chain", &chain, NULL);
  cheap = n_taps <= MAX_TAPS && (!chain || tfx_chains_is_cheap (chain, RATE));
  g_free (chain);
  return cheap;
}

/* ---- elements ------------------------------------------------------------------------ */

/* Whether all of them are cheap. */
static gboolean
load_without_stream (const gchar *factory, gchar **names)
{
  GstElement *element =
      gst_object_ref_sink (gst_element_factory_make (factory, NULL));
  GstBus *bus = gst_bus_new ();
  gboolean cheap = TRUE;

  gst_element_set_bus (element, bus);
  for (guint i = 0; i < MAX_PRESETS && names[i]; i++) {
    load (element, bus, names[i]);
    cheap &= is_cheap (element);
  }
  /* A preset that does not exist. */
  FUZZ_MUST (!gst_preset_load_preset (GST_PRESET (element), "\n"));
  check_properties (element);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  return cheap;
}

static void
load_with_stream (const gchar *factory, gchar **names)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_check_harness (factory, &info);
  GstBus *bus = tfx_check_bus (h);
  guint64 at = 0;

  gst_harness_set_drop_buffers (h, FALSE);
  fuzz_element_run (h, &info, &at);
  for (guint i = 0; i < MAX_PRESETS && names[i]; i++) {
    load (h->element, bus, names[i]);
    fuzz_element_run (h, &info, &at);
    fuzz_element_run (h, &info, &at);
    n_streams++;
  }
  pop_messages (bus);
  check_properties (h->element);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  gchar *text = g_strndup ((const gchar *)data, size), **names = NULL;
  const gchar *factory, *type = find_element (text, &factory);
  const gboolean is_user = size % 2;
  GstElement *element;

  fuzz_begin (data, size);
  if (has_version (data, size)) {
    write_presets (user_folder, type, is_user ? data : NULL, size);
    write_presets (other_folder, type, is_user ? NULL : data, size);
    forget_presets (factory);
    element = gst_object_ref_sink (gst_element_factory_make (factory, NULL));
    names = list_presets (element, text);
    gst_object_unref (element);
  }
  if (names && load_without_stream (factory, names))
    load_with_stream (factory, names);
  g_strfreev (names);
  g_free (text);
  return 0;
}

#ifndef TFX_FUZZER

#include "chaingen.h"

static const char *const tokens[] = { "\n", "\n[A]\n", "\n[Voice]\n", "[", "]",
  "=", "#", "_", "_meta/", "\\n", "\\s", "\\", ";", "<", ">", "\"", "(double)",
  "[de]=", "\xff", "\xc3\xa4", "version=3.0\n", "version=1.0.0\n",
  "element-name=GstTfxFir\n", "nan", "inf", "-1", "0", "1e999", "1e-320",
  "99999999999", "true", "auto", "low-pass" };

static const char *const keys[] = { "mode", "cutoff", "lower-frequency",
  "upper-frequency", "order", "type", "ripple", "attenuation", "taps", "window",
  "beta", "kernel", "kernel-location", "method", "align", "delay", "chain",
  "device", "fuse", "nothing" };

static const char *const values[] = { "low-pass", "high-pass", "band-reject",
  "1", "2", "3", "0.5", "100", "1000", "20000", "48000", "-1", "nan", "1e999",
  "kaiser", "hann", "direct", "true", "< 1, 0.5 >", "<>", "none.wav", "",
  "Gain(2)", "Gain(", "Mix([[1, 2]])", "LoButterworth(1000) | Gain(-1)",
  "\xff" };

static const char *
pick (uint64_t *state, const char *const *texts, unsigned n)
{
  return texts[chaingen_below (state, n)];
}

/* A file of presets, a few keys each, which mostly have values of theirs. */
static size_t
generate (uint64_t *state, char *text, size_t size)
{
  GString *file = g_string_new (NULL);
  const unsigned n_groups = 1 + chaingen_below (state, 4);
  size_t n;

  g_string_printf (file, "[_presets_]\nversion=%s\nelement-name=%s\n",
      chaingen_below (state, 2) ? "2.0.0" : "1.0.0",
      elements[chaingen_below (state, G_N_ELEMENTS (elements))].type);
  for (unsigned i = 0; i < n_groups; i++) {
    g_string_append_printf (file, "[%s%u]\n",
        chaingen_below (state, 4) ? "P" : "Voice", i);
    for (unsigned k = chaingen_below (state, 5); k > 0; k--)
      g_string_append_printf (file, "%s%s=%s\n",
          chaingen_below (state, 2) ? "_meta/" : "",
          pick (state, keys, G_N_ELEMENTS (keys)),
          pick (state, values, G_N_ELEMENTS (values)));
  }
  n = MIN (file->len, size);
  memcpy (text, file->str, n);
  g_string_free (file, TRUE);
  return n;
}

static bool
judge (unsigned long n_runs, char *line, size_t size)
{
  g_snprintf (line, size, "%lu presets loaded, %lu refused, %lu in a stream",
      n_loaded, n_refused, n_streams);
  return n_loaded >= n_runs / 2 && n_refused >= n_runs / 4 &&
         n_streams >= n_runs / 2;
}

/* GstPreset looks in these folders, and in those that the variable named before. */
static char *
make_folders (void)
{
  char *folder = fuzz_make_folder ();
  const gchar *before = g_getenv ("GST_PRESET_PATH");
  gchar *path;

  user_folder = g_build_filename (folder, "gstreamer-1.0", "presets", NULL);
  other_folder = g_build_filename (folder, "other", NULL);
  g_mkdir_with_parents (user_folder, 0700);
  g_mkdir_with_parents (other_folder, 0700);
  path = g_strjoin (G_SEARCHPATH_SEPARATOR_S, other_folder, before, NULL);
  g_setenv ("GST_PRESET_PATH", path, TRUE);
  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  g_free (path);
  return folder;
}

int
main (int argc, char **argv)
{
  const FuzzTarget target = { .tokens = tokens,
    .n_tokens = G_N_ELEMENTS (tokens),
    .generate = generate,
    .judge = judge };
  char *folder = make_folders ();
  const int status = fuzz_element_main (&target, argc, argv);

  fuzz_remove_folder (folder);
  free (folder);
  g_free (user_folder);
  g_free (other_folder);
  return status;
}

#endif /* TFX_FUZZER */
