/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxplanes.h: the distance between the planes of a buffer.
 */
#ifndef GST_TFX_PLANES_H
#define GST_TFX_PLANES_H

#include <gst/audio/audio.h>

G_BEGIN_DECLS

/* The distance between planes in samples if they are evenly spaced and
 * ascending, else 0. */
static inline gsize
gst_tfx_planes_find_stride (const GstAudioMeta *meta)
{
  const gsize bps = GST_AUDIO_INFO_BPS (&meta->info);
  const gint n_planes = GST_AUDIO_INFO_CHANNELS (&meta->info);
  gsize step;

  if (n_planes == 1)
    return meta->samples;
  step = meta->offsets[1] - meta->offsets[0];
  if (meta->offsets[1] < meta->offsets[0] || step % bps != 0 ||
      step / bps < meta->samples)
    return 0;
  for (gint i = 2; i < n_planes; i++) {
    if (meta->offsets[i] != meta->offsets[0] + i * step)
      return 0;
  }
  return step / bps;
}

G_END_DECLS

#endif /* GST_TFX_PLANES_H */
