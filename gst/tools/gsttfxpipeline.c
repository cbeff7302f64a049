/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpipeline.c: the pipeline of play and serve.
 *
 *   sound ! audioconvert ! filters ! audioconvert ! audioresample ! sink
 */
#include "gsttfxpipeline.h"

#include <string.h>

#include "gsttfxreader.h"
#include "gsttfxsource.h"

/* That of a file of this machine; or NULL.  (A name may look like an address.) */
static gchar *
find_path (const gchar *sound)
{
  if (!gst_uri_is_valid (sound) || g_file_test (sound, G_FILE_TEST_EXISTS))
    return g_strdup (sound);
  return g_filename_from_uri (sound, NULL, NULL);
}

static void
complete (GstElement *pipeline, const gchar *name)
{
  GstElement *convert = gst_bin_get_by_name (GST_BIN (pipeline), name);

  gst_tfx_source_complete (convert);
  gst_object_unref (convert);
}

static gboolean
add_sound (GstElement *pipeline, const gchar *sound, GError **error)
{
  gchar *path = find_path (sound);
  GstElement *convert = gst_bin_get_by_name (GST_BIN (pipeline), "convert");
  GstTfxReader *reader = gst_tfx_reader_new (path, sound, NULL, NULL, error);

  if (reader) {
    gst_bin_add (GST_BIN (pipeline), gst_tfx_reader_get_bin (reader));
    gst_element_link (gst_tfx_reader_get_bin (reader), convert);
  }
  gst_object_unref (convert);
  g_free (path);
  return reader != NULL;
}

GstElement *
gst_tfx_pipeline_new (const gchar *sound, const gchar *source,
    const gchar *filters, const gchar *sink, GError **error)
{
  const gboolean is_microphone = strcmp (sound, "-") == 0;
  GstElement *pipeline;
  gchar *text;

  text = g_strdup_printf ("%s%s audioconvert name=convert ! %s ! "
                          "audioconvert name=back ! audioresample ! %s",
      !is_microphone ? ""
      : source       ? source
                     : "autoaudiosrc",
      is_microphone ? " !" : "", filters, sink ? sink : "autoaudiosink");
  pipeline =
      gst_parse_launch_full (text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  g_free (text);
  if (!pipeline)
    return NULL;
  gst_object_ref_sink (pipeline);
  complete (pipeline, "convert");
  complete (pipeline, "back");
  if (!is_microphone && !add_sound (pipeline, sound, error))
    gst_clear_object (&pipeline);
  return pipeline;
}

gboolean
gst_tfx_pipeline_seek_to (GstElement *pipeline, gint64 to_ns)
{
  return gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, to_ns);
}

void
gst_tfx_pipeline_seek (GstElement *pipeline, gint64 by_ns)
{
  gint64 position;

  if (gst_element_query_position (pipeline, GST_FORMAT_TIME, &position))
    gst_tfx_pipeline_seek_to (pipeline, MAX (position + by_ns, 0));
}

gboolean
gst_tfx_pipeline_can_seek (GstElement *pipeline)
{
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean can = FALSE;

  if (gst_element_query (pipeline, query))
    gst_query_parse_seeking (query, NULL, &can, NULL, NULL);
  gst_query_unref (query);
  return can;
}
