/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmeter.h: measures the loudness of a stream, and of several streams as one album. */
#ifndef GST_TFX_METER_H
#define GST_TFX_METER_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* By EBU R 128 and ITU-R BS.1770, in LUFS, LU and dBTP; -inf: silence. */
typedef struct GstTfxLoudness
{
  gdouble integrated, range, momentary_max, short_term_max, true_peak;
  gdouble momentary; /* of the last 400 ms */
} GstTfxLoudness;

typedef struct GstTfxMeter GstTfxMeter;

GstTfxMeter *gst_tfx_meter_new (void);
void gst_tfx_meter_free (GstTfxMeter *meter);
/* Before it is given a format.  True peaks take most of the time. */
void gst_tfx_meter_skip_true_peaks (GstTfxMeter *meter);

/* Begins anew, with interleaved F32 or F64 samples of this format. */
void gst_tfx_meter_set_format (GstTfxMeter *meter, const GstAudioInfo *info);
/* Measures samples of that format. */
void gst_tfx_meter_add (GstTfxMeter *meter, gpointer samples, gsize n_frames);

/* Measures the interleaved F32 or F64 buffers of a pad, in its streaming thread, from now
 * on and from silence. */
void gst_tfx_meter_follow (GstTfxMeter *meter, GstPad *pad);

/* Reads the result after the stream has ended, or in the thread that adds samples.  FALSE: the meter does not support the rate
 * or the format of the stream. */
gboolean
gst_tfx_meter_read (const GstTfxMeter *meter, GstTfxLoudness *loudness);

/* Adds a stream that has ended to a new meter, which then measures an album.  The meter counts
 * blocks in classes of 0.01 LU, so its size does not depend on the number of streams. */
void gst_tfx_meter_merge (GstTfxMeter *album, const GstTfxMeter *meter);

G_END_DECLS

#endif /* GST_TFX_METER_H */
