/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtags.h: the tags of a sound file, as each container has them. */
#ifndef GST_TFX_TAGS_H
#define GST_TFX_TAGS_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_TFX_TAGS_ID3,      /* a tag of ID3 2.4 */
  GST_TFX_TAGS_MP4,      /* the box "udta" */
  GST_TFX_TAGS_APE,      /* a tag of APE 2 */
  GST_TFX_TAGS_MATROSKA, /* the element Tags */
  GST_TFX_TAGS_INFO      /* the chunk LIST */
} GstTfxTagsForm;

/* Adds those of a tag event; what came before stays. */
void gst_tfx_tags_merge (GstTagList *tags, GstEvent *event);

/* Adds those of the input (of that path; NULL: none) that GStreamer does not read.  Removes
 * those that tell how the old file was encoded, and where is_changed, those that tell how loud
 * it is.  What stays are comments NAME=TEXT, pictures and frames of ID3. */
void
gst_tfx_tags_clean (GstTagList *tags, const gchar *path, gboolean is_changed);

/* The Vorbis comment of what a form calls so; NULL: it has no other name. */
const gchar *gst_tfx_tags_find_vorbis (GstTfxTagsForm form, const gchar *id);

/* Gives them to an encoder that writes Vorbis comments. */
void gst_tfx_tags_set (const GstTagList *tags, GstTagSetter *encoder,
    gboolean is_ogg);

/* In a form, empty if there are none.  Adds the names of those that have no place in it to
 * `lost`, unless NULL, with commas. */
GString *
gst_tfx_tags_write (const GstTagList *tags, GstTfxTagsForm form, GString *lost);

/* The pictures as a Matroska element Attachments, empty if there are none. */
GString *gst_tfx_tags_write_attachments (const GstTagList *tags);

G_END_DECLS

#endif /* GST_TFX_TAGS_H */
