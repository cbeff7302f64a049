/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyfile.h: a file as the key of a tfxchain. */
#ifndef GST_TFX_KEYFILE_H
#define GST_TFX_KEYFILE_H

#include "gsttfxreader.h"

G_BEGIN_DECLS

/* Initialize with zeros. */
typedef struct GstTfxKeyfile
{
  const gchar *path;
  GstTfxReader *reader; /* NULL: there is no key */
  GstPad *pad;          /* of the tfxchain */
  guint n_idle;         /* looks in a row that found nothing to do */
} GstTfxKeyfile;

/* Adds the elements that read a key to a pipeline, for a new pad of the tfxchain.  FALSE
 * with an error. */
gboolean gst_tfx_keyfile_open (GstTfxKeyfile *self, const gchar *path,
    GstElement *pipeline, GstElement *chain, GError **error);

/* Whether the key has not ended, and nothing has read it for a while. */
gboolean gst_tfx_keyfile_stands_still (GstTfxKeyfile *self);

/* Begins anew, while the pipeline is in READY. */
void gst_tfx_keyfile_reset (GstTfxKeyfile *self);

void gst_tfx_keyfile_clear (GstTfxKeyfile *self);

G_END_DECLS

#endif /* GST_TFX_KEYFILE_H */
