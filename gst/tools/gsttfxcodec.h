/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcodec.h: what can be written: endings, codecs and their encoders. */
#ifndef GST_TFX_CODEC_H
#define GST_TFX_CODEC_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_TFX_CONTAINER_WAV,
  GST_TFX_CONTAINER_FLAC,
  GST_TFX_CONTAINER_OGG,
  GST_TFX_CONTAINER_MP3,
  GST_TFX_CONTAINER_MP4,
  GST_TFX_CONTAINER_MATROSKA,
  GST_TFX_CONTAINER_WAVPACK
} GstTfxContainer;

/* One codec in the files of one ending. */
typedef struct GstTfxCodec
{
  const gchar *extension, *name;
  GstTfxContainer container;
  const gchar *elements; /* for gst_parse_bin_from_description() */
  const gchar *package;  /* of Debian */
  gboolean is_lossy;
  gint max_channels;   /* if fewer than the encoder says; or 0 */
  gboolean mixes_down; /* more channels become stereo */
  /* The encoder knows the positions left and right alone and rejects channels
   * without positions; its caps do not show it. */
  gboolean needs_places;
  guint delay;    /* frames that the encoder adds at the start */
  guint max_bits; /* if fewer than the samples that the encoder takes; or 0 */
  /* The file holds video and subtitles too, in a muxer "mux"; only --keep-video writes it. */
  gboolean has_video;
} GstTfxCodec;

/* The codec of this name for files with this ending; without a name (NULL) the codec of
 * the input (NULL: unknown) where it can be written, else the default.  NULL with an error:
 * there is none, or with must_keep the default would lose what the input has. */
const GstTfxCodec *gst_tfx_codec_find (const gchar *extension,
    const gchar *name, const gchar *input, gboolean must_keep,
    gboolean with_video, GError **error);

/* The name of the codec upstream of this converter; NULL if it is not one from the table
 * above, or a source. */
const gchar *gst_tfx_codec_get_input (GstElement *convert);

/* The encoder, a bin with a sink and a source pad, floating; NULL with an error that
 * names what is missing. */
GstElement *gst_tfx_codec_make (const GstTfxCodec *codec, GError **error);

/* The sample format of an output with "16", "24", "32" or "float" bits; NULL: none of
 * these. */
const gchar *gst_tfx_codec_get_format (const gchar *bits);

/* Whether this codec has a number of bits (NULL: any) and a rate (0: any).  FALSE with an
 * error that lists those that it has. */
gboolean gst_tfx_codec_check (const GstTfxCodec *codec, const gchar *bits,
    gint rate_hz, GError **error);

/* In bit/s: 64 kb/s for each stream of Opus, and 32 more for one of two channels. */
gint gst_tfx_codec_get_opus_bitrate (gint n_channels);

/* Whether there is a way to write these at all, with video or without. */
gboolean gst_tfx_codec_is_known (const gchar *extension, gboolean with_video);

/* ".wav, .flac, …"; free it. */
gchar *gst_tfx_codec_list_extensions (gboolean with_video);

/* The extension of a file's name, in lower case, without the dot; free it. */
gchar *gst_tfx_codec_get_extension (const gchar *name);

/* Chooses the encoder's input caps: the accepted sample format nearest to this one (the
 * same depth, else deeper); this rate, else the next higher one, else the highest; and the
 * same number of channels, or two for an .mp3.  The mask has the channels' positions (0:
 * none); it is replaced where the encoder does not know them.  NULL with an error if the
 * encoder does not accept that number of channels. */
GstCaps *gst_tfx_codec_choose (const GstTfxCodec *codec, GstElement *encoder,
    const gchar *format, gint rate_hz, gint n_channels, guint64 *mask,
    GError **error);

/* Whether the file has a name for these places, given those that
 * gst_tfx_codec_choose() has found for them. */
gboolean gst_tfx_codec_has_layout (const GstTfxCodec *codec, guint64 mask,
    guint64 label);

/* Corrects the order of channels on their way into an encoder of this codec, and out of
 * the decoder before `convert`, where GStreamer has it wrong; and rounds samples that the
 * encoder would truncate. */
void gst_tfx_codec_mend_samples (const GstTfxCodec *codec, GstElement *encoder,
    gint n_channels);
void gst_tfx_codec_mend_input (GstElement *convert);

G_END_DECLS

#endif /* GST_TFX_CODEC_H */
