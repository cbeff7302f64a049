/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjob.h: one file filtered into another one. */
#ifndef GST_TFX_JOB_H
#define GST_TFX_JOB_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct GstTfxJob
{
  const gchar *input, *output; /* names of files */
  const gchar *source;         /* elements instead of a file; NULL: input */
  const gchar *chain;
  gboolean overwrite; /* a file that is there */

  /* How far it has come, for others to see: atomic. */
  gint per_mille;

  /* What came of it. */
  gchar *format; /* of the decoded samples, "S16LE" */
  gint rate_hz, n_channels;
  gint64 duration; /* of the sound, in ns */
  gdouble seconds; /* that it took */
  GError *error;   /* why there is no output; NULL: there is */
} GstTfxJob;

/* Runs it, in any thread, until it is done or a signal asks the program to end; what
 * comes from a source ends there.
 * The output appears under its name only when it is whole, and nothing is left
 * of it otherwise.  TRUE, or FALSE with job->error. */
gboolean gst_tfx_job_run (GstTfxJob *job);

void gst_tfx_job_clear (GstTfxJob *job);

G_END_DECLS

#endif /* GST_TFX_JOB_H */
