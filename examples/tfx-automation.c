/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-automation.c: a property of an element follows a curve of GStreamer's
 * controller library, into a sound file.
 *
 *   tfx-automation output=sweep.wav
 *   tfx-automation curve=lfo from=500 to=2000 frequency=4 output=wah.wav
 *   tfx-automation curve=steps element="tfxchain chain=g=Gain(1)" child=g \
 *       property=gain from=0 to=1 output=gated.wav
 *
 * line goes from one value to the other and stays there; lfo swings between them;
 * steps are triggers, one each 1 / frequency seconds.
 */
#include <stdlib.h>
#include <string.h>

#include <gst/controller/controller.h>
#include <gst/gst.h>

#define MAX_SECONDS 3600
#define MAX_HZ 1000

typedef struct
{
  const gchar *element, *child, *property, *curve, *source, *output;
  gdouble from, to, seconds, frequency;
} Options;

static const Options defaults = {
  .element = "tfxbutterworth order=4",
  .property = "cutoff",
  .curve = "line",
  .source = "audiotestsrc wave=sine freq=440 volume=0.5",
  .from = 500,
  .to = 5000,
  .seconds = 2,
  .frequency = 1,
};

G_GNUC_PRINTF (1, 2)
G_GNUC_NORETURN static void
fail (const gchar *format, ...)
{
  va_list arguments;
  gchar *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_printerr ("tfx-automation: %s\n", text);
  g_free (text);
  exit (EXIT_FAILURE);
}

/* ---- curves -------------------------------------------------------------------- */

/* Values in the property's own unit go with the binding's new_absolute(). */
static GstControlSource *
make_line (const Options *o)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *points = GST_TIMED_VALUE_CONTROL_SOURCE (source);

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (points, 0, o->from);
  gst_timed_value_control_source_set (points, o->seconds * GST_SECOND, o->to);
  return source;
}

/* A trigger has a value only near its time: within a step of the filter's grid,
 * so that it is seen; in between the property stays as it is. */
static GstControlSource *
make_steps (const Options *o)
{
  GstControlSource *source = gst_trigger_control_source_new ();

  g_object_set (source, "tolerance", (gint64)GST_MSECOND, NULL);
  for (guint i = 0; i <= o->seconds * o->frequency; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
        i / o->frequency * GST_SECOND, i % 2 ? o->to : o->from);
  return source;
}

static gboolean
get_range (GParamSpec *spec, gdouble *low, gdouble *high)
{
  if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    *low = G_PARAM_SPEC_DOUBLE (spec)->minimum;
    *high = G_PARAM_SPEC_DOUBLE (spec)->maximum;
  } else if (G_IS_PARAM_SPEC_FLOAT (spec)) {
    *low = G_PARAM_SPEC_FLOAT (spec)->minimum;
    *high = G_PARAM_SPEC_FLOAT (spec)->maximum;
  } else {
    return FALSE;
  }
  return TRUE;
}

/* An LFO swings within 0 to 1, which new() spreads over the property's range. */
static GstControlSource *
make_lfo (const Options *o, gdouble low, gdouble high)
{
  GstControlSource *source = gst_lfo_control_source_new ();

  g_object_set (source, "waveform", GST_LFO_WAVEFORM_SINE, "frequency",
      o->frequency, "amplitude", ABS (o->to - o->from) / 2 / (high - low),
      "offset", ((o->from + o->to) / 2 - low) / (high - low), NULL);
  return source;
}

static void
bind (const Options *o, GstObject *object)
{
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (object), o->property);
  gboolean is_lfo = !strcmp (o->curve, "lfo");
  GstControlSource *source;
  GstControlBinding *binding;
  gdouble low, high;

  if (!spec || !(spec->flags & GST_PARAM_CONTROLLABLE) ||
      !get_range (spec, &low, &high))
    fail ("%s has no number '%s' that can be controlled",
        GST_OBJECT_NAME (object), o->property);
  if (is_lfo)
    source = make_lfo (o, low, high);
  else if (!strcmp (o->curve, "line"))
    source = make_line (o);
  else if (!strcmp (o->curve, "steps"))
    source = make_steps (o);
  else
    fail ("curve is none of line, lfo, steps: \"%s\"", o->curve);
  binding = is_lfo
                ? gst_direct_control_binding_new (object, o->property, source)
                : gst_direct_control_binding_new_absolute (object, o->property,
                      source);
  gst_object_add_control_binding (object, binding);
  gst_object_unref (source);
}

/* ---- the pipeline ---------------------------------------------------------------- */

static void
bind_in (const Options *o, GstElement *pipeline)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  GObject *object = G_OBJECT (element);

  if (o->child)
    object =
        gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), o->child);
  if (!object)
    fail ("the chain has no stage '%s'", o->child);
  bind (o, GST_OBJECT (object));
  if (o->child)
    g_object_unref (object);
  gst_object_unref (element);
}

static void
play (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    fail ("%s", error->message);
  }
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
set_option (Options *o, const gchar *argument)
{
  const struct
  {
    const gchar *name;
    const gchar **text;
    gdouble *number;
  } options[] = { { "element", &o->element, NULL },
    { "child", &o->child, NULL }, { "property", &o->property, NULL },
    { "curve", &o->curve, NULL }, { "source", &o->source, NULL },
    { "output", &o->output, NULL }, { "from", NULL, &o->from },
    { "to", NULL, &o->to }, { "seconds", NULL, &o->seconds },
    { "frequency", NULL, &o->frequency } };
  const gchar *value = strchr (argument, '=');
  gchar *end;

  for (guint i = 0; value && i < G_N_ELEMENTS (options); i++) {
    if (strlen (options[i].name) != (gsize)(value - argument) ||
        strncmp (options[i].name, argument, value - argument))
      continue;
    if (options[i].text) {
      *options[i].text = value + 1;
      return;
    }
    *options[i].number = g_ascii_strtod (value + 1, &end);
    if (end == value + 1 || *end)
      fail ("%s is no number: \"%s\"", options[i].name, value + 1);
    return;
  }
  fail ("no such option: %s; there are element=, child=, property=, curve=, "
        "source=, output=, from=, to=, seconds= and frequency=",
      argument);
}

int
main (int argc, char **argv)
{
  Options options = defaults;
  GstElement *pipeline;
  GError *error = NULL;
  gchar *line;

  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++)
    set_option (&options, argv[i]);
  if (!options.output)
    fail ("there is no output=FILE");
  if (!(options.seconds > 0.0) || options.seconds > MAX_SECONDS)
    fail ("seconds is %g, but must be above 0 and at most %d", options.seconds,
        MAX_SECONDS);
  if (!(options.frequency > 0.0) || options.frequency > MAX_HZ)
    fail ("frequency is %g Hz, but must be above 0 and at most %d",
        options.frequency, MAX_HZ);
  line = g_strdup_printf ("%s samplesperbuffer=1024 num-buffers=%u ! "
                          "audio/x-raw,format=F32LE,rate=48000,channels=1 ! "
                          "%s name=filter ! wavenc ! filesink location=\"%s\"",
      options.source, (guint)(options.seconds * 48000 / 1024 + 1),
      options.element, options.output);
  pipeline = gst_parse_launch (line, &error);
  if (!pipeline || error)
    fail ("%s", error->message);
  bind_in (&options, pipeline);
  play (pipeline);
  gst_object_unref (pipeline);
  g_free (line);
  return EXIT_SUCCESS;
}
