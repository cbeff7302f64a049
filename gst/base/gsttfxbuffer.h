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

/* Memory for samples that do not lie as the engine needs them.  It only grows;
 * start with all zero, end with gst_tfx_scratch_clear(). */
typedef struct
{
  guint8 *data;
  gsize size;
} GstTfxScratch;

void gst_tfx_scratch_clear (GstTfxScratch *scratch);

/* A mapped buffer.  @block describes its samples where they lie, or a copy of
 * them in the scratch memory if their planes are not evenly spaced or not
 * aligned; unmapping writes the copy back. */
typedef struct
{
  TfxBlock block;
  /*< private >*/
  GstBuffer *buffer;
  GstMapInfo map;
  guint8 *copy; /* of its planes, or NULL */
  guint n_planes;
  gsize plane_size;
  const gsize *offsets; /* of the planes; NULL: there is but one, all of it */
} GstTfxBuffer;

/* The number of frames in @buffer, or -1 and a text for the user in *@why (to
 * be freed) if it does not fit @info: a broken frame, or planes that are not
 * described or do not lie within the buffer. */
gssize
gst_tfx_buffer_check (GstBuffer *buffer, const GstAudioInfo *info, gchar **why);

/* The same for what is interleaved and says no more: -1 if that has to be looked
 * at. */
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

/* How the samples of a buffer that was accepted lie in its memory.  FALSE if
 * that cannot be told: planes are not evenly spaced, or it has more than one
 * memory. */
gboolean gst_tfx_buffer_describe (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames, GstTfxLayout *layout);

/* Maps a buffer that gst_tfx_buffer_check() accepted, for reading and writing.
 * The buffer must be writable; several memories become one.  FALSE if they cannot be
 * mapped. */
gboolean gst_tfx_buffer_map (GstTfxBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, GstTfxScratch *scratch);
void gst_tfx_buffer_unmap (GstTfxBuffer *self);

/* A buffer for n_frames, with their GstAudioMeta if they are planar; what is in
 * it is undefined.  NULL if memory is short. */
GstBuffer *gst_tfx_buffer_new (const GstAudioInfo *info, gsize n_frames);

/* Flags, times and metas of a buffer for one that has its own memory: without the
 * metas that are of the memory, and of the channels where these are not as many. */
void gst_tfx_buffer_copy_metadata (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *from_info, const GstAudioInfo *to_info, gsize n_frames);

/* Drops the first n_frames frames of a buffer that gst_tfx_buffer_check()
 * accepted and that has more than these.  The buffer must be writable; its
 * times are left alone. */
void gst_tfx_buffer_drop (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames);

/* Cuts a buffer behind its first n_frames.  Takes it, and gives back the first
 * part; *rest is the other, with the time of the whole, by which it can be stamped. */
GstBuffer *gst_tfx_buffer_split (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames, GstBuffer **rest);

/* True if every sample of a buffer that gst_tfx_buffer_check() accepted is zero. */
gboolean gst_tfx_buffer_is_zero (GstBuffer *buffer, const GstAudioInfo *info);

G_END_DECLS

#endif /* GST_TFX_BUFFER_H */
