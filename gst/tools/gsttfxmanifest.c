/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmanifest.c: a file that records how outputs were made: lines of JSON.
 *
 * The first line has the number of the others, which shows whether lines were lost.  Each
 * other line is an object of one output.  Values are texts and numbers, so it takes little
 * to read them.
 */
#include "gsttfxmanifest.h"

#include <stdio.h>
#include <string.h>

#include "gsttfxjson.h"
#include "gsttfxreport.h"

#define HEAD "{\"manifest\": \"gst-tfx\", \"format\": 1, \"files\": %u}\n"

typedef struct Entry
{
  gchar *line;
  GHashTable *values; /* numbers as they are written */
} Entry;

struct GstTfxManifest
{
  gchar *path;
  GPtrArray *entries;
  GHashTable *outputs; /* to numbers of entries */
};

/* Options that change samples.  Those that were not given have no value. */
static const struct
{
  const gchar *key;
  glong offset;
} kept[] = {
  { "chain", G_STRUCT_OFFSET (GstTfxOptions, chain) },
  { "loudness", G_STRUCT_OFFSET (GstTfxOptions, loudness) },
  { "true_peak", G_STRUCT_OFFSET (GstTfxOptions, true_peak) },
  { "codec", G_STRUCT_OFFSET (GstTfxOptions, codec) },
  { "dither", G_STRUCT_OFFSET (GstTfxOptions, dither) },
  { "noise_shaping", G_STRUCT_OFFSET (GstTfxOptions, noise_shaping) },
  { "bits", G_STRUCT_OFFSET (GstTfxOptions, bits) },
  { "rate", G_STRUCT_OFFSET (GstTfxOptions, rate) },
  { "tail", G_STRUCT_OFFSET (GstTfxOptions, tail) },
};

static const gchar *const needed[] = { "output", "input", "chain",
  "options_sha256", "gst_tfx", "gstreamer", "kernel", "input_rate",
  "input_channels", "input_frames", "input_sha256", "result_sha256",
  "output_rate", "output_channels", "output_frames", "output_sha256" };

static void
free_entry (gpointer data)
{
  Entry *entry = data;

  g_free (entry->line);
  g_hash_table_unref (entry->values);
  g_free (entry);
}

/* ---- reading ------------------------------------------------------------------------ */

/* The inverse of gst_tfx_json_quote().  NULL if there is none; else free it. */
static gchar *
parse_text (const gchar **at)
{
  static const gchar letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  GString *text = g_string_new (NULL);
  const gchar *c = *at, *letter;
  gboolean is_good = *c == '"';
  gchar digits[5] = "";
  guint64 code;

  for (c++; is_good && *c != '"'; c++) {
    is_good = (guchar)*c >= 0x20;
    if (*c != '\\') {
      g_string_append_c (text, *c);
    } else if (*++c && (letter = strchr (letters, *c))) {
      g_string_append_c (text, meant[letter - letters]);
    } else {
      is_good = *c == 'u' && strspn (c + 1, "0123456789abcdefABCDEF") >= 4;
      code =
          is_good ? g_ascii_strtoull (memcpy (digits, c + 1, 4), NULL, 16) : 0;
      c += is_good ? 4 : 0;
      if (code >= 0xdc80 && code <= 0xdcff)
        g_string_append_c (text, (gchar)(code & 0xff));
      else if (code > 0 && (code < 0xd800 || code > 0xdfff))
        g_string_append_unichar (text, (gunichar)code);
      else
        is_good = FALSE;
    }
  }
  *at = c + 1;
  return g_string_free (text, !is_good);
}

/* An object whose values are texts and numbers, null, true or false. */
static gboolean
parse_line (const gchar *line, GHashTable *values)
{
  const gchar *at = line + strspn (line, " ");
  gchar *key, *value;

  if (*at != '{')
    return FALSE;
  do {
    at++;
    at += strspn (at, " ");
    key = parse_text (&at);
    at += key ? strspn (at, " ") : 0;
    if (!key || *at != ':') {
      g_free (key);
      return FALSE;
    }
    at++;
    at += strspn (at, " ");
    if (*at == '"') {
      value = parse_text (&at);
    } else {
      const gsize n = strspn (at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");

      value = n > 0 ? g_strndup (at, n) : NULL;
      at += n;
    }
    if (!g_hash_table_insert (values, key, value) || !value)
      return FALSE;
    at += strspn (at, " ");
  } while (*at == ',');
  return *at == '}' && at[1 + strspn (at + 1, " \r")] == '\0';
}

/* Takes the place of an entry of the same output.  NULL, or what is wrong with the line; free
 * it. */
static gchar *
add_line (GstTfxManifest *manifest, const gchar *line)
{
  Entry *entry = g_new (Entry, 1);
  const gchar *output;
  gpointer index;
  gchar *fault = NULL;

  entry->line = g_strdup (line);
  entry->values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!parse_line (line, entry->values))
    fault = g_strdup ("it is not a whole JSON object of texts and numbers");
  for (gsize i = 0; !fault && i < G_N_ELEMENTS (needed); i++) {
    if (!g_hash_table_lookup (entry->values, needed[i]))
      fault = g_strdup_printf ("it has no \"%s\"", needed[i]);
  }
  if (fault) {
    free_entry (entry);
    return fault;
  }
  output = g_hash_table_lookup (entry->values, "output");
  if (g_hash_table_lookup_extended (manifest->outputs, output, NULL, &index)) {
    free_entry (
        g_ptr_array_index (manifest->entries, GPOINTER_TO_UINT (index)));
    g_ptr_array_index (manifest->entries, GPOINTER_TO_UINT (index)) = entry;
  } else {
    g_hash_table_insert (manifest->outputs, g_strdup (output),
        GUINT_TO_POINTER (manifest->entries->len));
    g_ptr_array_add (manifest->entries, entry);
  }
  return NULL;
}

/* FALSE with an error. */
static gboolean
read_lines (GstTfxManifest *manifest, const gchar *text, gsize length,
    GError **error)
{
  gchar **lines = g_strsplit (text, "\n", -1), *fault = NULL;
  guint n_files = 0, n = 0;

  if (sscanf (text, HEAD, &n_files) != 1)
    fault = g_strdup ("it does not begin as a manifest does");
  /* (Behind the last line there is an empty one.) */
  while (!fault && n < n_files) {
    const gchar *line = lines[++n];

    if (!line || (!lines[n + 1] && !*line))
      fault =
          g_strdup_printf ("it ends before the %u files of line 1", n_files);
    else
      fault = add_line (manifest, line);
  }
  if (!fault && (lines[n + 1] == NULL || *lines[n + 1] || lines[n + 2] ||
                    strlen (text) != length || manifest->entries->len != n)) {
    n++;
    fault = g_strdup_printf ("it has more or fewer than the %u files of line 1",
        n_files);
  }
  if (fault)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "the manifest %s, line %u: %s", manifest->path, n + 1, fault);
  g_strfreev (lines);
  g_free (fault);
  return *error == NULL;
}

GstTfxManifest *
gst_tfx_manifest_open (const gchar *path, gboolean must_exist, GError **error)
{
  GstTfxManifest *manifest = g_new0 (GstTfxManifest, 1);
  gchar *text = NULL;
  gsize length;

  manifest->path = g_strdup (path);
  manifest->entries = g_ptr_array_new_with_free_func (free_entry);
  manifest->outputs =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if ((must_exist || g_file_test (path, G_FILE_TEST_EXISTS)) &&
      (!g_file_get_contents (path, &text, &length, error) ||
          !read_lines (manifest, text, length, error)))
    g_clear_pointer (&manifest, gst_tfx_manifest_close);
  g_free (text);
  return manifest;
}

void
gst_tfx_manifest_close (GstTfxManifest *manifest)
{
  g_hash_table_unref (manifest->outputs);
  g_ptr_array_unref (manifest->entries);
  g_free (manifest->path);
  g_free (manifest);
}

guint
gst_tfx_manifest_count (const GstTfxManifest *manifest)
{
  return manifest->entries->len;
}

const gchar *
gst_tfx_manifest_get (const GstTfxManifest *manifest, guint entry,
    const gchar *key)
{
  const Entry *found = g_ptr_array_index (manifest->entries, entry);

  return g_hash_table_lookup (found->values, key);
}

void
gst_tfx_manifest_get_options (const GstTfxManifest *manifest, guint entry,
    GstTfxOptions *options)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kept); i++)
    G_STRUCT_MEMBER (gchar *, options, kept[i].offset) =
        g_strdup (gst_tfx_manifest_get (manifest, entry, kept[i].key));
  options->allow_cut =
      g_strcmp0 (gst_tfx_manifest_get (manifest, entry, "allow_cut"), "true") ==
      0;
}

gboolean
gst_tfx_manifest_has (const GstTfxManifest *manifest, const gchar *input,
    const gchar *output, const gchar *digest)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (manifest->outputs, output, NULL, &index))
    return FALSE;
  return strcmp (gst_tfx_manifest_get (manifest, GPOINTER_TO_UINT (index),
                     "input"),
             input) == 0 &&
         strcmp (gst_tfx_manifest_get (manifest, GPOINTER_TO_UINT (index),
                     "options_sha256"),
             digest) == 0;
}

/* ---- writing ------------------------------------------------------------------------ */

static void
append_text (GString *line, const gchar *key, const gchar *text)
{
  g_string_append_printf (line, "\"%s\": ", key);
  gst_tfx_json_quote (line, text);
  g_string_append (line, ", ");
}

static void
append_samples (GString *line, const gchar *name,
    const GstTfxJobSamples *samples)
{
  gchar *lufs = g_strconcat (name, "_lufs", NULL);
  gchar *peak = g_strconcat (name, "_true_peak", NULL);

  g_string_append_printf (line,
      "\"%s_rate\": %d, \"%s_channels\": %d, \"%s_frames\": %" G_GUINT64_FORMAT
      ", \"%s_sha256\": \"%s\", ",
      name, samples->rate_hz, name, samples->n_channels, name,
      samples->n_frames, name, samples->sha256);
  gst_tfx_report_append_number (line, lufs, samples->loudness.integrated);
  gst_tfx_report_append_number (line, peak, samples->loudness.true_peak);
  g_free (peak);
  g_free (lufs);
}

void
gst_tfx_manifest_add (GstTfxManifest *manifest, const GstTfxJob *job,
    const GstTfxOptions *options, const gchar *digest)
{
  const GstTfxJobTrace *trace = job->trace;
  GString *line = g_string_new ("{");
  gchar *version = gst_version_string ();

  append_text (line, "output", job->output);
  append_text (line, "input", job->input);
  for (gsize i = 0; i < G_N_ELEMENTS (kept); i++) {
    const gchar *text = G_STRUCT_MEMBER (gchar *, options, kept[i].offset);

    if (text)
      append_text (line, kept[i].key, text);
  }
  if (options->allow_cut)
    g_string_append (line, "\"allow_cut\": true, ");
  append_text (line, "options_sha256", digest);
  append_text (line, "gst_tfx", VERSION);
  append_text (line, "gstreamer", version);
  append_text (line, "kernel", trace->kernel);
  append_samples (line, "input", &trace->input);
  append_text (line, "result_sha256", trace->result_sha256);
  append_samples (line, "output", &trace->output);
  g_string_truncate (line, line->len - strlen (", "));
  g_string_append_c (line, '}');
  g_free (add_line (manifest, line->str));
  g_string_free (line, TRUE);
  g_free (version);
}

gboolean
gst_tfx_manifest_write (const GstTfxManifest *manifest, GError **error)
{
  GString *text = g_string_new (NULL);
  gboolean is_written;

  g_string_append_printf (text, HEAD, manifest->entries->len);
  for (guint i = 0; i < manifest->entries->len; i++) {
    const Entry *entry = g_ptr_array_index (manifest->entries, i);

    g_string_append_printf (text, "%s\n", entry->line);
  }
  is_written = g_file_set_contents (manifest->path, text->str, -1, error);
  if (!is_written)
    g_prefix_error (error,
        "the manifest %s cannot be written: ", manifest->path);
  g_string_free (text, TRUE);
  return is_written;
}
