/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtagwriter.h: tags in the form that a container has them in. */
#ifndef GST_TFX_TAGWRITER_H
#define GST_TFX_TAGWRITER_H

#include <gst/gst.h>

#include "gsttfxtagname.h"

G_BEGIN_DECLS

/* Returns the tags in a form, empty if there are none.  Adds the names of tags that the form
 * cannot hold to `lost`, unless NULL, with commas. */
GString *gst_tfx_tagwriter_write (const GstTagList *tags, GstTfxTagsForm form,
    GString *lost);

/* A picture as a FLAC block without its head, RFC 9639, 8.8; empty: there is none. */
GString *gst_tfx_tagwriter_write_picture (const GstTagList *tags, guint i);

/* The pictures as a Matroska element Attachments, empty if there are none. */
GString *gst_tfx_tagwriter_write_attachments (const GstTagList *tags);

G_END_DECLS

#endif /* GST_TFX_TAGWRITER_H */
