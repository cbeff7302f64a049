/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmeter.c: measures the loudness of a stream, and of several streams as one album.
 *
 * The meter of the stage Loudness does the measuring.
 */
#include "gsttfxmeter.h"

#include <math.h>
#include <stdlib.h>

#include <gst/audio/audio.h>

#include "core/backend.h"
#include "core/block.h"
#include "core/denormal.h"
#include "kinds/loudness.h"
#include "kinds/unit.h"

struct GstTfxMeter
{
  GstAudioInfo info;
  TfxLoudness *loudness; /* NULL: no caps, or not supported */
  const TfxDynamicsKernels *kernels;
  gdouble *samples; /* of a part */
  gboolean skips_true_peaks;
};

GstTfxMeter *
gst_tfx_meter_new (void)
{
  GstTfxMeter *meter = g_new0 (GstTfxMeter, 1);

  meter->kernels = tfx_dynamics_kernels_for (tfx_cpu_backend ()->kernel);
  return meter;
}

static void
clear (GstTfxMeter *meter)
{
  tfx_loudness_free (&meter->loudness);
  g_clear_pointer (&meter->samples, free);
  gst_audio_info_init (&meter->info);
}

void
gst_tfx_meter_free (GstTfxMeter *meter)
{
  clear (meter);
  g_free (meter);
}

void
gst_tfx_meter_skip_true_peaks (GstTfxMeter *meter)
{
  meter->skips_true_peaks = TRUE;
}

void
gst_tfx_meter_set_format (GstTfxMeter *meter, const GstAudioInfo *info)
{
  const gint rate_hz = GST_AUDIO_INFO_RATE (info);
  const guint n_channels = (guint)GST_AUDIO_INFO_CHANNELS (info);
  const gsize n_part = tfx_samples_part_frames (n_channels);
  TfxLoudnessSpec spec = { .n_channels = n_channels,
    .positions = tfx_positions_default (n_channels),
    .step_frames = (gsize)(rate_hz + 5) / 10,
    .skips_true_peaks = meter->skips_true_peaks };
  guint64 mask;

  clear (meter);
  meter->info = *info;
  if (rate_hz <= TFX_K_WEIGHTING_LOWEST_RATE_HZ ||
      spec.step_frames > TFX_AGC_MAX_BLOCK ||
      (GST_AUDIO_INFO_FORMAT (info) != GST_AUDIO_FORMAT_F32 &&
          GST_AUDIO_INFO_FORMAT (info) != GST_AUDIO_FORMAT_F64))
    return;
  if (n_channels <= TFX_N_POSITIONS && !GST_AUDIO_INFO_IS_UNPOSITIONED (info) &&
      gst_audio_channel_positions_to_mask (info->position, (gint)n_channels,
          TRUE, &mask) &&
      mask != 0)
    spec.positions = mask;
  tfx_k_weighting_design (rate_hz, spec.weighting);
  meter->samples =
      tfx_block_new_samples (n_part * n_channels + TFX_DYNAMICS_SLACK);
  if (!meter->samples ||
      tfx_loudness_new (&spec, meter->kernels, n_part, &meter->loudness) < 0)
    g_error ("cannot allocate a loudness meter");
}

void
gst_tfx_meter_add (GstTfxMeter *meter, gpointer samples, gsize n_frames)
{
  const guint n_channels = (guint)GST_AUDIO_INFO_CHANNELS (&meter->info);
  const TfxDenormalMode mode = tfx_denormal_enter ();
  const TfxBlock all = tfx_block_interleaved (samples,
      GST_AUDIO_INFO_WIDTH (&meter->info) == 64 ? TFX_SAMPLE_F64
                                                : TFX_SAMPLE_F32,
      n_channels, n_frames);

  for (gsize i = 0, n; meter->loudness && i < n_frames; i += n) {
    TfxBlock part;

    n = MIN (n_frames - i, tfx_samples_part_frames (n_channels));
    n = MIN (n, tfx_loudness_step_left (meter->loudness));
    part = tfx_block_part (&all, i, n, 0, n_channels);
    tfx_samples_load (meter->kernels, &part, meter->samples);
    tfx_loudness_add (meter->loudness, meter->samples, n);
  }
  tfx_denormal_leave (mode);
}

static GstPadProbeReturn
take (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxMeter *meter = data;
  GstAudioInfo audio;
  GstMapInfo map;
  GstCaps *caps;

  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_STREAM_START)
      clear (meter);
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS) {
      gst_event_parse_caps (info->data, &caps);
      if (gst_audio_info_from_caps (&audio, caps) &&
          !gst_audio_info_is_equal (&audio, &meter->info))
        gst_tfx_meter_set_format (meter, &audio);
    }
  } else if (meter->loudness &&
             gst_buffer_map (info->data, &map, GST_MAP_READ)) {
    gst_tfx_meter_add (meter, map.data, map.size / (gsize)meter->info.bpf);
    gst_buffer_unmap (info->data, &map);
  }
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_meter_follow (GstTfxMeter *meter, GstPad *pad)
{
  clear (meter);
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take,
      meter, NULL);
}

gboolean
gst_tfx_meter_read (const GstTfxMeter *meter, GstTfxLoudness *loudness)
{
  TfxLoudnessValues values;

  *loudness = (GstTfxLoudness){ -INFINITY, 0.0, -INFINITY, -INFINITY, -INFINITY,
    -INFINITY };
  if (!meter->loudness)
    return GST_AUDIO_INFO_RATE (&meter->info) == 0;
  values = tfx_loudness_read (meter->loudness);
  *loudness =
      (GstTfxLoudness){ values.integrated, values.range, values.momentary_max,
        values.short_term_max, values.true_peak_db, values.momentary };
  return TRUE;
}

void
gst_tfx_meter_merge (GstTfxMeter *album, const GstTfxMeter *meter)
{
  const TfxLoudnessSpec spec = { .n_channels = 1, .step_frames = 1 };

  if (!meter->loudness)
    return;
  if (!album->loudness &&
      tfx_loudness_new (&spec, album->kernels, 1, &album->loudness) < 0)
    g_error ("cannot allocate a loudness meter");
  tfx_loudness_merge (album->loudness, meter->loudness);
}
