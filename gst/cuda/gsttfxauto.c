/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxauto.c: what device=auto chooses, and what is done before the first
 * buffer so that it does not wait.
 *
 * How much there is to do for a buffer is known when the buffers come, and may
 * change with the properties; where the state of the filters is can change
 * between any two.  But to open a device takes long.  So whether CUDA may ever
 * pay is asked when caps are set, for long buffers; if so the device is made
 * ready then.  Whether it pays for those that come is asked when two in a row
 * are of one length, and when the plan changes.
 */
#include <errno.h>

#include "gsttfxcost.h"
#include "gsttfxcudabuffer.h"
#include "gsttfxelementprivate.h"
#include "gsttfxpeer.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* What is run to get everything ready: not more samples than these. */
#define WARM_UP_FRAMES 1024
#define WARM_UP_SAMPLES 65536

/* ---- rows ------------------------------------------------------------------------ */

/* The tfx element that the sink pad is linked to, through ghost and proxy pads
 * only; a reference, or NULL. */
static GstTfxElement *
gst_tfx_device_find_upstream (GstTfxElement *self)
{
  return (GstTfxElement *)gst_tfx_peer_find (
      gst_tfx_element_get_private (self)->sink, GST_TYPE_TFX_ELEMENT);
}

/* Those that leave their filters to @self ask for the same memory. */
static void
gst_tfx_device_tell_row (GstTfxElement *self, gboolean is_chosen)
{
  GstTfxElement *upstream = gst_tfx_device_find_upstream (self);

  g_atomic_int_set (&gst_tfx_element_get_private (self)->place.is_chosen,
      is_chosen);
  if (upstream && gst_tfx_pads_is_deferring (upstream))
    gst_tfx_device_tell_row (upstream, is_chosen);
  gst_clear_object (&upstream);
}

/* ---- device=auto ----------------------------------------------------------------- */

/* Whether CUDA is worthwhile for so much work in buffers of so many frames. */
static gboolean
gst_tfx_device_is_worthwhile (GstTfxElement *self, const TfxWork *work,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  GstTfxJob job = { .n_frames = n_frames,
    .n_channels = priv->spec.n_channels,
    .sample = priv->spec.sample,
    .in_cuda = place->from_device,
    .out_cuda = place->out_cuda,
    .work = *work };
  gboolean pays =
      gst_tfx_cost_pays (&job, g_atomic_int_get (&place->is_chosen));

  GST_DEBUG_OBJECT (self,
      "%" G_GSIZE_FORMAT " frames of %u channels, %u sections, %u taps: %.0f "
      "ns on the CPU, %.0f ns on the device",
      n_frames, job.n_channels, (guint)job.work.n_sections,
      (guint)job.work.n_taps, gst_tfx_cost_cpu (&job),
      gst_tfx_cost_cuda (&job));
  return pays;
}

/* It is asked anew when the plan is another one. */
void
gst_tfx_device_note_row (GstTfxElement *self, const GstTfxRow *row,
    gsize n_frames)
{
  GstTfxDevicePlace *place = &gst_tfx_element_get_private (self)->place;
  TfxWork work;

  if (!place->cuda || !row->last->plan ||
      gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO)
    return;
  place->is_changing = gst_tfx_row_is_changing (row);
  if (place->is_changing)
    return;
  tfx_plan_work (row->last->plan, n_frames, &work);
  if (place->noted_frames == n_frames &&
      work.n_sections == place->work.n_sections &&
      work.n_taps == place->work.n_taps)
    return;
  place->work = work;
  place->noted_frames = n_frames;
  place->is_new = TRUE;
}

void
gst_tfx_device_consider (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  gboolean from_device, pays;

  if (!place->cuda || gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO)
    return;
  from_device = gst_tfx_cuda_buffer_is_device (buffer, place->context) &&
                !gst_tfx_pending_was_uploaded (buffer);
  if (!place->is_new && place->from_device == from_device)
    return;
  /* One buffer of another length says little of those to come. */
  if (n_frames != place->noted_frames || place->is_changing ||
      g_atomic_int_get (&place->state) != GST_TFX_CUDA_FINE)
    return;
  place->from_device = from_device;
  place->is_new = FALSE;
  /* What is on the device is filtered there. */
  pays = from_device ||
         gst_tfx_device_is_worthwhile (self, &place->work, n_frames);
  if (pays == place->runs)
    return;
  GST_INFO_OBJECT (self, "device=auto goes to %s", pays ? "CUDA" : "the CPU");
  gst_tfx_device_tell_row (self, pays);
  gst_tfx_device_move (self);
  gst_tfx_device_reconfigure (self);
}

/* ---- before the first buffer -------------------------------------------------------- */

/* A row of elements that ends here.  Their caps are set one after the other in
 * this thread. */
typedef struct
{
  TfxFilter *filters[GST_TFX_ROW_MAX]; /* each with a reference */
  gsize n;
  gboolean is_running; /* one of them has run */
} Row;

static void
gst_tfx_device_get_row (GstTfxElement *self, Row *row)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxElement *upstream = gst_tfx_device_find_upstream (self);

  if (upstream && gst_tfx_pads_is_deferring (upstream))
    gst_tfx_device_get_row (upstream, row);
  gst_clear_object (&upstream);
  if (priv->filter && row->n < GST_TFX_ROW_MAX)
    row->filters[row->n++] = tfx_filter_ref (priv->filter->filter);
  row->is_running |= priv->is_running;
}

static void
gst_tfx_device_clear_row (Row *row)
{
  while (row->n > 0)
    tfx_filter_unref (&row->filters[--row->n]);
}

/* What there is to do for such a row.  FALSE if that cannot be told. */
static gboolean
gst_tfx_device_find_work (GstTfxElement *self, gsize n_frames, TfxWork *work)
{
  TfxPlan *plan = NULL;
  Row row = { .n = 0 };
  gboolean ok;

  gst_tfx_device_get_row (self, &row);
  tfx_filter_lock_all (row.filters, row.n);
  ok = tfx_plan_new (row.filters, row.n, tfx_cpu_backend (), &plan) == 0;
  if (ok)
    tfx_plan_work (plan, n_frames, work);
  tfx_plan_free (&plan);
  tfx_filter_unlock_all (row.filters, row.n);
  gst_tfx_device_clear_row (&row);
  return ok;
}

/* Runs a block of silence over filters that are at rest, and stay so. */
static gint
gst_tfx_device_run_silence (GstTfxElement *self, const Row *row)
{
  const GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gsize n_frames =
      CLAMP (WARM_UP_SAMPLES / priv->spec.n_channels, 1, WARM_UP_FRAMES);
  gdouble *samples = g_new0 (gdouble, n_frames * priv->spec.n_channels);
  TfxBlock block = tfx_block_interleaved (samples, priv->spec.sample,
      priv->spec.n_channels, n_frames);
  TfxPlan *plan = NULL;
  gint err;

  tfx_filter_lock_all (row->filters, row->n);
  err = tfx_plan_new (row->filters, row->n, tfx_cuda_backend (priv->place.cuda),
      &plan);
  if (err == 0)
    err = tfx_plan_run (plan, &block, &block);
  tfx_plan_free (&plan);
  for (gsize i = 0; i < row->n; i++)
    tfx_filter_reset (row->filters[i]);
  tfx_filter_unlock_all (row->filters, row->n);
  g_free (samples);
  return err;
}

/* Loads the kernels, starts each of them, takes memory. */
static void
gst_tfx_device_warm_up (GstTfxElement *self)
{
  GstClockTime start = gst_util_get_timestamp ();
  Row row = { .n = 0 };
  gint err = 0;

  gst_tfx_device_get_row (self, &row);
  if (!row.is_running)
    err = gst_tfx_device_run_silence (self, &row);
  gst_tfx_device_clear_row (&row);
  GST_INFO_OBJECT (self, "ready after %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gst_util_get_timestamp () - start));
  if (err < 0 && err != -ENOTSUP)
    gst_tfx_device_fall_back (self, err);
}

/* A device that may be worthwhile once it is known how long the buffers are is
 * opened now: a running stream could not wait for it.  Longer ones than of a
 * second are rare. */
static gboolean
gst_tfx_device_may_be_worthwhile (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gsize n_frames = priv->spec.rate_hz;
  TfxWork work;

  return gst_tfx_device_get_setting (self) == GST_TFX_DEVICE_AUTO &&
         priv->place.may_have_cuda_memory &&
         gst_tfx_device_find_work (self, n_frames, &work) &&
         gst_tfx_device_is_worthwhile (self, &work, n_frames);
}

void
gst_tfx_device_settle (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  gst_tfx_device_move (self);
  /* Who leaves its filter to others needs nothing. */
  if (gst_tfx_pads_is_deferring (self))
    return;
  if (priv->place.runs || (gst_tfx_device_may_be_worthwhile (self) &&
                              gst_tfx_device_try_open (self)))
    gst_tfx_device_warm_up (self);
}
