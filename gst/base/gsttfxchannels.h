/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchannels.h: elements that change the number of channels.
 *
 * Such an element's filter runs over buffers with the largest number of
 * channels that any of its stages has, in system memory: the input is copied to
 * such buffers, and the output to buffers with the number of output channels.
 */
#ifndef GST_TFX_CHANNELS_H
#define GST_TFX_CHANNELS_H

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* Numbers of channels of a stream; most: of the filter, whose input is the
 * stream's channels and then those of its keys (gsttfxkey.h); made: of the
 * chain's output, which has the keys, unless a Mix makes another number. */
typedef struct
{
  guint in, out, most, key, made;
} GstTfxChannels;

/* Whether the numbers differ. */
static inline gboolean
gst_tfx_channels_change (const GstTfxChannels *n)
{
  return n->in != n->most || n->out != n->most;
}

/* The caps of one pad for those of the other: the structures that allow @from
 * channels, with @to channels; 0: any number.  Takes @caps. */
GstCaps *gst_tfx_channels_map_caps (GstCaps *caps, guint from, guint to);

/* Limits the caps to @least channels or more.  Takes @caps. */
GstCaps *gst_tfx_channels_limit_caps (GstCaps *caps, guint least);

/* Fixates caps, which may be empty.  More than two channels without a mask get
 * the mask 0 (no positions), and *@places is a mask to suggest for them;
 * otherwise it is 0.  Takes @caps. */
GstCaps *gst_tfx_channels_fixate (GstCaps *caps, guint64 *places);

/* The same format with n_channels, which have no positions if that is another
 * number. */
GstAudioInfo
gst_tfx_channels_make_info (const GstAudioInfo *info, guint n_channels);

/* Channel mask, a set of TfxPosition; 0: no positions. */
guint64 gst_tfx_channels_get_positions (const GstAudioInfo *info);

/* Copies frames to a buffer with another number of channels; additional
 * channels are silent.  FALSE if a buffer cannot be mapped. */
gboolean gst_tfx_channels_copy (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *from_info, const GstAudioInfo *to_info, gsize n_frames);

/* The same into a new buffer.  Takes @buffer; NULL if it cannot be mapped, or
 * if out of memory. */
GstBuffer *gst_tfx_channels_convert (GstBuffer *buffer,
    const GstAudioInfo *from, const GstAudioInfo *to, gsize n_frames);

G_END_DECLS

#endif /* GST_TFX_CHANNELS_H */
