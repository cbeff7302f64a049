/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxservermeter.h: levels, loudness and spectrum of a running stream. */
#ifndef GST_TFX_SERVER_METER_H
#define GST_TFX_SERVER_METER_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* More channels are not measured. */
#define GST_TFX_SERVER_METER_CHANNELS 64

/* The streaming thread of a pad copies its samples into a ring of a fixed size and
 * waits for nobody.  One other thread calls the functions below. */
typedef struct GstTfxServerMeter GstTfxServerMeter;

typedef struct GstTfxServerLevels
{
  guint n_channels; /* 0: nothing has come */
  gdouble peak_db[GST_TFX_SERVER_METER_CHANNELS];
  gdouble rms_db[GST_TFX_SERVER_METER_CHANNELS];
} GstTfxServerLevels;

/* For interleaved F32 or F64 in system memory.  The pad must outlive the meter's last
 * buffer, not the meter. */
GstTfxServerMeter *gst_tfx_server_meter_new (GstPad *pad);
void gst_tfx_server_meter_free (GstTfxServerMeter *self);

/* 0 before caps.  Any thread. */
gint gst_tfx_server_meter_get_rate (const GstTfxServerMeter *self);

/* Samples beyond full scale since the beginning.  Any thread. */
guint64 gst_tfx_server_meter_count_clipped (const GstTfxServerMeter *self);

/* The levels since a position, which it moves to the present. */
void gst_tfx_server_meter_read (GstTfxServerMeter *self, guint64 *position,
    GstTfxServerLevels *levels);

/* Momentary loudness by ITU-R BS.1770 of what has come since the last call, and before;
 * -INFINITY: silence. */
gdouble gst_tfx_server_meter_read_loudness (GstTfxServerMeter *self);

/* The power density of the last frames at n frequencies, in dBFS/Hz, averaged over 1/24
 * octave; NaN above half the rate.  FALSE: nothing has come. */
gboolean gst_tfx_server_meter_read_spectrum (GstTfxServerMeter *self,
    const gdouble *freq_hz, gdouble *db, guint n);

G_END_DECLS

#endif /* GST_TFX_SERVER_METER_H */
