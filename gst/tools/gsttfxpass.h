/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpass.h: a file or a source once through a chain. */
#ifndef GST_TFX_PASS_H
#define GST_TFX_PASS_H

#include "gsttfxjob.h"
#include "gsttfxmeter.h"

G_BEGIN_DECLS

typedef struct GstTfxPass
{
  GstTfxJob *job;
  const gchar *level; /* a second chain, behind the job's; or NULL */
  const gchar *part;  /* the file to write; NULL: it only measures */
  guint number, n_passes;
  GstTfxMeter *meter; /* gets the output of both chains; or NULL */
  /* Gets each buffer of 64-bit samples that a pass measures; NULL: nobody does. */
  void (*take_buffer) (GstElement *sink, GstBuffer *buffer, GstPad *pad,
      gpointer data);
  gpointer data;
  GstTfxJobTrace
      *trace; /* gets the digests of input and result, and the kernel */
} GstTfxPass;

/* Runs it to its end.  Where it fails, the job has the error. */
void gst_tfx_pass_run (const GstTfxPass *pass);

/* Why there is no output: the first reason counts. */
void gst_tfx_pass_fail (GstTfxJob *job, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
/* The same of the output, which the reason names. */
#define gst_tfx_pass_fail_output(job, ...)                                     \
  ((job)->is_of_output = TRUE, gst_tfx_pass_fail ((job), __VA_ARGS__))

G_END_DECLS

#endif /* GST_TFX_PASS_H */
