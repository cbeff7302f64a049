/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainparam.c: parameters of the catalogue as properties of an object.
 *
 * Numbers are properties of type double or int, True and False boolean, words
 * enumerations, note values and file names strings, and lists arrays.  None, or
 * the one word of a parameter that is otherwise a number, is a number below its
 * minimum.
 */
#include <math.h>
#include <string.h>

#include "gsttfxchain.h"

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

gboolean
gst_tfx_chain_param_is_file (const TfxParam *param, GstTfxChainParamPart part)
{
  return part == GST_TFX_CHAIN_PARAM_FILE || param->types == TFX_VALUE_TEXT;
}

/* ---- enumerations -------------------------------------------------------- */

/* The number of the first word, after False and True. */
static gint
first_word (const TfxParam *param)
{
  return has_type (param, TFX_VALUE_BOOL) ? 2 : 0;
}

static void
add_enum_value (GArray *values, const gchar *name, const gchar *nick)
{
  const GEnumValue value = { (gint)values->len, name, nick };

  g_array_append_val (values, value);
}

/* "gain_scale" gives GstTfxChainGainScale; if an earlier class uses the name
 * for other words, "strategy" gives GstTfxChainNormalizeStrategy, and if a class
 * has the name, "curve" gives GstTfxChainWeightingCurve. */
static GType
gst_tfx_chain_param_enum_type (const TfxParam *param)
{
  static GMutex lock;
  GString *name = g_string_new ("GstTfxChain");
  gboolean upper = TRUE, is_first = TRUE;
  GType type;

  for (gsize i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);
    const gint index = tfx_class_find_param (klass, param->name);

    if (index < 0 || !klass->params[index].words)
      continue;
    if (klass->params[index].words == param->words) {
      if (!is_first || tfx_catalogue_find (param->name))
        g_string_append (name, klass->name);
      break;
    }
    is_first = FALSE;
  }
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
    return value->number != 0.0;
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
    value->number = number;
    return;
  }
  value->type = TFX_VALUE_WORD;
  g_strlcpy (value->word, param->words[number - first_word (param)].word,
      sizeof value->word);
}

/* ---- numbers ------------------------------------------------------------- */

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

/* The numbers of a value, none for None; one or more for a list. */
static gsize
get_numbers (const TfxValue *value, const gdouble **numbers)
{
  const gboolean is_list = value->type == TFX_VALUE_LIST;

  *numbers = is_list ? value->list : &value->number;
  return is_list ? value->n_list : value->type == TFX_VALUE_NUMBER;
}

static gdouble
get_number (const TfxParam *param, const TfxValue *value)
{
  const gdouble *numbers;

  return get_numbers (value, &numbers) > 0 ? *numbers : none_number (param);
}

/* ---- properties ---------------------------------------------------------- */

void
gst_tfx_chain_param_print_name (const TfxParam *param,
    GstTfxChainParamPart part, gchar name[GST_TFX_CHAIN_PARAM_NAME_SIZE])
{
  static const gchar *const suffixes[] = { "", "-upper", "-list", "-file" };

  g_snprintf (name, GST_TFX_CHAIN_PARAM_NAME_SIZE, "%s%s", param->name,
      suffixes[part]);
  g_strdelimit (name, "_", '-');
}

/* "Cutoff frequency in Hz", with the unit before any "," or ";", and with a
 * note on the part or on None. */
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
  const gboolean has_number = has_type (param, TFX_VALUE_NUMBER);
  const gboolean has_list = has_type (param, TFX_VALUE_LIST);
  const TfxValue *initial = &param->initial;
  gdouble low = MAX (param->minimum, -G_MAXDOUBLE);
  gdouble high = MIN (param->maximum, G_MAXDOUBLE);
  gchar name[GST_TFX_CHAIN_PARAM_NAME_SIZE], *blurb;
  GParamSpec *spec;

  if (part == GST_TFX_CHAIN_PARAM_FILE) {
    if (!has_list || !has_type (param, TFX_VALUE_TEXT))
      return NULL;
  } else if (part != GST_TFX_CHAIN_PARAM_WHOLE) {
    if (!has_list || !has_number ||
        (part == GST_TFX_CHAIN_PARAM_UPPER && param->max_list != 2))
      return NULL;
  }
  if (has_none (param))
    low = none_number (param);
  else if (param->flags & TFX_PARAM_ABOVE_MINIMUM)
    low = low == 0.0 ? G_MINDOUBLE : nextafter (low, INFINITY);
  if (param->flags & TFX_PARAM_BELOW_MAXIMUM)
    high = nextafter (param->maximum, -INFINITY);

  gst_tfx_chain_param_print_name (param, part, name);
  blurb = make_blurb (param, part);
  if (gst_tfx_chain_param_is_file (param, part))
    spec = g_param_spec_string (name, param->name, blurb, NULL, PARAM_FLAGS);
  else if (part == GST_TFX_CHAIN_PARAM_LIST || is_list_alone (param))
    spec = gst_param_spec_array (name, param->name, blurb, NULL, PARAM_FLAGS);
  else if (part == GST_TFX_CHAIN_PARAM_UPPER)
    spec =
        g_param_spec_double (name, param->name, blurb, 0.0, high, 0.0, flags);
  else if (has_number && (param->flags & TFX_PARAM_INTEGER))
    spec = g_param_spec_int (name, param->name, blurb, low,
        MIN (high, G_MAXINT), get_number (param, initial), flags);
  else if (has_number)
    spec = g_param_spec_double (name, param->name, blurb, low, high,
        get_number (param, initial), flags);
  else if (has_type (param, TFX_VALUE_WORD) && param->words)
    spec = g_param_spec_enum (name, param->name, blurb,
        gst_tfx_chain_param_enum_type (param), get_enum (param, initial),
        flags);
  else if (has_type (param, TFX_VALUE_WORD))
    spec = g_param_spec_string (name, param->name, blurb, initial->word,
        PARAM_FLAGS);
  else
    spec = g_param_spec_boolean (name, param->name, blurb,
        initial->number != 0.0, flags);
  g_free (blurb);
  return spec;
}

void
gst_tfx_chain_param_get (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *from, GValue *to)
{
  const gdouble *numbers;
  const gsize n = get_numbers (from, &numbers);

  if (GST_VALUE_HOLDS_ARRAY (to)) {
    GValue item = G_VALUE_INIT;

    g_value_init (&item, G_TYPE_DOUBLE);
    for (gsize i = 0; i < n; i++) {
      g_value_set_double (&item, numbers[i]);
      gst_value_array_append_value (to, &item);
    }
    g_value_unset (&item);
  } else if (part == GST_TFX_CHAIN_PARAM_UPPER) {
    g_value_set_double (to, n > 1 ? numbers[1] : 0.0);
  } else if (G_VALUE_HOLDS_DOUBLE (to)) {
    g_value_set_double (to, get_number (param, from));
  } else if (G_VALUE_HOLDS_INT (to)) {
    g_value_set_int (to, get_number (param, from));
  } else if (G_VALUE_HOLDS_ENUM (to)) {
    g_value_set_enum (to, get_enum (param, from));
  } else if (gst_tfx_chain_param_is_file (param, part)) {
    g_value_set_string (to, from->type == TFX_VALUE_TEXT ? from->text : NULL);
  } else if (G_VALUE_HOLDS_STRING (to)) {
    g_value_set_string (to, from->word);
  } else {
    g_value_set_boolean (to, from->number != 0.0);
  }
}

static void
make_list (gsize n, TfxValue *to, gdouble pair[2])
{
  to->type = TFX_VALUE_LIST;
  to->n_list = n;
  to->list = n <= 2 ? pair : g_new (gdouble, n);
}

/* Sets a single number, or the first one of a list. */
static void
set_number (const TfxParam *param, gdouble number, const TfxValue *old,
    TfxValue *to, gdouble pair[2])
{
  if (has_none (param) && number == none_number (param)) {
    to->type = TFX_VALUE_NONE;
    if (has_type (param, TFX_VALUE_WORD))
      set_enum (param, 0, to);
  } else if (old->type == TFX_VALUE_LIST) {
    make_list (old->n_list, to, pair);
    memcpy (to->list, old->list, old->n_list * sizeof *old->list);
    to->list[0] = number;
  } else {
    to->type = TFX_VALUE_NUMBER;
    to->number = number;
  }
}

void
gst_tfx_chain_param_set (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *old, const GValue *from, TfxValue *to, gdouble pair[2])
{
  const gchar *text = NULL;

  *to = (TfxValue){ .type = TFX_VALUE_BOOL };
  if (G_VALUE_HOLDS_STRING (from))
    text = g_value_get_string (from);
  if (GST_VALUE_HOLDS_ARRAY (from)) {
    GValue number = G_VALUE_INIT;

    /* Values of other types become NaN, which every parameter rejects. */
    make_list (gst_value_array_get_size (from), to, pair);
    g_value_init (&number, G_TYPE_DOUBLE);
    for (guint i = 0; i < to->n_list; i++)
      to->list[i] =
          g_value_transform (gst_value_array_get_value (from, i), &number)
              ? g_value_get_double (&number)
              : NAN;
  } else if (part == GST_TFX_CHAIN_PARAM_UPPER) {
    /* 0 removes the second number. */
    make_list (g_value_get_double (from) != 0.0 ? 2 : 1, to, pair);
    pair[0] = get_number (param, old);
    pair[1] = g_value_get_double (from);
  } else if (G_VALUE_HOLDS_DOUBLE (from)) {
    set_number (param, g_value_get_double (from), old, to, pair);
    return;
  } else if (G_VALUE_HOLDS_INT (from)) {
    set_number (param, g_value_get_int (from), old, to, pair);
    return;
  } else if (G_VALUE_HOLDS_ENUM (from)) {
    set_enum (param, g_value_get_enum (from), to);
  } else if (gst_tfx_chain_param_is_file (param, part)) {
    to->type = TFX_VALUE_TEXT;
    to->text = g_strdup (text ? text : "");
  } else if (G_VALUE_HOLDS_STRING (from)) {
    to->type = TFX_VALUE_WORD;
    g_strlcpy (to->word, text ? text : "", sizeof to->word);
  } else {
    to->number = g_value_get_boolean (from);
  }
  /* A list of one becomes a number if the parameter can be one. */
  if (to->type == TFX_VALUE_LIST && to->n_list == 1 &&
      has_type (param, TFX_VALUE_NUMBER))
    *to = (TfxValue){ .type = TFX_VALUE_NUMBER, .number = pair[0] };
}

void
gst_tfx_chain_param_clear (TfxValue *to, const gdouble pair[2])
{
  if (to->list != pair)
    g_free (to->list);
  to->list = NULL;
  g_clear_pointer (&to->text, g_free);
}
