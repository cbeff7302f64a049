/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkey.h: key pads, whose streams are more input channels of a filter.
 *
 * An element with pads key_0, key_1, … appends their channels to those of its
 * main stream, by number of the pad and aligned by running time.  The filter
 * runs over all of them, and the key channels are dropped from the output.
 *
 * Each pad has a queue of about a second.  In a pipeline that is not live the
 * main stream waits until each key has its frames, has ended, or is not linked;
 * in a live one until the deadline of the frames, after which missing ones are
 * silence.
 */
#ifndef GST_TFX_KEY_H
#define GST_TFX_KEY_H

#include <gst/gst.h>

#include "gsttfxchannels.h"
#include "gsttfxelement.h"

G_BEGIN_DECLS

typedef struct _GstTfxKeys GstTfxKeys;

/* For a class and for each instance. */
void gst_tfx_key_install (GstElementClass *klass);
void gst_tfx_key_init (GstTfxElement *self);
void gst_tfx_key_free (GstTfxKeys *keys);

/* Forgets all streams and released pads: before the pads are activated
 * (is_started), and after they are deactivated. */
void gst_tfx_key_reset (GstTfxElement *self, gboolean is_started);

/* Wakes threads that wait: before PAUSED_TO_READY and PLAYING_TO_PAUSED, after
 * PAUSED_TO_PLAYING. */
void gst_tfx_key_change_state (GstTfxElement *self, GstStateChange transition);

/* Numbers of channels that the properties and the keys require, as get_channels
 * of GstTfxElementClass.  n_in: channels of the main stream; 0: not known.
 * TRUE: the main stream must have n->in channels.  FALSE: it may have any number
 * from *least on, and @n is that of n_in; always with keys and without n_in.
 * A key without caps has as many channels as the chain lacks.  Any thread. */
gboolean gst_tfx_key_get_channels (GstTfxElement *self, guint n_in,
    GstTfxChannels *n, guint *least);

/* Notes a downstream event of the sink pad, in its thread, also before there are
 * key pads. */
void gst_tfx_key_see_event (GstTfxElement *self, GstEvent *event);

/* The rest is called if priv->has_keys.  The next two functions are for the
 * streaming thread of the sink pad, the others for any. */

/* Waits for the keys of n_frames whose playback begins at this time (or none).
 * Returns GST_FLOW_FLUSHING if the sink pad is flushed or stopped. */
GstFlowReturn gst_tfx_key_wait (GstTfxElement *self, GstClockTime begin,
    gboolean is_discont, gsize n_frames);

/* Copies these frames into the key channels of a buffer for the filter, whose
 * samples are in playback order, or is_reversed.  Passes them. */
void gst_tfx_key_fill (GstTfxElement *self, GstBuffer *buffer,
    GstClockTime begin, gsize n_frames, gboolean is_reversed);

/* Call before and after a flushing seek is sent upstream: between, the main
 * stream waits for keys that are not flushed yet. */
void gst_tfx_key_seek (GstTfxElement *self, gboolean is_seeking);

/* Adds the keys to the latency of the sink pad's peer. */
void gst_tfx_key_add_latency (GstTfxElement *self, gboolean *is_live,
    GstClockTime *min, GstClockTime *max);

/* Adds key-frames, key-silent and key-dropped to the stats. */
void gst_tfx_key_add_stats (GstTfxElement *self, GstStructure *stats);
void gst_tfx_key_reset_stats (GstTfxElement *self);

G_END_DECLS

#endif /* GST_TFX_KEY_H */
