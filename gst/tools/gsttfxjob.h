/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjob.h: one file filtered into another one. */
#ifndef GST_TFX_JOB_H
#define GST_TFX_JOB_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* By EBU R 128 and ITU-R BS.1770, in LUFS, LU and dBTP; -inf: silence. */
typedef struct GstTfxLoudness
{
  gdouble integrated, range, momentary_max, short_term_max, true_peak;
} GstTfxLoudness;

/* How loud it is. */
typedef struct GstTfxJobLoudness
{
  gdouble input_lufs, true_peak_db; /* behind the chain; -inf: silence */
  gdouble gain_db;                  /* that was taken */
  gdouble output_lufs;
  gboolean is_silent;  /* and its level stays */
  gboolean is_limited; /* its peaks, so that output_lufs may be below target */
} GstTfxJobLoudness;

/* The samples of a file, or that leave a chain. */
typedef struct GstTfxJobSamples
{
  gint rate_hz, n_channels;
  guint64 n_frames;
  /* SHA-256 of floats as they are filtered, of 32 or 64 bits (gsttfxpass.c). */
  gchar *sha256;
  GstTfxLoudness loudness;
} GstTfxJobSamples;

/* What a manifest records of a job. */
typedef struct GstTfxJobTrace
{
  GstTfxJobSamples input, output; /* as decoded */
  gchar *result_sha256;           /* of what left the chain */
  gchar *kernel;                  /* that ran it, "cpu avx512" */
} GstTfxJobTrace;

typedef struct GstTfxJob
{
  const gchar *input, *output; /* names of files */
  const gchar *source;         /* elements instead of a file; NULL: input */
  gboolean from_stdin;         /* and not from a file */
  /* The extension of an output to standard output; NULL: it is a file. */
  const gchar *to_stdout;
  const gchar *chain;
  /* Of the output, by gst_tfx_codec_find(); NULL: that of the input where the ending is the
   * same, else the usual one. */
  const gchar *codec;
  gboolean must_keep_codec; /* no other one that loses anything */
  /* Of the output, "16", "24", "32" or "float"; NULL: as many as the input. */
  const gchar *bits;
  gint output_hz;      /* its rate; 0: that of the input */
  const gchar *dither; /* a nick of GstAudioDitherMethod; NULL: the usual one */
  const gchar *noise_shaping; /* of GstAudioNoiseShapingMethod; NULL: none */
  gboolean overwrite;         /* a file that is there */
  gboolean allow_cut;  /* a file that is damaged or shorter than it says */
  gboolean has_target; /* a file is read twice, to come to this loudness */
  gdouble target_lufs;
  gdouble most_peak_db; /* of true peaks, then */

  GstTfxJobTrace *trace; /* filled in; NULL: nobody wants it */

  /* How far it has come, for others to see: atomic. */
  gint per_mille;

  gchar *extension;     /* of the output, while it runs */
  gboolean keeps_codec; /* the input has the same */

  /* What came of it. */
  gchar *format; /* of the decoded samples, "S16LE" */
  gint rate_hz, n_channels;
  guint64 n_frames; /* that were filtered */
  gint64 duration;  /* of the sound, in ns */
  gchar *damage;    /* what the decoder lost; NULL: nothing */
  gboolean
      is_cut; /* the input is damaged or shorter than it says, as was told */
  GstTfxJobLoudness loudness;
  guint64 n_clipped; /* samples that were too much for the output's integers */
  gdouble peak;      /* of what became integers; 1: full scale */
  gdouble seconds;   /* that it took */
  GError *error;     /* why there is no output; NULL: there is */
  gboolean is_of_output; /* the error is, and names it itself */
} GstTfxJob;

/* Runs it, in any thread, until it is done or a signal asks the program to end; what
 * comes from a source ends there.
 * The output appears under its name only when it is whole, and nothing is left
 * of it otherwise.  TRUE, or FALSE with job->error. */
gboolean gst_tfx_job_run (GstTfxJob *job);

/* Runs it again without an output, for the trace.  TRUE, or FALSE with job->error. */
gboolean gst_tfx_job_repeat (GstTfxJob *job);

/* Decodes a file, for a job with these bits (or NULL), and measures its loudness too if
 * that is wanted.  FALSE with an error. */
gboolean gst_tfx_job_survey (const gchar *path, const gchar *bits,
    gboolean with_loudness, GstTfxJobSamples *samples, GError **error);

/* Measures the output of the chain without writing it.  TRUE, or FALSE with
 * job->error. */
gboolean gst_tfx_job_measure (GstTfxJob *job, GstTfxLoudness *loudness);

/* Fails the job, or warns once if it allows it, where its input is truncated or damaged.
 * Before it is decoded `came` is GST_CLOCK_TIME_NONE, then how long its sound is. */
void gst_tfx_job_check_whole (GstTfxJob *job, GstClockTime came);

void gst_tfx_job_clear (GstTfxJob *job);
void gst_tfx_job_trace_clear (GstTfxJobTrace *trace);

G_END_DECLS

#endif /* GST_TFX_JOB_H */
