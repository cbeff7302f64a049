/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflight.h: two buffers in flight.
 *
 * A device can transfer one buffer while it filters another.  So a buffer is
 * started and kept, and is sent after the next one has been started: one buffer
 * of latency.  Serialized events, and buffers that cannot be started, first
 * drain the buffer in flight.  Unlinking a pad sends nothing: the buffer is
 * sent with the next one, or at EOS.
 *
 * All functions run in the streaming thread, except gst_tfx_flight_ask_again().
 */
#ifndef GST_TFX_FLIGHT_H
#define GST_TFX_FLIGHT_H

#include "gsttfxbuffer.h"
#include "gsttfxelement.h"
#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

/* A buffer in flight. */
typedef struct
{
  GstBuffer *buffer;
  gsize n_frames;
  GstTfxBuffer mapped;
  GstTfxScratch scratch;
  TfxFlight flight;
  TfxFilter *filters[GST_TFX_ROW_MAX]; /* the row, references */
  gsize n;
  gboolean is_done;
  gint err;
} GstTfxFlight;

/* Initialize with zeros. */
typedef struct
{
  GstTfxFlight *slots; /* two, or NULL before the first use */
  GstTfxFlight *held;  /* one of them, or NULL */
  gint is_known;       /* atomic: is_wanted is valid */
  gboolean is_wanted;
  gsize delay; /* latency in frames */
} GstTfxFlights;

/* Whether the buffer can be in flight.  It must be writable. */
gboolean
gst_tfx_flight_takes (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Starts such a buffer and sends the previous one.  Takes the buffer. */
GstFlowReturn
gst_tfx_flight_run (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Sends the buffer in flight. */
GstFlowReturn gst_tfx_flight_drain (GstTfxElement *self);

/* Drops the buffer in flight, at a flush. */
void gst_tfx_flight_drop (GstTfxElement *self);

/* The same when the element stops, with a warning if a pad is unlinked. */
void gst_tfx_flight_stop (GstTfxElement *self);

/* Decides again whether buffers can be in flight.  Any thread. */
void gst_tfx_flight_ask_again (GstTfxElement *self);

G_END_DECLS

#endif /* GST_TFX_FLIGHT_H */
