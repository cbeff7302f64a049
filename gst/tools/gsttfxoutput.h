/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoutput.h: chooses the encoder's input format from the chain's output. */
#ifndef GST_TFX_OUTPUT_H
#define GST_TFX_OUTPUT_H

#include "gsttfxcodec.h"
#include "gsttfxjob.h"

G_BEGIN_DECLS

/* Bytes of sound in a .wav: wavenc (GStreamer 1.22) writes 32-bit sizes; the
 * rest is for the header and texts. */
#define GST_TFX_OUTPUT_MOST_WAV (G_MAXUINT32 - (1 << 20))

typedef struct GstTfxOutput
{
  const GstTfxJob *job;
  GstElement *input;    /* which gets what was decoded */
  GstElement *resample; /* behind the chain, to a rate that the encoder has */
  GstElement *convert;  /* an audioconvert behind that */
  GstElement *format;   /* a capsfilter between it and the encoder */
  GstElement *sink;     /* of the file */
  GstElement *reader;   /* the bin with streams that are copied; or NULL */
  /* The chain may have changed the level, so level tags are dropped. */
  gboolean is_changed;

  /* Once the first samples come: NULL before. */
  const GstTfxCodec *codec;
  GstElement *encoder;
  GstTagList *tags; /* all that came before, without those of the old sound */
  GstEvent *caps, *toc;
  gboolean has_begun; /* the encoder has these events */
  guint n_copied;     /* streams beside the sound */
  GstSegment segment;
  GstClockTime start; /* of the sound, where there are such streams; or 0 */

  /* What came out of the chain. */
  gint rate_hz, n_channels;
  guint64 mask;     /* of their places; 0: none */
  guint64 label;    /* the channel mask in the output */
  guint64 n_frames; /* that came, and that were encoded */
  guint64 n_encoded;
  gint encoded_hz;
  gboolean is_double;  /* 64 bits, not 32 */
  gboolean is_integer; /* the output is, and cannot have more than full scale */
  guint64 n_clipped;   /* of its samples; 0 where it is none */
  gdouble peak;        /* of the samples; 0 where it is none */
  guint64 n_bytes;     /* of sound, of a .wav */
  guint n_pictures;    /* that a .flac has so far */
  gsize n_head;        /* bytes of the tags that an .mp3 begins with */
  gboolean is_full;    /* it takes no more: atomic */

  /* What standard output got. */
  guint n_segments;
  gboolean has_header; /* of a .wav */
  guint64 n_sent;      /* bytes of its sound */
} GstTfxOutput;

/* Derives the output's format from the caps at `resample`; the first samples create
 * the encoder, between `format` and `sink`.  The struct stays where it is; an error comes as
 * a message of `convert`. */
void gst_tfx_output_follow (GstTfxOutput *output);

/* Lets an fdsink write to standard output.  A pipe cannot
 * be rewritten, so a .wav then has no length. */
void gst_tfx_output_set_stdout (GstTfxOutput *output, GstElement *sink);

/* After EOS, while the pipeline still runs: warns of losses against the input, and
 * notes the duration. */
void gst_tfx_output_tell (GstTfxOutput *output);

void gst_tfx_output_clear (GstTfxOutput *output);

G_END_DECLS

#endif /* GST_TFX_OUTPUT_H */
