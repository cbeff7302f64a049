/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflight.c: two buffers in flight.
 *
 * A buffer stays mapped, in place, until it is finished, so that the CPU has
 * its input if the device fails.
 */
#include <errno.h>

#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

#define N_SLOTS 2

/* ---- conditions ---------------------------------------------------------- */

/* With device-delay=-1 they are wanted where a delay of one buffer does not
 * matter: a source that is not live and has a duration reads a file. */
static gboolean
gst_tfx_flight_is_wanted (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxFlights *flights = &priv->flights;
  gboolean is_live = TRUE;
  gint64 duration = -1;
  GstQuery *query;
  gint delay;

  if (g_atomic_int_get (&flights->is_known))
    return flights->is_wanted;
  g_atomic_int_set (&flights->is_known, TRUE);
  delay = g_atomic_int_get (&priv->device_delay);
  flights->is_wanted = delay > 0;
  if (delay < 0) {
    query = gst_query_new_latency ();
    if (gst_pad_peer_query (priv->sink, query))
      gst_query_parse_latency (query, &is_live, NULL, NULL);
    gst_query_unref (query);
    flights->is_wanted =
        !is_live &&
        gst_pad_peer_query_duration (priv->sink, GST_FORMAT_TIME, &duration) &&
        duration > 0;
  }
  GST_DEBUG_OBJECT (self, "%d buffers in flight: device-delay=%d",
      flights->is_wanted, delay);
  if (!flights->is_wanted && flights->delay > 0) {
    flights->delay = 0;
    gst_tfx_settings_note_latency (self);
  }
  return flights->is_wanted;
}

gboolean
gst_tfx_flight_takes (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstTfxFlight *held = priv->flights.held;

  /* The device must run the row of filters of the buffer in flight. */
  return priv->device.runs && priv->is_running && n_frames > 0 &&
         gst_tfx_device_stays (self, n_frames) &&
         !priv->device.has_cuda_memory && !priv->is_identity &&
         !priv->may_be_identity && !priv->is_step &&
         !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) &&
         !gst_tfx_control_is_wanted (self) &&
         !gst_tfx_control_is_partial (self, n_frames) &&
         gst_tfx_flight_is_wanted (self) && !gst_tfx_fusion_defers (self) &&
         (!held || gst_tfx_pending_is_row (buffer, held->filters,
                       held->run.row.n - 1));
}

void
gst_tfx_flight_ask_again (GstTfxElement *self)
{
  g_atomic_int_set (&gst_tfx_element_get_private (self)->flights.is_known,
      FALSE);
}

/* ---- one buffer ---------------------------------------------------------- */

static void
gst_tfx_flight_finish_row (const GstTfxRow *row, GstTfxFlight *flight)
{
  if (!flight || flight->is_done)
    return;
  flight->err = gst_tfx_row_finish (row, &flight->run.in.block,
      &flight->run.in.block, &flight->flight);
  flight->is_done = TRUE;
}

static void
gst_tfx_flight_finish (GstTfxElement *self, GstTfxFlight *flight)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstTfxRow *row = &flight->run.row;

  if (!flight->is_done) {
    gst_tfx_row_lock (row);
    gst_tfx_flight_finish_row (row, flight);
    gst_tfx_counts_note_rows (&priv->counts, &priv->filter->counts);
    gst_tfx_row_unlock (row);
  }
  gst_tfx_fusion_unmap (&flight->run.in);
  for (gsize i = 0; i < row->n; i++)
    tfx_filter_unref (&flight->filters[i]);
}

/* Sends a finished buffer. */
static GstFlowReturn
gst_tfx_flight_send (GstTfxElement *self, GstTfxFlight *flight)
{
  GstBuffer *buffer = g_steal_pointer (&flight->buffer);

  if (!gst_tfx_run_conclude (self, buffer, flight->err)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  return gst_tfx_out_send (self, buffer, flight->n_frames);
}

/* ---- two buffers --------------------------------------------------------- */

GstFlowReturn
gst_tfx_flight_drain (GstTfxElement *self)
{
  GstTfxFlight *held =
      g_steal_pointer (&gst_tfx_element_get_private (self)->flights.held);

  if (!held)
    return GST_FLOW_OK;
  gst_tfx_flight_finish (self, held);
  return gst_tfx_flight_send (self, held);
}

void
gst_tfx_flight_drop (GstTfxElement *self)
{
  GstTfxFlight *held =
      g_steal_pointer (&gst_tfx_element_get_private (self)->flights.held);

  if (held) {
    GST_DEBUG_OBJECT (self, "dropped %" G_GSIZE_FORMAT " frames in flight",
        held->n_frames);
    gst_tfx_flight_finish (self, held);
    gst_clear_buffer (&held->buffer);
  }
}

void
gst_tfx_flight_stop (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxFlights *flights = &priv->flights;

  if (flights->held &&
      !(gst_pad_is_linked (priv->sink) && gst_pad_is_linked (priv->src)))
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The last %" G_GSIZE_FORMAT " frames are dropped: the element was "
         "unlinked without EOS.",
            flights->held->n_frames),
        (NULL));
  gst_tfx_flight_drop (self);
  for (guint i = 0; flights->slots && i < N_SLOTS; i++)
    gst_tfx_scratch_clear (&flights->slots[i].scratch);
  g_clear_pointer (&flights->slots, g_free);
  flights->delay = 0;
}

GstFlowReturn
gst_tfx_flight_run (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxFlights *flights = &priv->flights;
  GstClockTime start = gst_util_get_timestamp ();
  GstTfxFlight *held = flights->held, *flight;
  GstFlowReturn flow = GST_FLOW_OK;
  const TfxBlock *block;
  GstTfxRow *row;

  if (!flights->slots)
    flights->slots = g_new0 (GstTfxFlight, N_SLOTS);
  flight = &flights->slots[held == &flights->slots[0]];
  flight->buffer = buffer;
  flight->n_frames = n_frames;
  /* The latency is that of the longest buffer. */
  if (n_frames > flights->delay) {
    flights->delay = n_frames;
    gst_tfx_settings_note_latency (self);
  }

  gst_tfx_fusion_begin (self, buffer, n_frames, FALSE, &flight->scratch,
      &flight->run);
  row = &flight->run.row;
  block = &flight->run.in.block;
  flight->is_done = TRUE;
  if (!flight->run.in.is_mapped) {
    flight->err = -EFAULT;
  } else if (gst_tfx_row_can_start (row)) {
    flight->err = gst_tfx_row_start (row, block, block, &flight->flight);
    flight->is_done = flight->err < 0;
    if (flight->is_done) {
      gst_tfx_flight_finish_row (row, held);
      flight->err = gst_tfx_row_run_rest (row, block, block,
          flight->flight.n_done, flight->err);
    }
  } else {
    gst_tfx_flight_finish_row (row, held);
    flight->err = gst_tfx_row_run (row, block, block, TRUE);
  }
  for (gsize i = 0; i < row->n; i++)
    flight->filters[i] = tfx_filter_ref (row->filters[i]);
  gst_tfx_fusion_end (self, &flight->run);
  row->filters = flight->filters;

  if (held)
    gst_tfx_flight_finish (self, held);
  flights->held = flight;
  gst_tfx_run_note_time (self, gst_util_get_timestamp () - start, n_frames);
  if (held)
    flow = gst_tfx_flight_send (self, held);
  /* It could not be started, and ran to the end after the previous one. */
  if (flow == GST_FLOW_OK && flight->is_done)
    flow = gst_tfx_flight_drain (self);
  return flow;
}
