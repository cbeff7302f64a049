/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyfile.c: a file as the key of a tfxchain.
 *
 *   reader ! audioconvert ! samples ! tfxchain.key_0
 */
#include "gsttfxkeyfile.h"

#include "gsttfxtool.h"

gboolean
gst_tfx_keyfile_open (GstTfxKeyfile *self, const gchar *path,
    GstElement *pipeline, GstElement *chain, GError **error)
{
  GstElement *bin, *convert, *samples;
  GstPad *src;

  self->path = path;
  self->reader = gst_tfx_reader_new (path, NULL, NULL, NULL, error);
  if (!self->reader)
    return FALSE;
  /* The reader has the same elements. */
  convert = gst_element_factory_make ("audioconvert", NULL);
  samples = gst_element_factory_make ("capsfilter", NULL);
  bin = gst_tfx_reader_get_bin (self->reader);
  gst_util_set_object_arg (G_OBJECT (samples), "caps",
      "audio/x-raw, format=" GST_AUDIO_NE (F64) ", layout=interleaved");
  gst_bin_add_many (GST_BIN (pipeline), bin, convert, samples, NULL);
  gst_element_link_many (bin, convert, samples, NULL);
  self->pad = gst_element_request_pad_simple (chain, "key_%u");
  src = gst_element_get_static_pad (samples, "src");
  gst_pad_link (src, self->pad);
  gst_object_unref (src);
  return TRUE;
}

gboolean
gst_tfx_keyfile_stands_still (GstTfxKeyfile *self)
{
  return self->reader && !GST_PAD_IS_EOS (self->pad) &&
         gst_tfx_tool_stands_still (gst_tfx_reader_get_bin (self->reader),
             &self->n_idle);
}

void
gst_tfx_keyfile_reset (GstTfxKeyfile *self)
{
  if (self->reader)
    gst_tfx_reader_reset (self->reader);
}

void
gst_tfx_keyfile_clear (GstTfxKeyfile *self)
{
  gst_clear_object (&self->pad);
}
