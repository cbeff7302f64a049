/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbuffer.h: a GstBuffer of audio as a TfxBlock.
 */
#ifndef GST_TFX_BUFFER_H
#define GST_TFX_BUFFER_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

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
  GstBuffer *flat; /* mapped as one piece, or NULL */
  GstMapInfo flat_map;
  GstAudioBuffer map;
  guint8 *copy;
} GstTfxBuffer;

/* The number of frames in @buffer, or -1 and a text for the user in *@why (to
 * be freed) if it does not fit @info: a broken frame, or planes that are not
 * described or do not lie within the buffer. */
gssize
gst_tfx_buffer_check (GstBuffer *buffer, const GstAudioInfo *info, gchar **why);

/* Maps a buffer that gst_tfx_buffer_check() accepted, for reading and writing.
 * The buffer must be writable.  FALSE if its memory cannot be mapped. */
gboolean gst_tfx_buffer_map (GstTfxBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, GstTfxScratch *scratch);
void gst_tfx_buffer_unmap (GstTfxBuffer *self);

/* A buffer for n_frames, with their GstAudioMeta if they are planar; what is in
 * it is undefined.  NULL if memory is short. */
GstBuffer *gst_tfx_buffer_new (const GstAudioInfo *info, gsize n_frames);

/* Drops the first n_frames frames of a buffer that gst_tfx_buffer_check()
 * accepted and that has more than these.  The buffer must be writable; its
 * times are left alone. */
void gst_tfx_buffer_drop (GstBuffer *buffer, const GstAudioInfo *info,
    gsize n_frames);

/* True if every byte of the buffer is zero. */
gboolean gst_tfx_buffer_is_zero (GstBuffer *buffer);

G_END_DECLS

#endif /* GST_TFX_BUFFER_H */
