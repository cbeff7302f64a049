/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtagname.h: what each container calls a tag. */
#ifndef GST_TFX_TAGNAME_H
#define GST_TFX_TAGNAME_H

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

/* By the Vorbis comment.  Of ID3 and MP4 names of four letters are frames and boxes, longer ones
 * and those that are none go into the frame and the box for all others. */
typedef struct GstTfxTagName
{
  const gchar *vorbis;
  const gchar
      *tag; /* of GStreamer, if that has no Vorbis comment for it; or NULL */
  const gchar *forms[GST_TFX_TAGS_INFO + 1];
} GstTfxTagName;

/* The one of a Vorbis comment; NULL: it has that name everywhere. */
const GstTfxTagName *gst_tfx_tagname_find (const gchar *vorbis);

/* The Vorbis comment for a name in this form; NULL: the name stays. */
const gchar *gst_tfx_tagname_find_vorbis (GstTfxTagsForm form, const gchar *id);

/* The Vorbis comment of a tag that GStreamer has none for; NULL: none here, either. */
const gchar *gst_tfx_tagname_find_tag (const gchar *tag);

G_END_DECLS

#endif /* GST_TFX_TAGNAME_H */
