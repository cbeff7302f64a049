/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtags.h: the tags that go from a sound file into the next one. */
#ifndef GST_TFX_TAGS_H
#define GST_TFX_TAGS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* GStreamer's own tag of its ID3 reader: a frame with its head. */
#define GST_TFX_TAGS_ID3_FRAME "private-id3v2-frame"

/* Loudness for ReplayGain, in LUFS and dBTP. */
typedef struct GstTfxReplayGain
{
  gboolean has_track, has_album; /* else it is silent, or none is asked for */
  gdouble track_lufs, track_peak_db, album_lufs, album_peak_db;
} GstTfxReplayGain;

/* Adds those of a tag event; what came before stays. */
void gst_tfx_tags_merge (GstTagList *tags, GstEvent *event);

/* Adds those of the input (of that path; NULL: none) that GStreamer does not read.  Removes
 * those about the encoding of the old file, and where is_changed, those about its
 * loudness.  What stays are comments NAME=TEXT, pictures and frames of ID3. */
void
gst_tfx_tags_clean (GstTagList *tags, const gchar *path, gboolean is_changed);

/* Adds comments with the gain to -18 LUFS and the peak of full scale 1; where is_opus, those of
 * RFC 7845 instead: the gain to -23 LUFS in steps of 1/256 dB. */
void gst_tfx_tags_add_gains (GstTagList *tags, const GstTfxReplayGain *gains,
    gboolean is_opus);

/* Gives them to an encoder that writes Vorbis comments, to a .flac or an Ogg (is_ogg).  In a
 * .flac pictures get blocks of the right length, which the caller has to fill. */
void gst_tfx_tags_set (const GstTagList *tags, GstTagSetter *encoder,
    gboolean is_ogg);

G_END_DECLS

#endif /* GST_TFX_TAGS_H */
