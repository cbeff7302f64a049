/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchannels.h: elements out of which more or fewer channels come than in.
 *
 * Such an element's filter runs over buffers of the most channels that there are on
 * the way, in system memory: what comes in is widened to these, what goes out is
 * narrowed.
 */
#ifndef GST_TFX_CHANNELS_H
#define GST_TFX_CHANNELS_H

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* How many there are; of a stream. */
typedef struct
{
  guint in, out, most;
} GstTfxChannels;

/* Whether they are not as many everywhere. */
static inline gboolean
gst_tfx_channels_change (const GstTfxChannels *n)
{
  return n->in != n->most || n->out != n->most;
}

/* The caps of one pad for those of the other: those structures that have @from
 * channels, with @to, anywhere.  Takes @caps. */
GstCaps *gst_tfx_channels_map_caps (GstCaps *caps, guint from, guint to);

/* Those structures that can have @least channels or more, with these.  Takes
 * @caps. */
GstCaps *gst_tfx_channels_limit_caps (GstCaps *caps, guint least);

/* Fixed caps, unless nothing takes any: channels that no one has placed are placed
 * nowhere, and *@places is a mask that as many could have; else that is 0.  Takes
 * @caps. */
GstCaps *gst_tfx_channels_fixate (GstCaps *caps, guint64 *places);

/* The same stream with so many channels, placed nowhere. */
GstAudioInfo
gst_tfx_channels_make_info (const GstAudioInfo *info, guint n_channels);

/* Their positions as a channel mask, which is a set of TfxPosition; 0: none. */
guint64 gst_tfx_channels_get_positions (const GstAudioInfo *info);

/* Copies the frames of one buffer into another one, whose first channels are those that
 * there are, the others silent.  FALSE if one of them cannot be mapped. */
gboolean gst_tfx_channels_copy (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *from_info, const GstAudioInfo *to_info, gsize n_frames);

/* The same into a new buffer.  Takes @buffer, NULL if it cannot be mapped or memory is
 * short. */
GstBuffer *gst_tfx_channels_convert (GstBuffer *buffer,
    const GstAudioInfo *from, const GstAudioInfo *to, gsize n_frames);

G_END_DECLS

#endif /* GST_TFX_CHANNELS_H */
