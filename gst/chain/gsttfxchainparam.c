/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainparam.c: parameters of the catalogue as properties of an object.
 *
 * Numbers are properties of type double or int, True and False boolean, words
 * enumerations, note values and file names strings, and lists arrays.  None, or the one
 * word of a parameter that is otherwise a number, is a number below its minimum.
 */
#include "gsttfxchainparam.h"

#include <math.h>
#include <string.h>

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | GST_PARAM_MUTABLE_PLAYING)

static gboolean
has_type (const TfxParam *param, unsigned type)
{
  return (param->types & type) != 0;
}

static gboolean
is_list_alone (const TfxParam *param)
{
  return has_type (param, TFX_VALUE_LIST) &&
         !has_type (param, TFX_VALUE_NUMBER);
}

static gboolean
has_part (const TfxParam *param, GstTfxChainParamPart part)
{
  if (part == GST_TFX_CHAIN_PARAM_WHOLE)
    return TRUE;
  if (part == GST_TFX_CHAIN_PARAM_FILE)
    return has_type (param, TFX_VALUE_TEXT) && has_type (param, TFX_VALUE_LIST);
  if (!has_type (param, TFX_VALUE_LIST) || is_list_alone (param))
    return FALSE;
  return part == GST_TFX_CHAIN_PARAM_LIST || param->max_list == 2;
}

gboolean
gst_tfx_chain_param_is_file (const TfxParam *param, GstTfxChainParamPart part)
{
  return part == GST_TFX_CHAIN_PARAM_FILE || param->types == TFX_VALUE_TEXT;
}

/* ---- enumerations ------------------------------------------------------------ */

/* Values of a parameter that is True, False or a word. */
enum
{
  VALUE_FALSE,
  VALUE_TRUE,
  VALUE_WORD /* the first of the words */
};

static gint
first_word (const TfxParam *param)
{
  return has_type (param, TFX_VALUE_BOOL) ? VALUE_WORD : 0;
}

static void
add_enum_value (GArray *values, const gchar *name, const gchar *nick)
{
  GEnumValue value = { values->len, name, nick };

  g_array_append_val (values, value);
}

static const TfxParam *
find_param (const TfxClass *klass, const TfxParam *like)
{
  gint index = tfx_class_find_param (klass, like->name);

  return index >= 0 ? &klass->params[index] : NULL;
}

/* The first class that has a parameter of this name with the same words; NULL if no
 * earlier class has the name with other words. */
static const TfxClass *
find_class_of_words (const TfxParam *param)
{
  gboolean is_first = TRUE;

  for (gsize i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);
    const TfxParam *other = find_param (klass, param);

    if (other && other->words == param->words)
      return is_first ? NULL : klass;
    is_first = is_first && !(other && other->words);
  }
  return NULL;
}

/* "gain_scale" gives GstTfxChainGainScale; if another class uses the name for other
 * words, "strategy" gives GstTfxChainNormalizeStrategy. */
static GType
gst_tfx_chain_param_enum_type (const TfxParam *param)
{
  static GMutex lock;
  const TfxClass *klass = find_class_of_words (param);
  GString *name = g_string_new ("GstTfxChain");
  gboolean upper = TRUE;
  GType type;

  if (klass)
    g_string_append (name, klass->name);
  for (const char *c = param->name; *c; c++) {
    if (*c != '_')
      g_string_append_c (name, upper ? g_ascii_toupper (*c) : *c);
    upper = *c == '_';
  }

  g_mutex_lock (&lock);
  type = g_type_from_name (name->str);
  if (!type) {
    /* The type keeps its values. */
    GArray *values = g_array_new (TRUE, TRUE, sizeof (GEnumValue));

    if (has_type (param, TFX_VALUE_BOOL)) {
      add_enum_value (values, "False", "false");
      add_enum_value (values, "True", "true");
    }
    for (const TfxWord *w = param->words; w->word; w++)
      add_enum_value (values, w->word, w->word);
    type = g_enum_register_static (name->str,
        (GEnumValue *)(gpointer)g_array_free (values, FALSE));
    gst_type_mark_as_plugin_api (type, 0);
  }
  g_mutex_unlock (&lock);
  g_string_free (name, TRUE);
  return type;
}

static gint
get_enum (const TfxParam *param, const TfxValue *value)
{
  if (value->type == TFX_VALUE_BOOL)
    return value->number != 0.0 ? VALUE_TRUE : VALUE_FALSE;
  for (gint i = 0; param->words[i].word; i++) {
    if (!strcmp (param->words[i].word, value->word))
      return first_word (param) + i;
  }
  return 0;
}

static void
set_enum (const TfxParam *param, gint number, TfxValue *value)
{
  if (number < first_word (param)) {
    value->type = TFX_VALUE_BOOL;
    value->number = number == VALUE_TRUE;
    return;
  }
  value->type = TFX_VALUE_WORD;
  g_strlcpy (value->word, param->words[number - first_word (param)].word,
      sizeof value->word);
}

/* ---- numbers ------------------------------------------------------------------- */

/* Whether a number represents None or a word. */
static gboolean
has_none (const TfxParam *param)
{
  return has_type (param, TFX_VALUE_NONE) ||
         (has_type (param, TFX_VALUE_WORD) &&
             has_type (param, TFX_VALUE_NUMBER));
}

/* That number: below the minimum of the parameter. */
static gdouble
none_number (const TfxParam *param)
{
  return param->minimum > 0.0 ? 0.0 : param->minimum - 1.0;
}

static gdouble
lowest_number (const TfxParam *param)
{
  if (has_none (param))
    return none_number (param);
  if (!(param->flags & TFX_PARAM_ABOVE_MINIMUM))
    return MAX (param->minimum, -G_MAXDOUBLE);
  return param->minimum == 0.0 ? G_MINDOUBLE
                               : nextafter (param->minimum, INFINITY);
}

static gdouble
highest_number (const TfxParam *param)
{
  if (param->flags & TFX_PARAM_BELOW_MAXIMUM)
    return nextafter (param->maximum, -INFINITY);
  return MIN (param->maximum, G_MAXDOUBLE);
}

static gdouble
get_number (const TfxParam *param, const TfxValue *value)
{
  switch (value->type) {
    case TFX_VALUE_NUMBER:
      return value->number;
    case TFX_VALUE_LIST:
      return value->list[0];
    default:
      return none_number (param);
  }
}

/* Makes a list of n numbers; copies @given unless it is NULL. */
static void
make_list (TfxValue *value, gsize n, const gdouble *given, gdouble pair[2])
{
  value->type = TFX_VALUE_LIST;
  value->n_list = n;
  value->list = n <= 2 ? pair : g_new (gdouble, n);
  if (given)
    memcpy (value->list, given, n * sizeof *given);
}

/* Sets a single number, or the first one of a list. */
static void
set_number (const TfxParam *param, gdouble number, const TfxValue *old,
    TfxValue *value, gdouble pair[2])
{
  if (has_none (param) && number == none_number (param)) {
    if (has_type (param, TFX_VALUE_WORD))
      set_enum (param, 0, value);
    else
      value->type = TFX_VALUE_NONE;
  } else if (old->type == TFX_VALUE_LIST) {
    make_list (value, old->n_list, old->list, pair);
    value->list[0] = number;
  } else {
    value->type = TFX_VALUE_NUMBER;
    value->number = number;
  }
}

/* ---- lists --------------------------------------------------------------------- */

/* Sets the second number; 0 removes it. */
static void
set_upper (const TfxParam *param, gdouble number, const TfxValue *old,
    TfxValue *value, gdouble pair[2])
{
  gdouble first = get_number (param, old);

  if (number == 0.0) {
    value->type = TFX_VALUE_NUMBER;
    value->number = first;
    return;
  }
  make_list (value, 2, NULL, pair);
  value->list[0] = first;
  value->list[1] = number;
}

static void
get_list (const TfxValue *value, GValue *array)
{
  const gdouble *list =
      value->type == TFX_VALUE_LIST ? value->list : &value->number;
  gsize n = value->type == TFX_VALUE_LIST ? value->n_list : 1;
  GValue item = G_VALUE_INIT;

  if (value->type == TFX_VALUE_NONE || value->type == TFX_VALUE_TEXT)
    return;
  g_value_init (&item, G_TYPE_DOUBLE);
  for (gsize i = 0; i < n; i++) {
    g_value_set_double (&item, list[i]);
    gst_value_array_append_value (array, &item);
  }
  g_value_unset (&item);
}

/* A list of one becomes a number if the parameter can be one.  Values of other types
 * become NaN, which every parameter rejects. */
static void
set_list (const TfxParam *param, const GValue *array, TfxValue *value,
    gdouble pair[2])
{
  guint n = gst_value_array_get_size (array);
  GValue number = G_VALUE_INIT;

  make_list (value, n, NULL, pair);
  g_value_init (&number, G_TYPE_DOUBLE);
  for (guint i = 0; i < n; i++)
    value->list[i] =
        g_value_transform (gst_value_array_get_value (array, i), &number)
            ? g_value_get_double (&number)
            : NAN;
  if (n == 1 && has_type (param, TFX_VALUE_NUMBER)) {
    value->type = TFX_VALUE_NUMBER;
    value->number = value->list[0];
    value->list = NULL;
    value->n_list = 0;
  }
}

/* ---- properties ------------------------------------------------------------------ */

gchar *
gst_tfx_chain_param_make_name (const TfxParam *param, GstTfxChainParamPart part)
{
  static const gchar *const suffixes[] = { "", "-upper", "-list", "-file" };

  return g_strdelimit (g_strconcat (param->name, suffixes[part], NULL), "_",
      '-');
}

/* "Cutoff frequency in Hz", with the unit before any "," or ";", and with a note on the
 * part or on None. */
static gchar *
make_blurb (const TfxParam *param, GstTfxChainParamPart part)
{
  const gsize n_head = strcspn (param->doc, ",;");
  GString *text = g_string_new_len (param->doc, (gssize)n_head);

  text->str[0] = g_ascii_toupper (text->str[0]);
  if (*param->unit)
    g_string_append_printf (text, " in %s", param->unit);
  g_string_append (text, param->doc + n_head);
  if (part == GST_TFX_CHAIN_PARAM_UPPER)
    g_string_append (text, " (second value, 0 = none)");
  else if (part == GST_TFX_CHAIN_PARAM_LIST)
    g_string_append (text, " (all values)");
  else if (part == GST_TFX_CHAIN_PARAM_FILE)
    g_string_append (text, " (file name)");
  else if (has_type (param, TFX_VALUE_NUMBER) &&
           has_type (param, TFX_VALUE_LIST))
    g_string_append (text, " (first value)");
  else if (has_type (param, TFX_VALUE_NUMBER) && has_none (param))
    g_string_append_printf (text, " (%g = %s)", none_number (param),
        has_type (param, TFX_VALUE_WORD) ? param->words[0].word : "None");
  return g_string_free (text, FALSE);
}

GParamSpec *
gst_tfx_chain_param_make_spec (const TfxParam *param, GstTfxChainParamPart part)
{
  const GParamFlags flags = PARAM_FLAGS | GST_PARAM_CONTROLLABLE;
  const gdouble high = highest_number (param);
  gchar *name, *blurb;
  GParamSpec *spec;

  if (!has_part (param, part))
    return NULL;
  name = gst_tfx_chain_param_make_name (param, part);
  blurb = make_blurb (param, part);
  if (gst_tfx_chain_param_is_file (param, part))
    spec = g_param_spec_string (name, param->name, blurb, NULL, PARAM_FLAGS);
  else if (part == GST_TFX_CHAIN_PARAM_LIST || is_list_alone (param))
    spec = gst_param_spec_array (name, param->name, blurb, NULL, PARAM_FLAGS);
  else if (part == GST_TFX_CHAIN_PARAM_UPPER)
    spec =
        g_param_spec_double (name, param->name, blurb, 0.0, high, 0.0, flags);
  else if (has_type (param, TFX_VALUE_NUMBER) &&
           (param->flags & TFX_PARAM_INTEGER))
    spec = g_param_spec_int (name, param->name, blurb, lowest_number (param),
        MIN (high, G_MAXINT), get_number (param, &param->initial), flags);
  else if (has_type (param, TFX_VALUE_NUMBER))
    spec = g_param_spec_double (name, param->name, blurb, lowest_number (param),
        high, get_number (param, &param->initial), flags);
  else if (has_type (param, TFX_VALUE_WORD) && param->words)
    spec = g_param_spec_enum (name, param->name, blurb,
        gst_tfx_chain_param_enum_type (param),
        get_enum (param, &param->initial), flags);
  else if (has_type (param, TFX_VALUE_WORD))
    spec = g_param_spec_string (name, param->name, blurb, param->initial.word,
        PARAM_FLAGS);
  else
    spec = g_param_spec_boolean (name, param->name, blurb,
        param->initial.number != 0.0, flags);
  g_free (name);
  g_free (blurb);
  return spec;
}

void
gst_tfx_chain_param_get (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *from, GValue *to)
{
  if (GST_VALUE_HOLDS_ARRAY (to))
    get_list (from, to);
  else if (part == GST_TFX_CHAIN_PARAM_UPPER)
    g_value_set_double (to,
        from->type == TFX_VALUE_LIST && from->n_list > 1 ? from->list[1] : 0.0);
  else if (G_VALUE_HOLDS_DOUBLE (to))
    g_value_set_double (to, get_number (param, from));
  else if (G_VALUE_HOLDS_INT (to))
    g_value_set_int (to, get_number (param, from));
  else if (G_VALUE_HOLDS_ENUM (to))
    g_value_set_enum (to, get_enum (param, from));
  else if (gst_tfx_chain_param_is_file (param, part))
    g_value_set_string (to, from->type == TFX_VALUE_TEXT ? from->text : NULL);
  else if (G_VALUE_HOLDS_STRING (to))
    g_value_set_string (to, from->word);
  else
    g_value_set_boolean (to, from->number != 0.0);
}

void
gst_tfx_chain_param_set (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *old, const GValue *from, TfxValue *to, gdouble pair[2])
{
  *to = (TfxValue){ .type = TFX_VALUE_BOOL };
  if (GST_VALUE_HOLDS_ARRAY (from)) {
    set_list (param, from, to, pair);
  } else if (part == GST_TFX_CHAIN_PARAM_UPPER) {
    set_upper (param, g_value_get_double (from), old, to, pair);
  } else if (G_VALUE_HOLDS_DOUBLE (from)) {
    set_number (param, g_value_get_double (from), old, to, pair);
  } else if (G_VALUE_HOLDS_INT (from)) {
    set_number (param, g_value_get_int (from), old, to, pair);
  } else if (G_VALUE_HOLDS_ENUM (from)) {
    set_enum (param, g_value_get_enum (from), to);
  } else if (gst_tfx_chain_param_is_file (param, part)) {
    to->type = TFX_VALUE_TEXT;
    to->text = g_value_dup_string (from);
    if (!to->text)
      to->text = g_strdup ("");
  } else if (G_VALUE_HOLDS_STRING (from)) {
    const gchar *word = g_value_get_string (from);

    to->type = TFX_VALUE_WORD;
    g_strlcpy (to->word, word ? word : "", sizeof to->word);
  } else {
    to->number = g_value_get_boolean (from);
  }
}

void
gst_tfx_chain_param_clear (TfxValue *to, const gdouble pair[2])
{
  if (to->list != pair)
    g_free (to->list);
  to->list = NULL;
  g_clear_pointer (&to->text, g_free);
}
