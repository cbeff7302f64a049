/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrange.c: part of a file as an element.
 */
#include "gsttfxrange.h"

#include <stdio.h>

#include <gst/base/gstbasesrc.h>

#include "gsttfxbytes.h"

typedef struct GstTfxRange
{
  GstBaseSrc parent;
  gchar *path;
  goffset start, end;
  FILE *file;
} GstTfxRange;

typedef struct GstTfxRangeClass
{
  GstBaseSrcClass parent;
} GstTfxRangeClass;

#define GST_TFX_RANGE(object) ((GstTfxRange *)(gpointer)(object))

GType gst_tfx_range_get_type (void);
G_DEFINE_TYPE (GstTfxRange, gst_tfx_range, GST_TYPE_BASE_SRC)

static gboolean
gst_tfx_range_start (GstBaseSrc *src)
{
  GstTfxRange *self = GST_TFX_RANGE (src);
  gchar *why = NULL;
  goffset size;

  self->file = gst_tfx_bytes_open (self->path, &size, &why);
  if (!self->file)
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ, ("cannot be read: %s", why),
        (NULL));
  g_free (why);
  return self->file != NULL;
}

static gboolean
gst_tfx_range_stop (GstBaseSrc *src)
{
  g_clear_pointer (&GST_TFX_RANGE (src)->file, fclose);
  return TRUE;
}

static gboolean
gst_tfx_range_get_size (GstBaseSrc *src, guint64 *size)
{
  *size = (guint64)(GST_TFX_RANGE (src)->end - GST_TFX_RANGE (src)->start);
  return TRUE;
}

static gboolean
gst_tfx_range_is_seekable (GstBaseSrc *src)
{
  return TRUE;
}

/* The base class asks for bytes that get_size() promises. */
static GstFlowReturn
gst_tfx_range_fill (GstBaseSrc *src, guint64 offset, guint length,
    GstBuffer *buffer)
{
  GstTfxRange *self = GST_TFX_RANGE (src);
  gboolean is_read = FALSE;
  GstMapInfo map;

  if (gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    is_read = gst_tfx_bytes_read_at (self->file, self->start + (goffset)offset,
        map.data, length);
    gst_buffer_unmap (buffer, &map);
  }
  if (!is_read)
    return GST_FLOW_EOS;
  gst_buffer_set_size (buffer, (gssize)length);
  GST_BUFFER_OFFSET (buffer) = offset;
  GST_BUFFER_OFFSET_END (buffer) = offset + length;
  return GST_FLOW_OK;
}

static void
gst_tfx_range_finalize (GObject *object)
{
  g_free (GST_TFX_RANGE (object)->path);
  G_OBJECT_CLASS (gst_tfx_range_parent_class)->finalize (object);
}

static void
gst_tfx_range_class_init (GstTfxRangeClass *klass)
{
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_tfx_range_finalize;
  src->start = gst_tfx_range_start;
  src->stop = gst_tfx_range_stop;
  src->get_size = gst_tfx_range_get_size;
  src->is_seekable = gst_tfx_range_is_seekable;
  src->fill = gst_tfx_range_fill;
  gst_element_class_add_pad_template (GST_ELEMENT_CLASS (klass),
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_CAPS_ANY));
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Part of a file", "Source/File", "Reads some bytes of a file", "gst-tfx");
}

static void
gst_tfx_range_init (GstTfxRange *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_BYTES);
}

GstElement *
gst_tfx_range_new (const gchar *path, goffset start, goffset end)
{
  GstTfxRange *self = g_object_new (gst_tfx_range_get_type (), NULL);

  self->path = g_strdup (path);
  self->start = start;
  self->end = end;
  return GST_ELEMENT (self);
}
