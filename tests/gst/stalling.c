/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stalling.c: a plugin with a kind of file, "TFXS" and floats of one channel, whose
 * decoder makes no sound when it is first run and then stands still, without an error or
 * an end, as decodebin does at times.
 */
#include <string.h>

#include <gst/gst.h>

#define KIND "audio/x-tfx-stalling"
#define N_HEAD 4

typedef struct
{
  GstElement parent;
  GstPad *src;
  gboolean stalls;
} Stalling;

typedef struct
{
  GstElementClass parent_class;
} StallingClass;

static GType stalling_get_type (void);
G_DEFINE_TYPE (Stalling, stalling, GST_TYPE_ELEMENT)

static GstStaticPadTemplate templates[] = {
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
      GST_STATIC_CAPS (KIND)),
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS ("audio/x-raw, format=F32LE, rate=48000, channels=1, "
                       "layout=interleaved")),
};

static GstFlowReturn
stalling_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  if (((Stalling *)parent)->stalls) {
    gst_buffer_unref (buffer);
    return GST_FLOW_FLUSHING;
  }
  if (GST_BUFFER_OFFSET (buffer) == 0) {
    buffer = gst_buffer_make_writable (buffer);
    gst_buffer_resize (buffer, N_HEAD, -1);
  }
  return gst_pad_push (((Stalling *)parent)->src, buffer);
}

static gboolean
stalling_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstPad *src = ((Stalling *)parent)->src;
  GstSegment segment;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_unref (event);
    caps = gst_pad_get_pad_template_caps (src);
    event = gst_event_new_caps (caps);
    gst_caps_unref (caps);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    gst_event_unref (event);
    gst_segment_init (&segment, GST_FORMAT_TIME);
    event = gst_event_new_segment (&segment);
  }
  return gst_pad_push_event (src, event);
}

/* Each run has a decoder of its own. */
static void
stalling_init (Stalling *self)
{
  static gint n; /* atomic */
  GstPad *sink = gst_pad_new_from_static_template (&templates[0], "sink");

  self->stalls = g_atomic_int_add (&n, 1) == 0;
  self->src = gst_pad_new_from_static_template (&templates[1], "src");
  gst_pad_set_chain_function (sink, stalling_chain);
  gst_pad_set_event_function (sink, stalling_event);
  gst_element_add_pad (GST_ELEMENT (self), sink);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

static void
stalling_class_init (StallingClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element, &templates[0]);
  gst_element_class_add_static_pad_template (element, &templates[1]);
  gst_element_class_set_static_metadata (element, "Stalling decoder",
      "Codec/Decoder/Audio", "Makes no sound when it is first run",
      "the gst-tfx authors");
}

static void
find_type (GstTypeFind *find, gpointer data)
{
  const guint8 *head = gst_type_find_peek (find, 0, N_HEAD);

  if (head && memcmp (head, "TFXS", N_HEAD) == 0)
    gst_type_find_suggest_empty_simple (find, GST_TYPE_FIND_MAXIMUM, KIND);
}

static gboolean
plugin_init (GstPlugin *plugin)
{
  return gst_type_find_register (plugin, KIND, GST_RANK_PRIMARY, find_type,
             NULL, NULL, NULL, NULL) &&
         gst_element_register (plugin, "tfxstalling", GST_RANK_PRIMARY,
             stalling_get_type ());
}

#define PACKAGE "gst-tfx"
GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, tfxstalling,
    "A decoder that stands still", plugin_init, "0", "LGPL", "gst-tfx",
    "gst-tfx")
