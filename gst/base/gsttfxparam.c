/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxparam.c: properties whose range is what one usually wants.
 */
#include "gsttfxparam.h"

typedef struct
{
  GParamSpecDouble parent;
  gdouble maximum; /* of what is taken */
} GstTfxParamDouble;

static gboolean
gst_tfx_param_validate (GParamSpec *spec, GValue *value)
{
  const GstTfxParamDouble *self = (GstTfxParamDouble *)spec;
  const gdouble old = g_value_get_double (value);
  const gdouble now = CLAMP (old, self->parent.minimum, self->maximum);

  g_value_set_double (value, now);
  return now != old;
}

#if GLIB_CHECK_VERSION(2, 74, 0)
static gboolean
gst_tfx_param_is_valid (GParamSpec *spec, const GValue *value)
{
  const GstTfxParamDouble *self = (GstTfxParamDouble *)spec;
  const gdouble number = g_value_get_double (value);

  return number >= self->parent.minimum && number <= self->maximum;
}
#endif

static void
gst_tfx_param_init_class (gpointer g_class, gpointer data)
{
  GParamSpecClass *klass = g_class;

  klass->value_validate = gst_tfx_param_validate;
#if GLIB_CHECK_VERSION(2, 74, 0)
  klass->value_is_valid = gst_tfx_param_is_valid;
#endif
}

static GType
gst_tfx_param_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    const GTypeInfo info = { .class_size = sizeof (GParamSpecClass),
      .class_init = gst_tfx_param_init_class,
      .instance_size = sizeof (GstTfxParamDouble) };

    g_once_init_leave (&type, g_type_register_static (G_TYPE_PARAM_DOUBLE,
                                  "GstTfxParamDouble", &info, 0));
  }
  return type;
}

GParamSpec *
gst_tfx_param_new_double (const gchar *name, const gchar *nick,
    const gchar *blurb, gdouble minimum, gdouble usual, gdouble maximum,
    gdouble initial, GParamFlags flags)
{
  GstTfxParamDouble *self = g_param_spec_internal (gst_tfx_param_get_type (),
      name, nick, blurb, flags);

  self->parent.minimum = minimum;
  self->parent.maximum = usual;
  self->parent.default_value = initial;
  self->maximum = maximum;
  return G_PARAM_SPEC (self);
}
