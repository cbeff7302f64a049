/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmanifest.h: a file that records how outputs were made. */
#ifndef GST_TFX_MANIFEST_H
#define GST_TFX_MANIFEST_H

#include "gsttfxjob.h"
#include "gsttfxoptions.h"

G_BEGIN_DECLS

typedef struct GstTfxManifest GstTfxManifest;

/* Reads a manifest.  NULL with an error that names the line; a file that does not exist is
 * an error only if it must. */
GstTfxManifest *
gst_tfx_manifest_open (const gchar *path, gboolean must_exist, GError **error);
void gst_tfx_manifest_close (GstTfxManifest *manifest);

guint gst_tfx_manifest_count (const GstTfxManifest *manifest);
/* A value of one of its entries; NULL if the entry has none. */
const gchar *gst_tfx_manifest_get (const GstTfxManifest *manifest, guint entry,
    const gchar *key);
/* Copies the options of an entry that change samples. */
void gst_tfx_manifest_get_options (const GstTfxManifest *manifest, guint entry,
    GstTfxOptions *options);

/* Whether the output was made from this input, by options of this digest. */
gboolean gst_tfx_manifest_has (const GstTfxManifest *manifest,
    const gchar *input, const gchar *output, const gchar *digest);

/* Records a job that is done, in place of an entry of the same output. */
void gst_tfx_manifest_add (GstTfxManifest *manifest, const GstTfxJob *job,
    const GstTfxOptions *options, const gchar *digest);

/* Replaces the file.  FALSE with an error. */
gboolean
gst_tfx_manifest_write (const GstTfxManifest *manifest, GError **error);

G_END_DECLS

#endif /* GST_TFX_MANIFEST_H */
