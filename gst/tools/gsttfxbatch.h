/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbatch.h: files through a chain, several at once, with what is printed of
 * it. */
#ifndef GST_TFX_BATCH_H
#define GST_TFX_BATCH_H

#include "gsttfxoptions.h"
#include "gsttfxtool.h"

G_BEGIN_DECLS

typedef struct GstTfxBatch GstTfxBatch;

/* Borrows the options until the batch is freed. */
GstTfxBatch *gst_tfx_batch_new (const GstTfxOptions *options);
void gst_tfx_batch_free (GstTfxBatch *batch);

/* Makes the folder of outputs and opens its journal.  FALSE after a message. */
gboolean gst_tfx_batch_open_folder (GstTfxBatch *batch);

/* Reads the manifest, if one is asked for.  FALSE after a message. */
gboolean gst_tfx_batch_open_manifest (GstTfxBatch *batch);

/* Adds one file; "-" is standard input, or standard output. */
void
gst_tfx_batch_add (GstTfxBatch *batch, const gchar *input, const gchar *output);
/* Adds one file, whose output goes to --out, unless it is done already.  Its path relative
 * to --base, or else to `folder` (or NULL), is that of the output in --out.  FALSE after a
 * message if another file would have the same output. */
gboolean gst_tfx_batch_add_to_folder (GstTfxBatch *batch, const gchar *input,
    const gchar *folder);

/* The same of a file that has changed, whatever the journal has of it. */
gboolean gst_tfx_batch_add_changed (GstTfxBatch *batch, const gchar *input);

/* Runs what was added since the last time, until it is done or a signal asks the
 * program to end. */
void gst_tfx_batch_run (GstTfxBatch *batch);

/* Prints the counts, if there is a folder. */
GstTfxToolStatus gst_tfx_batch_summarise (const GstTfxBatch *batch);

G_END_DECLS

#endif /* GST_TFX_BATCH_H */
