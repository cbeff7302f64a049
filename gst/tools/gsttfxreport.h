/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxreport.h: the report of a finished or failed file. */
#ifndef GST_TFX_REPORT_H
#define GST_TFX_REPORT_H

#include "gsttfxjob.h"

G_BEGIN_DECLS

/* Appends "name": value with two decimals, null where that is not finite, and a
 * comma. */
void
gst_tfx_report_append_number (GString *text, const gchar *name, gdouble value);

/* Appends the job's error, prints the object as a line to standard output, and frees
 * it. */
void gst_tfx_report_end_json (GString *text, const GstTfxJob *job);

/* Prints a warning that ends in `effect` if the sound is shorter than a block of EBU
 * R 128. */
gboolean gst_tfx_report_tell_short (const GstTfxJob *job, const gchar *effect);

/* A line of JSON to standard output. */
void gst_tfx_report_print_json (const GstTfxJob *job);

/* Errors and warnings to standard error, and unless is_quiet a line to
 * standard output. */
void gst_tfx_report_print (const GstTfxJob *job, gboolean is_quiet);

G_END_DECLS

#endif /* GST_TFX_REPORT_H */
