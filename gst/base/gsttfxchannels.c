/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchannels.c: elements that change the number of channels.
 */
#include "gsttfxchannels.h"

#include <string.h>

#include "gsttfxbuffer.h"
#include "tfx.h"

/* ---- caps ---------------------------------------------------------------- */

static gboolean
has_channels (const GstStructure *structure, guint n_channels)
{
  const GValue *value = gst_structure_get_value (structure, "channels");
  GValue wanted = G_VALUE_INIT;
  gboolean has;

  g_value_init (&wanted, G_TYPE_INT);
  g_value_set_int (&wanted, n_channels);
  has = !value || gst_value_can_intersect (value, &wanted);
  g_value_unset (&wanted);
  return has;
}

GstCaps *
gst_tfx_channels_map_caps (GstCaps *caps, guint from, guint to)
{
  GstCaps *mapped = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *s = gst_caps_get_structure (caps, i);

    if (from > 0 && !has_channels (s, from))
      continue;
    s = gst_structure_copy (s);
    if (to > 0)
      gst_structure_set (s, "channels", G_TYPE_INT, to, NULL);
    else
      gst_structure_set (s, "channels", GST_TYPE_INT_RANGE, 1, TFX_MAX_CHANNELS,
          NULL);
    /* Positions are only known for the same number of channels. */
    if (to != from)
      gst_structure_remove_field (s, "channel-mask");
    mapped = gst_caps_merge_structure_full (mapped, s,
        gst_caps_features_copy (gst_caps_get_features (caps, i)));
  }
  gst_caps_unref (caps);
  return mapped;
}

GstCaps *
gst_tfx_channels_limit_caps (GstCaps *caps, guint least)
{
  GstCaps *limit = gst_caps_new_simple ("audio/x-raw", "channels",
      GST_TYPE_INT_RANGE, least, TFX_MAX_CHANNELS, NULL);
  GstCaps *limited;

  gst_caps_set_features_simple (limit, gst_caps_features_new_any ());
  limited = gst_caps_intersect_full (caps, limit, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (limit);
  gst_caps_unref (caps);
  return limited;
}

GstCaps *
gst_tfx_channels_fixate (GstCaps *caps, guint64 *places)
{
  GstStructure *s;
  gint n_channels;

  *places = 0;
  if (gst_caps_is_empty (caps))
    return caps;
  caps = gst_caps_fixate (gst_caps_truncate (caps));
  s = gst_caps_get_structure (caps, 0);
  if (gst_structure_get_int (s, "channels", &n_channels) && n_channels > 2 &&
      !gst_structure_has_field (s, "channel-mask")) {
    *places = gst_audio_channel_get_fallback_mask (n_channels);
    gst_structure_set (s, "channel-mask", GST_TYPE_BITMASK, (guint64)0, NULL);
  }
  return caps;
}

GstAudioInfo
gst_tfx_channels_make_info (const GstAudioInfo *info, guint n_channels)
{
  GstAudioInfo made;

  if ((guint)GST_AUDIO_INFO_CHANNELS (info) == n_channels)
    return *info;
  gst_audio_info_init (&made);
  gst_audio_info_set_format (&made, GST_AUDIO_INFO_FORMAT (info),
      GST_AUDIO_INFO_RATE (info), n_channels, NULL);
  made.layout = GST_AUDIO_INFO_LAYOUT (info);
  return made;
}

G_STATIC_ASSERT (
    (gint)TFX_POSITION_LFE == (gint)GST_AUDIO_CHANNEL_POSITION_LFE1 &&
    (gint)TFX_POSITION_SL == (gint)GST_AUDIO_CHANNEL_POSITION_SIDE_LEFT &&
    (gint)TFX_POSITION_TC == (gint)GST_AUDIO_CHANNEL_POSITION_TOP_CENTER &&
    (gint)TFX_POSITION_SDR == (gint)GST_AUDIO_CHANNEL_POSITION_SURROUND_RIGHT);

guint64
gst_tfx_channels_get_positions (const GstAudioInfo *info)
{
  const gint n_channels = GST_AUDIO_INFO_CHANNELS (info);
  guint64 mask;

  return n_channels <= TFX_N_POSITIONS &&
                 !GST_AUDIO_INFO_IS_UNPOSITIONED (info) &&
                 gst_audio_channel_positions_to_mask (info->position,
                     n_channels, TRUE, &mask)
             ? mask
             : 0;
}

/* ---- buffers ------------------------------------------------------------- */

/* Copies interleaved samples of a constant size; they need no alignment. */
static inline void
copy_frames (const guint8 *in, gsize n_in, guint8 *out, gsize n_out, gsize bps,
    gsize n_frames)
{
  for (; n_frames > 0; n_frames--, in += n_in * bps) {
    for (gsize c = 0; c < n_out; c++, out += bps) {
      if (c < n_in)
        memcpy (out, in + c * bps, bps);
      else
        memset (out, 0, bps);
    }
  }
}

/* Copies planes, frames, or all at once if the numbers of channels are
 * equal. */
static void
copy_samples (const GstAudioBuffer *from, GstAudioBuffer *to, gsize n_frames)
{
  const gsize bps = GST_AUDIO_INFO_BPS (&to->info);
  const gsize n_in = GST_AUDIO_INFO_CHANNELS (&from->info);
  const gsize n_out = GST_AUDIO_INFO_CHANNELS (&to->info);

  if (GST_AUDIO_INFO_LAYOUT (&to->info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED) {
    for (gsize c = 0; c < n_out; c++) {
      if (c < n_in)
        memcpy (to->planes[c], from->planes[c], n_frames * bps);
      else
        memset (to->planes[c], 0, n_frames * bps);
    }
  } else if (n_in == n_out) {
    memcpy (to->planes[0], from->planes[0], n_frames * n_out * bps);
  } else if (bps == 4) {
    copy_frames (from->planes[0], n_in, to->planes[0], n_out, 4, n_frames);
  } else {
    copy_frames (from->planes[0], n_in, to->planes[0], n_out, 8, n_frames);
  }
}

gboolean
gst_tfx_channels_copy (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *from_info, const GstAudioInfo *to_info, gsize n_frames)
{
  GstAudioMeta *meta = gst_buffer_get_audio_meta (from);
  GstAudioBuffer source, target;

  if (n_frames == 0)
    return TRUE;
  if (!gst_audio_buffer_map (&source, meta ? &meta->info : from_info, from,
          GST_MAP_READ))
    return FALSE;
  if (!gst_audio_buffer_map (&target, to_info, to, GST_MAP_WRITE)) {
    gst_audio_buffer_unmap (&source);
    return FALSE;
  }
  copy_samples (&source, &target, n_frames);
  gst_audio_buffer_unmap (&target);
  gst_audio_buffer_unmap (&source);
  return TRUE;
}

GstBuffer *
gst_tfx_channels_convert (GstBuffer *buffer, const GstAudioInfo *from,
    const GstAudioInfo *to, gsize n_frames)
{
  GstBuffer *made = gst_tfx_buffer_new (to, n_frames);

  if (made && gst_tfx_channels_copy (buffer, made, from, to, n_frames))
    gst_tfx_buffer_copy_metadata (buffer, made, from, to, n_frames);
  else
    gst_clear_buffer (&made);
  gst_buffer_unref (buffer);
  return made;
}
