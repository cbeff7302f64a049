/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbatch.h: files through a chain, several at once, with what is printed of
 * it. */
#ifndef GST_TFX_BATCH_H
#define GST_TFX_BATCH_H

#include "gsttfxtool.h"

G_BEGIN_DECLS

/* What the options of process and watch ask for.  All strings are owned. */
typedef struct GstTfxBatchOptions
{
  gchar *chain, *chain_file, *preset; /* one of them */
  gchar *out, *base, *journal, *extension;
  gint n_jobs;
  gboolean overwrite, json, quiet;
} GstTfxBatchOptions;

/* These options, for GOption: &entries[0] up to one without a name. */
#define GST_TFX_BATCH_N_ENTRIES 11
void
gst_tfx_batch_list_options (GstTfxBatchOptions *options, GOptionEntry *entries);
/* Finds the text of the chain.  FALSE after a message. */
gboolean gst_tfx_batch_read_chain (GstTfxBatchOptions *options);
void gst_tfx_batch_clear_options (GstTfxBatchOptions *options);

typedef struct GstTfxBatch GstTfxBatch;

/* The options are borrowed for as long as it lives. */
GstTfxBatch *gst_tfx_batch_new (const GstTfxBatchOptions *options);
void gst_tfx_batch_free (GstTfxBatch *batch);

/* Makes the folder of outputs and opens its journal.  FALSE after a message. */
gboolean gst_tfx_batch_open_folder (GstTfxBatch *batch);

/* One file.  The output's name is the batch's to free. */
void gst_tfx_batch_add (GstTfxBatch *batch, const gchar *input, gchar *output);
/* One file into the folder, if it is not done already.  FALSE after a message if
 * another file would have the same output. */
gboolean gst_tfx_batch_add_to_folder (GstTfxBatch *batch, const gchar *input);

/* Runs what was added since the last time, until it is done or a signal asks the
 * program to end. */
void gst_tfx_batch_run (GstTfxBatch *batch);

/* Prints the counts, if there is a folder. */
GstTfxToolStatus gst_tfx_batch_summarise (const GstTfxBatch *batch);

G_END_DECLS

#endif /* GST_TFX_BATCH_H */
