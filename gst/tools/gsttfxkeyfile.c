/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyfile.c: a file as the key of a tfxchain.
 *
 *   reader ! audioconvert ! samples ! resample ! tfxchain.key_0
 */
#include "gsttfxkeyfile.h"

#include "gsttfxresample.h"
#include "gsttfxtool.h"

static GstPadProbeReturn
hold (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxKeyfile *self = data;

  return g_atomic_int_get (&self->has_rate) ? GST_PAD_PROBE_REMOVE
                                            : GST_PAD_PROBE_OK;
}

static void
block (GstTfxKeyfile *self)
{
  GstPad *pad =
      gst_element_get_static_pad (gst_tfx_reader_get_bin (self->reader), "src");

  g_atomic_int_set (&self->has_rate, FALSE);
  self->block = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
      hold, self, NULL);
  gst_object_unref (pad);
}

static void
unblock (GstTfxKeyfile *self)
{
  GstPad *pad =
      gst_element_get_static_pad (gst_tfx_reader_get_bin (self->reader), "src");

  g_atomic_int_set (&self->has_rate, TRUE);
  if (self->block)
    gst_pad_remove_probe (pad, self->block);
  self->block = 0;
  gst_object_unref (pad);
}

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
  self->resample = gst_tfx_resample_new (0);
  bin = gst_tfx_reader_get_bin (self->reader);
  gst_util_set_object_arg (G_OBJECT (samples), "caps",
      "audio/x-raw, format=" GST_AUDIO_NE (F64) ", layout=interleaved");
  gst_bin_add_many (GST_BIN (pipeline), bin, convert, samples, self->resample,
      NULL);
  gst_element_link_many (bin, convert, samples, self->resample, NULL);
  self->pad = gst_element_request_pad_simple (chain, "key_%u");
  src = gst_element_get_static_pad (self->resample, "src");
  gst_pad_link (src, self->pad);
  gst_object_unref (src);
  block (self);
  return TRUE;
}

void
gst_tfx_keyfile_set_rate (GstTfxKeyfile *self, gint rate_hz)
{
  if (!self->reader)
    return;
  gst_tfx_resample_set_rate (self->resample, rate_hz);
  unblock (self);
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
  if (!self->reader)
    return;
  gst_tfx_reader_reset (self->reader);
  unblock (self);
  block (self);
}

void
gst_tfx_keyfile_clear (GstTfxKeyfile *self)
{
  gst_clear_object (&self->pad);
}
