/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjob.h: one file filtered into another one. */
#ifndef GST_TFX_JOB_H
#define GST_TFX_JOB_H

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "gsttfxmeter.h"
#include "gsttfxoptions.h"
#include "gsttfxtags.h"

G_BEGIN_DECLS

/* The absolute gate of EBU R 128: anything below is silence. */
#define GST_TFX_JOB_SILENCE_LUFS -70.0

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

/* The record of a job in a manifest. */
typedef struct GstTfxJobTrace
{
  GstTfxJobSamples input, output; /* as decoded */
  gchar *result_sha256;           /* of the chain's output */
  gchar *kernel;                  /* that ran it, "cpu avx512" */
} GstTfxJobTrace;

/* The files of an album together, behind their chains. */
typedef struct GstTfxJobAlbum
{
  gdouble input_lufs, true_peak_db; /* -inf: silence */
  gdouble gain_db;                  /* of every file */
} GstTfxJobAlbum;

typedef struct GstTfxJob
{
  const gchar *input, *output; /* names of files */
  const gchar *source;         /* elements instead of a file; NULL: input */
  gboolean from_stdin;         /* and not from a file */
  /* The extension of an output to standard output; NULL: it is a file. */
  const gchar *to_stdout;
  const gchar *chain;
  const gchar
      *key; /* a file whose channels follow those of the input; or NULL */
  /* Of the output, by gst_tfx_codec_find(); NULL: that of the input where the ending is the
   * same, else the usual one. */
  const gchar *codec;
  gboolean must_keep_codec; /* no other one that loses anything */
  /* Of the output, "16", "24", "32" or "float"; NULL: the format of the input. */
  const gchar *bits;
  gint output_hz;      /* its rate; 0: that of the input */
  const gchar *dither; /* a nick of GstAudioDitherMethod; NULL: the usual one */
  const gchar *noise_shaping; /* of GstAudioNoiseShapingMethod; NULL: none */
  gboolean overwrite;         /* a file that is there */
  gboolean allow_cut;  /* a file that is damaged or shorter than it says */
  gboolean has_target; /* a file is read twice, to come to this loudness */
  gboolean keep_video; /* and subtitles: they are copied */
  gdouble target_lufs;
  gdouble most_peak_db;        /* of true peaks, then */
  gboolean has_replaygain;     /* a file is read twice, to write its gain */
  const GstTfxJobAlbum *album; /* that it is one of; NULL: none */
  gboolean is_before; /* its output is there, by the journal, with its gain */
  gint64 tail;        /* in ns, behind the input; or GST_TFX_RINGOUT_AUTO */

  GstTfxJobTrace *trace; /* filled in; NULL: nobody wants it */

  /* How far it has come, for others to see: atomic. */
  gint per_mille;

  gchar *extension;     /* of the output, while it runs */
  gboolean keeps_codec; /* the input has the same */

  /* What came of it. */
  gchar *format; /* of the decoded samples, "S16LE" */
  gint rate_hz, n_channels;
  guint64 n_frames;  /* that were filtered */
  gint64 duration;   /* of the output, in ns */
  GstClockTime came; /* how long the input was */
  gboolean is_measured;
  GStatBuf before;            /* of the input: 0 unless it is a file */
  GstTfxLoudness measured;    /* behind the chain */
  GstTfxReplayGain gain_tags; /* of the output */
  gchar *damage;              /* what the decoder lost; NULL: nothing */
  gboolean
      is_cut; /* the input is damaged or shorter than it says, as was told */
  GstTfxJobLoudness loudness;
  guint64 n_clipped; /* samples that were too much for the output's integers */
  gdouble peak;      /* before conversion to integers; 1: full scale */
  gdouble seconds;   /* that it took */
  GError *error;     /* why there is no output; NULL: there is */
  gboolean is_of_output; /* the error is, and names it itself */
} GstTfxJob;

/* Takes the options of process.  They must outlive the job. */
void gst_tfx_job_set_options (GstTfxJob *job, const GstTfxOptions *options);

/* Runs it, in any thread, until it is done or a signal asks the program to end; what
 * comes from a source ends there.
 * The output appears under its name only when it is complete; otherwise
 * no part of it remains.  TRUE, or FALSE with job->error. */
gboolean gst_tfx_job_run (GstTfxJob *job);

/* Runs it again without an output, for the trace.  TRUE, or FALSE with job->error. */
gboolean gst_tfx_job_repeat (GstTfxJob *job);

/* Decodes a file, for a job with these bits (or NULL), and measures its loudness too if
 * that is wanted.  FALSE with an error. */
gboolean gst_tfx_job_survey (const gchar *path, const gchar *bits,
    gboolean with_loudness, GstTfxJobSamples *samples, GError **error);

/* Measures the output of the chain without writing it.  TRUE with job->measured, or FALSE
 * with job->error.  A job that is run later is not measured again. */
gboolean gst_tfx_job_measure (GstTfxJob *job, GstTfxMeter *meter);

/* Fails the job, or warns once if it allows it, where its input is truncated or damaged.
 * Before it is decoded `came` is GST_CLOCK_TIME_NONE, then how long its sound is. */
void gst_tfx_job_check_whole (GstTfxJob *job, GstClockTime came);

void gst_tfx_job_clear (GstTfxJob *job);
void gst_tfx_job_trace_clear (GstTfxJobTrace *trace);

G_END_DECLS

#endif /* GST_TFX_JOB_H */
