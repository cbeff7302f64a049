/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.c: the meta of a buffer whose samples are still to be filtered.
 */
#include "gsttfxpending.h"

GType
gst_tfx_pending_meta_api_get_type (void)
{
  static gsize type = 0;
  static const gchar *tags[] = { GST_META_TAG_MEMORY_STR, NULL };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        gst_meta_api_type_register ("GstTfxPendingMetaAPI", tags));
  return type;
}

static gboolean
gst_tfx_pending_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  ((GstTfxPendingMeta *)meta)->chain = NULL;
  ((GstTfxPendingMeta *)meta)->who = 0;
  return TRUE;
}

static void
gst_tfx_pending_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  tfx_chain_unref (&((GstTfxPendingMeta *)meta)->chain);
}

/* A copy of the samples, or of some of them, is as unfiltered as they are. */
static gboolean
gst_tfx_pending_meta_transform (GstBuffer *to, GstMeta *meta, GstBuffer *from,
    GQuark type, gpointer data)
{
  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  gst_tfx_pending_set (to, ((GstTfxPendingMeta *)meta)->chain,
      ((GstTfxPendingMeta *)meta)->who);
  return TRUE;
}

const GstMetaInfo *
gst_tfx_pending_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **)&info)) {
    const GstMetaInfo *mi =
        gst_meta_register (gst_tfx_pending_meta_api_get_type (),
            "GstTfxPendingMeta", sizeof (GstTfxPendingMeta),
            gst_tfx_pending_meta_init, gst_tfx_pending_meta_free,
            gst_tfx_pending_meta_transform);
    g_once_init_leave ((GstMetaInfo **)&info, (GstMetaInfo *)mi);
  }
  return info;
}

static GstTfxPendingMeta *
gst_tfx_pending_meta_get (GstBuffer *buffer)
{
  return (GstTfxPendingMeta *)gst_buffer_get_meta (buffer,
      gst_tfx_pending_meta_api_get_type ());
}

TfxChain *
gst_tfx_pending_get (GstBuffer *buffer, guint64 *who)
{
  GstTfxPendingMeta *meta = gst_tfx_pending_meta_get (buffer);

  *who = meta ? meta->who : 0;
  return meta ? meta->chain : NULL;
}

void
gst_tfx_pending_set (GstBuffer *buffer, TfxChain *chain, guint64 who)
{
  GstTfxPendingMeta *meta = gst_tfx_pending_meta_get (buffer);

  if (!meta)
    meta = (GstTfxPendingMeta *)gst_buffer_add_meta (buffer,
        gst_tfx_pending_meta_get_info (), NULL);
  tfx_chain_ref (chain);
  tfx_chain_unref (&meta->chain);
  meta->chain = chain;
  meta->who = who;
}

void
gst_tfx_pending_remove (GstBuffer *buffer)
{
  GstTfxPendingMeta *meta = gst_tfx_pending_meta_get (buffer);

  if (meta)
    gst_buffer_remove_meta (buffer, (GstMeta *)meta);
}
