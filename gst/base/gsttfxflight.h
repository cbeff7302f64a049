/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflight.h: two buffers in flight.
 *
 * From system memory to system memory a device can move one buffer while it
 * filters another.  So a buffer is started, and goes out when the next one has
 * been: one buffer later than it came.  What comes between two buffers, or is
 * not to be started, drains what is in flight first.  Unlinking a pad sends nothing:
 * the buffer goes out when the stream goes on, or at EOS.
 *
 * All of this runs in the streaming thread, but for what says so.
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
  TfxFilter *filters[GST_TFX_ROW_MAX]; /* references: the row */
  gsize n;
  gboolean is_done;
  gint err;
} GstTfxFlight;

/* Starts with all zero. */
typedef struct
{
  GstTfxFlight *slots; /* two, once they are needed */
  GstTfxFlight *held;  /* one of them, or NULL */
  gint is_known;       /* atomic: whether it is wanted */
  gboolean is_wanted;
  gsize delay; /* frames by which buffers come later */
} GstTfxFlights;

/* The buffer is writable. */
gboolean
gst_tfx_flight_takes (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Starts such a buffer, which it takes, and sends the one before. */
GstFlowReturn
gst_tfx_flight_run (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Sends what is in flight. */
GstFlowReturn gst_tfx_flight_drain (GstTfxElement *self);

/* Finishes what is in flight without sending it, at a flush. */
void gst_tfx_flight_drop (GstTfxElement *self);

/* The same when the element stops, with a warning if it is not linked any more. */
void gst_tfx_flight_stop (GstTfxElement *self);

/* Another stream comes, or another answer is wanted. */
void gst_tfx_flight_ask_again (GstTfxElement *self);

G_END_DECLS

#endif /* GST_TFX_FLIGHT_H */
