/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpreset.c: presets of the elements that are one filter.
 *
 * Up to GStreamer 1.28 at least, GstPreset escapes a string twice on writing
 * and unescapes it once on reading.  The meta of a preset comes back unchanged,
 * so the values are stored there too, and take precedence.
 *
 * When a user saves the first preset, GstPreset copies all others into the
 * user's file, where later updates do not reach them.  These copies have no
 * meta, so a preset without meta is read from the files that are installed with
 * the element.
 */
#include "gsttfxpreset.h"

#include "gsttfxbytes.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

static GstPresetInterface defaults;

/* ---- installed presets --------------------------------------------------- */

static gchar *
read_file (const gchar *folder, GstPreset *preset, const gchar *name,
    const gchar *key)
{
  gchar *base = g_strconcat (G_OBJECT_TYPE_NAME (preset), ".prs", NULL);
  gchar *path = g_build_filename (folder, base, NULL), *text = NULL;
  GKeyFile *file = g_key_file_new ();

  if (g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    text = g_key_file_get_string (file, name, key, NULL);
  g_key_file_free (file);
  g_free (path);
  g_free (base);
  return text;
}

gchar *
gst_tfx_preset_read_shipped (GstPreset *preset, const gchar *name,
    const gchar *key)
{
  const gchar *path = g_getenv ("GST_PRESET_PATH");
  gchar **folders = g_strsplit (path ? path : "", G_SEARCHPATH_SEPARATOR_S, -1);
  gchar *text = NULL;

  for (guint i = 0; folders[i] && !text; i++)
    text = read_file (folders[i], preset, name, key);
  if (!text)
    text = read_file (PRESETS_DIR, preset, name, key);
  g_strfreev (folders);
  return text;
}

/* ---- the properties ------------------------------------------------------ */

/* The properties of the filter itself.  Free the array. */
static GPtrArray *
list_properties (GstPreset *preset)
{
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (preset), &n);
  GPtrArray *own = g_ptr_array_new ();

  for (guint i = 0; i < n; i++) {
    if (specs[i]->owner_type != GST_TYPE_TFX_ELEMENT &&
        g_type_is_a (specs[i]->owner_type, GST_TYPE_TFX_ELEMENT) &&
        (specs[i]->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE)
      g_ptr_array_add (own, specs[i]);
  }
  g_free (specs);
  return own;
}

static gchar **
gst_tfx_preset_get_property_names (GstPreset *preset)
{
  GPtrArray *specs = list_properties (preset);
  gchar **names = g_new0 (gchar *, specs->len + 1);

  for (guint i = 0; i < specs->len; i++)
    names[i] = g_strdup (g_param_spec_get_name (specs->pdata[i]));
  g_ptr_array_unref (specs);
  return names;
}

/* ---- saving -------------------------------------------------------------- */

static gboolean
gst_tfx_preset_save (GstPreset *preset, const gchar *name)
{
  GPtrArray *specs = list_properties (preset);
  gboolean ok = defaults.save_preset (preset, name);

  for (guint i = 0; i < specs->len && ok; i++) {
    GParamSpec *spec = specs->pdata[i];
    GValue value = G_VALUE_INIT;
    gchar *text;

    g_value_init (&value, spec->value_type);
    g_object_get_property (G_OBJECT (preset), spec->name, &value);
    /* NULL if there is no string: the preset does not name the property. */
    text = gst_value_serialize (&value);
    ok = gst_preset_set_meta (preset, name, spec->name, text);
    g_free (text);
    g_value_unset (&value);
  }
  g_ptr_array_unref (specs);
  return ok;
}

/* ---- loading ------------------------------------------------------------- */

/* The text of a property in a preset, to be freed, or NULL. */
static gchar *
read_text (GstPreset *preset, const gchar *name, const GParamSpec *spec)
{
  gchar *text = NULL;

  if (gst_preset_get_meta (preset, name, spec->name, &text) && text)
    return text;
  return gst_tfx_preset_read_shipped (preset, name, spec->name);
}

void
gst_tfx_preset_warn (GstPreset *preset, const gchar *format, ...)
{
  gchar *text, *shown;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  shown = gst_tfx_bytes_escape (text);
  GST_ELEMENT_WARNING (preset, LIBRARY, SETTINGS, ("%s", shown), (NULL));
  g_free (shown);
  g_free (text);
}

/* The valid range, for a message; to be freed. */
static gchar *
describe_range (GParamSpec *spec)
{
  if (G_IS_PARAM_SPEC_DOUBLE (spec))
    return g_strdup_printf ("must be from %.10g to %.10g",
        G_PARAM_SPEC_DOUBLE (spec)->minimum,
        G_PARAM_SPEC_DOUBLE (spec)->maximum);
  if (G_IS_PARAM_SPEC_INT (spec))
    return g_strdup_printf ("must be from %d to %d",
        G_PARAM_SPEC_INT (spec)->minimum, G_PARAM_SPEC_INT (spec)->maximum);
  return g_strdup_printf ("must be a %s", g_type_name (spec->value_type));
}

static gboolean
read_value (GstPreset *preset, const gchar *name, GParamSpec *spec,
    const gchar *text, GValue *value)
{
  gchar *range;

  if (gst_value_deserialize (value, text) &&
      !g_param_value_validate (spec, value))
    return TRUE;
  range = describe_range (spec);
  gst_tfx_preset_warn (preset,
      "Invalid preset \"%s\"; the previous settings stay in use: %s=%s %s",
      name, spec->name, text, range);
  g_free (range);
  return FALSE;
}

/* Reads the values of a preset; properties that it does not name get their
 * defaults.  *has_any is set if it names one.  Returns FALSE after a
 * warning. */
static gboolean
read_values (GstPreset *preset, const gchar *name, const GPtrArray *specs,
    GValue *values, gboolean *has_any)
{
  gboolean ok = TRUE;

  for (guint i = 0; i < specs->len; i++) {
    GParamSpec *spec = specs->pdata[i];
    gchar *text = read_text (preset, name, spec);

    g_value_init (&values[i], spec->value_type);
    g_param_value_set_default (spec, &values[i]);
    if (text) {
      *has_any = TRUE;
      ok = ok && read_value (preset, name, spec, text, &values[i]);
    }
    g_free (text);
  }
  return ok;
}

static gboolean
gst_tfx_preset_load (GstPreset *preset, const gchar *name)
{
  GPtrArray *specs = list_properties (preset);
  GValue *values = g_new0 (GValue, specs->len);
  gboolean has_any = FALSE;
  gboolean ok = read_values (preset, name, specs, values, &has_any);

  for (guint i = 0; i < specs->len; i++) {
    if (ok && has_any)
      g_object_set_property (G_OBJECT (preset),
          g_param_spec_get_name (specs->pdata[i]), &values[i]);
    g_value_unset (&values[i]);
  }
  /* Another program wrote the preset, without meta. */
  if (!has_any)
    ok = defaults.load_preset (preset, name);
  GST_INFO_OBJECT (preset, "preset \"%s\" %s", name,
      ok ? "loaded" : "cannot be loaded");
  g_free (values);
  g_ptr_array_unref (specs);
  return ok;
}

void
gst_tfx_preset_init (gpointer iface, gpointer data)
{
  GstPresetInterface *preset = iface;

  /* A subclass inherits the functions of its parent. */
  if (preset->load_preset != gst_tfx_preset_load)
    defaults = *preset;
  preset->get_property_names = gst_tfx_preset_get_property_names;
  preset->save_preset = gst_tfx_preset_save;
  preset->load_preset = gst_tfx_preset_load;
}
