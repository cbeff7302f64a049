/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxvideo.c: streams that are copied: video and subtitles.
 *
 *   demultiplexer ! [parser !] [timestamper !] muxer
 *
 * The reader's bin has a pad for each.  Packets of a Matroska or MP4 go into the other one as
 * they are.  A parser is there only where the muxer takes another form of the codec, or the
 * input does not say where frames begin and when they are shown, such as a .ts or .avi.
 */
#include "gsttfxvideo.h"

#include <string.h>

#include <gst/gst.h>

#define STREAM "copied-stream"
#define FRAMED "copied-frames"

gboolean
gst_tfx_video_is_stream (const GstCaps *caps)
{
  static const gchar *const kinds[] = { "video/", "image/", "text/",
    "subtitle/", "subpicture/", "application/x-ssa", "application/x-ass",
    "application/x-usf", "application/x-subtitle" };
  const gchar *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  GList *demuxers = NULL, *fit = NULL;
  gboolean is_one = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    is_one |= g_str_has_prefix (name, kinds[i]);
  if (is_one) {
    demuxers =
        gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_DEMUXER,
            GST_RANK_MARGINAL);
    fit = gst_element_factory_list_filter (demuxers, caps, GST_PAD_SINK, FALSE);
    is_one = fit == NULL;
  }
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (demuxers);
  return is_one;
}

/* ---- subtitles ------------------------------------------------------------------------ */

/* matroskademux escapes texts that are no markup, so that all are; muxers take texts as they
 * are. */
static GstCaps *
unmark_caps (GstCaps *caps)
{
  GstStructure *structure;

  caps = gst_caps_make_writable (caps);
  structure = gst_caps_get_structure (caps, 0);
  if (gst_structure_has_name (structure, "text/x-raw"))
    gst_structure_set (structure, "format", G_TYPE_STRING, "utf8", NULL);
  return caps;
}

/* A text that is escaped has no tags. */
static GstBuffer *
unescape (GstBuffer *buffer)
{
  static const gchar *const entities[][2] = { { "&lt;", "<" }, { "&gt;", ">" },
    { "&quot;", "\"" }, { "&apos;", "'" }, { "&#39;", "'" }, { "&amp;", "&" } };
  GString *text = g_string_new (NULL);
  GstBuffer *plain;
  GstMapInfo map;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    g_string_append_len (text, (const gchar *)map.data, (gssize)map.size);
    gst_buffer_unmap (buffer, &map);
  }
  if (!strpbrk (text->str, "<>") && strchr (text->str, '&')) {
    for (gsize i = 0; i < G_N_ELEMENTS (entities); i++)
      g_string_replace (text, entities[i][0], entities[i][1], 0);
    plain = gst_buffer_new_memdup (text->str, text->len);
    gst_buffer_copy_into (plain, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
    gst_buffer_unref (buffer);
    buffer = plain;
  }
  g_string_free (text, TRUE);
  return buffer;
}

/* (Before the decoder's pad gives it to others, which would refuse the caps.) */
static GstPadProbeReturn
unmark (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const gboolean is_text =
      caps &&
      gst_structure_has_name (gst_caps_get_structure (caps, 0), "text/x-raw");

  if (is_text && (info->type & GST_PAD_PROBE_TYPE_BUFFER)) {
    info->data = unescape (info->data);
  } else if (is_text && GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS) {
    gst_event_unref (info->data);
    caps = unmark_caps (caps);
    info->data = gst_event_new_caps (caps);
  }
  gst_clear_caps (&caps);
  return GST_PAD_PROBE_OK;
}

/* ---- pads of the reader -------------------------------------------------------------- */

static GstPadProbeReturn
wait (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_video_add (GstElement *reader, GstPad *pad, gboolean is_framed)
{
  GstPad *ghost = gst_ghost_pad_new (NULL, pad);
  const gulong probe = gst_pad_add_probe (ghost,
      GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, wait, NULL, NULL);

  g_object_set_data (G_OBJECT (ghost), STREAM, GSIZE_TO_POINTER (probe));
  g_object_set_data (G_OBJECT (ghost), FRAMED, GINT_TO_POINTER (is_framed));
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, unmark,
      NULL, NULL);
  gst_pad_set_active (ghost, TRUE);
  gst_element_add_pad (reader, ghost);
}

/* The pads of streams, with a reference to each. */
static GPtrArray *
list_streams (GstElement *reader)
{
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);

  GST_OBJECT_LOCK (reader);
  for (GList *at = reader->srcpads; at; at = at->next) {
    if (g_object_get_data (at->data, STREAM))
      g_ptr_array_add (pads, gst_object_ref (at->data));
  }
  GST_OBJECT_UNLOCK (reader);
  return pads;
}

void
gst_tfx_video_clear (GstElement *reader)
{
  GPtrArray *pads = list_streams (reader);

  for (guint i = 0; i < pads->len; i++) {
    gst_pad_set_active (pads->pdata[i], FALSE);
    gst_element_remove_pad (reader, pads->pdata[i]);
  }
  g_ptr_array_unref (pads);
}

/* ---- the muxer ------------------------------------------------------------------------ */

/* The template of a muxer for streams with these caps, with all that it needs of them
 * (is_whole), or NULL. */
static GstPadTemplate *
find_template (GstElement *mux, const GstCaps *caps, gboolean is_whole)
{
  for (GList *at = gst_element_class_get_pad_template_list (
           GST_ELEMENT_GET_CLASS (mux));
       at; at = at->next) {
    GstPadTemplate *template = at->data;
    const GstCaps *taken = GST_PAD_TEMPLATE_CAPS (template);

    if (GST_PAD_TEMPLATE_DIRECTION (template) == GST_PAD_SINK &&
        (is_whole ? gst_caps_is_subset (caps, taken)
                  : gst_caps_can_intersect (caps, taken)))
      return template;
  }
  return NULL;
}

/* A parser with these caps whose output a muxer takes, floating, or NULL. */
static GstElement *
make_parser (GstElement *mux, const GstCaps *caps, GstPadTemplate **template)
{
  GList *all =
      gst_element_factory_list_get_elements (GST_ELEMENT_FACTORY_TYPE_PARSER,
          GST_RANK_MARGINAL);
  GList *fit = gst_element_factory_list_filter (all, caps, GST_PAD_SINK, FALSE);
  GstElement *parser = NULL;

  *template = NULL;
  for (GList *at = fit; at && !parser; at = at->next) {
    for (const GList *pads =
             gst_element_factory_get_static_pad_templates (at->data);
         pads && !*template; pads = pads->next) {
      const GstStaticPadTemplate *pad = pads->data;
      GstCaps *made =
          gst_static_pad_template_get_caps ((GstStaticPadTemplate *)pads->data);

      if (pad->direction == GST_PAD_SRC)
        *template = find_template (mux, made, FALSE);
      gst_caps_unref (made);
    }
    if (*template)
      parser = gst_element_factory_create (at->data, NULL);
  }
  gst_plugin_feature_list_free (fit);
  gst_plugin_feature_list_free (all);
  return parser;
}

/* An .mp4 has the times of decoding too, which a Matroska has not. */
static GstElement *
make_timestamper (const GstTfxCodec *codec, const GstCaps *caps)
{
  const gchar *name = gst_structure_get_name (gst_caps_get_structure (caps, 0));

  if (codec->container != GST_TFX_CONTAINER_MP4)
    return NULL;
  if (strcmp (name, "video/x-h264") == 0)
    return gst_element_factory_make ("h264timestamper", NULL);
  return strcmp (name, "video/x-h265") == 0
             ? gst_element_factory_make ("h265timestamper", NULL)
             : NULL;
}

static GstPad *
put_before (GstElement *encoder, GstElement *element, GstPad *sink)
{
  GstPad *src;

  if (!element)
    return sink;
  gst_bin_add (GST_BIN (encoder), element);
  gst_element_sync_state_with_parent (element);
  src = gst_element_get_static_pad (element, "src");
  gst_pad_link_full (src, sink, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (src);
  gst_object_unref (sink);
  return gst_element_get_static_pad (element, "sink");
}

typedef struct Times
{
  GstElement *encoder; /* which owns the pad */
  gboolean is_mp4;
  GstClockTime last; /* of presentation */
} Times;

/* Only the first packet shows whether the muxer has this profile or chroma format.  mp4mux
 * (GStreamer 1.22) crashes on VP9 that does not name the place of its chroma: it gets that of
 * MPEG-2, as in most files. */
static GstEvent *
check_caps (GstPad *pad, GstEvent *event, const Times *times)
{
  const GstStructure *structure;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return event;
  gst_event_parse_caps (event, &caps);
  structure = gst_caps_get_structure (caps, 0);
  if (!gst_pad_query_accept_caps (pad, caps)) {
    GST_ELEMENT_ERROR (times->encoder, STREAM, MUX,
        ("GStreamer cannot write the profile or chroma format of its stream "
         "of %s to %s",
            gst_structure_get_name (structure),
            times->is_mp4 ? "an .mp4 (but to a .mkv)" : "a .mkv"),
        (NULL));
  } else if (times->is_mp4 &&
             gst_structure_has_name (structure, "video/x-vp9") &&
             !gst_structure_has_field (structure, "chroma-site")) {
    caps = gst_caps_copy (caps);
    gst_caps_set_simple (caps, "chroma-site", G_TYPE_STRING, "mpeg2", NULL);
    gst_event_unref (event);
    event = gst_event_new_caps (caps);
    gst_caps_unref (caps);
  }
  return event;
}

/* Muxers drop a packet without a time, or give it another one. */
static GstPadProbeReturn
check_stream (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Times *times = data;
  GstBuffer *buffer =
      info->type & GST_PAD_PROBE_TYPE_BUFFER ? info->data : NULL;
  GstClockTime pts;
  gboolean lacks_dts;

  if (!buffer) {
    info->data = check_caps (pad, info->data, times);
    return GST_PAD_PROBE_OK;
  }
  pts = GST_BUFFER_PTS (buffer);
  lacks_dts = times->is_mp4 && !GST_BUFFER_DTS_IS_VALID (buffer);
  if (!GST_CLOCK_TIME_IS_VALID (pts) ||
      (lacks_dts && GST_CLOCK_TIME_IS_VALID (times->last) &&
          pts < times->last)) {
    GST_ELEMENT_ERROR (times->encoder, STREAM, MUX,
        ("its video has no %s, so it cannot be kept%s",
            lacks_dts ? "decoding times" : "timestamps",
            lacks_dts ? " in an .mp4 (but in a .mkv)" : ""),
        (NULL));
    gst_clear_buffer ((GstBuffer **)&info->data);
    GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
    return GST_PAD_PROBE_HANDLED;
  }
  if (lacks_dts) {
    info->data = gst_buffer_make_writable (buffer);
    GST_BUFFER_DTS (info->data) = pts;
  }
  times->last = pts;
  return GST_PAD_PROBE_OK;
}

/* FALSE: the muxer takes no such stream. */
static gboolean
link_stream (GstPad *pad, const GstTfxCodec *codec, GstElement *encoder,
    GstElement *mux, GstCaps *caps)
{
  GstPadTemplate *template = NULL;
  GstElement *parser = NULL;
  Times times = { encoder, codec->container == GST_TFX_CONTAINER_MP4,
    GST_CLOCK_TIME_NONE };
  GstPad *sink, *ghost;

  if (g_object_get_data (G_OBJECT (pad), FRAMED))
    template = find_template (mux, caps, TRUE);
  if (!template)
    parser = make_parser (mux, caps, &template);
  if (!template)
    template = find_template (mux, caps, TRUE);
  if (!template)
    return FALSE;
  sink = gst_element_request_pad (mux, template, NULL, NULL);
  /* (Unless its rate is known, an .mp4 would round times to 1/1800 s.) */
  if (times.is_mp4 &&
      !gst_structure_has_field (gst_caps_get_structure (caps, 0), "framerate"))
    g_object_set (sink, "trak-timescale", 90000, NULL);
  gst_pad_add_probe (sink,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      check_stream, g_memdup2 (&times, sizeof times), g_free);
  sink = put_before (encoder, make_timestamper (codec, caps), sink);
  sink = put_before (encoder, parser, sink);
  ghost = gst_ghost_pad_new (NULL, sink);
  gst_object_unref (sink);
  gst_pad_set_active (ghost, TRUE);
  gst_element_add_pad (encoder, ghost);
  return gst_pad_link_full (pad, ghost, GST_PAD_LINK_CHECK_NOTHING) ==
         GST_PAD_LINK_OK;
}

gboolean
gst_tfx_video_link (GstElement *reader, const GstTfxCodec *codec,
    GstElement *encoder, guint *n_linked, GError **error)
{
  GPtrArray *pads = list_streams (reader);
  GstElement *mux = gst_bin_get_by_name (GST_BIN (encoder), "mux");
  gboolean is_linked = TRUE;

  for (guint i = 0; i < pads->len && is_linked; i++) {
    GstPad *pad = pads->pdata[i];
    GstCaps *caps = gst_pad_get_current_caps (pad);

    if (!caps)
      caps = gst_pad_query_caps (pad, NULL);
    caps = unmark_caps (caps);
    is_linked =
        codec->has_video && link_stream (pad, codec, encoder, mux, caps);
    if (!is_linked)
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_MUX,
          "a .%s cannot have its stream of %s%s", codec->extension,
          gst_structure_get_name (gst_caps_get_structure (caps, 0)),
          codec->has_video
              ? ""
              : " (--keep-video writes .mkv, .mp4, .m4v and .mov)");
    gst_caps_unref (caps);
  }
  for (guint i = 0; i < pads->len && is_linked; i++)
    gst_pad_remove_probe (pads->pdata[i],
        GPOINTER_TO_SIZE (g_object_get_data (pads->pdata[i], STREAM)));
  *n_linked = pads->len;
  gst_clear_object (&mux);
  g_ptr_array_unref (pads);
  return is_linked;
}
