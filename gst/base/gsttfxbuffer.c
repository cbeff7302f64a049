/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbuffer.c: a GstBuffer of audio as a TfxBlock.
 */
#include "gsttfxbuffer.h"

#include <string.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxplanes.h"

void
gst_tfx_scratch_clear (GstTfxScratch *scratch)
{
  g_free (scratch->data);
  scratch->data = NULL;
  scratch->size = 0;
}

static guint8 *
gst_tfx_scratch_get (GstTfxScratch *scratch, gsize size)
{
  if (scratch->size < size) {
    g_free (scratch->data);
    scratch->data = g_malloc (size);
    scratch->size = size;
  }
  return scratch->data;
}

/* Whether all planes are within the buffer: another element wrote the meta. */
static gboolean
gst_tfx_buffer_planes_fit (const GstAudioMeta *meta, gsize buffer_size)
{
  gsize plane_size = meta->samples * GST_AUDIO_INFO_BPS (&meta->info);

  for (gint i = 0; i < GST_AUDIO_INFO_CHANNELS (&meta->info); i++) {
    if (meta->offsets[i] > buffer_size ||
        plane_size > buffer_size - meta->offsets[i])
      return FALSE;
  }
  return TRUE;
}

gssize
gst_tfx_buffer_check (GstBuffer *buffer, const GstAudioInfo *info, gchar **why)
{
  static const gchar *const layouts[] = { "interleaved", "non-interleaved" };
  gsize size = gst_buffer_get_size (buffer);
  gsize bpf = GST_AUDIO_INFO_BPF (info);
  GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  gboolean planar =
      GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  gboolean is_meta_planar;

  if (size == 0)
    return 0;

  if (!planar && size % bpf != 0) {
    *why = g_strdup_printf ("a buffer of %" G_GSIZE_FORMAT " bytes is not a "
                            "whole number of frames of %" G_GSIZE_FORMAT
                            " bytes (%d channels of %s)",
        size, bpf, GST_AUDIO_INFO_CHANNELS (info), GST_AUDIO_INFO_NAME (info));
    return -1;
  }
  if (planar && !meta) {
    *why = g_strdup_printf ("a buffer of %" G_GSIZE_FORMAT " bytes in "
                            "non-interleaved layout has no GstAudioMeta",
        size);
    return -1;
  }
  if (!meta)
    return size / bpf;

  is_meta_planar =
      GST_AUDIO_INFO_LAYOUT (&meta->info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  if (GST_AUDIO_INFO_FORMAT (&meta->info) != GST_AUDIO_INFO_FORMAT (info) ||
      GST_AUDIO_INFO_CHANNELS (&meta->info) != GST_AUDIO_INFO_CHANNELS (info) ||
      is_meta_planar != planar) {
    *why = g_strdup_printf ("the GstAudioMeta of a buffer has %d channels of "
                            "%s (%s), the caps have %d channels of %s (%s)",
        GST_AUDIO_INFO_CHANNELS (&meta->info),
        GST_AUDIO_INFO_NAME (&meta->info), layouts[is_meta_planar],
        GST_AUDIO_INFO_CHANNELS (info), GST_AUDIO_INFO_NAME (info),
        layouts[planar]);
    return -1;
  }
  if (meta->samples > size / bpf ||
      (planar && !gst_tfx_buffer_planes_fit (meta, size))) {
    *why =
        g_strdup_printf ("the GstAudioMeta of a buffer places %" G_GSIZE_FORMAT
                         " frames outside of its %" G_GSIZE_FORMAT " bytes",
            meta->samples, size);
    return -1;
  }
  return meta->samples;
}

gboolean
gst_tfx_buffer_describe (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames, GstTfxLayout *layout)
{
  GstAudioMeta *meta = NULL;

  *layout = (GstTfxLayout){ .type = gst_tfx_buffer_sample (info),
    .n_channels = GST_AUDIO_INFO_CHANNELS (info),
    .n_frames = n_frames,
    .frame_stride = GST_AUDIO_INFO_CHANNELS (info),
    .channel_stride = 1 };
  if (gst_buffer_n_memory (buffer) != 1)
    return FALSE;
  if (GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_INTERLEAVED)
    return TRUE;
  meta = gst_buffer_get_audio_meta (buffer);
  layout->offset = meta->offsets[0];
  layout->frame_stride = 1;
  layout->channel_stride = gst_tfx_planes_find_stride (meta);
  return layout->channel_stride > 0;
}

/* Copies planes to the scratch memory, or back. */
static void
gst_tfx_buffer_copy_planes (GstTfxBuffer *self, gboolean back)
{
  const gsize size = self->plane_size;

  for (guint i = 0; i < self->n_planes; i++) {
    guint8 *plane = self->map.data + (self->offsets ? self->offsets[i] : 0);

    if (back)
      memcpy (plane, self->copy + i * size, size);
    else
      memcpy (self->copy + i * size, plane, size);
  }
}

void
gst_tfx_buffer_use_map (GstTfxBuffer *self, GstBuffer *buffer,
    const GstMapInfo *map, const GstAudioInfo *info, GstTfxScratch *scratch)
{
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  const gboolean is_planar =
      GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  const TfxSample type = gst_tfx_buffer_sample (info);
  const guint n_channels = GST_AUDIO_INFO_CHANNELS (info);
  const gsize bps = GST_AUDIO_INFO_BPS (info);
  gsize n_frames, stride;
  guint8 *data;

  self->buffer = buffer;
  self->map = *map;
  self->copy = NULL;
  n_frames = meta ? meta->samples : self->map.size / GST_AUDIO_INFO_BPF (info);
  data = self->map.data + (is_planar ? meta->offsets[0] : 0);
  stride = is_planar ? gst_tfx_planes_find_stride (meta) : 1;
  if (stride == 0 || (guintptr)data % bps != 0) {
    self->n_planes = is_planar ? n_channels : 1;
    self->offsets = is_planar ? meta->offsets : NULL;
    self->plane_size = n_frames * GST_AUDIO_INFO_BPF (info) / self->n_planes;
    self->copy =
        gst_tfx_scratch_get (scratch, self->n_planes * self->plane_size);
    gst_tfx_buffer_copy_planes (self, FALSE);
    data = self->copy;
    stride = n_frames;
  }
  self->block =
      is_planar ? tfx_block_planar (data, type, n_channels, n_frames, stride)
                : tfx_block_interleaved (data, type, n_channels, n_frames);
}

gboolean
gst_tfx_buffer_map (GstTfxBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, GstTfxScratch *scratch)
{
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READWRITE))
    return FALSE;
  gst_tfx_buffer_use_map (self, buffer, &map, info, scratch);
  return TRUE;
}

void
gst_tfx_buffer_unmap (GstTfxBuffer *self)
{
  if (self->copy)
    gst_tfx_buffer_copy_planes (self, TRUE);
  gst_buffer_unmap (self->buffer, &self->map);
}

GstBuffer *
gst_tfx_buffer_new (const GstAudioInfo *info, gsize n_frames)
{
  const gsize size = n_frames * GST_AUDIO_INFO_BPF (info);
  /* GStreamer's allocator aborts if it is out of memory. */
  gpointer data = g_try_malloc (size);
  GstBuffer *buffer;

  if (!data && size > 0)
    return NULL;
  buffer = data ? gst_buffer_new_wrapped (data, size) : gst_buffer_new ();
  if (GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    gst_buffer_add_audio_meta (buffer, info, n_frames, NULL);
  return buffer;
}

typedef struct
{
  GstBuffer *to;
  const GstAudioInfo *info;
  gsize n_frames;
  gboolean has_channels; /* the same number as the source */
} MetaTarget;

/* Tag of metas that keep a buffer because of its memory, since GStreamer
 * 1.20.4. */
#define MEMORY_REFERENCE "memory-reference"

static gboolean
has_tag (const GstMetaInfo *info, const gchar *tag)
{
  return gst_meta_api_type_has_tag (info->api,
      g_quark_from_static_string (tag));
}

static gboolean
gst_tfx_buffer_copy_meta (GstBuffer *from, GstMeta **meta, gpointer data)
{
  GstMetaTransformCopy whole = { FALSE, 0, -1 };
  const GstMetaInfo *info = (*meta)->info;
  const MetaTarget *target = data;

  /* The new buffer has its own memory. */
  if (info->api == GST_AUDIO_META_API_TYPE) {
    if (!gst_buffer_get_audio_meta (target->to))
      gst_buffer_add_audio_meta (target->to, target->info, target->n_frames,
          NULL);
  } else if (!has_tag (info, GST_META_TAG_MEMORY_STR) &&
             !has_tag (info, MEMORY_REFERENCE) &&
             (target->has_channels ||
                 !has_tag (info, GST_META_TAG_AUDIO_CHANNELS_STR)) &&
             info->transform_func) {
    info->transform_func (target->to, *meta, from, _gst_meta_transform_copy,
        &whole);
  }
  return TRUE;
}

void
gst_tfx_buffer_copy_metadata (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *from_info, const GstAudioInfo *to_info, gsize n_frames)
{
  MetaTarget target = { to, to_info, n_frames,
    GST_AUDIO_INFO_CHANNELS (from_info) == GST_AUDIO_INFO_CHANNELS (to_info) };

  gst_buffer_copy_into (to, from,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_foreach_meta (from, gst_tfx_buffer_copy_meta, &target);
}

void
gst_tfx_buffer_drop (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames)
{
  GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);

  if (meta)
    meta->samples -= n_frames;
  if (GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_INTERLEAVED) {
    gst_buffer_resize (buffer, n_frames * GST_AUDIO_INFO_BPF (info), -1);
    return;
  }
  for (gint i = 0; i < GST_AUDIO_INFO_CHANNELS (info); i++)
    meta->offsets[i] += n_frames * GST_AUDIO_INFO_BPS (info);
}

GstBuffer *
gst_tfx_buffer_split (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames, GstBuffer **rest)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer);
  gint bpf = GST_AUDIO_INFO_BPF (info);

  *rest = gst_audio_buffer_truncate (gst_buffer_ref (buffer), bpf, n_frames,
      (gsize)-1);
  /* GStreamer clears it. */
  GST_BUFFER_PTS (*rest) = pts;
  return gst_audio_buffer_truncate (buffer, bpf, 0, n_frames);
}

/* The first byte is zero, and each one equals the next. */
static gboolean
are_zero (const guint8 *bytes, gsize size)
{
  return size == 0 || (bytes[0] == 0 && !memcmp (bytes, bytes + 1, size - 1));
}

gboolean
gst_tfx_buffer_is_cuda (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    if (gst_tfx_cuda_allocator_is_device (gst_buffer_peek_memory (buffer, i)))
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_tfx_buffer_is_zero (GstBuffer *buffer, const GstAudioInfo *info)
{
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  gboolean zero = TRUE;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  if (GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_INTERLEAVED) {
    zero = are_zero (map.data,
        meta ? meta->samples * GST_AUDIO_INFO_BPF (info) : map.size);
  } else {
    for (gint i = 0; i < GST_AUDIO_INFO_CHANNELS (info) && zero; i++)
      zero = are_zero (map.data + meta->offsets[i],
          meta->samples * GST_AUDIO_INFO_BPS (info));
  }
  gst_buffer_unmap (buffer, &map);
  return zero;
}
