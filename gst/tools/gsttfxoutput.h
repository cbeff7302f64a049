/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxoutput.h: what goes into an encoder, by what comes out of a chain. */
#ifndef GST_TFX_OUTPUT_H
#define GST_TFX_OUTPUT_H

#include "gsttfxjob.h"

G_BEGIN_DECLS

/* Bytes of sound in a .wav: wavenc (GStreamer 1.22) writes a size that has 32 bits, of which
 * the rest is for what is around the sound. */
#define GST_TFX_OUTPUT_MOST_WAV (G_MAXUINT32 - (1 << 20))

typedef struct GstTfxOutput
{
  const GstTfxJob *job;
  GstElement *convert;  /* an audioconvert behind the chain */
  GstElement *format;   /* a capsfilter between it and the encoder */
  GstElement *encoder;  /* by gst_tfx_codec_make(); NULL: there is no output */
  gboolean is_levelled; /* so that gains in tags are no longer true */

  /* What came out of the chain. */
  gint rate_hz, n_channels;
  guint64 mask;        /* of their places; 0: none */
  guint64 label;       /* what they are called by in the output */
  gboolean is_double;  /* 64 bits, not 32 */
  gboolean is_integer; /* the output is, and cannot have more than full scale */
  guint64 n_clipped;   /* of its samples; 0 where it is none */
  gdouble peak;        /* of the samples; 0 where it is none */
  guint64 n_bytes;     /* of sound, of a .wav */
  gboolean is_full;    /* it takes no more: atomic */

  /* What standard output got. */
  guint n_segments;
  gboolean has_begun; /* the header of a .wav */
  guint64 n_sent;     /* bytes of its sound */
} GstTfxOutput;

/* From now on what reaches the convert says what the format is to be.  It stays where it
 * is; an error comes as a message of the encoder. */
void gst_tfx_output_follow (GstTfxOutput *output);

/* Lets an fdsink write to standard output.  A pipe cannot
 * be rewritten, so a .wav then has no length. */
void gst_tfx_output_set_stdout (GstTfxOutput *output, GstElement *sink);

/* Once all has come, while the pipeline still runs: warns of what the output does not
 * have of its input. */
void gst_tfx_output_tell (const GstTfxOutput *output);

G_END_DECLS

#endif /* GST_TFX_OUTPUT_H */
