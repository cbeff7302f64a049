/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxknobs.c: the numbers of a chain's stages, for keys to change.
 */
#include "gsttfxknobs.h"

#include <math.h>
#include <string.h>

/* A number of a stage. */
typedef struct Knob
{
  GObject *stage;
  GParamSpec *spec;
} Knob;

struct GstTfxKnobs
{
  GstElement *chain;
  GArray *knobs; /* of Knob */
  guint chosen;
};

static void
clear_knob (gpointer data)
{
  g_object_unref (((Knob *)data)->stage);
}

/* As the chain is now: its file may have changed it. */
static void
find_knobs (GstTfxKnobs *self)
{
  GstChildProxy *proxy = GST_CHILD_PROXY (self->chain);
  const guint n = gst_child_proxy_get_children_count (proxy);

  g_array_set_size (self->knobs, 0);
  for (guint i = 0; i < n; i++) {
    GObject *stage = gst_child_proxy_get_child_by_index (proxy, i);
    GParamSpec **specs;
    guint n_specs;

    if (!stage)
      continue;
    specs =
        g_object_class_list_properties (G_OBJECT_GET_CLASS (stage), &n_specs);
    for (guint j = 0; j < n_specs; j++) {
      Knob knob = { stage, specs[j] };

      if ((specs[j]->flags & G_PARAM_WRITABLE) &&
          (specs[j]->value_type == G_TYPE_DOUBLE ||
              specs[j]->value_type == G_TYPE_INT ||
              specs[j]->value_type == G_TYPE_UINT)) {
        g_object_ref (stage);
        g_array_append_val (self->knobs, knob);
      }
    }
    g_free (specs);
    g_object_unref (stage);
  }
  self->chosen =
      MIN (self->chosen, self->knobs->len ? self->knobs->len - 1 : 0);
}

static const Knob *
get_knob (GstTfxKnobs *self)
{
  find_knobs (self);
  return self->knobs->len ? &g_array_index (self->knobs, Knob, self->chosen)
                          : NULL;
}

static gdouble
read_knob (const Knob *knob)
{
  GValue value = G_VALUE_INIT;
  gdouble number;

  g_value_init (&value, G_TYPE_DOUBLE);
  g_object_get_property (knob->stage, knob->spec->name, &value);
  number = g_value_get_double (&value);
  g_value_unset (&value);
  return number;
}

static void
set_knob (const Knob *knob, gdouble number)
{
  GValue value = G_VALUE_INIT, cast = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_set_double (&value, number);
  g_value_init (&cast, knob->spec->value_type);
  g_value_transform (&value, &cast);
  g_param_value_validate (knob->spec, &cast);
  g_object_set_property (knob->stage, knob->spec->name, &cast);
  g_value_unset (&cast);
  g_value_unset (&value);
}

/* To six digits, which a chain is written with. */
static gdouble
round_number (gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.6g", number),
      NULL);
}

/* Whole numbers go by one, decibels by a half, others by a semitone. */
void
gst_tfx_knobs_turn (GstTfxKnobs *self, gint direction)
{
  const Knob *knob = get_knob (self);
  const gchar *blurb;
  gdouble number;

  if (!knob)
    return;
  number = read_knob (knob);
  blurb = g_param_spec_get_blurb (knob->spec);
  if (knob->spec->value_type != G_TYPE_DOUBLE)
    number += direction;
  else if (blurb && strstr (blurb, "in dB"))
    number += 0.5 * direction;
  else if (number != 0.0)
    number = round_number (number * pow (2.0, direction / 12.0));
  else
    number = 0.01 * direction;
  set_knob (knob, number);
}

void
gst_tfx_knobs_select (GstTfxKnobs *self, gint direction)
{
  find_knobs (self);
  if (self->knobs->len)
    self->chosen =
        (self->chosen + self->knobs->len + (guint)direction) % self->knobs->len;
}

GArray *
gst_tfx_knobs_read (GstTfxKnobs *self)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  find_knobs (self);
  for (guint i = 0; i < self->knobs->len; i++) {
    const gdouble number = read_knob (&g_array_index (self->knobs, Knob, i));

    g_array_append_val (numbers, number);
  }
  return numbers;
}

void
gst_tfx_knobs_write (GstTfxKnobs *self, const GArray *numbers)
{
  find_knobs (self);
  for (guint i = 0; self->knobs->len == numbers->len && i < self->knobs->len;
       i++) {
    const Knob *knob = &g_array_index (self->knobs, Knob, i);
    const gdouble number = g_array_index (numbers, gdouble, i);

    if (read_knob (knob) != number)
      set_knob (knob, number);
  }
}

static gchar *
tell_knob (const Knob *knob)
{
  return g_strdup_printf ("%s::%s = %g", GST_OBJECT_NAME (knob->stage),
      knob->spec->name, read_knob (knob));
}

gchar *
gst_tfx_knobs_tell (GstTfxKnobs *self)
{
  const Knob *knob = get_knob (self);

  return knob ? tell_knob (knob) : NULL;
}

gchar *
gst_tfx_knobs_list (GstTfxKnobs *self)
{
  GString *list = g_string_new (NULL);

  find_knobs (self);
  for (guint i = 0; i < self->knobs->len; i++) {
    gchar *line = tell_knob (&g_array_index (self->knobs, Knob, i));

    g_string_append_printf (list, "%c %s\n", i == self->chosen ? '>' : ' ',
        line);
    g_free (line);
  }
  return g_string_free (list, FALSE);
}

GstTfxKnobs *
gst_tfx_knobs_new (GstElement *chain)
{
  GstTfxKnobs *self = g_new0 (GstTfxKnobs, 1);

  self->chain = chain;
  self->knobs = g_array_new (FALSE, FALSE, sizeof (Knob));
  g_array_set_clear_func (self->knobs, clear_knob);
  return self;
}

void
gst_tfx_knobs_free (GstTfxKnobs *self)
{
  g_array_unref (self->knobs);
  g_free (self);
}
