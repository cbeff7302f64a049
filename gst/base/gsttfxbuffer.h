/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbuffer.h: a GstBuffer of audio as a TfxBlock.
 */
#ifndef GST_TFX_BUFFER_H
#define GST_TFX_BUFFER_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

#include "gsttfxpending.h"
#include "tfx.h"

G_BEGIN_DECLS

/* Memory for copies of samples in another layout.  It only grows.  Initialize
 * with zeros; release with gst_tfx_scratch_clear(). */
typedef struct
{
  guint8 *data;
  gsize size;
} GstTfxScratch;

void gst_tfx_scratch_clear (GstTfxScratch *scratch);

/* A mapped buffer.  @block describes its samples in place, or a copy in the
 * scratch memory if their planes are not evenly spaced or not aligned;
 * unmapping writes the copy back. */
typedef struct
{
  TfxBlock block;
  /*< private >*/
  GstBuffer *buffer;
  GstMapInfo map;
  guint8 *copy; /* of the planes, or NULL */
  guint n_planes;
  gsize plane_size;
  const gsize *offsets; /* of the planes; NULL: one plane at 0 */
} GstTfxBuffer;

/* The number of frames in @buffer; -1 and a text for the user in *@why (to be
 * freed) if it does not match @info: an incomplete frame, or planes without a
 * meta or outside of the buffer. */
gssize
gst_tfx_buffer_check (GstBuffer *buffer, const GstAudioInfo *info, gchar **why);

/* The same for interleaved buffers without a meta; -1 if gst_tfx_buffer_check()
 * is needed. */
static inline gssize
gst_tfx_buffer_n_frames (GstBuffer *buffer, const GstAudioInfo *info)
{
  guint bpf = GST_AUDIO_INFO_BPF (info);
  gsize size = gst_buffer_get_size (buffer);

  if (GST_AUDIO_INFO_LAYOUT (info) != GST_AUDIO_LAYOUT_INTERLEAVED ||
      size > G_MAXUINT32 || (guint32)size % bpf != 0 ||
      gst_buffer_get_audio_meta (buffer))
    return -1;
  return (guint32)size / bpf;
}

/* The type of the samples. */
static inline TfxSample
gst_tfx_buffer_sample (const GstAudioInfo *info)
{
  return GST_AUDIO_INFO_WIDTH (info) == 32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64;
}

/* The layout of a buffer that gst_tfx_buffer_check() accepted.  FALSE if its
 * planes are not evenly spaced, or if it has more than one memory. */
gboolean gst_tfx_buffer_describe (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames, GstTfxLayout *layout);

/* Maps a buffer that gst_tfx_buffer_check() accepted, for reading and writing.
 * The buffer must be writable; several memories are merged.  FALSE if they
 * cannot be mapped. */
gboolean gst_tfx_buffer_map (GstTfxBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, GstTfxScratch *scratch);
void gst_tfx_buffer_unmap (GstTfxBuffer *self);

/* The same for a buffer whose memory has been mapped; takes @map. */
void gst_tfx_buffer_use_map (GstTfxBuffer *self, GstBuffer *buffer,
    const GstMapInfo *map, const GstAudioInfo *info, GstTfxScratch *scratch);

/* A buffer for n_frames, with a GstAudioMeta if it is planar; its samples are
 * undefined.  NULL if out of memory. */
GstBuffer *gst_tfx_buffer_new (const GstAudioInfo *info, gsize n_frames);

/* Copies flags, timestamps and metas to a buffer with its own memory, except
 * metas of the memory, and of the channels if their number differs. */
void gst_tfx_buffer_copy_metadata (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *from_info, const GstAudioInfo *to_info, gsize n_frames);

/* Drops the first n_frames frames of a longer buffer that
 * gst_tfx_buffer_check() accepted.  The buffer must be writable; its timestamps
 * are not changed. */
void gst_tfx_buffer_drop (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames);

/* Splits a buffer after n_frames.  Takes it and returns the first part; *rest
 * is the other one, with the timestamp of the whole buffer. */
GstBuffer *gst_tfx_buffer_split (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames, GstBuffer **rest);

/* Whether a memory of the buffer is CUDA memory, of any element and context. */
gboolean gst_tfx_buffer_is_cuda (GstBuffer *buffer);

/* Whether all samples of a buffer that gst_tfx_buffer_check() accepted are
 * zero. */
gboolean gst_tfx_buffer_is_zero (GstBuffer *buffer, const GstAudioInfo *info);

G_END_DECLS

#endif /* GST_TFX_BUFFER_H */
