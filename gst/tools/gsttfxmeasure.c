/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmeasure.c: the cost of a chain for blocks of one shape.
 *
 * Blocks of noise are pushed through the element tfxchain, and its own count of the
 * time that they took is read.
 */
#include "gsttfxmeasure.h"

#include <gst/audio/audio.h>

#include "gsttfxtool.h"

/* Blocks made before the measurement starts: fewer if they are large, since these
 * take seconds and hundreds of megabytes. */
#define MOST_BLOCKS 16
#define MOST_SAMPLES ((gsize)1 << 20)

static guint
count_blocks (const GstAudioInfo *info, gint n_frames)
{
  const gsize size = (gsize)n_frames * (gsize)GST_AUDIO_INFO_CHANNELS (info);

  return (guint)CLAMP (MOST_SAMPLES / MAX (size, 1), 2, MOST_BLOCKS);
}

/* Reads what comes: an element may leave its work to those behind it. */
static GstFlowReturn
take_buffer (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMapInfo map;
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    gst_buffer_unmap (buffer, &map);
    flow = GST_FLOW_OK;
  }
  gst_buffer_unref (buffer);
  return flow;
}

static GstPad *
link_pad (GstElement *element, const gchar *name, GstPadDirection direction)
{
  GstPad *theirs = gst_element_get_static_pad (element, name);
  GstPad *pad = gst_pad_new (NULL, direction);

  if (direction == GST_PAD_SINK)
    gst_pad_set_chain_function (pad, take_buffer);
  gst_pad_set_active (pad, TRUE);
  if (direction == GST_PAD_SRC)
    gst_pad_link (pad, theirs);
  else
    gst_pad_link (theirs, pad);
  gst_object_unref (theirs);
  return pad;
}

/* Noise between -0.5 and 0.5. */
static GstBuffer *
make_block (const GstAudioInfo *info, gint n_frames)
{
  const gsize size = (gsize)n_frames * (gsize)GST_AUDIO_INFO_BPF (info);
  GstBuffer *block = gst_buffer_new_allocate (NULL, size, NULL);
  GRand *random = g_rand_new_with_seed (1);
  GstMapInfo map;

  gst_buffer_map (block, &map, GST_MAP_WRITE);
  if (GST_AUDIO_INFO_WIDTH (info) == 64) {
    for (gsize i = 0; i < size / sizeof (gdouble); i++)
      ((gdouble *)map.data)[i] = g_rand_double (random) - 0.5;
  } else {
    for (gsize i = 0; i < size / sizeof (gfloat); i++)
      ((gfloat *)map.data)[i] = (gfloat)g_rand_double (random) - 0.5f;
  }
  gst_buffer_unmap (block, &map);
  g_rand_free (random);
  return block;
}

static guint64
read_process_time (GstElement *element, GstTfxFigures *figures)
{
  GstStructure *stats = NULL;
  guint64 ns = 0;

  g_object_get (element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "process-time", &ns);
  if (figures) {
    figures->device = g_strdup (gst_structure_get_string (stats, "device"));
    figures->kernel = g_strdup (gst_structure_get_string (stats, "kernel"));
  }
  gst_structure_free (stats);
  return ns;
}

/* FALSE if the element refuses a block. */
static gboolean
push_blocks (GstPad *pad, GstBuffer *block, guint64 *n_pushed,
    const GstAudioInfo *info, gint n_frames)
{
  const guint n_blocks = count_blocks (info, n_frames);
  GstBuffer *blocks[MOST_BLOCKS];
  gboolean is_good = TRUE;

  for (guint i = 0; i < n_blocks; i++) {
    blocks[i] = gst_buffer_copy_deep (block);
    GST_BUFFER_PTS (blocks[i]) =
        gst_util_uint64_scale ((*n_pushed + i) * (guint64)n_frames, GST_SECOND,
            (guint64)GST_AUDIO_INFO_RATE (info));
  }
  for (guint i = 0; i < n_blocks; i++) {
    if (is_good)
      is_good = gst_pad_push (pad, blocks[i]) == GST_FLOW_OK;
    else
      gst_buffer_unref (blocks[i]);
  }
  *n_pushed += n_blocks;
  return is_good;
}

static gboolean
measure_blocks (GstElement *element, GstPad *pad, const GstAudioInfo *info,
    gint n_frames, gdouble seconds, GstTfxFigures *figures)
{
  const gdouble n_samples = (gdouble)n_frames * GST_AUDIO_INFO_CHANNELS (info) *
                            count_blocks (info, n_frames);
  GstBuffer *block = make_block (info, n_frames);
  GArray *times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const gint64 end =
      g_get_monotonic_time () + (gint64)(seconds * G_USEC_PER_SEC);
  guint64 n_pushed = 0, before;
  /* The first ones fill caches, and may compile. */
  gboolean is_good = push_blocks (pad, block, &n_pushed, info, n_frames);

  while (is_good && !gst_tfx_tool_is_interrupted () &&
         (times->len < 3 || g_get_monotonic_time () < end)) {
    gdouble ns;

    before = read_process_time (element, NULL);
    is_good = push_blocks (pad, block, &n_pushed, info, n_frames);
    ns = (gdouble)(read_process_time (element, NULL) - before) / n_samples;
    g_array_append_val (times, ns);
  }
  if (is_good && times->len > 0) {
    g_array_sort (times, (GCompareFunc)gst_tfx_tool_compare_doubles);
    figures->ns_per_sample = g_array_index (times, gdouble, times->len / 2);
    read_process_time (element, figures);
  }
  g_array_unref (times);
  gst_buffer_unref (block);
  return is_good;
}

/* Messages on the bus may hold the pad for longer: where it then goes while it is
 * still linked, it posts another one, from within the bus. */
static void
drop_pad (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  gst_pad_set_active (pad, FALSE);
  if (GST_PAD_IS_SRC (pad))
    gst_pad_unlink (pad, peer);
  else
    gst_pad_unlink (peer, pad);
  gst_object_unref (peer);
  gst_object_unref (pad);
}

static gboolean
measure_shape (GstElement *element, const GstTfxShape *shape, gdouble seconds,
    GstTfxFigures *figures)
{
  GstPad *source = link_pad (element, "sink", GST_PAD_SRC);
  GstPad *sink = link_pad (element, "src", GST_PAD_SINK);
  GstAudioInfo info;
  GstSegment segment;
  GstCaps *caps;
  gboolean is_good;

  gst_audio_info_set_format (&info,
      gst_audio_format_from_string (shape->format), shape->rate_hz,
      shape->n_channels, NULL);
  /* Without places: any number of channels. */
  caps = gst_caps_new_simple ("audio/x-raw", "format", G_TYPE_STRING,
      shape->format, "layout", G_TYPE_STRING, "interleaved", "rate", G_TYPE_INT,
      shape->rate_hz, "channels", G_TYPE_INT, shape->n_channels, "channel-mask",
      GST_TYPE_BITMASK, shape->n_channels == 2 ? (guint64)3 : (guint64)0, NULL);
  if (shape->n_channels == 1)
    gst_structure_remove_field (gst_caps_get_structure (caps, 0),
        "channel-mask");
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (source, gst_event_new_stream_start ("bench"));
  is_good = gst_pad_push_event (source, gst_event_new_caps (caps));
  gst_pad_push_event (source, gst_event_new_segment (&segment));
  if (is_good)
    is_good = measure_blocks (element, source, &info, shape->n_frames, seconds,
        figures);
  gst_element_set_state (element, GST_STATE_NULL);
  drop_pad (source);
  drop_pad (sink);
  gst_caps_unref (caps);
  return is_good;
}

/* The first one of this type, or NULL. */
static gchar *
take_text (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  GError *error = NULL;
  gchar *text = NULL;

  if (message) {
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    text = g_strdup (error->message);
    g_clear_error (&error);
    gst_message_unref (message);
  }
  return text;
}

static gchar *
describe_refusal (GstBus *bus, const GstTfxShape *shape)
{
  gchar *why = take_text (bus, GST_MESSAGE_ERROR);
  gchar *text =
      g_strdup_printf ("the chain does not run with %d channel%s at %d Hz%s%s",
          shape->n_channels, shape->n_channels == 1 ? "" : "s", shape->rate_hz,
          why ? ": " : "", why ? why : "");

  g_free (why);
  return text;
}

gboolean
gst_tfx_measure_run (const gchar *chain, const gchar *device,
    const GstTfxShape *shape, gdouble seconds, GstTfxFigures *figures)
{
  GstElement *element = gst_tfx_tool_make_chain ();
  GstBus *bus;
  gboolean is_good;

  *figures = (GstTfxFigures){ 0.0 };
  if (!element)
    return FALSE;
  bus = gst_bus_new ();
  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "device", device);
  g_object_set (element, "chain", chain, NULL);
  is_good = measure_shape (element, shape, seconds, figures);
  if (!is_good)
    figures->refusal = describe_refusal (bus, shape);
  figures->warning = is_good ? take_text (bus, GST_MESSAGE_WARNING) : NULL;
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (element);
  return is_good;
}

void
gst_tfx_figures_clear (GstTfxFigures *figures)
{
  g_clear_pointer (&figures->device, g_free);
  g_clear_pointer (&figures->kernel, g_free);
  g_clear_pointer (&figures->warning, g_free);
  g_clear_pointer (&figures->refusal, g_free);
}
